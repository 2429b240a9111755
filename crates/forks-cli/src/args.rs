//! Arguments of commands, and those that several share.

use std::{convert::Infallible, path::PathBuf, str::FromStr};

use clap::{Args, ValueEnum};
use forks_dynamics::WrenchFrame;
use forks_rom::LoadFrame;

use crate::{
    link_load::LinkLoad,
    parse::{coefficient, count, duration, rayleigh, stiffness, wrench},
    read_args::ReadOptions,
};

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
#[derive(Clone, Debug, Args)]
#[command(mut_arg("path", |a| a.value_name("MODEL|TISSUE.toml")
    .help("The model, an MJCF or URDF file; or tissue on skeletons, a TOML file")))]
pub(crate) struct ReduceArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) springs: SpringOptions,

    /// End effectors: link names, or site:NAME for the frame of a site, of tissue its pads; the
    /// model comes before them. Default: those of the side file
    #[arg(long, num_args = 1.., value_name = "LINK")]
    pub(crate) effector: Vec<String>,

    /// Condensed compliant bodies between links: JSON, or TOML that names the matrices of another
    /// program (Matrix Market) and its interface nodes, see forks-condense; what rides on them may
    /// be an end effector
    #[arg(long, num_args = 1.., value_name = "FILE")]
    #[arg(conflicts_with_all = ["equilibrium", "floating"])]
    pub(crate) superelement: Vec<PathBuf>,

    /// Linearise at the static equilibrium under gravity and spring preloads instead of the start
    /// state
    #[arg(long)]
    pub(crate) equilibrium: bool,

    /// How the reduced mass is made: condensed (mass of the static shapes), accelerability (mass
    /// felt at infinite frequency), or craig-bampton:N (static shapes and the N lowest modes with
    /// the effectors held)
    #[arg(
        long,
        value_name = "condensed|accelerability|craig-bampton:N",
        default_value = "condensed"
    )]
    pub(crate) mass: MassChoice,

    /// Add Rayleigh damping: A (1/s) times the mass plus B (s) times the stiffness
    #[arg(long, value_name = "A,B", value_parser = rayleigh)]
    pub(crate) rayleigh: Option<(f64, f64)>,

    /// Add this part of critical damping to every mode of the reduced model (0.02 is 2 %)
    #[arg(long, value_name = "ZETA", value_parser = coefficient)]
    pub(crate) modal_damping: Option<f64>,

    /// The free joint at the root, which nothing holds, is a base that floats; otherwise it is held
    #[arg(long, conflicts_with = "equilibrium")]
    pub(crate) floating: bool,

    /// Largest relative displacement of an effector for which the model is meant; beyond it steps
    /// say so
    #[arg(long, value_name = "R", value_parser = duration)]
    pub(crate) range: Option<f64>,

    /// Write the model for `forks simulate --reduced`, of tissue with its skin; if the name ends in
    /// .json, its numbers as JSON for other programs
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// List every link's largest displacement per unit wrench (the JSON always holds all maps)
    #[arg(long)]
    pub(crate) links: bool,
}

/// How the reduced mass is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MassChoice {
    /// Mass of the static shapes.
    Condensed,
    /// Mass felt at infinite frequency.
    Accelerability,
    /// Static shapes and so many modes with the effectors held.
    CraigBampton(usize),
}

impl FromStr for MassChoice {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match (s, s.strip_prefix("craig-bampton:")) {
            ("condensed", _) => Ok(Self::Condensed),
            ("accelerability", _) => Ok(Self::Accelerability),
            (_, Some(n)) => Ok(Self::CraigBampton(count(n)?)),
            _ => Err("expected condensed, accelerability or craig-bampton:N".into()),
        }
    }
}

/// Arguments of `forks statics`.
#[derive(Clone, Debug, Args)]
pub(crate) struct StaticsArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) springs: SpringOptions,

    /// The loaded link, or site:NAME for the frame of a site. Default: the only end effector of the
    /// side file
    #[arg(long, value_name = "LINK", requires = "wrench")]
    pub(crate) effector: Option<String>,

    /// Force (N) and torque (N·m) at the effector's origin
    #[arg(
        long, value_name = "fx,fy,fz,tx,ty,tz", allow_hyphen_values = true,
        value_parser = wrench, required_unless_present = "force",
    )]
    pub(crate) wrench: Option<[f64; 6]>,

    /// A load on a link, or at the frame of a site (site:NAME), beside --wrench or instead of it;
    /// repeatable
    #[arg(long, value_name = "LINK=fx,fy,fz[,tx,ty,tz]", allow_hyphen_values = true)]
    pub(crate) force: Vec<LinkLoad>,

    /// Axes in which loads keep their components while the links move
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

impl From<FrameChoice> for WrenchFrame {
    fn from(choice: FrameChoice) -> Self {
        match choice {
            FrameChoice::World => Self::World,
            FrameChoice::Body => Self::Body,
        }
    }
}

impl From<FrameChoice> for LoadFrame {
    fn from(choice: FrameChoice) -> Self {
        match choice {
            FrameChoice::World => Self::World,
            FrameChoice::Body => Self::Body,
        }
    }
}

/// Arguments of `forks inspect`.
#[derive(Debug, Args)]
#[command(mut_arg("path", |a| a.value_name("MODEL|SCENE.toml")
    .help("The model, an MJCF or URDF file; or a scene, a TOML file")))]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,
}

/// Which model, in which state, and how to answer; the same for all commands.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelOptions {
    /// The model: an MJCF or URDF file
    #[arg(value_name = "MODEL")]
    pub(crate) path: PathBuf,

    /// Start state instead of the model's own: a JSON file {"qpos": [...], "qvel": [...]} with
    /// MuJoCo's coordinates, those of URDF in the order of --order (qvel optional), or key:NAME for
    /// a keyframe of the model
    #[arg(long, value_name = "FILE.json|key:NAME")]
    pub(crate) state: Option<StateSource>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) read: ReadOptions,
}

/// What resists motion besides the model's own springs.
#[derive(Clone, Debug, Args)]
pub(crate) struct SpringOptions {
    /// Give this stiffness to every coordinate of a non-free joint that has neither spring nor
    /// servo (N/m or N·m/rad; tendons do not count as springs)
    #[arg(long, value_name = "K", value_parser = stiffness, allow_hyphen_values = true)]
    pub(crate) default_stiffness: Option<f64>,

    /// Leave out servos; otherwise they are springs that rest at the start state
    #[arg(long)]
    pub(crate) no_servos: bool,

    /// Put progressive springs beyond joints' limits, of this stiffness where a limit is passed by
    /// a twentieth of its range (N/m or N·m/rad); otherwise limits have no effect
    #[arg(long, value_name = "K", value_parser = stiffness, allow_hyphen_values = true)]
    pub(crate) limits: Option<f64>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_files_or_keyframes() {
        assert_eq!("a/b.json".parse(), Ok(StateSource::File("a/b.json".into())));
        assert_eq!("key:home".parse(), Ok(StateSource::Key("home".into())));
        assert_eq!("key:".parse(), Ok(StateSource::Key(String::new())));
    }

    #[test]
    fn options_of_reduced_models_are_read_as_documented() {
        assert_eq!("craig-bampton:12".parse(), Ok(MassChoice::CraigBampton(12)));
        assert_eq!("condensed".parse(), Ok(MassChoice::Condensed));
        for bad in
            ["craig-bampton", "craig-bampton:", "craig-bampton:0", "guyan", "craig-bampton:x"]
        {
            assert!(bad.parse::<MassChoice>().is_err(), "{bad}");
        }
        assert_eq!(rayleigh("0.1,1e-4"), Ok((0.1, 1e-4)));
        for bad in ["1", "1,-1", "nan,0", "1,2,3"] {
            assert!(rayleigh(bad).is_err(), "{bad}");
        }
    }
}
