//! Divide and conquer on large mechanisms: threads, accuracy, frames, high degree, nesting.

use forks_dynamics::{
    dca::{DcaPlan, DcaStatus, DcaWorkspace, dca},
    mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia, SplitMix64,
            glam::{DMat3, DVec3},
        },
    },
};
use forks_models::Parametric;
use forks_testkit::dynamics::{State, tree_forward_dynamics};

fn solved(m: &Mechanism, s: &State) -> Vec<f64> {
    let plan = DcaPlan::new(m).unwrap();
    let mut work = DcaWorkspace::new(&plan);
    let status = dca(&plan, &mut work, s.tree_q(m), s.tree_v(m), &s.tau, &[]).unwrap();
    assert!(matches!(status, DcaStatus::Solved { .. }), "{status:?}");
    work.accelerations().to_vec()
}

fn moving(m: &Mechanism, seed: u64, rate: f64) -> State {
    let mut random = SplitMix64::new(seed);
    let mut s = State::rest(m);
    s.v.iter_mut().for_each(|v| *v = random.range(-rate, rate));
    s.tau.iter_mut().for_each(|t| *t = random.range(-1.0, 1.0));
    s
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

fn error(found: &[f64], exact: &[f64]) -> f64 {
    let gap: Vec<f64> = found.iter().zip(exact).map(|(a, b)| a - b).collect();
    largest(&gap) / largest(exact)
}

/// The largest error of thousands of joints, relative to the largest acceleration. Errors are those
/// of a dozen levels of 6×6 eliminations: they do not grow with the number of joints (EQUATIONS
/// 1.7: 5e-15 for 3000 equal links at rest). In motion the fastest links' centripetal terms round
/// like the rest.
#[test]
fn long_chains_are_accurate() {
    type Family = (&'static str, fn(usize, u64) -> Parametric);
    let families: [Family; 3] = [
        ("chain", forks_models::molecules::chain),
        ("polymer", forks_models::molecules::polymer),
        ("bushy", forks_models::molecules::bushy),
    ];
    for (name, family) in families {
        for n in [300, 3000] {
            let m = family(n, 3).mechanism;
            for rate in [0.0, 0.1] {
                let s = moving(&m, 4, rate);
                let e = error(&solved(&m, &s), &tree_forward_dynamics(&m, &s).joints);
                println!("{name} {n}, rates up to {rate}: {e:.2e}");
                // 64 roundings per level; joints' own condition (a rod's two moments: 33) included.
                assert!(e < 64.0 * 33.0 * f64::EPSILON, "{name} {n} {rate}: {e:e}");
            }
        }
    }
}

/// The accuracy mechanisms of [F99]: error growth with the number of links.
#[test]
fn coil_and_dill() {
    for n in [16, 64, 256, 1024] {
        for (name, p) in [("coil", forks_models::coil(n)), ("dill", forks_models::dill(n))] {
            let m = p.mechanism;
            match DcaPlan::new(&m) {
                Ok(_) => {
                    let s = moving(&m, 5, 0.0);
                    let e = error(&solved(&m, &s), &tree_forward_dynamics(&m, &s).joints);
                    println!("{name} {n}: {e:.2e}");
                    assert!(e < 1e-3);
                }
                Err(e) => println!("{name} {n}: {e}"),
            }
        }
    }
}

/// Where a mechanism stands makes no difference at all, not to a bit: nothing is expressed at the
/// world's origin (EQUATIONS 1.7).
#[test]
fn far_from_the_origin_no_digit_is_lost() {
    let at = |offset: DVec3| {
        let m = forks_models::molecules::chain(400, 7).mechanism;
        let mut b = MechanismBuilder::new("moved");
        b.set_gravity(m.gravity());
        for (_, l) in m.moving_links() {
            b.add_link(l.clone());
        }
        for j in m.joints() {
            let mut j = j.clone();
            if j.parent == LinkId::WORLD {
                j.parent_from_joint = Pose::from_translation(offset) * j.parent_from_joint;
            }
            b.add_joint(j);
        }
        let m = b.build().unwrap();
        solved(&m, &moving(&m, 8, 1.0))
    };
    let far = at(DVec3::new(1e7, -3e6, 2e7));
    assert!(far.iter().zip(at(DVec3::ZERO)).all(|(a, b)| a.to_bits() == b.to_bits()));
}

/// A hub with many links is split into pieces: few handles, small depth, the same accelerations.
#[test]
fn stars_are_split() {
    let mut random = SplitMix64::new(9);
    let mut b = MechanismBuilder::new("star");
    b.set_gravity(DVec3::new(0.3, -0.2, -9.81));
    let inertia = |r: &mut SplitMix64| {
        let i = DMat3::from_diagonal(DVec3::new(0.02, 0.025, 0.03));
        SpatialInertia::new(r.range(0.5, 1.5), r.direction() * 0.1, i)
    };
    let hub = b.add_link(Link::new("hub").with_inertia(inertia(&mut random)));
    b.add_joint(Joint::new("", JointKind::Free, LinkId::WORLD, hub));
    for i in 0..150 {
        let arm = b.add_link(Link::new(format!("arm{i}")).with_inertia(inertia(&mut random)));
        let kind = JointKind::Revolute { axis: random.direction() };
        let at = Pose::from_translation(random.direction() * 0.3);
        b.add_joint(Joint::new("", kind, hub, arm).at(at));
    }
    let m = b.build().unwrap();
    let plan = DcaPlan::new(&m).unwrap();
    assert!(
        plan.max_handles() == 3 && plan.depth() < 20,
        "{} {}",
        plan.max_handles(),
        plan.depth()
    );
    let s = moving(&m, 10, 1.0);
    let e = error(&solved(&m, &s), &tree_forward_dynamics(&m, &s).joints);
    // A piece has 1/149 of the hub's inertia: that ratio times the roundings of a level.
    assert!(e < 64.0 * 149.0 * f64::EPSILON, "{e:e}");
}

#[test]
fn depth_is_logarithmic_and_stacks_stay_small() {
    let run = || {
        let m = forks_models::molecules::chain(20_000, 1).mechanism;
        let plan = DcaPlan::new(&m).unwrap();
        assert!(plan.depth() <= 17 && plan.max_handles() == 2, "{}", plan.depth());
        let s = moving(&m, 1, 0.01);
        let a = solved(&m, &s);
        assert!(a.iter().all(|x| x.is_finite()));
        let star: Vec<usize> = (0..5000).map(|i| usize::from(i > 0)).collect();
        star.len()
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_change_a_bit() {
    let mut cases = vec![
        ("chain", forks_models::molecules::chain(3000, 1).mechanism),
        ("bushy", forks_models::molecules::bushy(3000, 2).mechanism),
        ("polymer", forks_models::molecules::polymer(3000, 3).mechanism),
        ("helix", forks_models::helix(400, forks_models::HelixJoints::Hinge3).mechanism),
        ("ladder", forks_models::ladder(120).mechanism),
    ];
    for (name, m) in cases.drain(..) {
        let s = moving(&m, 11, 0.3);
        let alone = solved(&m, &s);
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let plan = DcaPlan::new(&m).unwrap();
            let mut work = DcaWorkspace::new(&plan).parallel(true);
            for call in 0..3 {
                let run = || dca(&plan, &mut work, s.tree_q(&m), s.tree_v(&m), &s.tau, &[]);
                pool.install(run).unwrap();
                let same = work.accelerations().iter().zip(&alone);
                assert!(
                    same.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()),
                    "{name}, {threads} threads, call {call}"
                );
            }
        }
    }
}
