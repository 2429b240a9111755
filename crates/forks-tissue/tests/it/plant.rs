//! Forces on skeletons with tissue: the map of a step against the step, and tasks.

use forks_control::{
    controller::Controller,
    plant::{Kinematics, Plant, PlantError},
    task::{Axes, Frame, Goal, Task},
};
use forks_tissue::{
    TissuePlant,
    deform::{
        Commands, Material, Momentum, SoftOptions, SoftSimulation,
        creatures::{self, Base, Creature},
        dynamics::mechanism::{
            LinkId,
            lie::{SplitMix64, glam::DVec3},
            linalg::{Matrix, norm},
        },
    },
};

const STEPS: [f64; 3] = [1e-4, 1e-3, 1.0 / 60.0];

fn all(material: Material) -> Vec<Creature> {
    vec![
        creatures::worm(Base::Planar, material).unwrap(),
        creatures::fish(Base::Free, material).unwrap(),
        creatures::finger(Base::Fixed, material).unwrap(),
    ]
}

/// In motion and bent, so that nothing is zero.
fn moving(c: &Creature, options: SoftOptions) -> SoftSimulation {
    let mut s = SoftSimulation::new(&c.mechanism, c.body.clone(), options).unwrap();
    let n = s.state().v.len();
    for k in 0..20 {
        let forces: Vec<f64> = (0..n).map(|i| 1e-3 * ((i + k) as f64).sin()).collect();
        s.step(1e-3, &Commands { forces: &forces, ..Commands::default() }).unwrap();
    }
    s
}

#[test]
fn maps_are_those_of_the_step() {
    let material = Material::stvk(5e4, 0.3, 1000.0).unwrap();
    let mut random = SplitMix64::new(2);
    for creature in all(material) {
        for h in STEPS {
            let options = SoftOptions { momentum: Momentum::Free, ..SoftOptions::default() };
            let simulation = moving(&creature, options);
            let n = simulation.state().v.len();
            let commanded: Vec<usize> = (0..n).filter(|k| k % 3 != 1).collect();
            let mut plant = TissuePlant::new(simulation.clone(), &commanded, h).unwrap();
            let z: Vec<f64> = commanded.iter().map(|_| random.range(-1e-3, 1e-3)).collect();
            let response = plant.response().unwrap();
            let said = response.rates(&z);
            plant.step(&z).unwrap();
            // A step that knows nothing of the response.
            let mut forces = vec![0.0; n];
            commanded.iter().zip(&z).for_each(|(c, z)| forces[*c] = *z);
            let mut alone = simulation;
            let report = alone.step(h, &Commands { forces: &forces, ..Commands::default() });
            assert_eq!(report.unwrap().steps, 1, "{} {h}", creature.mechanism.name());
            let off: Vec<f64> = said.iter().zip(&alone.state().v).map(|(a, b)| a - b).collect();
            let off = norm(&off) / norm(&said).max(norm(&response.free));
            assert!(off < 1e-10, "{} {h}: {off:e}", creature.mechanism.name());
            // The matrix that is used again gives the same bits.
            assert_eq!(plant.simulation().state(), alone.state());
        }
    }
}

/// A response to one step is not taken for that to another one.
#[test]
fn responses_are_of_their_own_step() {
    let creature = creatures::finger(Base::Fixed, Material::stvk(5e4, 0.3, 1000.0).unwrap());
    let start = moving(&creature.unwrap(), SoftOptions::default());
    let n = start.state().v.len();
    let nodes = start.state().x.len();
    let push = vec![DVec3::new(0.0, 0.0, -1e-3); nodes];
    let given = [(n - 1, 0.3)];
    let others = [
        (2e-3, Commands::default()),
        (1e-3, Commands { node_forces: &push, ..Commands::default() }),
        (1e-3, Commands { accelerations: &given, ..Commands::default() }),
    ];
    for (h, commands) in others {
        let (mut asked, mut alone) = (start.clone(), start.clone());
        let _ = asked.response(1e-3, &Commands::default()).unwrap();
        let _ = asked.step(h, &commands).unwrap();
        let _ = alone.step(h, &commands).unwrap();
        assert_eq!(asked.state(), alone.state());
    }
    // Nor where the state has changed.
    let (mut asked, mut alone) = (start.clone(), start.clone());
    let _ = asked.response(1e-3, &Commands::default()).unwrap();
    let mut state = start.state().clone();
    state.x.iter_mut().for_each(|x| x.z += 1e-4);
    asked.set_state(state.clone()).unwrap();
    alone.set_state(state).unwrap();
    let _ = asked.step(1e-3, &Commands::default()).unwrap();
    let _ = alone.step(1e-3, &Commands::default()).unwrap();
    assert_eq!(asked.state(), alone.state());
}

/// A coordinate whose acceleration is given answers to no force, and the map has it at its end.
#[test]
fn prescribed_coordinates_are_conditioned_on() {
    let creature = creatures::finger(Base::Fixed, Material::stvk(5e4, 0.3, 1000.0).unwrap());
    let mut s = moving(&creature.unwrap(), SoftOptions::default());
    let (n, h) = (s.state().v.len(), 1e-3);
    let given = [(1, 2.5)];
    let commands = Commands { accelerations: &given, ..Commands::default() };
    let expected = s.state().v[1] + h * 2.5;
    let response = s.response(h, &commands).unwrap();
    assert!((response.free[1] - expected).abs() < 1e-15);
    assert!((0..n).all(|k| response.gain[(1, k)] == 0.0 && response.gain[(k, 1)] == 0.0));
    let forces: Vec<f64> = (0..n).map(|k| 1e-3 * (1.0 + k as f64)).collect();
    let mut said = response.gain.mul_vec(&forces);
    said.iter_mut().zip(&response.free).for_each(|(s, f)| *s += f);
    let _ = s.step(h, &Commands { forces: &forces, ..commands }).unwrap();
    let off: Vec<f64> = said.iter().zip(&s.state().v).map(|(a, b)| a - b).collect();
    assert!(norm(&off) < 1e-11 * norm(&said), "{:e}", norm(&off) / norm(&said));
}

/// Two levels: the head is where it was asked to go at the end of the step, then the tail.
#[test]
fn tasks_are_met_at_the_end_of_the_step() {
    let creature =
        creatures::worm(Base::Planar, Material::stvk(5e4, 0.3, 1000.0).unwrap()).unwrap();
    for h in STEPS {
        let options = SoftOptions { momentum: Momentum::Free, ..SoftOptions::default() };
        let simulation = moving(&creature, options);
        let n = simulation.state().v.len();
        // The six hinges; the base is passive.
        let hinges: Vec<usize> = (n - 6..n).collect();
        let mut plant = TissuePlant::new(simulation, &hinges, h).unwrap();
        let head = Frame::of(LinkId::new(plant.link_count() - 1));
        let mut rows = Matrix::zeros(6, n);
        let place = plant.frame(&head, &mut rows).translation;
        let by = DVec3::new(0.0, 0.0, 1e-3);
        let task = Task::new("head", Goal::Position(head, place + by)).in_axes(Axes::World);
        let mut controller = Controller::new(vec![(f64::NEG_INFINITY, f64::INFINITY); 6]);
        let found = controller.solve(&mut plant, &[task]).unwrap();
        assert!(found.relaxed.is_empty(), "{:?}", found.relaxed);
        let z = found.commands.clone();
        let said = plant.response().unwrap().rates(&z);
        let pose = plant.frame(&head, &mut rows);
        let twist = rows.mul_vec(plant.rates());
        let before = pose.rotation * DVec3::from_slice(&twist[..3]);
        // k = 100, d = 20: what a critically damped spring asks for.
        let asked = before + h * (100.0 * by - 20.0 * before);
        plant.step(&z).unwrap();
        for rates in [&said[..], plant.rates()] {
            let reached = pose.rotation * DVec3::from_slice(&rows.mul_vec(rates)[..3]);
            let off = (reached - asked).length();
            assert!(off < 1e-10 * (1.0 + asked.length()), "{h}: {off:e} {reached} {asked}");
        }
    }
}

/// Places are rounded against forces: what energy that makes where tasks hold bones is no rise.
#[test]
fn steps_are_whole_where_bones_are_held_by_tasks() {
    let creature = creatures::finger(Base::Fixed, Material::stvk(5e4, 0.3, 1000.0).unwrap());
    let Creature { mechanism, body } = creature.unwrap();
    let options = SoftOptions { gravity: false, ..SoftOptions::default() };
    let simulation = SoftSimulation::new(&mechanism, body, options).unwrap();
    let n = simulation.state().v.len();
    let hinges: Vec<usize> = (0..n).collect();
    let mut plant = TissuePlant::new(simulation, &hinges, 1e-3).unwrap();
    let tip = Frame::of(LinkId::new(plant.link_count() - 1));
    let mut rows = Matrix::zeros(6, n);
    let to = plant.frame(&tip, &mut rows).translation + DVec3::Z * 2e-3;
    let held = hinges.iter().map(|k| (mechanism.velocity_owner(*k).joint, 0.0)).collect();
    let up = [false, false, true, false, false, false];
    let tasks = [
        Task::new("tip", Goal::Position(tip, to)).in_axes(Axes::World).masked(up),
        Task::new("posture", Goal::Posture(held)).on_level(1),
    ];
    let mut controller = Controller::new(vec![(f64::NEG_INFINITY, f64::INFINITY); n]);
    let (mut divided, mut late) = (0, 0);
    for k in 0..6000 {
        let z = controller.solve(&mut plant, &tasks).unwrap().commands.clone();
        plant.step(&z).unwrap();
        if plant.report().unwrap().steps > 1 {
            divided += 1;
            late += usize::from(k > 4000);
        }
    }
    let off = (plant.frame(&tip, &mut rows).translation - to).z;
    assert!(off.abs() < 1e-9, "{off:e}");
    assert!(late == 0, "{late} of the last 2,000 steps are divided, {divided} of all");
}

#[test]
fn what_is_no_command_is_refused() {
    let creature = creatures::finger(Base::Fixed, Material::stvk(5e4, 0.3, 1000.0).unwrap());
    let s = moving(&creature.unwrap(), SoftOptions::default());
    let n = s.state().v.len();
    assert!(matches!(
        TissuePlant::new(s.clone(), &[n], 1e-3),
        Err(PlantError::Coordinate { coordinate, .. }) if coordinate == n
    ));
    assert!(matches!(TissuePlant::new(s.clone(), &[0, 0], 1e-3), Err(PlantError::Twice { .. })));
    assert!(matches!(TissuePlant::new(s.clone(), &[0], 0.0), Err(PlantError::Step { .. })));
    let mut plant = TissuePlant::new(s.clone(), &[0], 1e-3).unwrap();
    assert!(matches!(plant.step(&[f64::NAN]), Err(PlantError::NotFinite { .. })));
    assert!(matches!(plant.step(&[]), Err(PlantError::Count { .. })));
    assert_eq!(plant.simulation().state(), s.state());
    let stepper = forks_tissue::deform::Stepper::MixedEuler(Default::default());
    let Creature { mechanism, body } =
        creatures::finger(Base::Fixed, Material::stvk(5e4, 0.3, 1000.0).unwrap()).unwrap();
    let options = SoftOptions { stepper, ..SoftOptions::default() };
    let explicit = SoftSimulation::new(&mechanism, body, options).unwrap();
    let refused = TissuePlant::new(explicit, &[0], 1e-3).unwrap().response();
    assert!(refused.unwrap_err().to_string().contains("linearly implicit"));
}
