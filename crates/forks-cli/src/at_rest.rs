//! What a model at the start pose leaves out: gravity, preload, and where these would move the
//! mechanism.

use forks_dynamics::{
    Loads,
    modes::lowest_frequencies,
    statics::{Equilibrium, EquilibriumOptions},
    tangent_stiffness,
};
use forks_mechanism::{JointId, Mechanism, kinematics::loops};
use forks_reduce::Problem;
use serde::Serialize;

use crate::output::short;

/// Displacements below this (radians, or lengths over the mechanism's size) are rounding.
const STILL: f64 = 1e-9;
/// Frequencies that differ by less than this part are the same.
const SAME_FREQUENCY: f64 = 1e-6;
/// Above this many coordinates the equilibrium is not searched only to warn: it may take longer
/// than the reduction.
const LARGEST: usize = 300;

/// What acts on a mechanism without loads on its effectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnLoads {
    /// Some link that moves has weight.
    pub(crate) gravity: bool,
    /// Some spring is stressed at the start pose.
    pub(crate) preload: bool,
}

impl OwnLoads {
    pub(crate) fn of(problem: &Problem) -> Self {
        let m = problem.mechanism();
        Self { gravity: has_weight(m), preload: is_stressed(m, &problem.start) }
    }

    pub(crate) fn any(self) -> bool {
        self.gravity || self.preload
    }

    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match (self.gravity, self.preload) {
            (true, true) => "gravity and spring preload",
            (true, false) => "gravity",
            (false, true) => "spring preload",
            (false, false) => "no load",
        }
    }
}

/// True if gravity acts on a link that can move.
fn has_weight(m: &Mechanism) -> bool {
    let mut moves = vec![false; m.links().len()];
    for e in m.forest().edges() {
        moves[e.outer.index()] = moves[e.inner.index()] || m.joint(e.joint).dof() > 0;
    }
    m.gravity().length_squared() > 0.0
        && m.links()
            .iter()
            .zip(moves)
            .any(|(l, moves)| moves && l.inertia.mass != 0.0 && l.gravity_compensation != 1.0)
}

/// True if the rest of some spring is not the pose `q`.
fn is_stressed(m: &Mechanism, q: &[f64]) -> bool {
    let poses = m.link_poses(q);
    let unit = m.bounding_radius(&poses).max(1.0);
    let joint = |(i, j): (usize, &forks_mechanism::Joint)| {
        let Some(s) = j.spring.as_ref().filter(|s| !s.stiffness.is_zero()) else { return false };
        let off = j.kind.difference(&q[m.position_range(JointId::new(i))], &s.rest);
        (0..j.dof()).any(|c| !s.stiffness.is_zero_row(c) && off[c].abs() > STILL * unit)
    };
    let combination = |s: &forks_mechanism::CombinationSpring| {
        let off = loops::combination_value(m, &s.combination, q) - s.rest;
        s.stiffness > 0.0 && off.abs() > STILL * unit
    };
    let bushing = |b: &forks_mechanism::Bushing| {
        let a = poses[b.link_a.index()] * b.a_from_bushing;
        let off = a.twist_to(&(poses[b.link_b.index()] * b.b_from_bushing));
        b.stiffness.mul_vec(&off.to_array()).iter().any(|f| *f != 0.0)
            && off.scale_linear(1.0 / unit).norm() > STILL
    };
    m.joints().iter().enumerate().any(joint)
        || m.combination_springs().iter().any(combination)
        || m.bushings().iter().any(bushing)
        || m.cables().iter().any(|c| {
            let force = c.tension(c.length(&poses)).force;
            force.abs() > c.stiffness * STILL * unit
        })
}

/// The mechanism at its equilibrium under its own loads, beside the start pose.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AtEquilibrium {
    /// How the search for it ended.
    pub(crate) status: &'static str,
    /// The lowest natural frequency there, rad/s; null where there is no stable equilibrium.
    pub(crate) lowest_frequency_rad_s: Option<f64>,
}

/// A warning that the start pose is not the equilibrium, and what is there; nothing where the own
/// loads change nothing. `start` is what the start pose is called, `printed` the lowest frequency
/// there without loads.
pub(crate) fn compared(
    problem: &Problem,
    start: &str,
    loads: OwnLoads,
    printed: Option<f64>,
) -> Option<(String, Option<AtEquilibrium>)> {
    if !loads.any() {
        return None;
    }
    let m = problem.mechanism();
    let left_out = format!("linearised at {start}, without {}", loads.name());
    if m.velocity_count() > LARGEST {
        let text = format!("{left_out}; use --equilibrium to linearise under it");
        return Some((text, None));
    }
    let e = problem.equilibrium(&Loads::gravity(), &EquilibriumOptions::default());
    let found = (e.status.name() == "converged").then(|| lowest_frequency(m, &e)).flatten();
    let there = AtEquilibrium { status: e.status.name(), lowest_frequency_rad_s: found };
    if let Some(why) = e.explanation(m) {
        let text =
            format!("{left_out}; under it no stable equilibrium was found: {}", with_option(&why));
        return Some((text, Some(there)));
    }
    let moved = m.difference(&problem.start, &e.q).iter().any(|v| v.abs() > STILL);
    let differs = match (printed, found) {
        (Some(a), Some(b)) => (a - b).abs() > SAME_FREQUENCY * a.abs(),
        (a, b) => a.is_some() != b.is_some(),
    };
    if !moved && !differs {
        return None;
    }
    let pose = if moved { ", which is no equilibrium under it" } else { "" };
    let beside = match (found, printed) {
        (Some(found), Some(printed)) => format!(
            "at the equilibrium the lowest frequency is {} rad/s, here it is {} rad/s; use \
             --equilibrium to linearise there",
            short(found),
            short(printed)
        ),
        _ => "use --equilibrium to linearise at the equilibrium".into(),
    };
    Some((format!("{left_out}{pose}; {beside}"), Some(there)))
}

fn lowest_frequency(m: &Mechanism, e: &Equilibrium) -> Option<f64> {
    let k = tangent_stiffness(m, &e.q, &e.world_from_link, &Loads::gravity(), &e.multipliers);
    lowest_frequencies(m, &e.q, &e.world_from_link, &k, 1)?.first().copied()
}

/// Names of the joint that is held, as a list for outputs.
pub(crate) fn held(problem: &Problem) -> Vec<String> {
    problem.prepared.held.iter().map(|&j| problem.mechanism().joint_label(j)).collect()
}

/// In words: which base is held, and why.
pub(crate) fn held_note(problem: &Problem) -> Option<String> {
    let id = problem.prepared.held?;
    let m = problem.mechanism();
    let j = m.joint(id);
    let link = if j.child == forks_mechanism::LinkId::WORLD { j.parent } else { j.child };
    let link = &m.link(link).name;
    Some(format!(
        "free joint '{}' of link '{link}' is held: no spring, servo or loop holds it otherwise",
        m.joint_label(id)
    ))
}

/// Names of the free bodies that stand still.
pub(crate) fn left_out(problem: &Problem) -> Vec<String> {
    let links = problem.prepared.left_out.iter().map(|&l| problem.mechanism().link(l));
    links.filter(|l| !l.auxiliary).map(|l| l.name.clone()).collect()
}

/// In words.
pub(crate) fn left_out_note(names: &[String]) -> Option<String> {
    let text = || format!("left out as free bodies without an effector: {}", names.join(", "));
    (!names.is_empty()).then(text)
}

/// A sentence about motions without resistance, with the option that gives them a stiffness.
pub(crate) fn with_option(sentence: &str) -> String {
    sentence.replacen("a default stiffness", "a default stiffness (--default-stiffness K)", 1)
}
