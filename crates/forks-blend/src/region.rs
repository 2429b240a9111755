//! Regions of loads, and loads drawn from them up to a displacement.

use forks_dynamics::Equilibrium;
use forks_mechanism::{lie::glam::DVec3, parametric::SplitMix64};

use crate::truth::{Forces, Solver, Truth, is_stable};

/// Forces on one effector: directions in a cone, as large as moves an effector up to a displacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadRegion {
    /// Index of the effector.
    pub effector: usize,
    /// Axis of the cone, world axes; any length but 0.
    pub axis: DVec3,
    /// Half angle of the cone, rad, up to π.
    pub half_angle: f64,
    /// If given, directions lie in the plane with this normal (world axes) through the axis.
    pub normal: Option<DVec3>,
    /// Largest relative displacement of an effector (\[A16\] §8.2).
    pub displacement: f64,
}

impl LoadRegion {
    /// A cone about an axis up to a displacement of 1.
    pub fn cone(effector: usize, axis: DVec3, half_angle: f64) -> Self {
        Self { effector, axis, half_angle, normal: None, displacement: 1.0 }
    }

    /// Unit vector in the cone; `outward` in [0, 1] from the axis to the rim, uniform on the sphere's cap.
    fn direction(&self, outward: f64, around: f64) -> DVec3 {
        let axis = self.axis.normalize();
        if let Some(normal) = self.normal {
            let side = normal.cross(axis).normalize_or_zero();
            let angle = self.half_angle * outward * if around < 0.5 { 1.0 } else { -1.0 };
            return axis * angle.cos() + side * angle.sin();
        }
        let (side, other) = axis.any_orthonormal_pair();
        let cosine = 1.0 - outward * (1.0 - self.half_angle.cos());
        let (s, c) = (core::f64::consts::TAU * around).sin_cos();
        axis * cosine + (side * c + other * s) * (1.0 - cosine * cosine).max(0.0).sqrt()
    }
}

/// Growth of the force while its limit is searched.
const GROWTH: f64 = 1.35;
/// The force at the displacement limit is known to this part of it.
const LIMIT_TOLERANCE: f64 = 0.01;
/// Forces beyond this multiple of the first one are not tried.
const STIFF: f64 = 1e6;
/// A mechanism past half the displacement that gives way by less than this part of it as the force grows has
/// straightened out: larger forces only stretch it.
const STRAIGHT: f64 = 0.01;
/// Displacement at which the search begins.
const FIRST_DISPLACEMENT: f64 = 0.02;

/// Draws loads from regions: all regions are loaded at once.
pub(crate) struct Drawing<'a> {
    pub(crate) solver: &'a Solver<'a>,
    pub(crate) regions: &'a [LoadRegion],
    /// Force per region that moves an effector by about the region's displacement, N.
    pub(crate) sizes: Vec<f64>,
    pub(crate) start: &'a Equilibrium,
}

impl<'a> Drawing<'a> {
    pub(crate) fn new(
        solver: &'a Solver<'a>,
        regions: &'a [LoadRegion],
        start: &'a Equilibrium,
        first: impl Fn(usize, DVec3) -> f64,
    ) -> Self {
        let mut out = Self { solver, regions, sizes: vec![], start };
        for r in regions {
            let axis = r.axis.normalize();
            let small = first(r.effector, axis);
            let scale = out.limit(&vec![(r.effector, axis * small)], r.displacement);
            out.sizes.push(small * scale);
        }
        out
    }

    /// `count` loads with their equilibria. With `edges`, a part of them lies on the region's edges, where a blend
    /// is worst.
    pub(crate) fn draw(&self, rng: &mut SplitMix64, k: usize, edges: bool) -> Truth {
        let mut forces = Forces::new();
        let alone = self.regions.len() == 1;
        for (r, size) in self.regions.iter().zip(&self.sizes) {
            let (outward, around, part) = (rng.uniform(), rng.uniform(), rng.uniform());
            let outward = if edges && k % 3 == 1 { 1.0 } else { outward };
            // Several regions share the displacement in all proportions.
            let part = if alone { 1.0 } else { part };
            forces.push((r.effector, r.direction(outward, around) * (size * part)));
        }
        let displacement = self.regions.iter().fold(f64::INFINITY, |m, r| m.min(r.displacement));
        let limit = self.limit(&forces, displacement);
        let part = rng.uniform();
        let part = if edges && k % 4 == 2 { 1.0 } else { part };
        forces.iter_mut().for_each(|(_, f)| *f *= limit * part);
        self.solver.solve(forces)
    }

    /// The multiple of forces at which an effector's relative displacement reaches `most`; less where the path ends.
    fn limit(&self, forces: &Forces, most: f64) -> f64 {
        let at = |scale: f64, from: &Equilibrium| {
            let scaled = forces.iter().map(|&(e, f)| (e, f * scale)).collect();
            self.solver.next_to(from, scaled)
        };
        let mut low = 0.0;
        let mut here = self.start.clone();
        let mut high = if self.sizes.len() < self.regions.len() { 1.0 } else { FIRST_DISPLACEMENT };
        let first = high;
        let mut moved = 0.0;
        loop {
            let truth = at(high, &here);
            if !is_stable(&truth.equilibrium) {
                return low;
            }
            if truth.displacement >= most {
                break;
            }
            let further = truth.displacement - moved;
            moved = truth.displacement;
            (low, here) = (high, truth.equilibrium);
            if moved > 0.5 * most && further < STRAIGHT * most {
                return low;
            }
            high *= GROWTH;
            if high > STIFF * first {
                return low;
            }
        }
        while high - low > LIMIT_TOLERANCE * high {
            let middle = 0.5 * (low + high);
            let truth = at(middle, &here);
            if is_stable(&truth.equilibrium) && truth.displacement < most {
                (low, here) = (middle, truth.equilibrium);
            } else {
                high = middle;
            }
        }
        low
    }
}
