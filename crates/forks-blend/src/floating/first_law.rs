//! The first law of a floating blend's step.

use forks_lie::{
    glam::{DMat3, DVec3},
    skew,
    so3::{exp_rotation, rotation_right_jacobian},
};
use forks_rom::internal::floating::{FIRST_RATE, angular, zero_padded};

use super::{
    model::FloatingBlend,
    place::{along, shape_quadratic},
    state::FloatingBlendState,
    workspace::FloatingBlendWorkspace,
};

/// Rounding of energies relative to their sizes: at rest their differences are nothing else.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// The same relative to the sizes of the terms that an energy is a sum of: some roundings each.
const ROUNDING_OF_TERMS: f64 = 4.0 * f64::EPSILON;
/// How often a move is halved before it is given up.
const MAX_HALVINGS: usize = 20;
/// Steps of Newton's method for the rotation at a known change of shape, at most.
const MAX_ROTATIONS: usize = 30;

impl FloatingBlendWorkspace {
    /// Slows ẋ, or shortens the move, until the energy about the centre of mass is at most that
    /// before plus the work of `load` and of the angular impulse `turning` (base axes); inertia is
    /// left in `there`. Where the equations were not `settled`, or the move is another one, ω is
    /// found for it. False if numbers are not finite.
    ///
    /// Work of the angular impulse is ω·(impulse): ω turns nothing but the momentum across it.
    #[inline(always)]
    pub(super) fn first_law(
        &mut self,
        model: &FloatingBlend,
        h: f64,
        state: &FloatingBlendState,
        turning: DVec3,
        settled: bool,
    ) -> bool {
        let (x, n) = (&state.shape.x, state.shape.x.len());
        let before = self.blend.here.energy + state.derived.energy;
        let spin = state.world_from_base.rotation.conjugate() * state.spin + turning;
        for round in 0.. {
            let mut omega = angular(&self.step.trial);
            let work = &mut self.blend.step;
            self.there.update(model, &work.x, &mut work.there, &mut self.step);
            let inertia = &self.there.inertia;
            let (turn, rate) = self.step.trial.split_at_mut(FIRST_RATE);
            let rate = &rate[..n];
            let coupled = along(inertia.coupling_at_rest(), rate);
            if round > 0 || !settled {
                omega = rotation(&inertia.rotation, coupled, omega, spin, h);
                turn.copy_from_slice(&*zero_padded(omega));
            }
            let after = exp_rotation(omega * -h) * spin;
            let locked = inertia.rotation.inverse();
            let moved = self.load.iter().zip(work.x.iter().zip(x));
            let done = omega.dot(turning) + moved.map(|(f, (new, x))| f * (new - x)).sum::<f64>();
            let rotating = 0.5 * after.dot(locked * after);
            let moving = 0.5 * (shape_quadratic(inertia, rate) - coupled.dot(locked * coupled));
            let available = before + done - work.there.energy - rotating;
            if !(available.is_finite() && moving.is_finite()) {
                return false;
            }
            let size = before.abs() + done.abs() + work.there.energy.abs() + rotating;
            let terms = self.blend.here.size_of_terms + work.there.size_of_terms;
            let rounding = ROUNDING * size + ROUNDING_OF_TERMS * terms;
            if moving <= available + rounding || round > MAX_HALVINGS {
                return true;
            }
            if available >= -rounding {
                let slower = forks_linalg::sqrt(available.max(0.0) / moving);
                self.step.trial[FIRST_RATE..].iter_mut().for_each(|v| *v *= slower);
                return true;
            }
            // In the end the shape stays: a rigid body's implicit step, which gains nothing.
            let part = match round {
                // The first move goes downhill, or is paid for by the motion there was; its
                // corrections need not.
                0 if self.first != self.step.trial => {
                    self.step.trial.copy_from_slice(&self.first);
                    1.0
                }
                0..MAX_HALVINGS => 0.5,
                _ => 0.0,
            };
            self.step.trial[FIRST_RATE..].iter_mut().for_each(|v| *v *= part);
            self.move_by(h, x, model);
        }
        true
    }
}

/// ω of Jω + Σẋ = exp(−hω) L.
fn rotation(inertia: &DMat3, coupled: DVec3, mut omega: DVec3, spin: DVec3, h: f64) -> DVec3 {
    for _ in 0..MAX_ROTATIONS {
        let after = exp_rotation(omega * -h) * spin;
        let slope = *inertia - skew(after) * rotation_right_jacobian(omega * h) * h;
        let change = slope.inverse() * (*inertia * omega + coupled - after);
        if !change.is_finite() {
            break;
        }
        omega -= change;
        if change.length() <= f64::EPSILON * omega.length() {
            break;
        }
    }
    omega
}
