//! What a scenario says of a blend.

use serde::Deserialize;

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
    pub(super) effector: usize,
    pub(super) axis: [f64; 3],
    pub(super) half_angle_deg: f64,
    /// Directions stay in the plane with this normal.
    pub(super) normal: Option<[f64; 3]>,
    /// Largest relative displacement.
    pub(super) until: f64,
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

impl Blend {
    /// A bound that holds where the scenario has bounds at all.
    pub(super) fn bound(&self, bound: f64) -> Option<f64> {
        self.bounds.and_then(|b| b.nearest).map(|_| bound)
    }
}
