//! Linearly implicit steps whose energy is bounded.
//!
//! The matrix of a step is right where it begins. Where elements turn or are inside out, forces at
//! its end may be others than it takes them for, and a step can leave much more energy than there
//! was and work was done. Such a step is made again in two halves, and these again.

use forks_dynamics::mechanism::lie::glam::DVec3;

use super::{
    commands::Commands,
    state::SoftState,
    stepper::{SoftSimulation, StepReport},
    touch::Obstacles,
};
use crate::body::SoftError;

/// Rise of the energy over the kinetic energy at either end for which no step is divided: turning
/// bones gain as much as (ω h)² of theirs, which [`SoftSimulation::temper`] takes back.
const RISE: f64 = 1e-3;

/// Rounding of a place over the largest coordinate: sums of a few terms.
const PLACE: f64 = 8.0 * f64::EPSILON;

/// Halvings at most.
const HALVINGS: usize = 6;

impl SoftSimulation {
    pub(crate) fn bounded(
        &mut self,
        h: f64,
        commands: &Commands<'_>,
        mut obstacles: Option<&mut (dyn Obstacles + '_)>,
    ) -> Result<StepReport, SoftError> {
        if !self.body.elastic.material().is_conservative() {
            return Ok(self.linearly_implicit(h, commands, obstacles)?.0);
        }
        let mut report = StepReport { steps: 0, ..StepReport::START };
        // How often what is left has been halved, the next part last.
        let mut left = vec![0usize];
        let mut at = self.energies(commands);
        while let Some(depth) = left.pop() {
            let before: SoftState = self.state.clone();
            let part = h / (1u64 << depth) as f64;
            let among = obstacles.as_mut().map(|o| &mut **o as &mut dyn Obstacles);
            let touches = among.is_some();
            let (own, work) = self.linearly_implicit(part, commands, among)?;
            report.newton += 1;
            report.factorisations += 1;
            let mut now = self.energies(commands);
            let most = at[0] + at[1] + work;
            let rise = now[0] + now[1] - most;
            let noise = self.rounding(now, most);
            let much = rise.is_nan() || rise > RISE * (at[0] + now[0]) + noise;
            if depth < HALVINGS && much && self.has_moved(&before) {
                self.state = before;
                self.place();
                left.extend([depth + 1; 2]);
                continue;
            }
            // Velocities that are prescribed, or that contact has chosen, stay.
            if !touches && commands.accelerations.is_empty() {
                now = self.temper(now, most);
            }
            report.steps += 1;
            report.decomposed = own.decomposed;
            at = now;
        }
        Ok(report)
    }

    /// False if no node has moved by more than rounding of its place: energies of such motions are
    /// noise. Places that are no numbers have moved.
    fn has_moved(&self, before: &SoftState) -> bool {
        let size = before.x.iter().fold(0.0f64, |s, x| s.max(x.abs().max_element()));
        let near = |d: DVec3| d.to_array().iter().all(|d| d.abs() <= PLACE * size);
        let still = self.state.x.iter().zip(&before.x).all(|(a, b)| near(*a - *b));
        !still
    }
}
