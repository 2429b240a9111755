//! Blends: a step, and the poses of all links by both averages; a helix bent by forces, and the Y
//! and a finger in joint displacements.

use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use forks_benches::{blended::blended, charted::charted, fixture};
use forks_blend::{BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, LinkBlend};
use forks_import::{ImportOptions, load_mjcf};
use forks_models::{HelixJoints, helix, y_mechanism};
use forks_place::LoadRegion;
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{
    EffectorLoad, LoadFrame,
    lie::{Wrench, glam::DVec3},
};

/// Half angle of the cones of loads.
const CONE: f64 = core::f64::consts::FRAC_PI_6;

fn measure(c: &mut Criterion, name: &str, model: BlendedModel, force: DVec3) {
    let model = Arc::new(model);
    let stepper = BlendedStepper::new(model.clone(), 1e-3).expect("a step above 0");
    let mut state = BlendedState::new(&model, model.place(0)).expect("finite numbers");
    let (mut work, mut poses) = (BlendedWorkspace::new(&model), model.pose_buffer());
    let wrench = Wrench::new(force, DVec3::ZERO);
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
    let mut group = c.benchmark_group(format!("blend/{name}"));
    group.bench_function("step", |b| b.iter(|| stepper.step(&mut state, &mut work, &[load])));
    for (what, rule) in [("average", LinkBlend::Average), ("logarithm", LinkBlend::Logarithm)] {
        group.bench_function(format!("poses by {what}"), |b| {
            b.iter(|| model.poses(&state, &mut work, rule, &mut poses));
        });
    }
    group.finish();
}

fn poses(c: &mut Criterion) {
    let p = helix(200, HelixJoints::Alternating);
    for samples in [1, 4, 8] {
        let model = blended(&p, samples).expect("a helix bends");
        measure(c, &format!("helix-200x{samples}"), model, DVec3::X * 100.0);
    }
}

fn joints(c: &mut Criterion) {
    let p = y_mechanism();
    let names: Vec<&str> = p.effectors.iter().map(|&l| p.mechanism.link(l).name.as_str()).collect();
    let problem = Problem::new(&p.mechanism, &names, &ProblemOptions::default()).expect("valid");
    let regions = (0..names.len()).map(|e| LoadRegion::cone(e, -DVec3::Z, CONE)).collect();
    let (model, forces) = charted(&problem, regions, 6).expect("the Y bends");
    measure(c, "y-joints-x6", model, 0.5 * forces[0].1);

    let file = fixture("models/shadow_hand_right/right_hand.nomesh.xml");
    let hand = load_mjcf(&file, &ImportOptions::default()).expect("a valid model").mechanism;
    let problem = Problem::new(&hand, &["rh_ffdistal"], &ProblemOptions::default()).expect("valid");
    let regions = vec![LoadRegion::cone(0, -DVec3::Y, CONE)];
    let (model, forces) = charted(&problem, regions, 4).expect("the finger bends");
    measure(c, "finger-joints-x4", model, 0.5 * forces[0].1);
}

criterion_group!(benches, poses, joints);
criterion_main!(benches);
