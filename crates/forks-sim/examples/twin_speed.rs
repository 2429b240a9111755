//! Times of a step of full mechanisms on the machine at hand:
//! `cargo run --release --features twin --example twin_speed`.

use std::time::Instant;

use forks_mechanism::Preparation;
use forks_models::{HelixJoints, arm20, helix, irregular_ladder};
use forks_sim::{
    World, WorldSettings,
    lie::{Pose, Wrench, glam::DVec3},
    rom::LoadFrame,
    twin::{FullMechanism, Gravity},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cases = [
        ("helix 20 alternating", helix(20, HelixJoints::Alternating)),
        ("helix 10 hinge3", helix(10, HelixJoints::Hinge3)),
        ("helix 20 hinge3", helix(20, HelixJoints::Hinge3)),
        ("irregular ladder 5", irregular_ladder(5)),
        ("arm 20", arm20()),
    ];
    for (name, p) in cases {
        let effector = &p.mechanism.link(p.effectors[0]).name;
        let full = FullMechanism::new(&p.mechanism, &Preparation::default(), &[effector])?;
        let mut world = World::new(WorldSettings::default())?;
        let m = world.add_full(name, &full.under(Gravity::Off), Pose::IDENTITY)?;
        let pull = Wrench::new(DVec3::new(100.0, 0.0, 0.0), DVec3::ZERO);
        world.set_effector_load(m, 0, pull, LoadFrame::World)?;
        // The shortest of many runs: others may use the machine.
        let mut run = || {
            let start = Instant::now();
            for _ in 0..20 {
                let _ = world.step();
            }
            start.elapsed().as_secs_f64() * 1e6 / 20.0
        };
        let time = (0..100).map(|_| run()).fold(f64::INFINITY, f64::min);
        let motions = world.velocities(m)?.len();
        let joints = p.mechanism.tree_velocity_count();
        println!("{name}: {motions} motions of {joints} tree velocities, {time:.1} us");
    }
    Ok(())
}
