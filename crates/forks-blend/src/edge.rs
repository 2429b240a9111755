//! Where a chart of joint displacements ends; see [`Guard`].

use forks_linalg::{dot, sqrt};

use crate::chart::Guard;

/// A place beyond the guard; see [`crate::Guard`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// ½ t³/(1 + t), t = s − 1, and its derivative.
    pub(crate) energy: f64,
    pub(crate) slope: f64,
    /// ρ/s.
    pub(crate) shrunk: f64,
    /// (ρ′ − ρ/s)/s.
    pub(crate) turned: f64,
}

/// 1/L: how fast ρ saturates.
const SATURATION: f64 = 4.0;

impl Edge {
    /// `None` inside; else c is left in `clamped`, ∂s/∂x in `outward`.
    #[inline(always)]
    pub(crate) fn new(
        guard: &Guard,
        x: &[f64],
        outward: &mut [f64],
        clamped: &mut [f64],
    ) -> Option<Self> {
        for (k, g) in outward.iter_mut().enumerate() {
            *g = dot(guard.metric.row(k), x);
        }
        let square = dot(outward, x);
        if square <= 1.0 {
            return None;
        }
        let size = sqrt(square);
        let beyond = size - 1.0;
        let soft = sqrt(1.0 + (SATURATION * beyond) * (SATURATION * beyond));
        let shrunk = (1.0 + beyond / soft) / size;
        let rate = 1.0 / (soft * soft * soft);
        clamped.iter_mut().zip(x).for_each(|(c, x)| *c = shrunk * x);
        // ∂s/∂x = Gx/s.
        outward.iter_mut().for_each(|g| *g /= size);
        let part = beyond / size;
        Some(Self {
            energy: 0.5 * beyond * beyond * part,
            slope: 0.5 * part * part * (3.0 + 2.0 * beyond),
            shrunk,
            turned: (rate - shrunk) / size,
        })
    }
}
