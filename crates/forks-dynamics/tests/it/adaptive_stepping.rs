//! Steps of adaptive quasi-statics: the lazy update is a full one, poses, counters, budgets, loops,
//! accuracy.

use crate::adaptive_support;

use adaptive_support::{joint_norms, load, plain_options, random_wrench, resting_case};
use forks_dynamics::{
    WrenchFrame,
    adaptive::{
        AdaptiveCounters, AdaptiveOptions, AdaptivePlan, AdaptiveState, AdaptiveStatus,
        ErrorMeasure, Springs, Target,
    },
    dca::{DcaPlan, DcaWorkspace, dca},
    mechanism::{
        JointId, LinkId, Mechanism,
        lie::{Wrench, glam::DVec3},
    },
};
use forks_models::molecules::{neighbouring_links, scattered_links};
use forks_testkit::Rng;
use std::time::{Duration, Instant};

fn relative(exponent: i32) -> Target {
    Target::new(ErrorMeasure::RelativeJoint, 0.5f64.powi(exponent))
}

fn everything() -> Target {
    Target::new(ErrorMeasure::AbsoluteLinkage, 0.0)
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// After steps that update a part of the nodes, a solution is bit for bit that of a state made anew
/// at the same positions, and all links are where the forward kinematics puts them.
#[test]
fn the_lazy_update_is_a_full_update() {
    for seed in 0..80 {
        let case = resting_case(seed);
        let m = &case.mechanism;
        let correction = if seed % 8 < 4 { 0.0 } else { 0.3 };
        let options = AdaptiveOptions {
            time_step: 1e-3,
            loop_correction: correction,
            ..AdaptiveOptions::default()
        };
        let plan = AdaptivePlan::new(m, &options).unwrap();
        let mut state = AdaptiveState::new(&plan);
        load(&mut state, &case);
        let world = Wrench::new(DVec3::new(3.0, -1.0, 2.0), DVec3::new(0.1, 0.2, 0.3));
        state.set_force(LinkId::new(1), world, WrenchFrame::World).unwrap();
        for step in 0..12 {
            state.step(&relative(2 + step % 3));
        }
        state.solve(&everything());
        let mut fresh = AdaptiveState::new(&plan);
        load(&mut fresh, &case);
        fresh.set_force(LinkId::new(1), world, WrenchFrame::World).unwrap();
        fresh.set_positions(state.positions()).unwrap();
        fresh.solve(&everything());
        assert_eq!(bits(state.accelerations()), bits(fresh.accelerations()), "seed {seed}");
        let poses = m.link_poses(state.positions());
        // A dozen links: products of as many poses either way.
        let size = m.bounding_radius(&poses) + poses[1].translation.length();
        for (l, pose) in poses.iter().enumerate() {
            let found = state.link_pose(LinkId::new(l)).unwrap();
            let gap = pose.twist_to(&found).norm();
            assert!(gap < 1e2 * f64::EPSILON * (1.0 + size), "seed {seed}, link {l}: {gap:e}");
        }
    }
}

/// Setting one joint after the other is setting all.
#[test]
fn joints_are_set_one_by_one() {
    for seed in 0..40 {
        let case = resting_case(seed);
        let m = &case.mechanism;
        let plan = AdaptivePlan::new(m, &plain_options()).unwrap();
        let mut rng = Rng::new(seed);
        let v: Vec<f64> = (0..m.velocity_count()).map(|_| 0.1 * rng.symmetric()).collect();
        let mut q = m.start_positions();
        m.integrate(&mut q, &v);
        let (mut one, mut all) = (AdaptiveState::new(&plan), AdaptiveState::new(&plan));
        load(&mut one, &case);
        load(&mut all, &case);
        let world = Wrench::new(DVec3::new(3.0, -1.0, 2.0), DVec3::ZERO);
        for state in [&mut one, &mut all] {
            state.set_force(LinkId::new(1), world, WrenchFrame::World).unwrap();
        }
        all.set_positions(&q).unwrap();
        for j in 0..m.joints().len() {
            let id = JointId::new(j);
            let set = one.set_joint_positions(id, &q[m.position_range(id)]);
            assert_eq!(set.is_err(), m.forest().closures().contains(&id));
        }
        for state in [&mut one, &mut all] {
            state.solve(&everything());
        }
        assert_eq!(bits(one.accelerations()), bits(all.accelerations()), "seed {seed}");
        for l in 0..m.links().len() {
            let id = LinkId::new(l);
            assert_eq!(one.link_pose(id), all.link_pose(id), "seed {seed}");
        }
    }
}

fn largest_error(m: &Mechanism, approximate: &[f64], full: &[f64]) -> (f64, f64) {
    let gap: Vec<f64> = approximate.iter().zip(full).map(|(a, b)| a - b).collect();
    let max = |x: &[f64]| joint_norms(m, x).into_iter().fold(0.0, f64::max);
    (max(&gap), max(full))
}

/// Force components that do not turn with the links, as the full solver wants them.
fn external(m: &Mechanism, q: &[f64], links: &[LinkId], force: DVec3) -> Vec<Wrench> {
    let poses = m.link_poses(q);
    let mut out = vec![Wrench::ZERO; m.links().len()];
    for l in links {
        let r = poses[l.index()].rotation.conjugate();
        out[l.index()] = Wrench::new(r * force, DVec3::ZERO);
    }
    out
}

/// 10,000 steps of a millipede of 13,000 links at 2⁻¹⁰: at every 100th the certificate holds at the
/// present state.
#[test]
fn the_certificate_holds_along_a_millipedes_way() {
    let m = forks_models::millipede(1000, 1).mechanism;
    let options = AdaptiveOptions { time_step: 0.02, ..AdaptiveOptions::default() };
    let plan = AdaptivePlan::new(&m, &options).unwrap();
    let mut state = AdaptiveState::new(&plan);
    // On the last link of the leg in the middle.
    let links = [LinkId::new(13 * 500)];
    state.set_force(links[0], Wrench::new(DVec3::X, DVec3::ZERO), WrenchFrame::World).unwrap();
    let full = DcaPlan::new(&m).unwrap();
    let mut work = DcaWorkspace::new(&full);
    let zero = vec![0.0; m.tree_velocity_count()];
    let (mut worst, mut joints) = (0.0f64, 0);
    for step in 0..10_000 {
        if step % 100 == 0 {
            let result = state.solve(&relative(10));
            assert!(result.certified_error <= 0.5f64.powi(10));
            let q = state.positions();
            let forces = external(&m, q, &links, DVec3::X);
            dca(&full, &mut work, q, &zero, &zero, &forces).unwrap();
            let (error, norm) = largest_error(&m, state.accelerations(), work.accelerations());
            // A thousand roundings of the largest acceleration.
            let bound = result.certified_error + 1e3 * f64::EPSILON;
            assert!(error <= bound * norm, "step {step}: {error:e} of {norm:e}, {result:?}");
            worst = worst.max(error / norm);
        }
        joints += state.step(&relative(10)).result.counters.joints_computed;
    }
    let start = m.link_poses(&m.start_positions());
    let moved =
        state.link_pose(links[0]).unwrap().translation - start[links[0].index()].translation;
    println!("worst {worst:.1e} of 9.8e-4, {} joints per step, {moved} m", joints / 10_000);
    assert!(moved.length() > 0.05, "{moved}");
}

/// Displacements after many steps against steps with all accelerations by the full solver, relative
/// to the largest displacement (EQUATIONS 1.2): they fall with the threshold, and catching up takes
/// most of the rest.
#[test]
fn displacements_follow_the_threshold() {
    let m = forks_models::molecules::chain(600, 1).mechanism;
    let h = 0.01;
    let links = neighbouring_links(&m, 1);
    let steps = 400;
    let centers = |q: &[f64]| -> Vec<DVec3> {
        let poses = m.link_poses(q);
        let links = m.links().iter().zip(&poses).skip(1);
        links.map(|(l, p)| p.transform_point(l.inertia.center_of_mass)).collect()
    };
    let full = DcaPlan::new(&m).unwrap();
    let mut work = DcaWorkspace::new(&full);
    let mut q = m.start_positions();
    let zero = vec![0.0; m.tree_velocity_count()];
    for _ in 0..steps {
        let forces = external(&m, &q, &links, DVec3::X);
        dca(&full, &mut work, &q, &zero, &zero, &forces).unwrap();
        q.iter_mut().zip(work.accelerations()).for_each(|(q, a)| *q += h * h * a);
    }
    let (start, exact) = (centers(&m.start_positions()), centers(&q));
    let largest = start.iter().zip(&exact).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let error = |target: &Target, catch_up: usize| {
        let options = AdaptiveOptions { time_step: h, catch_up, ..AdaptiveOptions::default() };
        let plan = AdaptivePlan::new(&m, &options).unwrap();
        let mut state = AdaptiveState::new(&plan);
        state.set_force(links[0], Wrench::new(DVec3::X, DVec3::ZERO), WrenchFrame::World).unwrap();
        for _ in 0..steps {
            assert_eq!(state.step(target).result.status, AdaptiveStatus::Converged);
        }
        let found = centers(state.positions());
        found.iter().zip(&exact).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / largest
    };
    let plain: Vec<f64> = [3, 7, 11, 15, 19].map(|e| error(&relative(e), 0)).to_vec();
    let caught: Vec<f64> = [11, 15, 19].map(|e| error(&relative(e), 8)).to_vec();
    let all = error(&everything(), 0);
    println!("{largest:.3} m; relative errors {plain:?}, caught up {caught:?}, all joints {all:e}");
    // Rounding of 400 steps with lever arms of hundreds of links.
    assert!(all < 400.0 * 600.0 * 64.0 * f64::EPSILON, "{all:e}");
    // A lever arm of the chain's length, 120 m, over 0.2 m of a link.
    for (e, error) in [3, 7, 11, 15, 19].into_iter().zip(&plain) {
        assert!(*error < 0.5f64.powi(e) * 600.0, "2^-{e}: {error:e}");
    }
    assert!(caught[2] < 1e-6, "{caught:?}");
    assert!(caught[1] < 0.1 * plain[3] && caught[0] < 0.1 * plain[2], "{caught:?}");
}

/// Work on a chain with one force, pinned.
#[test]
fn counters_are_what_they_were() {
    let m = forks_models::molecules::chain(1000, 1).mechanism;
    let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
    assert_eq!((plan.node_count(), plan.max_handles()), (2000, 2));
    let mut state = AdaptiveState::new(&plan);
    let middle = neighbouring_links(&m, 1)[0];
    state.set_force(middle, Wrench::new(DVec3::X, DVec3::ZERO), WrenchFrame::World).unwrap();
    let first = state.solve(&relative(10)).counters;
    // The first solution finds all nodes up to date but those above the loaded link.
    assert_eq!(first.nodes_updated, 2000 + plan.depth() + 1);
    // Nothing changed: nothing is updated, the same is computed.
    let again = state.solve(&relative(10)).counters;
    assert_eq!((again.nodes_updated, again.joints_computed), (0, first.joints_computed));
    let counts: Vec<[usize; 3]> = [3, 7, 11, 15, 19]
        .map(|e| {
            let c = state.solve(&relative(e)).counters;
            [c.nodes_visited, c.joints_computed, c.nodes_updated]
        })
        .to_vec();
    println!("{counts:?}");
    let joints: Vec<usize> = counts.iter().map(|c| c[1]).collect();
    assert_eq!(joints, PINNED);
    // A step updates the nodes that it computed, and the leaf of the world force.
    let step = state.step(&relative(10));
    assert_eq!(step.joints_moved, first.joints_computed);
    let next = state.solve(&relative(10)).counters;
    assert_eq!(next.nodes_updated, first.nodes_visited + 1);
}

/// Joints computed at 2⁻³, 2⁻⁷, … 2⁻¹⁹.
const PINNED: [usize; 5] = [23, 39, 54, 75, 92];

/// Joints computed on trees with one force at 2⁻³, 2⁻¹¹ and 2⁻¹⁹: nearly all of a bushy one.
#[test]
fn trees_need_the_joints_that_they_needed() {
    for (m, pinned) in [
        (forks_models::molecules::polymer(3000, 1).mechanism, POLYMER),
        (forks_models::molecules::bushy(3000, 1).mechanism, BUSHY),
        (forks_models::millipede(200, 1).mechanism, MILLIPEDE),
    ] {
        let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
        let mut state = AdaptiveState::new(&plan);
        let middle = neighbouring_links(&m, 1)[0];
        state.set_force(middle, Wrench::new(DVec3::X, DVec3::ZERO), WrenchFrame::World).unwrap();
        let joints = [3, 11, 19].map(|e| state.solve(&relative(e)).counters.joints_computed);
        assert_eq!(joints, pinned, "{}", m.name());
    }
}

const POLYMER: [usize; 3] = [43, 141, 217];
const BUSHY: [usize; 3] = [14, 1665, 2906];
const MILLIPEDE: [usize; 3] = [43, 180, 311];

/// Many changed forces update every node above them once, not once per force.
#[test]
fn changed_forces_update_every_node_once() {
    let m = forks_models::molecules::chain(4096, 1).mechanism;
    let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
    let mut state = AdaptiveState::new(&plan);
    state.solve(&relative(1));
    let mut rng = Rng::new(3);
    let mut updated = vec![];
    for count in [1, 10, 100, 1000] {
        for l in scattered_links(&m, count, 5) {
            state.set_force(l, random_wrench(&mut rng), WrenchFrame::Body).unwrap();
            state.set_joint_force(JointId::new(l.index() - 1), &[rng.symmetric()]).unwrap();
        }
        updated.push(state.solve(&relative(1)).counters.nodes_updated);
    }
    println!("{updated:?}");
    // N (log2(n/N) + 1.3) of [R06] §5.2 with two leaves per joint, the joints beside them included.
    for (u, n) in updated.iter().zip([1.0f64, 10.0, 100.0, 1000.0]) {
        let bound = n * ((4096.0 / n).log2() + 3.3) + 8.0;
        assert!((*u as f64) < bound, "{updated:?}");
    }
}

/// A budget of joints or time ends the solution with a certificate that is true.
#[test]
fn budgets_end_with_a_true_certificate() {
    let m = forks_models::molecules::polymer(900, 2).mechanism;
    let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
    let mut state = AdaptiveState::new(&plan);
    let links = scattered_links(&m, 20, 1);
    for &l in &links {
        state.set_force(l, Wrench::new(DVec3::Y, DVec3::ZERO), WrenchFrame::World).unwrap();
    }
    state.solve(&everything());
    let full = state.accelerations().to_vec();
    let mut last = f64::INFINITY;
    for joints in [0, 1, 10, 100, 300, 700] {
        for measure in [ErrorMeasure::AbsoluteJoint, ErrorMeasure::AbsoluteLinkage] {
            let result = state.solve(&Target::new(measure, 0.0).within_joints(joints));
            assert_eq!(result.status, AdaptiveStatus::BudgetSpent);
            assert_eq!(result.counters.joints_computed, joints);
            let (error, norm) = largest_error(&m, state.accelerations(), &full);
            assert!(error <= result.certified_error + 64.0 * f64::EPSILON * norm);
            assert!(result.linkage_error <= last);
            last =
                if measure == ErrorMeasure::AbsoluteLinkage { result.linkage_error } else { last };
        }
    }
    let late = everything().until(Instant::now());
    let result = state.solve(&late);
    assert_eq!((result.status, result.counters.joints_computed), (AdaptiveStatus::BudgetSpent, 0));
    assert_eq!(result.certified_error, result.linkage_norm);
    let result = state.solve(&everything().until(Instant::now() + Duration::from_secs(600)));
    assert_eq!(result.status, AdaptiveStatus::Converged);
}

/// A bicycle chain pulled at its far link keeps its loop closed by the correction, at every
/// threshold.
#[test]
fn loops_stay_closed() {
    let chain = forks_models::bicycle_chain(30);
    let m = chain.mechanism;
    for exponent in [4, 10, 30] {
        let options =
            AdaptiveOptions { time_step: 1e-3, loop_correction: 0.2, ..AdaptiveOptions::default() };
        let plan = AdaptivePlan::new(&m, &options).unwrap();
        let mut state = AdaptiveState::new(&plan);
        let pull = Wrench::new(DVec3::new(-0.02, 0.0, 0.01), DVec3::ZERO);
        state.set_force(chain.effectors[0], pull, WrenchFrame::World).unwrap();
        let mut largest = 0.0f64;
        for _ in 0..3000 {
            let step = state.step(&relative(exponent));
            assert_eq!(step.result.status, AdaptiveStatus::Converged);
            let closing = m.joint(m.forest().closures()[0]);
            let [p, c] = [closing.parent, closing.child].map(|l| state.link_pose(l).unwrap());
            let gap = p.transform_point(closing.parent_from_joint.translation)
                - c.transform_point(closing.child_from_joint.translation);
            largest = largest.max(gap.length());
        }
        let start = m.link_poses(&m.start_positions())[chain.effectors[0].index()];
        let end = state.link_pose(chain.effectors[0]).unwrap();
        let moved = end.translation.distance(start.translation);
        println!("2^-{exponent}: gap {largest:.1e} m, moved {moved:.3} m");
        // Links of 12.7 mm.
        assert!(largest < 2e-4 && moved > 0.005, "{largest:e} {moved}");
    }
}

/// Steps with springs until nothing moves, or `most`. Gives the number of steps and of joints moved
/// last.
fn settle(state: &mut AdaptiveState<'_>, target: &Target, most: usize) -> (usize, usize, usize) {
    let (mut moved, mut total) = (0, 0);
    for step in 0..most {
        let s = state.step(target);
        assert_eq!(s.result.status, AdaptiveStatus::Converged);
        moved = s.joints_moved;
        total += moved;
        if moved == 0 {
            return (step, moved, total);
        }
    }
    (most, moved, total)
}

/// With springs and an absolute threshold joints near equilibrium hunt for ever (EQUATIONS 1.6);
/// with a resting threshold the mechanism comes to rest, and the rest is an equilibrium to that
/// threshold.
#[test]
fn springs_come_to_rest() {
    let m = sprung_chain(64, 100.0);
    let tip = LinkId::new(64);
    for (epsilon, rest) in [(1e-2, 1e-2), (1e-3, 1e-3), (1e-3, 2e-4)] {
        let options = AdaptiveOptions {
            time_step: 0.05,
            springs: Springs::Implicit,
            rest_below: rest,
            ..AdaptiveOptions::default()
        };
        let target = Target::new(ErrorMeasure::AbsoluteJoint, epsilon);
        let plan = AdaptivePlan::new(&m, &options).unwrap();
        let mut state = AdaptiveState::new(&plan);
        let pull = Wrench::new(DVec3::new(0.3, 0.2, -0.4), DVec3::ZERO);
        state.set_force(tip, pull, WrenchFrame::World).unwrap();
        let (steps, moved, total) = settle(&mut state, &target, 20_000);
        state.solve(&everything());
        let (residual, _) =
            largest_error(&m, state.accelerations(), &vec![0.0; m.velocity_count()]);
        let plain = AdaptiveOptions { rest_below: 0.0, ..options.clone() };
        let plan = AdaptivePlan::new(&m, &plain).unwrap();
        let mut hunting = AdaptiveState::new(&plan);
        hunting.set_force(tip, pull, WrenchFrame::World).unwrap();
        let without = settle(&mut hunting, &target, steps + 2000);
        println!(
            "{epsilon} {rest}: {steps} steps, {total} moves, residual {residual:.1e}; without \
            {without:?}"
        );
        assert!(moved == 0, "{moved} joints still move");
        assert!(residual <= epsilon.max(options.resume_ratio * rest), "{residual:e}");
        // At rest nothing is computed again, until a force changes.
        let idle = state.step(&target);
        assert_eq!((idle.joints_moved, idle.result.counters), (0, AdaptiveCounters::default()));
        assert_eq!(idle.result.status, AdaptiveStatus::Converged);
        state.set_force(tip, Wrench::ZERO, WrenchFrame::World).unwrap();
        assert!(state.step(&target).joints_moved > 0);
    }
}

/// A chain of rods with springs in all hinges.
fn sprung_chain(n: usize, stiffness: f64) -> Mechanism {
    use forks_dynamics::mechanism::MechanismBuilder;
    let bare = forks_models::molecules::chain(n, 5).mechanism;
    let mut out = MechanismBuilder::new("sprung");
    out.set_gravity(DVec3::ZERO);
    bare.links().iter().skip(1).for_each(|l| {
        out.add_link(l.clone());
    });
    for j in bare.joints() {
        out.add_joint(j.clone().with_stiffness(stiffness).with_damping(0.1));
    }
    out.build().unwrap()
}
