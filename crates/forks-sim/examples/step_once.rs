//! Steps of a scene, for instruction and allocation counts: `step_once SCENE.toml BEFORE STEPS`. The difference of two numbers of
//! steps is free of what loading costs; `valgrind` prints the same number of allocations for both, as no warm step allocates.
//! Prints the thread's time per step, the shortest of ten parts, and what was near.

use std::{path::Path, time::Instant};

use forks_sim::scene::{Fidelity, Scene};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let file = args.first().ok_or("which scene?")?;
    let (before, steps) = (number(1, 1000), number(2, 1000));
    let mut scene = Scene::load(Path::new(file), Fidelity::Reduced)?;
    for _ in 0..before {
        let _ = scene.step();
    }
    let (mut shortest, mut points, mut touching) = (f64::INFINITY, 0, 0);
    let part = (steps / 10).max(1);
    for k in 0..steps.div_ceil(part) {
        let count = part.min(steps - k * part);
        let start = Instant::now();
        for _ in 0..count {
            let report = scene.step();
            points += report.contacts;
            touching += report.touching;
        }
        shortest = shortest.min(start.elapsed().as_secs_f64() * 1e9 / count as f64);
    }
    let mean = |n: usize| n as f64 / steps as f64;
    println!(
        "{file}: {shortest:.0} ns per step, {:.2} points near, {:.2} touching",
        mean(points),
        mean(touching)
    );
    Ok(())
}
