//! Recordings of driven scenes: targets, their ways, and what is watched.

use forks_io::animation::Series;
use forks_record::{Beside, Recording};
use forks_sim::StepReport;

use crate::direct::Direct;

/// Targets along their ways, as so many dots.
const DOTS: usize = 200;

impl Direct {
    /// A recording of the scene as it is now, with what drives it.
    pub fn recording(&self) -> Recording {
        let series = self.watched().map(|(m, w)| Series::new(format!("{m}: {}", w.name), w.unit));
        let marks = self.marks();
        let mut dots: Vec<_> = self.ways(DOTS).into_iter().map(|m| m.place).collect();
        dots.dedup();
        let beside = Beside {
            series: series.collect(),
            values: self.watched().map(|(_, w)| w.now).collect(),
            names: marks.iter().map(|m| format!("target of {}", m.name)).collect(),
            places: marks.iter().map(|m| m.place).collect(),
            dots,
        };
        Recording::with(&self.scene, beside)
    }

    /// Records what a step made; `last` of a run is recorded whenever it comes.
    pub fn record(&self, recording: &mut Recording, report: &StepReport, last: bool) {
        let places = self.marks().into_iter().map(|m| m.place).collect();
        recording.show(self.watched().map(|(_, w)| w.now), places);
        recording.after(&self.scene, report, last);
    }
}
