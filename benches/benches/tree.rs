//! Time of the tree algorithms per one-dof joint: forward, inverse and hybrid dynamics,
//! derivatives.
//!
//! Median of seven runs after two warm-ups, each of enough calls to last about 20 ms; (max −
//! min)/median beside it. The state moves from call to call, so that no call repeats the one
//! before.

use std::{hint::black_box, time::Instant};

use forks_dynamics::{
    AbaWorkspace, CrbaWorkspace, DerivativeWorkspace, LinkLoads, RneaWorkspace, Tree, aba,
    acceleration_derivatives, crba, hybrid, rnea,
};
use forks_mechanism::{Mechanism, linalg::Matrix};
use forks_models::{HelixJoints, bushy, chain, helix};

/// Median of seven after two warm-ups, seconds per call, and (max − min)/median.
fn time(mut call: impl FnMut()) -> (f64, f64) {
    let start = Instant::now();
    call();
    let calls = (0.02 / start.elapsed().as_secs_f64().max(1e-9)).ceil().max(1.0) as usize;
    let mut run = || {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed().as_secs_f64() / calls as f64
    };
    run();
    run();
    let mut t: [f64; 7] = core::array::from_fn(|_| run());
    t.sort_unstable_by(f64::total_cmp);
    (t[3], (t[6] - t[0]) / t[3])
}

fn report(case: &str, algorithm: &str, joints: usize, (seconds, spread): (f64, f64)) {
    let each = 1e9 * seconds / joints as f64;
    let total = 1e6 * seconds;
    println!(
        "{case:<22} {algorithm:<12} {total:>10.2} µs {each:>8.1} ns per coordinate, spread {spread:.2}"
    );
}

fn measure(case: &str, m: &Mechanism) {
    let tree = Tree::new(m);
    let n = tree.velocity_count();
    let mut q = m.start_positions()[..tree.position_count()].to_vec();
    let v: Vec<f64> = (0..n).map(|i| 0.1 * ((i * 7 % 13) as f64 - 6.0)).collect();
    let tau: Vec<f64> = (0..n).map(|i| 0.2 * ((i * 5 % 11) as f64 - 5.0)).collect();
    let (mut out, mut forces) = (vec![0.0; n], vec![0.0; n]);
    let loads = LinkLoads::GRAVITY;
    let mut shift = 1e-3;
    let mut nudge = |q: &mut [f64]| {
        q.iter_mut().for_each(|q| *q += shift);
        shift = -shift;
    };
    let mut ws = AbaWorkspace::new(&tree);
    let t = time(|| {
        nudge(&mut q);
        aba(&tree, &mut ws, &q, &v, black_box(&tau), &loads, &mut out).expect("links have mass");
    });
    report(case, "aba", n, t);
    let mut inverse = RneaWorkspace::new(&tree);
    let t = time(|| {
        nudge(&mut q);
        rnea(&tree, &mut inverse, &q, &v, black_box(&tau), &loads, &mut out);
    });
    report(case, "rnea", n, t);
    let prescribed: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let t = time(|| {
        nudge(&mut q);
        let tau = black_box(&tau);
        hybrid(&tree, &mut ws, &q, &v, &prescribed, tau, &loads, &mut out, &mut forces)
            .expect("links have mass");
    });
    report(case, "hybrid", n, t);
    let mut ws = DerivativeWorkspace::new(&tree);
    let mut d = acceleration_derivatives(&tree, &mut ws, &q, &prescribed).expect("links have mass");
    let t = time(|| d.apply(black_box(&tau), &[], &mut out, &mut forces));
    report(case, "derivative", n, t);
    if n <= 1000 {
        let (mut ws, mut mass) = (CrbaWorkspace::new(&tree), Matrix::zeros(n, n));
        let t = time(|| {
            nudge(&mut q);
            crba(&tree, &mut ws, &q, &mut mass);
        });
        report(case, "crba", n, t);
    }
}

/// One call in a loop, for instruction counts: `tree aba-only LINKS CALLS`.
fn only_aba(links: usize, calls: usize) {
    let m = helix(links, HelixJoints::Alternating).mechanism;
    let tree = Tree::new(&m);
    let n = tree.velocity_count();
    let (q, v, tau) = (vec![0.1; n], vec![0.2; n], vec![0.3; n]);
    let (mut ws, mut out) = (AbaWorkspace::new(&tree), vec![0.0; n]);
    for _ in 0..calls {
        aba(&tree, &mut ws, &q, &v, black_box(&tau), &LinkLoads::GRAVITY, &mut out)
            .expect("links have mass");
    }
    println!("{}", out[0]);
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "aba-only") {
        let number = |i: usize| arguments.get(at + i).and_then(|a| a.parse().ok()).unwrap_or(400);
        return only_aba(number(1), number(2));
    }
    measure("helix-400-alternating", &helix(400, HelixJoints::Alternating).mechanism);
    measure("helix-400-hinge3", &helix(400, HelixJoints::Hinge3).mechanism);
    measure("chain-4000", &chain(4000, 1).mechanism);
    measure("bushy-4000", &bushy(4000, 1).mechanism);
}
