//! Many instances of blends, on fixed bases and floating ones, against single ones, to the last
//! bit, on one thread and on several.

use std::sync::Arc;

use blend_support::{Sizes, bent::bend, blend, numbers, twist};
use forks_blend::{BlendedModel, BlendedStepper};
use forks_rom::{
    EffectorLoad, LoadFrame, StepStatus, System,
    batch::{BatchStatus, Instances},
    lie::{Pose, Wrench},
};
use forks_testkit::Rng;

use crate::{blend_support, floating};

/// One list of loads per instance, some of which are no numbers.
fn loads(rng: &mut Rng, count: usize) -> Vec<Vec<EffectorLoad>> {
    let load = |rng: &mut Rng, i: usize| {
        let mut wrench = Wrench::from_array(twist(rng, 2.0).to_array());
        if i % 7 == 2 {
            wrench.force.y = f64::NAN;
        }
        EffectorLoad { effector: 0, wrench, frame: [LoadFrame::World, LoadFrame::Body][i % 2] }
    };
    (0..count).map(|i| (0..i % 3).map(|_| load(rng, i)).collect()).collect()
}

fn bits(p: Pose) -> [u64; 7] {
    p.to_array().map(f64::to_bits)
}

fn compare<S: System>(system: &S, count: usize, rng: &mut Rng) {
    let mut all = Instances::new(system.clone(), count);
    assert_eq!((all.len(), all.is_empty()), (count, count == 0));
    let n = system.dof();
    let mut singles: Vec<S::State> = (0..count).map(|_| system.state()).collect();
    let mut coordinates = vec![0.0; system.coordinate_count()];
    for (i, single) in singles.iter_mut().enumerate() {
        system.coordinates(single, &mut coordinates);
        let first = coordinates.len() - 6;
        coordinates[first..].copy_from_slice(&numbers(rng, 6, 0.1));
        let rates = numbers(rng, n, 0.3);
        system.set(single, &coordinates, &rates).unwrap();
        system.set(all.state_mut(i), &coordinates, &rates).unwrap();
    }
    let mut work = system.workspace();
    let mut buffer = system.pose_buffer();
    assert!(count == 0 || all.poses(0).is_none());
    for _ in 0..3 {
        let lists = loads(rng, count);
        let found = all.step(&lists);
        all.update_poses();
        let mut expected = BatchStatus::default();
        for ((i, single), status) in singles.iter_mut().enumerate().zip(all.statuses()) {
            assert_eq!(status, system.step(single, &mut work, &lists[i]), "status of {i}");
            match status {
                StepStatus::Completed => {}
                StepStatus::OutOfRange { .. } => expected.out_of_range += 1,
                StepStatus::NotFinite => expected.not_finite += 1,
                _ => expected.uncontrolled += 1,
            }
            assert_eq!(all.state(i), single, "state of {i}");
            system.poses(single, &mut work, &mut buffer);
            for ((_, a), (link, b)) in all.poses(i).unwrap().iter().zip(buffer.iter()) {
                assert_eq!(bits(a), bits(b), "link {link} of instance {i}");
            }
        }
        assert_eq!(found, expected);
        assert!(count < 3 || found.not_finite > 0, "some loads are no numbers");
    }
}

/// Wrenches row by row are lists of one load on each effector.
#[test]
fn wrenches_and_lists_of_loads_are_the_same() {
    let rng = &mut Rng::new(6);
    let system = fixed(rng);
    let count = 70;
    let [mut by_rows, mut by_lists] = [0; 2].map(|_| Instances::new(system.clone(), count));
    for frame in [LoadFrame::World, LoadFrame::Body] {
        let rows: Vec<[f64; 6]> = (0..count).map(|_| twist(rng, 2.0).to_array()).collect();
        let load =
            |w: &[f64; 6]| EffectorLoad { effector: 0, wrench: Wrench::from_array(*w), frame };
        let lists: Vec<[EffectorLoad; 1]> = rows.iter().map(|w| [load(w)]).collect();
        let found = by_rows.step_with_wrenches(&rows, frame);
        assert_eq!(found, by_lists.step(&lists));
        (0..count).for_each(|i| assert_eq!(by_rows.state(i), by_lists.state(i), "{i}"));
    }
}

fn fixed(rng: &mut Rng) -> BlendedStepper {
    let mut data = blend(rng, Sizes { effectors: 1, samples: 3, links: 5, spread: 0.2 });
    bend(rng, &mut data, 2, 0.5);
    BlendedStepper::new(Arc::new(BlendedModel::new(data).unwrap()), 1e-3).unwrap()
}

#[test]
fn instances_are_single_blends() {
    let mut rng = Rng::new(3);
    let (fixed, floating) = (fixed(&mut rng), floating::stepper(&mut rng));
    for count in [0, 1, 5, 64, 67, 200] {
        compare(&fixed, count, &mut rng);
        compare(&floating, count, &mut rng);
    }
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let system = fixed(&mut Rng::new(4));
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| compare(&system, 300, &mut Rng::new(5)));
    }
}
