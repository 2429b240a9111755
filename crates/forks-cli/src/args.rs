//! Command-line arguments.

use std::{convert::Infallible, path::PathBuf, str::FromStr};

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Reduced models of compliant articulated mechanisms.
///
/// Quantities are in SI units and radians. Twists and wrenches have their linear part first.
#[derive(Debug, Parser)]
#[command(name = "forks", version, about, long_about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show links, joints, loops and mobility of a model, and what of the file is not represented exactly
    Inspect(InspectArgs),
    /// Reduce a model to its end effectors: rank, compliance, mass, frequencies, maps to every link
    Reduce(ReduceArgs),
    /// Solve the static equilibrium under a wrench on a link, and compare the reduced model with it
    Statics(StaticsArgs),
    /// Accelerations in a state, with mass matrix, bias forces and energy, in MuJoCo's coordinates
    Dynamics(DynamicsArgs),
    /// Let a model move under gravity, springs and dampers, and record poses, energies and loop gap
    Simulate(SimulateArgs),
}

/// Arguments of `forks simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// How long, s
    #[arg(long, value_name = "T", value_parser = duration)]
    pub(crate) time: f64,

    /// Length of a step, s; the adaptive integrator chooses its own steps within it
    #[arg(long, value_name = "H", value_parser = duration)]
    pub(crate) step: f64,

    /// Scheme of integration
    #[arg(long, value_enum, default_value_t = IntegratorChoice::Implicit)]
    pub(crate) integrator: IntegratorChoice,

    /// Error per step that the adaptive integrator allows, relative to 1 + |coordinate|
    #[arg(long, value_name = "E", value_parser = duration, default_value = "1e-9")]
    pub(crate) tolerance: f64,

    /// Servos act as springs and dampers that rest at the start state; otherwise they are left out
    #[arg(long)]
    pub(crate) servos: bool,

    /// Write poses of all links, energies and loop gap: JSON if the name ends in .json, CSV otherwise
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Record every N-th step only (the last one in any case)
    #[arg(long, value_name = "N", value_parser = count, default_value = "1")]
    pub(crate) every: usize,
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

/// Arguments of `forks dynamics`.
#[derive(Debug, Args)]
pub(crate) struct DynamicsArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// Servos act as springs and dampers that rest at the start state; otherwise they are left out
    #[arg(long)]
    pub(crate) servos: bool,
}

/// Arguments of `forks reduce`.
#[derive(Debug, Args)]
pub(crate) struct ReduceArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) springs: SpringOptions,

    /// End effectors: link names, or site:NAME for the frame of a site; the model comes before them
    #[arg(long, required = true, num_args = 1.., value_name = "LINK")]
    pub(crate) effector: Vec<String>,

    /// Linearise at the static equilibrium under gravity and spring preloads instead of the start state
    #[arg(long)]
    pub(crate) equilibrium: bool,

    /// How the reduced mass is made
    #[arg(long, value_enum, default_value_t = MassChoice::Condensed)]
    pub(crate) mass: MassChoice,

    /// List every link's largest displacement per unit wrench (the JSON always holds all maps)
    #[arg(long)]
    pub(crate) links: bool,
}

/// How the reduced mass is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MassChoice {
    /// Mass of the static shapes
    Condensed,
    /// Mass felt at infinite frequency
    Accelerability,
}

/// Arguments of `forks statics`.
#[derive(Debug, Args)]
pub(crate) struct StaticsArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) springs: SpringOptions,

    /// The loaded link, or site:NAME for the frame of a site
    #[arg(long, value_name = "LINK")]
    pub(crate) effector: String,

    /// Force (N) and torque (N·m) at the effector's origin
    #[arg(long, value_name = "fx,fy,fz,tx,ty,tz", allow_hyphen_values = true, value_parser = wrench)]
    pub(crate) wrench: [f64; 6],

    /// Axes in which the wrench keeps its components while the link moves
    #[arg(long, value_enum, default_value_t = FrameChoice::World)]
    pub(crate) frame: FrameChoice,

    /// Leave out gravity
    #[arg(long)]
    pub(crate) no_gravity: bool,

    /// How the loads are brought up
    #[arg(long = "path", value_enum, default_value_t = PathChoice::EqualSteps)]
    pub(crate) load_path: PathChoice,
}

/// How loads are brought up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathChoice {
    /// Ten equal steps of plain Newton iterations, as other tools do; may end at a saddle (status
    /// unstable). Where this fails, the continuous path is taken
    EqualSteps,
    /// The stable branch, followed in steps that the tangent controls
    Continuous,
}

/// Axes of a wrench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FrameChoice {
    /// World axes
    World,
    /// The effector's own axes
    Body,
}

/// Arguments of `forks inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,
}

/// Which model, in which state, and how to answer; the same for all commands.
#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// The model: an MJCF or URDF file
    #[arg(value_name = "MODEL")]
    pub(crate) path: PathBuf,

    /// Start state instead of the model's own: a JSON file {"qpos": [...], "qvel": [...]} with MuJoCo's
    /// coordinates (qvel optional), or key:NAME for a keyframe of the model
    #[arg(long, value_name = "FILE.json|key:NAME")]
    pub(crate) state: Option<StateSource>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What resists motion besides the model's own springs.
#[derive(Debug, Args)]
pub(crate) struct SpringOptions {
    /// Give this stiffness to every coordinate of a non-free joint that has neither spring nor servo
    /// (N/m or N·m/rad; tendons do not count as springs)
    #[arg(long, value_name = "K", value_parser = stiffness, allow_hyphen_values = true)]
    pub(crate) default_stiffness: Option<f64>,

    /// Leave out servos; otherwise they are springs that rest at the start state
    #[arg(long)]
    pub(crate) no_servos: bool,
}

/// Where a state comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StateSource {
    /// A JSON file.
    File(PathBuf),
    /// A keyframe of the model.
    Key(String),
}

impl FromStr for StateSource {
    type Err = Infallible;

    fn from_str(s: &str) -> Result<Self, Infallible> {
        Ok(match s.strip_prefix("key:") {
            Some(name) => Self::Key(name.into()),
            None => Self::File(s.into()),
        })
    }
}

fn wrench(s: &str) -> Result<[f64; 6], String> {
    let parts: Vec<&str> = s.split(',').collect();
    if parts.len() != 6 {
        return Err(format!("a wrench is six numbers fx,fy,fz,tx,ty,tz, not {}", parts.len()));
    }
    let mut out = [0.0; 6];
    for (x, part) in out.iter_mut().zip(parts) {
        let number: f64 = part.trim().parse().map_err(|e| format!("'{part}': {e}"))?;
        if !number.is_finite() {
            return Err(format!("'{part}' is not a finite number"));
        }
        *x = number;
    }
    Ok(out)
}

fn duration(s: &str) -> Result<f64, String> {
    match s.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        Ok(_) => Err("expected a finite number above 0".into()),
        Err(e) => Err(e.to_string()),
    }
}

fn count(s: &str) -> Result<usize, String> {
    match s.parse::<usize>() {
        Ok(0) => Err("expected a number above 0".into()),
        other => other.map_err(|e| e.to_string()),
    }
}

fn stiffness(s: &str) -> Result<f64, String> {
    match s.parse::<f64>() {
        Ok(k) if k.is_finite() && k >= 0.0 => Ok(k),
        Ok(_) => Err("a stiffness is a finite number and not negative".into()),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn states_are_files_or_keyframes() {
        assert_eq!("a/b.json".parse(), Ok(StateSource::File("a/b.json".into())));
        assert_eq!("key:home".parse(), Ok(StateSource::Key("home".into())));
        assert_eq!("key:".parse(), Ok(StateSource::Key(String::new())));
    }

    #[test]
    fn a_wrench_is_six_finite_numbers() {
        assert_eq!(wrench("1,-2, 3,0,0,1e-3"), Ok([1.0, -2.0, 3.0, 0.0, 0.0, 1e-3]));
        for bad in ["", "1,2,3", "1,2,3,4,5,6,7", "1,2,3,4,5,x", "nan,0,0,0,0,0", "0,0,0,0,0,inf"] {
            assert!(wrench(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_and_counts_are_positive() {
        assert_eq!(duration("0.001"), Ok(0.001));
        for bad in ["0", "-1", "nan", "inf", "x"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(count("3"), Ok(3));
        assert!(count("0").is_err() && count("-1").is_err());
    }

    #[test]
    fn a_stiffness_is_finite_and_not_negative() {
        assert_eq!(stiffness("1e3"), Ok(1000.0));
        assert_eq!(stiffness("0"), Ok(0.0));
        for bad in ["-1", "nan", "inf", "", "1,5"] {
            assert!(stiffness(bad).is_err(), "{bad}");
        }
    }
}
