//! A floating base beside the full solver.

use forks_mechanism::{
    Mechanism,
    lie::{Twist, glam::DVec3},
};
use forks_reduce::{
    FloatingCase, FullTrack, MassModel, Problem, ProblemOptions, Reduction, compare, full_track,
};
use forks_rom::BaseCoupling;
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

#[test]
fn report() {
    for (name, m, effectors) in mechanisms() {
        let problem = Problem::new(&m, effectors, &ProblemOptions::default()).unwrap();
        let reductions: Vec<(&str, Reduction)> = vec![
            ("condensed", problem.reduce_floating().unwrap()),
            ("accelerability", problem.reduce_floating_with(MassModel::Accelerability).unwrap()),
        ];
        println!("{name}: rank {}", reductions[0].1.basis.rank);
        for (case_name, case) in cases() {
            let track: FullTrack = full_track(&m, &problem, &reductions[0].1, &case).unwrap();
            for (mass, reduction) in &reductions {
                for coupling in [
                    BaseCoupling::Full,
                    BaseCoupling::Inertial,
                    BaseCoupling::External,
                    BaseCoupling::ExternalCorrected,
                ] {
                    let d = compare(&track, reduction, coupling, &case).unwrap();
                    println!("{name} {case_name} {mass} {coupling:?}: {d:?}");
                }
            }
        }
    }
}
