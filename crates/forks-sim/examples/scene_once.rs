//! Steps of a scene, for profiles, instruction and allocation counts:
//! `scene_once FILE BEFORE STEPS`, `BEFORE` in seconds. The difference of two numbers of steps is
//! free of what loading costs; `valgrind` prints the same number of allocations for both, as no
//! warm step allocates. `scene_once FILE BEFORE STEPS RUNS` prints the shortest and the median time
//! of a step over so many runs from the same state.

use std::{env::args, error::Error, path::Path, time::Instant};

use forks_sim::scene::{Fidelity, Scene};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [file, before, steps, runs @ ..] = arguments.as_slice() else {
        return Err("usage: scene_once FILE BEFORE STEPS [RUNS]".into());
    };
    let (before, steps): (f64, usize) = (before.parse()?, steps.parse()?);
    let mut scene = Scene::load(Path::new(file), Fidelity::Reduced)?;
    for _ in 0..(before / scene.spec.world.step).round() as usize {
        let _ = scene.step();
    }
    let start = scene.world.snapshot();
    let (mut sweeps, mut near, mut touching) = (0, 0, 0);
    let mut times = Vec::new();
    for _ in 0..runs.first().map_or(Ok(1), |r| r.parse())? {
        scene.world.restore(&start)?;
        let begin = Instant::now();
        for _ in 0..steps {
            let report = scene.step();
            sweeps += report.sweeps;
            near += report.contacts;
            touching += report.touching;
        }
        times.push(begin.elapsed().as_secs_f64() / steps as f64 * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let mean = |n: usize| n as f64 / (steps * times.len()) as f64;
    println!(
        "{:.3} µs (median {:.3}); per step {:.2} points near, {:.2} touching, {:.2} sweeps",
        times[0],
        times[times.len() / 2],
        mean(near),
        mean(touching),
        mean(sweeps)
    );
    Ok(())
}
