//! Batches against single instances, to the last bit.

use crate::support;

use std::sync::Arc;

use forks_rom::{
    EffectorLoad, Elasticity, Isa, LoadFrame, PoseBuffer, ReducedModel, Scheme, State, StepStatus,
    Stepper, System,
    batch::{Batch, BatchPoses},
    lie::Wrench,
};
use forks_testkit::Rng;
use support::{Sizes, all_bits, bits, loads, model};

/// Random states, some outside the range, some with servo targets.
fn states(rng: &mut Rng, model: &ReducedModel, count: usize) -> Vec<State> {
    let (n, servos) = (model.dof(), model.data().servos.len());
    let state = |rng: &mut Rng| {
        let mut state = State::new(model);
        let size = [0.1, 1.0, 4.0][rng.index(3)];
        let mut random =
            |n: usize, size: f64| -> Vec<f64> { (0..n).map(|_| size * rng.symmetric()).collect() };
        let (eta, velocity, targets) = (random(n, size), random(n, 1.0), random(servos, 1.0));
        state.set(&eta, &velocity).unwrap();
        if rng.index(2) == 0 {
            state.set_servo_targets(model, &targets).unwrap();
        }
        state
    };
    (0..count).map(|_| state(rng)).collect()
}

fn assert_same_state(batch: &Batch, i: usize, state: &State) {
    assert_eq!(
        all_bits(batch.coordinates(i)),
        all_bits(state.coordinates().iter().copied()),
        "eta of {i}"
    );
    let velocity = state.velocity().iter().copied();
    assert_eq!(all_bits(batch.velocity(i)), all_bits(velocity), "velocity of {i}");
    assert_eq!(&batch.state(i), state);
}

/// Steps a batch and single instances side by side.
fn compare(stepper: &Stepper, instances: usize, seed: u64) {
    let rng = &mut Rng::new(seed);
    let model = stepper.model();
    let mut singles = states(rng, model, instances);
    let mut batch = Batch::new(stepper.clone(), instances);
    for (i, s) in singles.iter().enumerate() {
        batch.set_state(i, s).unwrap();
    }
    let mut poses = BatchPoses::new(model, instances);
    let mut buffer = PoseBuffer::new(model);
    let mut outside = 0;
    for _ in 0..3 {
        let mut lists: Vec<Vec<EffectorLoad>> =
            (0..instances).map(|_| loads(rng, model.effector_count(), 5.0)).collect();
        // Some instances get loads that are no numbers.
        for list in lists.iter_mut().skip(2).step_by(7) {
            list.iter_mut()
                .take(1)
                .for_each(|l| l.wrench.force.y = [f64::NAN, f64::INFINITY][rng.index(2)]);
        }
        let found = batch.step(&lists);
        batch.poses(&mut poses);
        let mut expected = forks_rom::batch::BatchStatus::default();
        let statuses: Vec<StepStatus> = batch.statuses().collect();
        assert_eq!(statuses.len(), instances);
        for (i, state) in singles.iter_mut().enumerate() {
            let status = stepper.step(state, &mut stepper.workspace(), &lists[i]);
            assert_eq!(statuses[i], status, "status of {i} of {instances}");
            match status {
                StepStatus::Completed => {}
                StepStatus::NotFinite => expected.not_finite += 1,
                _ => expected.out_of_range += 1,
            }
            assert_same_state(&batch, i, state);
            model.poses(state, &mut buffer);
            assert_eq!(poses.links(), buffer.links());
            for ((_, a), (link, b)) in poses.iter(i).zip(buffer.iter()) {
                assert_eq!(bits(&a), bits(&b), "link {link} of instance {i} of {instances}");
            }
        }
        assert_eq!(found, expected);
        outside += found.out_of_range;
        if instances > 100 {
            assert!(found.not_finite > 0, "the test must meet loads that are no numbers");
        }
    }
    if instances > 100 {
        assert!(outside > 0, "the test must meet states out of range");
    }
}

const SIZES: [Sizes; 6] = [
    Sizes { effectors: 1, coordinates: 6, servos: 1, links: 14 },
    Sizes { effectors: 1, coordinates: 5, servos: 0, links: 9 },
    Sizes { effectors: 1, coordinates: 1, servos: 2, links: 2 },
    Sizes { effectors: 2, coordinates: 12, servos: 3, links: 22 },
    Sizes { effectors: 3, coordinates: 18, servos: 0, links: 70 },
    Sizes { effectors: 2, coordinates: 15, servos: 1, links: 4 },
];

fn isas() -> Vec<Isa> {
    vec![Isa::Portable, Isa::detect()]
}

fn steppers(model: &Arc<ReducedModel>) -> Vec<Stepper> {
    let mut all = vec![];
    for scheme in [Scheme::ImplicitEuler, Scheme::Exponential] {
        for elasticity in [Elasticity::Energy, Elasticity::Linear] {
            all.push(Stepper::with(model.clone(), 0.01, scheme, elasticity).unwrap());
        }
    }
    all
}

#[test]
fn instances_of_a_batch_are_single_instances() {
    for (k, sizes) in SIZES.into_iter().enumerate() {
        for isa in isas() {
            let model = Arc::new((*model(k as u64, sizes)).clone().with_isa(isa));
            for stepper in steppers(&model) {
                for instances in [1, 3, 4, 5, 67, 130] {
                    compare(&stepper, instances, instances as u64);
                }
            }
        }
    }
}

#[test]
fn many_instances_are_single_instances() {
    let model = model(7, SIZES[0]);
    compare(&Stepper::new(model, 1e-3).unwrap(), 1000, 1);
}

/// Wrenches row by row are loads in lists, complete or not, in any order.
#[test]
fn wrenches_and_lists_of_loads_are_the_same() {
    let rng = &mut Rng::new(4);
    for (k, sizes) in SIZES.into_iter().enumerate() {
        for stepper in steppers(&model(k as u64, sizes)) {
            for (instances, frame) in [(67, LoadFrame::World), (130, LoadFrame::Body)] {
                let effectors = stepper.model().effector_count();
                let mut all = [0; 3].map(|_| Batch::new(stepper.clone(), instances));
                for (i, s) in states(rng, stepper.model(), instances).iter().enumerate() {
                    all.iter_mut().for_each(|b| b.set_state(i, s).unwrap());
                }
                let [by_rows, by_lists, turned] = &mut all;
                for _ in 0..2 {
                    let mut rows: Vec<[f64; 6]> = (0..instances * effectors)
                        .map(|_| core::array::from_fn(|_| 5.0 * rng.symmetric()))
                        .collect();
                    rows[effectors * 3][4] = f64::NAN;
                    let list = |row: &[[f64; 6]]| -> Vec<EffectorLoad> {
                        let load = |(effector, w): (usize, &[f64; 6])| EffectorLoad {
                            effector,
                            wrench: Wrench::from_array(*w),
                            frame,
                        };
                        row.iter().enumerate().map(load).collect()
                    };
                    let lists: Vec<_> = rows.chunks(effectors).map(list).collect();
                    let mut reversed = lists.clone();
                    reversed.iter_mut().for_each(|l| l.reverse());
                    let found = by_rows.step_with_wrenches(&rows, frame);
                    assert_eq!(found, by_lists.step(&lists));
                    assert_eq!(found, turned.step(&reversed));
                    assert!(found.not_finite > 0);
                    for i in 0..instances {
                        assert_same_state(by_rows, i, &by_lists.state(i));
                        assert_same_state(turned, i, &by_lists.state(i));
                    }
                }
            }
        }
    }
    let mut batch = Batch::new(Stepper::new(model(9, SIZES[1]), 1e-3).unwrap(), 2);
    let frame = LoadFrame::World;
    let short = || batch.step_with_wrenches(&[[0.0; 6]], frame).not_finite;
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(short)).is_err());
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // Enough instances and links that several threads are used.
    let stepper = Stepper::new(model(8, Sizes { links: 40, ..SIZES[0] }), 1e-3).unwrap();
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| compare(&stepper, 1500, 3));
    }
}

#[test]
fn a_batch_can_be_empty_and_needs_a_list_per_instance() {
    let stepper = Stepper::new(model(9, SIZES[1]), 1e-3).unwrap();
    let mut none = Batch::new(stepper.clone(), 0);
    assert!(none.is_empty());
    let nothing: [Vec<EffectorLoad>; 0] = [];
    assert_eq!(none.step(&nothing), forks_rom::batch::BatchStatus::default());
    none.poses(&mut BatchPoses::new(stepper.model(), 0));
    let mut other = Batch::new(stepper, 2);
    let wrong = State::new(&model(1, SIZES[0]));
    assert!(other.set_state(1, &wrong).is_err());
    let short: [Vec<EffectorLoad>; 1] = [vec![]];
    let step = std::panic::AssertUnwindSafe(|| other.step(&short).not_finite);
    assert!(std::panic::catch_unwind(step).is_err());
}

#[test]
fn batches_can_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Batch>();
    shared::<BatchPoses>();
    shared::<Stepper>();
    shared::<State>();
}
