//! A haptic loop: a thousand steps per second, each within a budget of microseconds.
//!
//! `cargo run --release -p forks --example haptic_loop`

use std::{error::Error, sync::Arc, time::Instant};

use forks::{
    glam::DVec3,
    models::{HelixJoints, helix},
    prelude::*,
    rom::{PoseBuffer, State, StepStatus, Workspace},
};

/// A device reads its position and sets its force once a millisecond, s.
const PERIOD: f64 = 1e-3;
/// What the simulation may take of it, µs.
const BUDGET: f64 = 50.0;
/// The spring between the hand and the tip of the mechanism, N/m.
const COUPLING: f64 = 100.0;

fn main() -> Result<(), Box<dyn Error>> {
    // A helical spring of 50 links, reduced once to its tip.
    let spring = helix(50, HelixJoints::Hinge3);
    let tip = &spring.mechanism.link(spring.effectors[0]).name;
    let problem = Problem::new(&spring.mechanism, &[tip], &ProblemOptions::default())?;
    let model = Arc::new(problem.reduce(problem.at_rest(), &ReduceOptions::default())?.model);

    // All memory is taken here; the loop takes none.
    let stepper = Stepper::new(model.clone(), PERIOD)?;
    let (mut state, mut work) = (State::new(&model), Workspace::new(&model));
    let mut poses = PoseBuffer::new(&model);
    let mut times = Vec::with_capacity(2000);
    let rest = model.effector_pose(0, state.coordinates()).translation;
    let (mut felt, mut largest) = (DVec3::ZERO, 0.0f64);

    for step in 0..2000 {
        // What a device would say: the hand goes round a circle of 5 cm once in two seconds.
        let angle = std::f64::consts::TAU * 0.5 * PERIOD * step as f64;
        let hand = rest + 0.05 * DVec3::new(angle.sin(), 1.0 - angle.cos(), 0.0);

        let begin = Instant::now();
        let at = model.effector_pose(0, state.coordinates()).translation;
        felt = COUPLING * (at - hand);
        let wrench = Wrench::new(-felt, DVec3::ZERO);
        let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
        assert_eq!(stepper.step(&mut state, &mut work, &[load]), StepStatus::Completed);
        // Every link for the picture; a slower computer would ask for fewer: `LinkSelection`.
        model.poses(&state, &mut poses);
        times.push(1e6 * begin.elapsed().as_secs_f64());
        largest = largest.max(felt.length());
    }

    times.sort_by(f64::total_cmp);
    let (median, late) = (times[times.len() / 2], times.iter().filter(|t| **t > BUDGET).count());
    println!("{} links from {} coordinates", poses.len(), model.dof());
    println!("a step with all links: median {median:.1} µs, 99 % below {:.1} µs", times[1980]);
    println!("{late} of 2000 steps took more than the budget of {BUDGET} µs");
    println!("the hand felt up to {largest:.2} N, at the end {:.2} N", felt.length());
    Ok(())
}
