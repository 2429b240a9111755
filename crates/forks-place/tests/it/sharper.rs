//! Weights of placed blends are as sharp as it takes to be no worse than the nearest sample alone.

use std::ops::ControlFlow;

use forks_blend::{BlendData, BlendedModel, Weights};
use forks_mechanism::lie::glam::DVec3;
use forks_models::HelixJoints;
use forks_place::{Chart, Errors, Gauge, LoadRegion, Placement, Truth, place};
use forks_reduce::{Problem, ProblemOptions};

/// Loads at which a sample alone is nearly right are the ones where others disturb.
#[test]
fn no_training_load_is_worse_off_than_with_the_nearest_sample() {
    let p = forks_models::helix(8, HelixJoints::Hinge3);
    let tip = p.mechanism.link(p.effectors[0]).name.clone();
    let problem = Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default()).unwrap();
    let down = LoadRegion::cone(0, -DVec3::Z, 0.5);
    // Out of reach; errors below it are as good as none.
    let tolerance = 1e-3;
    let placement = Placement {
        regions: vec![LoadRegion { displacement: 0.8, ..down }],
        constraint_tolerance: tolerance,
        static_tolerance: tolerance,
        max_samples: 5,
        training_loads: 24,
        exponents: vec![4, 6],
        chart: Chart::Poses,
        ..Placement::default()
    };
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).unwrap();
    let data = placed.model.data();
    let gauge = Gauge::new(&problem, data.reference.clone(), data.radius);
    let effector = &problem.effectors[0];
    let nearest = |t: &Truth| {
        let pose =
            t.equilibrium.world_from_link[effector.link.index()] * effector.link_from_effector;
        let far = |i: usize| {
            let to = data.samples[i].model.data().effectors[0].rest.twist_to(&pose);
            to.scale_linear(1.0 / data.radius).norm()
        };
        let one = (0..data.samples.len()).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap();
        let samples = vec![data.samples[one].clone()];
        let alone = BlendedModel::new(BlendData { samples, ..data.clone() }).unwrap();
        gauge.errors(&alone, t)
    };
    let worst = |m: &BlendedModel, loads: &[Truth]| {
        let over = |of: fn(&Errors) -> f64, e: &Errors, n: &Errors| of(e) / of(n).max(tolerance);
        let ratios = loads.iter().map(|t| {
            let (e, n) = (gauge.errors(m, t), nearest(t));
            over(|e| e.constraint, &e, &n).max(over(|e| e.statics, &e, &n))
        });
        ratios.fold(0.0, f64::max)
    };
    let plain = BlendData { weights: Weights::Shepard { exponent: 6 }, ..data.clone() };
    let plain = BlendedModel::new(plain).unwrap();
    let (before, after) = (worst(&plain, &placed.training), worst(&placed.model, &placed.training));
    let tried: Vec<Weights> = placed.rounds.iter().map(|r| r.weights).collect();
    println!("{before:.3} {after:.3}, weights {tried:?}");
    assert!(before > 1.5 && after <= 1.1, "{before} {after}");
    // Sharper than what was to choose from, and said so.
    assert!(matches!(
        data.weights,
        Weights::Shepard { exponent } | Weights::Metric { exponent, .. } if exponent > 6
    ));
    assert_eq!(tried.last(), Some(&data.weights));
}
