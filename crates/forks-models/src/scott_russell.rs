//! The Scott-Russell straight-line linkage.

use core::f64::consts::FRAC_PI_3;

use forks_mechanism::{
    JointKind, LinkId,
    lie::{
        SpatialInertia,
        glam::{DMat3, DVec3},
    },
};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, slender_rod},
};

/// Length of the crank and half length of the bar, m.
const ARM: f64 = 0.5;

/// A Scott-Russell linkage in the x–z plane: a crank of 0.5 m from the origin, at 60°, is hinged to
/// the middle of a bar of 1 m, one end of which rides on a slider along the x axis; the other end
/// then moves exactly along the z axis.
///
/// Crank and bar are slender, 1 kg/m, 1e-4 kg·m² about themselves; the slider has 0.1 kg. The
/// crank's ground hinge is sprung (K = 1000 N·m/rad, D = 0.1 N·m·s/rad), all other joints are free;
/// the hinge between crank and bar closes the loop. Effector: the bar, whose frame is at the
/// tracing end.
pub fn scott_russell() -> Parametric {
    let spring = Some(Compliance::new(1000.0, 0.1));
    let middle = DVec3::new(ARM * FRAC_PI_3.cos(), 0.0, ARM * FRAC_PI_3.sin());
    let foot = DVec3::new(2.0 * middle.x, 0.0, 0.0);
    let tracer = DVec3::new(0.0, 0.0, 2.0 * middle.z);
    let block = SpatialInertia::new(0.1, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(1e-4)));
    let mut s = Sketch::new("scott-russell");
    let crank = s.link("crank", DVec3::ZERO, slender_rod(ARM, middle, 1e-4));
    let slider = s.link("slider", foot, block);
    let bar = s.link("bar", tracer, slender_rod(2.0 * ARM, foot - tracer, 1e-4));
    let along_x = JointKind::Prismatic { axis: DVec3::X };
    s.hinge("crank", [LinkId::WORLD, crank], DVec3::ZERO, DVec3::Y, spring);
    s.joint("slider", along_x, [LinkId::WORLD, slider], foot, None);
    s.hinge("foot", [slider, bar], foot, DVec3::Y, None);
    s.hinge("middle", [crank, bar], middle, DVec3::Y, None);
    Parametric { mechanism: s.build(), effectors: vec![bar] }
}
