//! Time of a divide-and-conquer solution per joint: chains and a helix, one and two threads.
//!
//! Beside criterion's groups it prints a summary: median of seven runs after two warm-ups, ns per
//! joint.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use forks_benches::median_of_seven;
use forks_dynamics::{DcaPlan, DcaWorkspace, dca};
use forks_mechanism::{Mechanism, lie::SplitMix64};
use forks_models::{HelixJoints, chain, helix};

/// A mechanism in motion.
struct Case {
    name: String,
    mechanism: Mechanism,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
}

impl Case {
    fn new(name: String, mechanism: Mechanism) -> Self {
        let mut random = SplitMix64::new(2);
        let n = mechanism.tree_velocity_count();
        let v = (0..n).map(|_| random.range(-0.5, 0.5)).collect();
        let tau = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
        Self { name, q: mechanism.start_positions(), v, tau, mechanism }
    }

    fn run(&self, plan: &DcaPlan, work: &mut DcaWorkspace) {
        dca(plan, work, &self.q, &self.v, &self.tau, &[]).expect("slices of the right lengths");
    }

    /// Median time of a call on `threads` threads; `None`: without a pool.
    fn time(&self, threads: Option<usize>) -> Duration {
        let plan = DcaPlan::new(&self.mechanism).expect("no massless links");
        let mut work = DcaWorkspace::new(&plan).parallel(threads.is_some());
        // Ten calls a run: a single one is shorter than the clock's jitter deserves.
        let mut ten = || median_of_seven(|| (0..10).for_each(|_| self.run(&plan, &mut work))) / 10;
        match threads {
            None => ten(),
            Some(t) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(t).build();
                pool.expect("threads").install(ten)
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let mut out: Vec<Case> =
        [1000, 4000, 16_000].map(|n| Case::new(format!("chain-{n}"), chain(n, 1).mechanism)).into();
    let alternating = helix(4000, HelixJoints::Alternating).mechanism;
    out.push(Case::new("helix-4000".into(), alternating));
    out
}

fn summary(case: &Case) {
    let joints = case.mechanism.tree_velocity_count() as f64;
    let alone = case.time(None);
    let per_joint = |t: Duration| t.as_secs_f64() * 1e9 / joints;
    let two = case.time(Some(2));
    println!(
        "dca/{}: {:.0} ns per joint, {:.0} on two threads ({:.2}x)",
        case.name,
        per_joint(alone),
        per_joint(two),
        alone.as_secs_f64() / two.as_secs_f64()
    );
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let mut group = criterion.benchmark_group("dca");
    for case in cases() {
        summary(&case);
        let plan = DcaPlan::new(&case.mechanism).expect("no massless links");
        let mut work = DcaWorkspace::new(&plan);
        group.throughput(Throughput::Elements(case.mechanism.tree_velocity_count() as u64));
        group.bench_function(BenchmarkId::from_parameter(&case.name), |b| {
            b.iter(|| case.run(&plan, &mut work));
        });
    }
    group.finish();
    criterion.final_summary();
}
