//! A scene reduced and by the full solver, side by side: `compare_scene SCENE.toml [SECONDS]`.

use std::path::Path;

use forks_record::compare::{Subject, compare_driven};
use forks_sim::{
    Owner,
    scene::{Fidelity, Scene},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let file = args.get(1).ok_or("which scene?")?;
    let mut reduced = Scene::load(Path::new(file), Fidelity::Reduced)?;
    let mut full = Scene::load(Path::new(file), Fidelity::Full)?;
    let steps = match args.get(2) {
        Some(seconds) => (seconds.parse::<f64>()? / reduced.spec.world.step).round() as usize,
        None => reduced.step_count() as usize,
    };
    let mut owners: Vec<Owner> = reduced.shapes().map(|(owner, _)| owner).collect();
    owners.retain(|o| *o != Owner::World);
    owners.dedup();
    let subjects: Vec<Subject> = owners.iter().map(|&owner| Subject { owner, size: 1.0 }).collect();
    let script = &mut reduced.script;
    let result =
        compare_driven(&mut reduced.world, &mut full.world, steps, &subjects, |world, _| {
            script.act(world)
        })?;
    println!("{} steps, {:?}, {:?}", result.steps, result.reduced, result.full);
    for d in &result.deviations {
        println!(
            "{:24} {:.5} m at {:.3} s, {:.4} rad at {:.3} s; moved {:.4} m, turned {:.3} rad; at \
            the end {:.5} m",
            full.owner_name(d.owner),
            d.position,
            d.position_time,
            d.rotation,
            d.rotation_time,
            d.moved,
            d.turned,
            d.last_position,
        );
    }
    Ok(())
}
