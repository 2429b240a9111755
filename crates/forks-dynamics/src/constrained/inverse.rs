//! Inverse dynamics from the links' motion: the joint forces that produce given accelerations
//! (\[K08\] Table 3, all coordinates prescribed).

use forks_mechanism::{
    Mechanism,
    lie::{Pose, Twist, Wrench},
};

use super::motion::TreeMotion;

/// Weight of a link in its own frame; gravity compensation is taken off if asked for.
pub(crate) fn weight(
    m: &Mechanism,
    link: usize,
    world_from_link: &Pose,
    compensated: bool,
) -> Wrench {
    let l = &m.links()[link];
    let share = if compensated { 1.0 - l.gravity_compensation } else { 1.0 };
    let force = world_from_link.rotation.conjugate() * m.gravity() * (l.inertia.mass * share);
    Wrench::new(force, l.inertia.center_of_mass.cross(force))
}

/// Generalised forces M v̇ + bias − Jᵀ(wrenches) on the tree coordinates.
///
/// `accelerations` are link accelerations φ̇ (gravity left out) and `wrenches` what acts on every
/// link, both in link frames; afterwards `carried` holds the wrench that passes through the joint
/// of every link.
pub(crate) fn inverse_dynamics(
    m: &Mechanism,
    motion: &TreeMotion,
    accelerations: &[Twist],
    wrenches: &[Wrench],
    carried: &mut Vec<Wrench>,
    forces: &mut [f64],
) {
    carried.clear();
    carried.extend(m.links().iter().enumerate().map(|(i, l)| {
        if i == 0 {
            return Wrench::ZERO;
        }
        let momentum = l.inertia.apply(motion.twists[i]);
        l.inertia.apply(accelerations[i]) - motion.twists[i].ad_transpose(momentum) - wrenches[i]
    }));
    for j in motion.joints.iter().rev() {
        let f = carried[j.outer];
        for (c, k) in j.columns.as_slice().iter().zip(j.velocities.clone()) {
            forces[k] = c.dot(f);
        }
        carried[j.inner] += j.inner_from_outer.apply_to_wrench(f);
    }
}

/// The wrench that passes through the joint of every link, in its frame, where nothing moves:
/// `wrenches` and what acts farther out, with sign reversed.
///
/// Inertial forces are left out on purpose. Those of inverse dynamics at v̇ = 0 are not what passes
/// through the joints: in a long chain the accelerations that loads and springs give cancel most of
/// them.
pub(crate) fn carry_loads(motion: &TreeMotion, wrenches: &[Wrench], carried: &mut Vec<Wrench>) {
    carried.clear();
    carried.extend(wrenches.iter().map(|w| -*w));
    for j in motion.joints.iter().rev() {
        let f = carried[j.outer];
        carried[j.inner] += j.inner_from_outer.apply_to_wrench(f);
    }
}
