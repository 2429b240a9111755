//! The full mechanism under forces that grow from nothing: the judge's own way to its loads, which
//! shares no code with the placement.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    statics::{Equilibrium, EquilibriumOptions, EquilibriumStatus, continue_equilibrium},
};
use forks_mechanism::lie::{Pose, SplitMix64, Wrench, glam::DVec3};
use forks_place::{Forces, Truth};
use forks_reduce::{Problem, relative_displacement};
use rayon::prelude::*;

use super::subject::Subject;
use crate::validate::record::larger;

/// A mechanism with its equilibrium without forces.
pub(super) struct Full<'a> {
    pub(super) problem: &'a Problem,
    pub(super) gravity: bool,
    pub(super) rest: Equilibrium,
    /// Effectors there.
    pub(super) tips: Vec<Pose>,
    pub(super) r: f64,
}

/// Why a path of growing forces ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The displacement that was asked for.
    Displaced,
    /// More force hardly displaces any further.
    Locked,
    /// There is no stable equilibrium next to the last one.
    Broken,
}

/// Equilibria under growing multiples of forces, and why there are no more.
pub(super) struct Ray {
    pub(super) points: Vec<(f64, Truth)>,
    pub(super) end: End,
}

/// The loads that judge.
pub(super) struct Drawn {
    pub(super) loads: Vec<Truth>,
    /// Directions in which the mechanism locks before it is displaced as far as asked.
    pub(super) locked: usize,
    /// Directions in which stable equilibria end before.
    pub(super) broken: usize,
}

/// Displacement of the first equilibrium on a path, and how far it may be from that.
const FIRST: (f64, f64) = (0.005, 0.02);
const GROWTH: f64 = 1.35;
/// Equilibria on a path, and trials for the first force, at most.
const MOST_STEPS: usize = 120;
/// A path has reached its displacement here.
const NEARLY: f64 = 0.98;
/// A step of the force below this part of it ends a path.
const SHORT: f64 = 1e-3;
/// A mechanism has locked where its displacement per force is below this part of the largest one.
const LOCKED: f64 = 0.1;

impl<'a> Full<'a> {
    pub(super) fn new(s: &'a Subject) -> Result<Self, String> {
        let problem = &s.problem;
        let loads = Loads { gravity: s.gravity, wrenches: vec![] };
        let rest = problem.equilibrium(&loads, &EquilibriumOptions::default());
        if rest.status != EquilibriumStatus::Converged {
            let why = rest.explanation(problem.mechanism()).unwrap_or_default();
            return Err(format!("no rest without forces ({}): {why}", rest.status.name()));
        }
        let r = problem.mechanism().bounding_radius(&rest.world_from_link);
        let mut out = Self { problem, gravity: s.gravity, rest, tips: vec![], r };
        out.tips = out.effectors(&out.rest);
        Ok(out)
    }

    /// Effectors at an equilibrium.
    pub(super) fn effectors(&self, e: &Equilibrium) -> Vec<Pose> {
        let of =
            |f: &forks_reduce::Effector| e.world_from_link[f.link.index()] * f.link_from_effector;
        self.problem.effectors.iter().map(of).collect()
    }

    /// The equilibrium next to another one.
    pub(super) fn next_to(&self, from: &Equilibrium, forces: Forces) -> Truth {
        let wrench = |&(e, force): &(usize, DVec3)| AppliedWrench {
            link: self.problem.effectors[e].link,
            link_from_point: self.problem.effectors[e].link_from_effector,
            wrench: Wrench::new(force, DVec3::ZERO),
            frame: WrenchFrame::World,
        };
        let wrenches = forces.iter().map(wrench).collect();
        let loads = Loads { gravity: self.gravity, wrenches };
        let options = EquilibriumOptions::default();
        let equilibrium = continue_equilibrium(self.problem.mechanism(), from, &loads, &options);
        let moved = self.tips.iter().zip(self.effectors(&equilibrium));
        let moved = moved.map(|(a, b)| relative_displacement(a, &b, self.r));
        Truth { displacement: moved.fold(0.0, larger), forces, equilibrium }
    }

    /// Equilibria under multiples of forces, up to a displacement. `first` is the multiple that is
    /// tried first.
    pub(super) fn ray(&self, unit: &Forces, first: f64, most: f64) -> Ray {
        let start = Truth { forces: vec![], equilibrium: self.rest.clone(), displacement: 0.0 };
        let mut points = vec![(0.0, start)];
        let (mut step, mut steepest) = (first, 0.0f64);
        // The least multiple that was too much, and whether there was an equilibrium.
        let mut beyond: Option<(f64, End)> = None;
        for _ in 0..MOST_STEPS {
            let (scale, here) = &points[points.len() - 1];
            let (scale, before) = (*scale, here.displacement);
            let next = self.next_to(&here.equilibrium, scaled(unit, scale + step));
            let found = is_next(&next.equilibrium);
            if !found || next.displacement > most {
                let end = if found { End::Displaced } else { End::Broken };
                if step < SHORT * (scale + step) {
                    return Ray { points, end };
                }
                beyond = Some((scale + step, end));
                step *= 0.5;
                continue;
            }
            let slope = (next.displacement - before) / step;
            steepest = steepest.max(slope);
            let displaced = next.displacement >= NEARLY * most;
            points.push((scale + step, next));
            if displaced || slope < LOCKED * steepest {
                let end = if displaced { End::Displaced } else { End::Locked };
                return Ray { points, end };
            }
            let longest = beyond.map_or(f64::INFINITY, |b| 0.6 * (b.0 - scale - step));
            step = ((scale + step) * (GROWTH - 1.0)).max(step).min(longest);
        }
        Ray { points, end: beyond.map_or(End::Locked, |b| b.1) }
    }

    /// The multiple of forces that displaces a little.
    pub(super) fn first(&self, unit: &Forces) -> Result<f64, String> {
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        let mut scale = 1.0f64;
        for _ in 0..MOST_STEPS {
            let t = self.next_to(&self.rest, scaled(unit, scale));
            let far = !is_next(&t.equilibrium) || t.displacement.is_nan();
            if !far && (FIRST.0..=FIRST.1).contains(&t.displacement) {
                return Ok(scale);
            }
            match far || t.displacement > FIRST.1 {
                true => high = scale,
                false => low = scale,
            }
            scale = match (low > 0.0, high.is_finite()) {
                (true, true) => (low * high).sqrt(),
                (false, _) => high * 0.1,
                (true, false) => low * 10.0,
            };
            if !(1e-12..=1e15).contains(&scale) {
                break;
            }
        }
        Err("no force along the axis displaces the effector a little".to_owned())
    }

    /// Loads with directions in a cone about the axis, uniform in size up to where they displace by
    /// `until`. The same loads for any number of threads.
    pub(super) fn draw(
        &self,
        axis: DVec3,
        half_angle: f64,
        until: f64,
        seed: u64,
        count: usize,
    ) -> Result<Drawn, String> {
        let effectors = self.problem.effectors.len();
        let first = self.first(&(0..effectors).map(|e| (e, axis.normalize())).collect())?;
        let one = |k: usize| -> (Option<Truth>, End) {
            let mut rng = SplitMix64::new(seed.wrapping_add(0x9e37_79b9 * k as u64));
            let force = |e: usize| {
                let part = if effectors == 1 { 1.0 } else { rng.uniform() };
                (e, direction(axis, half_angle, &mut rng) * part)
            };
            let unit: Forces = (0..effectors).map(force).collect();
            let ray = self.ray(&unit, first, until);
            let most = ray.points.last().map_or(0.0, |p| p.0);
            let scale = most * rng.uniform();
            let before = ray.points.iter().rev().find(|p| p.0 <= scale);
            let load = before.map(|p| self.next_to(&p.1.equilibrium, scaled(&unit, scale)));
            (load.filter(|t| scale > 0.0 && is_next(&t.equilibrium)), ray.end)
        };
        let all: Vec<_> = (0..count).into_par_iter().map(one).collect();
        let ends = |end| all.iter().filter(|a| a.1 == end).count();
        Ok(Drawn {
            locked: ends(End::Locked),
            broken: ends(End::Broken),
            loads: all.into_iter().filter_map(|a| a.0).collect(),
        })
    }
}

/// Stable, and not on the far side of a jump.
fn is_next(e: &Equilibrium) -> bool {
    e.status == EquilibriumStatus::Converged && e.relaxations == 0
}

fn scaled(unit: &Forces, scale: f64) -> Forces {
    unit.iter().map(|&(e, f)| (e, f * scale)).collect()
}

/// Uniform on the cap of the sphere.
fn direction(axis: DVec3, half_angle: f64, rng: &mut SplitMix64) -> DVec3 {
    let axis = axis.normalize();
    let cosine = rng.range(half_angle.cos(), 1.0);
    let (s, c) = rng.range(0.0, core::f64::consts::TAU).sin_cos();
    let (side, other) = axis.any_orthonormal_pair();
    axis * cosine + (side * c + other * s) * (1.0 - cosine * cosine).max(0.0).sqrt()
}
