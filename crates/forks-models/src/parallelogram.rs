//! The parallelogram: a loop whose branches admit different motions.

use forks_mechanism::{LinkId, lie::glam::DVec3};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, slender_rod},
};

/// A parallelogram in the x–y plane: ground hinges about z at (∓0.5, 0, 0), two legs of 1 m, the
/// coupler hinged at (∓0.5, −1, 0), all four compliances 1e-3 rad/(N·m), D = 0.1 N·m·s/rad.
///
/// Slender bars of 1 kg, 1e-4 kg·m² about themselves. Leg frames are at the ground hinges; the
/// coupler (the effector) has its frame in its middle at (0, −1, 0). Its exact compliance there is
/// 2.5e-4 m/N along x and zero otherwise.
pub fn parallelogram() -> Parametric {
    let spring = Some(Compliance::new(1000.0, 0.1));
    let leg = slender_rod(1.0, -DVec3::Y, 1e-4);
    let mut bar = slender_rod(1.0, DVec3::X, 1e-4);
    bar.center_of_mass = DVec3::ZERO;
    let half = DVec3::X * 0.5;
    let mut s = Sketch::new("parallelogram");
    let left = s.link("left", -half, leg);
    let right = s.link("right", half, leg);
    let coupler = s.link("coupler", -DVec3::Y, bar);
    s.hinge("left-ground", [LinkId::WORLD, left], -half, DVec3::Z, spring);
    s.hinge("right-ground", [LinkId::WORLD, right], half, DVec3::Z, spring);
    s.hinge("left-coupler", [left, coupler], -half - DVec3::Y, DVec3::Z, spring);
    s.hinge("right-coupler", [right, coupler], half - DVec3::Y, DVec3::Z, spring);
    Parametric { mechanism: s.build(), effectors: vec![coupler] }
}
