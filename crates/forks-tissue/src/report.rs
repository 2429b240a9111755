//! The answer of `forks simulate SCENE.toml` for scenes with tissue.

use forks_deform::{SoftEnergy, dynamics::mechanism::lie::glam::DVec3};
use forks_io::{LinkPose, Text, short};
use serde::Serialize;

use crate::TissueScene;

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
pub struct Report {
    scene: String,
    status: &'static str,
    /// One sentence where the run did not end as it should.
    pub message: Option<String>,
    steps: u64,
    /// Parts of steps: more than there are steps where some were divided.
    parts: u64,
    step: f64,
    /// Simulated time, s.
    duration: f64,
    newton_steps: u64,
    line_search_cuts: u64,
    /// Steps that ended above their tolerance.
    unfinished_steps: u64,
    /// Part of the points whose F had to be decomposed.
    decomposed_share: f64,
    max_touching: usize,
    max_penetration: f64,
    largest_contact_force: f64,
    /// Parts of steps whose contacts were solved less exactly than asked.
    inexact_contacts: u64,
    start_energy: Energy,
    energy: Energy,
    start_momentum: [[f64; 3]; 2],
    momentum: [[f64; 3]; 2],
    seconds_per_step: f64,
    real_time_factor: f64,
    samples: usize,
    links: Vec<LinkPose>,
    /// Mean place of the nodes, and the lowest and highest of their coordinates, m.
    tissue_center: [f64; 3],
    tissue_box: [[f64; 3]; 2],
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Energy {
    kinetic: f64,
    tissue: f64,
    potential: f64,
}

impl From<SoftEnergy> for Energy {
    fn from(e: SoftEnergy) -> Self {
        Self { kinetic: e.kinetic, tissue: e.tissue, potential: e.potential }
    }
}

impl Energy {
    fn text(&self) -> String {
        let [k, t, p] = [self.kinetic, self.tissue, self.potential].map(short);
        format!("kinetic {k}, tissue {t}, weights and springs {p}")
    }
}

impl Report {
    /// Of a run from the start, with its energy and momentum there, to where it stopped, perhaps
    /// before its end; `elapsed` of the clock, s.
    pub fn new(
        scene: &mut TissueScene,
        (start, momentum): (SoftEnergy, (DVec3, DVec3)),
        samples: usize,
        elapsed: f64,
        stopped: Option<String>,
    ) -> Self {
        let t = scene.totals();
        let energy = scene.energy().into();
        let s = &scene.simulation;
        let poses = s.link_poses();
        let links = s.mechanism().moving_links().filter(|(_, l)| !l.auxiliary);
        let x = &s.state().x;
        let center = x.iter().sum::<DVec3>() / x.len() as f64;
        let bound = |f: fn(DVec3, DVec3) -> DVec3| x.iter().fold(x[0], |m, x| f(m, *x)).to_array();
        let pair = |(p, l): (DVec3, DVec3)| [p.to_array(), l.to_array()];
        let duration = scene.time();
        Self {
            scene: scene.spec.title.clone(),
            status: if stopped.is_some() { "stopped" } else { "completed" },
            message: stopped,
            steps: t.steps,
            parts: t.parts,
            step: scene.spec.world.step(),
            duration,
            newton_steps: t.newton,
            line_search_cuts: t.cuts,
            unfinished_steps: t.unfinished,
            decomposed_share: t.decomposed as f64 / t.points.max(1) as f64,
            max_touching: t.touching,
            max_penetration: t.overlap,
            largest_contact_force: t.force,
            inexact_contacts: t.inexact,
            start_energy: start.into(),
            energy,
            start_momentum: pair(momentum),
            momentum: pair(s.momentum()),
            seconds_per_step: elapsed / t.steps.max(1) as f64,
            real_time_factor: if elapsed > 0.0 { duration / elapsed } else { 0.0 },
            samples,
            links: links.map(|(id, l)| LinkPose::new(&l.name, &poses[id.index()])).collect(),
            tissue_center: center.to_array(),
            tissue_box: [bound(DVec3::min), bound(DVec3::max)],
            notes: scene.notes.clone(),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("scene", &self.scene);
        out.line("status", self.status);
        if let Some(message) = &self.message {
            out.line("", message);
        }
        let [steps, parts, step] =
            [self.steps.to_string(), self.parts.to_string(), short(self.step)];
        out.line("steps", format!("{steps} of {step} s, in {parts} parts"));
        out.line("time (s)", short(self.duration));
        out.line("elements decomposed", short(self.decomposed_share));
        if self.unfinished_steps > 0 {
            out.line("steps above tolerance", self.unfinished_steps);
        }
        let Self { max_touching, inexact_contacts, .. } = self;
        out.line(
            "contacts",
            format!("at most {max_touching} vertices, {inexact_contacts} inexact"),
        );
        out.line("deepest overlap (m)", short(self.max_penetration));
        out.line("largest contact force (N)", short(self.largest_contact_force));
        out.line("energy at the start (J)", self.start_energy.text());
        out.line("energy at the end (J)", self.energy.text());
        let [p, l] = self.momentum.map(|v| v.map(short).join(", "));
        out.line("momentum at the end", format!("({p}) N·s, ({l}) N·m·s"));
        let [low, high] = self.tissue_box.map(|v| v.map(short).join(", "));
        out.line("tissue between (m)", format!("({low}) and ({high})"));
        let (speed, factor) = (short(1e6 * self.seconds_per_step), short(self.real_time_factor));
        out.line("speed", format!("{speed} µs per step, {factor} times real time"));
        if !self.links.is_empty() {
            let table = LinkPose::table("link", &self.links);
            out.block(format_args!("positions at the end\n{table}"));
        }
        if !self.notes.is_empty() {
            out.block(format_args!("notes\n{}\n", self.notes.join("\n")));
        }
        out.finish()
    }
}
