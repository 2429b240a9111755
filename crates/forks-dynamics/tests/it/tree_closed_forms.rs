//! Closed forms: pendulum, double pendulum, free body, gyroscope.

use forks_dynamics::{
    mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia,
            glam::{DMat3, DQuat, DVec3},
            so3::wxyz_from_quaternion,
        },
        linalg::Matrix,
    },
    tree::{AbaWorkspace, CrbaWorkspace, LinkLoads, Tree, aba, crba},
};

const G: f64 = 9.81;
/// A few roundings of quantities of order one to a hundred.
const BOUND: f64 = 64.0 * f64::EPSILON;

fn accelerations(m: &Mechanism, q: &[f64], v: &[f64]) -> Vec<f64> {
    let tree = Tree::new(m);
    let mut a = vec![0.0; v.len()];
    let (mut ws, tau) = (AbaWorkspace::new(&tree), vec![0.0; v.len()]);
    aba(&tree, &mut ws, q, v, &tau, &LinkLoads::GRAVITY, &mut a).unwrap();
    a
}

fn rod(mass: f64, center: DVec3, about: f64) -> SpatialInertia {
    SpatialInertia::new(mass, center, DMat3::from_diagonal(DVec3::splat(about)))
}

fn pendulums(lengths: &[f64], masses: &[f64], reversed: bool) -> Mechanism {
    let mut b = MechanismBuilder::new("pendulums");
    b.set_gravity(DVec3::new(0.0, 0.0, -G));
    let mut before = LinkId::WORLD;
    for (i, (l, m)) in lengths.iter().zip(masses).enumerate() {
        let inertia = rod(*m, DVec3::new(0.0, 0.0, -l), 0.0);
        let link = b.add_link(Link::new(format!("bob{i}")).with_inertia(inertia));
        let place = if i == 0 { DVec3::ZERO } else { DVec3::new(0.0, 0.0, -lengths[i - 1]) };
        let hinge = JointKind::Revolute { axis: if reversed { DVec3::NEG_Y } else { DVec3::Y } };
        let at = Pose::from_translation(place);
        let joint = if reversed {
            // The bob is the parent: the axis turned round gives the same angle.
            Joint::new(format!("hinge{i}"), hinge, link, before).child_at(at)
        } else {
            Joint::new(format!("hinge{i}"), hinge, before, link).at(at)
        };
        b.add_joint(joint);
        before = link;
    }
    b.build().unwrap()
}

/// θ̈ = −(g/l) sin θ.
#[test]
fn pendulum() {
    for reversed in [false, true] {
        let m = pendulums(&[0.7], &[2.0], reversed);
        for angle in [0.3, 2.0, -1.2] {
            let a = accelerations(&m, &[angle], &[1.5])[0];
            let expected = -G / 0.7 * f64::sin(angle);
            assert!((a - expected).abs() < BOUND * G, "{a} {expected}");
        }
    }
}

/// Two point masses on massless rods; the second angle is relative to the first rod. The textbook
/// form in absolute angles α, β: M [α̈; β̈] = rhs with M = [[(m₁+m₂)l₁², m₂l₁l₂c], [m₂l₁l₂c,
/// m₂l₂²]].
#[test]
fn double_pendulum() {
    let (l1, l2, m1, m2) = (0.8, 0.5, 1.3, 0.4);
    let (q, v) = ([0.6, 0.9], [1.1, -2.3]);
    let (alpha, beta) = (q[0], q[0] + q[1]);
    let (w1, w2) = (v[0], v[0] + v[1]);
    let (s, c) = f64::sin_cos(alpha - beta);
    let (a, b, d) = ((m1 + m2) * l1 * l1, m2 * l1 * l2 * c, m2 * l2 * l2);
    let r1 = -m2 * l1 * l2 * s * w2 * w2 - (m1 + m2) * G * l1 * f64::sin(alpha);
    let r2 = m2 * l1 * l2 * s * w1 * w1 - m2 * G * l2 * f64::sin(beta);
    let det = a * d - b * b;
    let (x, y) = ((d * r1 - b * r2) / det, (a * r2 - b * r1) / det);
    for reversed in [false, true] {
        let m = pendulums(&[l1, l2], &[m1, m2], reversed);
        let found = accelerations(&m, &q, &v);
        assert!((found[0] - x).abs() < BOUND * 100.0, "{found:?} {x}");
        assert!((found[1] - (y - x)).abs() < BOUND * 100.0, "{found:?} {y}");
        let tree = Tree::new(&m);
        let mut mass = Matrix::zeros(2, 2);
        crba(&tree, &mut CrbaWorkspace::new(&tree), &q, &mut mass);
        // In relative angles: Tᵀ M T with T = [[1, 0], [1, 1]].
        let expected = [[a + 2.0 * b + d, b + d], [b + d, d]];
        for i in 0..2 {
            for j in 0..2 {
                assert!((mass[(i, j)] - expected[i][j]).abs() < BOUND, "{mass:?}");
            }
        }
    }
}

/// Euler's equations I ω̇ = −ω × I ω about the centre of mass, which falls: v̇ = Rᵀ g − ω × v.
#[test]
fn free_body() {
    let mut b = MechanismBuilder::new("body");
    b.set_gravity(DVec3::new(0.0, 0.0, -G));
    let moments = DVec3::new(0.3, 0.5, 0.7);
    let inertia = SpatialInertia::new(2.0, DVec3::ZERO, DMat3::from_diagonal(moments));
    let link = b.add_link(Link::new("body").with_inertia(inertia));
    b.add_joint(Joint::new("free", JointKind::Free, LinkId::WORLD, link));
    let m = b.build().unwrap();
    let r = DQuat::from_xyzw(0.2, -0.4, 0.1, 0.8).normalize();
    let (p, v, w) =
        (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.5, -1.0, 2.0), DVec3::new(1.0, 2.0, -3.0));
    let q = [p.to_array().as_slice(), &wxyz_from_quaternion(r)].concat();
    let speed = [v.to_array(), w.to_array()].concat();
    let a = accelerations(&m, &q, &speed);
    let linear = r.inverse() * DVec3::new(0.0, 0.0, -G) - w.cross(v);
    let angular = -w.cross(moments * w) / moments;
    let expected = [linear.to_array(), angular.to_array()].concat();
    for i in 0..6 {
        assert!((a[i] - expected[i]).abs() < BOUND * G, "{a:?} {expected:?}");
    }
}

/// A gyroscope with horizontal axis on a ball joint at distance l precesses steadily at Ω = m g l /
/// (I s) with spin s and axial moment I: its angular velocity keeps its shape, so ω̇ in body axes
/// is the rate of the vertical as the body sees it, Ω up × ω. Faster or slower precession nutates.
#[test]
fn gyroscope() {
    let (mass, l, axial, spin) = (1.5, 0.2, 0.01, 150.0);
    let mut b = MechanismBuilder::new("gyroscope");
    b.set_gravity(DVec3::new(0.0, 0.0, -G));
    let inertia = SpatialInertia::new(
        mass,
        DVec3::new(l, 0.0, 0.0),
        DMat3::from_diagonal(DVec3::new(axial, 0.02, 0.02)),
    );
    let link = b.add_link(Link::new("wheel").with_inertia(inertia));
    b.add_joint(Joint::new("pivot", JointKind::Spherical, LinkId::WORLD, link));
    let m = b.build().unwrap();
    let r = DQuat::from_rotation_z(0.4) * DQuat::from_rotation_x(1.1);
    let up = r.inverse() * DVec3::Z;
    let rate = |precession: f64| {
        let w = DVec3::X * spin + up * precession;
        let a = accelerations(&m, &wxyz_from_quaternion(r), &w.to_array());
        (DVec3::new(a[0], a[1], a[2]) - up.cross(w) * precession).length()
    };
    let steady = mass * G * l / (axial * spin);
    let scale = spin * steady;
    assert!(rate(steady) < BOUND * scale, "{}", rate(steady));
    assert!(rate(1.1 * steady) > 1e-3 * scale);
}
