//! The text that `forks inspect SCENE.toml` shows to people.

use forks_io::{Align, TextTable};

use super::inspect::{ActionEntry, Inspection, MechanismEntry, ShapeEntry};
use crate::output::{Text, short};

/// Names that are listed; of more only the number is said.
const LISTED: usize = 6;

impl Inspection {
    /// The answer for people.
    pub(super) fn text(&self) -> String {
        let mut out = Text::new(17);
        out.line("scene", &self.scene);
        let substeps = if self.substeps > 1 {
            format!(" in {} parts each", self.substeps)
        } else {
            String::new()
        };
        let [duration, step] = [self.duration, self.step].map(short);
        out.line("time", format!("{duration} s, {} steps of {step} s{substeps}", self.steps));
        out.line("gravity (m/s²)", self.gravity.map(short).join(" "));
        for [a, b] in &self.ignored {
            out.line("passes through", format!("{a} and {b}"));
        }
        match &self.mjcf.refused {
            Some(reason) => out.line("as MJCF", format!("refused: {reason}")),
            None if self.mjcf.actuators.is_empty() => out.line("as MJCF", "no actuators"),
            None => out.line("as MJCF", format!("actuators: {}", listed(&self.mjcf.actuators))),
        }
        for paragraph in &self.about {
            out.block(format_args!("{paragraph}\n"));
        }
        out.tables(self.tables());
        for (title, notes) in [("notes", &self.notes), ("not as MJCF", &self.mjcf.notes)] {
            if !notes.is_empty() {
                out.block(format_args!("{title} ({})\n{}\n", notes.len(), notes.join("\n")));
            }
        }
        out.finish()
    }

    fn tables(&self) -> [(&'static str, TextTable); 5] {
        use Align::{Left, Right};
        let mut mechanisms = TextTable::new()
            .columns(["name", "kind", "source"], Left)
            .columns(["links", "dof", "reduced", "mass (kg)"], Right)
            .column("servos", Left);
        for m in &self.mechanisms {
            let [links, dof, reduced] = [m.links, m.dof, m.reduced_dof].map(|n| n.to_string());
            let (mass, servos) = (short(m.mass), listed(&m.servos));
            mechanisms.push([&m.name, m.kind, &m.source, &links, &dof, &reduced, &mass, &servos]);
        }
        let mut effectors =
            TextTable::new().columns(["name", "position (m)", "shapes", "friction"], Left);
        for m in &self.mechanisms {
            for e in &m.effectors {
                let [forms, friction] = described(&e.shapes);
                effectors.push([named(m, &e.name), place(&e.position), forms, friction]);
            }
        }
        let mut bodies = TextTable::new()
            .column("name", Left)
            .column("mass (kg)", Right)
            .columns(["position (m)", "shapes", "friction"], Left);
        for b in &self.bodies {
            let [forms, friction] = described(&b.shapes);
            bodies.push([b.name.clone(), short(b.mass), place(&b.position), forms, friction]);
        }
        let mut ground = TextTable::new()
            .column("name", Left)
            .column("form (m)", Left)
            .column("friction", Right);
        for s in &self.ground {
            ground.push([s.name.clone(), s.shown.clone(), short(s.friction)]);
        }
        let mut actions = TextTable::new()
            .columns(["what", "of", "on"], Left)
            .columns(["from (s)", "until (s)"], Right)
            .column("values", Left);
        for a in &self.actions {
            let [from, until] = [a.from, a.until].map(|t| t.map_or_else(String::new, short));
            let of = a.of.clone();
            actions.push([a.kind.to_owned(), of, listed(&a.on), from, until, values(a)]);
        }
        [
            ("mechanisms", mechanisms),
            ("effectors", effectors),
            ("bodies", bodies),
            ("ground", ground),
            ("actions", actions),
        ]
    }
}

fn named(m: &MechanismEntry, effector: &str) -> String {
    format!("{}/{effector}", m.name)
}

fn place(p: &[f64; 3]) -> String {
    p.map(|x| short((x * 1e6).round() / 1e6 + 0.0)).join(" ")
}

/// Some names, or how many there are.
fn listed(names: &[String]) -> String {
    match names.len() {
        0..=LISTED => names.join(", "),
        n => format!("{}, … ({n})", names[..LISTED / 2].join(", ")),
    }
}

/// Forms and frictions of several shapes.
fn described(shapes: &[ShapeEntry]) -> [String; 2] {
    let forms: Vec<String> = shapes.iter().map(|s| s.shown.clone()).collect();
    let mut friction: Vec<String> = shapes.iter().map(|s| short(s.friction)).collect();
    friction.dedup();
    [listed(&forms), friction.join(", ")]
}

/// What an action does.
fn values(a: &ActionEntry) -> String {
    let steps = a.range.map(|[low, high]| {
        if low == high { short(low) } else { format!("{} to {}", short(low), short(high)) }
    });
    let wave = a.frequency.map(|f| format!("oscillates at {} Hz", short(f)));
    steps.into_iter().chain(wave).collect::<Vec<_>>().join(", ")
}
