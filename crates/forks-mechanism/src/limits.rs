//! Progressive springs beyond the limits of joints, off unless asked for.
//!
//! Beyond a limit by δ the energy is K δ³ / (6 w), the force K δ² / (2 w), the stiffness K δ / w:
//! zero inside the range, twice continuously differentiable, and as stiff as K where the limit is
//! passed by the width w, a twentieth of the range.

use crate::{
    BuildError, JointMatrix, JointSpring, Limit, Mechanism, MechanismBuilder, joint::Joint,
};

/// Width w as a part of the range.
const WIDTH: f64 = 0.05;
/// Range (rad, m) that counts where it is infinite or empty.
const PLAIN_RANGE: f64 = 1.0;

/// Energy of a limit's spring and its derivatives by the coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitTerm {
    /// J.
    pub energy: f64,
    /// First derivative: what holds the coordinate there; the spring exerts the negative.
    pub gradient: f64,
    /// Second derivative.
    pub hessian: f64,
}

impl Limit {
    /// How far beyond a limit its spring has its nominal stiffness.
    pub fn width(&self) -> f64 {
        let range = self.upper - self.lower;
        WIDTH * if range.is_finite() && range > 0.0 { range } else { PLAIN_RANGE }
    }

    /// The range widened so that a value is in it.
    #[must_use]
    pub fn including(&self, value: f64) -> Self {
        Self { lower: self.lower.min(value), upper: self.upper.max(value) }
    }

    /// The springs beyond this range, of the nominal stiffness K at the given width w.
    pub fn spring(&self, stiffness: f64, width: f64, value: f64) -> LimitTerm {
        let beyond = (value - self.upper).max(0.0) - (self.lower - value).max(0.0);
        let size = beyond.abs();
        let slope = stiffness / width;
        LimitTerm {
            energy: slope * size * size * size / 6.0,
            gradient: 0.5 * slope * size * beyond,
            hessian: slope * size,
        }
    }
}

impl Joint {
    /// Springs of coordinate `i` beyond its limits, if they are on and it has any, at a value; none
    /// for joints whose coordinates are not plain numbers. `start` widens the range to itself at
    /// `scale` 0, not at all at 1: a joint that starts beyond its limits is unstressed at the
    /// beginning of a load path.
    pub fn limit_term(&self, i: usize, value: f64, start: Option<(f64, f64)>) -> LimitTerm {
        let on = self.limit_stiffness > 0.0 && self.kind.has_scalar_coordinates();
        let Some(Some(limit)) = self.limits.get(i).filter(|_| on) else {
            return LimitTerm::default();
        };
        let range = match start {
            Some((start, scale)) => {
                let wide = limit.including(start);
                let between = |own: f64, wide: f64| match own == wide {
                    true => own,
                    false => scale * own + (1.0 - scale) * wide,
                };
                Limit {
                    lower: between(limit.lower, wide.lower),
                    upper: between(limit.upper, wide.upper),
                }
            }
            None => *limit,
        };
        range.spring(self.limit_stiffness, limit.width(), value)
    }

    /// True if some coordinate has a spring beyond its limits.
    pub fn has_limit_springs(&self) -> bool {
        self.limit_stiffness > 0.0
            && self.kind.has_scalar_coordinates()
            && self.limits.iter().any(Option::is_some)
    }
}

impl Mechanism {
    /// The same mechanism with progressive springs beyond all limits of joints whose coordinates
    /// are plain numbers: of stiffness `k` (N·m/rad, N/m by coordinate) where a limit is passed by
    /// its [width](Limit::width); 0 takes them off.
    ///
    /// # Errors
    /// A stiffness that is negative or not finite.
    pub fn with_limit_springs(&self, k: f64) -> Result<Self, BuildError> {
        let mut b = MechanismBuilder::from_mechanism(self);
        for j in b.joints_mut() {
            j.limit_stiffness = k;
        }
        b.build()
    }

    /// The mechanism as it is linearised at positions `q`: limits' springs replaced by linear ones
    /// of their second derivative there. `None` where no limit is passed, or where `q` is not of
    /// length `position_count`.
    pub fn with_tangent_limits(&self, q: &[f64]) -> Option<Self> {
        if q.len() != self.position_count() {
            return None;
        }
        let hessian = |j: usize, i: usize| {
            let id = crate::JointId::new(j);
            self.joint(id).limit_term(i, q[self.position_range(id)][i], None).hessian
        };
        let passed = |j: usize| {
            let joint = &self.joints()[j];
            joint.has_limit_springs() && (0..joint.dof()).any(|i| hessian(j, i) > 0.0)
        };
        let all: Vec<usize> = (0..self.joints().len()).filter(|&j| passed(j)).collect();
        if all.is_empty() {
            return None;
        }
        let mut b = MechanismBuilder::from_mechanism(self);
        for &k in &all {
            let range = self.position_range(crate::JointId::new(k));
            let j = &mut b.joints_mut()[k];
            let d = j.dof();
            let spring = j.spring.get_or_insert_with(|| JointSpring {
                stiffness: JointMatrix::zeros(d),
                rest: q[range].to_vec(),
            });
            for i in 0..d {
                let own = spring.stiffness.get(i, i);
                spring.stiffness.set(i, i, own + hessian(k, i));
            }
        }
        for j in b.joints_mut() {
            j.limit_stiffness = 0.0;
        }
        // What was a mechanism is one with stiffer springs.
        b.build().ok()
    }
}
