//! Forest, poses, Jacobians and loop equations on random mechanisms against differences and each
//! other.

use crate::common;

use common::{DERIVATIVE_ERROR, derivative, derivative_of_list, random_mechanism};
use forks_mechanism::{
    Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    kinematics::{link_jacobian, link_twists, loops, pull_back_wrenches},
    lie::{SplitMix64, Twist, Wrench, glam::DVec3},
};

/// Positions moved by random velocities from the start.
fn displaced(r: &mut SplitMix64, m: &Mechanism, size: f64) -> Vec<f64> {
    let mut q = m.start_positions();
    let v: Vec<f64> = (0..m.velocity_count()).map(|_| r.range(-size, size)).collect();
    m.integrate(&mut q, &v);
    q
}

fn moved(m: &Mechanism, q: &[f64], coordinate: usize, h: f64) -> Vec<f64> {
    let mut v = vec![0.0; m.velocity_count()];
    v[coordinate] = h;
    let mut q = q.to_vec();
    m.integrate(&mut q, &v);
    q
}

#[test]
fn forests_of_random_graphs() {
    let mut r = SplitMix64::new(1);
    for n in 1..40 {
        let m = random_mechanism(&mut r, n, n / 3);
        let f = m.forest();
        assert_eq!(f.edges().len(), n);
        assert_eq!(f.link_count(), n + 1);
        let mut carried = vec![false; n + 1];
        carried[0] = true;
        for (i, e) in f.edges().iter().enumerate() {
            let j = m.joint(e.joint);
            let ends = if e.reversed { (j.child, j.parent) } else { (j.parent, j.child) };
            assert_eq!(ends, (e.inner, e.outer));
            assert!(carried[e.inner.index()] && !carried[e.outer.index()]);
            carried[e.outer.index()] = true;
            assert_eq!(f.edge_of_link(e.outer), Some(i));
        }
        // The extra joints have the largest indices and close loops, in order.
        let expected: Vec<JointId> = (n..n + n / 3).map(JointId::new).collect();
        assert_eq!(f.closures(), expected);
        for k in 0..m.velocity_count() {
            let c = m.velocity_owner(k);
            assert!(c.index < m.joint(c.joint).dof());
            assert_eq!(m.velocity_index(c), k);
        }
    }
}

/// The path between two links is the symmetric difference of their paths to the ground.
#[test]
fn paths_between_links() {
    let mut r = SplitMix64::new(2);
    let m = random_mechanism(&mut r, 25, 0);
    let f = m.forest();
    for a in 0..=25 {
        for b in 0..=25 {
            let (a, b) = (LinkId::new(a), LinkId::new(b));
            let down = |l| f.path_to_ground(l).map(|e| e.joint).collect::<Vec<_>>();
            let (pa, pb) = (down(a), down(b));
            let on = |to: bool| {
                f.path_between(a, b).filter(move |e| e.1 == to).map(|e| e.0.joint).collect()
            };
            let only = |p: &[JointId], q: &[JointId]| {
                p.iter().copied().filter(|j| !q.contains(j)).collect::<Vec<_>>()
            };
            let (from, to): (Vec<_>, Vec<_>) = (on(false), on(true));
            assert_eq!(from, only(&pa, &pb));
            assert_eq!(to, only(&pb, &pa));
        }
    }
}

#[test]
fn links_that_nothing_holds_get_a_free_joint() {
    let mut b = MechanismBuilder::new("loose");
    let [a, c, d] = ["a", "c", "d"].map(|n| b.add_link(Link::new(n)));
    b.add_joint(Joint::new("j", JointKind::Revolute { axis: DVec3::Z }, d, c));
    let m = b.build().unwrap();
    assert_eq!(m.joints().len(), 3);
    let implicit: Vec<_> = m.joints().iter().filter(|j| j.implicit).collect();
    assert_eq!(implicit.iter().map(|j| j.child).collect::<Vec<_>>(), [a, c]);
    assert!(implicit.iter().all(|j| j.kind == JointKind::Free && j.parent == LinkId::WORLD));
    assert_eq!(m.velocity_count(), 13);
    // The link `d` hangs on its own child: a reversed edge.
    assert!(m.forest().carrying_edge(d).unwrap().reversed);
    assert_eq!(m.joint_label(JointId::new(1)), "#1 (world - a)");
}

#[test]
fn start_poses_do_not_depend_on_the_order_of_joints() {
    let mut r = SplitMix64::new(3);
    for _ in 0..20 {
        let m = random_mechanism(&mut r, 8, 3);
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        for &id in m.forest().closures() {
            // Sizes below 3, eight links: a few hundred roundings.
            assert!(loops::closure_gap(&m, &q, &poses, id).norm() < 500.0 * f64::EPSILON);
        }
        for gap in loops::closure_gaps(&m, &q, &poses) {
            assert!(gap.position < 500.0 * f64::EPSILON && gap.angle < 500.0 * f64::EPSILON);
        }
    }
}

#[test]
fn link_jacobians() {
    let mut r = SplitMix64::new(4);
    for _ in 0..10 {
        let m = random_mechanism(&mut r, 6, 1);
        let q = displaced(&mut r, &m, 0.5);
        let poses = m.link_poses(&q);
        let v: Vec<f64> = (0..m.velocity_count()).map(|_| r.range(-1.0, 1.0)).collect();
        let twists = link_twists(&m, &q, &v);
        let wrenches: Vec<Wrench> = m
            .links()
            .iter()
            .map(|_| Wrench::from_array(common::twist(&mut r).to_array()))
            .collect();
        let mut forces = vec![0.0; m.velocity_count()];
        for (id, _) in m.moving_links() {
            let j = link_jacobian(&m, &q, &poses, id);
            let at = poses[id.index()];
            for k in 0..m.velocity_count() {
                let expected = derivative(|h| {
                    at.twist_to(&m.link_poses(&moved(&m, &q, k, h))[id.index()]).to_array()
                });
                for i in 0..6 {
                    assert!((j[(i, k)] - expected[i]).abs() < DERIVATIVE_ERROR);
                }
            }
            let t = Twist::from_array(j.mul_vec(&v).try_into().unwrap());
            assert!((t - twists[id.index()]).norm() < 500.0 * f64::EPSILON);
            let w = wrenches[id.index()].to_array();
            forces.iter_mut().zip(j.transpose_mul_vec(&w)).for_each(|(f, x)| *f += x);
        }
        for (a, b) in pull_back_wrenches(&m, &q, &wrenches).iter().zip(&forces) {
            assert!((a - b).abs() < 1000.0 * f64::EPSILON);
        }
    }
}

/// Closed loops, and loops open by up to about half a unit.
#[test]
fn constraint_jacobians() {
    let mut r = SplitMix64::new(5);
    for size in [0.0, 0.0, 0.15, 0.15, 0.15, 0.15] {
        let m = random_mechanism(&mut r, 6, 3);
        let q = displaced(&mut r, &m, size);
        let g = loops::constraint_jacobian(&m, &q, &m.link_poses(&q));
        assert_eq!(g.rows(), loops::constraint_rows(&m));
        for k in 0..m.velocity_count() {
            let expected = derivative_of_list(|h| {
                let q = moved(&m, &q, k, h);
                loops::constraint_residual(&m, &q, &m.link_poses(&q))
            });
            for (i, e) in expected.iter().enumerate() {
                let x = g[(i, k)];
                assert!((x - e).abs() < DERIVATIVE_ERROR, "row {i}, column {k}: {x} {e}");
            }
        }
    }
}

/// A closing joint fits the poses that the tree gives.
#[test]
fn fitting_closures() {
    let m = forks_models::four_bar().mechanism;
    let mut q = m.start_positions();
    let last = *q.last().unwrap();
    *q.last_mut().unwrap() = 1.0;
    m.fit_closures(&mut q);
    assert!((q.last().unwrap() - last).abs() < 16.0 * f64::EPSILON);
}

#[test]
fn ten_thousand_nested_links_on_a_small_stack() {
    let run = || {
        let m = forks_models::molecules::chain(10_000, 1).mechanism;
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let last = LinkId::new(10_000);
        assert_eq!(m.forest().path_to_ground(last).count(), 10_000);
        assert!(m.bounding_radius(&poses) > 1.0);
        let twists = link_twists(&m, &q, &vec![0.0; m.velocity_count()]);
        assert_eq!(twists[last.index()], Twist::ZERO);
        let forces = pull_back_wrenches(&m, &q, &vec![Wrench::ZERO; 10_001]);
        assert_eq!(forces.len(), 10_000);
        MechanismBuilder::from_mechanism(&m).build().unwrap().links().len()
    };
    let links = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join();
    assert_eq!(links.unwrap(), 10_001);
}
