//! Four-bar linkages in series: loops far from the ground.

use forks_mechanism::{LinkId, lie::glam::DVec3};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, slender_rod},
};

/// Where the bars of a cell are, from its left ground hinge, m: lower ends of crank and rocker, the
/// right ground hinge. No two sides are parallel or equal.
const LEFT_LOW: DVec3 = DVec3::new(-0.05, 0.0, -0.30);
const RIGHT_LOW: DVec3 = DVec3::new(0.42, 0.0, -0.36);
const RIGHT: DVec3 = DVec3::new(0.40, 0.0, 0.02);
/// The next cell hangs on the coupler, this far below the left lower end.
const NEXT: DVec3 = DVec3::new(0.03, 0.0, -0.06);
/// K = 5 N·m/rad, no damping: slow enough for steps of 1 ms, and conservative.
const SPRING: Compliance = Compliance::new(5.0, 0.0);

/// `k` irregular four-bars in series in the x–z plane, hanging one below the other: the coupler of
/// each is the ground bar of the next. Links `crank0`, `rocker0`, `coupler0`, `crank1`…; cranks of
/// 0.30 m, rockers of 0.38 m, slender bars of 1 kg/m, couplers of 0.5 kg. Hinges about y with K = 5
/// N·m/rad, no damping; the hinge between coupler and rocker closes each loop. Effector: the last
/// coupler.
pub fn four_bar_chain(k: usize) -> Parametric {
    let k = k.max(1);
    let mut s = Sketch::new(format!("four-bar-chain-{k}"));
    let (mut ground, mut at) = (LinkId::WORLD, DVec3::ZERO);
    for i in 0..k {
        let (right, left_low, right_low) = (at + RIGHT, at + LEFT_LOW, at + RIGHT_LOW);
        let mut bar = |name: &str, from: DVec3, to: DVec3, mass: f64| {
            s.link(format!("{name}{i}"), from, slender_rod(mass, to - from, 1e-4))
        };
        let crank = bar("crank", at, left_low, left_low.distance(at));
        let rocker = bar("rocker", right, right_low, right_low.distance(right));
        let coupler = bar("coupler", left_low, right_low, 0.5);
        let hinges = [
            ("crank", [ground, crank], at),
            ("rocker", [ground, rocker], right),
            ("coupler", [crank, coupler], left_low),
            ("closure", [rocker, coupler], right_low),
        ];
        for (name, links, point) in hinges {
            s.hinge(format!("{name}{i}"), links, point, DVec3::Y, Some(SPRING));
        }
        (ground, at) = (coupler, left_low + NEXT);
    }
    Parametric { mechanism: s.build(), effectors: vec![ground] }
}
