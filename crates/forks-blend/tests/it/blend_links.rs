//! Poses of a blend's links: the vector kernels against scalar means, order, threads, joint space.

use std::sync::Arc;

use blend_support::{Sizes, blend, numbers};
use forks_blend::{
    BlendData, BlendedModel, BlendedState, BlendedWorkspace, LinkBlend, SampleData, Weights,
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{Pose, Twist, glam::DVec3, so3::exp_rotation},
};
use forks_reduce::{Effector, Linearisation, Problem, ReduceOptions};
use forks_rom::{Isa, Reconstruction};
use forks_testkit::{Rng, kinematics::displace};

use crate::blend_support;

const BLENDS: [LinkBlend; 2] = [LinkBlend::Average, LinkBlend::Logarithm];

/// The largest difference of two lists of poses, lengths in metres.
fn difference(a: &[Pose], b: &[Pose]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.twist_to(b).norm()).fold(0.0, f64::max)
}

/// Poses of all links by the definition, with the library of rigid motions.
fn rival(m: &BlendedModel, x: &[f64], blend: LinkBlend) -> Vec<Pose> {
    let weights = m.weights(x);
    let samples = &m.data().samples;
    let etas: Vec<Vec<f64>> = samples.iter().map(|s| m.to_sample(x, &s.model)).collect();
    let mean = |l: usize| {
        let pose = |i: usize| samples[i].model.link_pose(l, &etas[i], &[]);
        let first = pose(0);
        let mut sum = Pose { rotation: first.rotation * 0.0, translation: DVec3::ZERO };
        for (i, w) in weights.iter().enumerate() {
            let p = pose(i);
            let sign = if first.rotation.dot(p.rotation) < 0.0 { -1.0 } else { 1.0 };
            sum.rotation += p.rotation * (sign * w);
            sum.translation += p.translation * *w;
        }
        let base = sum.normalized();
        if blend == LinkBlend::Average {
            return base;
        }
        let log = |sum: Twist, (i, w): (usize, &f64)| sum + base.twist_to(&pose(i)) * *w;
        base.displaced(weights.iter().enumerate().fold(Twist::ZERO, log))
    };
    (0..samples[0].model.data().links.len()).map(mean).collect()
}

fn shown(m: &BlendedModel, x: &[f64], blend: LinkBlend) -> Vec<Pose> {
    let state = BlendedState::new(m, x).unwrap();
    let mut work = BlendedWorkspace::new(m);
    let mut out = m.pose_buffer();
    m.poses(&state, &mut work, blend, &mut out);
    std::iter::once(Pose::IDENTITY).chain(out.iter().map(|(_, p)| p)).collect()
}

#[test]
fn the_kernels_agree_with_the_definition() {
    let mut rng = Rng::new(21);
    // 20 samples are more than are kept; a spread of 1.5 rad needs the scalar fallback in some
    // blocks.
    for (effectors, samples, spread) in
        [(1, 1, 0.3), (1, 2, 0.3), (1, 8, 0.3), (1, 20, 0.3), (2, 5, 0.3), (1, 3, 0.8)]
    {
        let m = BlendedModel::new(blend(&mut rng, Sizes { effectors, samples, links: 30, spread }));
        let m = m.unwrap();
        for isa in [Isa::Portable, Isa::detect()] {
            let m = m.clone().with_isa(isa);
            for blend in BLENDS {
                let x = numbers(&mut rng, m.dof(), 0.3);
                let (ours, rival) = (shown(&m, &x, blend), rival(&m, &x, blend));
                assert_eq!(ours.len(), rival.len());
                let error = difference(&ours, &rival);
                // Poses of size 1; some 50 roundings, and coordinates from logarithms with theirs.
                assert!(
                    error < 200.0 * f64::EPSILON,
                    "{effectors}, {samples}, {blend:?}: {error:e}"
                );
            }
        }
    }
}

/// Links that turn by more than π, and samples that differ by more than the logarithm's shorter
/// polynomials are for.
#[test]
fn links_that_turn_far() {
    let mut rng = Rng::new(28);
    for isa in [Isa::Portable, Isa::detect()] {
        let sizes = Sizes { effectors: 1, samples: 4, links: 30, spread: 0.8 };
        let m = BlendedModel::new(blend(&mut rng, sizes)).unwrap().with_isa(isa);
        let mut turned = 0.0f64;
        for size in [1.0, 2.0, 3.0] {
            let x = numbers(&mut rng, m.dof(), size);
            for s in &m.data().samples {
                let eta = m.to_sample(&x, &s.model);
                for link in &s.model.data().links {
                    let twist = link.map.mul_vec(&eta);
                    turned = turned.max(twist[3..].iter().map(|w| w * w).sum::<f64>().sqrt());
                }
            }
            for blend in BLENDS {
                let (ours, rival) = (shown(&m, &x, blend), rival(&m, &x, blend));
                // Averages of poses that are far apart are short before they are normalised.
                let error = difference(&ours, &rival);
                assert!(error < 4000.0 * f64::EPSILON, "{size}, {blend:?}: {error:e}");
            }
        }
        assert!(turned > core::f64::consts::PI, "{turned}");
    }
}

#[test]
fn one_kernel_for_links_alone_and_on_request() {
    let mut rng = Rng::new(22);
    let sizes = Sizes { effectors: 1, samples: 4, links: 21, spread: 0.3 };
    let m = BlendedModel::new(blend(&mut rng, sizes)).unwrap();
    let x = numbers(&mut rng, 6, 0.3);
    for blend in BLENDS {
        let state = BlendedState::new(&m, &x).unwrap();
        let mut work = BlendedWorkspace::new(&m);
        let mut all = vec![Pose::IDENTITY; 23];
        m.link_poses_into(&state, &mut work, Reconstruction::Twist, blend, &mut all);
        assert!(difference(&all, &shown(&m, &x, blend)) < 200.0 * f64::EPSILON);
    }
}

#[test]
fn the_order_of_the_samples_does_not_matter() {
    let mut rng = Rng::new(23);
    for samples in [2, 3, 7] {
        let sizes = Sizes { effectors: 1, samples, links: 15, spread: 0.3 };
        let data = blend(&mut rng, sizes);
        let mut turned = data.clone();
        turned.samples.reverse();
        turned.samples.rotate_left(1);
        let (a, b) = (BlendedModel::new(data).unwrap(), BlendedModel::new(turned).unwrap());
        let x = numbers(&mut rng, 6, 0.3);
        for blend in BLENDS {
            assert!(difference(&shown(&a, &x, blend), &shown(&b, &x, blend)) < 1e-12);
        }
    }
}

#[test]
fn samples_are_reproduced() {
    let mut rng = Rng::new(24);
    let sizes = Sizes { effectors: 1, samples: 5, links: 15, spread: 0.3 };
    let m = BlendedModel::new(blend(&mut rng, sizes)).unwrap();
    for (i, s) in m.data().samples.iter().enumerate() {
        for blend in BLENDS {
            let rests: Vec<Pose> = s.model.data().links.iter().map(|l| l.rest).collect();
            assert!(difference(&shown(&m, m.place(i), blend), &rests) < 1e-12);
        }
    }
}

/// Rotations of the average deviate from those of [A16] Eq. 28 by third order in the spread of the
/// samples' poses, positions by second order: a spread half as large makes an eighth and a quarter.
#[test]
fn deviation_of_the_average() {
    let mut worst = [[0.0f64; 2]; 2];
    for (k, spread) in [0.1, 0.05].into_iter().enumerate() {
        let mut rng = Rng::new(25);
        for _ in 0..20 {
            let sizes = Sizes { effectors: 1, samples: 4, links: 20, spread };
            let m = BlendedModel::new(blend(&mut rng, sizes)).unwrap();
            let x = numbers(&mut rng, 6, spread);
            let (a, b) = (shown(&m, &x, BLENDS[0]), shown(&m, &x, BLENDS[1]));
            for (a, b) in a.iter().zip(&b) {
                let moved = (a.translation - b.translation).length();
                let turned = a.twist_to(b).angular.length();
                worst[k] = [worst[k][0].max(moved), worst[k][1].max(turned)];
            }
        }
    }
    let [[p, r], [p2, r2]] = worst;
    println!(
        "positions {p:.2e} and {p2:.2e}, rotations {r:.2e} and {r2:.2e} at spreads 0.1 and 0.05"
    );
    assert!((3.5..4.5).contains(&(p / p2)) && (6.5..9.5).contains(&(r / r2)), "{worst:?}");
    // Samples are up to 0.1 √3 √2 from their average, which the maps of the effector's coordinates
    // nearly double.
    assert!(p < 0.5 * 0.36 * 0.36 && r < 0.36 * 0.36 * 0.36 / 6.0, "{worst:?}");
}

#[test]
fn threads_do_not_change_bits() {
    let mut rng = Rng::new(26);
    let sizes = Sizes { effectors: 1, samples: 4, links: 5000, spread: 0.3 };
    let m = BlendedModel::new(blend(&mut rng, sizes)).unwrap();
    let x = numbers(&mut rng, 6, 0.3);
    let pool = |n: usize| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    for blend in BLENDS {
        let [one, two] = [1, 2].map(|n| pool(n).install(|| shown(&m, &x, blend)));
        assert!(one == two);
    }
}

fn kinds() -> Vec<JointKind> {
    let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
    let second = DVec3::new(1.0, 2.0, 0.0).normalize();
    let screw = Twist::new(DVec3::new(0.1, 0.2, -0.1), DVec3::new(0.0, 0.6, 0.8));
    vec![
        JointKind::Fixed,
        JointKind::Revolute { axis },
        JointKind::Prismatic { axis },
        JointKind::Cylindrical { axis },
        JointKind::Universal { first: axis, second },
        JointKind::Spherical,
        JointKind::Planar,
        JointKind::General { subspace: vec![screw] },
    ]
}

/// A chain with a joint of every kind.
fn chain(rng: &mut Rng, reversed: bool) -> Mechanism {
    let pose = |rng: &mut Rng| {
        Pose::new(
            exp_rotation(DVec3::from_array(rng.vector())),
            DVec3::from_array(rng.vector()) * 0.3,
        )
    };
    let mut b = MechanismBuilder::new("all kinds");
    let mut inner = LinkId::WORLD;
    for (i, kind) in kinds().into_iter().enumerate() {
        let outer = b.add_link(Link::new(format!("link{i}")));
        let (parent, child) = if reversed { (outer, inner) } else { (inner, outer) };
        let joint = Joint::new(format!("joint{i}"), kind, parent, child);
        let joint = joint.at(pose(rng)).child_at(pose(rng));
        b.add_joint(joint.with_stiffness(10.0 + i as f64));
        inner = outer;
    }
    b.build().unwrap()
}

/// A blend of the chain at its start and at positions around it.
fn chain_blend(rng: &mut Rng, reversed: bool, spread: f64) -> BlendData {
    let m = chain(rng, reversed);
    let tip = Effector::of_link(&m, LinkId::new(m.links().len() - 1));
    let problem = Problem::unprepared(m.clone(), vec![tip]);
    let start = m.start_positions();
    let sample = |rng: &mut Rng, size: f64| {
        let delta = numbers(rng, m.velocity_count(), size);
        let q = displace(&m, &start, &delta);
        let at = Linearisation::Rest { q: &q };
        let model = problem.reduce(at, &ReduceOptions::default()).unwrap().model;
        SampleData {
            model: Arc::new(model),
            potential: 0.0,
            servos: forks_rom::ServoTerms::default(),
            curvature: forks_rom::linalg::Matrix::zeros(0, 0),
        }
    };
    let samples: Vec<SampleData> =
        (0..4).map(|i| sample(rng, if i == 0 { 0.0 } else { spread })).collect();
    let first = samples[0].model.data();
    BlendData {
        reference: first.effectors.iter().map(|e| e.rest).collect(),
        basis: first.basis.clone(),
        radius: first.radius,
        range: f64::INFINITY,
        weights: Weights::Shepard { exponent: 4 },
        samples,
        chart: vec![],
        guard: None,
        kinematics: Default::default(),
        link_forces: vec![],
    }
}

#[test]
fn joints_of_the_tree_stay_closed_in_joint_space() {
    let mut rng = Rng::new(27);
    for reversed in [false, true] {
        let m = BlendedModel::new(chain_blend(&mut rng, reversed, 0.3)).unwrap();
        for blend in BLENDS {
            let x = numbers(&mut rng, m.dof(), 0.2);
            let state = BlendedState::new(&m, &x).unwrap();
            let mut work = BlendedWorkspace::new(&m);
            let mut gaps = |mode| m.constraint_error(&state, &mut work, mode, blend);
            let closed = gaps(Reconstruction::JointSpace);
            for g in &closed.joints {
                // Poses of size 1 through eight joints.
                assert!(g.gap.position < 1e-13 && g.gap.angle < 1e-13, "{blend:?}: {g:?}");
            }
            let open = gaps(Reconstruction::Twist);
            assert!(open.joints.iter().any(|g| g.gap.position > 1e-4), "{open:?}");
            for (i, s) in m.data().samples.iter().enumerate() {
                let state = BlendedState::new(&m, m.place(i)).unwrap();
                let mut work = BlendedWorkspace::new(&m);
                let mut out = vec![Pose::IDENTITY; s.model.data().links.len()];
                m.link_poses_into(&state, &mut work, Reconstruction::JointSpace, blend, &mut out);
                let rests: Vec<Pose> = s.model.data().links.iter().map(|l| l.rest).collect();
                assert!(difference(&out, &rests) < 1e-9, "{}", difference(&out, &rests));
            }
        }
    }
}
