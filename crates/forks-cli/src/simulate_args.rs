//! Arguments of `forks simulate`.

use std::path::PathBuf;

use clap::{
    ArgGroup, ArgMatches, Args, Command, Error, ValueEnum, error::ErrorKind, parser::ValueSource,
};
use forks_rom::{Elasticity, Scheme};
use forks_sim::JointForces;

use crate::{
    args::{FrameChoice, ModelOptions, StateSource},
    link_load::LinkLoad,
    parse::{count, duration, stiffness, wrench},
    read_args::ReadOptions,
    scene,
};

/// Arguments of `forks simulate`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("load").multiple(true)))]
pub(crate) struct SimulateArgs {
    /// The model, an MJCF or URDF file; or a scene, a TOML file
    #[arg(value_name = "MODEL|SCENE.toml", required_unless_present = "reduced")]
    pub(crate) path: Option<PathBuf>,

    /// Step a reduced model or a blend instead, a file that `forks reduce -o` or `forks blend -o`
    /// wrote
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["path", "state", "servos", "integrator", "tolerance", "ReadOptions"],
    )]
    pub(crate) reduced: Option<PathBuf>,

    /// Start state instead of the model's own: a JSON file {"qpos": [...], "qvel": [...]} with
    /// MuJoCo's coordinates, those of URDF in the order of --order (qvel optional), or key:NAME for
    /// a keyframe of the model
    #[arg(long, value_name = "FILE.json|key:NAME")]
    pub(crate) state: Option<StateSource>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// A load that is constant in time, at the origin of a link or of the frame of a site
    /// (site:NAME); of a reduced model at an end effector. Repeatable
    #[arg(
        long,
        value_name = "LINK=fx,fy,fz[,tx,ty,tz]",
        allow_hyphen_values = true,
        group = "load"
    )]
    pub(crate) force: Vec<LinkLoad>,

    /// Axes in which loads keep their components while the links move
    #[arg(long, value_enum, default_value_t = FrameChoice::World, requires = "load")]
    pub(crate) frame: FrameChoice,

    #[command(flatten)]
    pub(crate) run_time: RunTimeOptions,

    #[command(flatten)]
    pub(crate) read: ReadOptions,

    /// How long, s; needed but for scenes, which have a duration
    #[arg(long, value_name = "T", value_parser = duration, required_unless_present = "path")]
    pub(crate) time: Option<f64>,

    /// Length of a step, s; the adaptive integrator chooses its own steps within it. Needed but for
    /// scenes
    #[arg(long, value_name = "H", value_parser = duration, required_unless_present = "path")]
    pub(crate) step: Option<f64>,

    /// Scheme of integration
    #[arg(long, value_enum, default_value_t = IntegratorChoice::Implicit)]
    pub(crate) integrator: IntegratorChoice,

    /// Error per step that the adaptive integrator allows, relative to 1 + |coordinate|
    #[arg(long, value_name = "E", value_parser = duration, default_value = "1e-9")]
    pub(crate) tolerance: f64,

    /// Servos act as springs and dampers that rest at the start state; otherwise they are left out
    #[arg(long)]
    pub(crate) servos: bool,

    /// Put progressive springs beyond joints' limits, of this stiffness where a limit is passed by
    /// a twentieth of its range (N/m or N·m/rad); otherwise limits have no effect
    #[arg(
        long,
        value_name = "K",
        value_parser = stiffness,
        allow_hyphen_values = true,
        conflicts_with = "reduced",
    )]
    pub(crate) limits: Option<f64>,

    /// Joints of one axis stop at their limits, without rebound
    #[arg(long, conflicts_with_all = ["reduced", "limits", "integrator", "tolerance"])]
    pub(crate) stops: bool,

    /// The dry friction of the joints acts (frictionloss of MJCF, friction of URDF); otherwise it
    /// is left out
    #[arg(long, conflicts_with_all = ["reduced", "integrator", "tolerance"])]
    pub(crate) friction: bool,

    /// Write poses of all links, energies and loop gap: JSON if the name ends in .json, CSV
    /// otherwise; of a reduced model also a 3D page (.html) or glTF (.glb) that shows its links
    /// and, of tissue, its skin; repeatable. Of a scene: a 3D page (.html), glTF (.glb), JSON or
    /// CSV, by the name's ending, as many frames per second as the scene says; repeatable
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,

    /// Record every N-th step only (the last one in any case)
    #[arg(long, value_name = "N", value_parser = count, default_value = "1")]
    pub(crate) every: usize,

    #[command(flatten)]
    pub(crate) scene: SceneOptions,
}

/// Options of scenes alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of a scene")]
pub(crate) struct SceneOptions {
    /// Step mechanisms with all their joints by the full solver instead of reduced models, with the
    /// same contacts
    #[arg(long, conflicts_with = "reduced")]
    pub(crate) full: bool,

    /// Step tissue reduced with its skeletons to the pads that the file names, which alone touch;
    /// with --full beside all nodes, in one picture
    #[arg(long, conflicts_with = "reduced")]
    pub(crate) pads: bool,

    /// Write the scene as MJCF for other simulators, and beside it FILE.controls.csv with the
    /// controls of its actuators, 100 rows per second; what is not as in the scene goes to stderr
    #[arg(long, value_name = "FILE", conflicts_with = "reduced")]
    pub(crate) mjcf: Option<PathBuf>,
}

/// What scenes know of all that there is.
const FOR_SCENES: &[&str] = &["path", "time", "step", "json", "output", "full", "mjcf", "pads"];

/// What nothing but scenes knows.
const SCENES_ALONE: &[&str] = &["full", "mjcf", "pads"];

/// Arguments on the command line.
fn given(matches: &ArgMatches, command: &Command) -> Vec<String> {
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let options = command.get_arguments().map(|a| a.get_id().as_str().to_owned());
    options.filter(|id| id != "help" && given(id)).collect()
}

/// Refuses what scenes do not know.
pub(crate) fn only(
    known: &[&str],
    matches: &ArgMatches,
    command: &mut Command,
) -> Result<(), Error> {
    match given(matches, command).iter().find(|id| !known.contains(&id.as_str())) {
        None => Ok(()),
        Some(id) => {
            let option = id.replace('_', "-");
            let problem =
                format!("--{option} cannot be used with a scene, whose file says what happens\n");
            Err(command.error(ErrorKind::ArgumentConflict, problem))
        }
    }
}

/// Arguments that do not go together with what the file is.
pub(crate) fn check(
    args: &SimulateArgs,
    matches: &ArgMatches,
    command: &mut Command,
) -> Result<(), Error> {
    let is_scene = args.path.as_deref().is_some_and(scene::is_scene);
    if is_scene {
        only(FOR_SCENES, matches, command)?;
    }
    let given = given(matches, command);
    if let Some(id) = given.iter().find(|id| !is_scene && SCENES_ALONE.contains(&id.as_str())) {
        let problem = format!("--{} is for scenes alone\n", id.replace('_', "-"));
        return Err(command.error(ErrorKind::ArgumentConflict, problem));
    }
    if !is_scene && (args.time.is_none() || args.step.is_none()) {
        let problem = "--time <T> and --step <H> are needed but for scenes\n";
        return Err(command.error(ErrorKind::MissingRequiredArgument, problem));
    }
    if !is_scene && args.reduced.is_none() && args.output.len() > 1 {
        let problem = "-o can be repeated for scenes and reduced models alone\n";
        return Err(command.error(ErrorKind::ArgumentConflict, problem));
    }
    Ok(())
}

impl SimulateArgs {
    /// Time and step of a model, which [`check`] has seen to be there.
    pub(crate) fn pace(&self) -> (f64, f64) {
        (self.time.unwrap_or_default(), self.step.unwrap_or_default())
    }

    /// What acts in joints beside springs.
    pub(crate) fn joint_forces(&self) -> JointForces {
        JointForces { limits: self.stops, friction: self.friction }
    }

    /// What is needed to load the full model; `None` where a reduced one is stepped.
    pub(crate) fn model(&self) -> Option<ModelOptions> {
        let (path, state) = (self.path.clone()?, self.state.clone());
        Some(ModelOptions { path, state, json: self.json, read: self.read.clone() })
    }
}

/// Options of `forks simulate --reduced` alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of a reduced model")]
pub(crate) struct RunTimeOptions {
    /// The loaded end effector; not needed where the model has only one
    #[arg(long, value_name = "NAME", requires_all = ["reduced", "wrench"])]
    pub(crate) effector: Option<String>,

    /// Force (N) and torque (N·m) at the effector's origin, constant in time
    #[arg(
        long,
        value_name = "fx,fy,fz,tx,ty,tz",
        allow_hyphen_values = true,
        value_parser = wrench,
        conflicts_with = "path",
        group = "load",
    )]
    pub(crate) wrench: Option<[f64; 6]>,

    /// Move a servo's target by this much from where it was at the linearisation pose; repeatable
    #[arg(
        long,
        value_name = "NAME=VALUE",
        allow_hyphen_values = true,
        value_parser = servo_target,
        conflicts_with = "path",
    )]
    pub(crate) servo: Vec<(String, f64)>,

    /// How a step is made
    #[arg(long, value_enum, default_value_t = SchemeChoice::Implicit, conflicts_with = "path")]
    pub(crate) scheme: SchemeChoice,

    /// How the elastic force depends on the displacement
    #[arg(long, value_enum, default_value_t = ElasticityChoice::Energy, conflicts_with = "path")]
    pub(crate) elasticity: ElasticityChoice,
}

/// Schemes of a reduced model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeChoice {
    /// Implicit Euler: first order, dissipative at any step
    Implicit,
    /// Exact for loads that are constant over a step
    Exponential,
}

/// Elastic forces of a reduced model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ElasticityChoice {
    /// The gradient of an energy: conservative
    Energy,
    /// Linear in displaced body axes, as first published; no energy belongs to it
    Linear,
}

impl SchemeChoice {
    /// As the command line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Implicit => "implicit",
            Self::Exponential => "exponential",
        }
    }
}

impl From<SchemeChoice> for Scheme {
    fn from(choice: SchemeChoice) -> Self {
        match choice {
            SchemeChoice::Implicit => Self::ImplicitEuler,
            SchemeChoice::Exponential => Self::Exponential,
        }
    }
}

impl ElasticityChoice {
    /// As the command line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Energy => "energy",
            Self::Linear => "linear",
        }
    }
}

impl From<ElasticityChoice> for Elasticity {
    fn from(choice: ElasticityChoice) -> Self {
        match choice {
            ElasticityChoice::Energy => Self::Energy,
            ElasticityChoice::Linear => Self::Linear,
        }
    }
}

/// Schemes of integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IntegratorChoice {
    /// Order 1, explicit
    SemiImplicitEuler,
    /// Order 4, explicit
    Rk4,
    /// Order 1, stable for stiff springs and dampers; energy never grows
    Implicit,
    /// Order 5 with error control, explicit
    Adaptive,
}

impl IntegratorChoice {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SemiImplicitEuler => "semi-implicit-euler",
            Self::Rk4 => "rk4",
            Self::Implicit => "implicit",
            Self::Adaptive => "adaptive",
        }
    }
}

fn servo_target(s: &str) -> Result<(String, f64), String> {
    let (name, value) = s.rsplit_once('=').ok_or("expected NAME=VALUE")?;
    match value.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok((name.into(), x)),
        Ok(_) => Err(format!("'{value}' is not a finite number")),
        Err(e) => Err(format!("'{value}': {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_servos_are_names_and_numbers() {
        assert_eq!(servo_target("a=b=-0.5"), Ok(("a=b".into(), -0.5)));
        for bad in ["a", "a=", "a=inf", "a=x"] {
            assert!(servo_target(bad).is_err(), "{bad}");
        }
    }
}
