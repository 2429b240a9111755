//! The tree algorithms, time per coordinate: forward, inverse and hybrid dynamics, derivatives,
//! mass matrix. The state moves from call to call, so that none repeats the one before.

use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
    measurement::WallTime,
};
use forks_dynamics::tree::{
    AbaWorkspace, CrbaWorkspace, DerivativeWorkspace, LinkLoads, RneaWorkspace, Tree, aba,
    acceleration_derivatives, crba, hybrid, rnea,
};
use forks_mechanism::{Mechanism, linalg::Matrix};
use forks_models::{
    HelixJoints, helix,
    molecules::{bushy, chain},
};

const LOADS: LinkLoads<'static> = LinkLoads::GRAVITY;

/// A state that goes to and fro.
struct Moving {
    q: Vec<f64>,
    shift: f64,
}

impl Moving {
    fn next(&mut self) -> &[f64] {
        self.q.iter_mut().for_each(|q| *q += self.shift);
        self.shift = -self.shift;
        &self.q
    }
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, m: &Mechanism) {
    let tree = Tree::new(m);
    let n = tree.velocity_count();
    let start = m.start_positions()[..tree.position_count()].to_vec();
    let mut q = Moving { q: start, shift: 1e-3 };
    let v: Vec<f64> = (0..n).map(|i| 0.1 * ((i * 7 % 13) as f64 - 6.0)).collect();
    let tau: Vec<f64> = (0..n).map(|i| 0.2 * ((i * 5 % 11) as f64 - 5.0)).collect();
    let prescribed: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let (mut out, mut forces) = (vec![0.0; n], vec![0.0; n]);
    group.throughput(Throughput::Elements(n as u64));
    let mut work = AbaWorkspace::new(&tree);
    group.bench_function(BenchmarkId::new("aba", name), |b| {
        b.iter(|| aba(&tree, &mut work, q.next(), &v, &tau, &LOADS, &mut out));
    });
    group.bench_function(BenchmarkId::new("hybrid", name), |b| {
        b.iter(|| {
            let q = q.next();
            hybrid(&tree, &mut work, q, &v, &prescribed, &tau, &LOADS, &mut out, &mut forces)
        });
    });
    let mut work = RneaWorkspace::new(&tree);
    group.bench_function(BenchmarkId::new("rnea", name), |b| {
        b.iter(|| rnea(&tree, &mut work, q.next(), &v, &tau, &LOADS, &mut out));
    });
    let mut work = DerivativeWorkspace::new(&tree);
    let derivatives = acceleration_derivatives(&tree, &mut work, q.next(), &prescribed);
    let mut derivatives = derivatives.expect("links have mass");
    group.bench_function(BenchmarkId::new("derivative", name), |b| {
        b.iter(|| derivatives.apply(&tau, &[], &mut out, &mut forces));
    });
    if n <= 1000 {
        let (mut work, mut mass) = (CrbaWorkspace::new(&tree), Matrix::zeros(n, n));
        group.bench_function(BenchmarkId::new("crba", name), |b| {
            b.iter(|| crba(&tree, &mut work, q.next(), &mut mass));
        });
    }
}

fn all(c: &mut Criterion) {
    let mut group = c.benchmark_group("tree");
    let alternating = helix(400, HelixJoints::Alternating).mechanism;
    measure(&mut group, "helix-400-alternating", &alternating);
    measure(&mut group, "helix-400-hinge3", &helix(400, HelixJoints::Hinge3).mechanism);
    measure(&mut group, "chain-4000", &chain(4000, 1).mechanism);
    measure(&mut group, "bushy-4000", &bushy(4000, 1).mechanism);
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = all
}
criterion_main!(benches);
