//! A floating skeleton of two bones with a hinge, and a bar of tissue on it.

use forks_deform::{
    Attachment, Material, Momentum, SoftBody, SoftOptions, SoftSimulation, SoftState, Stepper,
    TetMesh,
    dynamics::mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia, SplitMix64,
            glam::{DMat3, DVec3},
        },
    },
};

use crate::support::vector;

const BONE: f64 = 0.2;

pub(crate) fn mechanism(base: JointKind, gravity: f64) -> Mechanism {
    bones_of(base, gravity, BONE)
}

pub(crate) fn bones_of(base: JointKind, gravity: f64, length: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("two bones");
    builder.set_gravity(DVec3::new(0.0, 0.0, -gravity));
    let across = 0.1 * length * length / 12.0;
    let inertia = SpatialInertia::new(
        0.1,
        DVec3::new(0.5 * length, 0.0, 0.0),
        DMat3::from_diagonal(DVec3::new(1e-5, across, across)),
    );
    let a = builder.add_link(Link::new("a").with_inertia(inertia));
    let b = builder.add_link(Link::new("b").with_inertia(inertia));
    builder.add_joint(Joint::new("base", base, LinkId::WORLD, a));
    let at = Pose::from_translation(DVec3::new(length, 0.0, 0.0));
    let hinge = JointKind::Revolute { axis: DVec3::Y };
    builder.add_joint(Joint::new("hinge", hinge, a, b).at(at));
    builder.build().unwrap()
}

/// Nodes on the axis are in bones, but for the one at the hinge.
pub(crate) fn tissue(m: &Mechanism, material: Material, quadratic: bool) -> SoftBody {
    let mut mesh = TetMesh::kuhn([8, 2, 2], DVec3::new(2.0 * BONE, 0.08, 0.08)).unwrap();
    mesh = mesh.mapped(|x| x - DVec3::new(0.0, 0.04, 0.04)).unwrap();
    if quadratic {
        mesh = mesh.quadratic();
    }
    let mut lists = vec![(LinkId::new(1), vec![]), (LinkId::new(2), vec![])];
    for (n, x) in mesh.nodes().iter().enumerate() {
        let on_axis = x.y.abs() < 1e-9 && x.z.abs() < 1e-9 && (x.x - BONE).abs() > 1e-6;
        if on_axis {
            lists[usize::from(x.x > BONE)].1.push(n);
        }
    }
    SoftBody::new(mesh, material).unwrap().attached(m, &Attachment::Nodes(lists)).unwrap()
}

pub(crate) fn options(stepper: Stepper, momentum: Momentum) -> SoftOptions {
    SoftOptions { stepper, momentum, ..SoftOptions::default() }
}

/// In motion: the base translates, the hinge turns, nodes have random velocities.
pub(crate) fn moving(base: JointKind, gravity: f64, options: SoftOptions) -> SoftSimulation {
    let m = mechanism(base, gravity);
    let body = tissue(&m, Material::stvk(2e4, 0.3, 1000.0).unwrap(), false);
    let mut simulation = SoftSimulation::new(&m, body, options).unwrap();
    let state = disturbed(&simulation, 0.2);
    simulation.set_state(state).unwrap();
    simulation
}

pub(crate) fn disturbed(simulation: &SoftSimulation, speed: f64) -> SoftState {
    let mut state = simulation.state().clone();
    let mut rng = SplitMix64::new(1);
    state.velocity.iter_mut().for_each(|v| *v = vector(&mut rng) * speed);
    let n = state.v.len();
    if n == 7 {
        state.v[3..6].copy_from_slice(&[1.0, 0.5, -0.3]);
    }
    state.v[n - 1] = 2.0;
    state
}
