//! What acts in joints beside the model's springs: rows in the contact problem.
//!
//! Limits: gap = θ − lower, row ∂θ/∂v, impulse ≥ 0. Dry friction: row ∂θ̇/∂v, |impulse| ≤ h × the
//! largest force, which is all of it where the joint slides. A joint's coordinate is linear in a
//! reduced model's coordinates, θ = θ₀ + Z η, so that a step stops at a limit to rounding. Between
//! the samples of a blend it is not, and the step of a floating base is not linear: they stop up to
//! the second order of the step.

use forks_contact::{BodyId, ContactError, Row, Side};
use forks_mechanism::{Joint, Limit};

use crate::{handles::MechanismHandle, mechanism::Instance};

/// A limit in rad or m within which it is part of every problem, beside what the joint moves in
/// some steps.
const REACH: f64 = 0.02;
/// Steps that the joint's speed looks ahead.
const AHEAD: f64 = 4.0;

/// Which forces a mechanism's joints hold as data act in a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JointForces {
    /// Limits of joints of one axis.
    pub limits: bool,
    /// Dry friction.
    pub friction: bool,
}

impl JointForces {
    /// The limit of a joint, if it acts.
    pub(crate) fn limit(self, j: &Joint) -> Option<Limit> {
        j.limits.first().copied().flatten().filter(|_| self.limits && j.dof() == 1)
    }

    /// The dry friction of a joint's coordinate, if there is some and it acts, N or N·m.
    pub(crate) fn friction(self, j: &Joint, coordinate: usize) -> Option<f64> {
        j.friction.get(coordinate).copied().filter(|f| self.friction && *f > 0.0)
    }
}

/// A force on a coordinate of a joint.
#[derive(Clone, Debug)]
pub(crate) struct JointForce {
    pub(crate) mechanism: MechanismHandle,
    pub(crate) joint: usize,
    pub(crate) coordinate: usize,
    pub(crate) law: Law,
}

/// What a force in a joint does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    /// Stops at the smallest and largest coordinate; a violation decays within a time in s.
    Limits { range: [f64; 2], relaxation: f64 },
    /// Dry friction, with its largest force, N or N·m.
    Friction(f64),
}

/// A row of the present problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) force: usize,
    /// 0 for the lower side and friction, 1 for the upper side.
    pub(crate) side: usize,
}

impl JointForce {
    /// Adds the rows that may act in this step; `add` takes side, row and the side's data, `row` is
    /// room for a row.
    pub(crate) fn rows(
        &self,
        m: &Instance,
        h: f64,
        warm: [f64; 2],
        row: &mut Vec<f64>,
        mut add: impl FnMut(usize, &Row, Side<'_>) -> Result<(), ContactError>,
    ) -> Result<(), ContactError> {
        let velocity = m.motion.velocity();
        row.clear();
        row.resize(velocity.len(), 0.0);
        let body: BodyId = m.body;
        let (range, relaxation) = match self.law {
            Law::Limits { range, relaxation } => (range, relaxation),
            Law::Friction(most) => {
                m.motion.joint_rate(self.joint, self.coordinate, row);
                let data = Row { warm: warm[0], ..Row::friction(h * most) };
                return add(0, &data, Side::of(body, row));
            }
        };
        let theta = m.motion.joint_coordinate(self.joint, self.coordinate, row);
        let rate: f64 = row.iter().zip(velocity).map(|(z, v)| z * v).sum();
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            if side == 1 {
                row.iter_mut().for_each(|x| *x = -*x);
            }
            let gap = sign * (theta - range[side]);
            // An infinite limit is never near.
            if gap.is_nan() || gap > REACH + AHEAD * h * rate.abs() {
                continue;
            }
            let data =
                Row { approach: sign * rate, relaxation, warm: warm[side], ..Row::unilateral(gap) };
            add(side, &data, Side::of(body, row))?;
        }
        Ok(())
    }
}
