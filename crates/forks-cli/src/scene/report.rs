//! The answer of `forks simulate SCENE.toml`.

use std::fmt::Write as _;

use forks_sim::scene::Scene;
use serde::Serialize;

use super::tally::{Event, Statuses, Tally};
use crate::{dynamics::EnergyEntry, output::short, simulate::LinkPose};

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    scene: String,
    status: &'static str,
    fidelity: &'static str,
    /// Steps made.
    steps: u64,
    step: f64,
    /// Simulated time, s.
    duration: f64,
    statuses: Statuses,
    first_out_of_range: Option<Event>,
    not_finite: Option<Event>,
    /// Most points close enough to touch in a step, and most that pushed.
    max_contacts: usize,
    max_touching: usize,
    /// Substeps whose contacts were solved less exactly than asked.
    inexact_steps: u64,
    mean_sweeps: f64,
    /// m/s.
    largest_residual: f64,
    /// N.
    largest_contact_force: f64,
    /// Of shapes that pushed each other, m.
    max_penetration: f64,
    start_energy: EnergyEntry,
    energy: EnergyEntry,
    seconds_per_step: f64,
    /// Simulated time over time taken.
    real_time_factor: f64,
    /// Frames recorded.
    samples: usize,
    bodies: Vec<LinkPose>,
    pub(super) notes: Vec<String>,
}

impl Report {
    pub(super) fn new(
        scene: &Scene,
        tally: Tally,
        start_energy: EnergyEntry,
        fidelity: &'static str,
        samples: usize,
    ) -> Self {
        let per_step = |x: f64| x / tally.steps.max(1) as f64;
        let (duration, elapsed) = (scene.world.time(), tally.elapsed.as_secs_f64());
        let body = |name: &String| {
            let pose = scene.world.body_pose(scene.body(name)?).ok()?;
            Some(LinkPose::new(name, &pose))
        };
        Self {
            scene: scene.spec.title.clone(),
            status: match (&tally.not_finite, &tally.out_of_range) {
                (Some(_), _) => "not-finite",
                (None, Some(_)) => "out-of-range",
                (None, None) => "completed",
            },
            fidelity,
            steps: tally.steps,
            step: scene.spec.world.step,
            duration,
            statuses: tally.statuses,
            max_contacts: tally.contacts,
            max_touching: tally.touching,
            inexact_steps: tally.inexact,
            mean_sweeps: per_step(tally.sweeps as f64),
            largest_residual: tally.residual,
            largest_contact_force: tally.force,
            max_penetration: tally.penetration,
            start_energy,
            energy: energy(scene),
            seconds_per_step: per_step(elapsed),
            real_time_factor: if elapsed > 0.0 { duration / elapsed } else { 0.0 },
            samples,
            bodies: scene.spec.bodies.iter().filter_map(|b| body(&b.name)).collect(),
            first_out_of_range: tally.out_of_range,
            not_finite: tally.not_finite,
            notes: scene.notes.clone(),
        }
    }

    /// What a person should not miss.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(Event { what, time }) = &self.not_finite {
            out.push(format!("numbers overflowed at {what} after {} s", short(*time)));
        }
        if let Some(Event { what, time }) = &self.first_out_of_range {
            let count = self.statuses.out_of_range;
            let time = short(*time);
            out.push(format!(
                "{what} left the range of its model in {count} of {} steps, first at {time} s",
                self.steps
            ));
        }
        out
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |key: &str, value: String| {
            writeln!(out, "{key:<27}{value}").expect("writing to a string");
        };
        line("scene", self.scene.clone());
        line("status", self.status.into());
        let step = short(self.step);
        line("steps", format!("{} of {step} s, mechanisms {}", self.steps, self.fidelity));
        line("time (s)", short(self.duration));
        let [near, touching] = [self.max_contacts, self.max_touching];
        line("contacts", format!("at most {near} near, {touching} touching"));
        let Self { inexact_steps, mean_sweeps, largest_residual, .. } = self;
        let [sweeps, residual] = [*mean_sweeps, *largest_residual].map(short);
        line(
            "contact solver",
            format!("{sweeps} sweeps per step, {inexact_steps} inexact, residual {residual} m/s"),
        );
        line("largest contact force (N)", short(self.largest_contact_force));
        line("deepest overlap (m)", short(self.max_penetration));
        line("energy at the start (J)", self.start_energy.text());
        line("energy at the end (J)", self.energy.text());
        let speed = short(1e6 * self.seconds_per_step);
        let factor = short(self.real_time_factor);
        line("speed", format!("{speed} µs per step, {factor} times real time"));
        if !self.bodies.is_empty() {
            let table = LinkPose::table("body", &self.bodies);
            write!(out, "\npositions at the end\n{table}").expect("writing to a string");
        }
        if !self.notes.is_empty() {
            write!(out, "\nnotes\n{}\n", self.notes.join("\n")).expect("writing to a string");
        }
        out
    }
}

/// Energy of a scene's world now.
pub(super) fn energy(scene: &Scene) -> EnergyEntry {
    let e = scene.world.energy();
    EnergyEntry { kinetic: e.kinetic, gravitational: e.gravitational, elastic: e.elastic }
}
