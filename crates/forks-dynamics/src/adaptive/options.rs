//! Settings of a plan, and what a solution is asked for.

use std::time::Instant;

use super::AdaptiveError;

/// Whether springs and dampers of joints act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Springs {
    /// They do not: the conditions of \[R06\].
    #[default]
    None,
    /// Springs act with their force at the present positions. Steps must be short against the
    /// stiffest spring; dampers do nothing, because velocities are zero.
    Explicit,
    /// Springs and dampers act with their force at the end of the step: the joint's force is
    /// Q − (h²K + hD) q̈ (EQUATIONS 1.6). Stable for long steps.
    Implicit,
}

/// Settings of an [`super::AdaptivePlan`].
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveOptions {
    /// Length h of a step, s. A step moves every computed joint by h² q̈. Default 0.01; positive.
    pub time_step: f64,
    /// True if the mechanism's gravity acts. Default true.
    pub gravity: bool,
    /// Whether springs and dampers of joints act. Default none.
    pub springs: Springs,
    /// Per velocity coordinate (all of them, loop-closing joints last), what its acceleration is
    /// multiplied by in every norm and error measure: 1/length for metres beside radians, 0 for
    /// what is not to count. Empty (default): all 1.
    pub weights: Vec<f64>,
    /// Part of a loop's gap that a step takes back, 0…1. Default 0.1. The accelerations differ from
    /// those of the closed loop by gap · part / h², so use 0 to compare them with another solver's.
    pub loop_correction: f64,
    /// Norm of a joint's weighted acceleration up to which a step leaves it where it is although it
    /// was computed. Default 0: every computed joint moves, as in \[R06\]. With springs a positive
    /// value, at most the threshold of an absolute joint measure, keeps joints near equilibrium
    /// from being moved for ever.
    pub rest_below: f64,
    /// A joint at rest moves again above this many times `rest_below`. Default 2; at least 1.
    pub resume_ratio: f64,
    /// Every so many steps the threshold is [`AdaptiveOptions::catch_up_error`] times the target's,
    /// and joints that were left out since are moved for all of these steps at once. Default 0:
    /// never, as in \[R06\]. What a joint near the threshold does not move turns all that hangs on
    /// it, so that far links of long chains are displaced by the threshold times their lever arm; 4
    /// to 16 takes most of that away for a few joints more.
    pub catch_up: usize,
    /// Factor of the threshold in steps that catch up, above 0 and at most 1. Default 2⁻¹⁶.
    pub catch_up_error: f64,
    /// Largest ratio of the inverse inertias of two bodies that a joint connects (EQUATIONS 1.7).
    /// Default 1e6.
    pub largest_mass_ratio: f64,
}

impl Default for AdaptiveOptions {
    fn default() -> Self {
        Self {
            time_step: 0.01,
            gravity: true,
            springs: Springs::None,
            weights: vec![],
            loop_correction: 0.1,
            rest_below: 0.0,
            resume_ratio: 2.0,
            catch_up: 0,
            catch_up_error: 1.0 / 65536.0,
            largest_mass_ratio: 1e6,
        }
    }
}

impl AdaptiveOptions {
    pub(super) fn check(&self, velocities: usize) -> Result<(), AdaptiveError> {
        let in_range = |setting, value: f64, good: bool, expected| {
            if good { Ok(()) } else { Err(AdaptiveError::Setting { setting, value, expected }) }
        };
        let h = self.time_step;
        in_range("time_step", h, h > 0.0 && h.is_finite(), "a positive number")?;
        let c = self.loop_correction;
        in_range("loop_correction", c, (0.0..=1.0).contains(&c), "a number from 0 to 1")?;
        let r = self.rest_below;
        in_range("rest_below", r, r >= 0.0 && r.is_finite(), "a number from 0 up")?;
        let r = self.resume_ratio;
        in_range("resume_ratio", r, r >= 1.0 && r.is_finite(), "a number from 1 up")?;
        let c = self.catch_up_error;
        in_range("catch_up_error", c, c > 0.0 && c <= 1.0, "a number above 0 and at most 1")?;
        if !self.weights.is_empty() {
            super::error::check_length("weights", self.weights.len(), velocities)?;
        }
        for &w in &self.weights {
            in_range("weight", w, w >= 0.0 && w.is_finite(), "a number from 0 up")?;
        }
        Ok(())
    }
}

/// How the error of an approximate acceleration is measured (\[R06\] Definition 2). E is the set of
/// computed joints, Z the rest, whose accelerations are taken as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorMeasure {
    /// √(Σ_Z |q̈_j|²).
    AbsoluteLinkage,
    /// √(Σ_Z |q̈_j|²) / √(Σ |q̈_j|²).
    RelativeLinkage,
    /// max_Z |q̈_j|.
    AbsoluteJoint,
    /// max_Z |q̈_j| / max |q̈_j|.
    RelativeJoint,
}

/// What a solution has to reach, and what it may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Measure of the error.
    pub measure: ErrorMeasure,
    /// Largest error ε_max; 0 computes every joint that moves. NaN or negative values count as 0.
    pub error: f64,
    /// Stop after this many joints, whatever the error.
    pub max_joints: Option<usize>,
    /// Stop at this time, whatever the error.
    pub deadline: Option<Instant>,
}

impl Target {
    /// An error that has to be reached.
    pub fn new(measure: ErrorMeasure, error: f64) -> Self {
        Self { measure, error, max_joints: None, deadline: None }
    }

    /// The same, but with no more than `joints` joints computed.
    #[must_use]
    pub fn within_joints(mut self, joints: usize) -> Self {
        self.max_joints = Some(joints);
        self
    }

    /// The same, but no joint begun after `deadline`.
    #[must_use]
    pub fn until(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }
}
