//! Regions of loads, and loads drawn from them up to a displacement.

use forks_dynamics::statics::Equilibrium;
use forks_mechanism::lie::{SplitMix64, glam::DVec3};

use crate::truth::{Forces, Solver, Truth, is_stable};

/// Forces on one effector: directions in a cone, as large as moves an effector up to a
/// displacement.
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

    /// The axis, and the rim to all sides (to both, of a plane).
    pub(crate) fn spread(&self) -> Vec<DVec3> {
        let rim = (0..4).map(|k| self.direction(1.0, 0.25 * f64::from(k)));
        core::iter::once(self.axis.normalize()).chain(rim).collect()
    }

    /// Unit vector in the cone; `outward` in [0, 1] from the axis to the rim, uniform on the
    /// sphere's cap.
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

    /// A direction of the cone turned by an angle, to the rim at most; `to` counts the sides, of
    /// which there are [`LoadRegion::sides`].
    pub(crate) fn turned(&self, direction: DVec3, angle: f64, to: usize) -> DVec3 {
        let axis = self.axis.normalize();
        let (one, other) = match self.normal {
            Some(normal) => (normal.cross(direction).normalize_or_zero(), DVec3::ZERO),
            None => direction.any_orthonormal_pair(),
        };
        let side = [one, -one, other, -other][to];
        let turned = direction * angle.cos() + side * angle.sin();
        if turned.angle_between(axis) <= self.half_angle {
            return turned;
        }
        let outward = (turned - axis * turned.dot(axis)).normalize_or_zero();
        axis * self.half_angle.cos() + outward * self.half_angle.sin()
    }

    /// True if a force on an effector has a direction of the cone.
    pub(crate) fn contains(&self, effector: usize, force: DVec3) -> bool {
        effector == self.effector && force.angle_between(self.axis) <= self.half_angle + 1e-6
    }

    /// To how many sides a direction can turn.
    pub(crate) fn sides(&self) -> usize {
        match (self.half_angle > 0.0, self.normal) {
            (false, _) => 0,
            (true, Some(_)) => 2,
            (true, None) => 4,
        }
    }
}

/// Growth of the force while its limit is searched.
const GROWTH: f64 = 1.35;
/// A path ends at a displacement between this part of its limit and the limit.
const NEARLY: f64 = 0.98;
/// Equilibria on one path at most.
const MOST_STEPS: usize = 80;
/// A mechanism that gives way to more force less than this part of what it did at most has locked,
/// like an arm that is pulled straight: larger forces only stretch it.
const STIFF: f64 = 0.1;
/// A load at which a path ends is known to this part of it.
const CLOSE: f64 = 0.01;
/// Displacement at which the search begins.
const FIRST_DISPLACEMENT: f64 = 0.02;

/// Draws loads from regions.
pub(crate) struct Drawing<'a> {
    pub(crate) solver: &'a Solver<'a>,
    pub(crate) regions: &'a [LoadRegion],
    /// Force per region that moves an effector by about the region's displacement, N.
    pub(crate) sizes: Vec<f64>,
    pub(crate) start: &'a Equilibrium,
    /// All regions are loaded at once, or one after the other.
    pub(crate) together: bool,
}

impl<'a> Drawing<'a> {
    pub(crate) fn new(
        solver: &'a Solver<'a>,
        regions: &'a [LoadRegion],
        start: &'a Equilibrium,
        together: bool,
        first: impl Fn(usize, DVec3) -> f64,
    ) -> Self {
        let mut out = Self { solver, regions, sizes: vec![], start, together };
        for r in regions {
            let axis = r.axis.normalize();
            let small = first(r.effector, axis);
            let (path, _) = out.path(&vec![(r.effector, axis * small)], r.displacement);
            out.sizes.push(small * path.last().map_or(0.0, |p| p.0));
        }
        out
    }

    /// Load number `k` with its equilibrium, the first load of the same kind that has none, if the
    /// region ends there, and whether it goes up to the displacement asked for. With `edges`, a
    /// part of the loads lies on the region's edges, where a blend is worst.
    pub(crate) fn draw(
        &self,
        rng: &mut SplitMix64,
        k: usize,
        edges: bool,
    ) -> (Truth, Option<Truth>, bool) {
        let turns = if self.together { 1 } else { self.regions.len() };
        let mut forces = Forces::new();
        let alone = self.regions.len() == 1 || !self.together;
        for (i, (r, size)) in self.regions.iter().zip(&self.sizes).enumerate() {
            if !self.together && i != k % self.regions.len() {
                continue;
            }
            let (outward, around, part) = (rng.uniform(), rng.uniform(), rng.uniform());
            let outward = if edges && (k / turns) % 3 == 1 { 1.0 } else { outward };
            // Several regions share the displacement in all proportions.
            let part = if alone { 1.0 } else { part };
            forces.push((r.effector, r.direction(outward, around) * (size * part)));
        }
        let displacement = self.regions.iter().fold(f64::INFINITY, |m, r| m.min(r.displacement));
        let (path, broken) = self.path(&forces, displacement);
        let end = path.last().map_or(0.0, |p| self.solver.displacement(&p.1));
        let part = rng.uniform();
        let part = if edges && (k / turns) % 4 == 2 { 1.0 } else { part };
        let limit = path.last().map_or(0.0, |p| p.0);
        let scale = limit * part;
        forces.iter_mut().for_each(|(_, f)| *f *= scale);
        let before = path.iter().rev().find(|(s, _)| *s <= scale);
        (
            self.solver.next_to(before.map_or(self.start, |b| &b.1), forces),
            broken,
            end >= NEARLY * displacement,
        )
    }

    /// Equilibria under growing multiples of forces, until an effector's relative displacement is
    /// nearly `most` or the path ends; if it does because there is no stable equilibrium, what the
    /// solver says there.
    fn path(&self, forces: &Forces, most: f64) -> (Vec<(f64, Equilibrium)>, Option<Truth>) {
        let at = |scale: f64, from: &Equilibrium| {
            let scaled = forces.iter().map(|&(e, f)| (e, f * scale)).collect();
            self.solver.next_to(from, scaled)
        };
        let mut path: Vec<(f64, Equilibrium)> = vec![(0.0, self.start.clone())];
        let first = if self.sizes.len() < self.regions.len() { 1.0 } else { FIRST_DISPLACEMENT };
        let (mut moved, mut scale, mut initial) = (0.0, first, 0.0f64);
        // Scale and displacement beyond the end.
        let mut beyond: Option<(f64, f64)> = None;
        // The least scale without an equilibrium.
        let mut broken: Option<(f64, Truth)> = None;
        for _ in 0..MOST_STEPS {
            let (low, here) = &path[path.len() - 1];
            let low = *low;
            let truth = at(scale, here);
            let further = truth.displacement - moved;
            if !is_stable(&truth.equilibrium) {
                // Halved towards the load at which the path ends.
                if scale - low < CLOSE * scale {
                    return (path, Some(truth));
                }
                let middle = 0.5 * (low + scale);
                broken = Some((scale, truth));
                scale = middle;
                continue;
            }
            if truth.displacement >= most {
                beyond = Some((scale, truth.displacement));
            } else {
                moved = truth.displacement;
                path.push((scale, truth.equilibrium));
                let slope = further / (scale - low);
                initial = initial.max(slope);
                if moved >= NEARLY * most || slope < STIFF * initial {
                    break;
                }
            }
            let low = path[path.len() - 1].0;
            scale = match beyond {
                None => match &broken {
                    None => scale * GROWTH,
                    Some((limit, _)) => 0.5 * (low + limit),
                },
                // A chord to just below the end, away from both sides.
                Some((high, above)) => {
                    let aim = 0.5 * (1.0 + NEARLY) * most;
                    let part = (aim - moved) / (above - moved);
                    low + (high - low) * part.clamp(0.05, 0.95)
                }
            };
        }
        (path, broken.map(|b| b.1))
    }
}
