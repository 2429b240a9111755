//! Equilibria by elimination link by link against those of dense matrices, and their cost.

use std::time::Instant;

use forks_dynamics::{
    Loads,
    mechanism::{
        Combination, CombinationSpring, Coordinate, Coupling, Joint, JointId, JointKind, Link,
        LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia, Twist, Wrench,
            glam::{DMat3, DVec3},
        },
        redundancy::ReleasedDirections,
    },
    statics::{
        Algebra, Equilibrium, EquilibriumOptions, EquilibriumStatus, LoadPath, solve_equilibrium,
    },
};
use forks_models::HelixJoints;
use forks_testkit::{RandomMechanismOptions, random_mechanism};

fn solve(m: &Mechanism, loads: &Loads, algebra: Algebra, path: LoadPath) -> Equilibrium {
    let options = EquilibriumOptions { algebra, path, ..EquilibriumOptions::default() };
    let e = solve_equilibrium(m, &m.start_positions(), loads, &options);
    assert!(e.q.iter().chain(&e.multipliers).all(|x| x.is_finite()) && e.residual.is_finite());
    e
}

/// Both ends, and their distance in radians and lengths over r.
fn both(m: &Mechanism, loads: &Loads, path: LoadPath) -> (Equilibrium, Equilibrium, f64) {
    let [a, b] = [Algebra::Dense, Algebra::Frontal].map(|a| solve(m, loads, a, path));
    let r = m.bounding_radius(&a.world_from_link);
    let pairs = a.world_from_link.iter().zip(&b.world_from_link);
    let apart = pairs.map(|(a, b)| {
        let gap = a.inverse() * *b;
        (gap.translation.length() / r).max(gap.log().angular.length())
    });
    let apart = apart.fold(0.0, f64::max);
    (a, b, apart)
}

fn tip_load(m: &Mechanism, size: f64) -> Loads {
    let tip = LinkId::new(m.links().len() - 1);
    let w = Wrench::new(DVec3::new(0.3, -0.5, 0.8) * size, DVec3::ZERO);
    Loads::gravity().with_world_wrench(tip, w)
}

#[test]
fn random_mechanisms_end_alike() {
    let mut seen = [0; 3];
    for seed in 0..150u64 {
        let options = RandomMechanismOptions {
            links: 2 + seed as usize % 11,
            extra_loops: (seed % 4) as usize,
            couplings: (seed / 4 % 3) as usize,
            combination_springs: (seed / 3 % 3) as usize,
            bushings: (seed / 5 % 3) as usize,
            cables: (seed / 7 % 3) as usize,
            springless_fraction: if seed % 2 == 0 { 0.3 } else { 0.0 },
            planar: seed % 5 == 4,
            reversed_edges: 0.3,
            preload: 0.2,
            gravity: 3.0,
            resisted: Some(true),
            conditioning: 1e-4,
            ..RandomMechanismOptions::default()
        };
        let mut m = random_mechanism(seed, &options);
        if seed % 7 == 3 {
            // Equations that are left out: a direction of the first closing joint.
            let mut b = MechanismBuilder::from_mechanism(&m);
            if let Some(id) = m.forest().closures().first() {
                let along = Twist::new(DVec3::new(0.6, 0.0, 0.8), DVec3::new(0.0, 0.3, 0.0));
                b.joints_mut()[id.index()].released = ReleasedDirections::new(1.0, &[along]);
            }
            m = b.build().unwrap();
        }
        for path in [LoadPath::Continuous, LoadPath::EqualSteps] {
            let (a, b, apart) = both(&m, &tip_load(&m, 0.5), path);
            let context = format!(
                "seed {seed} {path:?}: {:?} {:?} {apart:e}, {} and {} iterations",
                a.status, b.status, a.iterations, b.iterations
            );
            assert_eq!(a.status, b.status, "{context}");
            assert_eq!(a.events, b.events, "{context}");
            if a.status.is_equilibrium() {
                assert!(apart < 1e-8, "{context}");
            }
            seen[usize::from(a.status != EquilibriumStatus::Converged)] += 1;
            seen[2] += usize::from(!a.multipliers.is_empty());
        }
    }
    assert!(seen[0] > 150 && seen[2] > 100, "{seen:?}");
}

/// A chain of `n` bars along x, hinges about y, as files describe it.
fn chain(n: usize) -> Mechanism {
    let mut b = MechanismBuilder::new("chain");
    b.set_gravity(DVec3::Z * -9.81);
    let inertia = SpatialInertia::new(0.001, DVec3::ZERO, DMat3::IDENTITY * 1e-8);
    let mut inner = LinkId::WORLD;
    for i in 0..n {
        let link = b.add_link(Link::new(format!("b{i}")).with_inertia(inertia));
        let kind = JointKind::Revolute { axis: DVec3::Y };
        let joint = Joint::new(format!("j{i}"), kind, inner, link);
        b.add_joint(joint.at(Pose::from_translation(DVec3::X * 0.01)).with_stiffness(100.0));
        inner = link;
    }
    b.build().unwrap()
}

#[test]
fn chains_helices_and_ladders_end_alike() {
    let helix = |n, joints| forks_models::helix(n, joints).mechanism;
    let cases = [
        ("chain", chain(60), 1e-3),
        ("helix", helix(20, HelixJoints::Hinge3), 10.0),
        ("ladder", forks_models::ladder(12).mechanism, 300.0),
        ("irregular ladder", forks_models::irregular_ladder(12).mechanism, 300.0),
        ("four-bar chain", forks_models::four_bar_chain(6).mechanism, 1.0),
    ];
    for (name, m, size) in cases {
        for path in [LoadPath::Continuous, LoadPath::EqualSteps] {
            let (a, b, apart) = both(&m, &tip_load(&m, size), path);
            assert_eq!(a.status, b.status, "{name} {path:?}");
            assert_eq!(a.events, b.events, "{name} {path:?}");
            assert!(a.status.is_equilibrium(), "{name} {path:?}: {:?}", a.status);
            assert!(apart < 1e-9, "{name} {path:?}: {apart:e}");
        }
    }
}

#[test]
fn an_unstable_end_and_a_free_joint_are_seen_alike() {
    // A column of many hinges over its critical load: equal steps end at the saddle.
    let column = |n: usize| {
        let m = chain(n);
        let push = Wrench::new(-DVec3::X * 100.0, DVec3::ZERO);
        (m.clone(), Loads::none().with_world_wrench(LinkId::new(n), push))
    };
    let (m, loads) = column(200);
    let (a, b, apart) = both(&m, &loads, LoadPath::EqualSteps);
    assert_eq!((a.status, b.status), (EquilibriumStatus::Unstable, EquilibriumStatus::Unstable));
    assert!(apart < 1e-12);
    let (a, b, apart) = both(&m, &loads, LoadPath::Continuous);
    assert_eq!((a.status, b.status), (EquilibriumStatus::Converged, EquilibriumStatus::Converged));
    assert!(apart < 1e-7 && a.q[0].abs() > 0.001, "{apart:e} {}", a.q[0]);
    assert_eq!((a.events.len(), b.events.len()), (1, 1));
    // Without a spring at two joints.
    let mut b = MechanismBuilder::from_mechanism(&chain(30));
    for j in [7, 21] {
        b.joints_mut()[j].spring = None;
    }
    b.set_gravity(DVec3::ZERO);
    let m = b.build().unwrap();
    let (a, b, _) = both(&m, &Loads::none(), LoadPath::Continuous);
    assert_eq!(a.status, EquilibriumStatus::Singular);
    assert_eq!((b.status, &b.free_motion), (a.status, &a.free_motion));
    assert_eq!(b.free_motion, vec![JointId::new(7), JointId::new(21)]);
}

#[test]
fn couplings_and_tendons_over_a_chain_end_alike() {
    let mut b = MechanismBuilder::from_mechanism(&chain(40));
    let at = |k: usize| Coordinate::of(JointId::new(k));
    for k in 0..10 {
        b.add_coupling(Coupling::linear(
            format!("c{k}"),
            vec![(at(4 * k), 1.0), (at(4 * k + 2), -0.5)],
            0.0,
        ));
    }
    b.add_combination_spring(CombinationSpring {
        name: "tendon".into(),
        combination: Combination { terms: (0..40).map(|k| (at(k), 0.02)).collect(), offset: 0.0 },
        stiffness: 5000.0,
        damping: 0.0,
        rest: -0.02,
    });
    let m = b.build().unwrap();
    for path in [LoadPath::Continuous, LoadPath::EqualSteps] {
        let (a, b, apart) = both(&m, &tip_load(&m, 10.0), path);
        assert_eq!((a.status, b.status), (EquilibriumStatus::Converged, a.status));
        assert!(apart < 1e-9, "{apart:e}");
        let pairs = a.multipliers.iter().zip(&b.multipliers);
        assert!(pairs.into_iter().all(|(x, y)| (x - y).abs() < 1e-7), "{:?}", a.multipliers);
    }
}

/// Seconds, and the end.
fn timed(m: &Mechanism, loads: &Loads) -> (f64, Equilibrium) {
    let before = Instant::now();
    let e = solve(m, loads, Algebra::Automatic, LoadPath::Continuous);
    (before.elapsed().as_secs_f64(), e)
}

#[test]
fn costs_grow_with_the_links() {
    type Case = (&'static str, Box<dyn Fn(usize) -> Mechanism>, [usize; 2], f64);
    let cases: [Case; 3] = [
        ("chain", Box::new(chain), [1000, 8000], 1e-3),
        ("ladder", Box::new(|n| forks_models::ladder(n).mechanism), [50, 200], 1.0),
        (
            "helix",
            Box::new(|n| forks_models::helix(n, HelixJoints::Hinge3).mechanism),
            [100, 800],
            1e-4,
        ),
    ];
    for (name, make, [few, many], size) in cases {
        let loads = |m: &Mechanism| Loads { gravity: false, ..tip_load(m, size) };
        let (a, b) = (make(few), make(many));
        // The shortest of three: others may use the machine.
        let shortest = |m: &Mechanism| {
            let runs = (0..3).map(|_| timed(m, &loads(m)));
            runs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
        };
        let ((small, e), (large, f)) = (shortest(&a), shortest(&b));
        assert!(
            e.status.is_equilibrium() && f.status.is_equilibrium(),
            "{name}: {:?} {:?}",
            e.status,
            f.status
        );
        let per = |t: f64, n: usize, e: &Equilibrium| t / (n * e.factorisations.max(1)) as f64;
        let ratio = per(large, many, &f) / per(small, few, &e);
        // A cost of n² would show the ratio of the sizes.
        assert!(
            ratio < 0.6 * (many / few) as f64,
            "{name}: {small} s for {few}, {large} s for {many}"
        );
    }
}
