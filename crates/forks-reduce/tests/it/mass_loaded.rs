//! Fixed-effector modes at poses under gravity, and with drives.

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_models::{HelixJoints, helix, irregular_ladder};
use forks_reduce::{Drive, Effector, Linearisation, MassModel, Problem, ReduceOptions};

#[test]
fn all_modes_give_back_the_full_mechanism_under_gravity() {
    for p in [helix(6, HelixJoints::Hinge3), irregular_ladder(6)] {
        let m = &p.mechanism;
        let problem = Problem::unprepared(m.clone(), vec![Effector::of_link(m, p.effectors[0])]);
        let loads = Loads::gravity();
        let e = solve_equilibrium(m, &m.start_positions(), &loads, &EquilibriumOptions::default());
        assert!(e.status.is_equilibrium());
        let mass = MassModel::CraigBampton { modes: 100 };
        let options = ReduceOptions { mass, ..ReduceOptions::default() };
        let r = problem.reduce(Linearisation::equilibrium(&e, &loads), &options).unwrap();
        let (reduced, full) = (r.frequencies(), r.linear.full_frequencies());
        let pairs = reduced.iter().zip(&full);
        let worst = pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        println!("{}: {} modes, {worst:.1e}", m.name(), full.len());
        assert!(full.len() > 1 && worst < 1e-8);
    }
}

#[test]
fn drives_that_excite_modes_rest_where_the_static_model_does() {
    let p = helix(6, HelixJoints::Hinge3);
    let m = &p.mechanism;
    let problem = Problem::unprepared(m.clone(), vec![Effector::of_link(m, p.effectors[0])]);
    let forces: Vec<f64> = (0..m.velocity_count()).map(|i| (1.3 * i as f64).sin()).collect();
    let drives = vec![Drive::forces(m, "forces", &forces)];
    let with = |mass| {
        let options = ReduceOptions { mass, drives: drives.clone(), ..ReduceOptions::default() };
        problem.reduce(problem.at_rest(), &options).unwrap().model
    };
    let plain = with(MassModel::Condensed);
    for modes in [3, 100] {
        let model = with(MassModel::CraigBampton { modes });
        let (plain, with) = (plain.data(), model.data());
        let mut left: f64 = 0.0;
        for (a, b) in plain.links.iter().zip(&with.links) {
            let twist = |l: &forks_rom::data::LinkRest, rest| {
                let x = l.map.mul(rest);
                forks_mechanism::linalg::Matrix::from_fn(6, 1, |i, _| {
                    x[(i, 0)] + l.servo_map[(i, 0)]
                })
            };
            let (s, d) = (twist(a, &plain.servo_rest), twist(b, &with.servo_rest));
            assert!(s.sub(&d).max_abs() < 1e-12 * s.max_abs().max(1e-3));
            left = left.max(b.servo_map.max_abs() / a.servo_map.max_abs().max(1e-9));
        }
        // With all modes nothing moves at fixed coordinates.
        assert_eq!(modes == 100, left < 1e-6, "{modes}: {left:e}");
    }
}
