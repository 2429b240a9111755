//! What the scenario of the families says.

use serde::Deserialize;

/// Settings of the families.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Families {
    /// The list of mechanisms, under `fixtures`; their files lie beside it.
    pub(super) list: String,
    /// Those that run without `--long`.
    quick: Vec<String>,
    /// Half the angle of the cone of forces.
    pub(super) half_angle_deg: f64,
    /// Largest relative displacement.
    pub(super) until: f64,
    /// A placement that takes longer is cancelled, s.
    pub(super) patience_s: f64,
    /// Seed of the loads that judge.
    pub(super) seed: u64,
    /// Their number.
    pub(super) loads: usize,
    /// How many of them are applied at once.
    pub(super) sudden: usize,
    /// Relative displacement of the release.
    pub(super) released_at: f64,
    pub(super) bounds: Bounds,
    pub(super) random: Random,
    /// What runs.
    #[serde(skip)]
    pub(super) choice: Choice,
}

/// Bounds of what is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bounds {
    /// Samples of a blend.
    pub(super) samples: usize,
    /// Largest static error.
    pub(super) largest: f64,
    /// Static error that only few loads may exceed.
    pub(super) tolerated: f64,
    /// Part of the loads that may.
    pub(super) share: f64,
    /// Largest static error over the one that the placement reports.
    pub(super) over_reported: f64,
    /// Constraint error.
    pub(super) constraint: f64,
    /// First peak and frequency after a release, relative to the full simulation's.
    pub(super) release: f64,
}

/// Generated mechanisms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Random {
    /// Seeds from 0 on.
    pub(super) seeds: u64,
    pub(super) loads: usize,
    pub(super) sudden: usize,
}

/// Which mechanisms run.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Of the list; all if there is none.
    pub(super) listed: Option<Vec<String>>,
    /// All generated ones.
    pub(super) random: bool,
}

/// The part of the scenario that stands for all generated mechanisms.
pub(super) const RANDOM: &str = "random";

impl Families {
    /// The quick ones, or all with `--long` or if the scenario is named, or what is named in it;
    /// the generated ones with `--nightly` or by name.
    pub(crate) fn choose(&mut self, parts: &[String], named: bool, long: bool, nightly: bool) {
        let all = long || nightly || named;
        self.choice = match parts {
            [] => Choice { listed: (!all).then(|| self.quick.clone()), random: nightly },
            parts => {
                Choice { listed: Some(parts.to_vec()), random: parts.iter().any(|p| p == RANDOM) }
            }
        };
    }
}
