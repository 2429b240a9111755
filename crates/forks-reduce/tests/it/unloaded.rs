//! The frontier sweep against closed forms and against a dense KKT solve that shares no kernel with
//! it.

use forks_mechanism::{JointMatrix, LinkId, Mechanism, MechanismBuilder, linalg::Matrix};
use forks_reduce::{Effector, Problem, ReduceError, Response};
use forks_testkit::{
    JointChoice, RandomMechanismOptions, System, random_effectors, random_mechanism,
};

fn at_rest(m: &Mechanism, effectors: &[LinkId]) -> Result<Response, ReduceError> {
    let effectors = effectors.iter().map(|&l| Effector::of_link(m, l)).collect();
    let problem = Problem::unprepared(m.clone(), effectors);
    problem.response(problem.at_rest())
}

fn relative(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).norm() / b.norm().max(f64::MIN_POSITIVE)
}

#[test]
fn parallelogram_moves_along_x_only() {
    let p = forks_models::parallelogram();
    let c = at_rest(&p.mechanism, &p.effectors).unwrap().compliance;
    for i in 0..6 {
        for j in 0..6 {
            let expected = if (i, j) == (0, 0) { 2.5e-4 } else { 0.0 };
            assert!((c[(i, j)] - expected).abs() < 1e-16, "C[{i}][{j}] = {:e}", c[(i, j)]);
        }
    }
}

/// Compares all maps with the dense solve; returns the worst relative difference.
pub(crate) fn compare(seed: u64, m: &Mechanism, effectors: &[LinkId]) -> f64 {
    let system = System::new(m, &m.start_positions());
    let r = at_rest(m, effectors).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let dense = system.reduce(&system.stiffness, effectors).expect("resisted");
    if dense.rank == 0 {
        let (ours, dense) = (r.compliance.max_abs(), dense.compliance.max_abs());
        // Joints of 10 N·m/rad and more: 1e-8 of their compliance.
        assert!(ours < 1e-9, "seed {seed}: rank 0, but compliance {ours:e}, dense {dense:e}");
        return 0.0;
    }
    let compliance = relative(&r.compliance, &dense.compliance);
    let joints = relative(&r.joints, &dense.displacements);
    let largest = dense.twist_maps.iter().map(Matrix::norm).fold(0.0, f64::max);
    let twists = r
        .twists
        .iter()
        .zip(&dense.twist_maps)
        .map(|(a, b)| a.sub(b).norm() / largest)
        .fold(0.0, f64::max);
    compliance.max(joints).max(twists)
}

#[test]
fn sprung_graphs_with_loops_anywhere_agree_with_kkt() {
    let mut worst: f64 = 0.0;
    for seed in 0..250 {
        let options =
            RandomMechanismOptions { resisted: Some(true), ..RandomMechanismOptions::sprung(seed) };
        let m = random_mechanism(seed, &options);
        let error = compare(seed, &m, &random_effectors(seed, &m, 2));
        worst = worst.max(error);
        if error > 1e-10 {
            println!("seed {seed}: {error:e}")
        }
        assert!(error < 1e-8, "seed {seed}: {error:e}");
    }
    println!("worst: {worst:e}");
}

#[test]
fn couplings_tendons_bushings_and_passive_joints_agree_with_kkt() {
    let mut worst: f64 = 0.0;
    for seed in 1000..1250 {
        let m = random_mechanism(seed, &RandomMechanismOptions::mixed(seed));
        let error = compare(seed, &m, &random_effectors(seed, &m, 2));
        worst = worst.max(error);
        if error > 1e-10 {
            println!("seed {seed}: {error:e}")
        }
        assert!(error < 1e-8, "seed {seed}: {error:e}");
    }
    println!("worst: {worst:e}");
}

/// Planar loops have redundant rows whose covariance is rounding alone; they were once taken for a
/// singular pose where the axes are not those of a frame.
#[test]
fn planar_loops_agree_with_kkt() {
    for seed in 0..150 {
        let options = RandomMechanismOptions {
            planar: true,
            joint_kinds: vec![JointChoice::Revolute],
            extra_loops: 1 + (seed as usize) % 3,
            resisted: Some(true),
            ..RandomMechanismOptions::sprung(seed)
        };
        let m = random_mechanism(seed, &options);
        let error = compare(seed, &m, &random_effectors(seed, &m, 2));
        assert!(error < 1e-8, "seed {seed}: {error:e}");
    }
}

/// A soft joint in a stiff loop: the sweep alone is off by ε times the square of the ratio.
#[test]
fn soft_joints_in_stiff_loops_keep_their_digits() {
    for decades in [2, 4, 6, 7] {
        let p = forks_models::four_bar();
        let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
        for (i, j) in b.joints_mut().iter_mut().enumerate() {
            let k = if i == 0 { 1.0 } else { 10f64.powi(decades) };
            j.spring.as_mut().unwrap().stiffness = JointMatrix::isotropic(1, k);
        }
        let m = b.build().unwrap();
        let error = compare(decades as u64, &m, &p.effectors);
        assert!(error < 1e-12, "ratio 1e{decades}: {error:e}");
    }
}

#[test]
fn unresisted_motions_are_errors_that_name_joints_of_the_motion() {
    for seed in 0..100 {
        let options =
            RandomMechanismOptions { resisted: Some(false), ..RandomMechanismOptions::mixed(seed) };
        let m = random_mechanism(seed, &options);
        let free = System::new(&m, &m.start_positions()).unresisted();
        let names: Vec<String> = free.joints.iter().map(|&j| m.joint_label(j)).collect();
        match at_rest(&m, &random_effectors(seed, &m, 2)) {
            Err(ReduceError::Unresisted { joints }) => {
                assert!(!joints.is_empty());
                for j in joints {
                    assert!(names.contains(&j), "seed {seed}: {j} is not among {names:?}");
                }
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
}
