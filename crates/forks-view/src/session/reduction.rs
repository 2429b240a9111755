//! Models beside the mechanism: reduced, and blended.

use std::{sync::Arc, time::Instant};

use forks_blend::BlendedModel;
use forks_mechanism::lie::Pose;
use forks_reduce::{Linearisation, MassModel, Problem, ProblemOptions, ReduceOptions};

use super::{
    Session, set_servo,
    timeline::Timeline,
    work::{Made, Work, start},
};
use crate::subject::{Blended, Look, Subject, reduced};

/// What a model beside the mechanism is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Reduced,
    Blended,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reduced => "reduced",
            Self::Blended => "blended",
        }
    }
}

/// A model beside the mechanism that it was made from.
pub(super) struct Twin {
    /// Never given twice.
    pub(super) id: u64,
    pub(super) kind: Kind,
    /// Bodies that are its effectors.
    pub(super) effectors: Vec<usize>,
    pub(super) said: String,
    problem: Arc<Problem>,
    blend: Option<Arc<BlendedModel>>,
}

impl<'m> Session<'m> {
    /// The problem of bodies as effectors.
    fn problem(&self, bodies: &[usize]) -> Result<(Arc<Problem>, String), String> {
        let source = self.source.ok_or("only a mechanism with all its joints can be reduced")?;
        let picture = self.all[0].picture();
        let name = |b: &usize| picture.bodies.get(*b).map(|b| b.name.as_str());
        let names: Option<Vec<&str>> = bodies.iter().map(name).collect();
        let names = names.ok_or("there is no such body")?;
        if names.is_empty() {
            return Err("choose at least one body as an effector".into());
        }
        let options =
            ProblemOptions { start: Some(source.positions.clone()), ..ProblemOptions::default() };
        let problem = Problem::new(&source.mechanism, &names, &options);
        Ok((Arc::new(problem.map_err(|e| e.to_string())?), names.join(", ")))
    }

    /// Reduces the mechanism about its equilibrium under gravity, and puts the model beside it;
    /// with modes it has these besides its static shapes.
    pub(super) fn reduce(&mut self, bodies: &[usize], modes: usize) -> Result<(), String> {
        let begin = Instant::now();
        let (problem, names) = self.problem(bodies)?;
        let (at, loads) = start(&problem)?;
        let at = Linearisation::equilibrium(&at, &loads);
        let mass = match modes {
            0 => MassModel::Condensed,
            modes => MassModel::CraigBampton { modes },
        };
        let options = ReduceOptions { mass, ..ReduceOptions::default() };
        let model = problem.reduce(at, &options).map_err(|e| e.to_string())?.model;
        let took = 1e3 * begin.elapsed().as_secs_f64();
        let said = format!("{names} reduced to {} coordinates in {took:.1} ms", model.dof());
        let step = self.all[0].step_length();
        let bytes = model.to_bytes();
        let model = forks_blend::Model::Reduced(model);
        let subject = reduced(model, Look::Picture(Box::new(self.all[0].picture().clone())), step);
        let subject = subject.map_err(|e: forks_rom::ModelError| e.to_string())?;
        let effectors = bodies.to_vec();
        let (kind, id) = (Kind::Reduced, self.number());
        let twin = Twin { id, kind, effectors, said, problem, blend: None };
        self.put(twin, subject, bytes)
    }

    /// The number of a new model.
    fn number(&mut self) -> u64 {
        self.models += 1;
        self.models
    }

    /// Puts a model beside the mechanism, in place of one of its kind.
    fn put(
        &mut self,
        twin: Twin,
        mut subject: Box<dyn Subject<'m> + 'm>,
        bytes: Vec<u8>,
    ) -> Result<(), String> {
        for s in self.all[0].servos() {
            set_servo(&mut *subject, &s.name, s.target)?;
        }
        self.hub.set_model(twin.kind.name(), bytes);
        match self.twins.iter().position(|t| t.kind == twin.kind) {
            Some(k) => {
                self.twins[k] = twin;
                self.all[k + 1] = subject;
            }
            None => {
                self.twins.push(twin);
                self.all.push(subject);
            }
        }
        self.timeline = Timeline::new(&self.all);
        self.draw().map_err(|e| e.to_string())
    }

    /// Takes all models away.
    pub(super) fn unreduce(&mut self) -> Result<(), String> {
        self.all.truncate(1);
        self.twins.clear();
        self.work = None;
        self.hub.forget_models();
        self.timeline = Timeline::new(&self.all);
        self.draw().map_err(|e| e.to_string())
    }

    /// Begins to place a blend.
    pub(super) fn place(
        &mut self,
        bodies: &[usize],
        range: f64,
        samples: usize,
    ) -> Result<(), String> {
        let (problem, _) = self.problem(bodies)?;
        self.work = Some(Work::place(problem, bodies, range, samples));
        Ok(())
    }

    /// Begins to add a sample where the mechanism is now: to the blend, to the reduced model where
    /// there is none, or to one of these bodies.
    pub(super) fn extend(&mut self, bodies: &[usize]) -> Result<(), String> {
        let of = |kind| self.twins.iter().find(|t| t.kind == kind);
        let (problem, blend, effectors) = match of(Kind::Blended).or(of(Kind::Reduced)) {
            Some(t) => (t.problem.clone(), t.blend.clone(), t.effectors.clone()),
            None => (self.problem(bodies)?.0, None, bodies.to_vec()),
        };
        let poses = effectors.iter().map(|b| self.all[0].pose(*b)).collect();
        self.work = Some(Work::extend(problem, blend, &effectors, poses));
        Ok(())
    }

    /// Looks after the work under way; true if there is something new to say.
    pub(super) fn look_after_work(&mut self) -> bool {
        let Some(work) = &self.work else { return false };
        let Some(made) = work.poll() else {
            let progress = work.progress();
            let new = progress != self.progress;
            self.progress = progress;
            return new;
        };
        let bodies = work.bodies.clone();
        self.work = None;
        self.progress.clear();
        if let Err(text) = made.and_then(|made| self.install(made, &bodies)) {
            self.hub.complain(&text);
        }
        true
    }

    /// Puts a blend beside the mechanism; one that is there already goes over into it.
    fn install(&mut self, made: Made, bodies: &[usize]) -> Result<(), String> {
        let Made { problem, model, said } = made;
        let known = self.twins.iter().position(|t| t.kind == Kind::Blended);
        if let Some(k) = known.filter(|k| Arc::ptr_eq(&self.twins[*k].problem, &problem)) {
            self.timeline.mark(&self.all);
            self.all[k + 1].replace(&model)?;
            self.hub.set_model(Kind::Blended.name(), model.to_bytes());
            (self.twins[k].said, self.twins[k].blend) = (said, Some(model));
            self.twins[k].id = self.number();
            return Ok(());
        }
        let poses: Vec<Pose> = bodies.iter().map(|b| self.all[0].pose(*b)).collect();
        let (picture, step) = (self.all[0].picture().clone(), self.all[0].step_length());
        let subject = Blended::new(model.clone(), picture, step);
        let mut subject = Box::new(subject.map_err(|e| e.to_string())?);
        subject.stand(bodies, &poses)?;
        let (effectors, bytes) = (bodies.to_vec(), model.to_bytes());
        let (kind, id) = (Kind::Blended, self.number());
        let twin = Twin { id, kind, effectors, said, problem, blend: Some(model) };
        self.put(twin, subject, bytes)
    }
}
