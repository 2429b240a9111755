//! Energy and generalised forces. One inward pass over the links, linear in their number.

use forks_mechanism::{
    JointId, Mechanism,
    kinematics::{loops, pull_back_wrenches},
    lie::{Pose, Wrench},
};

use crate::{
    cables::cable_energy,
    loads::{Loads, WrenchFrame},
    springs::{bushing_energy, joint_energy},
    stage::Stage,
};

/// Elastic energy of joint springs, combination springs, bushings and cables, J.
pub fn elastic_energy(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> f64 {
    let joints: f64 = (0..m.joints().len()).map(|i| joint_energy(m, JointId::new(i), q)).sum();
    let combinations: f64 = m
        .combination_springs()
        .iter()
        .map(|s| {
            let stretch = loops::combination_value(m, &s.combination, q) - s.rest;
            0.5 * s.stiffness * stretch * stretch
        })
        .sum();
    let bushings: f64 = m.bushings().iter().map(|b| bushing_energy(b, world_from_link)).sum();
    joints + combinations + bushings + cable_energy(m, world_from_link)
}

/// Potential energy of gravity, zero at the world's origin, gravity compensation taken off, J.
pub fn gravitational_energy(m: &Mechanism, world_from_link: &[Pose]) -> f64 {
    m.links()
        .iter()
        .zip(world_from_link)
        .skip(1)
        .map(|(l, p)| {
            let weight = m.gravity() * (l.inertia.mass * (1.0 - l.gravity_compensation));
            -weight.dot(p.transform_point(l.inertia.center_of_mass))
        })
        .sum()
}

/// Elastic and gravitational energy and the potential of the dead forces, J.
///
/// Dead torques and follower wrenches have no potential and are not counted.
pub fn potential_energy(m: &Mechanism, q: &[f64], world_from_link: &[Pose], loads: &Loads) -> f64 {
    let gravity = if loads.gravity { gravitational_energy(m, world_from_link) } else { 0.0 };
    let forces: f64 = loads
        .wrenches
        .iter()
        .filter(|w| w.frame == WrenchFrame::World)
        .map(|w| {
            let point =
                world_from_link[w.link.index()].transform_point(w.link_from_point.translation);
            -w.wrench.force.dot(point)
        })
        .sum();
    elastic_energy(m, q, world_from_link) + gravity + forces
}

/// Generalised forces f(q) of springs, bushings, cables, gravity and applied wrenches (length
/// `velocity_count`): their power is f · v. At equilibrium f + Gᵀλ = 0 with G the Jacobian of the
/// loop equations.
pub fn generalized_forces(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    loads: &Loads,
) -> Vec<f64> {
    let parts = force_parts(&Stage::full(m, loads), q, world_from_link);
    parts.elastic.iter().zip(&parts.external).map(|(a, b)| a + b).collect()
}

/// Generalised forces by origin.
pub(crate) struct ForceParts {
    pub(crate) elastic: Vec<f64>,
    pub(crate) external: Vec<f64>,
}

pub(crate) fn force_parts(stage: &Stage<'_>, q: &[f64], world_from_link: &[Pose]) -> ForceParts {
    force_parts_by(stage, q, world_from_link, |w| pull_back_wrenches(stage.m, q, w))
}

/// The same with another way to pull wrenches on the links back to the joints.
pub(crate) fn force_parts_by(
    stage: &Stage<'_>,
    q: &[f64],
    world_from_link: &[Pose],
    pull_back: impl Fn(&[Wrench]) -> Vec<f64>,
) -> ForceParts {
    let m = stage.m;
    let mut wrenches = vec![Wrench::ZERO; m.links().len()];
    stage.for_each_load(world_from_link, |link, load| wrenches[link] += load.wrench);
    let external = pull_back(&wrenches);
    ForceParts { elastic: elastic_forces(stage, q, world_from_link, pull_back), external }
}

fn elastic_forces(
    stage: &Stage<'_>,
    q: &[f64],
    world_from_link: &[Pose],
    pull_back: impl Fn(&[Wrench]) -> Vec<f64>,
) -> Vec<f64> {
    let m = stage.m;
    let mut out = if m.bushings().is_empty() && m.cables().is_empty() {
        vec![0.0; m.velocity_count()]
    } else {
        let mut wrenches = bushing_wrenches(stage, world_from_link);
        for i in 0..m.cables().len() {
            stage.add_cable(i, world_from_link, &mut wrenches);
        }
        pull_back(&wrenches)
    };
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        if let Some(gradient) = stage.joint_gradient(id, q) {
            out[m.velocity_range(id)].iter_mut().zip(gradient).for_each(|(o, g)| *o -= g);
        }
    }
    for (i, s) in m.combination_springs().iter().enumerate() {
        let force = stage.combination_force(i, q);
        for (c, a) in &s.combination.terms {
            out[m.velocity_index(*c)] -= a * force;
        }
    }
    out
}

/// Wrenches of all bushings on the links: −p on the second link, p on the first, at the second
/// frame.
fn bushing_wrenches(stage: &Stage<'_>, world_from_link: &[Pose]) -> Vec<Wrench> {
    let m = stage.m;
    let mut wrenches = vec![Wrench::ZERO; m.links().len()];
    for (i, b) in m.bushings().iter().enumerate() {
        let p = stage.bushing_gradient(i, world_from_link);
        let on_b = b.b_from_bushing.adjoint().apply_to_wrench(-p);
        let a_from_b =
            world_from_link[b.link_a.index()].inverse() * world_from_link[b.link_b.index()];
        wrenches[b.link_b.index()] += on_b;
        wrenches[b.link_a.index()] -= a_from_b.adjoint().apply_to_wrench(on_b);
    }
    wrenches
}
