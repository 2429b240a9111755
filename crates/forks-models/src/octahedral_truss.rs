//! A truss in the form of an octahedron: loops in space.

use core::f64::consts::TAU;

use forks_mechanism::{
    JointKind, LinkId,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, slender_rod},
};

/// Length of an edge, m.
const EDGE: f64 = 1.0;
/// Axial stiffness of a strut.
const AXIAL: Compliance = Compliance::new(1e5, 10.0);
/// Stiffness of a strut's ball joints.
const BALL: Compliance = Compliance::new(10.0, 0.01);

/// A regular octahedron of 1 m edges standing on one face: three nodes on the ground (z = 0), three
/// nodes above; six legs and the three edges of the upper face are struts.
///
/// A strut is two halves of 0.5 kg (`strut0.a`, `strut0.b`, …; 1e-4 kg·m² about themselves) on a
/// sprung slider (K = 1e5 N/m, D = 10 N·s/m), tied to its nodes by sprung ball joints (K = 10
/// N·m/rad, D = 0.01). Upper nodes (`node0`…) have 0.1 kg. The frames of a strut's halves are at
/// its two nodes, x along the strut. Six loops; effector: `node0`.
pub fn octahedral_truss() -> Parametric {
    let corner = |k: usize, turn: f64, z: f64| {
        let angle = TAU * (k as f64 / 3.0 + turn);
        let radius = EDGE / 3f64.sqrt();
        DVec3::new(radius * angle.cos(), radius * angle.sin(), z)
    };
    let height = EDGE * (2.0f64 / 3.0).sqrt();
    let mut s = Sketch::new("octahedral-truss");
    let ball = SpatialInertia::new(0.1, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(1e-4)));
    let upper: Vec<(LinkId, DVec3)> = (0..3)
        .map(|k| {
            let at = corner(k, 1.0 / 6.0, height);
            (s.link(format!("node{k}"), at, ball), at)
        })
        .collect();
    let ground = |k: usize| (LinkId::WORLD, corner(k % 3, 0.0, 0.0));
    // Upper node k stands between the lower nodes k and k + 1.
    let mut edges = Vec::new();
    for k in 0..3 {
        edges.push((ground(k), upper[k]));
        edges.push((ground(k + 1), upper[k]));
    }
    for k in 0..3 {
        edges.push((upper[k], upper[(k + 1) % 3]));
    }
    for (i, (from, to)) in edges.into_iter().enumerate() {
        add_strut(&mut s, i, from, to);
    }
    Parametric { mechanism: s.build(), effectors: vec![upper[0].0] }
}

fn add_strut(s: &mut Sketch, i: usize, from: (LinkId, DVec3), to: (LinkId, DVec3)) {
    let span = to.1 - from.1;
    let turn = DQuat::from_rotation_arc(DVec3::X, span.normalize());
    let half = DVec3::X * (0.5 * span.length());
    let middle = from.1 + span * 0.5;
    let mut part = |end: &str, at: DVec3, along: DVec3| {
        s.link_at(format!("strut{i}.{end}"), Pose::new(turn, at), slender_rod(0.5, along, 1e-4))
    };
    let a = part("a", from.1, half);
    let b = part("b", to.1, -half);
    let slide = JointKind::Prismatic { axis: DVec3::X };
    s.joint(format!("strut{i}.from"), JointKind::Spherical, [from.0, a], from.1, Some(BALL));
    s.joint(format!("strut{i}.slide"), slide, [a, b], middle, Some(AXIAL));
    s.joint(format!("strut{i}.to"), JointKind::Spherical, [b, to.0], to.1, Some(BALL));
}
