//! Time of `forks_reduce::Problem::reduce` against the number of links: chains and bushy trees, two
//! effectors.
//!
//! Beside criterion's groups it prints a summary: median of seven runs after two warm-ups, time per
//! link, and the exponent of growth over the four sizes.

use criterion::{BenchmarkId, Criterion, Throughput};
use forks_benches::{growth_exponent, median_of_seven, reducible};
use forks_models::{Parametric, bushy, chain};
use forks_reduce::{Problem, ReduceOptions, Reduction};

const SIZES: [usize; 4] = [1250, 2500, 5000, 10_000];
const SEED: u64 = 1;

type Family = (&'static str, fn(usize, u64) -> Parametric);
const FAMILIES: [Family; 2] = [("chain", chain), ("bushy", bushy)];

fn run(r: &Problem) -> Reduction<'_> {
    r.reduce(r.at_rest(), &ReduceOptions::default()).expect("every joint has a spring")
}

fn cases((_, make): Family) -> Vec<Problem> {
    SIZES.iter().map(|&n| reducible(&make(n, SEED)).expect("a valid stiffness")).collect()
}

fn summary(family: Family) {
    let times: Vec<_> = cases(family).iter().map(|r| median_of_seven(|| run(r))).collect();
    for (n, t) in SIZES.iter().zip(&times) {
        let per_link = t.as_secs_f64() / *n as f64;
        println!(
            "reduce/{}-{n}: {:.2} ms, {:.2} µs per link",
            family.0,
            1e3 * t.as_secs_f64(),
            1e6 * per_link
        );
    }
    println!("reduce/{}: time grows as links^{:.3}", family.0, growth_exponent(&SIZES, &times));
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    for family in FAMILIES {
        summary(family);
        let mut group = criterion.benchmark_group(format!("reduce/{}", family.0));
        for (n, r) in SIZES.iter().zip(&cases(family)) {
            group.throughput(Throughput::Elements(*n as u64));
            group.bench_with_input(BenchmarkId::from_parameter(n), r, |b, r| b.iter(|| run(r)));
        }
        group.finish();
    }
    criterion.final_summary();
}
