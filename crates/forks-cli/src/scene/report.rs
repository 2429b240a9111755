//! The answer of `forks simulate SCENE.toml`.

use forks_direct::{Direct, Watched};
use forks_io::{Align, TextTable};
use forks_sim::scene::Scene;
use serde::Serialize;

use super::tally::{Event, Statuses, Tally};
use crate::{
    dynamics::EnergyEntry,
    output::{LinkPose, Text, short},
};

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
    /// One sentence where the run did not end as it should.
    pub(super) message: Option<String>,
    first_out_of_range: Option<Event>,
    first_targets_out_of_range: Option<Event>,
    first_loops_open: Option<Event>,
    first_unsolved: Option<Event>,
    /// Steps whose contacts and limits left most of the speed that they had to stop.
    unsolved_steps: u64,
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
    /// Largest opening of a loop, and distance of an effector from where the joints put it, over
    /// the mechanism's size.
    max_loop_gap: f64,
    max_effector_gap: f64,
    /// Frames recorded.
    samples: usize,
    bodies: Vec<LinkPose>,
    /// What drives the mechanisms; null where nothing does.
    driven: Option<DrivenEntry>,
    pub(super) notes: Vec<String>,
}

/// What became of tasks and predictions.
#[derive(Debug, Serialize)]
struct DrivenEntry {
    watched: Vec<WatchedEntry>,
    /// Steps in which rows gave way, and the first of them.
    relaxed_steps: u64,
    first_relaxed: Option<Event>,
    /// Decisions that used up their iterations.
    unfinished: u64,
    predictions: u64,
    predictions_at_bounds: u64,
    predictions_cut: u64,
}

/// A number over the run.
#[derive(Debug, Serialize)]
struct WatchedEntry {
    mechanism: String,
    name: String,
    unit: &'static str,
    rms: f64,
    largest: f64,
    last: f64,
}

impl DrivenEntry {
    fn new(direct: &Direct) -> Option<Self> {
        let report = direct.report();
        let entry = |(mechanism, w): (String, Watched)| WatchedEntry {
            mechanism,
            rms: w.rms(),
            largest: w.largest,
            last: w.now,
            name: w.name,
            unit: w.unit,
        };
        let [predictions, predictions_at_bounds, predictions_cut] = report.decisions;
        direct.is_driven().then(|| Self {
            watched: report.watched.into_iter().map(entry).collect(),
            relaxed_steps: report.relaxed_steps,
            first_relaxed: report
                .first_relaxed
                .map(|(time, m, what)| Event { what: format!("{m}: {what}"), time }),
            unfinished: report.unfinished,
            predictions,
            predictions_at_bounds,
            predictions_cut,
        })
    }

    fn table(&self) -> TextTable {
        let mut out = TextTable::new()
            .column("driven", Align::Left)
            .columns(["rms", "largest", "last", "unit"], Align::Right);
        for w in &self.watched {
            let name = format!("{}: {}", w.mechanism, w.name);
            out.push([name, short(w.rms), short(w.largest), short(w.last), w.unit.into()]);
        }
        out
    }
}

impl Report {
    pub(super) fn new(
        direct: &Direct,
        tally: Tally,
        start_energy: EnergyEntry,
        fidelity: &'static str,
        samples: usize,
    ) -> Self {
        let scene = &direct.scene;
        let ending = ending(&tally);
        let per_step = |x: f64| x / tally.steps.max(1) as f64;
        let (duration, elapsed) = (scene.world.time(), tally.elapsed.as_secs_f64());
        let body = |name: &String| {
            let pose = scene.world.body_pose(scene.body(name)?).ok()?;
            Some(LinkPose::new(name, &pose))
        };
        Self {
            scene: scene.spec.title.clone(),
            status: ending.as_ref().map_or(COMPLETED, |(status, _)| status),
            message: ending.map(|(_, message)| message),
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
            max_loop_gap: tally.openings.loops,
            max_effector_gap: tally.openings.effectors,
            samples,
            bodies: scene.spec.bodies.iter().filter_map(|b| body(&b.name)).collect(),
            first_out_of_range: tally.out_of_range,
            first_targets_out_of_range: tally.far_targets,
            first_loops_open: tally.opened,
            first_unsolved: tally.lost,
            unsolved_steps: tally.lost_steps,
            not_finite: tally.not_finite,
            driven: DrivenEntry::new(direct),
            notes: scene.notes.clone(),
        }
    }

    /// True if the run ended as it should.
    pub(super) fn is_completed(&self) -> bool {
        self.status == COMPLETED
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("scene", &self.scene);
        out.line("status", self.status);
        if let Some(message) = &self.message {
            out.line("", message);
        }
        let step = short(self.step);
        out.line("steps", format!("{} of {step} s, mechanisms {}", self.steps, self.fidelity));
        out.line("time (s)", short(self.duration));
        let [near, touching] = [self.max_contacts, self.max_touching];
        out.line("contacts", format!("at most {near} near, {touching} touching"));
        let Self { inexact_steps, mean_sweeps, largest_residual, .. } = self;
        let [sweeps, residual] = [*mean_sweeps, *largest_residual].map(short);
        out.line(
            "contact solver",
            format!("{sweeps} sweeps per step, {inexact_steps} inexact, residual {residual} m/s"),
        );
        out.line("largest contact force (N)", short(self.largest_contact_force));
        out.line("deepest overlap (m)", short(self.max_penetration));
        out.line("energy at the start (J)", self.start_energy.text());
        out.line("energy at the end (J)", self.energy.text());
        let speed = short(1e6 * self.seconds_per_step);
        let factor = short(self.real_time_factor);
        out.line("speed", format!("{speed} µs per step, {factor} times real time"));
        if !self.bodies.is_empty() {
            let table = LinkPose::table("body", &self.bodies);
            out.block(format_args!("positions at the end\n{table}"));
        }
        if let Some(driven) = &self.driven {
            out.line("steps with relaxed rows", driven.relaxed_steps);
            if let Some(Event { what, time }) = &driven.first_relaxed {
                out.line("", format!("first at {} s: {what}", short(*time)));
            }
            if driven.predictions > 0 {
                let DrivenEntry { predictions, predictions_at_bounds, predictions_cut, .. } =
                    driven;
                out.line(
                    "predictions",
                    format!(
                        "{predictions}, {predictions_at_bounds} at bounds, {predictions_cut} cut"
                    ),
                );
            }
            out.tables([("what is driven", driven.table())]);
        }
        if !self.notes.is_empty() {
            out.block(format_args!("notes\n{}\n", self.notes.join("\n")));
        }
        out.finish()
    }
}

/// A run that ended as it should.
const COMPLETED: &str = "completed";

/// How a run ended that did not end as it should: status, and what happened, when, and what to do.
fn ending(tally: &Tally) -> Option<(&'static str, String)> {
    let steps = tally.steps;
    if let Some((time, why)) = &tally.stopped {
        return Some(("stopped", format!("stopped after {} s: {why}", short(*time))));
    }
    if let Some(Event { what, time }) = &tally.not_finite {
        let time = short(*time);
        let message = format!(
            "numbers overflowed at {what} after {time} s: the recording ends there; a smaller step \
            may help"
        );
        return Some(("not-finite", message));
    }
    if let Some(Event { what, time }) = &tally.out_of_range {
        let (count, time) = (tally.statuses.out_of_range, short(*time));
        let message = format!(
            "{what} left the range of its model in {count} of {steps} steps, first at {time} s: \
             what the mechanism does there is another thing; {ELSEWHERE}"
        );
        return Some(("out-of-range", message));
    }
    if let Some(Event { what, time }) = &tally.far_targets {
        let message = format!(
            "the servo targets of {what} left the range of its model, first at {} s: its loops or \
             effectors would be off by some % of its size; {ELSEWHERE}",
            short(*time)
        );
        return Some(("out-of-range", message));
    }
    if let Some(Event { what, time }) = &tally.lost {
        let (count, time) = (tally.lost_steps, short(*time));
        let message = format!(
            "{what} could not be solved in {count} of {steps} steps, first at {time} s: more than \
             half of the speed to stop was left; look for limits and contacts that contradict each \
             other, or use a smaller step"
        );
        return Some(("contact-unsolved", message));
    }
    let Event { what, time } = tally.opened.as_ref()?;
    let message = format!(
        "the loops of {what} opened, or its effectors left their joints, by up to {} % of its \
         size, more than 5 % first at \
         {} s: the motion is too large for its model; {ELSEWHERE}",
        short(100.0 * tally.openings.loops.max(tally.openings.effectors)),
        short(*time)
    );
    Some(("loops-open", message))
}

/// What helps where a linearisation ends.
const ELSEWHERE: &str =
    "linearise nearer to where it works (`pose`), use a blend, or compare with --full";

/// Energy of a scene's world now.
pub(super) fn energy(scene: &Scene) -> EnergyEntry {
    let e = scene.world.energy();
    EnergyEntry { kinetic: e.kinetic, gravitational: e.gravitational, elastic: e.elastic }
}
