//! Blends in charts of joint displacements against full equilibria.

use std::ops::ControlFlow;

use forks_blend::{BlendedModel, BlendedState, Weights};
use forks_dynamics::{AppliedWrench, Loads, WrenchFrame, statics::EquilibriumOptions};
use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_models::{HelixJoints, Parametric, helix};
use forks_place::{
    BlendError, Chart, Gauge, LoadRegion, Placed, Placement,
    live::{LiveOptions, extended, hand_over, take_back},
    place, unseen_loads,
};
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{EffectorLoad, LoadFrame, StaticStatus};

fn problem(p: &Parametric) -> Problem {
    let tip = &p.mechanism.link(p.effectors[0]).name;
    Problem::new(&p.mechanism, &[tip], &ProblemOptions::default()).unwrap()
}

fn placement() -> Placement {
    Placement {
        regions: vec![LoadRegion {
            displacement: 0.5,
            ..LoadRegion::cone(0, -DVec3::Z, 30f64.to_radians())
        }],
        chart: Chart::Joints,
        max_samples: 3,
        training_loads: 8,
        constraint_tolerance: 1e-5,
        static_tolerance: 1e-5,
        exchanges: 1,
        ..Placement::default()
    }
}

fn placed(problem: &Problem) -> Placed {
    place(problem, &placement(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn load(force: DVec3) -> EffectorLoad {
    EffectorLoad { effector: 0, wrench: Wrench::new(force, DVec3::ZERO), frame: LoadFrame::World }
}

#[test]
fn a_sample_s_static_response_is_exact_to_second_order() {
    let problem = problem(&helix(6, HelixJoints::Hinge3));
    let placed = placed(&problem);
    let data = placed.model.data();
    assert!(placed.loads[0].is_empty(), "the first sample is at rest");
    let alone = BlendedModel::new(data.alone(0)).unwrap();
    let link = &problem.effectors[0];
    for direction in [DVec3::new(0.3, -0.2, -1.0), DVec3::new(-1.0, 0.5, 0.4)] {
        let off = |t: f64| {
            let force = direction * t;
            let loads = Loads::none().with(AppliedWrench {
                link: link.link,
                link_from_point: link.link_from_effector,
                wrench: Wrench::new(force, DVec3::ZERO),
                frame: WrenchFrame::World,
            });
            let full = problem.equilibrium(&loads, &EquilibriumOptions::default());
            assert!(full.status.is_equilibrium());
            let found = alone.solve_static(&[load(force)], &[]).unwrap();
            assert_eq!(found.status, StaticStatus::Converged);
            let pose = full.world_from_link[link.link.index()] * link.link_from_effector;
            alone.effector_pose(0, &found.coordinates).twist_to(&pose).norm()
        };
        let errors = [15.0, 30.0, 60.0].map(off);
        let orders: Vec<f64> = errors.windows(2).map(|w| (w[1] / w[0]).log2()).collect();
        assert!(orders.iter().all(|o| (o - 3.0).abs() < 0.4), "{errors:?} {orders:?}");
    }
}

#[test]
fn samples_stand_where_their_loads_hold_them_and_unseen_loads_are_met() {
    let problem = problem(&helix(6, HelixJoints::Hinge3));
    let placed = placed(&problem);
    let model = &placed.model;
    assert!(model.is_curved());
    assert!(matches!(model.data().weights, Weights::Shepard { .. }));
    assert_eq!(placed.loads.len(), 3);
    for (i, forces) in placed.loads.iter().enumerate() {
        let loads: Vec<EffectorLoad> = forces.iter().map(|f| load(f.1)).collect();
        let found = model.solve_static(&loads, &[]).unwrap();
        assert_eq!(found.status, StaticStatus::Converged);
        let there = model.data().samples[i].model.data().effectors[0].rest;
        let gap = model.effector_pose(0, &found.coordinates).twist_to(&there).norm();
        // Steps of 1e-7 are left where energies show no difference.
        assert!(gap < 1e-6, "{gap:e}");
    }
    let rest = model.data().reference.clone();
    let gauge = Gauge::new(&problem, rest, model.data().radius);
    for truth in unseen_loads(&problem, &placement(), 77, 10).unwrap() {
        let e = gauge.errors(model, &truth);
        // Three samples of six links up to half the largest displacement.
        assert!(e.statics < 2e-3 && e.constraint < 2e-3, "{e:?}");
    }
}

#[test]
fn states_are_handed_over_and_taken_back() {
    let problem = problem(&helix(6, HelixJoints::Hinge3));
    let placed = placed(&problem);
    let model = &placed.model;
    let x =
        placed.model.solve_static(&[load(DVec3::new(2.0, 1.0, -20.0))], &[]).unwrap().coordinates;
    let mut state = BlendedState::new(model, &x).unwrap();
    let rate: Vec<f64> = x.iter().map(|x| 0.3 * x).collect();
    state.set(&x, &rate).unwrap();
    let full = hand_over(&problem, model, &state, &LiveOptions::default()).unwrap();
    // The full equilibrium is held where the blend has the effector.
    assert!(full.distance < 1e-6 && full.velocity_distance < 1e-5, "{full:?}");
    let (back, lost) = take_back(&problem, model, &full.q, &full.v).unwrap();
    assert!(lost < 1e-5, "{lost:e}");
    let off = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(off(back.coordinates(), &x) < 1e-4 && off(back.velocity(), &rate) < 1e-3);
    let poses = [model.effector_pose(0, &x)];
    let more = extended(&problem, model, &poses, &LiveOptions::default(), &|| true);
    assert_eq!(more.unwrap_err(), BlendError::FixedChart);
}
