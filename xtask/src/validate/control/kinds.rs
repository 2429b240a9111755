//! Maps of commands to rates and tasks of the plants that are no plain mechanisms: reduced models
//! on fixed and floating bases, skeletons with tissue.

use std::sync::Arc;

use forks_control::{
    controller::Controller,
    plant::{Kinematics, PlantError, ReducedCommand, ReducedPlant},
    task::{Frame, Goal, Task},
};
use forks_deform::{
    Material, Momentum, SoftOptions, SoftSimulation,
    creatures::{self, Base},
};
use forks_mechanism::{LinkId, lie::glam::DVec3, linalg::Matrix};
use forks_models::{HelixJoints, helix};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{BaseCoupling, FloatingModel, FloatingStepper, Stepper, System};
use forks_testkit::{Rng, floating::floating_hub};
use forks_tissue::TissuePlant;

use crate::validate::record::{Recorder, larger};

const STEPS: [f64; 3] = [1e-4, 1e-3, 1.0 / 60.0];
/// Steps of each.
const COUNT: usize = 20;

/// Largest differences of a kind.
#[derive(Default)]
struct Worst {
    map: f64,
    divided: usize,
    task: f64,
    met: usize,
    of: usize,
}

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let [mut fixed, mut floats, mut tissue] = [(); 3].map(|()| Worst::default());
    let mut rng = Rng::new(8);
    for h in STEPS {
        let p = helix(8, HelixJoints::Hinge3);
        let tip = p.mechanism.link(p.effectors[0]).name.clone();
        let problem = Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default());
        let problem = problem.map_err(|e| e.to_string())?;
        let model = problem.reduce(problem.at_rest(), &ReduceOptions::default());
        let model = Arc::new(model.map_err(|e| e.to_string())?.model);
        reduced(Stepper::new(model, h).map_err(|e| e.to_string())?, &mut rng, &mut fixed)?;
        let problem = Problem::new(&floating_hub(), &["a5", "b5"], &ProblemOptions::default());
        let problem = problem.map_err(|e| e.to_string())?;
        let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
        let model = problem.reduce(problem.at_rest(), &options).map_err(|e| e.to_string())?.model;
        let model = FloatingModel::new(Arc::new(model), BaseCoupling::Full);
        let model = Arc::new(model.map_err(|e| e.to_string())?);
        reduced(FloatingStepper::new(model, h).map_err(|e| e.to_string())?, &mut rng, &mut floats)?;
        let stuff = Material::stvk(5e4, 0.3, 1000.0).map_err(|e| e.to_string())?;
        for creature in [
            creatures::worm(Base::Planar, stuff),
            creatures::fish(Base::Free, stuff),
            creatures::finger(Base::Fixed, stuff),
        ] {
            let c = creature.map_err(|e| e.to_string())?;
            let options = SoftOptions { momentum: Momentum::Free, ..SoftOptions::default() };
            let s = SoftSimulation::new(&c.mechanism, c.body, options);
            let s = s.map_err(|e| e.to_string())?;
            let all: Vec<usize> = (0..s.state().v.len()).collect();
            let mut plant = TissuePlant::new(s, &all, h).map_err(said)?;
            let divided = |p: &TissuePlant| p.report().is_some_and(|r| r.steps > 1);
            along(&mut plant, 1e-3, &divided, &mut rng, &mut tissue)?;
        }
    }
    for (name, w) in [("reduced models", &fixed), ("tissue", &tissue)] {
        let whole = w.of - w.divided;
        out.at_most(&format!("map = step, {name}, {whole} of {} steps", w.of), w.map, 1e-10);
        out.at_most("divided steps among them, at most half", w.divided as f64 / w.of as f64, 0.5);
    }
    // Steps of floating bases are not linear in commands.
    out.info(&format!("map against step, floating reduced model, {} steps", floats.of), floats.map);
    for (name, w) in [("reduced models", fixed), ("floating", floats), ("tissue", tissue)] {
        let name = format!("feasible tasks at the step's end, {name}, {} of {}, m/s", w.met, w.of);
        out.at_most(&name, w.task, 1e-10);
        out.at_most("of them met, at least half", 0.5 * w.of as f64 / w.met as f64, 1.0);
    }
    Ok(())
}

fn said(e: PlantError) -> String {
    e.to_string()
}

/// Under wrenches on the first effector.
fn reduced<S: System>(system: S, rng: &mut Rng, worst: &mut Worst) -> Result<(), String> {
    let all = |component| ReducedCommand::Wrench { effector: 0, component };
    let commands: Vec<ReducedCommand> = (0..6).map(all).collect();
    let state = system.state();
    let mut plant = ReducedPlant::new(system, state, &commands, DVec3::ZERO).map_err(said)?;
    along(&mut plant, 0.05, &|_| false, rng, worst)
}

/// Random commands, and a frame that is dragged, in turns; steps that were divided are not those
/// that were mapped.
fn along<P: Kinematics>(
    plant: &mut P,
    size: f64,
    divided: &dyn Fn(&P) -> bool,
    rng: &mut Rng,
    worst: &mut Worst,
) -> Result<(), String> {
    let n = plant.rates().len();
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let mut controller = Controller::new(vec![free; plant.command_count()]);
    // The first effector of reduced models.
    let frame = Frame::of(LinkId::new(match plant.mechanism() {
        Some(_) => plant.link_count() - 1,
        None => 0,
    }));
    let mut rows = Matrix::zeros(6, n);
    for _ in 0..COUNT {
        let z: Vec<f64> = (0..plant.command_count()).map(|_| size * rng.symmetric()).collect();
        let response = plant.response().map_err(said)?;
        let rates = response.rates(&z);
        plant.step(&z).map_err(said)?;
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let off: Vec<f64> = rates.iter().zip(plant.rates()).map(|(a, b)| a - b).collect();
        if divided(plant) {
            worst.divided += 1;
        } else {
            let size = length(&rates) + length(&response.free);
            worst.map = larger(worst.map, length(&off) / size);
        }
        // A task of the step after.
        let here = plant.frame(&frame, &mut rows);
        // Worms and fingers move in a plane.
        let by = DVec3::new(rng.symmetric(), 0.0, rng.symmetric()) * 1e-3;
        let task = Task::new("point", Goal::Position(frame, here.translation + by));
        let h = plant.step_length();
        let before = DVec3::from_slice(&rows.mul_vec(plant.rates())[..3]);
        let asked = before + h * (100.0 * (here.rotation.inverse() * by) - 20.0 * before);
        let found = controller.solve(plant, &[task]);
        let found = found.map_err(|e| e.to_string())?;
        worst.of += 1;
        if found.relaxed.is_empty() {
            worst.met += 1;
            let z = found.commands.clone();
            let rates = plant.response().map_err(said)?.rates(&z);
            let reached = DVec3::from_slice(&rows.mul_vec(&rates)[..3]);
            worst.task = larger(worst.task, (reached - asked).length());
        }
    }
    Ok(())
}
