//! The planar four-bar linkage.

use core::f64::consts::FRAC_PI_3;

use forks_mechanism::{LinkId, lie::glam::DVec3};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, slender_rod},
};

/// Distance of the ground hinges, length of crank, coupler and rocker, m.
const GROUND: f64 = 1.0;
const CRANK: f64 = 0.4;
const COUPLER: f64 = 0.9;
const ROCKER: f64 = 0.7;

/// The three moving points at a crank angle: crank pin, rocker pin (the branch above), rocker's
/// root.
fn points(crank_angle: f64) -> [DVec3; 3] {
    let pin = DVec3::new(CRANK * crank_angle.cos(), 0.0, CRANK * crank_angle.sin());
    let root = DVec3::new(GROUND, 0.0, 0.0);
    // Two circles: about the crank pin with the coupler's length, about the root with the rocker's.
    let base = root - pin;
    let d = base.length();
    let along = (d * d + COUPLER * COUPLER - ROCKER * ROCKER) / (2.0 * d);
    let height = (COUPLER * COUPLER - along * along).sqrt();
    let u = base / d;
    [pin, pin + u * along + DVec3::new(-u.z, 0.0, u.x) * height, root]
}

/// A four-bar in the x–z plane: ground 1.0 m, crank 0.4 m at 60°, coupler 0.9 m, rocker 0.7 m;
/// hinges about y with K = 1000 N·m/rad, D = 0.1 N·m·s/rad; slender bars of 1 kg/m, 1e-4 kg·m²
/// about themselves. The hinge between coupler and rocker closes the loop. Frames: crank at the
/// origin, coupler at the crank pin, rocker at its ground hinge (1, 0, 0). Effector: the coupler.
pub fn four_bar() -> Parametric {
    let [pin, top, root] = points(FRAC_PI_3);
    let spring = Some(Compliance::new(1000.0, 0.1));
    let mut s = Sketch::new("four-bar");
    let mut bar = |name: &str, from: DVec3, to: DVec3| {
        let axis = to - from;
        s.link(name, from, slender_rod(axis.length(), axis, 1e-4))
    };
    let crank = bar("crank", DVec3::ZERO, pin);
    let coupler = bar("coupler", pin, top);
    let rocker = bar("rocker", root, top);
    let hinges = [
        ("crank", [LinkId::WORLD, crank], DVec3::ZERO),
        ("coupler", [crank, coupler], pin),
        ("rocker", [LinkId::WORLD, rocker], root),
        ("closure", [coupler, rocker], top),
    ];
    for (name, links, at) in hinges {
        s.hinge(name, links, at, DVec3::Y, spring);
    }
    Parametric { mechanism: s.build(), effectors: vec![coupler] }
}
