//! `reduce/…`: the offline reduction of large mechanisms, and how its time grows.

use std::time::Duration;

use forks_benches::{growth_exponent, reducible};
use forks_models::Parametric;
use forks_reduce::ReduceOptions;

use super::{
    case::{Case, Context},
    measure::time,
};

const SIZES: [usize; 4] = [1250, 2500, 5000, 10_000];
const SEED: u64 = 1;

/// `reduce/chain-10000`.
pub(super) fn chain(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    growth(name, context, forks_models::molecules::chain)
}

/// `reduce/bushy-10000`.
pub(super) fn bushy(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    growth(name, context, forks_models::molecules::bushy)
}

/// The largest size, with the exponent p of time ∝ linksᵖ over all sizes.
fn growth(
    name: &str,
    context: &Context<'_>,
    make: fn(usize, u64) -> Parametric,
) -> Result<Vec<Case>, String> {
    let mut timings = Vec::new();
    for n in SIZES {
        let r = reducible(&make(n, SEED)).map_err(|e| e.to_string())?;
        let run = || r.reduce(r.at_rest(), &ReduceOptions::default());
        run().map_err(|e| format!("{n} links: {e}"))?;
        timings.push(time(context.batch, run));
    }
    let times: Vec<Duration> =
        timings.iter().map(|t| Duration::from_secs_f64(1e-9 * t.ns)).collect();
    let settings = "reduce with all maps, two effectors, 1000 N·m/rad in every hinge, seed 1, \
        freed memory kept";
    let mut case = Case::new(name, SIZES[3], 1, timings[3], settings);
    for (n, t) in SIZES.iter().zip(&timings) {
        case.figure(&format!("ns at {n:>5} links"), t.ns);
    }
    case.figure("exponent of growth", growth_exponent(&SIZES, &times));
    let computing: Option<Vec<Duration>> =
        timings.iter().map(|t| t.cpu_ns.map(|ns| Duration::from_secs_f64(1e-9 * ns))).collect();
    if let Some(times) = computing {
        case.figure("exponent of growth of computing time", growth_exponent(&SIZES, &times));
    }
    Ok(vec![case])
}
