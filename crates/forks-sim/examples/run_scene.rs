//! Runs a scene and prints where its bodies are: `run_scene SCENE.toml [SECONDS] [full]`.

use std::{path::Path, time::Instant};

use forks_sim::scene::{Fidelity, Scene};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let file = args.get(1).ok_or("which scene?")?;
    let mut fidelity = Fidelity::Reduced;
    #[cfg(feature = "twin")]
    if args.iter().any(|a| a == "full") {
        fidelity = Fidelity::Full;
    }
    let begin = Instant::now();
    let mut scene = Scene::load(Path::new(file), std::mem::take(&mut fidelity))?;
    println!("{}: built in {:.2} s", scene.spec.title, begin.elapsed().as_secs_f64());
    scene.notes.iter().for_each(|n| println!("note: {n}"));
    let steps = match args.get(2) {
        Some(seconds) => (seconds.parse::<f64>()? / scene.spec.world.step).round() as u64,
        None => scene.step_count(),
    };
    let (begin, mut inexact, mut sweeps, mut contacts) = (Instant::now(), 0, 0, 0);
    let every = (0.25 / scene.spec.world.step) as u64;
    for k in 0..steps {
        let report = scene.step();
        inexact += report.inexact;
        sweeps += report.sweeps;
        contacts += report.contacts;
        if k % every == every - 1 || k + 1 == steps {
            print!("{:6.3} s {:?} {} contacts", scene.world.time(), report.status, report.touching);
            for name in scene.spec.bodies.iter().map(|b| &b.name) {
                let pose = scene.world.body_pose(scene.body(name).expect("a body"))?;
                print!("  {name} {:.4}", pose.translation);
            }
            for m in &scene.mechanisms {
                let handle = scene.mechanism(&m.name).expect("a mechanism");
                let pose = scene.world.effector_pose(handle, 0)?;
                print!("  {} {:.4}", m.name, pose.translation);
            }
            println!("  energy {:.4}", scene.world.energy().total());
        }
    }
    let per_step = begin.elapsed().as_secs_f64() / steps as f64 * 1e6;
    let mean = |n: usize| n as f64 / steps as f64;
    println!(
        "{per_step:.1} us per step, {:.1} contacts, {:.1} sweeps, {inexact} inexact",
        mean(contacts),
        mean(sweeps)
    );
    Ok(())
}
