//! Maps of commands to rates, and tasks, against the steps that are made.

use std::sync::Arc;

use forks_control::{
    controller::Controller,
    plant::{Command, ImplicitPlant, Kinematics, Plant, TreePlant},
    task::{Frame, Goal, Task},
};
use forks_dynamics::integrate::{
    ImpulseStepper, Integrator, Simulation, SimulationOptions, SimulationStatus,
};
use forks_mechanism::{LinkId, Mechanism, lie::glam::DVec3, linalg::Matrix};
use forks_testkit::{RandomMechanismOptions, Rng, random_mechanism};

use crate::validate::record::{Recorder, larger};

const STEPS: [f64; 3] = [1e-4, 1e-3, 1.0 / 60.0];

/// Rounding of a step over what it starts from: 8 n κ ε with n = 20 and κ = 3,000.
const MAP_BOUND: f64 = 1e-10;

pub(super) fn check(count: u64, out: &mut Recorder) -> Result<(), String> {
    let mut rng = Rng::new(1);
    let [mut forces, mut mixed, mut implicit] = [0.0f64; 3];
    for seed in 0..count {
        let tree = random(seed, 0);
        forces = larger(forces, explicit(&tree, &mut rng, false)?);
        mixed = larger(mixed, explicit(&tree, &mut rng, true)?);
        implicit = larger(implicit, implicitly(&random(seed, (seed % 3) as usize), &mut rng)?);
    }
    out.at_most(&format!("map = explicit step, forces, {count} trees"), forces, MAP_BOUND);
    out.at_most(&format!("map = explicit step, mixed commands, {count} trees"), mixed, MAP_BOUND);
    let name = format!("map = implicit step, {count} mechanisms with 0 to 2 loops");
    out.at_most(&name, implicit, MAP_BOUND);
    tasks(count, out)
}

fn random(seed: u64, loops: usize) -> Arc<Mechanism> {
    let options = RandomMechanismOptions { extra_loops: loops, ..Default::default() };
    Arc::new(random_mechanism(seed, &options))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn apart(a: &[f64], b: &[f64], free: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&d) / (norm(a) + norm(b) + norm(free)).max(f64::MIN_POSITIVE)
}

fn some(rng: &mut Rng, n: usize) -> Vec<usize> {
    (0..n).filter(|_| rng.chance(0.6)).collect()
}

fn vector(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.symmetric()).collect()
}

/// The map against the plant's step, and where all commands are forces against a simulation.
fn explicit(m: &Arc<Mechanism>, rng: &mut Rng, mixed: bool) -> Result<f64, String> {
    let (q, v) = (m.start_positions(), vector(rng, m.velocity_count()));
    let h = STEPS[rng.index(3)];
    let coordinates = some(rng, v.len());
    let z = vector(rng, coordinates.len());
    let command = |c: &usize, accelerates: bool| match accelerates {
        true => Command::Acceleration(*c),
        false => Command::Force(*c),
    };
    let commands: Vec<Command> =
        coordinates.iter().map(|c| command(c, mixed && rng.chance(0.5))).collect();
    let said = |e: forks_control::plant::PlantError| e.to_string();
    let mut plant = TreePlant::new(Arc::clone(m), &q, &v, &commands, h).map_err(said)?;
    let response = plant.response().map_err(said)?;
    let rates = response.rates(&z);
    plant.step(&z).map_err(said)?;
    let mut worst = apart(&rates, plant.velocities(), &response.free);
    if !mixed {
        let integrator = Integrator::SemiImplicitEuler;
        let options = SimulationOptions { integrator, ..Default::default() };
        let mut rival = Simulation::new(m, &q, &v, options);
        let mut tau = vec![0.0; v.len()];
        coordinates.iter().zip(&z).for_each(|(c, z)| tau[*c] = *z);
        rival.set_loads(&tau, &[]);
        if rival.step(h) != SimulationStatus::Completed {
            return Err("a random tree cannot be stepped".to_owned());
        }
        worst = larger(worst, apart(&rates, &rival.state().v, &response.free));
    }
    Ok(worst)
}

fn implicitly(m: &Arc<Mechanism>, rng: &mut Rng) -> Result<f64, String> {
    let q = m.start_positions()[..m.tree_position_count()].to_vec();
    let v = vec![0.0; m.tree_velocity_count()];
    let h = STEPS[rng.index(3)];
    let commands = some(rng, m.velocity_count());
    let z = vector(rng, commands.len());
    let said = |e: forks_control::plant::PlantError| e.to_string();
    let mut plant = ImplicitPlant::new(Arc::clone(m), &q, &v, &commands, h).map_err(said)?;
    let response = plant.response().map_err(said)?;
    let failed = |s: SimulationStatus| s.name().to_owned();
    let mut rival = ImpulseStepper::new(Arc::clone(m), &q, &v, true, h).map_err(failed)?;
    let mut tau = vec![0.0; m.velocity_count()];
    commands.iter().zip(&z).for_each(|(c, z)| tau[*c] = *z);
    rival.free(&tau, &[]).map_err(failed)?;
    Ok(apart(&response.rates(&z), rival.velocities(), &response.free))
}

/// Tips that are dragged: rates at the end of the step against those asked for.
fn tasks(count: u64, out: &mut Recorder) -> Result<(), String> {
    let [mut explicit, mut implicit] = [(0.0f64, 0usize); 2];
    for seed in 0..count {
        let h = STEPS[(seed % 3) as usize];
        let m = random(seed, 0);
        let all: Vec<Command> = (0..m.velocity_count()).map(Command::Force).collect();
        let (q, v) = (m.start_positions(), vec![0.0; m.velocity_count()]);
        let said = |e: forks_control::plant::PlantError| e.to_string();
        let mut plant = TreePlant::new(Arc::clone(&m), &q, &v, &all, h).map_err(said)?;
        dragged(&mut plant, &mut explicit)?;
        let m = random(seed, (seed % 2) as usize);
        let (q, n) = (m.start_positions(), m.tree_velocity_count());
        let all: Vec<usize> = (0..n).collect();
        let q = &q[..m.tree_position_count()];
        let plant = ImplicitPlant::new(Arc::clone(&m), q, &vec![0.0; n], &all, h);
        dragged(&mut plant.map_err(said)?, &mut implicit)?;
    }
    for (name, (worst, met)) in [("explicit", explicit), ("implicit, loops", implicit)] {
        let name = format!("feasible tasks at the step's end, {name}, {met} of {count}, m/s");
        out.at_most(&name, worst, 1e-10);
    }
    Ok(())
}

/// The largest difference where nothing gives way, and how often that is.
fn dragged<P: Kinematics>(plant: &mut P, sum: &mut (f64, usize)) -> Result<(), String> {
    let frame = Frame::of(LinkId::new(plant.link_count() - 1));
    let mut rows = Matrix::zeros(6, plant.rates().len());
    let here = plant.frame(&frame, &mut rows);
    let by = DVec3::new(0.01, -0.02, 0.015);
    let task = Task::new("tip", Goal::Position(frame, here.translation + by));
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let mut controller = Controller::new(vec![free; plant.command_count()]);
    let h = plant.step_length();
    let found = controller.solve(plant, &[task]).map_err(|e| e.to_string())?;
    if !found.relaxed.is_empty() {
        return Ok(());
    }
    let commands = found.commands.clone();
    let asked = (here.rotation.inverse() * by * (100.0 * h)).to_array();
    // What the step makes of them, from a copy of the map that knows nothing of tasks.
    let response = plant.response().map_err(|e| e.to_string())?;
    plant.step(&commands).map_err(|e| e.to_string())?;
    let rates = response.rates(&commands);
    let reached = rows.mul_vec(&rates);
    for i in 0..3 {
        sum.0 = larger(sum.0, (reached[i] - asked[i]).abs());
    }
    sum.1 += 1;
    Ok(())
}
