//! A reduced helix: a step, the poses of all links, both, and many instances at once.

use std::{hint::black_box, sync::Arc};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use forks_benches::helix_at_its_tip;
use forks_rom::{
    EffectorLoad, LoadFrame, PoseBuffer, State, Stepper, Workspace,
    batch::{Batch, BatchPoses},
    lie::{Wrench, glam::DVec3},
};

const INSTANCES: usize = 64;

fn pull() -> EffectorLoad {
    let wrench = Wrench::new(DVec3::new(10.0, 0.0, 0.0), DVec3::ZERO);
    EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }
}

fn one(c: &mut Criterion) {
    let mut group = c.benchmark_group("rom");
    for links in [50, 100, 400] {
        let model = Arc::new(helix_at_its_tip(links));
        let stepper = Stepper::new(model.clone(), 1e-3).expect("a step above 0");
        let (mut state, mut poses) = (State::new(&model), PoseBuffer::new(&model));
        let mut work = Workspace::new(&model);
        group.throughput(Throughput::Elements(links as u64));
        group.bench_function(BenchmarkId::new("step", links), |b| {
            b.iter(|| stepper.step(&mut state, &mut work, &[pull()]));
        });
        group.bench_function(BenchmarkId::new("poses", links), |b| {
            b.iter(|| model.poses(black_box(&state), &mut poses));
        });
        group.bench_function(BenchmarkId::new("step and poses", links), |b| {
            b.iter(|| {
                let status = stepper.step(&mut state, &mut work, &[pull()]);
                model.poses(&state, &mut poses);
                status
            });
        });
    }
    group.finish();
}

fn many(c: &mut Criterion) {
    let mut group = c.benchmark_group("rom batch");
    let model = Arc::new(helix_at_its_tip(200));
    let stepper = Stepper::new(model.clone(), 1e-3).expect("a step above 0");
    let mut batch = Batch::new(stepper, INSTANCES);
    let mut poses = BatchPoses::new(&model, INSTANCES);
    let loads = vec![[pull()]; INSTANCES];
    group.throughput(Throughput::Elements(INSTANCES as u64));
    group.bench_function("step", |b| b.iter(|| batch.step(&loads).not_finite));
    group.bench_function("step and poses", |b| {
        b.iter(|| {
            let failed = batch.step(&loads).not_finite;
            batch.poses(&mut poses);
            failed
        });
    });
    group.finish();
}

criterion_group!(benches, one, many);
criterion_main!(benches);
