//! Steps of the full mechanism's implicit scheme, for instruction counts and times:
//! `implicit_once MODEL SIZE STEPS [SECONDS] [NEWTONS]`.
//!
//! MODEL is `arm`, `helix`, `ladder`, `irregular-ladder` (SIZE rungs) or `chain`; SECONDS is the
//! step's length and NEWTONS the force along x on the first effector, 100 if left out. Prints the
//! mean time of a step, its status, where the effector is, and the gap of the loops.

use std::time::Instant;

use forks_dynamics::{
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    mechanism::lie::{Wrench, glam::DVec3},
};
use forks_models::{HelixJoints, Parametric};

fn main() {
    let text = |i: usize| std::env::args().nth(i);
    let number = |i: usize, default: f64| text(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let size = number(2, 50.0) as usize;
    let model = text(1).unwrap_or_else(|| "helix".into());
    let p: Parametric = match model.as_str() {
        "arm" => forks_models::arm20(),
        "helix" => forks_models::helix(size, HelixJoints::Alternating),
        "ladder" => forks_models::ladder(size),
        "irregular-ladder" => forks_models::irregular_ladder(size),
        "chain" => forks_models::molecules::chain(size, 1),
        other => panic!("no model {other}"),
    };
    let (steps, h) = (number(3, 100.0) as usize, number(4, 1e-3));
    let force = DVec3::X * number(5, 100.0);
    let m = &p.mechanism;
    let start = m.start_positions();
    let still = vec![0.0; m.tree_velocity_count()];
    let q = &start[..m.tree_position_count()];
    let mut simulation = Simulation::new(m, q, &still, SimulationOptions::default());
    let effector = p.effectors[0];
    simulation.set_dead_wrenches(&[(effector, Wrench::new(force, DVec3::ZERO))]);
    let mut poses = simulation.link_poses();
    let (begin, mut status) = (Instant::now(), SimulationStatus::Completed);
    let mut taken = 0;
    while taken < steps && status == SimulationStatus::Completed {
        status = simulation.step(h);
        simulation.write_link_poses(&mut poses);
        taken += 1;
    }
    let microseconds = begin.elapsed().as_secs_f64() * 1e6 / taken.max(1) as f64;
    let at = poses[effector.index()].translation;
    println!(
        "{model} {}: {microseconds:.2} µs per step, {} after {taken}, effector {at:.12}, \
         gap {:.1e}",
        m.joints().len(),
        status.name(),
        simulation.loop_gap(),
    );
    println!("{:?}", simulation.statistics());
}
