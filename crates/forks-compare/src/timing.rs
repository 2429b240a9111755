//! Times of steps.

use std::time::Instant;

use forks_rom::{EffectorLoad, StepStatus, System};

/// Time over which steps are timed, and how often.
const TIMED: f64 = 0.04;
const TIMES: usize = 5;

/// Median time of a step, µs. Steps are made for a while; none if one fails.
pub(crate) fn median_time(mut step: impl FnMut() -> bool) -> Option<f64> {
    if !step() {
        return None;
    }
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let (begin, mut count) = (Instant::now(), 0u32);
        while begin.elapsed().as_secs_f64() < TIMED || count < 3 {
            if !step() {
                return None;
            }
            count += 1;
        }
        times.push(1e6 * begin.elapsed().as_secs_f64() / f64::from(count));
    }
    times.sort_by(f64::total_cmp);
    Some(times[TIMES / 2])
}

/// Median time of a step of a model with the poses of all its links, µs; none if a step fails.
pub(crate) fn step_time<S: System>(system: &S, loads: &[EffectorLoad]) -> Option<f64> {
    let (mut state, mut work) = (system.state(), system.workspace());
    let mut poses = system.pose_buffer();
    median_time(|| {
        let status = system.step(&mut state, &mut work, loads);
        system.poses(&state, &mut work, &mut poses);
        status != StepStatus::NotFinite
    })
}
