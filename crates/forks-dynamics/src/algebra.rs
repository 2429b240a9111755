//! The linear algebra of an equilibrium: dense for small mechanisms, front by front for large ones,
//! which decide alike.

use forks_mechanism::{
    Mechanism,
    kinematics::loops,
    lie::Pose,
    linalg::{Matrix, dense},
};

use crate::{
    branches::Branches,
    constraint_space::ConstraintSpace,
    frontal::{FrontalSpace, FrontalTangent},
    scaling::Scaling,
    stability::{self, Stability, is_positive_definite},
    stage::Stage,
    tangent::stage_tangent,
};

/// The motions that the loops admit at a pose.
#[derive(Clone, Debug)]
pub(crate) enum Space {
    Dense(ConstraintSpace),
    Frontal(Box<FrontalSpace>),
}

/// The scaled tangent stiffness at a pose.
#[derive(Clone, Debug)]
pub(crate) enum Tangent {
    Dense(Matrix),
    Frontal(Box<FrontalTangent>),
}

impl Space {
    /// Front by front where there are branches; `None` where numbers overflow.
    pub(crate) fn new(
        m: &Mechanism,
        q: &[f64],
        poses: &[Pose],
        branches: Option<Branches>,
        scaling: &Scaling,
    ) -> Option<Self> {
        if let (Some(plan), Some(branches)) = (&scaling.plan, branches) {
            let space = FrontalSpace::new(m, plan, q, branches, scaling)?;
            return Some(Self::Frontal(Box::new(space)));
        }
        let mut g = loops::constraint_jacobian(m, q, poses);
        scaling.jacobian(&mut g);
        g.is_finite().then(|| Self::Dense(ConstraintSpace::new(&g)))
    }

    /// What the loops do not carry of generalised forces, and the multipliers of what they carry.
    pub(crate) fn balance(
        &self,
        m: &Mechanism,
        scaling: &Scaling,
        f: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        match self {
            Self::Dense(space) => (space.project(f), space.multipliers(f)),
            Self::Frontal(space) => space.balance(m, scaling.plan(), f),
        }
    }

    /// The shortest motion that closes gaps, to first order.
    pub(crate) fn closing_motion(
        &self,
        m: &Mechanism,
        scaling: &Scaling,
        gaps: &[f64],
    ) -> Vec<f64> {
        match self {
            Self::Dense(space) => space.closing_motion(gaps),
            Self::Frontal(space) => space.closing_motion(m, scaling.plan(), gaps),
        }
    }
}

impl Tangent {
    pub(crate) fn new(
        stage: &Stage<'_>,
        q: &[f64],
        poses: &[Pose],
        space: &Space,
        multipliers: &[f64],
        scaling: &Scaling,
    ) -> Self {
        match space {
            Space::Dense(_) => {
                let mut k = stage_tangent(stage, q, poses, multipliers);
                scaling.stiffness(&mut k);
                Self::Dense(k)
            }
            Space::Frontal(space) => {
                let k = FrontalTangent::new(stage, q, space, multipliers, scaling);
                Self::Frontal(Box::new(k))
            }
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Dense(k) => k.is_finite(),
            Self::Frontal(k) => k.is_finite(),
        }
    }

    /// The largest entry; front by front, the largest that is formed.
    pub(crate) fn size(&self) -> f64 {
        match self {
            Self::Dense(k) => k.max_abs(),
            Self::Frontal(k) => k.size(),
        }
    }

    /// x of (K/size + shift) x + Gᵀ y = f, G x = −g.
    pub(crate) fn step(
        &self,
        m: &Mechanism,
        scaling: &Scaling,
        space: &Space,
        (size, shift): (f64, f64),
        f: &[f64],
        g: &[f64],
    ) -> Option<Vec<f64>> {
        match (self, space) {
            (Self::Dense(k), Space::Dense(space)) => {
                Some(dense_step(k, space, (size, shift), f, g))
            }
            (Self::Frontal(k), Space::Frontal(space)) => {
                k.step(m, scaling.plan(), space, (size, shift), f, g)
            }
            _ => None,
        }
    }

    /// True if the symmetric part, plus `shift` · `size`, is positive definite on the admissible
    /// motions.
    pub(crate) fn is_positive_definite(
        &self,
        m: &Mechanism,
        scaling: &Scaling,
        space: &Space,
        size: f64,
        shift: f64,
    ) -> bool {
        match (self, space) {
            (Self::Dense(k), Space::Dense(space)) if shift == 0.0 => is_positive_definite(k, space),
            (Self::Dense(k), Space::Dense(space)) => {
                let mut shifted = k.clone();
                (0..k.rows()).for_each(|i| shifted[(i, i)] += shift * size);
                is_positive_definite(&shifted, space)
            }
            (Self::Frontal(k), Space::Frontal(space)) => {
                let below = k.below(m, scaling.plan(), space, size, shift);
                below.count == 0 && !below.singular
            }
            _ => false,
        }
    }

    /// See [`stability::stability`]; `None` where only the dense matrix can tell.
    pub(crate) fn stability(
        &self,
        m: &Mechanism,
        scaling: &Scaling,
        space: &Space,
        mass: impl FnOnce() -> Matrix,
    ) -> Option<Stability> {
        match (self, space) {
            (Self::Dense(k), Space::Dense(space)) => Some(stability::stability(m, k, space, mass)),
            (Self::Frontal(k), Space::Frontal(space)) => {
                stability::frontal_stability(m, scaling.plan(), k, space)
            }
            _ => None,
        }
    }

    /// The direction in which an unstable equilibrium is left, as
    /// [`crate::equilibrium::PathEventKind::Branching`] says.
    pub(crate) fn unstable_direction(
        &self,
        m: &Mechanism,
        scaling: &Scaling,
        space: &Space,
    ) -> Option<Vec<f64>> {
        match (self, space) {
            (Self::Dense(k), Space::Dense(space)) => stability::unstable_direction(k, space),
            (Self::Frontal(k), Space::Frontal(space)) => {
                let size = k.size();
                let from = stability::threshold(m.velocity_count());
                k.lowest(m, scaling.plan(), space, size, from)
            }
            _ => None,
        }
    }
}

fn dense_step(
    k: &Matrix,
    space: &ConstraintSpace,
    (size, shift): (f64, f64),
    f: &[f64],
    g: &[f64],
) -> Vec<f64> {
    let (n, r) = (k.rows(), space.rank());
    let y = &space.basis;
    let system = Matrix::from_fn(n + r, n + r, |i, j| match (i < n, j < n) {
        (true, true) => k[(i, j)] / size + if i == j { shift } else { 0.0 },
        (true, false) => y[(j - n, i)],
        (false, true) => y[(i - n, j)],
        (false, false) => 0.0,
    });
    let closing = space.closing_step(g);
    let rhs = Matrix::from_fn(n + r, 1, |i, _| if i < n { f[i] } else { closing[i - n] });
    dense::lu_solve(&system, &rhs).as_slice()[..n].to_vec()
}
