//! A floating base beside the full solver.

use std::sync::Arc;

use forks_dynamics::integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus};
use forks_mechanism::{
    Mechanism,
    lie::{Pose, Twist, Wrench, glam::DVec3},
};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingState, FloatingStepper, FloatingWorkspace,
    LoadFrame, ReducedModel,
};

use forks_reduce::{Effector, Problem, relative_displacement};

/// A motion from the start pose with straight springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FloatingCase {
    /// Body twist of the base link, and of everything with it, at the start.
    pub(crate) base_velocity: Twist,
    /// Acceleration of free fall, m/s².
    pub(crate) gravity: DVec3,
    /// Force on the first effector at its origin, world axes, N.
    pub(crate) force: DVec3,
    /// How long the force acts, s.
    pub(crate) force_until: f64,
    /// How long the motion is followed, s.
    pub(crate) time: f64,
    /// Steps of the reduced model.
    pub(crate) steps: usize,
    /// Steps of the full solver per step of the reduced model.
    pub(crate) full_steps: usize,
}

impl Default for FloatingCase {
    /// Rest, no gravity, no force, 1 s in steps of 1 ms, ten steps of the full solver for one.
    fn default() -> Self {
        Self {
            base_velocity: Twist::ZERO,
            gravity: DVec3::ZERO,
            force: DVec3::ZERO,
            force_until: f64::INFINITY,
            time: 1.0,
            steps: 1000,
            full_steps: 10,
        }
    }
}

/// How far a floating reduced model is from the full solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FloatingDeviation {
    /// Largest distance of the base from the full solver's over the largest displacement of the
    /// latter.
    pub(crate) position: f64,
    /// The same for the angle of rotation.
    pub(crate) rotation: f64,
    /// Largest displacement of the full solver's base, m.
    pub(crate) displacement: f64,
    /// Largest rotation of the full solver's base, rad.
    pub(crate) turn: f64,
    /// Largest distance of an effector from the full solver's, m.
    pub(crate) effector: f64,
    /// Largest relative displacement of an effector (\[A16\] §8.2).
    pub(crate) shape: f64,
    /// Largest difference of the momentum from start and impulses over the largest momentum or
    /// impulse: linear, angular.
    pub(crate) momentum: [f64; 2],
    /// Steps that did not end as completed.
    pub(crate) exceptions: usize,
}

/// Poses of base and effectors at every step of the reduced model, the start first.
#[derive(Clone, Debug)]
pub(crate) struct FullTrack {
    base: Vec<Pose>,
    effectors: Vec<Vec<Pose>>,
}

/// The full solver's motion (order 4) of the original mechanism, for several comparisons.
pub(crate) fn full_track(m: &Mechanism, problem: &Problem, case: &FloatingCase) -> FullTrack {
    let held = problem.prepared.held.expect("a base that floats");
    let edge = m.forest().edges().iter().find(|e| e.joint == held);
    let base = edge.expect("a tree joint").outer.index();
    let mut builder = forks_mechanism::MechanismBuilder::from_mechanism(m);
    builder.set_gravity(case.gravity);
    let m = &builder.build().unwrap();
    let q = problem.prepared.original_positions(m, &problem.start);
    let mut v = vec![0.0; m.tree_velocity_count()];
    // The free joint's rates are the body twist in the joint's frame in the child.
    let in_joint = m.joint(held).child_from_joint.adjoint().apply_inverse(case.base_velocity);
    v[m.velocity_range(held)].copy_from_slice(&in_joint.to_array());
    let options =
        SimulationOptions { integrator: Integrator::RungeKutta4, ..SimulationOptions::default() };
    let mut full = Simulation::new(m, &q, &v, options);
    let (mut track, tau) =
        (FullTrack { base: vec![], effectors: vec![] }, vec![0.0; m.tree_velocity_count()]);
    let h = case.time / case.steps as f64;
    let e = &problem.effectors[0];
    for i in 0..=case.steps {
        let poses = full.link_poses();
        track.base.push(poses[base]);
        let effector = |e: &Effector| poses[e.link.index()] * e.link_from_effector;
        track.effectors.push(problem.effectors.iter().map(effector).collect());
        if i == case.steps {
            break;
        }
        for _ in 0..case.full_steps {
            let mut external = vec![];
            if pushes(case, i, h) {
                let pose = full.link_poses()[e.link.index()] * e.link_from_effector;
                let body = Wrench::new(pose.rotation.conjugate() * case.force, DVec3::ZERO);
                external = vec![Wrench::ZERO; m.links().len()];
                external[e.link.index()] = e.link_from_effector.adjoint().apply_to_wrench(body);
            }
            full.set_loads(&tau, &external);
            assert_eq!(full.step(h / case.full_steps as f64), SimulationStatus::Completed);
        }
    }
    track
}

fn pushes(case: &FloatingCase, step: usize, h: f64) -> bool {
    case.force != DVec3::ZERO && (step as f64 + 0.5) * h < case.force_until
}

/// Follows the same motion by the reduced model.
pub(crate) fn compare(
    track: &FullTrack,
    model: &Arc<ReducedModel>,
    coupling: BaseCoupling,
    case: &FloatingCase,
) -> FloatingDeviation {
    let floating = FloatingModel::new(model.clone(), coupling).unwrap().with_gravity(case.gravity);
    let floating = Arc::new(floating);
    let h = case.time / case.steps as f64;
    let stepper = FloatingStepper::new(floating.clone(), h).unwrap();
    let mut state = FloatingState::new(&floating);
    let mut work = FloatingWorkspace::new(&floating);
    let still = vec![0.0; model.dof()];
    state.set(&floating, &still, &still, track.base[0], case.base_velocity).unwrap();
    let push = [EffectorLoad {
        effector: 0,
        wrench: Wrench::new(case.force, DVec3::ZERO),
        frame: LoadFrame::World,
    }];
    let mut out = FloatingDeviation::default();
    let mut impulse = Impulse::new(&floating, &state);
    for i in 0..=case.steps {
        let (full, ours) = (track.base[i], state.world_from_base());
        let angle = |a: &Pose, b: &Pose| (a.inverse() * *b).log().angular.length();
        out.position = out.position.max(full.translation.distance(ours.translation));
        out.rotation = out.rotation.max(angle(&full, &ours));
        let moved = full.translation.distance(track.base[0].translation);
        out.displacement = out.displacement.max(moved);
        // Beyond half a turn the angle is added up.
        if i > 0 {
            out.turn += angle(&track.base[i - 1], &full);
        }
        for (e, full) in track.effectors[i].iter().enumerate() {
            let pose = floating.effector_pose(e, &state);
            out.effector = out.effector.max(full.translation.distance(pose.translation));
            let twist = model.effector_twist(e, state.shape().coordinates());
            let rest = Pose::IDENTITY;
            out.shape =
                out.shape.max(relative_displacement(&rest, &Pose::exp(twist), model.data().radius));
        }
        if i == case.steps {
            break;
        }
        let loads = if pushes(case, i, h) { &push[..] } else { &[] };
        impulse.add(&floating, &state, loads, h);
        if stepper.step(&mut state, &mut work, loads) != forks_rom::StepStatus::Completed {
            out.exceptions += 1;
        }
        let [linear, angular] = impulse.error(&floating, &state);
        out.momentum = [out.momentum[0].max(linear), out.momentum[1].max(angular)];
    }
    out.position /= out.displacement.max(f64::MIN_POSITIVE);
    out.rotation /= out.turn.max(f64::MIN_POSITIVE);
    out
}

/// Momentum that there should be: that of the start and all impulses.
struct Impulse {
    expected: [DVec3; 2],
    largest: [f64; 2],
}

impl Impulse {
    fn new(model: &FloatingModel, state: &FloatingState) -> Self {
        let p = model.momentum(state);
        Self { expected: [p.linear, p.angular], largest: [p.linear.length(), p.angular.length()] }
    }

    /// Loads act at the effectors of the start of the step, gravity at the centre of mass, both
    /// carried along by the centre's mean motion.
    fn add(
        &mut self,
        model: &FloatingModel,
        state: &FloatingState,
        loads: &[EffectorLoad],
        h: f64,
    ) {
        let drift = state.center_velocity() * (0.5 * h);
        let weight = model.gravity() * model.mass();
        let mut at = vec![(weight, model.center_of_mass(state) + drift)];
        at.extend(
            loads.iter().map(|l| {
                (l.wrench.force, model.effector_pose(l.effector, state).translation + drift)
            }),
        );
        for (force, point) in at {
            let parts = [force * h, point.cross(force) * h];
            for (i, part) in parts.into_iter().enumerate() {
                self.expected[i] += part;
                self.largest[i] = self.largest[i].max(self.expected[i].length());
            }
        }
    }

    fn error(&self, model: &FloatingModel, state: &FloatingState) -> [f64; 2] {
        let p = model.momentum(state);
        let part = |i: usize, p: DVec3| {
            p.distance(self.expected[i]) / self.largest[i].max(f64::MIN_POSITIVE)
        };
        [part(0, p.linear), part(1, p.angular)]
    }
}
