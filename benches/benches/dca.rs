//! Divide and conquer: forward dynamics of chains and a helix on one and two threads, and a step of
//! adaptive quasi-statics under a force in the middle of a long chain.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forks_dynamics::{
    WrenchFrame,
    adaptive::{AdaptiveOptions, AdaptivePlan, AdaptiveState, ErrorMeasure, Target},
    dca::{DcaPlan, DcaStatus, DcaWorkspace, dca},
};
use forks_mechanism::{
    Mechanism,
    lie::{SplitMix64, Wrench, glam::DVec3},
};
use forks_models::{
    HelixJoints, helix,
    molecules::{chain, neighbouring_links},
};

fn forward(c: &mut Criterion) {
    let chains = [1000, 4000, 16_000].map(|n| (format!("chain-{n}"), chain(n, 1).mechanism));
    let alternating = helix(4000, HelixJoints::Alternating).mechanism;
    let cases = chains.into_iter().chain([("helix-4000".to_owned(), alternating)]);
    let mut group = c.benchmark_group("dca");
    for (name, m) in cases {
        group.throughput(Throughput::Elements(m.tree_velocity_count() as u64));
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            let mut call = solution(&m, threads > 1);
            group.bench_function(BenchmarkId::new(&name, threads), |b| {
                pool.install(|| b.iter(&mut call));
            });
        }
    }
    group.finish();
}

/// A call of the solver at a state in motion.
fn solution(m: &Mechanism, parallel: bool) -> impl FnMut() -> DcaStatus + Send + '_ {
    let mut random = SplitMix64::new(2);
    let n = m.tree_velocity_count();
    let v: Vec<f64> = (0..n).map(|_| random.range(-0.5, 0.5)).collect();
    let tau: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
    let q = m.start_positions();
    let plan = DcaPlan::new(m).expect("no massless links");
    let mut work = DcaWorkspace::new(&plan).parallel(parallel);
    move || dca(&plan, &mut work, &q, &v, &tau, &[]).expect("slices of the right lengths")
}

fn adaptive(c: &mut Criterion) {
    let m = chain(50_000, 1).mechanism;
    let options = AdaptiveOptions { time_step: 1e-2, ..AdaptiveOptions::default() };
    let plan = AdaptivePlan::new(&m, &options).expect("all links have mass");
    let mut state = AdaptiveState::new(&plan);
    let force = Wrench::new(DVec3::X, DVec3::ZERO);
    let middle = neighbouring_links(&m, 1)[0];
    state.set_force(middle, force, WrenchFrame::World).expect("a link of the mechanism");
    let target = Target::new(ErrorMeasure::RelativeJoint, 0.5f64.powi(19));
    c.bench_function("adaptive step/chain-50000", |b| b.iter(|| state.step(&target)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = forward, adaptive
}
criterion_main!(benches);
