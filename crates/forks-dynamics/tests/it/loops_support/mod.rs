//! Mechanisms of the tests of loops and time integration.

use forks_dynamics::mechanism::{
    Joint, JointKind, JointMatrix, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};

/// The same mechanism with gravity along −z and, if given, other joint damping.
pub(crate) fn under_gravity(m: &Mechanism, damping: Option<f64>) -> Mechanism {
    let mut b = MechanismBuilder::from_mechanism(m);
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    if let Some(d) = damping {
        for j in b.joints_mut() {
            j.damping = JointMatrix::isotropic(j.dof(), d);
        }
    }
    b.build().unwrap()
}

/// Springs of every joint taken off or replaced, dampers removed.
pub(crate) fn sprung(m: &Mechanism, stiffness: f64) -> Mechanism {
    let mut b = MechanismBuilder::from_mechanism(m);
    for j in b.joints_mut() {
        let d = j.dof();
        j.damping = JointMatrix::zeros(d);
        j.spring = None;
        if stiffness > 0.0 {
            *j = j.clone().with_stiffness(stiffness);
        }
    }
    b.build().unwrap()
}

/// A slender bar from the frame's origin to `end`, 1 kg/m.
fn bar(name: String, end: DVec3) -> Link {
    let length = end.length();
    let axis = end / length;
    let along = DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
    let across = DMat3::IDENTITY - along;
    let inertia = across * (length * length * length / 12.0) + along * 1e-4;
    Link::new(name).with_inertia(SpatialInertia::new(length, end * 0.5, inertia))
}

/// Crank-rockers in the x–z plane, each mounted on the coupler of the one before; the first one on
/// the ground. Hinges about y without springs, gravity along −z. Lengths 0.3, 0.12, 0.27, 0.21 m:
/// the crank turns freely and no position is singular.
pub(crate) fn four_bars(count: usize) -> Mechanism {
    const SCALE: f64 = 0.3;
    let pin = DVec3::new(0.4 * 0.5, 0.0, 0.4 * 0.75f64.sqrt()) * SCALE;
    let root = DVec3::X * SCALE;
    let base = root - pin;
    let d = base.length();
    let (coupler, rocker) = (0.9 * SCALE, 0.7 * SCALE);
    let along = (d * d + coupler * coupler - rocker * rocker) / (2.0 * d);
    let u = base / d;
    let top =
        pin + u * along + DVec3::new(-u.z, 0.0, u.x) * (coupler * coupler - along * along).sqrt();
    let hinge = || JointKind::Revolute { axis: DVec3::Y };
    let mut b = MechanismBuilder::new(format!("{count} four-bars"));
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    // Frames have world axes at the start; each has its origin at its first hinge.
    let (mut mount, mut at) = (LinkId::WORLD, DVec3::ZERO);
    for k in 0..count {
        let links = [
            b.add_link(bar(format!("crank{k}"), pin)),
            b.add_link(bar(format!("coupler{k}"), top - pin)),
            b.add_link(bar(format!("rocker{k}"), top - root)),
        ];
        let mut join = |name: &str, parent, child, in_parent: DVec3, in_child: DVec3| {
            b.add_joint(
                Joint::new(format!("{name}{k}"), hinge(), parent, child)
                    .at(Pose::from_translation(in_parent))
                    .child_at(Pose::from_translation(in_child)),
            );
        };
        join("crank", mount, links[0], at, DVec3::ZERO);
        join("coupler", links[0], links[1], pin, DVec3::ZERO);
        join("rocker", mount, links[2], at + root, DVec3::ZERO);
        join("closure", links[1], links[2], top - pin, top - root);
        // The next one stands on the middle of the coupler.
        (mount, at) = (links[1], (top - pin) * 0.5);
    }
    b.build().unwrap()
}
