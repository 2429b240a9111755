//! Arguments of `forks control`.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, ValueEnum};
use forks_control::{controller::Priorities, objective::Objective};

use super::words::TaskWords;
use crate::{
    args::ModelOptions,
    parse::{count, duration, per_name},
};

/// Arguments of `forks control`.
#[derive(Debug, Args)]
pub(crate) struct ControlArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// What shall be done; repeatable. `link NAME position|orientation|pose [NUMBERS]`,
    /// `link NAME direction X,Y,Z [axis=0,0,1]`, `link NAME still`, `joint NAME [VALUE]`,
    /// `com [X,Y,Z]`, `posture`; without numbers what is at the start is held. NAME may be
    /// site:NAME. Then, as needed: level=N (0 first, default 1) weight=W k=1/s² d=1/s
    /// rows=x,z,rx axes=world|own in=LINK name=TEXT. Quaternions are w,x,y,z; a pose is
    /// x,y,z,w,x,y,z
    #[arg(long, value_name = "TASK", required = true)]
    pub(crate) task: Vec<TaskWords>,

    /// What is least of all commands that tasks leave open
    #[arg(long, value_enum, default_value_t = ObjectiveChoice::Torque)]
    pub(crate) minimise: ObjectiveChoice,

    /// How levels are kept apart: strict; smooth, or smooth=MOST (command per m/s² or rad/s² of a
    /// task), gradually where directions are weak, so that commands stay bounded near singular
    /// poses (without MOST: beside others of their level); published=ALPHA, the damped inverse of
    /// the literature
    #[arg(long, value_name = "strict|smooth[=MOST]|published=ALPHA", default_value = "strict")]
    pub(crate) priorities: PrioritiesChoice,

    /// Predict so many steps ahead: of a reduced model whose servos are commanded
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) horizon: Option<usize>,

    /// Time for a prediction, s
    #[arg(long, value_name = "S", value_parser = duration, requires = "horizon")]
    pub(crate) budget: Option<f64>,

    /// Joints with commands, beside their springs and dampers; repeatable. Default: all of the
    /// tree but free ones. Of a reduced model: servos, or effectors on which wrenches act
    #[arg(long, value_name = "JOINT")]
    pub(crate) actuate: Vec<String>,

    /// The largest command of every joint, N or N·m
    #[arg(long, value_name = "F", value_parser = duration)]
    pub(crate) largest: Option<f64>,

    /// The largest command of one joint, N or N·m, instead of --largest; repeatable
    #[arg(long, value_name = "JOINT=F", value_parser = per_name)]
    pub(crate) limit: Vec<(String, f64)>,

    /// Keep joints within the limits of the model, which they brake for with at most A
    /// (rad/s² or m/s²)
    #[arg(long, value_name = "A", value_parser = duration)]
    pub(crate) joint_limits: Option<f64>,

    /// Servos act as springs and dampers that rest at the start state; otherwise they are left out
    #[arg(long)]
    pub(crate) servos: bool,

    /// How many steps
    #[arg(long, value_name = "N", value_parser = count, default_value = "1")]
    pub(crate) steps: usize,

    /// Length of a step, s
    #[arg(long, value_name = "H", value_parser = duration, default_value = "0.001")]
    pub(crate) step: f64,

    /// Write the motion by the ending of the name: a 3D page (.html) or glTF (.glb) with 60 frames
    /// per second; every step with commands and errors as a table (.csv) or JSON; repeatable
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}

/// How levels are kept apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrioritiesChoice(pub(super) Priorities);

impl FromStr for PrioritiesChoice {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (kind, number) = match s.split_once('=') {
            Some((kind, x)) => match x.parse::<f64>() {
                Ok(x) if x.is_finite() && x > 0.0 => (kind, Some(x)),
                _ => return Err(format!("'{x}' is no finite number above 0")),
            },
            None => (s, None),
        };
        match (kind, number) {
            ("strict", None) => Ok(Self(Priorities::Strict)),
            ("smooth", most) => Ok(Self(Priorities::Smooth { most })),
            ("published", Some(alpha)) => Ok(Self(Priorities::Published { alpha })),
            _ => Err("expected strict, smooth, smooth=MOST or published=ALPHA".into()),
        }
    }
}

/// What is least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectiveChoice {
    /// The sum of squares of the commands
    Torque,
    /// That of the accelerations of all coordinates
    Acceleration,
    /// That of their velocities at the step's end
    Velocity,
    /// The kinetic energy at the step's end
    Energy,
    /// The sum of squares of the changes of accelerations
    Jerk,
}

impl ObjectiveChoice {
    /// As the command line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Torque => "torque",
            Self::Acceleration => "acceleration",
            Self::Velocity => "velocity",
            Self::Energy => "energy",
            Self::Jerk => "jerk",
        }
    }
}

impl From<ObjectiveChoice> for Objective {
    fn from(choice: ObjectiveChoice) -> Self {
        match choice {
            ObjectiveChoice::Torque => Self::torque(),
            ObjectiveChoice::Acceleration => Self::acceleration(),
            ObjectiveChoice::Velocity => Self::velocity(),
            ObjectiveChoice::Energy => Self::kinetic_energy(),
            ObjectiveChoice::Jerk => Self::jerk(),
        }
    }
}
