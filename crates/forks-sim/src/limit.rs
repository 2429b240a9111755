//! Limits of joints: unilateral rows in the contact problem.
//!
//! gap = θ − lower, row ∂θ/∂v, impulse ≥ 0. A joint's coordinate is linear in a reduced model's
//! coordinates, θ = θ₀ + Z η, so that a step stops at a limit to rounding. Between the samples of a
//! blend it is not, and the step of a floating base is not linear: they stop up to the second order
//! of the step.

use forks_contact::{BodyId, ContactError, Row, Side};

use crate::{handles::MechanismHandle, mechanism::Instance};

/// A limit in rad or m within which it is part of every problem, beside what the joint moves in
/// some steps.
const REACH: f64 = 0.02;
/// Steps that the joint's speed looks ahead.
const AHEAD: f64 = 4.0;

/// A limited coordinate of a joint.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) mechanism: MechanismHandle,
    pub(crate) joint: usize,
    pub(crate) coordinate: usize,
    /// Smallest and largest coordinate.
    pub(crate) range: [f64; 2],
    /// Time in which a violation decays, s.
    pub(crate) relaxation: f64,
}

/// A row of the present problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) limit: usize,
    /// 0 for the lower side, 1 for the upper.
    pub(crate) side: usize,
}

impl Limit {
    /// Adds the sides that the joint may reach; `add` takes body, row and the side's data.
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
        let theta = m.motion.joint_coordinate(self.joint, self.coordinate, row);
        let rate: f64 = row.iter().zip(velocity).map(|(z, v)| z * v).sum();
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            if side == 1 {
                row.iter_mut().for_each(|x| *x = -*x);
            }
            let gap = sign * (theta - self.range[side]);
            // An infinite limit is never near.
            if gap.is_nan() || gap > REACH + AHEAD * h * rate.abs() {
                continue;
            }
            let data = Row {
                approach: sign * rate,
                relaxation: self.relaxation,
                warm: warm[side],
                ..Row::unilateral(gap)
            };
            let body: BodyId = m.body;
            add(side, &data, Side::of(body, row))?;
        }
        Ok(())
    }
}
