//! Inertia tensors that no body has, replaced by the nearest that one can have.
//!
//! With principal moments A ≤ B ≤ C a body needs A + B ≥ C. Of the tensors with A + B = C the one nearest to a tensor that
//! violates this (least Frobenius norm of the difference) has the same axes and the moments A + d, B + d, C − d with
//! d = (C − A − B)/3.

use forks_lie::{
    SpatialInertia,
    glam::{DMat3, DVec3},
};

use crate::{
    BuildError, Mechanism, MechanismBuilder,
    dense::{self, Matrix},
};

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
        let ([a, b, c], [x, y, z]) = (self.before, self.after);
        write!(
            f,
            "link '{}': principal moments of inertia {a}, {b}, {c} violate A + B >= C and are replaced by {x}, {y}, {z}",
            self.link
        )
    }
}

impl MechanismBuilder {
    /// Makes the moments of all links possible by the smallest change, and says which were not. Tensors that are not
    /// finite or have a negative moment are left to the check of the mechanism.
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

impl Mechanism {
    /// The same mechanism with principal moments A + B ≥ C to the last digit, as other programs ask for them, and the
    /// links that were changed. What [`MechanismBuilder::build`] accepts violates this by rounding at most; tensors that
    /// violate it by more are balanced before they are built, by [`MechanismBuilder::balance_inertia`].
    ///
    /// # Errors
    /// None that a mechanism could have; those of building it.
    pub fn with_inertia_balanced(&self) -> Result<(Self, Vec<BalancedInertia>), BuildError> {
        let mut b = MechanismBuilder::from_mechanism(self);
        let changes = b.balance_inertia();
        Ok((b.build()?, changes))
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
    if before[0] < 0.0 || missing <= 4.0 * f64::EPSILON * before[2] {
        return None;
    }
    let d = missing / 3.0;
    let after = [before[0] + d, before[1] + d, before[2] - d];
    let column = |k| DVec3::new(vectors[(0, k)], vectors[(1, k)], vectors[(2, k)]);
    let r = DMat3::from_cols(column(0), column(1), column(2));
    // The change alone is turned: what is not changed keeps its digits.
    let change = r * DMat3::from_diagonal(DVec3::new(d, d, -d)) * r.transpose();
    let change = (change + change.transpose()) * 0.5;
    Some((SpatialInertia { inertia: i.inertia + change, ..*i }, before, after))
}
