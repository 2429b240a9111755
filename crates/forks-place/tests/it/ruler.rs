//! Errors of any model by what it shows: those that `Gauge` finds for blends, and none where the
//! full equilibria themselves are shown.

use std::ops::ControlFlow;

use forks_blend::{BlendedState, BlendedWorkspace, LinkBlend};
use forks_dynamics::{Loads, statics::EquilibriumOptions};
use forks_mechanism::lie::{Pose, glam::DVec3};
use forks_models::{HelixJoints, helix};
use forks_place::{Chart, Gauge, LoadRegion, Placement, Ruler, Shown, place, unseen_loads};
use forks_reduce::{Problem, ProblemOptions};

#[test]
fn what_a_blend_shows_is_as_far_off_as_its_gauge_says() {
    let helix = helix(5, HelixJoints::Hinge3);
    let tip = helix.mechanism.link(helix.effectors[0]).name.clone();
    let problem = Problem::new(&helix.mechanism, &[&tip], &ProblemOptions::default()).unwrap();
    let down = LoadRegion::cone(0, -DVec3::Z, 0.8);
    let placement = Placement {
        regions: vec![LoadRegion { displacement: 0.5, ..down }],
        // A chart of poses leaves gaps.
        chart: Chart::Poses,
        constraint_tolerance: 1e-9,
        max_samples: 2,
        training_loads: 4,
        ..Placement::default()
    };
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).unwrap();
    let truths = unseen_loads(&problem, &placement, 7, 5).unwrap();
    let rest = problem.equilibrium(&Loads::default(), &EquilibriumOptions::default());
    let poses = |links: &[Pose]| -> Vec<Pose> {
        let at = |e: &forks_reduce::Effector| links[e.link.index()] * e.link_from_effector;
        problem.effectors.iter().map(at).collect()
    };
    let radius = placed.model.data().samples[0].model.data().radius;
    let gauge = Gauge::new(&problem, poses(&rest.world_from_link), radius);
    let ruler = Ruler::new(&problem, &rest.world_from_link, radius, &truths);

    let model = &placed.model;
    let measured = ruler.worst(|loads| {
        let x = model.solve_static(loads, &[]).ok()?.coordinates;
        let state = BlendedState::new(model, &x).ok()?;
        let (mut work, mut buffer) = (BlendedWorkspace::new(model), model.pose_buffer());
        model.poses(&state, &mut work, LinkBlend::Average, &mut buffer);
        let mut links = vec![Pose::IDENTITY; problem.mechanism().links().len()];
        buffer.iter().for_each(|(l, p)| links[l] = p);
        Some(Shown { effectors: vec![model.effector_pose(0, &x)], links })
    });
    let errors: Vec<_> = truths.iter().map(|t| gauge.errors(model, t)).collect();
    let statics = errors.iter().fold(0.0, |a: f64, e| a.max(e.statics));
    let constraint = errors.iter().fold(0.0, |a: f64, e| a.max(e.constraint));
    assert!(statics > 1e-6 && constraint > 1e-6, "{statics:e}, {constraint:e}: nothing to measure");
    assert!((measured.statics / statics - 1.0).abs() < 1e-9);
    assert!((measured.constraint / constraint - 1.0).abs() < 1e-9);

    // The truth has no static error, and the gaps of its own.
    let mut next = truths.iter();
    let itself = ruler.worst(|_| {
        let links = next.next()?.equilibrium.world_from_link.clone();
        Some(Shown { effectors: poses(&links), links })
    });
    assert_eq!((itself.statics, itself.constraint), (0.0, ruler.own()));
    // No equilibrium is no small error.
    assert_eq!(ruler.worst(|_| None).statics, f64::INFINITY);
}
