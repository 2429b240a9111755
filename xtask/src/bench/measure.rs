//! How times are taken: batches of calls, two warm-ups, the median of seven.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// (max − min)/median above this is flagged.
pub(super) const FLAGGED_SPREAD: f64 = 0.25;

/// Time of one call.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Timing {
    /// Median of seven runs, ns.
    pub(super) ns: f64,
    /// (max − min)/median of the seven.
    pub(super) spread: f64,
    /// Mean time over the seven runs that the calling thread spent computing, ns; other programs on
    /// the machine do not count. `None` where the system does not tell.
    pub(super) cpu_ns: Option<f64>,
}

/// Times a call; a run repeats it for about `batch` seconds, at least once.
pub(super) fn time<T>(batch: f64, mut call: impl FnMut() -> T) -> Timing {
    let mut run = |calls: usize| {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(call());
        }
        1e9 * start.elapsed().as_secs_f64() / calls as f64
    };
    // The first warm-up tells how many calls fill a batch.
    let once = run(1).min(run(1));
    let calls = ((1e9 * batch / once.max(1.0)).ceil() as usize).max(1);
    run(calls);
    let before = cpu_ns();
    let mut runs: [f64; 7] = core::array::from_fn(|_| run(calls));
    let cpu = before.zip(cpu_ns()).map(|(a, b)| (b - a) / (7 * calls) as f64);
    runs.sort_unstable_by(f64::total_cmp);
    // Short runs are lost between two looks of the scheduler.
    let cpu_ns = cpu.filter(|ns| *ns > 0.0);
    Timing { ns: runs[3], spread: (runs[6] - runs[0]) / runs[3], cpu_ns }
}

/// The same of runs that take their own time: `run` makes `steps` steps and says how long they
/// took.
pub(super) fn time_runs(
    steps: usize,
    mut run: impl FnMut() -> Result<Duration, String>,
) -> Result<Timing, String> {
    let mut each = || run().map(|t| 1e9 * t.as_secs_f64() / steps as f64);
    each()?;
    each()?;
    let before = cpu_ns();
    let mut runs = [0.0; 7];
    for r in &mut runs {
        *r = each()?;
    }
    let cpu_ns =
        before.zip(cpu_ns()).map(|(a, b)| (b - a) / (7 * steps) as f64).filter(|ns| *ns > 0.0);
    runs.sort_unstable_by(f64::total_cmp);
    Ok(Timing { ns: runs[3], spread: (runs[6] - runs[0]) / runs[3], cpu_ns })
}

/// Time that this thread has spent computing, from Linux's scheduler.
pub(crate) fn cpu_ns() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// What the numbers were measured on.
pub(super) fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim()))
        .unwrap_or(std::env::consts::ARCH);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores, {}", std::env::consts::OS)
}

/// Mean number of running processes over the last minute, where the system tells.
pub(super) fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_known_length_is_timed() {
        let t = time(0.0, || std::thread::sleep(std::time::Duration::from_millis(2)));
        // Sleeping never ends early; a loaded machine may end it late.
        assert!(t.ns >= 2e6 && t.spread >= 0.0, "{t:?}");
    }
}
