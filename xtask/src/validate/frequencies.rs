//! The lowest frequencies of the full mechanism and of reduced masses, to the digits known
//! beforehand.

use forks_io::{Cell, CsvTable};
use forks_reduce::{MassModel, ReduceOptions};

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::Frequencies,
};

/// How many frequencies the modes must get right, and how well.
const LOWEST: usize = 3;
const MODES_BOUND: f64 = 1e-3;

pub(crate) fn check(f: &Frequencies, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let accelerability = frequencies(case, MassModel::Accelerability);
    let condensed = frequencies(case, MassModel::Condensed);
    let full = &case.problem.linearise(case.problem.at_rest()).map_err(|e| e.to_string())?;
    let full = &full.full_frequencies();
    let rows = [
        ("full", full, &f.full),
        ("accelerability", &accelerability, &f.accelerability),
        ("condensed", &condensed, &f.condensed),
    ];
    let mut table = CsvTable::new(["row", "index", "frequency_rad_s", "expected_rad_s"]);
    for (name, found, expected) in rows {
        let check = format!("frequencies {name}: off by half digits");
        if found.len() < expected.len() {
            out.fail(&check, 1.0, format!("only {} frequencies", found.len()));
            continue;
        }
        let mut worst: f64 = 0.0;
        for (i, (found, digits)) in found.iter().zip(expected).enumerate() {
            let (value, half) = number(digits)?;
            worst = larger(worst, (found - value).abs() / half);
            let row: [Cell; 4] = [name.into(), (i as f64).into(), (*found).into(), value.into()];
            table.push(row).map_err(|e| e.to_string())?;
        }
        // The last printed digit is right if the difference is at most half of it.
        out.at_most(&check, worst, 1.0);
    }
    check_modes(f, case, full, out);
    match out.report_path("frequencies.csv") {
        Some(path) => table.save(path).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

/// The lowest frequencies with fixed-effector modes, relative to the full mechanism's.
fn check_modes(f: &Frequencies, case: &Case, full: &[f64], out: &mut Recorder) {
    let modes = f.modes;
    let check = format!("frequencies of {LOWEST} modes, Craig–Bampton {modes}");
    let found = frequencies(case, MassModel::CraigBampton { modes });
    let count = LOWEST.min(full.len());
    if found.len() < count {
        out.fail(&check, MODES_BOUND, format!("only {} frequencies", found.len()));
        return;
    }
    let pairs = found.iter().zip(full).take(count);
    out.at_most(&check, pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, larger), MODES_BOUND);
}

/// Frequencies of a model about the unstressed start pose; none where its mass does not exist.
fn frequencies(case: &Case, mass: MassModel) -> Vec<f64> {
    let options = ReduceOptions { mass, ..ReduceOptions::default() };
    let found = case.problem.reduce(case.problem.at_rest(), &options);
    found.map_or(vec![], |r| r.frequencies())
}

/// A printed number and half a unit of its last digit.
fn number(digits: &str) -> Result<(f64, f64), String> {
    let value: f64 = digits.parse().map_err(|e| format!("'{digits}': {e}"))?;
    let places = digits.split_once('.').map_or(0, |(_, after)| after.len());
    Ok((value, 0.5 * 10f64.powi(-(places as i32))))
}
