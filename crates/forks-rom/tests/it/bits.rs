//! The portable instruction set gives the same bits on every target: a hash of a run, and its
//! equals.

use crate::support;

use std::sync::Arc;

use forks_rom::{
    EffectorLoad, Isa, LoadFrame, PoseBuffer, ReducedModel, State, StepStatus, Stepper, System,
    batch::{Batch, BatchPoses},
    data::{DEFAULT_RANGE, EffectorRest, LinkRest, ModelData},
    lie::{
        Pose, Wrench,
        glam::{DQuat, DVec3},
    },
    linalg::Matrix,
};
use support::{Fnv, bits};

const STEPS: usize = 1000;

/// Numbers in (−1, 1) that depend on integer arithmetic and one exact division only.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }

    fn matrix(&mut self, rows: usize, columns: usize, size: f64) -> Matrix {
        Matrix::from_fn(rows, columns, |_, _| size * self.next())
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Two effectors, seven coordinates, a servo, 25 links; not from a reducer, and no rotation from a
/// library.
fn model() -> Arc<ReducedModel> {
    let (n, servos) = (7, 1);
    let x = &mut Numbers(1);
    // Rotations whose entries are numbers of few digits: (3, 4, 12)/13 and 0 or 5/13 and 12/13.
    let turns = [
        DQuat::from_xyzw(0.0, 0.0, 0.0, 1.0),
        DQuat::from_xyzw(0.5, -0.5, 0.5, 0.5),
        DQuat::from_xyzw(0.6, 0.0, 0.0, 0.8),
        DQuat::from_xyzw(0.0, 0.28, 0.0, 0.96),
    ];
    let links: Vec<LinkRest> = (0..25)
        .map(|i| LinkRest {
            name: format!("link{i}"),
            auxiliary: false,
            rest: Pose::new(turns[i % 4], x.vector()),
            map: x.matrix(6, n, if i == 0 { 0.0 } else { 0.4 }),
            servo_map: x.matrix(6, servos, if i == 0 { 0.0 } else { 0.1 }),
        })
        .collect();
    let effector = |l: usize, x: &mut Numbers| EffectorRest {
        name: format!("effector of {l}"),
        link: l,
        link_from_effector: Pose::IDENTITY,
        rest: links[l].rest,
        static_wrench: Wrench::new(x.vector(), x.vector() * 0.25),
    };
    // Symmetric and dominated by the diagonal.
    let symmetric = |x: &mut Numbers, diagonal: f64, other: f64| {
        let half = x.matrix(n, n, other);
        Matrix::from_fn(n, n, |i, j| {
            half[(i.max(j), i.min(j))] + if i == j { diagonal } else { 0.0 }
        })
    };
    let effectors = vec![effector(24, x), effector(12, x)];
    let data = ModelData {
        radius: 1.0,
        range: DEFAULT_RANGE,
        effectors,
        basis: x.matrix(12, n, 0.5),
        hessian: symmetric(x, 60.0, 4.0),
        mass: symmetric(x, 0.5, 0.03),
        damping: symmetric(x, 0.4, 0.02),
        servo_rest: x.matrix(n, servos, 0.3),
        servos: vec!["servo".into()],
        links,
        joints: vec![],
        base: None,
    };
    Arc::new(ReducedModel::new(data).unwrap().with_isa(Isa::Portable))
}

/// The loads of a step: in world axes on one effector, in body axes on the other.
fn loads(step: usize) -> Vec<EffectorLoad> {
    let x = &mut Numbers(step as u64 / 100);
    (0..2)
        .map(|effector| EffectorLoad {
            effector,
            wrench: Wrench::new(x.vector() * 16.0, x.vector() * 4.0),
            frame: [LoadFrame::World, LoadFrame::Body][effector],
        })
        .collect()
}

fn start(model: &ReducedModel) -> State {
    let mut state = State::new(model);
    state.set_servo_targets(model, &[0.5]).unwrap();
    state
}

fn add_poses(hash: &mut Fnv, poses: impl Iterator<Item = (usize, Pose)>) {
    poses.for_each(|(_, p)| bits(&p).into_iter().for_each(|b| hash.add(b)));
}

/// A single instance; the hash of all poses and coordinates of all steps.
fn run_single() -> u64 {
    let model = model();
    let stepper = Stepper::new(model.clone(), 1e-3).unwrap();
    let (mut state, mut buffer) = (start(&model), PoseBuffer::new(&model));
    let mut work = stepper.workspace();
    let mut hash = Fnv::default();
    let mut largest = 0.0_f64;
    for step in 0..STEPS {
        assert_eq!(stepper.step(&mut state, &mut work, &loads(step)), StepStatus::Completed);
        model.poses(&state, &mut buffer);
        state.coordinates().iter().for_each(|x| hash.add(x.to_bits()));
        add_poses(&mut hash, buffer.iter());
        largest = state.coordinates().iter().fold(largest, |l, x| l.max(x.abs()));
    }
    assert!(largest > 0.1, "the run must move: {largest}");
    hash.0
}

/// Instance `which` of a batch of equals.
fn run_batch(instances: usize, which: usize) -> u64 {
    let model = model();
    let mut batch = Batch::new(Stepper::new(model.clone(), 1e-3).unwrap(), instances);
    (0..instances).for_each(|i| batch.set_state(i, &start(&model)).unwrap());
    let mut poses = BatchPoses::new(&model, instances);
    let mut hash = Fnv::default();
    for step in 0..STEPS {
        let found = batch.step(&vec![loads(step); instances]);
        assert_eq!(found.out_of_range + found.not_finite, 0);
        batch.poses(&mut poses);
        batch.coordinates(which).for_each(|x| hash.add(x.to_bits()));
        add_poses(&mut hash, poses.iter(which));
    }
    hash.0
}

/// The same on every target and for every version: a change of it is a change of results.
const GOLDEN: u64 = 0x609b_de58_25f4_d387;

#[test]
fn a_run_has_the_golden_hash() {
    let found = run_single();
    assert_eq!(found, GOLDEN, "found {found:#018x}");
}

#[test]
fn batches_of_any_size_have_the_golden_hash() {
    for (instances, which) in [(1, 0), (5, 4), (70, 66)] {
        assert_eq!(run_batch(instances, which), GOLDEN, "{which} of {instances}");
    }
}

#[cfg(feature = "rayon")]
#[test]
fn threads_have_the_golden_hash() {
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| run_batch(1100, 1070)), GOLDEN, "{threads} threads");
    }
}
