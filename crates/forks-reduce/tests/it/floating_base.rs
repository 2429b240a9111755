//! A floating base beside the full solver.

use std::sync::Arc;

use forks_mechanism::{
    Mechanism,
    lie::{Twist, Wrench, glam::DVec3, se3::right_jacobian},
    linalg::Matrix,
};
use forks_reduce::{MassModel, Problem, ProblemOptions, ReduceError, ReduceOptions};
use forks_rom::{BaseCoupling, ReducedModel};
use forks_testkit::floating::{floating_hub, floating_loop};

use crate::floating_support::{FloatingCase, compare, full_track};

fn cases() -> [(&'static str, FloatingCase); 4] {
    let fall = DVec3::new(0.0, 0.0, -9.81);
    let spin = Twist::new(DVec3::ZERO, DVec3::new(0.4, -0.6, 1.86));
    // Two steps of order 4 for one: the full solver's error is below 1e-6 of the motion.
    let still = FloatingCase { full_steps: 2, ..FloatingCase::default() };
    let push = FloatingCase { force: DVec3::new(1.0, -2.0, 2.0), force_until: 0.6, ..still };
    [
        ("fall", FloatingCase { gravity: fall, ..still }),
        ("spin", FloatingCase { base_velocity: spin, ..still }),
        ("push", push),
        ("all", FloatingCase { gravity: fall, base_velocity: spin, ..push }),
    ]
}

fn mechanisms() -> [(&'static str, Mechanism, &'static [&'static str]); 2] {
    [("hub", floating_hub(), &["a5", "b5", "c5"]), ("loop", floating_loop(), &["bar", "c5"])]
}

fn floating(problem: &Problem, mass: MassModel) -> Result<ReducedModel, ReduceError> {
    let options = ReduceOptions { mass, floating: true, ..ReduceOptions::default() };
    problem.reduce(problem.at_rest(), &options).map(|r| r.model)
}

/// Reduced models of one problem: masses by name.
fn models(problem: &Problem) -> Vec<(&'static str, Arc<ReducedModel>)> {
    [
        ("condensed", MassModel::Condensed),
        ("accelerability", MassModel::Accelerability),
        ("6 modes", MassModel::CraigBampton { modes: 6 }),
    ]
    .map(|(name, mass)| (name, Arc::new(floating(problem, mass).unwrap())))
    .to_vec()
}

/// I, S and their slopes against the momentum of the displaced mechanism, link by link.
#[test]
fn the_base_sees_the_momentum_of_its_links() {
    for (name, m, effectors) in mechanisms() {
        let problem = Problem::new(&m, effectors, &ProblemOptions::default()).unwrap();
        let model = floating(&problem, MassModel::Condensed).unwrap();
        let data = model.data();
        let base = data.base.as_ref().unwrap();
        let n = model.dof();
        let base_from_world = data.links[base.link].rest.inverse();
        // Momentum in the base's frame for a base twist and rates, at η.
        let momentum = |eta: &[f64], phi: Twist, rate: &[f64]| {
            let mut sum = Wrench::ZERO;
            for (link, rest) in m.links().iter().zip(&data.links) {
                let twist = |x: &[f64]| {
                    let t = rest.map.mul_vec(x);
                    Twist::from_array(core::array::from_fn(|i| t[i]))
                };
                let pose = base_from_world * rest.rest.displaced(twist(eta));
                let own = right_jacobian(twist(eta)).mul_vec(&twist(rate).to_array());
                let body = pose.adjoint().apply_inverse(phi) + Twist::from_array(own);
                sum += pose.adjoint().apply_to_wrench(link.inertia.apply(body));
            }
            sum.to_array()
        };
        let zero = vec![0.0; n];
        let unit = |k: usize, h: f64| {
            let mut x = zero.clone();
            x[k] = h;
            x
        };
        // One Richardson step: h⁴ and ε/h, both below 1e-11.
        let slope = |k: usize, phi: Twist, rate: &[f64]| -> [f64; 6] {
            let central = |h: f64| {
                let (a, b) = (momentum(&unit(k, h), phi, rate), momentum(&unit(k, -h), phi, rate));
                core::array::from_fn::<f64, 6, _>(|i| (a[i] - b[i]) / (2.0 * h))
            };
            let (coarse, fine) = (central(2e-3), central(1e-3));
            core::array::from_fn(|i| (4.0 * fine[i] - coarse[i]) / 3.0)
        };
        let check = |what: &str, found: &Matrix, column: usize, expected: [f64; 6], c: f64| {
            let size = found.max_abs().max(1.0);
            for (i, x) in expected.into_iter().enumerate() {
                let error = (found[(i, column)] - x).abs() / size;
                assert!(error < c, "{name} {what} ({i}, {column}): {error:e}");
            }
        };
        for j in 0..6 {
            check("I", &base.inertia, j, momentum(&zero, Twist::unit(j), &zero), 1e-13);
            for k in 0..n {
                let expected = slope(k, Twist::unit(j), &zero);
                check("slope of I", &base.inertia_slopes[k], j, expected, 1e-10);
            }
        }
        for j in 0..n {
            let rate = unit(j, 1.0);
            check("S", &base.coupling, j, momentum(&zero, Twist::ZERO, &rate), 1e-13);
            for k in 0..n {
                let expected = slope(k, Twist::ZERO, &rate);
                check("slope of S", &base.coupling_slopes[k], j, expected, 1e-10);
            }
        }
    }
}

#[test]
fn what_is_tied_to_the_ground_does_not_float() {
    let helix = forks_models::y_mechanism();
    let problem = Problem::new(&helix.mechanism, &["right9"], &ProblemOptions::default()).unwrap();
    let error = floating(&problem, MassModel::Condensed).unwrap_err();
    assert!(matches!(error, ReduceError::NotFloating { .. }), "{error}");
}

/// The figures: base within 2 % of its motion over 1 s, momentum to 1e-9.
#[test]
fn the_base_follows_the_full_solver() {
    for (name, m, effectors) in mechanisms() {
        let problem = Problem::new(&m, effectors, &ProblemOptions::default()).unwrap();
        let models = models(&problem);
        for (case_name, case) in cases() {
            let track = full_track(&m, &problem, &case);
            for (mass, model) in &models {
                for coupling in [
                    BaseCoupling::Full,
                    BaseCoupling::Inertial,
                    BaseCoupling::External,
                    BaseCoupling::ExternalCorrected,
                ] {
                    let d = compare(&track, model, coupling, &case);
                    println!(
                        "{name} {case_name} {mass} {coupling:?}: position {:.2e} of {:.3} m, \
                         rotation {:.2e} of {:.3} rad, \
                         effectors {:.2e} m, displaced by {:.3}, momentum {:.1e} {:.1e}",
                        d.position,
                        d.displacement,
                        d.rotation,
                        d.turn,
                        d.effector,
                        d.shape,
                        d.momentum[0],
                        d.momentum[1]
                    );
                    assert_eq!(d.exceptions, 0, "{name} {case_name} {mass} {coupling:?}");
                    assert!(d.momentum.iter().all(|e| *e < 1e-9), "{name} {case_name} {mass}");
                    if coupling == BaseCoupling::Full {
                        assert!(d.position < 0.02, "{name} {case_name} {mass}: {d:?}");
                        // In free fall nothing turns or bends.
                        let still = case_name == "fall";
                        assert!(if still { d.effector < 1e-9 } else { d.rotation < 0.02 }, "{d:?}");
                    }
                }
            }
        }
    }
}
