//! The loads of all mechanisms in one table, and their static errors in one plot.

use forks_io::{Cell, CsvTable};

use super::Judged;
use crate::{
    svg::{Axis, LinePlot, Series, Stroke},
    validate::record::Recorder,
};

/// Errors are drawn from here to there.
const DRAWN: (f64, f64) = (1e-6, 100.0);

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
    let drawn = all.iter().filter(|j| !j.loads.is_empty());
    let drawn = drawn.fold(None, |plot: Option<LinePlot>, j| {
        let points = j.loads.iter().map(|l| {
            let error = if l.statics.is_finite() { l.statics } else { DRAWN.1 };
            [l.displacement, error.clamp(DRAWN.0, DRAWN.1)]
        });
        let plot = plot.unwrap_or_else(|| {
            let x = Axis::linear("relative displacement", "");
            let y = Axis::logarithmic("static error over the displacement", "");
            LinePlot::new("Blends of the families at unseen loads", x, y)
        });
        Some(plot.series(Series::new(j.name.as_str(), points).stroke(Stroke::None).marks()))
    });
    match (drawn, file("static-errors", "svg")) {
        (Some(plot), Some(path)) => plot.save(path).map_err(|e| e.to_string()),
        _ => Ok(()),
    }
}
