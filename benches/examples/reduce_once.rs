//! Reductions of a chain or a bushy tree, for instruction counts:
//! `reduce_once chain|bushy LINKS CALLS`. The difference of two call counts is free of the
//! mechanism's construction.

use forks_benches::reducible;
use forks_reduce::ReduceOptions;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|a| a.parse::<usize>().ok());
    let (n, calls) = (number(1).unwrap_or(1000), number(2).unwrap_or(1));
    let p = match arguments.first().map(String::as_str) {
        Some("bushy") => forks_models::molecules::bushy(n, 1),
        _ => forks_models::molecules::chain(n, 1),
    };
    let r = reducible(&p).expect("parametric mechanisms are valid");
    for _ in 0..calls {
        let found = r.reduce(r.at_rest(), &ReduceOptions::default()).expect("all joints sprung");
        std::hint::black_box(found);
    }
}
