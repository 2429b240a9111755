//! The loads of all mechanisms in one table, and their static errors in one plot.

use forks_io::{Cell, CsvTable};

use super::{Judged, Load};
use crate::{
    svg::{Axis, LinePlot, Series, Stroke},
    validate::record::Recorder,
};

/// Errors are drawn from here to there.
const DRAWN: (f64, f64) = (1e-5, 10.0);
const INTERVALS: usize = 12;

/// `loads.csv`, `static-errors.svg`, and the files of generated mechanisms.
pub(super) fn write(all: &[Judged], out: &Recorder) -> Result<(), String> {
    let Some(path) = out.report_path("loads.csv") else { return Ok(()) };
    let mut table = CsvTable::new([
        "mechanism",
        "load",
        "fx (N)",
        "fy (N)",
        "fz (N)",
        "relative displacement",
        "static error",
        "constraint error",
        "end of the sudden load",
    ]);
    for j in all {
        for (k, l) in j.loads.iter().enumerate() {
            let finite = |x: f64| x.is_finite().then_some(x);
            let force = l.forces.first().map_or([0.0; 3], |f| f.1.to_array());
            let row: [Cell; 9] = [
                j.name.as_str().into(),
                k.into(),
                force[0].into(),
                force[1].into(),
                force[2].into(),
                l.displacement.into(),
                finite(l.statics).into(),
                finite(l.constraint).into(),
                l.sudden.map(|s| s.name()).into(),
            ];
            table.push(row).map_err(|e| e.to_string())?;
        }
    }
    table.save(path).map_err(|e| e.to_string())?;
    let file = |name: &str, ending: &str| out.report_path(&format!("{name}.{ending}"));
    for (name, text) in all.iter().filter_map(|j| j.text.as_ref().map(|t| (&j.name, t))) {
        let Some(path) = file(name, "xml") else { continue };
        forks_io::write_atomically(&path, text.as_bytes()).map_err(|e| e.to_string())?;
    }
    let drawn: Vec<&Judged> = all.iter().filter(|j| !j.loads.is_empty()).collect();
    let Some(path) = file("static-errors", "svg").filter(|_| !drawn.is_empty()) else {
        return Ok(());
    };
    let x = Axis::linear("relative displacement", "");
    let y = Axis::logarithmic("largest static error over the displacement", "");
    let mut plot = LinePlot::new("Blends of the families at unseen loads", x, y);
    for (k, j) in drawn.into_iter().enumerate() {
        // Colours repeat after eight.
        let stroke = [Stroke::Solid, Stroke::Dashed, Stroke::Dotted][(k / 8) % 3];
        plot = plot.series(Series::new(j.name.as_str(), envelope(&j.loads)).stroke(stroke));
    }
    plot.save(path).map_err(|e| e.to_string())
}

/// Largest errors over intervals of the displacement, at their middles.
fn envelope(loads: &[Load]) -> Vec<[f64; 2]> {
    let mut largest = [None::<f64>; INTERVALS];
    for l in loads {
        let k = ((l.displacement * INTERVALS as f64) as usize).min(INTERVALS - 1);
        let error = if l.statics.is_finite() { l.statics } else { DRAWN.1 };
        let error = error.clamp(DRAWN.0, DRAWN.1);
        largest[k] = Some(largest[k].map_or(error, |m| m.max(error)));
    }
    let middle = |k: usize| (k as f64 + 0.5) / INTERVALS as f64;
    largest.iter().enumerate().filter_map(|(k, e)| e.map(|e| [middle(k), e])).collect()
}
