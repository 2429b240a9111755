//! Centrifugal and Coriolis forces where the mass M = Σ α_i M_i changes with the place.
//!
//! Lagrange's equations of ½ vᵀM(x)v are M v̇ = f + …, with Ṁ = Σ (∂α_i·v) M_i and
//! f = ½ ∂(vᵀMv)/∂x − Ṁv = Σ (½ vᵀM_iv ∂α_i − (∂α_i·v) M_iv). Its power is −½ vᵀṀv: what the
//! kinetic energy gains as the mass changes the force takes, and gives back.

use crate::{
    dense::{multiply, row},
    evaluation::Evaluation,
    model::BlendedModel,
};

impl Evaluation {
    /// Adds f at the last place, in charts of joint displacements; the two slices are memory for n
    /// numbers.
    #[inline(never)]
    pub(crate) fn add_coriolis_force(
        &self,
        model: &BlendedModel,
        velocity: &[f64],
        (momentum, slope): (&mut [f64], &mut [f64]),
        out: &mut [f64],
    ) {
        let n = velocity.len();
        for &i in &self.active {
            slope.copy_from_slice(&self.places.weight_slopes[i * n..(i + 1) * n]);
            self.places.turn_outward(slope);
            multiply(model.samples[i].mass.as_slice(), velocity, momentum);
            let (energy, rate) = (0.5 * row(momentum, velocity), row(slope, velocity));
            for (o, (s, p)) in out.iter_mut().zip(slope.iter().zip(&*momentum)) {
                *o += energy * s - rate * p;
            }
        }
    }
}
