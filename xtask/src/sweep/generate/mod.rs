//! Generated MJCF files of one feature and of pairs of features, for the same comparison as files
//! of others.
//!
//! Every file is the model of `base`, in which everything has stiffness, mass and drive of its own,
//! changed by one or two features. First every feature stands alone, then come the pairs in an
//! order that the seed gives, again and again.

mod base;
mod coverage;
mod defaults;
mod document;
mod feature;
mod inertia;
mod joints;
mod layout;
mod references;
mod settings;

use std::{
    fs,
    path::{Path, PathBuf},
};

use forks_testkit::Rng;

use super::{
    find::{Format, Found, FoundKind},
    record::Entry,
    verdict::Verdict,
};
pub(super) use coverage::Coverage;
use document::Document;
use feature::{Feature, Stage};

/// All features.
fn features() -> Vec<Feature> {
    [
        joints::FEATURES,
        inertia::FEATURES,
        references::FEATURES,
        settings::FEATURES,
        defaults::FEATURES,
        layout::FEATURES,
    ]
    .concat()
}

/// Generated files with the numbers of their features.
pub(super) struct Generated {
    features: Vec<Feature>,
    plan: Vec<Vec<usize>>,
    pub(super) found: Vec<Found>,
}

/// Makes `count` files below `target/sweep`, the same ones for the same seed.
pub(super) fn generate(root: &Path, count: usize, seed: u64) -> Result<Generated, String> {
    let features = features();
    let plan = plan(&features, count, seed);
    let home = root.join(format!("target/sweep/seed-{seed}"));
    let failed = |e: std::io::Error| format!("{}: {e}", home.display());
    if home.exists() {
        fs::remove_dir_all(&home).map_err(failed)?;
    }
    let mut found = Vec::with_capacity(count);
    for (i, chosen) in plan.iter().enumerate() {
        let names: Vec<String> =
            chosen.iter().map(|&f| features[f].name.replace('/', ".")).collect();
        let folder = home.join(format!("{i:05}-{}", names.join("+")));
        let path = write(&features, chosen, &folder, seed, i).map_err(failed)?;
        let place = folder.canonicalize().map_err(failed)?;
        found.push(Found { place, package: None, path, kind: FoundKind::Model(Format::Mjcf) });
    }
    Ok(Generated { features, plan, found })
}

fn write(
    features: &[Feature],
    chosen: &[usize],
    folder: &Path,
    seed: u64,
    number: usize,
) -> std::io::Result<PathBuf> {
    let mut rng = Rng::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number as u64));
    let mut document = base::model(&mut rng);
    let mut order = chosen.to_vec();
    order.sort_by_key(|&f| features[f].stage);
    let mut apply = |stages: &[Stage], document: &mut Document| {
        for &f in order.iter().filter(|&&f| stages.contains(&features[f].stage)) {
            (features[f].apply)(&mut rng, document);
        }
    };
    apply(&[Stage::Content], &mut document);
    base::fill_keyframes(&mut Rng::new(seed ^ number as u64), &mut document);
    apply(&[Stage::Defaults, Stage::Frames], &mut document);
    leave_out(&mut document);
    apply(&[Stage::Order, Stage::Files], &mut document);
    document.save(folder)?;
    folder.join("model.xml").canonicalize()
}

/// Keeps files clear of what cannot agree:
/// - `pos` of default classes where an element has `fromto`: both programs refuse the two together.
/// - Rotor inertia of a free joint where loops are closed: MuJoCo's acts against accelerations in
///   world axes, ours in body axes, as the reader's note says. Without linear velocity of the joint
///   the two are the same, but loops give it some.
fn leave_out(d: &mut Document) {
    let loops = ["connect", "weld"];
    if d.section("equality").children.iter().any(|e| e.is(&loops)) {
        d.each_in_world(&["joint"], |j| {
            if j.get("type") == Some("free") {
                j.set("armature", 0);
            }
        });
    }
    let mut stretched = false;
    d.each(&["geom", "site"], |e| stretched |= e.get("fromto").is_some());
    if stretched {
        d.each(&["default"], |class| {
            let of_places = |e: &&mut document::Element| e.is(&["geom", "site"]);
            class.children.iter_mut().filter(of_places).for_each(|e| e.remove("pos"));
        });
    }
}

/// Features alone, then pairs; what we refuse stands alone only.
fn plan(features: &[Feature], count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = (0..features.len()).map(|f| vec![f]).collect();
    let read = |f: &usize| !features[*f].refused;
    let mut rng = Rng::new(seed);
    while out.len() < count {
        let mut pairs: Vec<Vec<usize>> = (0..features.len())
            .filter(read)
            .flat_map(|f| (f + 1..features.len()).filter(read).map(move |g| vec![f, g]))
            .collect();
        rng.shuffle(&mut pairs);
        out.extend(pairs);
    }
    out.truncate(count);
    out
}

impl Generated {
    /// The verdict on file `number` in the light of what it is made of: what we should read must
    /// not be refused.
    pub(super) fn expect(&self, number: usize, mut entry: Entry) -> Entry {
        let refused = self.plan[number].iter().any(|&f| self.features[f].refused);
        let by_all = entry.rivals.is_empty() && entry.verdict == Verdict::Refused;
        match (refused, entry.verdict) {
            (true, Verdict::Refused) => {}
            // Read leniently it is another model.
            (true, Verdict::Differs) if entry.reason.starts_with("refused (") => {
                entry.verdict = Verdict::Refused;
            }
            (true, _) => {
                entry.verdict = Verdict::Differs;
                entry.reason = format!("read, though it should be refused; {}", entry.reason);
            }
            (false, Verdict::Refused) if !by_all => {
                entry.verdict = Verdict::Differs;
                entry.reason = format!("refused, though it should be read: {}", entry.reason);
            }
            (false, Verdict::Alone) => {
                entry.verdict = Verdict::Differs;
                entry.reason = format!("nobody else reads it: {}", entry.reason);
            }
            _ => {}
        }
        entry
    }

    /// Which features and pairs the files had, and how they fared.
    pub(super) fn coverage(&self, verdicts: &[Verdict]) -> Coverage {
        Coverage::new(&self.features, &self.plan, verdicts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_files_the_same_for_a_seed() {
        let features = features();
        let names: std::collections::BTreeSet<&str> = features.iter().map(|f| f.name).collect();
        assert_eq!(names.len(), features.len());
        let text = |seed| {
            let folder =
                std::env::temp_dir().join(format!("forks-generate-{}", std::process::id()));
            let path = write(&features, &[3, 90], &folder, seed, 5).unwrap();
            let text = fs::read_to_string(path).unwrap();
            fs::remove_dir_all(folder).unwrap();
            text
        };
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }

    #[test]
    fn every_feature_stands_alone_and_every_pair_comes_once() {
        let features = features();
        let n = features.iter().filter(|f| !f.refused).count();
        let all = features.len() + n * (n - 1) / 2;
        let plan = plan(&features, all, 7);
        let unique: std::collections::BTreeSet<&Vec<usize>> = plan.iter().collect();
        assert_eq!(unique.len(), all);
    }
}
