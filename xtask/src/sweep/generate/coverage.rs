//! Which features and pairs of features the files of a run had.

use std::collections::BTreeMap;

use forks_io::CsvTable;
use serde::Serialize;

use super::{super::verdict::Verdict, feature::Feature};

/// Files of one feature; field names are part of the program's interface.
#[derive(Clone, Debug, Default, Serialize)]
struct Counts {
    feature: &'static str,
    files: usize,
    agrees: usize,
    noted: usize,
    refused: usize,
    differs: usize,
}

/// All counts.
#[derive(Clone, Debug, Serialize)]
pub(in super::super) struct Coverage {
    features: Vec<Counts>,
    /// Pairs of features that are both read.
    pairs_possible: usize,
    pairs_covered: usize,
    most_files_of_a_pair: usize,
    #[serde(skip)]
    pairs: BTreeMap<(&'static str, &'static str), usize>,
}

impl Coverage {
    pub(super) fn new(features: &[Feature], plan: &[Vec<usize>], verdicts: &[Verdict]) -> Self {
        let mut counts: Vec<Counts> =
            features.iter().map(|f| Counts { feature: f.name, ..Counts::default() }).collect();
        let mut pairs = BTreeMap::new();
        for (chosen, verdict) in plan.iter().zip(verdicts) {
            for &f in chosen {
                let c = &mut counts[f];
                c.files += 1;
                match verdict {
                    Verdict::Agrees => c.agrees += 1,
                    Verdict::Noted => c.noted += 1,
                    Verdict::Refused | Verdict::Skipped => c.refused += 1,
                    Verdict::Differs | Verdict::Alone => c.differs += 1,
                }
            }
            if let [f, g] = chosen[..] {
                *pairs.entry((features[f].name, features[g].name)).or_insert(0) += 1;
            }
        }
        let read = features.iter().filter(|f| !f.refused).count();
        Self {
            features: counts,
            pairs_possible: read * (read - 1) / 2,
            pairs_covered: pairs.len(),
            most_files_of_a_pair: pairs.values().copied().max().unwrap_or(0),
            pairs,
        }
    }

    /// For people: a line for each feature, one for all pairs.
    pub(in super::super) fn summary(&self) -> String {
        let mut out = format!(
            "{:<36} {:>6} {:>7} {:>6} {:>8} {:>8}\n",
            "feature", "files", "agrees", "noted", "refused", "differs"
        );
        for c in &self.features {
            out += &format!(
                "{:<36} {:>6} {:>7} {:>6} {:>8} {:>8}\n",
                c.feature, c.files, c.agrees, c.noted, c.refused, c.differs
            );
        }
        let Self { pairs_possible, pairs_covered, most_files_of_a_pair, .. } = self;
        out + &format!(
            "{} features, {pairs_covered} of {pairs_possible} pairs, at most \
            {most_files_of_a_pair} files a pair",
            self.features.len()
        )
    }

    /// Files of each pair, as a table.
    pub(in super::super) fn pairs(&self) -> Result<CsvTable, String> {
        let mut table = CsvTable::new(["feature", "other feature", "files"]);
        for ((f, g), count) in &self.pairs {
            table.push([f, g, count.to_string().as_str()]).map_err(|e| e.to_string())?;
        }
        Ok(table)
    }
}
