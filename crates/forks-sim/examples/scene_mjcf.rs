//! A scene for other simulators: `scene_mjcf SCENE.toml OUT` writes `OUT.xml`, and `OUT.json` with the step, the controls every
//! 10 ms, velocities at the start and, for comparison, where bodies and effectors of this library's run are.

use std::{fmt::Write as _, path::Path};

use forks_lie::{Pose, glam::DVec3};
use forks_sim::{
    Owner,
    scene::{Fidelity, Scene},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, file, out] = args.as_slice() else {
        return Err("which scene, and where to?".into());
    };
    let mut scene = Scene::load(Path::new(file), Fidelity::Reduced)?;
    let exported = scene.to_mjcf()?;
    std::fs::write(format!("{out}.xml"), &exported.text)?;
    exported.notes.iter().for_each(|n| println!("note: {n}"));
    let h = scene.spec.world.step;
    let every = (0.01 / h).round() as u64;
    let mut frames = Vec::new();
    let mut owners: Vec<Owner> = Vec::new();
    for (owner, _) in scene.shapes() {
        if owner != Owner::World && !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    for k in 0..=scene.step_count() {
        if k % every == 0 {
            let t = k as f64 * h;
            let controls = list(&scene.controls_at(&exported, t));
            let poses: Vec<String> =
                owners.iter().map(|o| list(&wxyz(&scene.owner_pose(*o)))).collect();
            let poses = poses.join(", ");
            frames.push(format!("{{\"t\": {t}, \"controls\": {controls}, \"poses\": [{poses}]}}"));
        }
        let _ = scene.step();
    }
    let mut json = String::new();
    let names: Vec<String> = owners.iter().map(|o| format!("{:?}", scene.owner_name(*o))).collect();
    let velocity = |(name, v, w): &(String, DVec3, DVec3)| {
        let numbers: Vec<f64> = v.to_array().into_iter().chain(w.to_array()).collect();
        format!("[{name:?}, {}]", list(&numbers))
    };
    let velocities: Vec<String> = exported.velocities.iter().map(velocity).collect();
    writeln!(
        json,
        "{{\"step\": {h}, \"names\": [{}], \"velocities\": [{}], \"frames\": [\n{}\n]}}",
        names.join(", "),
        velocities.join(", "),
        frames.join(",\n")
    )?;
    std::fs::write(format!("{out}.json"), json)?;
    Ok(())
}

/// x, y, z, qw, qx, qy, qz.
fn wxyz(p: &Pose) -> [f64; 7] {
    let (t, q) = (p.translation, p.rotation);
    [t.x, t.y, t.z, q.w, q.x, q.y, q.z]
}

fn list(v: &[f64]) -> String {
    format!("[{}]", v.iter().map(f64::to_string).collect::<Vec<_>>().join(", "))
}
