//! Massless links, singular joints, bad numbers, long chains.

use crate::tree_support;

use forks_dynamics::{
    mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia,
            glam::{DMat3, DVec3},
        },
        linalg::{Matrix, dense},
    },
    tree::{
        AbaWorkspace, CrbaWorkspace, DerivativeWorkspace, DynamicsError, LinkLoads, RneaWorkspace,
        Tree, aba, acceleration_derivatives, bias, crba, hybrid, rnea,
    },
};
use forks_models::molecules::chain;
use tree_support::{condition, largest};

fn hinge(axis: DVec3) -> JointKind {
    JointKind::Revolute { axis }
}

/// Links along x, 0.3 m apart, each with the given mass, on the given joints.
fn arm(joints: &[JointKind], masses: &[f64]) -> Mechanism {
    spaced(joints, masses, 0.3)
}

fn spaced(joints: &[JointKind], masses: &[f64], spacing: f64) -> Mechanism {
    let mut b = MechanismBuilder::new("arm");
    let mut before = LinkId::WORLD;
    for (i, (kind, mass)) in joints.iter().zip(masses).enumerate() {
        let inertia = SpatialInertia::new(
            *mass,
            DVec3::new(0.15, 0.02, 0.01) * f64::from(u8::from(*mass > 0.0)),
            DMat3::from_diagonal(DVec3::new(0.02, 0.03, 0.04)) * *mass,
        );
        let link = b.add_link(Link::new(format!("link{i}")).with_inertia(inertia));
        let at = Pose::from_translation(DVec3::new(spacing, 0.0, 0.0));
        b.add_joint(Joint::new(format!("joint{i}"), kind.clone(), before, link).at(at));
        before = link;
    }
    b.build().unwrap()
}

fn run(m: &Mechanism, q: &[f64], prescribed: &[bool]) -> Result<Vec<f64>, DynamicsError> {
    let tree = Tree::new(m);
    let n = tree.velocity_count();
    let (mut a, mut t, v) = (vec![0.0; n], vec![0.0; n], vec![0.7; n]);
    let given = vec![0.3; n];
    let mut ws = AbaWorkspace::new(&tree);
    let loads = LinkLoads::GRAVITY;
    hybrid(&tree, &mut ws, q, &v, prescribed, &given, &loads, &mut a, &mut t)?;
    if !prescribed.contains(&true) {
        let mut b = vec![0.0; n];
        aba(&tree, &mut ws, q, &v, &given, &loads, &mut b)?;
        assert_eq!(a, b);
    }
    Ok(a)
}

/// EQUATIONS 2.4: a massless inner link does no harm.
#[test]
fn massless_inner_links_are_fine() {
    let m = arm(&[hinge(DVec3::X), hinge(DVec3::Y), hinge(DVec3::Z)], &[0.0, 0.0, 1.0]);
    let q = [0.3, 0.9, -0.4];
    let found = run(&m, &q, &[false; 3]).unwrap();
    let tree = Tree::new(&m);
    let mut mass = Matrix::zeros(3, 3);
    crba(&tree, &mut CrbaWorkspace::new(&tree), &q, &mut mass);
    let mut b = vec![0.0; 3];
    let mut ws = RneaWorkspace::new(&tree);
    bias(&tree, &mut ws, &q, &[0.7; 3], &LinkLoads::GRAVITY, &mut b);
    let rhs = Matrix::from_fn(3, 1, |i, _| 0.3 - b[i]);
    let expected = dense::cholesky_solve(&mass, &rhs).unwrap();
    let bound = 64.0 * f64::EPSILON * 3.0 * condition(&mass) * expected.max_abs();
    for i in 0..3 {
        assert!((found[i] - expected[(i, 0)]).abs() < bound, "{found:?} {expected:?}");
    }
}

/// EQUATIONS 2.4: a massless leaf on a free joint has no acceleration, on a prescribed one it has.
#[test]
fn a_massless_leaf_is_refused_by_name() {
    for kind in [
        hinge(DVec3::Y),
        JointKind::Prismatic { axis: DVec3::Y },
        JointKind::Spherical,
        JointKind::Free,
        JointKind::Universal { first: DVec3::X, second: DVec3::Y },
    ] {
        let m = arm(&[hinge(DVec3::Y), kind.clone()], &[1.0, 0.0]);
        let tree = Tree::new(&m);
        let q = m.start_positions();
        let n = tree.velocity_count();
        let refused = run(&m, &q, &vec![false; n]).unwrap_err();
        let DynamicsError::NoInertia { joint, coordinate, link, inertia } = &refused else {
            panic!("{refused}")
        };
        assert_eq!((joint.as_str(), *coordinate, link.as_str()), ("joint1", 0, "link1"));
        assert_eq!(*inertia, 0.0);
        assert!(refused.to_string().contains("joint1"), "{refused}");
        let mut prescribed = vec![true; n];
        prescribed[0] = false;
        assert!(run(&m, &q, &prescribed).unwrap().iter().all(|x| x.is_finite()));
        let mut ws = DerivativeWorkspace::new(&tree);
        let error = acceleration_derivatives(&tree, &mut ws, &q, &vec![false; n]).unwrap_err();
        assert_eq!(error, refused);
    }
}

/// A point mass on a ball joint at its own position, two hinges in line on a massless link: what is
/// left of the inertia is rounding or zero.
#[test]
fn singular_joints_are_refused() {
    let mut b = MechanismBuilder::new("point");
    let point = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::ZERO);
    let link = b.add_link(Link::new("point").with_inertia(point));
    b.add_joint(Joint::new("ball", JointKind::Spherical, LinkId::WORLD, link));
    let m = b.build().unwrap();
    let error = run(&m, &[1.0, 0.0, 0.0, 0.0], &[false; 3]).unwrap_err();
    assert!(matches!(error, DynamicsError::NoInertia { .. }), "{error}");

    let axis = DVec3::new(0.6, 0.64, 0.48);
    let mut b = MechanismBuilder::new("in line");
    let inner = b.add_link(Link::new("inner"));
    let body = SpatialInertia::new(1.0, DVec3::new(0.1, 0.2, -0.3), DMat3::IDENTITY * 0.02);
    let outer = b.add_link(Link::new("outer").with_inertia(body));
    let at = Pose::from_translation(axis * 0.37);
    b.add_joint(Joint::new("first", hinge(axis), LinkId::WORLD, inner));
    b.add_joint(Joint::new("second", hinge(axis), inner, outer).at(at));
    let m = b.build().unwrap();
    for angle in [0.1, 0.7, 1.9, -2.3] {
        let error = run(&m, &[angle, 0.5 * angle], &[false; 2]).unwrap_err();
        assert!(
            matches!(&error, DynamicsError::NoInertia { joint, .. } if joint == "first"),
            "{error}"
        );
    }
}

/// EQUATIONS 2.4: three hinges on massless links are a ball in Euler angles. At a distance δ from
/// the pose with two axes in line the mass matrix has κ ~ δ⁻²; forward dynamics loses just that,
/// and refuses δ = 0.
#[test]
fn a_wrist_loses_its_digits_near_the_singular_pose() {
    let axes = [hinge(DVec3::Z), hinge(DVec3::Y), hinge(DVec3::X)];
    let m = spaced(&axes, &[0.0, 0.0, 1.0], 0.0);
    let tree = Tree::new(&m);
    let mut kappas = vec![];
    for delta in [1e-2, 1e-4, 1e-6] {
        let q = [0.4, core::f64::consts::FRAC_PI_2 - delta, -0.7];
        let mut mass = Matrix::zeros(3, 3);
        crba(&tree, &mut CrbaWorkspace::new(&tree), &q, &mut mass);
        let kappa = condition(&mass);
        kappas.push(kappa);
        let (expected, mut tau, mut a) = ([1.0, -0.5, 2.0], vec![0.0; 3], vec![0.0; 3]);
        let loads = LinkLoads::GRAVITY;
        rnea(&tree, &mut RneaWorkspace::new(&tree), &q, &[0.0; 3], &expected, &loads, &mut tau);
        aba(&tree, &mut AbaWorkspace::new(&tree), &q, &[0.0; 3], &tau, &loads, &mut a).unwrap();
        let size = largest(&tau) / mass.max_abs();
        for i in 0..3 {
            let error = (a[i] - expected[i]).abs() / size;
            assert!(error < 64.0 * f64::EPSILON * 3.0 * kappa, "{delta:e}: {error:e} of {kappa:e}");
        }
    }
    for k in 0..2 {
        let growth = kappas[k + 1] / kappas[k];
        assert!((0.9e4..1.1e4).contains(&growth), "{kappas:?}");
    }
    let singular = [0.4, core::f64::consts::FRAC_PI_2, -0.7];
    let error = run(&m, &singular, &[false; 3]).unwrap_err();
    assert!(matches!(error, DynamicsError::NoInertia { .. }), "{error}");
}

#[test]
fn bad_numbers_are_told_apart() {
    let m = arm(&[hinge(DVec3::Y), hinge(DVec3::Z)], &[1.0, 1.0]);
    let error = run(&m, &[0.1, f64::NAN], &[false; 2]).unwrap_err();
    assert!(matches!(error, DynamicsError::NotFinite { .. }), "{error}");
}

/// 10,000 links on a stack of 256 kB: nothing recurses.
#[test]
fn long_chains_need_no_stack() {
    let work = || {
        let m = chain(10_000, 3).mechanism;
        let tree = Tree::new(&m);
        let n = tree.velocity_count();
        let q: Vec<f64> = (0..n).map(|i| 0.02 * ((i * 7 % 11) as f64 - 5.0)).collect();
        let v: Vec<f64> = (0..n).map(|i| 1e-3 * ((i * 5 % 7) as f64 - 3.0)).collect();
        let given: Vec<f64> = (0..n).map(|i| 0.1 * ((i * 3 % 5) as f64 - 2.0)).collect();
        let loads = LinkLoads::NONE;
        let (mut a, mut back) = (vec![0.0; n], vec![0.0; n]);
        let mut ws = AbaWorkspace::new(&tree);
        aba(&tree, &mut ws, &q, &v, &given, &loads, &mut a).unwrap();
        let mut inverse = RneaWorkspace::new(&tree);
        rnea(&tree, &mut inverse, &q, &v, &a, &loads, &mut back);
        // Inertia forces of a link reach over up to 10,000 levers: the residual is one rounding of
        // M θ̈, here taken from the same forces without cancellation, |M| |θ̈| ≤ n m L² n |θ̈|.
        let size = largest(&a) * (n * n) as f64;
        let error = (0..n).map(|i| (back[i] - given[i]).abs()).fold(0.0, f64::max);
        assert!(error < 64.0 * f64::EPSILON * size, "{error:e} of {size:e}");
        let prescribed: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        hybrid(&tree, &mut ws, &q, &v, &prescribed, &given, &loads, &mut a, &mut back).unwrap();
        let mut ws = DerivativeWorkspace::new(&tree);
        let mut d = acceleration_derivatives(&tree, &mut ws, &q, &prescribed).unwrap();
        d.apply_unit(n - 1, &mut a, &mut back);
        assert!(a.iter().chain(&back).all(|x| x.is_finite()));
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}
