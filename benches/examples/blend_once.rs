//! Steps and poses of blends, for instruction and allocation counts:
//! `blend_once single|average|logarithm|step|all MECHANISM LINKS SAMPLES CALLS`, where `single` is
//! the poses of the first sample alone. A mechanism `….blend` is a file of a blend, as
//! `forks blend -o` writes it. `blend_once ratios MECHANISM LINKS` prints the costs of the links
//! relative to one model, one line per number of samples, and what a step costs; a fourth argument
//! `bent` or `metric` makes the samples bend, or lets them weigh in their metrics as well.
//! `valgrind` prints the same number of allocations for 10 and 1000 calls, as no call allocates.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use forks_benches::blended::{blended, blended_of};
use forks_blend::{
    BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, LinkBlend, Weights,
};
use forks_models::{HelixJoints, Parametric};
use forks_rom::{
    EffectorLoad, LoadFrame, PoseBuffer, State,
    lie::{Wrench, glam::DVec3},
};

fn mechanism(name: &str, links: usize) -> Parametric {
    match name {
        "ladder" => forks_models::ladder_of_links(links),
        "arm" => forks_models::arm20(),
        _ => forks_models::helix(links, HelixJoints::Alternating),
    }
}

/// One instance between its samples, and one of the first sample.
struct Run {
    stepper: BlendedStepper,
    state: BlendedState,
    work: BlendedWorkspace,
    poses: PoseBuffer,
    single: State,
    /// N.
    force: f64,
}

impl Run {
    fn new(model: BlendedModel) -> Self {
        let model = Arc::new(model);
        let first = &model.data().samples[0].model;
        let mut single = State::new(first);
        let x = between(&model);
        let eta = model.to_sample(&x, first);
        single.set(&eta, &vec![0.0; eta.len()]).expect("finite numbers");
        Self {
            state: BlendedState::new(&model, &x).expect("finite numbers"),
            work: BlendedWorkspace::new(&model),
            poses: model.pose_buffer(),
            stepper: BlendedStepper::new(model.clone(), 1e-3).expect("a step above 0"),
            single,
            force: if model.is_curved() { moderate(&model) } else { 100.0 },
        }
    }

    fn call(&mut self, what: &str) {
        let load = EffectorLoad {
            effector: 0,
            wrench: Wrench::new(DVec3::X * self.force, DVec3::ZERO),
            frame: LoadFrame::World,
        };
        let model = self.stepper.model();
        match what {
            "single" => {
                model.data().samples[0]
                    .model
                    .poses(black_box(&self.single), black_box(&mut self.poses));
            }
            "average" => model.poses(
                &self.state,
                &mut self.work,
                LinkBlend::Average,
                black_box(&mut self.poses),
            ),
            "logarithm" => {
                model.poses(
                    &self.state,
                    &mut self.work,
                    LinkBlend::Logarithm,
                    black_box(&mut self.poses),
                );
            }
            _ => {
                let _ = black_box(self.stepper.step(&mut self.state, &mut self.work, &[load]));
                if what == "all" {
                    model.poses(
                        &self.state,
                        &mut self.work,
                        LinkBlend::Average,
                        black_box(&mut self.poses),
                    );
                }
            }
        }
    }

    /// ns per call.
    fn time(&mut self, what: &str, calls: usize) -> f64 {
        let start = Instant::now();
        (0..calls).for_each(|_| self.call(what));
        start.elapsed().as_secs_f64() * 1e9 / calls.max(1) as f64
    }
}

/// The force along x that moves the first effector by a third of the mechanism's size at most.
fn moderate(m: &BlendedModel) -> f64 {
    let moved = |force: f64| {
        let load = EffectorLoad {
            effector: 0,
            wrench: Wrench::new(DVec3::X * force, DVec3::ZERO),
            frame: LoadFrame::World,
        };
        let rest = m.effector_pose(0, &vec![0.0; m.dof()]);
        let found = m.solve_static(&[load], &[]).expect("finite numbers");
        m.effector_pose(0, &found.coordinates).translation.distance(rest.translation)
    };
    let mut force = 1e-3;
    while force < 1e3 && moved(1.5 * force) < 0.3 * m.data().radius {
        force *= 1.5;
    }
    force
}

/// The mean of the samples' places.
fn between(m: &BlendedModel) -> Vec<f64> {
    let count = m.data().samples.len();
    let mean = |j: usize| (0..count).map(|i| m.place(i)[j]).sum::<f64>() / count as f64;
    (0..m.dof()).map(mean).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |i: usize, or: &'static str| arguments.get(i).map_or(or, String::as_str);
    let number = |i: usize, or: usize| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let (what, name, links) = (text(0, "all"), text(1, "helix"), number(2, 200));
    let p = mechanism(name, links);
    let run = |samples: usize| match name.ends_with(".blend") {
        true => Run::new(BlendedModel::load(name).expect("a blend")),
        false => Run::new(blended(&p, samples).expect("named mechanisms bend")),
    };
    if what == "ratios" {
        let kind = text(3, "straight");
        let weights = match kind {
            "metric" => Weights::Metric { exponent: 6, energy: 1.0 },
            _ => Weights::default(),
        };
        return ratios([1, 2, 4, 8].map(|n| {
            let model = blended_of(&p, n, kind != "straight", weights);
            (n, Run::new(model.expect("named mechanisms bend")))
        }));
    }
    let mut run = run(number(3, 4));
    let each = run.time(what, number(4, 1000));
    println!("{what}: {links} links, {} coordinates: {each:.1} ns", run.stepper.model().dof());
}

/// Shortest times of many short runs, taken in turn; ratios of their medians in brackets.
fn ratios(runs: [(usize, Run); 4]) {
    const SHORT: Duration = Duration::from_micros(200);
    for (n, mut run) in runs {
        let what = ["single", "average", "logarithm", "step"];
        let mut best = [f64::INFINITY; 4];
        let mut times: [Vec<f64>; 4] = Default::default();
        for _ in 0..1500 {
            for ((what, best), times) in what.iter().zip(&mut best).zip(&mut times) {
                let calls = (SHORT.as_secs_f64() * 1e9 / best.clamp(1e2, 1e5)) as usize;
                let time = run.time(what, calls);
                *best = best.min(time);
                times.push(time);
            }
        }
        let medians = times.map(|mut t| {
            t.sort_by(f64::total_cmp);
            t[t.len() / 2]
        });
        let [single, average, logarithm, step] = best;
        println!(
            "{n} samples: one model {single:.0} ns, average {:.2} ({:.2}), logarithm {:.2} \
            ({:.2}), step {step:.0} ns",
            average / single,
            medians[1] / medians[0],
            logarithm / single,
            medians[2] / medians[0],
        );
    }
}
