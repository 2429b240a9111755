//! An estimate of a blend's error at run time, without the full solver: the gaps that its links
//! leave at joints and effectors. They are 0 at samples and grow with the distance from them; where
//! they are too large a host adds a sample or goes on with the full solver.

use forks_rom::Reconstruction;

use crate::{
    mean::LinkBlend, model::BlendedModel, state::BlendedState, workspace::BlendedWorkspace,
};

/// When a host should act; constraint errors as in
/// [`ConstraintError::position`](forks_rom::ConstraintError::position).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonitorSettings {
    /// Constraint error from which on a sample should be added.
    pub add_sample: f64,
    /// Constraint error from which on the full solver should go on; also where an effector is out
    /// of range.
    pub hand_over: f64,
    /// What was advised is advised until the error is below this part of where it began: no
    /// flickering. In (0, 1].
    pub release: f64,
    /// The error is taken in every so many calls; in between the last advice stands. At least 1.
    pub every: usize,
}

impl Default for MonitorSettings {
    /// 0.01 and 0.05 (the tolerance that placement works to, and five times that), released at 0.8,
    /// every 10 calls.
    fn default() -> Self {
        Self { add_sample: 0.01, hand_over: 0.05, release: 0.8, every: 10 }
    }
}

/// What a host should do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advice {
    /// Nothing.
    #[default]
    GoOn,
    /// A sample here would make the blend better.
    AddSample,
    /// The blend is not meant for this place: go on with the full solver.
    HandOver,
}

/// Watches the state of a blend.
#[derive(Clone, Debug)]
pub struct Monitor {
    settings: MonitorSettings,
    calls: usize,
    advice: Advice,
    position: f64,
    angle: f64,
}

impl Monitor {
    /// Nothing seen yet.
    pub fn new(settings: MonitorSettings) -> Self {
        Self { settings, calls: 0, advice: Advice::GoOn, position: 0.0, angle: 0.0 }
    }

    /// Sees a state, after a step say, and advises. Allocates where the error is taken.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn see(
        &mut self,
        model: &BlendedModel,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
    ) -> Advice {
        let due = self.calls.is_multiple_of(self.settings.every.max(1));
        self.calls = self.calls.wrapping_add(1);
        if due {
            let (mode, blend) = (Reconstruction::Twist, LinkBlend::default());
            let error = model.constraint_error(state, work, mode, blend);
            (self.position, self.angle) = (error.position, error.angle);
        }
        self.advice = match model.evaluation(state, work).is_out_of_range() {
            true => Advice::HandOver,
            false => self.of_error(),
        };
        self.advice
    }

    /// The last advice but where the error has fallen well below what it was given for.
    fn of_error(&self) -> Advice {
        let MonitorSettings { add_sample, hand_over, release, .. } = self.settings;
        let limit = |at: f64, advice: Advice| if self.advice >= advice { release * at } else { at };
        // An error that is no number is none to go on with.
        if self.position.is_nan() || self.position >= limit(hand_over, Advice::HandOver) {
            return Advice::HandOver;
        }
        match self.position >= limit(add_sample, Advice::AddSample) {
            true => Advice::AddSample,
            false => Advice::GoOn,
        }
    }

    /// The last advice.
    pub fn advice(&self) -> Advice {
        self.advice
    }

    /// Constraint error at the last look: position gaps over r, and the sum of the angles, rad.
    pub fn error(&self) -> (f64, f64) {
        (self.position, self.angle)
    }
}
