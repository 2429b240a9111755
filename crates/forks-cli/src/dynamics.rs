//! `forks dynamics`: mass matrix, bias forces, accelerations and energy in a state.

use std::process::ExitCode;

use forks_dynamics::{
    MechanismEnergy,
    constrained::{ConstrainedDynamics, DynamicsStatus},
    mass_matrix,
};
use forks_io::{Align, TextTable};
use forks_mechanism::Mechanism;
use serde::Serialize;

use crate::{
    args::DynamicsArgs,
    error::CliError,
    model::Model,
    mujoco::FreeJoints,
    output::{self, Text, short},
    released::released_note,
};

/// Runs the command.
pub(crate) fn run(args: &DynamicsArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let m = model.moving(&args.model, args.servos, None)?;
    let report = Report::new(&m, &model)
        .map_err(|problem| CliError::NoAccelerations { path: args.model.path.clone(), problem })?;
    report.warnings.iter().for_each(|w| output::warn(w));
    output::print(&report, args.model.json, Report::text)
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    /// `mujoco`, or `name`: depth first, the joints of a link by name.
    coordinate_order: &'static str,
    /// The joint of every velocity.
    velocity_joints: Vec<String>,
    qpos: Vec<f64>,
    qvel: Vec<f64>,
    mass_matrix: Vec<Vec<f64>>,
    bias: Vec<f64>,
    acceleration: Vec<f64>,
    energy: EnergyEntry,
    constraint_rows: usize,
    constraint_rank: usize,
    constraint_multipliers: Vec<f64>,
    closure_residual: f64,
    warnings: Vec<String>,
}

/// Energy by kind, J.
#[derive(Debug, Serialize)]
pub(crate) struct EnergyEntry {
    pub(crate) kinetic: f64,
    pub(crate) gravitational: f64,
    pub(crate) elastic: f64,
}

impl EnergyEntry {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let [kinetic, gravitational, elastic] =
            [self.kinetic, self.gravitational, self.elastic].map(short);
        format!("{kinetic} kinetic, {gravitational} gravitational, {elastic} elastic")
    }
}

impl From<MechanismEnergy> for EnergyEntry {
    fn from(e: MechanismEnergy) -> Self {
        Self { kinetic: e.kinetic, gravitational: e.gravitational, elastic: e.elastic }
    }
}

impl Report {
    fn new(m: &Mechanism, model: &Model) -> Result<Self, String> {
        let q = &model.positions[..m.tree_position_count()];
        let free = FreeJoints::new(m, q);
        let mut v = model.velocities.clone();
        free.to_body(&mut v);
        let dynamics = ConstrainedDynamics::new(m);
        let mut work = dynamics.workspace();
        let n = v.len();
        let solution = dynamics.accelerations(q, &v, &vec![0.0; n], &[], &mut work);
        let mut warnings: Vec<String> = released_note(m).into_iter().collect();
        match solution.status {
            DynamicsStatus::Solved => {}
            DynamicsStatus::Inconsistent => {
                warnings.push(
                    "the velocities violate the loops; no acceleration satisfies them".into(),
                );
            }
            DynamicsStatus::Massless(joint) => {
                return Err(format!("no mass resists joint {}", m.joint_label(joint)));
            }
            _ => return Err("numbers overflow".into()),
        }
        let closure_residual = dynamics.loop_gap(q, &mut work);
        if closure_residual > 1e-6 {
            warnings.push(format!("the loops are open by {} of the size", short(closure_residual)));
        }
        let mass = mass_matrix(m, &model.positions).block(0, 0, n, n);
        let bias = dynamics.bias(q, &v, &mut work);
        let owners = m.forest().edges().iter().flat_map(|e| vec![e.joint; m.joint(e.joint).dof()]);
        let mut owners: Vec<(usize, String)> =
            owners.map(|j| (m.velocity_range(j).start, m.joint_label(j))).collect();
        owners.sort_by_key(|(first, _)| *first);
        Ok(Self {
            coordinate_order: model.order.name(),
            velocity_joints: owners.into_iter().map(|(_, name)| name).collect(),
            qpos: q.to_vec(),
            qvel: model.velocities.clone(),
            mass_matrix: free.mass(&mass).to_rows(),
            bias: free.bias(&v, &mass, &bias),
            acceleration: free.acceleration(&v, &solution.acceleration),
            energy: dynamics.energy(q, &v, &mut work).into(),
            constraint_rows: solution.rows,
            constraint_rank: solution.rank,
            constraint_multipliers: solution.multipliers,
            closure_residual,
            warnings,
        })
    }

    fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("kinetic energy (J)", short(self.energy.kinetic));
        out.line("gravitational energy (J)", short(self.energy.gravitational));
        out.line("elastic energy (J)", short(self.energy.elastic));
        out.line(
            "constraints",
            format!("{} of rank {}", self.constraint_rows, self.constraint_rank),
        );
        let mut table = TextTable::new()
            .column("joint", Align::Left)
            .columns(["coordinate", "velocity", "inertia", "bias", "acceleration"], Align::Right);
        for i in 0..self.qvel.len() {
            table.push([
                self.velocity_joints[i].clone(),
                i.to_string(),
                short(self.qvel[i]),
                short(self.mass_matrix[i][i]),
                short(self.bias[i]),
                short(self.acceleration[i]),
            ]);
        }
        let order = match self.coordinate_order {
            "mujoco" => "MuJoCo's coordinates",
            _ => {
                "coordinates, depth first, the joints of a link by name (--order mujoco: as in the \
                file)"
            }
        };
        out.block(format_args!("{order}\n{table}"));
        out.finish()
    }
}
