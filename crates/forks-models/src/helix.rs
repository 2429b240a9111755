//! A helical spring of hinged links.

use core::f64::consts::TAU;

use forks_mechanism::{LinkId, lie::glam::DVec3};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, isotropic_rod},
};

/// What joins neighbouring links of a helix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HelixJoints {
    /// Three hinges x, y, z in that order.
    Hinge3,
    /// One hinge about z.
    HingeZ,
    /// One hinge: y for even links, z for odd ones.
    Alternating,
}

/// K = 1000 N·m/rad, D = 0.1 N·m·s/rad per hinge.
pub(super) const SPRING: Compliance = Compliance::new(1000.0, 0.1);
/// Mass of a link, kg.
pub(super) const MASS: f64 = 0.1;

/// P_k, m.
fn point(k: usize) -> DVec3 {
    let angle = TAU * k as f64 / 20.0;
    DVec3::new(0.5 * angle.cos(), 0.5 * angle.sin(), -0.25 * k as f64 / 20.0)
}

/// A helix of `n` links `link0`…, radius 0.5 m, 20 links per turn, descending 0.25 m per turn.
///
/// Link k has its frame and its joint to the link before at P_k = (0.5 cos 2πk/20, 0.5 sin 2πk/20,
/// −0.25 k/20) m; 0.1 kg with the centre of mass halfway to P_{k+1} and isotropic inertia
/// m L²/12 + 1e-5 kg·m²; K = 1000 N·m/rad and D = 0.1 N·m·s/rad per hinge. Effector: the last link.
pub fn helix(n: usize, joints: HelixJoints) -> Parametric {
    let n = n.max(1);
    let mut s = Sketch::new(format!("helix-{n}"));
    let mut before = LinkId::WORLD;
    for k in 0..n {
        let at = point(k);
        let link = s.link(format!("link{k}"), at, isotropic_rod(MASS, point(k + 1) - at));
        let name = format!("joint{k}");
        let links = [before, link];
        match joints {
            HelixJoints::Hinge3 => s.hinge3(&name, links, at, SPRING),
            HelixJoints::HingeZ => s.hinge(name, links, at, DVec3::Z, Some(SPRING)),
            HelixJoints::Alternating => {
                let axis = if k % 2 == 0 { DVec3::Y } else { DVec3::Z };
                s.hinge(name, links, at, axis, Some(SPRING));
            }
        }
        before = link;
    }
    Parametric { mechanism: s.build(), effectors: vec![before] }
}
