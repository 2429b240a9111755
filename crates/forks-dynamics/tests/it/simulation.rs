//! Time integration: order of the schemes, energy, loops over long times, the way to equilibrium.

use crate::loops_support;

use forks_dynamics::{
    Loads,
    constrained::ConstrainedDynamics,
    integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus},
    mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia, Wrench,
            glam::{DMat3, DVec3},
        },
    },
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_models::{HelixJoints, four_bar, helix, ladder_of_links};
use forks_testkit::{RandomMechanismOptions, Rng, dynamics, random_mechanism};
use loops_support::{four_bars, sprung, under_gravity};

fn options(integrator: Integrator) -> SimulationOptions {
    SimulationOptions { integrator, tolerance: 1e-10, ..SimulationOptions::default() }
}

fn still(m: &Mechanism, integrator: Integrator) -> Simulation<'_> {
    let q = m.start_positions();
    let n = m.tree_velocity_count();
    Simulation::new(m, &q[..m.tree_position_count()], &vec![0.0; n], options(integrator))
}

/// Runs for `time` in `steps` equal steps.
fn run(s: &mut Simulation<'_>, time: f64, steps: usize) {
    for i in 0..steps {
        assert_eq!(s.step(time / steps as f64), SimulationStatus::Completed, "step {i}");
    }
}

/// Positions and velocities after `time`.
fn end(
    m: &Mechanism,
    q: &[f64],
    v: &[f64],
    scheme: Integrator,
    time: f64,
    steps: usize,
) -> Vec<f64> {
    let mut s = Simulation::new(m, q, v, options(scheme));
    run(&mut s, time, steps);
    [s.state().q.as_slice(), &s.state().v].concat()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// Log₂ of the ratio of errors at h and h/2.
fn observed_order(m: &Mechanism, q: &[f64], v: &[f64], scheme: Integrator, steps: usize) -> f64 {
    let time = 0.25;
    let exact = end(m, q, v, Integrator::RungeKutta4, time, 2048);
    let coarse = distance(&end(m, q, v, scheme, time, steps), &exact);
    let fine = distance(&end(m, q, v, scheme, time, 2 * steps), &exact);
    (coarse / fine).log2()
}

#[test]
fn schemes_have_their_order_on_trees_and_loops() {
    let floating = random_mechanism(
        7,
        &RandomMechanismOptions {
            links: 5,
            extra_loops: 0,
            floating_base: true,
            stiffness: 20.0,
            ..RandomMechanismOptions::default()
        },
    );
    // Bushing, tendon springs, springs, dampers and rotors of closing joints.
    let everything = random_mechanism(
        11,
        &RandomMechanismOptions {
            links: 5,
            extra_loops: 1,
            bushings: 1,
            combination_springs: 2,
            armature: true,
            preload: 0.2,
            stiffness: 5.0,
            ..RandomMechanismOptions::default()
        },
    );
    assert!(!everything.forest().closures().is_empty());
    for (name, m) in
        [("floating", &floating), ("four-bars", &four_bars(2)), ("everything", &everything)]
    {
        let s = dynamics::random_state(3, m, &dynamics::StateOptions::default());
        let (q, v) = (s.tree_q(m), s.tree_v(m));
        for (scheme, order, steps) in [
            (Integrator::SemiImplicitEuler, 1.0, 2048),
            (Integrator::Implicit, 1.0, 4096),
            (Integrator::RungeKutta4, 4.0, 32),
        ] {
            let found = observed_order(m, q, v, scheme, steps);
            println!("{name} {scheme:?}: order {found:.3}");
            assert!((found - order).abs() < 0.25, "{name} {scheme:?}: order {found}");
        }
    }
}

#[test]
fn error_control_meets_its_tolerance() {
    let m = four_bars(2);
    let q = m.start_positions();
    let q = &q[..m.tree_position_count()];
    let v = vec![0.0; m.tree_velocity_count()];
    let exact = end(&m, q, &v, Integrator::RungeKutta4, 0.5, 4096);
    let mut last = f64::INFINITY;
    for tolerance in [1e-5, 1e-7, 1e-9] {
        let options = SimulationOptions {
            integrator: Integrator::Adaptive,
            tolerance,
            ..SimulationOptions::default()
        };
        let mut s = Simulation::new(&m, q, &v, options);
        run(&mut s, 0.5, 5);
        let error = distance(&[s.state().q.as_slice(), &s.state().v].concat(), &exact);
        println!("tolerance {tolerance:e}: error {error:e}, {:?}", s.statistics());
        // Errors of some tens of steps add up, amplified by the motion.
        assert!(error < 1e3 * tolerance && error < last);
        last = error;
    }
}

/// Largest change of energy over 1 s, relative to the largest kinetic energy.
fn energy_error(m: &Mechanism, scheme: Integrator, steps: usize) -> f64 {
    let mut s = still(m, scheme);
    let start = s.energy().total();
    let (mut worst, mut kinetic) = (0.0f64, 0.0f64);
    for _ in 0..steps {
        run(&mut s, 1.0 / steps as f64, 1);
        let e = s.energy();
        worst = worst.max((e.total() - start).abs());
        kinetic = kinetic.max(e.kinetic);
    }
    worst / kinetic
}

#[test]
fn conservative_systems_keep_their_energy_to_the_order_of_the_scheme() {
    let loops = four_bars(3);
    let springs = sprung(&under_gravity(&four_bar().mechanism, None), 20.0);
    for (name, m) in [("four-bars", &loops), ("sprung", &springs)] {
        for (scheme, order, steps) in
            [(Integrator::RungeKutta4, 4.0, 500), (Integrator::SemiImplicitEuler, 1.0, 1000)]
        {
            let coarse = energy_error(m, scheme, steps);
            let fine = energy_error(m, scheme, 2 * steps);
            let found = (coarse / fine).log2();
            println!("{name} {scheme:?}: energy error {fine:e}, order {found:.2}");
            // RK4 loses energy with one order more than its own where the motion is oscillatory.
            assert!(found > order - 0.3, "{name} {scheme:?}: order {found}");
        }
        assert!(energy_error(m, Integrator::Adaptive, 100) < 1e-7);
    }
}

/// The full run of 60 s is the ignored test below.
fn gap_of_six_four_bars(seconds: usize) -> f64 {
    let m = four_bars(6);
    let mut s = still(&m, Integrator::RungeKutta4);
    let start = s.energy().total();
    let (mut gap, mut energy, mut kinetic) = (0.0f64, 0.0f64, 0.0f64);
    for _ in 0..1000 * seconds {
        run(&mut s, 1e-3, 1);
        gap = gap.max(s.loop_gap());
        let e = s.energy();
        kinetic = kinetic.max(e.kinetic);
        energy = energy.max((e.total() - start).abs());
    }
    println!("{seconds} s: gap {gap:e} r, energy error {:e}", energy / kinetic);
    gap
}

#[test]
fn six_four_bars_stay_closed() {
    assert!(gap_of_six_four_bars(2) < 1e-8);
}

#[test]
#[ignore = "a minute of simulated time: run with --ignored"]
fn six_four_bars_stay_closed_for_a_minute() {
    assert!(gap_of_six_four_bars(60) < 1e-8);
}

/// Distance of all links from the static equilibrium after `seconds` of steps of 1/60 s; energy
/// never grows.
fn settles(m: &Mechanism, seconds: usize) -> f64 {
    let q = m.start_positions();
    let goal = solve_equilibrium(m, &q, &Loads::gravity(), &EquilibriumOptions::default());
    assert_eq!(goal.status, EquilibriumStatus::Converged);
    let mut s = still(m, Integrator::Implicit);
    let mut last = s.energy().total();
    for _ in 0..60 * seconds {
        run(&mut s, 1.0 / 60.0, 1);
        let e = s.energy();
        let size = e.kinetic + e.gravitational.abs() + e.elastic;
        assert!(e.total() - last <= 1e-12 * size, "energy grows from {last} to {}", e.total());
        last = e.total();
    }
    let poses = s.link_poses();
    let distances =
        poses.iter().zip(&goal.world_from_link).map(|(a, b)| a.translation.distance(b.translation));
    distances.fold(0.0, f64::max)
}

#[test]
fn a_damped_helix_settles_on_the_static_equilibrium() {
    let m = under_gravity(&helix(50, HelixJoints::Hinge3).mechanism, Some(30.0));
    let error = settles(&m, 60);
    println!("helix 50: {error:e} m from the equilibrium");
    assert!(error < 1e-6);
}

#[test]
fn damped_loops_settle_on_the_static_equilibrium() {
    for (name, m, damping) in
        [("four-bar", four_bar().mechanism, 30.0), ("ladder", ladder_of_links(12).mechanism, 30.0)]
    {
        let error = settles(&under_gravity(&m, Some(damping)), 60);
        println!("{name}: {error:e} m from the equilibrium");
        assert!(error < 1e-9, "{name}: {error:e}");
    }
}

#[test]
fn a_long_soft_helix_stays_finite_and_loses_energy() {
    // Whips through 20 m with springs that a step of 1/60 s does not resolve.
    let m = under_gravity(&helix(400, HelixJoints::Hinge3).mechanism, None);
    let mut s = still(&m, Integrator::Implicit);
    let mut last = s.energy().total();
    for _ in 0..120 {
        run(&mut s, 1.0 / 60.0, 1);
        let e = s.energy();
        assert!(e.total().is_finite() && e.total() <= last + 1e-9, "{last} to {}", e.total());
        last = e.total();
    }
    println!("{:?}", s.statistics());
}

#[test]
fn failed_steps_say_so_and_leave_the_state() {
    // Springs of 1000 N·m/rad on 1e-4 kg·m²: the explicit schemes cannot do steps of 1/60 s.
    let m = under_gravity(&helix(20, HelixJoints::Hinge3).mechanism, None);
    for scheme in [Integrator::SemiImplicitEuler, Integrator::RungeKutta4] {
        let mut s = still(&m, scheme);
        let mut status = SimulationStatus::Completed;
        let mut before = s.state().clone();
        for _ in 0..10_000 {
            before = s.state().clone();
            status = s.step(1.0 / 60.0);
            if status != SimulationStatus::Completed {
                break;
            }
        }
        assert_ne!(status, SimulationStatus::Completed, "{scheme:?} cannot be stable");
        assert_eq!(*s.state(), before);
        assert!(s.state().q.iter().chain(&s.state().v).all(|x| x.is_finite()));
    }
    let mut s = still(&m, Integrator::Implicit);
    let mut q = s.state().q.clone();
    q[0] = f64::NAN;
    let mut bad = Simulation::new(&m, &q, &s.state().v.clone(), SimulationOptions::default());
    assert_ne!(bad.step(1e-3), SimulationStatus::Completed);
    assert_eq!(s.step(1e-3), SimulationStatus::Completed);
}

#[test]
fn the_same_start_gives_the_same_bits() {
    let m = four_bars(3);
    for scheme in [Integrator::RungeKutta4, Integrator::Implicit, Integrator::Adaptive] {
        let mut runs = (0..2).map(|_| {
            let mut s = still(&m, scheme);
            run(&mut s, 0.1, 20);
            s.state().clone()
        });
        assert_eq!(runs.next(), runs.next());
    }
}

#[test]
fn projections_close_loops_and_keep_what_is_closed() {
    let m = four_bars(3);
    let d = ConstrainedDynamics::new(&m);
    let mut work = d.workspace();
    let closed = m.start_positions()[..m.tree_position_count()].to_vec();
    let mut q: Vec<f64> =
        closed.iter().enumerate().map(|(i, q)| q + 0.02 * (1.7 * i as f64).sin()).collect();
    assert!(d.loop_gap(&q, &mut work) > 1e-3);
    let p = d.project_positions(&mut q, &mut work);
    println!("{p:?}");
    assert!(p.gap < 1e-13 && p.iterations <= 5);
    // At once closed: nothing moves.
    let again = q.clone();
    assert_eq!(d.project_positions(&mut q, &mut work).iterations, 0);
    assert_eq!(q, again);
    let mut v: Vec<f64> = (0..q.len()).map(|i| (2.3 * i as f64).cos()).collect();
    assert!(d.project_velocities(&q, &mut v, &mut work).unwrap() > 0.1);
    assert!(d.project_velocities(&q, &mut v, &mut work).unwrap() < 1e-13);
}

#[test]
fn a_start_with_open_loops_is_closed_first() {
    let m = four_bars(3);
    let q: Vec<f64> = m.start_positions()[..m.tree_position_count()]
        .iter()
        .enumerate()
        .map(|(i, q)| q + 0.1 * (1.7 * i as f64).sin())
        .collect();
    for scheme in [Integrator::RungeKutta4, Integrator::Implicit] {
        let mut s = Simulation::new(&m, &q, &vec![0.0; q.len()], options(scheme));
        assert!(s.start_gap() > 1e-2);
        assert!(s.loop_gap() < 1e-13);
        run(&mut s, 0.05, 10);
        assert!(s.loop_gap() < 1e-13);
        // It falls: energy goes from one kind to the other.
        let e = s.energy();
        assert!(e.kinetic > 1e-3 * e.gravitational.abs(), "{e:?}");
    }
}

/// Runs with a world-fixed force at a link's origin, as a wrench of every step's start; the largest
/// of energy over the force's work, which dampers and the scheme only take from.
fn energy_over_work(m: &Mechanism, link: usize, force: DVec3, h: f64, steps: usize) -> f64 {
    let mut s = still(m, Integrator::Implicit);
    let torques = vec![0.0; m.tree_velocity_count()];
    let mut wrenches = vec![Wrench::ZERO; m.links().len()];
    let start = s.link_poses()[link];
    let before = s.energy().total();
    let (mut pose, mut worst, mut work) = (start, 0.0f64, 0.0);
    for i in 0..steps {
        wrenches[link].force = pose.rotation.conjugate() * force;
        s.set_loads(&torques, &wrenches);
        assert_eq!(s.step(h), SimulationStatus::Completed, "step {i}");
        pose = s.link_poses()[link];
        work = force.dot(pose.translation - start.translation).max(work);
        if i > 10 {
            worst = worst.max((s.energy().total() - before) / work);
        }
    }
    worst
}

/// Inertial forces at v̇ = 0 are not what passes through the joints of a long chain in motion:
/// taken as the load whose stiffness counts they once made the implicit matrix indefinite, and the
/// motion blew up within a few steps.
#[test]
fn a_long_helix_that_is_pulled_hard_has_no_more_energy_than_the_force_gave_it() {
    let p = helix(400, HelixJoints::Alternating);
    let tip = p.effectors[0].index();
    for h in [1e-3, 4e-3] {
        let steps = (2.0 / h) as usize;
        let worst = energy_over_work(&p.mechanism, tip, DVec3::new(100.0, 0.0, 0.0), h, steps);
        println!("h {h}: {worst}");
        // Beyond 1 is the scheme's error, of first order.
        assert!(worst < 1.001, "{worst}");
    }
}

/// Where a load softens the mechanism by more than a step can follow, the step is shortened, then
/// made without the load's stiffness: a chain that is pushed along itself far beyond its buckling
/// load folds up and stays finite.
#[test]
fn a_chain_far_beyond_its_buckling_load_stays_finite_at_any_step() {
    let mut rejected = 0;
    for seed in 0..4 {
        let mut rng = Rng::new(seed);
        let (links, length) = (20, 0.1);
        let mut b = MechanismBuilder::new("column");
        b.set_gravity(DVec3::ZERO);
        let mut parent = LinkId::WORLD;
        for k in 0..links {
            let mut link = Link::new(format!("l{k}"));
            link.inertia = SpatialInertia::new(
                0.05,
                DVec3::new(0.0, 0.0, 0.5 * length),
                DMat3::from_diagonal(DVec3::splat(4e-5)),
            );
            let child = b.add_link(link);
            let at = DVec3::new(0.0, 0.0, if k == 0 { 0.0 } else { length });
            let axis = DVec3::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), 0.0).normalize();
            let joint = Joint::new(format!("j{k}"), JointKind::Revolute { axis }, parent, child);
            let at = Pose::from_translation(at);
            b.add_joint(joint.at(at).with_stiffness(1.0).with_damping(1e-2));
            parent = child;
        }
        let m = b.build().unwrap();
        // Euler's load of a column that is held at its foot is π² k l / (4 L²), 0.06 N here.
        for h in [1e-3, 1.0 / 60.0, 0.1] {
            let mut s = still(&m, Integrator::Implicit);
            let mut wrenches = vec![Wrench::ZERO; m.links().len()];
            let force = DVec3::new(1e-3, 0.0, -rng.range(1.0, 30.0));
            for i in 0..200 {
                let turn = s.link_poses()[links].rotation;
                wrenches[links].force = turn.conjugate() * force;
                s.set_loads(&vec![0.0; links], &wrenches);
                assert_eq!(s.step(h), SimulationStatus::Completed, "seed {seed}, h {h}, step {i}");
            }
            rejected += s.statistics().rejected;
        }
    }
    println!("{rejected} steps refused");
    assert!(rejected > 0);
}
