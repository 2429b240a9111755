//! Arguments of `forks blend`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{
    args::{ModelOptions, SpringOptions},
    parse::{coefficient, count, duration},
};

/// Arguments of `forks blend`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("path", |a| a.value_name("MODEL|TISSUE.toml")
    .help("The model, an MJCF or URDF file; or tissue on skeletons, a TOML file, with a pad as \
        first effector")))]
pub(crate) struct BlendArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) springs: SpringOptions,

    /// End effectors: link names, or site:NAME for the frame of a site; each is loaded in the cone.
    /// Default: those of the side file
    #[arg(long, num_args = 1.., value_name = "LINK")]
    pub(crate) effector: Vec<String>,

    /// Axis of the cone of forces, world axes; given once for all effectors, or once for each in
    /// their order
    #[arg(long, required = true, value_name = "ax,ay,az", allow_hyphen_values = true,
        value_parser = direction)]
    pub(crate) cone: Vec<[f64; 3]>,

    /// Half angle of the cone, degrees
    #[arg(long, value_name = "DEG", value_parser = coefficient, default_value = "30")]
    pub(crate) angle: f64,

    /// Forces lie in the plane through the cone's axis with this normal
    #[arg(long, value_name = "nx,ny,nz", allow_hyphen_values = true, value_parser = direction)]
    pub(crate) normal: Option<[f64; 3]>,

    /// Load one effector at a time; otherwise all at once, in all proportions
    #[arg(long)]
    pub(crate) one_at_a_time: bool,

    /// Relative displacement of an effector up to which forces grow
    #[arg(long, value_name = "D", value_parser = duration, default_value = "1")]
    pub(crate) until: f64,

    /// Largest constraint error: gaps at joints and effectors over the mechanism's size
    #[arg(long, value_name = "E", value_parser = duration, default_value = "0.01")]
    pub(crate) tolerance: f64,

    /// Largest constraint error of links that are shown by blended joint displacements; default:
    /// not looked at
    #[arg(long, value_name = "E", value_parser = duration)]
    pub(crate) joint_space_tolerance: Option<f64>,

    /// Largest static error of an effector over its displacement; of tissue that of the worst
    /// vertex over the largest displacement
    #[arg(long, value_name = "E", value_parser = duration, default_value = "0.02")]
    pub(crate) static_tolerance: f64,

    /// Largest number of linearisation points
    #[arg(long, value_name = "N", value_parser = count, default_value = "8")]
    pub(crate) samples: usize,

    /// Coordinates in which samples are blended: poses of the effectors; displacements of the
    /// joints, for mechanisms that lock, as arms do that are pulled straight, and those whose start
    /// is singular; the same with one sample whose links follow its joints (manifold); or the
    /// cheapest of these that keeps to the tolerances
    #[arg(long, value_enum, default_value_t = ChartArg::Auto)]
    pub(crate) chart: ChartArg,

    /// Mass of the samples: of the static shapes, or the one felt at infinite frequency
    #[arg(long, value_enum, default_value_t = BlendMass::Condensed)]
    pub(crate) mass: BlendMass,

    /// Seconds after which the search ends with the best that it has
    #[arg(long, value_name = "S", value_parser = duration, default_value = "60")]
    pub(crate) time_limit: f64,

    /// Number of training loads
    #[arg(long, value_name = "N", value_parser = count, default_value = "96")]
    pub(crate) training: usize,

    /// Seed of the training loads
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,

    /// Let gravity act
    #[arg(long)]
    pub(crate) gravity: bool,

    /// The free joint at the root, which nothing holds, is a base that floats; otherwise it is held
    #[arg(long, conflicts_with = "gravity")]
    pub(crate) floating: bool,

    /// Write the blend for `forks simulate --reduced`; if the name ends in .json, its numbers as
    /// JSON for other programs
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// See [`forks_place::Chart`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ChartArg {
    Auto,
    Poses,
    Joints,
    Manifold,
}

impl From<ChartArg> for forks_place::Chart {
    fn from(chart: ChartArg) -> Self {
        match chart {
            ChartArg::Auto => Self::Auto,
            ChartArg::Poses => Self::Poses,
            ChartArg::Joints => Self::Joints,
            ChartArg::Manifold => Self::Manifold,
        }
    }
}

/// Masses that keep a sample's coordinates.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum BlendMass {
    Condensed,
    Accelerability,
}

impl From<BlendMass> for forks_reduce::MassModel {
    fn from(mass: BlendMass) -> Self {
        match mass {
            BlendMass::Condensed => Self::Condensed,
            BlendMass::Accelerability => Self::Accelerability,
        }
    }
}

fn direction(s: &str) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = s
        .split(',')
        .map(|part| part.trim().parse().map_err(|e| format!("'{part}': {e}")))
        .collect::<Result<_, _>>()?;
    match numbers[..] {
        [x, y, z] if [x, y, z].iter().all(|x| x.is_finite()) && numbers != [0.0; 3] => {
            Ok([x, y, z])
        }
        _ => Err("expected three finite numbers x,y,z that are not all 0".into()),
    }
}
