//! A reduced model beside the mechanism.

use std::time::Instant;

use forks_dynamics::{Loads, statics::EquilibriumOptions};
use forks_reduce::{Linearisation, Problem, ProblemOptions, ReduceOptions};

use super::{Session, Twin, set_servo, timeline::Timeline};
use crate::subject::reduced;

impl Session<'_> {
    /// Reduces the mechanism about its equilibrium under gravity, and puts the model beside it.
    pub(super) fn reduce(&mut self, bodies: &[usize]) -> Result<(), String> {
        let source = self.source.ok_or("only a mechanism with all its joints can be reduced")?;
        let picture = self.all[0].picture().clone();
        let name = |b: &usize| picture.bodies.get(*b).map(|b| b.name.as_str());
        let names: Option<Vec<&str>> = bodies.iter().map(name).collect();
        let names = names.ok_or("there is no such body")?;
        if names.is_empty() {
            return Err("choose at least one body as an effector".into());
        }
        let begin = Instant::now();
        let m = &source.mechanism;
        let options =
            ProblemOptions { start: Some(source.positions.clone()), ..ProblemOptions::default() };
        let say = |e: forks_reduce::ReduceError| e.to_string();
        let problem = Problem::new(m, &names, &options).map_err(say)?;
        let loads = Loads::gravity();
        let at = problem.equilibrium(&loads, &EquilibriumOptions::default());
        if !at.status.is_equilibrium() {
            let why = at.explanation(problem.mechanism()).unwrap_or_default();
            let status = at.status.name();
            return Err(format!("there is no equilibrium to reduce about: {status} {why}"));
        }
        let at = Linearisation::equilibrium(&at, &loads);
        let model = problem.reduce(at, &ReduceOptions::default()).map_err(say)?.model;
        let took = 1e3 * begin.elapsed().as_secs_f64();
        let said =
            format!("{} reduced to {} coordinates in {took:.1} ms", names.join(", "), model.dof());
        let step = self.all[0].step_length();
        let model = forks_blend::Model::Reduced(model);
        let mut subject =
            reduced(model, picture, step).map_err(|e: forks_rom::ModelError| e.to_string())?;
        for s in self.all[0].servos() {
            set_servo(&mut *subject, &s.name, s.target)?;
        }
        self.all.truncate(1);
        self.all.push(subject);
        self.twin = Some(Twin { effectors: bodies.to_vec(), said });
        self.timeline = Timeline::new(&self.all);
        self.draw().map_err(|e| e.to_string())
    }
}
