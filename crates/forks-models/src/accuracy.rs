//! Two mechanisms that are hard on the digits of forward dynamics: a rolled-up chain and a tapering
//! tree.
//!
//! Featherstone, "A divide-and-conquer articulated-body algorithm for parallel O(log n) calculation
//! of rigid-body dynamics, part 2" \[F99\], measures accuracy on two mechanisms that he names coil
//! and dill. Their exact numbers were not at hand: these are mechanisms of the same kind, a coiled
//! chain and a branched plant, with sizes of their own. Do not compare errors with the printed ones
//! digit by digit.

use core::f64::consts::TAU;

use forks_mechanism::{
    LinkId,
    lie::glam::{DQuat, DVec3},
};

use crate::{
    Parametric,
    sketch::{Sketch, slender_rod},
};

/// Links per turn, radius (m) and pitch (m per turn) of the coil.
const TURN: usize = 12;
const RADIUS: f64 = 0.2;
const PITCH: f64 = 0.05;
/// Twist of a hinge axis against the one before, about the rod, rad.
const SKEW: f64 = 1.0;

/// Length (m), mass (kg) and axial inertia (kg·m²) of the stem; every level has half the length of
/// the one before, so an eighth of the mass and 1/32 of the inertia.
const STEM: (f64, f64, f64) = (1.0, 1.0, 1e-3);
/// Angle between a branch and what carries it, rad.
const SPREAD: f64 = 0.6;

fn on_coil(k: usize) -> DVec3 {
    let turns = k as f64 / TURN as f64;
    let angle = TAU * turns;
    DVec3::new(RADIUS * angle.cos(), RADIUS * angle.sin(), -PITCH * turns)
}

/// A chain of `n` equal rods `link0`… rolled up: 1 kg each, from P_k to P_{k+1} on a helix of 0.2 m
/// radius, 12 rods per turn, falling 0.05 m per turn; slender, 1e-4 kg·m² about themselves. Hinge k
/// at P_k turns about an axis across rod k that is turned by k rad about it; no springs. All frames
/// are parallel to the world's. Effector: the last rod.
///
/// However long the chain, its tip stays within a few radii of its root, so that what many joints
/// do nearly cancels. The condition number of the mass matrix (unit diagonal) grows from 29 (4
/// rods) over 1.3e4 (32) to 5.6e6 (256).
pub fn coil(n: usize) -> Parametric {
    let n = n.max(1);
    let mut s = Sketch::new(format!("coil-{n}"));
    let mut before = LinkId::WORLD;
    for k in 0..n {
        let (from, to) = (on_coil(k), on_coil(k + 1));
        let rod = to - from;
        let across = rod.cross(DVec3::Z).normalize();
        let axis = DQuat::from_axis_angle(rod.normalize(), SKEW * k as f64) * across;
        let link = s.link(format!("link{k}"), from, slender_rod(1.0, rod, 1e-4));
        s.hinge(format!("joint{k}"), [before, link], from, axis.normalize(), None);
        before = link;
    }
    Parametric { mechanism: s.build(), effectors: vec![before] }
}

/// A binary tree of `n` rods `link0`… in breadth-first order, like an umbel: rod k carries rods
/// 2k + 1 and 2k + 2 at its far end, which lean 0.6 rad to both sides, in planes turned by a right
/// angle from level to level. The stem (level 0) stands on the ground, 1 m along z, 1 kg; every
/// level has half the length of the one before, an eighth of the mass and 1/32 of the inertia.
/// Every rod has one hinge at its lower end, about an axis across it that is turned by k rad about
/// it; no springs. Effector: the last rod.
///
/// Sizes grow apart with the levels: 1,023 rods have ten, a mass ratio of 1e8 and inertia ratios of
/// 4e13, while the mass matrix stays well conditioned once its diagonal is scaled to one (κ = 10).
pub fn dill(n: usize) -> Parametric {
    let n = n.max(1);
    let mut s = Sketch::new(format!("dill-{n}"));
    // Direction, side and far end of every rod.
    let mut rods: Vec<(DVec3, DVec3, DVec3)> = Vec::with_capacity(n);
    let mut links = Vec::with_capacity(n);
    for k in 0..n {
        let (direction, side, from, parent) = if k == 0 {
            (DVec3::Z, DVec3::X, DVec3::ZERO, LinkId::WORLD)
        } else {
            let carrier = (k - 1) / 2;
            let (along, side, end) = rods[carrier];
            let lean = if k % 2 == 1 { SPREAD } else { -SPREAD };
            let direction = (along * lean.cos() + side * lean.sin()).normalize();
            (direction, along.cross(side).normalize(), end, links[carrier])
        };
        let level = (k + 1).ilog2() as i32;
        let (length, mass, axial) = (
            STEM.0 * 0.5f64.powi(level),
            STEM.1 * 0.125f64.powi(level),
            STEM.2 / 32f64.powi(level),
        );
        let rod = direction * length;
        let axis = DQuat::from_axis_angle(direction, k as f64) * side.reject_from(direction);
        let link = s.link(format!("link{k}"), from, slender_rod(mass, rod, axial));
        s.hinge(format!("joint{k}"), [parent, link], from, axis.normalize(), None);
        rods.push((direction, side, from + rod));
        links.push(link);
    }
    let last = links[n - 1];
    Parametric { mechanism: s.build(), effectors: vec![last] }
}
