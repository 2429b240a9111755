//! `contact/pgs`: sweeps and time of projected Gauss–Seidel against the number of contacts, from
//! nothing and from nearly the solution.
//!
//! Unit boxes lie side by side on a plane under gravity with four contacts each, in rows of eight
//! that touch each other, and are pushed along the row: friction and normal forces couple the whole
//! row.

use std::path::Path;

use forks_contact::{
    Contact, ContactError, ContactProblem, Friction, Method, Report, Settings, Side, Solver,
    lie::{
        SpatialInertia, Twist,
        glam::{DMat3, DVec3},
    },
    point_jacobian,
};
use forks_io::{Cell, CsvTable};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
};
use crate::svg::{Axis, LinePlot, PlotError, Series, Stroke};

const BOXES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const ROW: usize = 8;
/// Time step, s.
const H: f64 = 1e-3;
/// The load of the next step differs by a per cent.
const NEARLY: f64 = 1.01;

/// One size.
struct Row {
    contacts: usize,
    cold: Report,
    warm: Report,
    cold_us: f64,
    warm_us: f64,
}

/// One case per number of contacts; with a report a table and two plots.
pub(super) fn scaling(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let (mut cases, mut rows) = (Vec::new(), Vec::new());
    for boxes in BOXES {
        let (case, row) = size(name, context, boxes).map_err(|e| e.to_string())?;
        cases.push(case);
        rows.push(row);
    }
    if let Some(dir) = context.report {
        report(dir, &rows).map_err(|e| e.to_string())?;
    }
    Ok(cases)
}

fn size(name: &str, context: &Context<'_>, boxes: usize) -> Result<(Case, Row), ContactError> {
    let mut problem = scene(boxes)?;
    let mut solver = Solver::new();
    let settings = Settings {
        method: Method::GaussSeidel,
        tolerance: 1e-4,
        max_sweeps: 10_000,
        ..Settings::default()
    };
    let cold = solver.solve(&problem, &settings);
    let cold_time = time(context.batch, || solver.solve(&problem, &settings));
    for id in problem.constraint_ids() {
        let nearly: Vec<f64> = solver.impulse(id)?.iter().map(|x| NEARLY * x).collect();
        problem.set_warm_start(id, &nearly)?;
    }
    let warm = solver.solve(&problem, &settings);
    let warm_time = time(context.batch, || solver.solve(&problem, &settings));
    let contacts = problem.constraint_count();
    let mut case = Case::new(
        &format!("{name}/contacts-{contacts}"),
        boxes,
        1,
        cold_time,
        "Gauss–Seidel from nothing to a relative residual of 1e-4, boxes in rows of eight",
    );
    case.dt = Some(H);
    case.figure("sweeps", cold.sweeps as f64);
    case.figure("ns per sweep and contact", cold_time.ns / (cold.sweeps.max(1) * contacts) as f64);
    case.figure("relative residual", cold.relative_residual);
    case.figure("from nearly the solution: ns", warm_time.ns);
    case.figure("from nearly the solution: sweeps", warm.sweeps as f64);
    // On a busy machine computing time is what counts.
    let us = |t: Timing| 1e-3 * t.cpu_ns.unwrap_or(t.ns);
    let (cold_us, warm_us) = (us(cold_time), us(warm_time));
    Ok((case, Row { contacts, cold, warm, cold_us, warm_us }))
}

fn report(dir: &Path, rows: &[Row]) -> Result<(), PlotError> {
    let columns = [
        "contacts",
        "sweeps_cold",
        "us_cold",
        "sweeps_warm",
        "us_warm",
        "us_per_sweep",
        "relative_residual",
    ];
    let mut table = CsvTable::new(columns);
    for r in rows {
        let numbers = [
            r.contacts as f64,
            r.cold.sweeps as f64,
            r.cold_us,
            r.warm.sweeps as f64,
            r.warm_us,
            r.cold_us / r.cold.sweeps.max(1) as f64,
            r.cold.relative_residual,
        ];
        table.push(numbers.map(Cell::from))?;
    }
    table.save(dir.join("contact-pgs.csv"))?;
    let plot = |title: &str, y: Axis, value: &dyn Fn(&Row) -> [f64; 2]| {
        let points = |i: usize| rows.iter().map(move |r| [r.contacts as f64, value(r)[i]]);
        LinePlot::new(title, Axis::logarithmic("contacts", ""), y)
            .series(Series::new("from nothing", points(0)).marks())
            .series(Series::new("from 1 % beside", points(1)).stroke(Stroke::Dashed).marks())
    };
    plot("Sweeps of Gauss–Seidel", Axis::logarithmic("sweeps", ""), &|r| {
        [r.cold.sweeps, r.warm.sweeps].map(|s| s as f64)
    })
    .save(dir.join("contact-pgs-sweeps.svg"))?;
    plot("Time of Gauss–Seidel", Axis::logarithmic("computing time of a solve", "µs"), &|r| {
        [r.cold_us, r.warm_us]
    })
    .save(dir.join("contact-pgs-time.svg"))
}

fn scene(boxes: usize) -> Result<ContactProblem, ContactError> {
    let mut problem = ContactProblem::new(H)?;
    let inertia =
        SpatialInertia::new(1.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(1.0 / 6.0)));
    let floor = Contact::new(Friction::Cone { mu: 0.5 });
    let wall = Contact::new(Friction::Cone { mu: 0.3 });
    let corners = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)];
    let mut last = None;
    for b in 0..boxes {
        let push = if b % ROW == 0 { 30.0 } else { 0.0 };
        let linear = H * DVec3::new(push, 0.0, -9.81);
        let body = problem.add_rigid_body(&inertia, Twist { linear, angular: DVec3::ZERO })?;
        for (x, y) in corners {
            let point = DVec3::new(x, y, -0.5);
            let jacobian = point_jacobian(point, [DVec3::Z, DVec3::X, DVec3::Y], 1.0);
            problem.add_contact(&floor, &[Side::of(body, &jacobian)])?;
        }
        if let Some(before) = last.filter(|_| b % ROW != 0) {
            for (y, z) in corners {
                let axes = [DVec3::X, DVec3::Y, DVec3::Z];
                let ours = point_jacobian(DVec3::new(-0.5, y, z), axes, 1.0);
                let theirs = point_jacobian(DVec3::new(0.5, y, z), axes, -1.0);
                let sides = [Side::of(body, &ours), Side::of(before, &theirs)];
                problem.add_contact(&wall, &sides)?;
            }
        }
        last = Some(body);
    }
    Ok(problem)
}
