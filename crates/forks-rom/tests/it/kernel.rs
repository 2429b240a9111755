//! The pose kernel against the exponential of the library of rigid motions.

use crate::support;

use std::sync::Arc;

use forks_rom::{
    Isa, LinkSelection, PoseBuffer, ReducedModel, State,
    lie::{Pose, glam::DVec3},
    linalg::Matrix,
};
use forks_testkit::Rng;
use support::{Sizes, bits, data, twist, vector};

/// One coordinate of 1 turns each link by its own angle; sizes of all kinds lie side by side in a
/// block.
const ANGLES: [f64; 14] = [
    0.0,
    1e-300,
    1e-12,
    1e-5,
    0.1,
    1.0,
    2.0,
    3.0,
    std::f64::consts::PI - 1e-4,
    std::f64::consts::PI + 1e-5,
    3.2,
    4.5,
    6.0,
    20.0,
];

fn with_angles(rng: &mut Rng, n: usize, servos: usize) -> ReducedModel {
    let sizes = Sizes { effectors: 1, coordinates: n, servos, links: 60 };
    let mut data = data(rng, sizes);
    for (i, l) in data.links.iter_mut().enumerate().skip(1) {
        l.auxiliary = false;
        // The last column has what the others lack of the wanted rotation vector at coordinates of
        // 1.
        let wanted = vector(rng).normalize() * ANGLES[rng.index(ANGLES.len())];
        let others = |k: usize, m: &Matrix| m.row(k).iter().sum::<f64>();
        for k in 0..3 {
            let all = others(3 + k, &l.map) + others(3 + k, &l.servo_map) - l.map[(3 + k, n - 1)];
            if i % 2 == 0 {
                l.map[(3 + k, n - 1)] = wanted[k] - all;
            } else {
                // Exactly the angle: nothing else turns this link.
                (0..n).for_each(|j| l.map[(3 + k, j)] = 0.0);
                (0..servos).for_each(|j| l.servo_map[(3 + k, j)] = 0.0);
                l.map[(3 + k, n - 1)] = wanted[k];
            }
        }
    }
    ReducedModel::new(data).unwrap()
}

fn state_of_ones(model: &ReducedModel) -> State {
    let mut state = State::new(model);
    state.set(&vec![1.0; model.dof()], &vec![0.0; model.dof()]).unwrap();
    state.set_servo_targets(model, &vec![1.0; model.data().servos.len()]).unwrap();
    state
}

fn poses(model: &ReducedModel, state: &State) -> Vec<(usize, Pose)> {
    let mut buffer = PoseBuffer::new(model);
    model.poses(state, &mut buffer);
    buffer.iter().collect()
}

/// Largest differences of positions and quaternions.
fn distance(a: &Pose, b: &Pose) -> [f64; 2] {
    [a.translation.distance(b.translation), (a.rotation - b.rotation).length()]
}

#[test]
fn poses_are_those_of_the_exponential() {
    let rng = &mut Rng::new(5);
    for (n, servos) in [(1, 0), (3, 2), (5, 0), (6, 0), (6, 3), (7, 1), (12, 0), (18, 2), (23, 0)] {
        let detected = with_angles(rng, n, servos);
        let state = state_of_ones(&detected);
        for model in [detected.clone().with_isa(Isa::Portable), detected] {
            for (l, pose) in poses(&model, &state) {
                let link = &model.data().links[l];
                let xi = twist(link, state.coordinates(), state.servo_targets());
                let rival = link.rest * Pose::exp(xi);
                // The twist is a sum of n + servos products, turned into other axes (a dozen
                // operations); the exponential's result moves with it by at most |ξ| of lengths and
                // angles.
                let columns = (n + servos) as f64;
                let size = 1.0 + columns * 0.9 + xi.angular.length() + xi.linear.length();
                let bound = (columns + 16.0) * f64::EPSILON * size;
                let [position, rotation] = distance(&pose, &rival);
                assert!(position < bound * size, "{n}, {servos}: link {l} off by {position:e}");
                assert!(rotation < bound, "{n}, {servos}: link {l} turned by {rotation:e}");
                // Quaternions of the rest pose and of the exponential are unit to 4 ε each.
                let length = pose.rotation.length();
                assert!((length - 1.0).abs() < 8.0 * f64::EPSILON, "link {l}: |q| = {length}");
            }
        }
    }
}

#[test]
fn instruction_sets_agree() {
    let rng = &mut Rng::new(6);
    for n in [1, 5, 6, 12, 18] {
        let model = with_angles(rng, n, 1);
        let state = state_of_ones(&model);
        let portable = poses(&model.clone().with_isa(Isa::Portable), &state);
        for ((l, a), (_, b)) in poses(&model, &state).iter().zip(&portable) {
            let [position, rotation] = distance(a, b);
            // Relative to the numbers that are added: position, displacement, rotation vector (up
            // to 20 rad).
            let link = &model.data().links[*l];
            let xi = twist(link, state.coordinates(), state.servo_targets());
            let size = 1.0 + xi.angular.length() + xi.linear.length();
            assert!(
                position < 1e-14 * size * b.translation.length().max(1.0),
                "{n}: link {l}: {position:e}"
            );
            assert!(rotation < 1e-14 * size, "{n}: link {l}: {rotation:e}");
        }
    }
}

#[test]
fn a_link_is_the_same_alone_in_a_selection_and_among_all() {
    let model = with_angles(&mut Rng::new(7), 6, 2);
    let state = state_of_ones(&model);
    let all = poses(&model, &state);
    let chosen: Vec<usize> = all.iter().map(|(l, _)| *l).rev().step_by(3).collect();
    let selection = LinkSelection::new(&model, &chosen).unwrap();
    assert_eq!(selection.links(), chosen);
    let mut some = PoseBuffer::of_selection(&selection);
    model.poses_of(&selection, &state, &mut some);
    assert_eq!(some.links(), chosen);
    let mut seen = 0;
    for (l, pose) in &all {
        assert_eq!(bits(pose), bits(&model.pose_of_link(*l, &state)), "link {l} alone");
        if let Some((_, of_selection)) = some.iter().find(|(s, _)| s == l) {
            assert_eq!(bits(pose), bits(&of_selection), "link {l} in a selection");
            seen += 1;
        }
    }
    assert_eq!(seen, chosen.len());
    assert!(LinkSelection::new(&model, &[1, model.data().links.len()]).is_err());
    // The ground may be selected, and nothing at all.
    let ground = LinkSelection::new(&model, &[0]).unwrap();
    let mut buffer = PoseBuffer::of_selection(&ground);
    model.poses_of(&ground, &state, &mut buffer);
    assert_eq!(buffer.get(0), model.data().links[0].rest);
    let none = LinkSelection::new(&model, &[]).unwrap();
    model.poses_of(&none, &state, &mut PoseBuffer::of_selection(&none));
}

#[test]
fn numbers_that_overflow_stay_in_their_own_link() {
    let mut data =
        data(&mut Rng::new(8), Sizes { effectors: 1, coordinates: 6, servos: 0, links: 9 });
    data.links.iter_mut().for_each(|l| l.auxiliary = false);
    // The second link of the first block turns by more than a number can hold once it is squared.
    for j in 0..6 {
        data.links[2].map[(3, j)] = 1e200;
        data.links[2].map[(0, j)] = 1e308;
    }
    let detected = ReducedModel::new(data).unwrap();
    let state = state_of_ones(&detected);
    for model in [detected.clone().with_isa(Isa::Portable), detected] {
        for (l, pose) in poses(&model, &state) {
            let link = &model.data().links[l];
            let expected = link.rest * Pose::exp(twist(link, state.coordinates(), &[]));
            if l == 2 {
                assert!(!pose.is_finite(), "an overflow must not look like a pose: {pose:?}");
            } else {
                assert!(distance(&pose, &expected)[0] < 1e-13, "link {l}");
            }
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn many_links_on_any_number_of_threads() {
    let sizes = Sizes { effectors: 1, coordinates: 6, servos: 0, links: 30_000 };
    let model = Arc::new(ReducedModel::new(data(&mut Rng::new(9), sizes)).unwrap());
    let state = state_of_ones(&model);
    let one = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| poses(&model, &state))
    };
    let expected = one(1);
    assert!(expected.len() > 16_384, "enough links for several threads");
    for threads in [2, 4] {
        for ((l, a), (_, b)) in one(threads).iter().zip(&expected) {
            assert_eq!(bits(a), bits(b), "link {l} on {threads} threads");
        }
    }
    assert_eq!(bits(&expected[1].1), bits(&model.pose_of_link(expected[1].0, &state)));
    assert!(expected[1].1.translation != DVec3::ZERO);
}
