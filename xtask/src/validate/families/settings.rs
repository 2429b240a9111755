//! What the scenario of the families says.

use serde::Deserialize;

/// Settings of the families.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Families {
    /// The list of mechanisms, under `fixtures`; their files lie beside it.
    pub(super) list: String,
    /// Those that run without `--nightly`.
    quick: Vec<String>,
    /// Half the angle of the cone of forces.
    pub(super) half_angle_deg: f64,
    /// Largest relative displacement.
    pub(super) until: f64,
    /// A placement that takes longer is cancelled, s.
    pub(super) patience_s: f64,
    /// Seed of the loads that judge.
    pub(super) seed: u64,
    /// Seeds of further loads, at which static errors are looked at.
    pub(super) further_seeds: Vec<u64>,
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
    /// All variants of those of the list.
    pub(super) variants: bool,
}

/// The part of the scenario that stands for all generated mechanisms.
pub(super) const RANDOM: &str = "random";
/// The part that stands for all variants of the mechanisms of the list.
pub(super) const VARIANTS: &str = "variants";

impl Families {
    /// The quick ones; all with `--nightly` or if the scenario is named, or what is named in it;
    /// the generated ones with `--nightly` or by name.
    pub(crate) fn choose(&mut self, parts: &[String], named: bool, nightly: bool) {
        let all = nightly || named;
        self.choice = match parts {
            [] => Choice {
                listed: (!all).then(|| self.quick.clone()),
                random: nightly,
                variants: nightly,
            },
            parts => Choice {
                listed: Some(parts.to_vec()),
                random: parts.iter().any(|p| p == RANDOM),
                variants: parts.iter().any(|p| p == VARIANTS),
            },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_ones_by_default_all_of_the_list_by_name_generated_ones_at_night() {
        let text = include_str!("../../../../fixtures/scenarios/families.toml");
        #[derive(Deserialize)]
        struct File {
            families: Families,
        }
        let mut f = toml::from_str::<File>(text).unwrap().families;
        let mut chosen = |parts: &[&str], named, nightly| {
            let parts: Vec<String> = parts.iter().map(|p| (*p).to_owned()).collect();
            f.choose(&parts, named, nightly);
            (f.choice.listed.clone(), f.choice.random)
        };
        let (quick, random) = chosen(&[], false, false);
        assert!((3..=4).contains(&quick.unwrap().len()) && !random);
        assert_eq!(chosen(&[], true, false), (None, false));
        assert_eq!(chosen(&[], false, true), (None, true));
        let one = chosen(&["stage"], true, false);
        assert_eq!(one, (Some(vec!["stage".to_owned()]), false));
        assert!(chosen(&[RANDOM], true, false).1);
        f.choose(&[VARIANTS.to_owned()], true, false);
        assert!(f.choice.variants && !f.choice.random);
    }
}
