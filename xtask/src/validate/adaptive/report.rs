//! Curves and tables of a sweep: \[R06\] Figures 6, 8 and 9, and Table 1.

use forks_io::{Cell, CsvTable};

use super::{Adaptive, Sweep};
use crate::{
    svg::{Axis, LinePlot, Series, Stroke},
    validate::record::Recorder,
};

/// Thresholds of Table 1.
const TABLE: [i32; 5] = [3, 7, 11, 15, 19];
/// Stands for zero on a logarithmic axis.
const ZERO: f64 = 1e-17;

/// What was measured for a number of forces.
pub(super) struct Line {
    pub(super) forces: usize,
    /// Solution of the full solver, s.
    pub(super) full_time: f64,
    pub(super) points: Vec<Point>,
}

/// What was measured at a threshold.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) exponent: i32,
    pub(super) plain: Run,
    pub(super) catching: Run,
}

impl Point {
    pub(super) fn error(&self) -> f64 {
        0.5f64.powi(self.exponent)
    }
}

/// Means over the steps of a run.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// s.
    pub(super) time: f64,
    pub(super) joints: f64,
    pub(super) visited: f64,
    pub(super) updated: f64,
    /// Largest certified error over ε.
    pub(super) certified: f64,
    /// True error over ε at the last state.
    pub(super) true_error: f64,
    /// Relative displacement error at the end.
    pub(super) displacement: f64,
}

pub(super) fn save(s: &Sweep, a: &Adaptive, lines: &[Line], out: &Recorder) -> Result<(), String> {
    if out.report_path("").is_none() {
        return Ok(());
    }
    let save_table = |table: CsvTable, file: &str| match out.report_path(file) {
        Some(path) => table.save(path).map_err(|e| e.to_string()),
        None => Ok(()),
    };
    save_table(all(s, lines).map_err(|e| e.to_string())?, "curves.csv")?;
    save_table(table1(s, lines).map_err(|e| e.to_string())?, "table1.csv")?;
    for (plot, file) in plots(s, a, lines) {
        if let Some(path) = out.report_path(file) {
            plot.save(path).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// Everything that was measured.
fn all(s: &Sweep, lines: &[Line]) -> Result<CsvTable, forks_io::IoError> {
    let mut table = CsvTable::new([
        "links",
        "steps",
        "forces",
        "exponent",
        "error threshold",
        "time per step (ms)",
        "joints computed",
        "nodes visited",
        "nodes updated",
        "relative displacement error",
        "time per step, catching up (ms)",
        "joints computed, catching up",
        "relative displacement error, catching up",
        "time of the full solver (ms)",
    ]);
    for line in lines {
        for p in &line.points {
            let exponent = usize::try_from(p.exponent).unwrap_or(0);
            let (a, b) = (p.plain, p.catching);
            let row: [Cell; 14] = [
                s.size.links.into(),
                s.size.steps.into(),
                line.forces.into(),
                exponent.into(),
                p.error().into(),
                (1e3 * a.time).into(),
                a.joints.into(),
                a.visited.into(),
                a.updated.into(),
                a.displacement.into(),
                (1e3 * b.time).into(),
                b.joints.into(),
                b.displacement.into(),
                (1e3 * line.full_time).into(),
            ];
            table.push(row)?;
        }
    }
    Ok(table)
}

/// The table as it is printed in \[R06\], with the displacements of steps that catch up below.
fn table1(s: &Sweep, lines: &[Line]) -> Result<CsvTable, forks_io::IoError> {
    let columns = ["quantity", "forces", "2^-3", "2^-7", "2^-11", "2^-15", "2^-19", "full solver"];
    let mut table = CsvTable::new(columns);
    type Quantity<'a> = (&'a str, fn(&Point) -> f64, fn(&Line, f64) -> f64);
    let quantities: [Quantity<'_>; 4] = [
        ("time (ms)", |p| 1e3 * p.plain.time, |l, _| 1e3 * l.full_time),
        ("joints computed", |p| p.plain.joints, |_, n| n),
        ("relative displacement error", |p| p.plain.displacement, |_, _| 0.0),
        ("relative displacement error, catching up", |p| p.catching.displacement, |_, _| 0.0),
    ];
    for (name, of, full) in quantities {
        for line in lines {
            let at = |i: i32| line.points.iter().find(|p| p.exponent == i).map(of);
            let mut row: Vec<Cell> = vec![name.into(), line.forces.into()];
            row.extend(TABLE.map(|i| Cell::from(at(i))));
            row.push(full(line, s.size.links as f64).into());
            table.push(row)?;
        }
    }
    Ok(table)
}

fn plots(s: &Sweep, a: &Adaptive, lines: &[Line]) -> Vec<(LinePlot, &'static str)> {
    let linkage = format!("{} of {} links", a.linkage.name(), s.size.links);
    let plot = |what: &str, y: Axis| {
        let x = Axis::logarithmic("relative joint acceleration error", "");
        LinePlot::new(format!("{what}, {linkage}"), x, y)
    };
    let steps = s.size.steps;
    let mut time = plot("Time per step", Axis::logarithmic("time", "ms"));
    let mut joints = plot("Joints computed per step", Axis::logarithmic("joints", ""));
    let error = || Axis::logarithmic("relative displacement error", "");
    let mut plain = plot(&format!("Displacement error after {steps} steps"), error());
    let mut caught =
        plot(&format!("Displacement error after {steps} steps, every 8th catching up"), error());
    for line in lines {
        let series = |of: fn(&Point) -> f64| {
            let points = line.points.iter().map(|p| [p.error(), of(p).max(ZERO)]);
            let plural = if line.forces == 1 { "" } else { "s" };
            Series::new(format!("{} force{plural}", line.forces), points).marks()
        };
        time = time.series(series(|p| 1e3 * p.plain.time));
        joints = joints.series(series(|p| p.plain.joints));
        plain = plain.series(series(|p| p.plain.displacement));
        caught = caught.series(series(|p| p.catching.displacement));
    }
    if let Some(line) = lines.first() {
        let full = |y: f64| {
            let points: Vec<[f64; 2]> = line.points.iter().map(|p| [p.error(), y]).collect();
            Series::new("full solver", points).stroke(Stroke::Dashed)
        };
        time = time.series(full(1e3 * line.full_time));
        joints = joints.series(full(s.size.links as f64));
    }
    vec![
        (time, "time.svg"),
        (joints, "joints.svg"),
        (plain, "displacement.svg"),
        (caught, "displacement-catching-up.svg"),
    ]
}
