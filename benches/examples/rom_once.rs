//! Steps and poses of a reduced helix, for instruction and allocation counts:
//! `rom_once single|portable|step|poses|batch|step-batch LINKS CALLS [INSTANCES]`. The difference
//! of two call counts is free of the model's construction; `valgrind` prints the same number of
//! allocations for 10 and 1000 calls, as no call allocates. Prints the thread's time per call and
//! instance.

use std::{hint::black_box, sync::Arc, time::Instant};

use forks_models::HelixJoints;
use forks_reduce::{Effector, Problem, ReduceOptions};
use forks_rom::{
    EffectorLoad, Isa, LoadFrame, PoseBuffer, State, Stepper, Workspace,
    batch::{Batch, BatchPoses},
    lie::{Wrench, glam::DVec3},
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: usize| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let what = arguments.first().map_or("single", String::as_str);
    let (n, calls, instances) = (number(1, 50), number(2, 1000), number(3, 64));
    let p = forks_models::helix(n, HelixJoints::Alternating);
    let tip = Effector::of_link(&p.mechanism, p.effectors[0]);
    let problem = Problem::unprepared(p.mechanism, vec![tip]);
    let found = problem.reduce(problem.at_rest(), &ReduceOptions::default());
    let mut model = found.expect("every joint is sprung").model;
    if what == "portable" {
        model = model.with_isa(Isa::Portable);
    }
    let model = Arc::new(model);
    let stepper = Stepper::new(model.clone(), 1e-3).expect("the helix has mass and springs");
    let load = EffectorLoad {
        effector: 0,
        wrench: Wrench::new(DVec3::new(10.0, 0.0, 0.0), DVec3::ZERO),
        frame: LoadFrame::World,
    };
    let (mut state, mut buffer) = (State::new(&model), PoseBuffer::new(&model));
    let mut work = Workspace::new(&model);
    let start = Instant::now();
    let per_call = match what {
        "batch" | "step-batch" => {
            let mut batch = Batch::new(stepper, instances);
            let mut poses = BatchPoses::new(&model, instances);
            let loads = vec![[load]; instances];
            for _ in 0..calls {
                black_box(batch.step(&loads).not_finite);
                if what == "batch" {
                    batch.poses(black_box(&mut poses));
                }
            }
            instances
        }
        "poses" => {
            for _ in 0..calls {
                model.poses(black_box(&state), black_box(&mut buffer));
            }
            1
        }
        "step" => {
            for _ in 0..calls {
                let _ = black_box(stepper.step(black_box(&mut state), &mut work, &[load]));
            }
            1
        }
        _ => {
            for _ in 0..calls {
                let _ = black_box(stepper.step(black_box(&mut state), &mut work, &[load]));
                model.poses(black_box(&state), black_box(&mut buffer));
            }
            1
        }
    };
    let each = start.elapsed().as_secs_f64() * 1e9 / (calls.max(1) * per_call) as f64;
    println!("{what}: {n} links, {} coordinates: {each:.1} ns per call and instance", model.dof());
}
