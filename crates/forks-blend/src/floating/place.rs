//! Inertia at a place of a blend, with its slopes there.

use alloc::{vec, vec::Vec};

use forks_lie::glam::DVec3;
use forks_linalg::simd::{Arithmetic, Kernel, LANES, Lanes};
use forks_rom::internal::floating::{BaseInertia, FloatingWork};

use super::model::FloatingBlend;
use crate::{evaluation::Evaluation, lanes::padded};

/// A sample with this weight that is held back says that the blend is.
const LEADING: f64 = 0.5;

/// Inertia and its slopes at one place.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) inertia: BaseInertia,
    /// A leading sample's changes of inertia are held back.
    pub(super) held_back: bool,
    /// ∂α_i/∂x, sample after sample, each padded.
    slopes: Vec<f64>,
    /// x − x_i, padded.
    y: Vec<f64>,
}

impl Place {
    pub(super) fn new(f: &FloatingBlend) -> Self {
        let n = f.model.dof();
        Self {
            inertia: BaseInertia::near(n, f.mass()),
            held_back: false,
            slopes: vec![0.0; padded(n) * f.samples.len()],
            y: vec![0.0; padded(n)],
        }
    }

    /// Brings it to `x`, where the blend was evaluated.
    pub(super) fn update(
        &mut self,
        floating: &FloatingBlend,
        x: &[f64],
        here: &mut Evaluation,
        work: &mut FloatingWork,
    ) {
        floating.model.isa().run(Update { place: self, floating, x, here, work });
    }
}

struct Update<'a> {
    place: &'a mut Place,
    floating: &'a FloatingBlend,
    x: &'a [f64],
    here: &'a mut Evaluation,
    work: &'a mut FloatingWork,
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { place: Place { inertia, held_back, slopes, y }, floating, x, here, work } = self;
        let (model, stride) = (&*floating.model, y.len());
        inertia.clear();
        *held_back = false;
        here.weight_slopes(l, model, x, slopes);
        // Beyond a guard all of this is taken on its edge.
        let beyond = here.places.edge;
        let at = if beyond.is_some() { &here.places.clamped } else { x };
        for &i in &here.active {
            let from = &model.samples[i].place;
            y.iter_mut().zip(at.iter().zip(from)).for_each(|(y, (x, from))| *y = x - from);
            let (alpha, growth) = (here.weights[i], &slopes[i * stride..][..stride]);
            let held = inertia.add(l, &floating.samples[i], y, (alpha, growth), work);
            *held_back |= alpha >= LEADING && held < 1.0;
        }
        if let Some(edge) = beyond {
            inertia.pass_on(edge.shrunk, edge.turned, x, &here.places.outward);
        }
    }
}

/// Σ f_j x_j of a field of vectors.
pub(super) fn along(field: &[Lanes], x: &[f64]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (j, x) in x.iter().enumerate() {
        sum += vector(field, j) * *x;
    }
    sum
}

/// Vector `j` of a field.
pub(super) fn vector(field: &[Lanes], j: usize) -> DVec3 {
    let (first, lane) = (3 * (j / LANES), j % LANES);
    DVec3::new(field[first][lane], field[first + 1][lane], field[first + 2][lane])
}

/// xᵀ M̃ x.
pub(super) fn shape_quadratic(inertia: &BaseInertia, x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (k, own) in x.iter().enumerate() {
        let row = inertia.shape_mass_rows.row(k).iter().flat_map(|four| four.iter());
        sum += own * row.zip(x).map(|(m, x)| m * x).sum::<f64>();
    }
    sum
}
