//! Generated machines on hinges: arms on the ground, and free bodies on legs.

use std::sync::Arc;

use forks_mechanism::{
    Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_testkit::Rng;

/// A machine, its hinges, and the last links of its legs.
pub(super) struct Machine {
    pub(super) mechanism: Arc<Mechanism>,
    pub(super) hinges: Vec<JointId>,
    pub(super) tips: Vec<LinkId>,
}

/// A chain of hinges about any axes, with springs and dampers; a unit of length is 1/`s` m.
pub(super) fn arm(rng: &mut Rng, count: usize, s: f64) -> Result<Machine, String> {
    let mut b = MechanismBuilder::new("arm");
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81) * s);
    let (mut hinges, mut tips) = (vec![], vec![]);
    leg(rng, &mut b, (LinkId::WORLD, Pose::IDENTITY), count, s, (&mut hinges, &mut tips));
    let mechanism = b.build().map(Arc::new).map_err(|e| e.to_string())?;
    Ok(Machine { mechanism, hinges, tips })
}

/// A free body above legs of three hinges.
pub(super) fn walker(rng: &mut Rng, legs: usize) -> Result<Machine, String> {
    let mut b = MechanismBuilder::new("walker");
    let inertia = body(rng, 3.0, 1.0);
    let base = b.add_link(Link::new("body").with_inertia(inertia));
    b.add_joint(Joint::new("base", JointKind::Free, LinkId::WORLD, base));
    let (mut hinges, mut tips) = (vec![], vec![]);
    for k in 0..legs {
        let angle = core::f64::consts::TAU * (k as f64 + 0.3 * rng.symmetric()) / legs as f64;
        let turn = DQuat::from_rotation_z(angle);
        let at = Pose::new(turn, turn * DVec3::X * rng.range(0.1, 0.3));
        leg(rng, &mut b, (base, at), 3, 1.0, (&mut hinges, &mut tips));
    }
    let mechanism = b.build().map(Arc::new).map_err(|e| e.to_string())?;
    Ok(Machine { mechanism, hinges, tips })
}

fn leg(
    rng: &mut Rng,
    b: &mut MechanismBuilder,
    (mut parent, mut at): (LinkId, Pose),
    count: usize,
    s: f64,
    (hinges, tips): (&mut Vec<JointId>, &mut Vec<LinkId>),
) {
    for _ in 0..count {
        let mass = rng.range(0.3, 2.0);
        let name = format!("l{}", hinges.len());
        let link = b.add_link(Link::new(name).with_inertia(body(rng, mass, s)));
        let axis = way(rng).normalize_or(DVec3::Y);
        let name = format!("j{}", hinges.len());
        let joint = Joint::new(name, JointKind::Revolute { axis }, parent, link).at(at);
        let (k, d) = (rng.range(0.0, 4.0) * s * s, rng.range(0.0, 0.2) * s * s);
        hinges.push(b.add_joint(joint.with_stiffness(k).with_damping(d)));
        parent = link;
        let along = DVec3::new(rng.range(0.1, 0.3), 0.05 * rng.symmetric(), -0.1) * s;
        at = Pose::new(DQuat::from_rotation_x(0.5 * rng.symmetric()), along);
    }
    tips.push(parent);
}

fn body(rng: &mut Rng, mass: f64, s: f64) -> SpatialInertia {
    let tensor = DVec3::new(rng.range(4e-3, 6e-3), rng.range(4e-3, 6e-3), rng.range(4e-3, 6e-3));
    let centre = way(rng) * 0.05 * s;
    SpatialInertia::new(mass, centre, DMat3::from_diagonal(tensor * (mass * s * s)))
}

pub(super) fn way(rng: &mut Rng) -> DVec3 {
    DVec3::new(rng.symmetric(), rng.symmetric(), rng.symmetric())
}
