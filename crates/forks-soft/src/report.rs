//! What a blend of tissue is worth, for people and programs.

use forks_io::{Align, Text, TextTable, short};
use forks_mechanism::lie::glam::DVec3;
use serde::Serialize;

use crate::PlacedBlend;

/// The answer; field names are part of the program's interface.
#[derive(Clone, Debug, Serialize)]
pub struct BlendReport {
    /// End effectors; the first is loaded.
    pub effectors: Vec<String>,
    /// Largest force of the cone, N.
    pub largest_force: f64,
    /// Forces at the samples, world axes, N.
    pub samples: Vec<[f64; 3]>,
    /// Loads that it was made for.
    pub training: Vec<LoadError>,
    /// Loads between these.
    pub unseen: Vec<LoadError>,
    /// Largest error of a vertex over the largest displacement; null where there is no rest.
    pub worst_error: Option<f64>,
    /// Error that was asked for.
    pub tolerance: f64,
    /// True if it holds at all loads.
    pub reached: bool,
    /// What may not have been meant.
    pub warnings: Vec<String>,
}

/// A load with the error of the worst vertex there.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LoadError {
    /// World axes, N.
    pub force: [f64; 3],
    /// Over the largest displacement; null where the blend finds no rest.
    pub error: Option<f64>,
}

impl BlendReport {
    /// Of a blend.
    pub fn new(
        placed: &PlacedBlend,
        effectors: &[String],
        largest_force: f64,
        tolerance: f64,
        warnings: Vec<String>,
    ) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        let loads = |all: &[(DVec3, f64)]| {
            all.iter().map(|(f, e)| LoadError { force: f.to_array(), error: finite(*e) }).collect()
        };
        let worst = placed.worst();
        Self {
            effectors: effectors.to_vec(),
            largest_force,
            samples: placed.samples.iter().map(DVec3::to_array).collect(),
            training: loads(&placed.errors),
            unseen: loads(&placed.unseen),
            worst_error: finite(worst),
            tolerance,
            reached: worst <= tolerance,
            warnings,
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = Text::new(19);
        out.line("effectors", self.effectors.join(", "));
        out.line("largest force", format!("{} N", short(self.largest_force)));
        let percent = |e: Option<f64>| e.map_or("no rest".into(), |e| short(100.0 * e));
        let worst = percent(self.worst_error);
        let asked = short(100.0 * self.tolerance);
        out.line(
            "worst vertex",
            format!("{worst} % of the largest displacement ({asked} % asked)"),
        );
        let axes = ["fx (N)", "fy (N)", "fz (N)"];
        let row = |f: &[f64; 3]| f.iter().map(|x| short(*x)).collect::<Vec<_>>();
        let mut samples = TextTable::new().columns(axes, Align::Right);
        for f in &self.samples {
            samples.push(row(f));
        }
        let table = |loads: &[LoadError]| {
            let mut table =
                TextTable::new().columns(axes, Align::Right).column("error (%)", Align::Right);
            for l in loads {
                let mut cells = row(&l.force);
                cells.push(percent(l.error));
                table.push(cells);
            }
            table
        };
        out.tables([
            ("samples", samples),
            ("loads that it was made for", table(&self.training)),
            ("loads between them", table(&self.unseen)),
        ]);
        out.finish()
    }
}
