//! Steps of a scene, for profiles, instruction and allocation counts: `scene_once FILE BEFORE STEPS`, where the first
//! `BEFORE` seconds are not part of the count, or `scene_once FILE BEFORE STEPS RUNS`, which prints the shortest and the
//! median time of a step over so many runs from the same state.

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
    let mut sweeps = 0;
    let mut times = Vec::new();
    for _ in 0..runs.first().map_or(Ok(1), |r| r.parse())? {
        scene.world.restore(&start)?;
        let begin = Instant::now();
        for _ in 0..steps {
            sweeps += scene.step().sweeps;
        }
        times.push(begin.elapsed().as_secs_f64() / steps as f64 * 1e6);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{:.3} µs (median {:.3}), {:.2} sweeps per step",
        times[0],
        times[times.len() / 2],
        sweeps as f64 / (steps * times.len()) as f64
    );
    Ok(())
}
