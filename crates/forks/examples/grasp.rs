//! A hand lifts a ball: a reduced mechanism, a rigid body and friction in one world.
//!
//! `cargo run -p forks --features scene --example grasp`

use std::{error::Error, path::Path};

use forks::sim::{
    Owner, WorldStatus,
    scene::{Fidelity, Scene},
};

fn main() -> Result<(), Box<dyn Error>> {
    // The file names the hand, its four fingertips, the ball and what the servos do over time.
    // Loading it reduces the hand, 16 joints and a wrist, to its fingertips.
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes");
    let mut scene = Scene::load(&scenes.join("hand-ball.toml"), Fidelity::Reduced)?;
    let ball = scene.body("ball").ok_or("the scene has a ball")?;
    let start = scene.world.body_pose(ball)?.translation;
    println!("time (s)  lifted (mm)  contacts  force on the ball (N)  most sweeps");

    let steps_per_report = (0.5 / scene.spec.world.step).round() as u64;
    let mut sweeps = 0;
    for step in 1..=6 * steps_per_report {
        let report = scene.step();
        assert_eq!(report.status, WorldStatus::Completed);
        sweeps = sweeps.max(report.sweeps);
        if step % steps_per_report == 0 {
            let moved = scene.world.body_pose(ball)?.translation - start;
            // The sum over the fingertips; at rest it carries the weight of 0.1 kg.
            let force = scene.world.contact_force(Owner::Body(ball));
            println!(
                "{:8.1}  {:11.2}  {:8}  {:21.3}  {sweeps:11}",
                step as f64 * scene.spec.world.step,
                1e3 * moved.z,
                report.touching,
                force.z,
            );
            sweeps = 0;
        }
    }

    // Each contact knows where it is and what presses there.
    for contact in scene.world.contacts() {
        println!(
            "at ({:.1}, {:.1}, {:.1}) mm: gap {:.1e} m",
            1e3 * contact.position.x,
            1e3 * contact.position.y,
            1e3 * contact.position.z,
            contact.gap
        );
    }
    Ok(())
}
