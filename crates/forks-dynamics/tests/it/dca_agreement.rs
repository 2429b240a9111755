//! Divide and conquer against the naive maximal-coordinate solve on random mechanisms.
//!
//! Errors are counted in sensitivities·ε (what rounding of the equations' own numbers may cause)
//! over the weakest closing direction that was kept: a loop is closed by the difference of two
//! inverse inertias, of which that part is left.

use crate::dca_support;

use dca_support::{Case, options};
use forks_dynamics::{
    dca::{ClosingOrder, DcaError, DcaPlan, DcaSettings, DcaStatus, DcaWorkspace, dca_with},
    mass_matrix,
    mechanism::{JointId, LinkId, Mechanism, lie::Wrench, linalg::Matrix},
};
use forks_testkit::{
    RandomMechanismOptions, System,
    dynamics::{StateOptions, random_state},
    linear::symmetric_eigen,
    random_mechanism,
};

/// Roundings of an elimination on 6×6 blocks (6·6 products per entry) over a few levels.
const C: f64 = 64.0;

const SEEDS: u64 = 200;

fn late() -> DcaSettings {
    DcaSettings { closing_order: ClosingOrder::Late, ..DcaSettings::default() }
}

/// Error of all accelerations, the closing joints' too, in sensitivities·ε/weakest.
fn checked_error(case: &Case, settings: &DcaSettings) -> (f64, usize) {
    let (work, status) = case.solve(settings).expect("no massless links");
    let DcaStatus::Solved { redundant, weakest } = status else {
        panic!("seed {}: {status:?}", case.seed)
    };
    let error = case.error(work.accelerations()) * weakest;
    assert!(error < C, "seed {}: {error:.2} sensitivity·ε/weakest, {status:?}", case.seed);
    (error, redundant)
}

#[test]
fn all_accelerations_agree_with_the_naive_solve() {
    let mut worst = [[0.0f64; 4]; 2];
    let mut redundant_mechanisms = 0;
    for seed in 0..SEEDS {
        let case = Case::new(seed);
        for (order, settings) in [DcaSettings::default(), late()].iter().enumerate() {
            let (error, redundant) = checked_error(&case, settings);
            let class = &mut worst[order][seed as usize % 4];
            *class = class.max(error);
            redundant_mechanisms += usize::from(redundant > 0 && order == 0);
        }
    }
    println!("loops closed early, late: trees, floating, loops, planar loops: {worst:.2?}");
    assert!(redundant_mechanisms > 40, "{redundant_mechanisms} mechanisms with redundant loops");
}

/// What is dropped as redundant is what the dense solve finds dependent: the rank decisions are the
/// same.
#[test]
fn redundant_directions_are_counted_as_by_the_dense_solve() {
    for seed in (0..SEEDS).filter(|s| s % 4 > 1) {
        let case = Case::new(seed);
        let (_, redundant) = checked_error(&case, &DcaSettings::default());
        let (rank, rows) = case.exact.rank;
        assert_eq!(redundant, rows - rank, "seed {seed}");
    }
}

#[test]
fn massless_links_between_joints_are_folded() {
    let (mut folded, mut refused) = (0, 0);
    for seed in 0..SEEDS {
        let o = RandomMechanismOptions {
            shuffle_joints: false,
            massless_fraction: 0.3,
            extra_loops: if seed % 2 == 0 { 0 } else { 1 },
            planar: false,
            ..options(seed)
        };
        let case = Case::of(seed, random_mechanism(seed, &o), &StateOptions::default());
        let m = &case.mechanism;
        let massless = m.moving_links().filter(|(_, l)| l.inertia.is_zero()).count();
        match DcaPlan::new(m) {
            Ok(_) => {
                let (_, status) = case.solve(&DcaSettings::default()).unwrap();
                if matches!(status, DcaStatus::DependentDirections { .. }) {
                    // Two balls with a massless rod between them: only armature makes that
                    // solvable.
                    assert!(o.armature && massless > 0, "seed {seed}: {status:?}");
                    continue;
                }
                checked_error(&case, &DcaSettings::default());
                folded += usize::from(massless > 0);
            }
            Err(DcaError::MasslessBranch { link }) => {
                let id = m.find_link(&link).expect("a link of the mechanism");
                assert!(m.link(id).inertia.is_zero());
                refused += 1;
            }
            Err(DcaError::TooManyCoordinates { dof, .. }) => assert!(dof > 6),
            Err(e) => panic!("seed {seed}: {e}"),
        }
    }
    println!("{folded} mechanisms with folded links, {refused} with massless branches");
    assert!(folded > 30, "{folded} {refused}");
}

/// Φ_ab = J_a M⁻¹ J_bᵀ with loops closed, chosen links, against the dense oracle (EQUATIONS 1.1).
#[test]
fn handles_have_the_inverse_inertia_of_the_whole() {
    for seed in 0..SEEDS {
        let m = random_mechanism(seed, &options(seed));
        let chosen = forks_testkit::random_effectors(seed, &m, 3);
        let state = random_state(seed, &m, &StateOptions::default());
        let system = System::new(&m, &state.q);
        let Some(dense) = system.inverse_mass(&chosen) else { continue };
        let plan = DcaPlan::with_handles(&m, &chosen, &DcaSettings::default()).unwrap();
        let mut work = DcaWorkspace::new(&plan);
        let case = Case::of(seed, m.clone(), &StateOptions::default());
        let status = dca_with(&plan, &mut work, &case.input()).unwrap();
        let DcaStatus::Solved { weakest, .. } = status else { panic!("{status:?}") };
        // The free links' inverse inertias: joints and loops take differences of these.
        let alone = |l: &LinkId| {
            let i = &m.link(*l).inertia;
            (1.0 / i.mass).max(1.0 / i.principal_moments()[0])
        };
        let scale = chosen.iter().map(alone).fold(0.0, f64::max);
        // The oracle factorises the mass matrix.
        let condition = mass_condition(&m, &state.q);
        for (a, &la) in chosen.iter().enumerate() {
            for (b, &lb) in chosen.iter().enumerate() {
                let phi = work.handle_inverse_inertia(&plan, la, lb).unwrap();
                let back = work.handle_inverse_inertia(&plan, lb, la).unwrap();
                assert_eq!(phi.transpose(), back, "seed {seed}");
                for i in 0..6 {
                    for j in 0..6 {
                        let error = (phi.rows[i][j] - dense[(6 * a + i, 6 * b + j)]).abs();
                        let bound = C * f64::EPSILON * condition * scale / weakest;
                        assert!(error < bound, "seed {seed}: {error:e} of {scale:e}, {weakest:e}");
                    }
                }
            }
        }
        let other = LinkId::new(0);
        assert!(
            chosen.contains(&other) || work.handle_inverse_inertia(&plan, other, other).is_none()
        );
    }
}

fn mass_condition(m: &Mechanism, q: &[f64]) -> f64 {
    let mass = mass_matrix(m, q);
    let n = m.tree_velocity_count();
    let scaled = Matrix::from_fn(n, n, |i, j| mass[(i, j)] / (mass[(i, i)] * mass[(j, j)]).sqrt());
    let values = symmetric_eigen(&scaled).0;
    values[n - 1] / values[0]
}

/// Wrenches of all joints on their children, where the loops leave them unique.
#[test]
fn joint_wrenches_agree_where_they_are_unique() {
    let mut compared = 0;
    for seed in (0..SEEDS).filter(|s| s % 4 < 3) {
        let case = Case::new(seed);
        if case.exact.rank.0 < case.exact.rank.1 {
            continue;
        }
        let plan = DcaPlan::new(&case.mechanism).unwrap();
        let mut work = DcaWorkspace::new(&plan);
        let status = dca_with(&plan, &mut work, &case.input()).unwrap();
        let DcaStatus::Solved { weakest, .. } = status else { panic!("{status:?}") };
        let poses = case.mechanism.link_poses(&case.state.q);
        // A joint's wrench is a difference of what its neighbours carry.
        let all = case.exact.wrench_sensitivity.iter().flatten();
        let sensitivity = all.fold(0.0, |m: f64, x| m.max(*x));
        for (i, j) in case.mechanism.joints().iter().enumerate() {
            let id = JointId::new(i);
            let Some(found) = work.joint_wrench(&plan, id) else { continue };
            let r = poses[j.child.index()].rotation.inverse();
            let point = j.child_from_joint.translation;
            let force = r * found.force;
            let in_child = Wrench::new(force, r * found.torque + point.cross(force)).to_array();
            let exact = &case.exact.wrenches[i];
            for k in 0..6 {
                let error = (in_child[k] - exact[k]).abs() * weakest;
                let bound = C * f64::EPSILON * sensitivity;
                assert!(error <= bound, "seed {seed}, joint {i}: {error:e} above {bound:e}");
            }
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn the_third_call_equals_the_first() {
    let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for seed in 0..60 {
        let case = Case::new(seed);
        let plan = DcaPlan::new(&case.mechanism).unwrap();
        let mut work = DcaWorkspace::new(&plan);
        dca_with(&plan, &mut work, &case.input()).unwrap();
        let first = bits(work.accelerations());
        let still = vec![0.0; case.mechanism.tree_velocity_count()];
        let between = forks_dynamics::dca::DcaInput {
            v: &still,
            external: &[],
            closing_tau: &[],
            no_gravity: true,
            ..case.input()
        };
        dca_with(&plan, &mut work, &between).unwrap();
        dca_with(&plan, &mut work, &case.input()).unwrap();
        assert_eq!(bits(work.accelerations()), first, "seed {seed}");
    }
}
