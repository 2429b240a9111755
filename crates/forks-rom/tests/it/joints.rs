//! Displacements, loads and gaps at joints against the mechanism's own.

use crate::all_kinds;

use all_kinds::{kinds, pose};
use forks_mechanism::{
    Joint, Link, LinkId, Mechanism, MechanismBuilder,
    kinematics::{connections, constraint_error},
    lie::{Pose, Wrench},
};
use forks_models::HelixJoints;
use forks_reduce::{
    Drive, Effector, Linearisation, Problem, ReduceOptions, relative_constraint_error,
};
use forks_rom::{Elasticity, LoadFrame, Reconstruction, ReducedModel, State};
use forks_testkit::Rng;

const MODES: [Reconstruction; 2] = [Reconstruction::Twist, Reconstruction::JointSpace];

/// A chain with a joint of every kind, each as built or turned round; some links are massless
/// frames.
fn chain(rng: &mut Rng, reversed: bool, frames: bool) -> Mechanism {
    let mut b = MechanismBuilder::new("all kinds");
    let mut inner = LinkId::WORLD;
    for (i, kind) in kinds().into_iter().enumerate() {
        let link = Link::new(format!("link{i}"));
        let outer = b.add_link(if frames && i % 3 == 1 { link.auxiliary() } else { link });
        let (parent, child) = if reversed { (outer, inner) } else { (inner, outer) };
        let joint = Joint::new(format!("joint{i}"), kind, parent, child);
        let joint = joint.at(pose(rng)).child_at(pose(rng));
        b.add_joint(joint.with_stiffness(10.0 + i as f64));
        inner = outer;
    }
    b.build().unwrap()
}

fn tip(m: &Mechanism) -> Vec<Effector> {
    vec![Effector::of_link(m, LinkId::new(m.links().len() - 1))]
}

fn model(m: &Mechanism, q: &[f64], effectors: &[Effector]) -> ReducedModel {
    // One drive: a push on the first coordinate.
    let mut push = vec![0.0; m.velocity_count()];
    push[0] = 1.0;
    let drives = vec![Drive::forces(m, "push", &push)];
    let options = ReduceOptions { drives, ..ReduceOptions::default() };
    let problem = Problem::unprepared(m.clone(), effectors.to_vec());
    problem.reduce(Linearisation::Rest { q }, &options).unwrap().model
}

fn state(rng: &mut Rng, model: &ReducedModel, size: f64) -> State {
    let mut state = State::new(model);
    let mut numbers = |n: usize| (0..n).map(|_| size * rng.symmetric()).collect::<Vec<_>>();
    let (eta, rate) = (numbers(model.dof()), vec![0.0; model.dof()]);
    state.set(&eta, &rate).unwrap();
    state.set_servo_targets(model, &numbers(model.data().servos.len())).unwrap();
    state
}

/// Largest difference of all gaps, connection by connection, and of the sums.
fn difference(m: &Mechanism, model: &ReducedModel, state: &State, mode: Reconstruction) -> f64 {
    let found = model.constraint_error(state, mode);
    let c = connections(m);
    let (eta, targets) = (state.coordinates(), state.servo_targets());
    let sums = relative_constraint_error(m, &c, model, eta, targets, mode);
    let rival = constraint_error(m, &c, &model.link_poses(eta, targets, mode));
    let mut worst = (found.position - sums.position).abs().max((found.angle - sums.angle).abs());
    assert_eq!(found.joints.len(), c.len());
    assert_eq!(found.effectors.len(), model.effector_count());
    for (c, rival) in c.iter().zip(&rival.gaps) {
        let mut names: Vec<_> = c.joints.iter().map(|(j, _)| &m.joint(*j).name).collect();
        names.sort();
        let ours = found.joints.iter().find(|g| {
            let mut ours: Vec<_> = g.joints.iter().map(|&j| &model.data().joints[j].name).collect();
            ours.sort();
            ours == names
        });
        let ours = ours.expect("the same connection").gap;
        worst = worst.max((ours.position - rival.position).abs() / model.data().radius);
        worst = worst.max((ours.angle - rival.angle).abs());
    }
    worst
}

#[test]
fn gaps_are_those_that_the_mechanism_measures() {
    let mut worst: f64 = 0.0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let m = chain(&mut rng, seed % 2 == 1, seed % 4 > 1);
        let mut q = m.start_positions();
        // Rows of joints are closed by iterations from the start pose.
        let far = if seed % 4 > 1 { 0.0 } else { 0.5 };
        let away: Vec<f64> = (0..m.velocity_count()).map(|_| far * rng.symmetric()).collect();
        m.integrate(&mut q, &away);
        let model = model(&m, &q, &tip(&m));
        // Near enough for every row of joints to have one closest configuration: at twice the
        // displacement the fit of some rows goes to and fro between several, here and in the
        // mechanism.
        let state = state(&mut rng, &model, 0.1);
        for mode in MODES {
            let error = difference(&m, &model, &state, mode);
            worst = worst.max(error);
            // Gauss–Newton ends where its steps are at rounding, times the condition of the random
            // joints.
            assert!(error < 1e-12, "seed {seed}, {mode:?}: {error:e}");
        }
    }
    println!("worst {worst:e}");
}

#[test]
fn gaps_of_mechanisms_with_loops_and_rows_of_hinges() {
    let helix = forks_models::helix(20, HelixJoints::Hinge3).mechanism;
    let y = forks_models::y_mechanism().mechanism;
    let ladder = forks_models::ladder(5).mechanism;
    for (name, m) in [("helix", helix), ("y", y), ("ladder", ladder)] {
        let q = m.start_positions();
        let model = model(&m, &q, &tip(&m));
        let mut rng = Rng::new(9);
        for size in [0.01, 0.3] {
            let state = state(&mut rng, &model, size);
            for mode in MODES {
                let error = difference(&m, &model, &state, mode);
                let sum = model.constraint_error(&state, mode);
                println!(
                    "{name} {mode:?} {size}: {} rad {}, off {error:e}",
                    sum.position, sum.angle
                );
                assert!(error < 1e-10, "{name}, {mode:?}: {error:e}");
                if mode == Reconstruction::JointSpace {
                    for g in sum
                        .joints
                        .iter()
                        .filter(|g| g.joints.iter().all(|&j| !model.data().joints[j].closes_loop))
                    {
                        // Tree joints stay closed: rounding of the sweep.
                        assert!(g.gap.position < 1e-12 && g.gap.angle < 1e-12, "{name}: {g:?}");
                    }
                } else {
                    assert!(sum.position > 1e-6 * size, "{name}: {}", sum.position);
                }
            }
        }
    }
}

#[test]
fn poses_go_into_a_buffer() {
    let mut rng = Rng::new(20);
    let m = chain(&mut rng, true, true);
    let model = model(&m, &m.start_positions(), &tip(&m));
    let state = state(&mut rng, &model, 0.4);
    let mut poses = vec![Pose::IDENTITY; model.data().links.len()];
    for mode in MODES {
        model.link_poses_into(&state, mode, &mut poses);
        assert_eq!(poses, model.link_poses(state.coordinates(), state.servo_targets(), mode));
    }
}

/// Displacements move the outer links as their own twists do, to first order, servo targets
/// included.
#[test]
fn displacements_are_those_of_the_links_to_first_order() {
    let mut rng = Rng::new(21);
    let m = chain(&mut rng, false, false);
    let q = m.start_positions();
    let model = model(&m, &q, &tip(&m));
    let unit = state(&mut rng, &model, 1.0);
    let gap = |h: f64| {
        let scaled = |x: &[f64]| x.iter().map(|x| h * x).collect::<Vec<_>>();
        let mut state = State::new(&model);
        state.set(&scaled(unit.coordinates()), unit.velocity()).unwrap();
        state.set_servo_targets(&model, &scaled(unit.servo_targets())).unwrap();
        let mut v = vec![0.0; m.velocity_count()];
        for (k, e) in m.forest().edges().iter().enumerate() {
            let delta: Vec<f64> = model.joint_displacement(k, &state).collect();
            v[m.velocity_range(e.joint)].copy_from_slice(&delta);
        }
        let mut moved = q.clone();
        m.integrate(&mut moved, &v);
        let shown =
            model.link_poses(state.coordinates(), state.servo_targets(), Reconstruction::Twist);
        let gaps = m.link_poses(&moved).into_iter().zip(shown).map(|(a, b)| a.twist_to(&b).norm());
        gaps.fold(0.0, f64::max)
    };
    let ratio = gap(1e-2) / gap(1e-3);
    assert!((90.0..110.0).contains(&ratio), "{ratio}");
}

/// In an open chain every joint passes on the wrench at the tip, moved to its own outer link.
#[test]
fn joint_loads_of_a_chain_are_the_wrench_at_its_tip() {
    let mut rng = Rng::new(22);
    let m = chain(&mut rng, false, false);
    let model = model(&m, &m.start_positions(), &tip(&m));
    assert_eq!(model.dof(), 6);
    let state = state(&mut rng, &model, 1e-9);
    let w = model.effector_wrench(0, &state, Elasticity::Energy, LoadFrame::Body);
    let effector = &model.data().effectors[0];
    for (k, j) in model.data().joints.iter().enumerate() {
        let load = model.joint_load(k, &state).expect("a load map");
        let tip_from_outer = effector.rest.inverse() * model.data().links[j.outer].rest;
        let moved = tip_from_outer.adjoint().transpose_apply(w);
        let gap: Wrench = load - moved;
        let size = moved.force.length() + moved.torque.length();
        // The state is small enough for what is of second order; stiffness has a condition of 1e4
        // here.
        assert!(
            gap.force.length() + gap.torque.length() < 1e-7 * size,
            "{}: {gap:?} {moved:?}",
            j.name
        );
    }
    let loops = forks_models::ladder(3).mechanism;
    let model = self::model(&loops, &loops.start_positions(), &tip(&loops));
    let known = |k: usize| model.joint_load(k, &State::new(&model)).is_some();
    for (k, j) in model.data().joints.iter().enumerate() {
        assert_eq!(known(k), j.load_map.rows() == 6, "{}", j.name);
    }
}
