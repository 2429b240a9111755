//! Is an equilibrium stable, and which joints move where nothing resists?

use forks_mechanism::{
    JointId, Mechanism,
    linalg::{Matrix, dense},
};

use crate::{
    constraint_space::ConstraintSpace,
    frontal::{FrontalSpace, FrontalTangent, Plan},
    moving_joints::moving_joints,
};

/// Stiffness of an admissible motion below this part of the largest one counts as none.
const FREE_MOTION: f64 = 1e-13;
/// Above this part of the largest entry the antisymmetric part of K_t matters.
const NOT_SYMMETRIC: f64 = 1e-9;
/// Eigenvalues that differ by this part of the lowest are equal to it.
const SAME: f64 = 1e-6;
/// Diagonal entries of a projector that differ by less are equal.
const EQUAL: f64 = 1e-6;
/// Imaginary parts below this part of the real one are rounding.
const REAL: f64 = 1e-9;
/// A joint takes part in a free motion if it moves by more than this part of the joint that moves
/// most.
const TAKES_PART: f64 = 1e-3;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stability {
    Stable,
    Unstable,
    /// Joints that move in the unresisted motions.
    Free(Vec<JointId>),
}

/// True if the symmetric part of the scaled tangent is positive definite on the admissible motions.
pub(crate) fn is_positive_definite(k: &Matrix, space: &ConstraintSpace) -> bool {
    let size = k.max_abs();
    let on_motions = space.admissible(k, size).symmetric_part();
    on_motions.is_finite()
        && dense::cholesky_solve(&on_motions, &Matrix::zeros(k.rows(), 1)).is_some()
}

/// Judges the scaled tangent stiffness on the admissible motions.
///
/// With loads that have a potential the signs of the eigenvalues of K_t decide. Otherwise they
/// depend on the coordinates, and those of M⁻¹K_t are taken, with `mass` scaled alike: a negative
/// real one is a motion that grows (divergence). Complex pairs (flutter) are no matter of statics.
pub(crate) fn stability(
    m: &Mechanism,
    k: &Matrix,
    space: &ConstraintSpace,
    mass: impl FnOnce() -> Matrix,
) -> Stability {
    let size = k.max_abs();
    if k.rows() == space.rank() {
        return Stability::Stable;
    }
    if size == 0.0 {
        return Stability::Free(joints_in_nullspace(m, &space.basis));
    }
    let on_motions = space.admissible(k, size);
    let symmetric = on_motions.symmetric_part();
    let Some((values, vectors)) = dense::symmetric_eigen(&symmetric) else {
        return Stability::Unstable;
    };
    let threshold = threshold(values.len()) * size;
    if on_motions.sub(&symmetric).max_abs() <= NOT_SYMMETRIC * size {
        let free: Vec<usize> =
            (0..values.len()).filter(|&i| values[i].abs() <= threshold).collect();
        return if !free.is_empty() {
            let motions = Matrix::from_fn(k.rows(), free.len(), |i, j| vectors[(i, free[j])]);
            Stability::Free(moving_joints(m, &motions, TAKES_PART))
        } else if values[0] > 0.0 {
            Stability::Stable
        } else {
            Stability::Unstable
        };
    }
    if values[0] > threshold {
        return Stability::Stable;
    }
    let smallest = dense::svd(&on_motions).and_then(|d| d.s.last().copied());
    if smallest.is_none_or(|s| s <= threshold) {
        return Stability::Free(joints_in_nullspace(m, &on_motions));
    }
    if diverges(&on_motions, space, &mass()) { Stability::Unstable } else { Stability::Stable }
}

/// The eigenvectors, by columns, of the symmetric part's lowest eigenvalue on the admissible
/// motions and of those that are equal to it; `None` if it is not negative.
fn unstable_eigenspace(k: &Matrix, space: &ConstraintSpace) -> Option<Matrix> {
    let size = k.max_abs();
    let (values, vectors) = dense::symmetric_eigen(&space.admissible(k, size).symmetric_part())?;
    let lowest = *values.first()?;
    if lowest >= -FREE_MOTION * size {
        return None;
    }
    let count = values.iter().take_while(|&&x| x <= lowest + SAME * lowest.abs()).count();
    Some(Matrix::from_fn(vectors.rows(), count, |i, j| vectors[(i, j)]))
}

/// The part of the stiffness' size below which that of a motion of a mechanism with `n` coordinates
/// counts as none.
pub(crate) fn threshold(n: usize) -> f64 {
    FREE_MOTION * (n as f64).sqrt()
}

/// [`stability`] from the number of eigenvalues beside the threshold; `None` where loads have no
/// potential and the symmetric part does not suffice.
pub(crate) fn frontal_stability(
    m: &Mechanism,
    plan: &Plan,
    k: &FrontalTangent,
    space: &FrontalSpace,
) -> Option<Stability> {
    if m.velocity_count() == space.rank() {
        return Some(Stability::Stable);
    }
    let size = k.size().max(f64::MIN_POSITIVE);
    let threshold = threshold(m.velocity_count());
    let unstable = k.below(m, plan, space, size, threshold).count;
    let not_stable = k.below(m, plan, space, size, -threshold).count;
    if not_stable == 0 {
        Some(Stability::Stable)
    } else if !k.is_symmetric() {
        None
    } else if not_stable > unstable {
        Some(Stability::Free(k.free_joints(m, plan, space, size, TAKES_PART)))
    } else {
        Some(Stability::Unstable)
    }
}

/// The direction in which an unstable equilibrium is left, as
/// [`crate::equilibrium::PathEventKind::Branching`] says.
pub(crate) fn unstable_direction(k: &Matrix, space: &ConstraintSpace) -> Option<Vec<f64>> {
    let vectors = unstable_eigenspace(k, space)?;
    let weight = |i: usize| -> f64 { vectors.row(i).iter().map(|x| x * x).sum() };
    let mut first = 0;
    for i in 1..vectors.rows() {
        if weight(i) > weight(first) + EQUAL {
            first = i;
        }
    }
    // V Vᵀ e: its entry at `first` is the weight, which is positive.
    Some(vectors.mul_vec(vectors.row(first)))
}

/// True if M⁻¹K has a negative real eigenvalue; K's own eigenvalues count where some motion has no
/// mass.
fn diverges(on_motions: &Matrix, space: &ConstraintSpace, mass: &Matrix) -> bool {
    let mass = space.admissible(mass, mass.max_abs());
    let accelerations = dense::cholesky_solve(&mass, on_motions)
        .filter(|a| a.is_finite())
        .unwrap_or_else(|| on_motions.clone());
    match dense::eigenvalues(&accelerations) {
        Some(values) => values.iter().any(|(re, im)| *re < 0.0 && im.abs() <= REAL * re.abs()),
        None => true,
    }
}

fn joints_in_nullspace(m: &Mechanism, of: &Matrix) -> Vec<JointId> {
    dense::nullspace(of, FREE_MOTION).map_or(vec![], |n| moving_joints(m, &n.1, TAKES_PART))
}
