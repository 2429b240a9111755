//! Maps of commands to rates at the end of a step, against the steps themselves.

use std::sync::Arc;

use forks_control::plant::{Command, ImplicitPlant, Plant, PlantError, TreePlant};
use forks_dynamics::{
    integrate::{ImpulseStepper, Integrator, Simulation, SimulationOptions, SimulationStatus},
    mechanism::{Mechanism, linalg::norm},
};
use forks_testkit::{RandomMechanismOptions, Rng, random_mechanism};

fn mechanism(seed: u64, loops: usize) -> Arc<Mechanism> {
    let options = RandomMechanismOptions { extra_loops: loops, ..Default::default() };
    Arc::new(random_mechanism(seed, &options))
}

fn vector(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.symmetric()).collect()
}

/// Largest difference over the length of both and what they differ from.
fn apart(a: &[f64], b: &[f64], free: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&d) / (norm(a) + norm(b) + norm(free)).max(f64::MIN_POSITIVE)
}

/// Some coordinates, each once.
fn some(rng: &mut Rng, n: usize) -> Vec<usize> {
    (0..n).filter(|_| rng.chance(0.6)).collect()
}

#[test]
fn explicit_maps_of_trees_are_those_of_the_step() {
    let mut rng = Rng::new(1);
    let mut worst = 0.0f64;
    for seed in 0..200 {
        let m = mechanism(seed, 0);
        let (q, v) = (m.start_positions(), vector(&mut rng, m.velocity_count()));
        let h = [1e-4, 1e-3, 1.0 / 60.0][rng.index(3)];
        let commands = some(&mut rng, v.len());
        let z = vector(&mut rng, commands.len());
        // The rival: a simulation of the same scheme under the commands as torques.
        let options =
            SimulationOptions { integrator: Integrator::SemiImplicitEuler, ..Default::default() };
        let mut rival = Simulation::new(&m, &q, &v, options);
        let mut tau = vec![0.0; v.len()];
        commands.iter().zip(&z).for_each(|(c, z)| tau[*c] = *z);
        rival.set_loads(&tau, &[]);
        assert_eq!(rival.step(h), SimulationStatus::Completed);
        let forces: Vec<Command> = commands.iter().map(|c| Command::Force(*c)).collect();
        let mut plant = TreePlant::new(Arc::clone(&m), &q, &v, &forces, h).unwrap();
        let response = plant.response().unwrap();
        let said = response.rates(&z);
        plant.step(&z).unwrap();
        worst = worst.max(apart(&said, plant.velocities(), &response.free));
        worst = worst.max(apart(&said, &rival.state().v, &response.free));
        worst = worst.max(apart(plant.positions(), &rival.state().q, &q));
    }
    println!("worst {worst:e}");
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn accelerations_and_forces_may_be_mixed() {
    let mut rng = Rng::new(2);
    for seed in 0..200 {
        let m = mechanism(seed, 0);
        let (q, v) = (m.start_positions(), vector(&mut rng, m.velocity_count()));
        let commands: Vec<Command> = some(&mut rng, v.len())
            .into_iter()
            .map(|c| if rng.chance(0.5) { Command::Force(c) } else { Command::Acceleration(c) })
            .collect();
        let z = vector(&mut rng, commands.len());
        let h = 1e-3;
        let mut plant = TreePlant::new(m, &q, &v, &commands, h).unwrap();
        let response = plant.response().unwrap();
        let said = response.rates(&z);
        plant.step(&z).unwrap();
        assert!(apart(&said, plant.velocities(), &response.free) < 1e-11);
        for (c, z) in commands.iter().zip(&z) {
            if let Command::Acceleration(i) = c {
                // Prescribed coordinates do what they are told.
                assert!((plant.velocities()[*i] - (v[*i] + h * z)).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn implicit_maps_are_those_of_the_step_with_loops_and_without() {
    let mut rng = Rng::new(3);
    let mut worst = 0.0f64;
    for seed in 0..200 {
        let m = mechanism(seed, (seed % 3) as usize);
        let q = m.start_positions()[..m.tree_position_count()].to_vec();
        let v = vec![0.0; m.tree_velocity_count()];
        let h = [1e-4, 1e-3, 1.0 / 60.0][rng.index(3)];
        let commands = some(&mut rng, m.velocity_count());
        let z = vector(&mut rng, commands.len());
        let mut plant = ImplicitPlant::new(Arc::clone(&m), &q, &v, &commands, h).unwrap();
        let mut rival = ImpulseStepper::new(Arc::clone(&m), &q, &v, true, h).unwrap();
        let response = plant.response().unwrap();
        let said = response.rates(&z);
        let mut tau = vec![0.0; m.velocity_count()];
        commands.iter().zip(&z).for_each(|(c, z)| tau[*c] = *z);
        rival.free(&tau, &[]).unwrap();
        worst = worst.max(apart(&said, rival.velocities(), &response.free));
        let u = rival.velocities().to_vec();
        rival.finish(&u).unwrap();
        plant.step(&z).unwrap();
        assert_eq!(plant.stepper().positions(), rival.positions());
        assert_eq!(plant.stepper().tree_velocities(), rival.tree_velocities());
    }
    println!("worst {worst:e}");
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn wrong_input_is_refused_with_its_values() {
    let m = mechanism(1, 1);
    let (q, v) = (m.start_positions(), vec![0.0; m.tree_velocity_count()]);
    let said = |e: PlantError| e.to_string();
    let refused = TreePlant::new(Arc::clone(&m), &q, &v, &[], 1e-3).unwrap_err();
    assert!(matches!(refused, PlantError::NotATree { .. }), "{refused}");
    let tree = mechanism(1, 0);
    let (q, n) = (tree.start_positions(), tree.velocity_count());
    let v = vec![0.0; n];
    let new = |v: &[f64], c: &[usize], h| ImplicitPlant::new(Arc::clone(&tree), &q, v, c, h);
    assert_eq!(
        said(new(&v, &[n], 1e-3).unwrap_err()),
        format!("coordinate {n} is commanded; there are {n}")
    );
    assert_eq!(said(new(&v, &[1, 1], 1e-3).unwrap_err()), "coordinate 1 is commanded twice");
    assert_eq!(
        said(new(&v, &[], 0.0).unwrap_err()),
        "the step is 0 s; it has to be finite and above 0"
    );
    assert_eq!(
        said(new(&v[1..], &[], 1e-3).unwrap_err()),
        format!("{} velocities, expected {n}", n - 1)
    );
    let mut plant = new(&v, &[0], 1e-3).unwrap();
    assert_eq!(said(plant.step(&[f64::NAN]).unwrap_err()), "command 0 is NaN");
    assert_eq!(said(plant.step(&[]).unwrap_err()), "0 commands, expected 1");
}
