//! Loops that URDF cannot express, closed by side files: parallel robots as their authors publish
//! them.

use crate::support;

use forks_import::mechanism::{
    Coordinate, Coupling, Mechanism, MechanismBuilder,
    kinematics::{AssemblySettings, AssemblyStatus, RANK_TOLERANCE, assemble, loops, mobility},
};
use forks_import::{ImportOptions, load_urdf};
use serde_json::Value;
use support::models;

/// The robot with the loops of its side file, and the configuration that is published with it.
fn robot(name: &str) -> (Mechanism, Value) {
    let directory = models().join(name);
    let i = load_urdf(&directory.join("robot.nomesh.urdf"), &ImportOptions::default());
    let text = std::fs::read_to_string(directory.join("assembled.json")).unwrap();
    (i.unwrap_or_else(|e| panic!("{e}")).mechanism, serde_json::from_str(&text).unwrap())
}

/// Rows, rank, mobility at a pose.
fn counts(m: &Mechanism, q: &[f64]) -> [u64; 3] {
    let c = mobility(m, q, &m.link_poses(q), RANK_TOLERANCE);
    [c.rows, c.rank, c.mobility].map(|n| n as u64)
}

fn expected(v: &Value) -> [u64; 3] {
    ["rows", "rank", "mobility"].map(|k| v[k].as_u64().unwrap())
}

/// All positions with the tree joints at the published ones.
fn published(m: &Mechanism, v: &Value) -> Vec<f64> {
    let mut q = m.start_positions();
    for (name, x) in v["names"].as_array().unwrap().iter().zip(v["q"].as_array().unwrap()) {
        let id = m.find_joint(name.as_str().unwrap()).unwrap();
        q[m.position_range(id).start] = x.as_f64().unwrap();
    }
    m.fit_closures(&mut q);
    q
}

fn largest_gap(m: &Mechanism, q: &[f64]) -> f64 {
    loops::constraint_residual(m, q, &m.link_poses(q)).iter().fold(0.0, |a, x| a.max(x.abs()))
}

/// B09, B16, B25: closures of six rows on planar and spatial loops, links of 654 t and of 6.5 mg,
/// massless links: closed from q = 0, with the published rank and mobility there and at the
/// published configuration.
#[test]
fn b09_parallel_robots_are_assembled_with_the_published_mobility() {
    for name in ["epr_5bar_linkage", "epr_robot_delta", "epr_cassie_like"] {
        let (m, v) = robot(name);
        let r = m.bounding_radius(&m.link_poses(&m.start_positions()));
        let q = m.start_positions();
        assert!(largest_gap(&m, &q) < 1e-11 * (1.0 + r), "{name}: {}", largest_gap(&m, &q));
        assert_eq!(counts(&m, &q), expected(&v), "{name} from q = 0");
        assert!(q.iter().any(|x| x.abs() > 0.01), "{name} is not closed at q = 0");

        let q = published(&m, &v);
        let residual = v["residual"].as_f64().unwrap().max(1e-14);
        assert!(largest_gap(&m, &q) < 10.0 * residual, "{name}: {}", largest_gap(&m, &q));
        assert_eq!(counts(&m, &q), expected(&v), "{name} as published");
        // A closed configuration stays as it is, up to its residual, which is up to 2e-12 of the
        // robot's size, over the smallest singular value.
        let again = assemble(&m, &q, &AssemblySettings::default());
        assert_eq!(again.status, AssemblyStatus::Assembled, "{name}");
        let moved = m.difference(&q, &again.positions).iter().fold(0.0f64, |a, x| a.max(x.abs()));
        assert!(again.iterations <= 1 && moved < 1e-9, "{name}: {moved}");
    }
}

/// With the motors held the published number of motions is left.
#[test]
fn locked_motors_leave_the_published_motions() {
    for (name, motors) in [
        ("epr_5bar_linkage", &["mot1", "mot2"][..]),
        ("epr_robot_delta", &["mot1_rod1", "mot1_rod2"]),
        (
            "epr_cassie_like",
            &["motor_hip1", "motor_hip2", "motor_tigh", "motor_knee", "motor_ankle"],
        ),
    ] {
        let (m, v) = robot(name);
        let mut b = MechanismBuilder::from_mechanism(&m);
        for motor in motors {
            let id = m.find_joint(motor).unwrap();
            let at = Coordinate::of(id);
            let q = m.start_positions()[m.position_range(id).start];
            b.add_coupling(Coupling::linear(*motor, vec![(at, 1.0)], -q));
        }
        let m = b.build().unwrap();
        let q = m.start_positions();
        let left = v["residual_mobility_motors_locked"].as_u64().unwrap();
        assert_eq!(counts(&m, &q)[2], left, "{name}");
    }
}
