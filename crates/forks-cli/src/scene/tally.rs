//! What is counted while a scene runs.

use std::time::Duration;

use forks_sim::{Owner, Part, StepReport, WorldStatus, rom::Openings, scene::Scene};
use serde::Serialize;

/// How many steps ended how; field names are part of the program's interface.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Statuses {
    pub(super) completed: u64,
    pub(super) contact_inexact: u64,
    pub(super) out_of_range: u64,
    pub(super) not_finite: u64,
}

/// When something first happened, and to what.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Event {
    pub(super) what: String,
    /// Time after the step, s.
    pub(super) time: f64,
}

/// Sums and extremes over the steps.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    pub(super) statuses: Statuses,
    pub(super) contacts: usize,
    pub(super) touching: usize,
    pub(super) inexact: u64,
    pub(super) sweeps: u64,
    pub(super) residual: f64,
    /// Deepest overlap of shapes that pushed each other, m.
    pub(super) penetration: f64,
    pub(super) force: f64,
    pub(super) out_of_range: Option<Event>,
    /// The first step whose contacts or limits kept more than [`LOST`] of the speed that they had
    /// to stop.
    pub(super) lost: Option<Event>,
    /// Number of such steps.
    pub(super) lost_steps: u64,
    /// Servo targets first beyond what a linearisation is good for.
    pub(super) far_targets: Option<Event>,
    /// Loops first open, or effectors away from where the joints put them.
    pub(super) opened: Option<Event>,
    /// Most of both, over the mechanism's size.
    pub(super) openings: Openings,
    pub(super) not_finite: Option<Event>,
    /// When no decision could be made any more, and why.
    pub(super) stopped: Option<(f64, String)>,
    /// Time that the steps took.
    pub(super) elapsed: Duration,
}

impl Tally {
    /// Counts a step; false if numbers overflowed.
    pub(super) fn count(&mut self, scene: &Scene, report: &StepReport, took: Duration) -> bool {
        let event = |what: String| Event { what, time: scene.world.time() };
        self.steps += 1;
        self.elapsed += took;
        match report.status {
            WorldStatus::ContactInexact => self.statuses.contact_inexact += 1,
            WorldStatus::OutOfRange { mechanism, effector } => {
                self.statuses.out_of_range += 1;
                let name = || scene.owner_name(Owner::Effector { mechanism, effector });
                self.out_of_range.get_or_insert_with(|| event(name()));
            }
            WorldStatus::NotFinite { part } => {
                self.statuses.not_finite += 1;
                self.not_finite = Some(event(part_name(scene, part)));
                return false;
            }
            _ => self.statuses.completed += 1,
        }
        self.contacts = self.contacts.max(report.contacts);
        self.touching = self.touching.max(report.touching);
        self.inexact += report.inexact as u64;
        self.sweeps += report.sweeps as u64;
        self.residual = self.residual.max(report.residual);
        if report.relative_residual > LOST {
            self.lost_steps += 1;
            self.lost.get_or_insert_with(|| event(worst_name(scene)));
        }
        let settings = scene.world.settings();
        let rate = settings.substeps as f64 / settings.step;
        for c in scene.world.contacts().iter().filter(|c| c.is_touching()) {
            self.penetration = self.penetration.max(-c.gap);
            self.force = self.force.max(c.impulse.length() * rate);
        }
        true
    }
}

impl Tally {
    /// Looks at how far linearisations are from what their mechanisms allow.
    pub(super) fn look_at_openings(&mut self, scene: &Scene) {
        let time = scene.world.time();
        for m in &scene.spec.mechanisms {
            let Some(handle) = scene.mechanism(&m.name) else { continue };
            let Ok(Some([now, targets])) = scene.world.openings(handle) else { continue };
            let event = || Event { what: m.name.clone(), time };
            if targets.exceed(&Openings::OF_TARGETS) {
                self.far_targets.get_or_insert_with(event);
            }
            if now.exceed(&Openings::OF_MOTION) {
                self.opened.get_or_insert_with(event);
            }
            self.openings = self.openings.max(now);
        }
    }
}

/// Part of the fastest speed in a step: where more of it is left, contacts and limits were not
/// solved at all.
const LOST: f64 = 0.5;

/// The contact with the largest residual; the limits of joints where no contact has one.
fn worst_name(scene: &Scene) -> String {
    let worst = scene.world.contacts().iter().max_by(|a, b| a.residual.total_cmp(&b.residual));
    match worst.filter(|c| c.residual > 0.0) {
        Some(c) => part_name(scene, Part::Contact(c.shapes)),
        None => "the limits of joints".into(),
    }
}

/// What failed, and why where that is known.
fn part_name(scene: &Scene, part: Part) -> String {
    let world = &scene.world;
    match part {
        Part::Body(body) => scene.owner_name(Owner::Body(body)),
        Part::Mechanism(m) => {
            let name = world.mechanism_name(m).unwrap_or_default();
            match world.failure(m) {
                Ok(Some(why)) => format!("{name} ({why})"),
                _ => name.to_owned(),
            }
        }
        Part::Contact(shapes) => {
            let [a, b] = shapes.map(|s| world.shape_name(s).unwrap_or_default());
            format!("the contact between {a} and {b}")
        }
        _ => "the world".into(),
    }
}
