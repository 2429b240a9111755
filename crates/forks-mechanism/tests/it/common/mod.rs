//! Random mechanisms and a difference stencil for the tests of this crate.

use forks_mechanism::{
    Combination, Coordinate, Coupling, CouplingTerm, Joint, JointId, JointKind, Link, LinkId,
    Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia, SplitMix64, Twist,
        glam::{DMat3, DVec3},
        so3::exp_rotation,
    },
};

pub(crate) fn vector(r: &mut SplitMix64, size: f64) -> DVec3 {
    r.direction() * r.range(0.0, size)
}

pub(crate) fn pose(r: &mut SplitMix64, size: f64, angle: f64) -> Pose {
    Pose::new(exp_rotation(vector(r, angle)), vector(r, size))
}

pub(crate) fn twist(r: &mut SplitMix64) -> Twist {
    Twist::new(vector(r, 1.0), vector(r, 1.0))
}

/// One joint of every kind, general ones with one to four columns.
pub(crate) fn kinds(r: &mut SplitMix64) -> Vec<JointKind> {
    let mut out = vec![
        JointKind::Fixed,
        JointKind::Revolute { axis: r.direction() },
        JointKind::Prismatic { axis: r.direction() },
        JointKind::Cylindrical { axis: r.direction() },
        JointKind::Universal { first: r.direction(), second: r.direction() },
        JointKind::Spherical,
        JointKind::Planar,
        JointKind::Free,
    ];
    for n in 1..5 {
        out.push(JointKind::General { subspace: (0..n).map(|_| twist(r)).collect() });
    }
    out
}

/// Positions of a joint away from its zero pose.
pub(crate) fn positions(r: &mut SplitMix64, kind: &JointKind, size: f64) -> Vec<f64> {
    let mut q = kind.zero_positions();
    let v: Vec<f64> = (0..kind.dof()).map(|_| r.range(-size, size)).collect();
    kind.integrate(&mut q, &v);
    q
}

/// `links` links on random joints of all kinds, some of them turned round, with `loops` further
/// joints that are closed at the start positions, and two couplings if there are scalar
/// coordinates.
pub(crate) fn random_mechanism(r: &mut SplitMix64, links: usize, loops: usize) -> Mechanism {
    let mut b = MechanismBuilder::new("random");
    let mut world = vec![Pose::IDENTITY];
    for i in 0..links {
        world.push(pose(r, 1.0, 1.0));
        let i3 = DMat3::from_diagonal(DVec3::new(0.02, 0.025, 0.03));
        let inertia = SpatialInertia::new(r.range(0.5, 2.0), vector(r, 0.2), i3);
        b.add_link(Link::new(format!("l{i}")).with_inertia(inertia));
    }
    for i in 0..links + loops {
        // The first joints make a tree, all others close loops.
        let (a, c) = if i < links {
            (r.below(i + 1), i + 1)
        } else {
            let a = r.below(links + 1);
            (a, (a + 1 + r.below(links)) % (links + 1))
        };
        let (parent, child) = if r.below(2) == 0 { (a, c) } else { (c, a) };
        let mut all = kinds(r);
        let kind = all.swap_remove(r.below(all.len()));
        let frame = pose(r, 1.0, 1.0);
        let joint = Joint::new(format!("j{i}"), kind, LinkId::new(parent), LinkId::new(child))
            .at(world[parent].inverse() * frame)
            .child_at(world[child].inverse() * frame);
        b.add_joint(joint);
    }
    for i in 0..2 {
        if let Some(c) = random_coupling(r, b.joints(), i) {
            b.add_coupling(c);
        }
    }
    b.build().unwrap()
}

fn random_coupling(r: &mut SplitMix64, joints: &[Joint], i: usize) -> Option<Coupling> {
    let mut coordinates = Vec::new();
    for (k, j) in joints.iter().enumerate().filter(|(_, j)| j.kind.has_scalar_coordinates()) {
        coordinates.extend((0..j.dof()).map(|index| Coordinate { joint: JointId::new(k), index }));
    }
    if coordinates.is_empty() {
        return None;
    }
    let mut term = || CouplingTerm {
        combination: Combination {
            terms: (0..2)
                .map(|_| (coordinates[r.below(coordinates.len())], r.range(-1.0, 1.0)))
                .collect(),
            offset: 0.0,
        },
        polynomial: vec![0.0, r.range(0.5, 1.0), r.range(-0.5, 0.5), 0.1],
    };
    let terms = vec![term(), term()];
    Some(Coupling { name: format!("c{i}"), terms })
}

/// Step of [`derivative`].
pub(crate) const STEP: f64 = 1e-3;
/// Error of [`derivative`] for functions whose values and fifth derivatives are below a few
/// hundred: h⁴/30 · 300 + 1.5 · 300 ε/h.
pub(crate) const DERIVATIVE_ERROR: f64 = 1.1e-10;

/// Derivative at 0 by the five-point stencil.
pub(crate) fn derivative<const N: usize>(f: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| f(k * STEP));
    core::array::from_fn(|i| (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * STEP))
}

/// As [`derivative`], for lists.
pub(crate) fn derivative_of_list(f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| f(k * STEP));
    (0..a.len()).map(|i| (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * STEP)).collect()
}
