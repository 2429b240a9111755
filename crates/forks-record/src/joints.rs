//! Joints of a mechanism as the viewer shows them.

use std::collections::BTreeMap;

use forks_io::animation::{AxisSpring, Joint, JointAxis, JointSide, PoseSpring};
use forks_lie::{Pose, glam::DVec3};
use forks_mechanism::{Bushing, JointId, JointKind, LinkId, Mechanism};

/// All joints between bodies, or a body and the ground, that turn about or slide along axes, have
/// springs or close loops; bushings.
pub(crate) fn joints(m: &Mechanism, bodies: &BTreeMap<LinkId, usize>) -> Vec<Joint> {
    let closures = m.forest().closures();
    let side = |link: LinkId, body_from_joint: Pose| match bodies.get(&link) {
        Some(&body) => Some(JointSide { body: Some(body), body_from_joint }),
        None if link == LinkId::WORLD => Some(JointSide { body: None, body_from_joint }),
        None => None,
    };
    let joint = |id: JointId| {
        let j = m.joint(id);
        let sides = [side(j.parent, j.parent_from_joint)?, side(j.child, j.child_from_joint)?];
        let (axes, closes, spring) = (axes(j), closures.contains(&id), whole_spring(j));
        let shown = closes || !axes.is_empty() || spring.is_some();
        shown.then(|| Joint { name: m.joint_label(id), sides, axes, closes, spring })
    };
    let bushing = |b: &Bushing| {
        let sides = [side(b.link_a, b.a_from_bushing)?, side(b.link_b, b.b_from_bushing)?];
        let stiffness = std::array::from_fn(|i| std::array::from_fn(|j| b.stiffness.get(i, j)));
        let spring = Some(PoseSpring { stiffness, rest: Pose::IDENTITY });
        Some(Joint { name: b.name.clone(), sides, axes: vec![], closes: false, spring })
    };
    let joints = (0..m.joints().len()).map(JointId::new).filter_map(joint);
    joints.chain(m.bushings().iter().filter_map(bushing)).collect()
}

/// The spring of a joint whose displacement is a twist, where its frames coincide at zero.
fn whole_spring(j: &forks_mechanism::Joint) -> Option<PoseSpring> {
    let spring = j.spring.as_ref().filter(|s| !s.stiffness.is_zero())?;
    let of: &[usize] = match j.kind {
        JointKind::Spherical => &[3, 4, 5],
        JointKind::Planar => &[0, 1, 5],
        JointKind::Free => &[0, 1, 2, 3, 4, 5],
        _ => return None,
    };
    if j.reference.iter().any(|x| *x != 0.0) {
        return None;
    }
    let mut stiffness = [[0.0; 6]; 6];
    for (a, &i) in of.iter().enumerate() {
        for (b, &k) in of.iter().enumerate() {
            stiffness[i][k] = spring.stiffness.get(a, b);
        }
    }
    Some(PoseSpring { stiffness, rest: j.kind.motion(&spring.rest) })
}

/// The axes that are coordinates of their own, with their springs; of a universal joint the one
/// that its parent holds.
fn axes(j: &forks_mechanism::Joint) -> Vec<JointAxis> {
    let turns = |direction: DVec3| JointAxis { direction, slides: false, spring: None };
    let slides = |direction: DVec3| JointAxis { slides: true, ..turns(direction) };
    let sprung = |k: usize, axis: JointAxis| JointAxis { spring: spring(j, k), ..axis };
    match j.kind {
        JointKind::Revolute { axis } => vec![sprung(0, turns(axis))],
        JointKind::Prismatic { axis } => vec![sprung(0, slides(axis))],
        JointKind::Cylindrical { axis } => {
            vec![sprung(0, slides(axis)), sprung(1, turns(axis))]
        }
        JointKind::Universal { first, .. } => vec![turns(first)],
        JointKind::Planar => vec![slides(DVec3::X), slides(DVec3::Y), turns(DVec3::Z)],
        JointKind::Fixed | JointKind::Spherical | JointKind::Free | JointKind::General { .. } => {
            vec![]
        }
    }
}

/// The spring of the k-th coordinate, if no other one is coupled to it; counted from the pose at
/// which the joint's frames coincide.
fn spring(j: &forks_mechanism::Joint, k: usize) -> Option<AxisSpring> {
    let spring = j.spring.as_ref()?;
    let stiffness = spring.stiffness.get(k, k);
    let alone = (0..j.dof()).all(|n| n == k || spring.stiffness.get(k, n) == 0.0);
    let [rest, start] = [&spring.rest, &j.start].map(|q| q[k] - j.reference[k]);
    (stiffness > 0.0 && alone).then_some(AxisSpring { stiffness, rest, start })
}
