//! `forks reduce`: the reduced model of a mechanism.

use std::{path::Path, process::ExitCode};

use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions},
};
use forks_io::{Align, TextTable, write_atomically};
use forks_mechanism::linalg::Matrix;
use forks_reduce::{
    Damping, Linearisation, Linearised, MassModel, Problem, ReduceError, ReduceOptions, Reduction,
};
use forks_rom::ReducedModel;
use serde::Serialize;

use crate::{
    args::{MassChoice, ReduceArgs},
    at_rest::{self, AtEquilibrium, OwnLoads, compared},
    error::CliError,
    model::Model,
    output::{self, Text, short},
    path_notes::path_notes,
    released::released_note,
};

/// A closure gap above this part of the mechanism's size is worth a warning.
const GAP_WARNING: f64 = 1e-6;

/// Runs the command.
pub(crate) fn run(args: &ReduceArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let args = &ReduceArgs { effector: model.effectors(&args.effector)?, ..args.clone() };
    let problem = match &args.superelement[..] {
        [] => model.problem(&args.model, &args.springs, &args.effector)?,
        files => model.problem_with(&args.model, &args.springs, &args.effector, files)?,
    };
    let loads = Loads::gravity();
    let equilibrium = match args.equilibrium {
        true => Some(equilibrium(args, &problem, &loads)?),
        false => None,
    };
    let at = match &equilibrium {
        Some(e) => Linearisation::equilibrium(e, &loads),
        None => problem.at_rest(),
    };
    if args.springs.limits.is_some() && !args.equilibrium {
        output::warn(
            "--limits has no effect at rest, where springs are unstressed: use --equilibrium",
        );
    }
    let mut report = match problem.reduce(at, &options(args)) {
        Ok(reduction) => {
            if let Some(path) = &args.output {
                save(&reduction.model, path)?;
            }
            let reduced = reduction.frequencies();
            Report::new(args, &problem, &reduction, Some(&reduction.model.data().mass), reduced)
        }
        // Without a file a mass that does not exist is an answer: null.
        Err(ReduceError::Massless | ReduceError::TooLarge { .. })
            if args.mass == MassChoice::Accelerability && args.output.is_none() =>
        {
            let mass = MassModel::Condensed;
            let reduction = problem.reduce(at, &ReduceOptions { mass, ..options(args) });
            let fail = |e| CliError::reduction(&args.model.path, &problem, e);
            Report::new(args, &problem, &reduction.map_err(fail)?, None, vec![])
        }
        Err(e) => return Err(CliError::reduction(&args.model.path, &problem, e)),
    };
    report.warnings.extend(released_note(problem.mechanism()));
    report.warnings.extend(equilibrium.map_or(vec![], |e| path_notes(problem.mechanism(), &e)));
    report.warnings.iter().for_each(|w| output::warn(w));
    output::print(&report, args.model.json, |r| r.text(args.links))
}

pub(crate) fn options(args: &ReduceArgs) -> ReduceOptions {
    let (rayleigh_mass, rayleigh_stiffness) = args.rayleigh.unwrap_or_default();
    let default = ReduceOptions::default();
    ReduceOptions {
        mass: match args.mass {
            MassChoice::Condensed => MassModel::Condensed,
            MassChoice::Accelerability => MassModel::Accelerability,
            MassChoice::CraigBampton(modes) => MassModel::CraigBampton { modes },
        },
        damping: Damping {
            rayleigh_mass,
            rayleigh_stiffness,
            modal_ratio: args.modal_damping,
            ..Damping::default()
        },
        range: args.range.unwrap_or(default.range),
        floating: args.floating,
        ..default
    }
}

/// Writes the model: JSON if the name ends in .json.
fn save(model: &ReducedModel, path: &Path) -> Result<(), CliError> {
    let is_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let bytes = if is_json { (model.to_json() + "\n").into_bytes() } else { model.to_bytes() };
    Ok(write_atomically(path, &bytes)?)
}

fn equilibrium(
    args: &ReduceArgs,
    problem: &Problem,
    loads: &Loads,
) -> Result<Equilibrium, CliError> {
    let e = problem.equilibrium(loads, &EquilibriumOptions::default());
    if e.status.is_equilibrium() {
        return Ok(e);
    }
    let why = e.explanation(problem.mechanism()).unwrap_or_default();
    let problem = format!("{}, {}", e.status.name(), at_rest::with_option(&why));
    Err(CliError::NoEquilibrium { path: args.model.path.clone(), problem })
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    effectors: Vec<String>,
    rank: usize,
    singular_values: Vec<f64>,
    /// σ_k / σ_{k+1} at the rank; null where nothing follows.
    rank_gap: Option<f64>,
    bounding_radius: f64,
    basis: Vec<Vec<f64>>,
    compliance: Vec<Vec<f64>>,
    inverse_mass: Option<Vec<Vec<f64>>>,
    mass: Option<Vec<Vec<f64>>>,
    damping: Vec<Vec<f64>>,
    frequencies_rad_s: Frequencies,
    closure_residual: f64,
    links: Vec<LinkMap>,
    /// Where the model is linearised.
    linearisation: Pose,
    /// Free joints that are held because nothing else holds their tree.
    held: Vec<String>,
    /// The base floats.
    floating: bool,
    /// Links of free bodies without an effector.
    left_out: Vec<String>,
    /// The equilibrium under gravity and spring preload where the model leaves these out and they
    /// matter.
    at_equilibrium: Option<AtEquilibrium>,
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Pose {
    /// Where it is: the start pose, a keyframe, the state of a file.
    start: String,
    /// True at the equilibrium under gravity and spring preload that is reached from there;
    /// otherwise the model has neither, its springs are at rest.
    equilibrium: bool,
    /// Gravity acts on the mechanism.
    has_gravity: bool,
    /// Springs are stressed at the start.
    has_preload: bool,
}

#[derive(Debug, Serialize)]
struct Frequencies {
    reduced: Vec<f64>,
    full: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct LinkMap {
    name: String,
    twist_map: Vec<Vec<f64>>,
}

impl Pose {
    fn text(&self) -> String {
        let loads = OwnLoads { gravity: self.has_gravity, preload: self.has_preload };
        match (self.equilibrium, loads.any()) {
            (true, true) => format!("the equilibrium under {} from {}", loads.name(), self.start),
            (true, false) => format!("the equilibrium without loads from {}", self.start),
            (false, true) => format!("{}, without {}", self.start, loads.name()),
            (false, false) => self.start.clone(),
        }
    }
}

impl Report {
    pub(crate) fn new(
        args: &ReduceArgs,
        problem: &Problem,
        reduction: &Reduction<'_>,
        mass: Option<&Matrix>,
        reduced: Vec<f64>,
    ) -> Self {
        let (m, linear, data) = (problem.mechanism(), &reduction.linear, reduction.model.data());
        let full = linear.full_frequencies();
        let links = m
            .moving_links()
            .filter(|(_, l)| !l.auxiliary)
            .map(|(id, l)| LinkMap {
                name: l.name.clone(),
                twist_map: linear.response.twists[id.index()].to_rows(),
            })
            .collect();
        let mut warnings = warnings(args, problem, linear);
        let loads = OwnLoads::of(problem);
        let start = Model::pose_name(&args.model);
        let mut at_equilibrium = None;
        // That of skeletons without their tissue says nothing.
        if !args.equilibrium && !args.floating && problem.attached.is_empty() {
            let printed = full.first().copied();
            if let Some((text, there)) = compared(problem, &start, loads, printed) {
                warnings.push(text);
                at_equilibrium = there;
            }
        }
        Self {
            effectors: args.effector.clone(),
            rank: linear.basis.rank,
            singular_values: linear.basis.singular_values.clone(),
            rank_gap: Some(linear.basis.gap).filter(|g| g.is_finite()),
            bounding_radius: linear.response.radius,
            basis: data.basis.to_rows(),
            compliance: linear.compliance.to_rows(),
            inverse_mass: linear.inverse_mass().as_ref().map(Matrix::to_rows),
            mass: mass.map(Matrix::to_rows),
            damping: data.damping.to_rows(),
            frequencies_rad_s: Frequencies { reduced, full },
            closure_residual: linear.closure_residual(),
            links,
            linearisation: Pose {
                start,
                equilibrium: args.equilibrium,
                has_gravity: loads.gravity,
                has_preload: loads.preload,
            },
            held: if args.floating { vec![] } else { at_rest::held(problem) },
            floating: args.floating,
            left_out: at_rest::left_out(problem),
            at_equilibrium,
            warnings,
        }
    }

    pub(crate) fn text(&self, with_links: bool) -> String {
        let mut out = Text::new(17);
        let list = |x: &[f64]| x.iter().map(|x| short(*x)).collect::<Vec<_>>().join(" ");
        out.line("effectors", self.effectors.join(", "));
        out.line("linearised at", self.linearisation.text());
        if self.floating {
            out.line("base", "floats");
        }
        if !self.held.is_empty() {
            out.line("held", format!("{}, as nothing else holds this tree", self.held.join(", ")));
        }
        out.line("rank", format!("{} of {}", self.rank, 6 * self.effectors.len()));
        let modes = self.basis.first().map_or(0, Vec::len) - self.rank;
        if modes > 0 {
            out.line("modes", format!("{modes} with the effectors held"));
        }
        out.line("singular values", list(&self.singular_values));
        out.line("bounding radius", format!("{} m", short(self.bounding_radius)));
        out.line("closure residual", short(self.closure_residual));
        let frequencies = |x: &[f64], none: &str| match x {
            [] => none.to_owned(),
            x => format!("{} rad/s", list(x)),
        };
        let Frequencies { reduced, full } = &self.frequencies_rad_s;
        out.line("frequencies", frequencies(reduced, "none: no motion of the effectors has mass"));
        out.line(
            "of the full one",
            frequencies(full, "none: no motion has mass, or there are too many"),
        );
        let names = ["x", "y", "z", "rx", "ry", "rz"];
        let mut table =
            TextTable::new().column("compliance", Align::Left).columns(names, Align::Right);
        for (i, row) in self.compliance.iter().enumerate() {
            let e = i / 6;
            let mut cells = vec![format!("{} {}", self.effectors[e], names[i % 6])];
            cells.extend(row[6 * e..6 * e + 6].iter().map(|x| short(*x)));
            table.push(cells);
        }
        out.block(format_args!("own compliance of each effector (m, rad per N, N·m)\n{table}"));
        if with_links {
            let mut links = TextTable::new()
                .column("link", Align::Left)
                .column("per force", Align::Right)
                .column("per torque", Align::Right);
            for l in &self.links {
                let largest = |torque: bool| {
                    let entries = l.twist_map.iter().take(3).flat_map(|r| r.iter().enumerate());
                    entries
                        .filter(|(j, _)| (j % 6 >= 3) == torque)
                        .fold(0.0f64, |m, (_, x)| m.max(x.abs()))
                };
                links.push([l.name.clone(), short(largest(false)), short(largest(true))]);
            }
            out.block(format_args!("largest displacement of each link (m/N, m/(N·m))\n{links}"));
        }
        out.finish()
    }
}

fn warnings(args: &ReduceArgs, problem: &Problem, linear: &Linearised<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for a in &problem.attached {
        out.extend(a.notes.iter().map(|n| format!("superelement '{}': {n}", a.element.name)));
    }
    for (i, name) in args.effector.iter().enumerate() {
        if args.effector[..i].contains(name) {
            out.push(format!("end effector '{name}' is given twice"));
        }
    }
    let limit = GAP_WARNING * linear.response.radius;
    let residual = linear.closure_residual();
    if residual > limit {
        out.push(format!(
            "loops are open by {} at the linearisation pose; the model is linearised as it stands",
            short(residual)
        ));
    }
    out.extend(at_rest::held_note(problem).filter(|_| !args.floating));
    out.extend(at_rest::left_out_note(&at_rest::left_out(problem)));
    out
}
