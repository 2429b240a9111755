//! Poses in joint space against the mechanism's own forward kinematics, for every kind of joint.

use crate::all_kinds;

use all_kinds::{kinds, pose};
use forks_mechanism::{Joint, Link, LinkId, Mechanism, MechanismBuilder, lie::Pose};
use forks_reduce::{Effector, Linearisation, Problem, ReduceOptions};
use forks_rom::{Reconstruction, ReducedModel};
use forks_testkit::Rng;

/// A chain with a joint of every kind, each as built or turned round, reference values included.
fn chain(rng: &mut Rng, reversed: bool) -> Mechanism {
    let mut b = MechanismBuilder::new("all kinds");
    let mut inner = LinkId::WORLD;
    for (i, kind) in kinds().into_iter().enumerate() {
        let outer = b.add_link(Link::new(format!("link{i}")));
        let (parent, child) = if reversed { (outer, inner) } else { (inner, outer) };
        let scalar = kind.has_scalar_coordinates();
        let count = kind.position_count();
        let mut joint =
            Joint::new(format!("joint{i}"), kind, parent, child).at(pose(rng)).child_at(pose(rng));
        if scalar {
            joint = joint.with_reference((0..count).map(|k| 0.1 * k as f64 - 0.2).collect());
        }
        b.add_joint(joint.with_stiffness(10.0 + i as f64));
        inner = outer;
    }
    b.build().unwrap()
}

fn largest_gap(a: &[Pose], b: &[Pose]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.twist_to(b).norm()).fold(0.0, f64::max)
}

fn model(m: &Mechanism, q: &[f64]) -> ReducedModel {
    let effector = Effector::of_link(m, LinkId::new(m.links().len() - 1));
    let problem = Problem::unprepared(m.clone(), vec![effector]);
    problem.reduce(Linearisation::Rest { q }, &ReduceOptions::default()).unwrap().model
}

#[test]
fn joint_space_poses_are_the_forward_kinematics_of_moved_joints() {
    let mut worst: f64 = 0.0;
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let m = chain(&mut rng, seed % 2 == 1);
        let mut q = m.start_positions();
        let away: Vec<f64> = (0..m.velocity_count()).map(|_| 0.7 * rng.symmetric()).collect();
        m.integrate(&mut q, &away);
        let model = model(&m, &q);
        let eta: Vec<f64> = (0..model.dof()).map(|_| 0.5 * rng.symmetric()).collect();
        let mut v = vec![0.0; m.velocity_count()];
        for (e, j) in m.forest().edges().iter().zip(&model.data().joints) {
            v[m.velocity_range(e.joint)].copy_from_slice(&j.map.mul_vec(&eta));
        }
        let mut moved = q.clone();
        m.integrate(&mut moved, &v);
        let poses = model.link_poses(&eta, &[], Reconstruction::JointSpace);
        let error = largest_gap(&poses, &m.link_poses(&moved));
        worst = worst.max(error);
        // Ten joints, each a few roundings of poses of size 3.
        assert!(error < 1e-14, "seed {seed}: {error:e}");
        for mode in [Reconstruction::Twist, Reconstruction::JointSpace] {
            let rest = model.link_poses(&vec![0.0; model.dof()], &[], mode);
            assert!(largest_gap(&rest, &m.link_poses(&q)) < 1e-14, "seed {seed}, {mode:?}");
        }
    }
    println!("worst {worst:e}");
}

#[test]
fn both_modes_agree_to_first_order() {
    let mut rng = Rng::new(50);
    let m = chain(&mut rng, false);
    let model = model(&m, &m.start_positions());
    let eta: Vec<f64> = (0..model.dof()).map(|_| rng.symmetric()).collect();
    let gap = |h: f64| {
        let eta: Vec<f64> = eta.iter().map(|x| h * x).collect();
        let poses = |mode| model.link_poses(&eta, &[], mode);
        largest_gap(&poses(Reconstruction::Twist), &poses(Reconstruction::JointSpace))
    };
    // The difference is of second order: a tenth of the state, a hundredth of the gap.
    let ratio = gap(1e-2) / gap(1e-3);
    assert!((90.0..110.0).contains(&ratio), "{ratio}");
}
