//! A step of the scenes of `fixtures/scenes` while things touch, collision and contact included,
//! and of full mechanisms in worlds.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use forks_benches::fixture;
use forks_mechanism::Preparation;
use forks_models::{HelixJoints, arm20, helix, irregular_ladder};
use forks_rom::LoadFrame;
use forks_sim::{
    World, WorldSettings,
    lie::{Pose, Wrench, glam::DVec3},
    scene::{Fidelity, Scene},
    twin::{FullMechanism, Gravity},
};

/// Seconds before anything is timed.
const BEFORE: f64 = 1.0;
/// Steps of a run; all runs start from the same state.
const STEPS: usize = 200;

fn scenes(c: &mut Criterion) {
    let names =
        ["hand-ball", "hand-box", "hand-object", "firefighters", "hexapod", "solo12", "peg"];
    let mut group = c.benchmark_group(format!("{STEPS} steps of scene"));
    for name in names {
        let file = fixture(&format!("scenes/{name}.toml"));
        let mut scene = Scene::load(&file, Fidelity::Reduced).expect("a valid scene");
        for _ in 0..(BEFORE / scene.spec.world.step).round() as usize {
            let _ = scene.step();
        }
        let start = scene.world.snapshot();
        group.throughput(Throughput::Elements(STEPS as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                scene.world.restore(&start).expect("a snapshot of this world");
                (0..STEPS).map(|_| scene.step().sweeps).sum::<usize>()
            });
        });
    }
    group.finish();
}

fn twins(c: &mut Criterion) {
    let cases = [
        ("helix-20-alternating", helix(20, HelixJoints::Alternating)),
        ("helix-20-hinge3", helix(20, HelixJoints::Hinge3)),
        ("irregular-ladder-5", irregular_ladder(5)),
        ("arm-20", arm20()),
    ];
    let mut group = c.benchmark_group("step of the full mechanism");
    for (name, p) in cases {
        let effector = &p.mechanism.link(p.effectors[0]).name;
        let full = FullMechanism::new(&p.mechanism, &Preparation::default(), &[effector]);
        let full = full.expect("a valid mechanism").under(Gravity::Off);
        let mut world = World::new(WorldSettings::default()).expect("valid settings");
        let m = world.add_full(name, &full, Pose::IDENTITY).expect("a valid mechanism");
        let pull = Wrench::new(DVec3::new(100.0, 0.0, 0.0), DVec3::ZERO);
        world.set_effector_load(m, 0, pull, LoadFrame::World).expect("one effector");
        group.bench_function(name, |b| {
            b.iter(|| world.step());
        });
    }
    group.finish();
}

criterion_group!(benches, scenes, twins);
criterion_main!(benches);
