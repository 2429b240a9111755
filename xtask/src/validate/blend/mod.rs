//! Blends placed automatically for a region of loads, measured at loads the placement did not see.

mod accuracy;
mod cycles;
mod figures;
mod path;
mod rivals;
mod ruler;

use std::ops::ControlFlow;

use forks_blend::place::{Chart, LoadRegion, Placed, Placement, Truth, place, unseen_loads};
use forks_mechanism::lie::glam::DVec3;
use serde::Deserialize;

use super::{case::Case, record::Recorder};
use ruler::Ruler;

/// Settings of a blend scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Blend {
    /// Only with `--long`, or if asked for by name.
    #[serde(default)]
    pub(crate) long: bool,
    /// Regions of loads, one loaded at a time.
    pub(crate) regions: Vec<Region>,
    /// Largest number of samples.
    pub(crate) samples: usize,
    /// Training loads of the placement.
    pub(crate) training_loads: usize,
    /// Their seed.
    pub(crate) seed: u64,
    /// Loads that the placement does not see.
    pub(crate) unseen_loads: usize,
    /// Their seed.
    pub(crate) unseen_seed: u64,
    /// Tolerances of the placement.
    pub(crate) constraint_tolerance: f64,
    pub(crate) joint_space_tolerance: Option<f64>,
    pub(crate) static_tolerance: f64,
    /// Coordinates in which samples are blended.
    #[serde(default)]
    pub(crate) chart: ChartName,
    /// The link poses that the placement's constraint error is about.
    pub(crate) mode: Mode,
    /// Bounds; without them everything is information.
    pub(crate) bounds: Option<Bounds>,
    /// The plane of the drawings: world directions to the right and up.
    pub(crate) view: [[f64; 3]; 2],
}

/// Forces on one effector with directions in a cone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Region {
    #[serde(default)]
    effector: usize,
    axis: [f64; 3],
    half_angle_deg: f64,
    /// Directions stay in the plane with this normal.
    normal: Option<[f64; 3]>,
    /// Largest relative displacement.
    until: f64,
}

/// Coordinates in which samples are blended.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChartName {
    #[default]
    Poses,
    Joints,
}

/// How link poses are reconstructed.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    Twists,
    JointSpace,
}

/// Bounds of the largest errors at the unseen loads.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bounds {
    /// Constraint error, every link by its own twist.
    pub(crate) twists: f64,
    /// The same of the better mode, where it is another one.
    pub(crate) better_mode: Option<f64>,
    /// Static error of an effector.
    pub(crate) statics: Option<f64>,
    /// Error over that of the nearest sample alone; where it is missing, cycles, paths and the
    /// samples themselves are information too.
    pub(crate) nearest: Option<f64>,
    /// Links do not jump: bounded where `nearest` is missing, too.
    #[serde(default)]
    pub(crate) paths: bool,
}

/// A placed blend with what it is measured against.
struct Study<'a> {
    settings: &'a Blend,
    case: &'a Case,
    placed: Placed,
    unseen: Vec<Truth>,
    ruler: Ruler<'a>,
}

pub(crate) fn check(b: &Blend, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let said = |e: forks_blend::place::BlendError| e.to_string();
    let placement = placement(b);
    let placed = place(&case.problem, &placement, &mut |_| ControlFlow::Continue(()));
    let placed = placed.map_err(said)?;
    let unseen = unseen_loads(&case.problem, &placement, b.unseen_seed, b.unseen_loads);
    let unseen = unseen.map_err(said)?;
    let data = placed.model.data();
    let ruler = Ruler::new(&case.problem, data.reference.clone(), data.radius);
    let study = Study { settings: b, case, unseen, ruler, placed };
    out.info("samples placed", study.placed.loads.len() as f64);
    out.equal("unseen loads with an equilibrium", study.unseen.len(), b.unseen_loads);
    let rivals = rivals::all(&study)?;
    accuracy::at_samples(&study, out);
    accuracy::at_unseen_loads(&study, &rivals, out)?;
    accuracy::beside_nearest(&study, out);
    cycles::check(&study, &rivals, out)?;
    path::check(&study, out);
    figures::report(&study, &rivals, out)
}

fn placement(b: &Blend) -> Placement {
    let region = |r: &Region| LoadRegion {
        normal: r.normal.map(DVec3::from_array),
        displacement: r.until,
        ..LoadRegion::cone(r.effector, DVec3::from_array(r.axis), r.half_angle_deg.to_radians())
    };
    Placement {
        regions: b.regions.iter().map(region).collect(),
        together: false,
        constraint_tolerance: b.constraint_tolerance,
        static_tolerance: b.static_tolerance,
        joint_space_tolerance: b.joint_space_tolerance.unwrap_or(f64::INFINITY),
        max_samples: b.samples,
        seed: b.seed,
        training_loads: b.training_loads,
        chart: match b.chart {
            ChartName::Poses => Chart::Poses,
            ChartName::Joints => Chart::Joints,
        },
        ..Placement::default()
    }
}

impl Blend {
    /// A bound that holds where the scenario has bounds at all.
    fn bound(&self, bound: f64) -> Option<f64> {
        self.bounds.and_then(|b| b.nearest).map(|_| bound)
    }
}
