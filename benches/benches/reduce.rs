//! Reduction of chains and bushy trees with two effectors: the time per link does not grow.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forks_benches::reducible;
use forks_models::{
    Parametric,
    molecules::{bushy, chain},
};
use forks_reduce::ReduceOptions;

type Family = (&'static str, fn(usize, u64) -> Parametric);
const FAMILIES: [Family; 2] = [("chain", chain), ("bushy", bushy)];

fn growing(c: &mut Criterion) {
    let mut group = c.benchmark_group("reduce");
    for (name, make) in FAMILIES {
        for links in [1250, 2500, 5000, 10_000] {
            let problem = reducible(&make(links, 1)).expect("a valid stiffness");
            let options = ReduceOptions::default();
            group.throughput(Throughput::Elements(links as u64));
            group.bench_function(BenchmarkId::new(name, links), |b| {
                b.iter(|| problem.reduce(problem.at_rest(), &options).expect("sprung joints"));
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = growing
}
criterion_main!(benches);
