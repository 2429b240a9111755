//! Inertia tensors that no body has, replaced by the nearest that one can have.
//!
//! With principal moments A ≤ B ≤ C a body needs A + B ≥ C. Of the tensors with A + B = C the one
//! nearest to a tensor that violates this (least Frobenius norm of the difference) has the same
//! axes and the moments A + d, B + d, C − d with d = (C − A − B)/3. Where A + d is still negative
//! the nearest one is that of a thin rod, 0 twice (B + C)/2, and where that is negative too a
//! point's.

use forks_lie::{
    DigitsOf, SpatialInertia,
    glam::{DMat3, DVec3},
};

use crate::MechanismBuilder;
use forks_linalg::{Matrix, dense};

/// A link whose inertia was balanced.
#[derive(Clone, Debug, PartialEq)]
pub struct BalancedInertia {
    /// The link.
    pub link: String,
    /// Principal moments before, ascending, kg·m².
    pub before: [f64; 3],
    /// Principal moments after.
    pub after: [f64; 3],
}

impl core::fmt::Display for BalancedInertia {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "link '{}': principal moments of inertia {} violate A + B >= C and are replaced by {}",
            self.link,
            DigitsOf(&self.before),
            DigitsOf(&self.after)
        )
    }
}

impl MechanismBuilder {
    /// Makes the moments of all links possible by the smallest change, and says which were not.
    /// Tensors that are not finite are left to the check of the mechanism.
    pub fn balance_inertia(&mut self) -> Vec<BalancedInertia> {
        let mut changes = Vec::new();
        for l in self.links_mut() {
            if let Some((inertia, before, after)) = balanced(&l.inertia) {
                l.inertia = inertia;
                changes.push(BalancedInertia { link: l.name.clone(), before, after });
            }
        }
        changes
    }
}

/// The balanced inertia with the moments before and after; `None` where nothing is to be done.
fn balanced(i: &SpatialInertia) -> Option<(SpatialInertia, [f64; 3], [f64; 3])> {
    if i.inertia.to_cols_array().iter().any(|x| !x.is_finite()) {
        return None;
    }
    let tensor = Matrix::from_fn(3, 3, |r, c| i.inertia.col(c)[r]);
    let (values, vectors) = dense::symmetric_eigen(&tensor)?;
    let before = [values[0], values[1], values[2]];
    let missing = before[2] - before[0] - before[1];
    // Axes that cannot be told from rounding stay as they are.
    let largest = before[2].abs().max(before[0].abs());
    let rounding = 4.0 * f64::EPSILON * largest;
    if before[0] >= -rounding && missing <= rounding {
        return None;
    }
    let d = missing / 3.0;
    let rod = (0.5 * (before[1] + before[2])).max(0.0);
    let after = if missing > 0.0 && before[0] + d >= 0.0 {
        [before[0] + d, before[1] + d, before[2] - d]
    } else {
        [0.0, rod, rod]
    };
    let column = |k| DVec3::new(vectors[(0, k)], vectors[(1, k)], vectors[(2, k)]);
    let r = DMat3::from_cols(column(0), column(1), column(2));
    // The change alone is turned: what is not changed keeps its digits.
    let by = DVec3::from_array(after) - DVec3::from_array(before);
    let change = r * DMat3::from_diagonal(by) * r.transpose();
    let change = (change + change.transpose()) * 0.5;
    Some((SpatialInertia { inertia: i.inertia + change, ..*i }, before, after))
}
