//! A stem that forks into two arms.

use core::f64::consts::FRAC_1_SQRT_2;

use forks_mechanism::{LinkId, lie::glam::DVec3};

use crate::{
    Parametric,
    helix::{MASS, SPRING},
    sketch::{Sketch, isotropic_rod},
};

const LENGTH: f64 = 0.1;
const LINKS: usize = 10;

/// A chain of ten links from `at` on, three hinges per joint; gives the last link and its far end.
fn limb(
    s: &mut Sketch,
    label: &str,
    mut before: LinkId,
    mut at: DVec3,
    direction: DVec3,
) -> (LinkId, DVec3) {
    let step = direction * LENGTH;
    for k in 0..LINKS {
        let link = s.link(format!("{label}{k}"), at, isotropic_rod(MASS, step));
        s.hinge3(&format!("{label}{k}.joint"), [before, link], at, SPRING);
        before = link;
        at += step;
    }
    (before, at)
}

/// A stem of ten links of 0.1 m down −z (`stem0`…), then two arms of ten links of 0.1 m at ±45° in
/// the x–z plane (`right0`… towards +x, `left0`… towards −x); three hinges x, y, z per joint;
/// masses and springs of the helix. Effectors: the last links of the right and the left arm.
pub fn y_mechanism() -> Parametric {
    let mut s = Sketch::new("y");
    let (fork, at) = limb(&mut s, "stem", LinkId::WORLD, DVec3::ZERO, -DVec3::Z);
    let effectors = [("right", 1.0), ("left", -1.0)]
        .map(|(label, side)| {
            let direction = DVec3::new(side * FRAC_1_SQRT_2, 0.0, -FRAC_1_SQRT_2);
            limb(&mut s, label, fork, at, direction).0
        })
        .to_vec();
    Parametric { mechanism: s.build(), effectors }
}
