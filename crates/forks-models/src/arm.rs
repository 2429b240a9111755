//! A long arm with a three-fingered hand.

use core::f64::consts::TAU;

use forks_mechanism::{
    LinkId,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, isotropic_rod},
};

/// An arm of eight links of 0.25 m along x (`arm0`…, 2 kg, hinges alternately y and z, K = 2000
/// N·m/rad, D = 20 N·m·s/rad) whose last link carries three fingers of four links of 0.04 m
/// (`finger0.0`…, 0.05 kg, hinges y, K = 5, D = 0.02) on roots 0.04 m from the arm's axis at 120°.
///
/// Finger frames are turned about x, so that each root lies on its finger's z axis and its hinges
/// bend it towards or away from the arm's axis. Inertias are isotropic, m L²/12 + 1e-5 kg·m².
/// Effectors: the last link of each finger.
pub fn arm20() -> Parametric {
    let mut s = Sketch::new("arm-20");
    let mut wrist = LinkId::WORLD;
    let step = DVec3::X * 0.25;
    for k in 0..8 {
        let at = step * k as f64;
        let link = s.link(format!("arm{k}"), at, isotropic_rod(2.0, step));
        let axis = if k % 2 == 0 { DVec3::Y } else { DVec3::Z };
        let spring = Compliance::new(2000.0, 20.0);
        s.hinge(format!("arm{k}"), [wrist, link], at, axis, Some(spring));
        wrist = link;
    }
    let effectors = (0..3).map(|finger| add_finger(&mut s, finger, wrist, step * 8.0)).collect();
    Parametric { mechanism: s.build(), effectors }
}

fn add_finger(s: &mut Sketch, finger: usize, wrist: LinkId, hand: DVec3) -> LinkId {
    let turn = DQuat::from_rotation_x(TAU * finger as f64 / 3.0);
    let step = DVec3::X * 0.04;
    let mut before = wrist;
    for k in 0..4 {
        let at = hand + turn * (DVec3::Z * 0.04) + step * k as f64;
        let name = format!("finger{finger}.{k}");
        let link = s.link_at(name.clone(), Pose::new(turn, at), isotropic_rod(0.05, step));
        let spring = Compliance::new(5.0, 0.02);
        s.hinge(name, [before, link], at, DVec3::Y, Some(spring));
        before = link;
    }
    before
}
