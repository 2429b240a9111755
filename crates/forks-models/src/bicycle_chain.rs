//! A closed ring of hinged links.

use core::f64::consts::TAU;

use forks_mechanism::{JointKind, LinkId, lie::glam::DVec3};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, slender_rod},
};

/// Distance of neighbouring hinges, m: half an inch.
const PITCH: f64 = 0.0127;

/// A bicycle chain: a closed ring of `n` links (at least 3) in the x–z plane, at rest a regular
/// polygon.
///
/// Links `link0`… of 12.7 mm and 2.5 g, 2e-8 kg·m² about themselves, hinges about y with K = 0.1
/// N·m/rad, D = 1e-4 N·m·s/rad. Link 0 is fixed to the ground; the hinge between the last link and
/// link 0 closes the ring. Frames are at the hinges. Effector: the link opposite to link 0.
pub fn bicycle_chain(n: usize) -> Parametric {
    let n = n.max(3);
    let radius = 0.5 * PITCH / (0.5 * TAU / n as f64).sin();
    let point = |k: usize| {
        let angle = TAU * (k % n) as f64 / n as f64;
        DVec3::new(radius * angle.cos(), 0.0, radius * angle.sin())
    };
    let spring = Some(Compliance::new(0.1, 1e-4));
    let mut s = Sketch::new(format!("bicycle-chain-{n}"));
    let links: Vec<LinkId> = (0..n)
        .map(|k| {
            let axis = point(k + 1) - point(k);
            s.link(format!("link{k}"), point(k), slender_rod(0.0025, axis, 2e-8))
        })
        .collect();
    s.joint("base", JointKind::Fixed, [LinkId::WORLD, links[0]], point(0), None);
    for k in 1..=n {
        let pair = [links[k - 1], links[k % n]];
        s.hinge(format!("hinge{}", k % n), pair, point(k), DVec3::Y, spring);
    }
    Parametric { mechanism: s.build(), effectors: vec![links[n / 2]] }
}
