//! Tables of models: exact where a reduced model is, the same for equal loads, and errors with
//! names and values.

use std::ops::ControlFlow;

use forks_compare::{CompareError, Comparison, Settings, compare};
use forks_mechanism::{
    Joint, JointKind, JointMatrix, Link, LinkId, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};
use forks_models::{HelixJoints, helix};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};

/// A door on a spring: its reduced model is the door.
fn door(stiffness: f64) -> Problem {
    let mut b = MechanismBuilder::new("door");
    let inertia = SpatialInertia::new(2.0, 0.4 * DVec3::X, DMat3::IDENTITY * 0.1);
    let leaf = b.add_link(Link::new("leaf").with_inertia(inertia));
    let hinge = Joint::new("hinge", JointKind::Revolute { axis: DVec3::Z }, LinkId::WORLD, leaf);
    b.add_joint(hinge.with_spring(JointMatrix::diagonal(&[stiffness])).with_damping(0.01));
    let effector = forks_reduce::Effector {
        name: "handle".into(),
        link: leaf,
        link_from_effector: Pose::from_translation(0.8 * DVec3::X),
    };
    Problem::unprepared(b.build().unwrap(), vec![effector])
}

fn few() -> Settings {
    Settings { range: 0.2, loads: 3, samples: 2, instances: 8, ..Settings::default() }
}

fn table(problem: &Problem, settings: &Settings) -> Result<Comparison, CompareError> {
    compare(problem, settings, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn a_door_is_its_own_reduced_model() {
    let problem = door(3.0);
    let found = table(&problem, &few()).unwrap();
    for row in &found.rows {
        assert_eq!(row.coordinates, 1, "{}", row.model);
        assert!(row.static_error.unwrap() < 1e-7, "{row:?}");
        assert!(row.constraint_error.unwrap() < 1e-7, "{row:?}");
        // √(k / J), J about the hinge.
        let exact = (3.0f64 / (0.1 + 2.0 * 0.16)).sqrt();
        assert!((row.frequencies_rad_s[0] / exact - 1.0).abs() < 1e-9, "{row:?}");
        assert!(row.microseconds_per_step.unwrap() > 0.0);
    }
}

#[test]
fn rows_are_of_one_mechanism() {
    let helix = helix(6, HelixJoints::Hinge3);
    let tip = helix.mechanism.link(helix.effectors[0]).name.clone();
    let problem = Problem::new(&helix.mechanism, &[&tip], &ProblemOptions::default()).unwrap();
    let found = table(&problem, &few()).unwrap();
    let names: Vec<&str> = found.rows.iter().map(|r| r.model.as_str()).collect();
    let all = ["full", "condensed", "accelerability", "craig-bampton:6", "blended", "batch of 8"];
    assert_eq!(names, all);
    assert_eq!(found.loads, 3);
    assert!(names.contains(&found.recommended.as_str()));
    let [full, condensed, _, bampton, blended, batch] = &found.rows[..] else { unreachable!() };
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
    let exact = reduction.linear.full_frequencies();
    for (a, b) in full.frequencies_rad_s.iter().zip(&exact) {
        assert!((a / b - 1.0).abs() < 1e-9);
    }
    // Static shapes give frequencies from above, modes bring them down.
    let lowest = |r: &forks_compare::Row| r.frequencies_rad_s[0];
    assert!(lowest(condensed) >= exact[0] * (1.0 - 1e-9));
    assert!(lowest(bampton) <= lowest(condensed) * (1.0 + 1e-9));
    assert!(blended.static_error.unwrap() < condensed.static_error.unwrap());
    assert_eq!(batch.static_error, condensed.static_error);
    // The same loads, the same errors.
    let again = table(&problem, &few()).unwrap();
    for (a, b) in found.rows.iter().zip(&again.rows) {
        assert_eq!((a.static_error, a.constraint_error), (b.static_error, b.constraint_error));
    }
    let other = table(&problem, &Settings { seed: 2, ..few() }).unwrap();
    assert_ne!(other.rows[1].static_error, condensed.static_error);
}

#[test]
fn what_cannot_be_compared_is_said_with_names_and_values() {
    let problem = door(3.0);
    let said = |settings: Settings| table(&problem, &settings).unwrap_err().to_string();
    let range = said(Settings { range: f64::NAN, ..few() });
    assert_eq!(range, "the range is NaN; it must be finite and positive");
    assert!(said(Settings { step: -1.0, ..few() }).starts_with("the step is -1"));
    let loads = said(Settings { loads: 0, ..few() });
    assert_eq!(loads, "the number of loads is 0; it must be at least 1");
}
