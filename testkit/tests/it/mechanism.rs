//! The kinematics of forks-mechanism against the matrices and dual numbers of this crate.

use forks_mechanism::{
    LinkId,
    kinematics::{
        link_jacobian,
        loops::{constraint_jacobian, constraint_residual},
    },
};
use forks_testkit::{
    JointChoice, RandomMechanismOptions, Rng,
    kinematics::{displace, first_order, size},
    random_mechanism,
    rigid::Rigid,
};

/// A dozen products of matrices whose entries are a few units.
const BOUND: f64 = 1e3 * f64::EPSILON;

#[test]
fn poses_jacobians_and_loop_equations_agree_also_with_open_loops() {
    for seed in 0..200 {
        let mut kinds = JointChoice::USUAL.to_vec();
        kinds.extend([JointChoice::Free, JointChoice::Fixed]);
        let options = RandomMechanismOptions {
            joint_kinds: kinds,
            couplings: 2,
            conditioning: 0.0,
            ..RandomMechanismOptions::sprung(seed)
        };
        let m = random_mechanism(seed, &options);
        let mut rng = Rng::new(seed);
        // Away from the start: loops are open by up to about a radian.
        let delta: Vec<f64> = (0..m.velocity_count()).map(|_| 0.2 * rng.symmetric()).collect();
        let q = displace(&m, &m.start_positions(), &delta);
        let f = first_order(&m, &q);
        let poses = m.link_poses(&q);
        for (i, p) in poses.iter().enumerate() {
            let t: [f64; 6] = f.poses[i].inverse().times(&Rigid::from_pose(p)).log();
            assert!(t.iter().all(|x| x.abs() < BOUND), "seed {seed} link {i}: {t:?}");
            let d = link_jacobian(&m, &q, &poses, LinkId::new(i)).sub(&f.links[i]).max_abs();
            assert!(d < BOUND, "seed {seed} link {i}: Jacobian off by {d:e}");
        }
        let r = constraint_residual(&m, &q, &poses);
        let d = r.iter().zip(&f.residual).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        assert!(d < 10.0 * BOUND, "seed {seed}: residual off by {d:e}");
        let g = constraint_jacobian(&m, &q, &poses);
        let d = g.sub(&f.constraints).max_abs() / (1.0 + g.max_abs());
        assert!(d < 10.0 * BOUND, "seed {seed}: loop Jacobian off by {d:e}");
        let (a, b) = (m.bounding_radius(&poses), size(&m, &f.poses));
        assert!((a - b).abs() < BOUND, "seed {seed}: size {a} and {b}");
    }
}
