//! A floating base beside the full solver.

use std::sync::Arc;

use forks_mechanism::{
    Mechanism,
    lie::{Twist, glam::DVec3},
};
use forks_reduce::{
    Damping, FloatingCase, Linearisation, MassModel, Problem, ProblemOptions, compare, full_track,
};
use forks_rom::{BaseCoupling, ReducedModel};
use forks_testkit::floating::{floating_hub, floating_loop};

fn cases() -> [(&'static str, FloatingCase); 4] {
    let fall = DVec3::new(0.0, 0.0, -9.81);
    let spin = Twist::new(DVec3::ZERO, DVec3::new(0.4, -0.6, 1.86));
    let push = FloatingCase {
        force: DVec3::new(1.0, -2.0, 2.0),
        force_until: 0.6,
        ..FloatingCase::default()
    };
    [
        ("fall", FloatingCase { gravity: fall, ..FloatingCase::default() }),
        ("spin", FloatingCase { base_velocity: spin, ..FloatingCase::default() }),
        ("push", push),
        ("all", FloatingCase { gravity: fall, base_velocity: spin, ..push }),
    ]
}

fn mechanisms() -> [(&'static str, Mechanism, &'static [&'static str]); 2] {
    [("hub", floating_hub(), &["a5", "b5", "c5"]), ("loop", floating_loop(), &["bar", "c5"])]
}

/// Reduced models of one problem: masses by name.
fn models(problem: &Problem) -> Vec<(&'static str, Arc<ReducedModel>)> {
    let reduction = problem.reduce().unwrap();
    let at = Linearisation::Rest { q: &problem.start };
    [
        ("condensed", MassModel::Condensed),
        ("accelerability", MassModel::Accelerability),
        ("6 modes", MassModel::CraigBampton { modes: 6 }),
    ]
    .map(|(name, mass)| {
        let model = problem.floating_model(at, &reduction, mass, &Damping::default()).unwrap();
        (name, Arc::new(model))
    })
    .to_vec()
}

/// The figures: base within 2 % of its motion over 1 s, momentum to 1e-9.
#[test]
fn the_base_follows_the_full_solver() {
    for (name, m, effectors) in mechanisms() {
        let problem = Problem::new(&m, effectors, &ProblemOptions::default()).unwrap();
        let models = models(&problem);
        for (case_name, case) in cases() {
            let track = full_track(&m, &problem, &case).unwrap();
            for (mass, model) in &models {
                for coupling in [
                    BaseCoupling::Full,
                    BaseCoupling::Inertial,
                    BaseCoupling::External,
                    BaseCoupling::ExternalCorrected,
                ] {
                    let d = compare(&track, model, coupling, &case).unwrap();
                    println!(
                        "{name} {case_name} {mass} {coupling:?}: position {:.2e} of {:.3} m, rotation {:.2e} of {:.3} rad, \
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
