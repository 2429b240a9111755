//! A further sample where a running blend is: the full equilibrium there, and the blend with it, on
//! a thread of its own.
//!
//! The equilibrium is the one with the effectors where the blend has them. They are held by
//! six-dimensional springs to those poses; loads take over the springs' wrenches, by Newton's
//! method with the reduced model there, until the springs carry nothing that more corrections would
//! take from them. Where that path has no end, the loads begin as the wrenches that the blend says
//! hold the effectors (not at first: in directions in which the mechanism hardly gives these may be
//! far off). Poses held in this way may be unstable under the wrenches alone; samples of blends may
//! be.
//!
//! Where other samples of the blend bend the new one does, and it is at most ten times as stiff as
//! the stiffest of them.
//!
//! The chart stays as it is, but for further columns where the new sample moves in a direction that
//! no other one does: coordinates of a state carry over bit by bit ([`forks_blend::Crossfade`] does
//! the rest).

mod full;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TryRecvError, channel},
    },
    thread,
};

use forks_blend::{BlendedModel, BlendedState, SampleData};
use forks_dynamics::{
    Loads,
    springs::bushing_gradient_and_hessian,
    statics::{Equilibrium, EquilibriumOptions, continue_equilibrium, solve_equilibrium},
};
use forks_mechanism::{
    Bushing, BushingId, LinkId, Mechanism, MechanismBuilder,
    lie::{Mat6, Pose, SymMat6, Twist, Wrench},
    linalg::dense,
};
use forks_reduce::{Problem, relative_displacement};

use crate::{
    curvature::{curvature, limited},
    dead_loads::{dead, dead_at_rest},
    error::BlendError,
    floating::with_base,
    lift::continued_data,
    sample::Sample,
    truth::effector_poses,
};

pub use full::{FullState, hand_over, take_back};

/// Settings of samples that are added to a running blend.
#[derive(Clone, Debug, Default)]
pub struct LiveOptions {
    /// Gravity acts; as for the blend's other samples.
    pub gravity: bool,
    /// Settings of the full solver.
    pub equilibrium: EquilibriumOptions,
}

/// A blend with one more sample.
#[derive(Clone, Debug)]
pub struct Extended {
    /// The blend; the new sample is its last one.
    pub model: Arc<BlendedModel>,
    /// Largest relative displacement between the new sample's effectors and those of the state.
    pub distance: f64,
    /// The equilibrium at which the sample was made.
    pub equilibrium: Equilibrium,
}

/// The springs hold this many times as stiffly as the mechanism resists where it is softest: what
/// resists more stiffly needs no help.
const HOLD: f64 = 1000.0;
/// Stiffness below this part of the largest is none.
const SOFTEST: f64 = 1e-9;
/// Corrections of the loads.
const MAX_CORRECTIONS: usize = 40;
/// Smallest part of a correction that is tried: if that does not help it is one against what the
/// mechanism cannot do.
const SHORTEST: f64 = 1.0 / 32.0;
/// Effectors this near to the state's (lengths over r, radians) need no correction.
const NEAR: f64 = 1e-9;

/// A new sample is at most so many times as stiff as the stiffest of the others: where placement
/// has limited these, it must not drown them.
const AS_STIFF: f64 = 10.0;

/// The largest eigenvalue of 𝓗 among the samples.
fn stiffest(model: &BlendedModel) -> f64 {
    let largest = |s: &SampleData| {
        let values = dense::symmetric_eigen(&s.model.data().hessian).map(|(values, _)| values);
        values.unwrap_or_default().into_iter().fold(0.0, f64::max)
    };
    let all = model.data().samples.iter().map(largest).fold(0.0, f64::max);
    if all > 0.0 { all } else { f64::INFINITY }
}

/// The blend with one more sample, at the full equilibrium with the effectors at `poses`.
///
/// `proceed` is asked between the parts of the work, the longest of which is the search for the
/// equilibrium.
///
/// # Errors
/// [`BlendError::NoEquilibriumThere`], [`BlendError::Cancelled`], [`BlendError::FixedChart`], a
/// pose that cannot be reduced.
pub fn extended(
    problem: &Problem,
    model: &BlendedModel,
    poses: &[Pose],
    options: &LiveOptions,
    proceed: &dyn Fn() -> bool,
) -> Result<Extended, BlendError> {
    if model.is_curved() {
        return Err(BlendError::FixedChart);
    }
    let go_on = || if proceed() { Ok(()) } else { Err(BlendError::Cancelled) };
    let (equilibrium, loads) = Held::at(problem, model, poses, options, &go_on)?;
    go_on()?;
    // As the blend's other samples.
    let bent = model.data().samples.iter().any(|s| s.curvature.rows() > 0);
    let mut sample = sample_of(problem, &equilibrium, &loads, options, bent)?;
    limited(&mut sample, AS_STIFF * stiffest(model));
    go_on()?;
    let found = sample.effector_poses();
    let radius = model.data().radius;
    let pairs = poses.iter().zip(&found);
    let distance = pairs.map(|(a, b)| relative_displacement(a, b, radius)).fold(0.0, f64::max);
    let own = model.data();
    let mut samples: Vec<Sample> = own.samples.iter().map(Sample::of_blend).collect();
    samples.push(sample);
    let data = continued_data(&own.reference, Some(&own.basis), &samples, own.weights)?;
    go_on()?;
    let mut new = BlendedModel::new(data)?.with_blend(model.blend()).with_isa(model.isa());
    if own.samples.iter().any(|s| s.model.data().base.is_some()) {
        new = with_base(problem, &new)?;
    }
    Ok(Extended { model: Arc::new(new), distance, equilibrium })
}

/// The full equilibrium with the effectors at `poses`, and the sample there.
pub(crate) fn held_at(
    problem: &Problem,
    model: &BlendedModel,
    poses: &[Pose],
    options: &LiveOptions,
    go_on: &dyn Fn() -> Result<(), BlendError>,
) -> Result<(Equilibrium, Sample), BlendError> {
    let (equilibrium, loads) = Held::at(problem, model, poses, options, go_on)?;
    go_on()?;
    let sample = sample_of(problem, &equilibrium, &loads, options, false)?;
    Ok((equilibrium, sample))
}

/// The sample at an equilibrium. Where its effectors cannot move in some directions, wrenches along
/// these say nothing about the mechanism: they are left out. `bent`: exact to third order where
/// that can be found.
fn sample_of(
    problem: &Problem,
    e: &Equilibrium,
    loads: &Loads,
    options: &LiveOptions,
    bent: bool,
) -> Result<Sample, BlendError> {
    let with_curvature = |mut sample: Sample, e: &Equilibrium, loads: &Loads| {
        if let Some(c) =
            bent.then(|| curvature(problem, e, loads, &sample, &options.equilibrium)).flatten()
        {
            sample.curvature = c;
        }
        sample
    };
    let sample = Sample::new(problem, e, loads)?;
    let d = &sample.data;
    if sample.rank() == 6 * d.effectors.len() {
        return Ok(with_curvature(sample, e, loads));
    }
    // S²B (Bᵀ b)
    let all: Vec<f64> = d.effectors.iter().flat_map(|f| f.static_wrench.to_array()).collect();
    let along = d.basis.transpose_mul_vec(&all);
    let per_area = 1.0 / (d.radius * d.radius);
    let scale = |i: usize| if i % 6 < 3 { per_area } else { 1.0 };
    let flat = d.basis.mul_vec(&along);
    let flat: Vec<f64> = flat.iter().enumerate().map(|(i, x)| scale(i) * x).collect();
    let kept =
        Loads { gravity: loads.gravity, wrenches: dead_at_rest(problem, d, &flat).collect() };
    // The same pose with other multipliers.
    let again = continue_equilibrium(problem.mechanism(), e, &kept, &options.equilibrium);
    let radius = d.radius;
    let moved = effector_poses(problem, &again.world_from_link);
    let stays = d.effectors.iter().zip(&moved);
    let far = stays.map(|(f, p)| relative_displacement(&f.rest, p, radius)).fold(0.0, f64::max);
    match again.status.is_equilibrium() && far < 1e-6 {
        true => Ok(with_curvature(Sample::new(problem, &again, &kept)?, &again, &kept)),
        false => Ok(with_curvature(sample, e, loads)),
    }
}

/// The mechanism with its effectors held by springs.
struct Held<'a> {
    problem: &'a Problem,
    options: &'a LiveOptions,
    mechanism: Mechanism,
    springs: Vec<BushingId>,
    poses: &'a [Pose],
    /// Wrenches of the loads, effector frames; those of the blend at first.
    wrenches: Vec<Wrench>,
    radius: f64,
}

impl<'a> Held<'a> {
    /// The full equilibrium with the effectors at `poses`, and the loads that hold it.
    fn at(
        problem: &'a Problem,
        model: &BlendedModel,
        poses: &'a [Pose],
        options: &'a LiveOptions,
        go_on: &dyn Fn() -> Result<(), BlendError>,
    ) -> Result<(Equilibrium, Loads), BlendError> {
        let expected = problem.effectors.len();
        if model.effector_count() != expected || poses.len() != expected {
            let found = if poses.len() == expected { model.effector_count() } else { poses.len() };
            return Err(BlendError::AnotherProblem { found, expected });
        }
        go_on()?;
        Held::new(problem, model, poses, options)?.solve(go_on)
    }

    fn new(
        problem: &'a Problem,
        model: &BlendedModel,
        poses: &'a [Pose],
        options: &'a LiveOptions,
    ) -> Result<Self, BlendError> {
        let still = vec![Default::default(); poses.len()];
        let (x, _, _) = model.coordinates_of(poses, &still)?;
        let radius = model.data().radius;
        // In the chart lengths are over r.
        let stiffness = dense::svd(&model.stiffness(&model.weights(&x)));
        let values = stiffness.map(|d| d.s).unwrap_or_default();
        let largest = values.first().copied().unwrap_or(0.0);
        let resisting = values.iter().copied().filter(|s| *s > SOFTEST * largest);
        let size = HOLD * resisting.fold(f64::INFINITY, f64::min);
        if !size.is_finite() {
            return Err(BlendError::NotFinite { quantity: "the blend's stiffness at the state" });
        }
        let along = |i: usize| if i < 3 { size / (radius * radius) } else { size };
        let mut b = MechanismBuilder::from_mechanism(problem.mechanism());
        let springs = problem.effectors.iter().zip(poses).map(|(e, pose)| {
            b.add_bushing(Bushing {
                name: String::new(),
                link_a: LinkId::WORLD,
                a_from_bushing: *pose,
                link_b: e.link,
                b_from_bushing: e.link_from_effector,
                stiffness: SymMat6::symmetric_part(&Mat6::from_diagonal(core::array::from_fn(
                    along,
                ))),
                damping: SymMat6::ZERO,
            })
        });
        let springs = springs.collect();
        let mechanism = b.build().map_err(forks_reduce::ReduceError::from)?;
        let wrenches = model.effector_wrenches(&x);
        Ok(Self { problem, options, mechanism, springs, poses, wrenches, radius })
    }

    /// The equilibrium, and the loads that hold it without the springs.
    fn solve(
        mut self,
        go_on: &dyn Fn() -> Result<(), BlendError>,
    ) -> Result<(Equilibrium, Loads), BlendError> {
        let settings = &self.options.equilibrium;
        let of_blend = self.wrenches.clone();
        self.wrenches.fill(Wrench::ZERO);
        let start = &self.problem.start;
        let mut e = solve_equilibrium(&self.mechanism, start, &self.loads(self.poses), settings);
        if !e.status.is_equilibrium() {
            go_on()?;
            self.wrenches = of_blend;
            e = solve_equilibrium(&self.mechanism, start, &self.loads(self.poses), settings);
        }
        if !e.status.is_equilibrium() {
            return Err(BlendError::NoEquilibriumThere { status: e.status.name() });
        }
        let mut off = self.take_over(&e, self.poses);
        let mut part = 1.0;
        for _ in 0..MAX_CORRECTIONS {
            go_on()?;
            if off < NEAR || part < SHORTEST {
                break;
            }
            let at = effector_poses(self.problem, &e.world_from_link);
            let before = self.wrenches.clone();
            self.predict(&e, &at, part);
            let next = continue_equilibrium(&self.mechanism, &e, &self.loads(&at), settings);
            let left = match next.status.is_equilibrium() {
                true => self.take_over(&next, &at),
                false => f64::INFINITY,
            };
            if left < (1.0 - 0.5 * part) * off {
                (e, off) = (next, left);
                part = f64::min(1.0, 2.0 * part);
            } else {
                self.wrenches = before;
                part *= 0.5;
            }
        }
        let at = effector_poses(self.problem, &e.world_from_link);
        Ok((e, self.loads(&at)))
    }

    /// Sets the loads this part of the way to those that hold the effectors where they should be,
    /// to first order: S²B (Bᵀb + 𝓗 η) with the reduced model here. Where there is none they stay.
    fn predict(&mut self, e: &Equilibrium, at: &[Pose], part: f64) {
        let Ok(sample) = Sample::new(self.problem, e, &self.loads(at)) else { return };
        let d = &sample.data;
        let per_area = 1.0 / (d.radius * d.radius);
        let metric = |t: Twist| Twist::new(t.linear * per_area, t.angular).to_array();
        let to_go: Vec<f64> =
            at.iter().zip(self.poses).flat_map(|(a, p)| metric(a.twist_to(p))).collect();
        let held: Vec<f64> = d.effectors.iter().flat_map(|f| f.static_wrench.to_array()).collect();
        let further = d.hessian.mul_vec(&d.basis.transpose_mul_vec(&to_go));
        let force = d.basis.transpose_mul_vec(&held);
        let force: Vec<f64> = force.iter().zip(further).map(|(a, b)| a + b).collect();
        for (w, all) in self.wrenches.iter_mut().zip(d.basis.mul_vec(&force).chunks(6)) {
            let row = Twist::from_array(core::array::from_fn(|i| all[i]));
            let wanted = Wrench::from_array(metric(row));
            *w += (wanted - *w) * part;
        }
    }

    /// Wrenches with constant world components that are the blend's at these poses.
    fn loads(&self, at: &[Pose]) -> Loads {
        let wrenches = self.wrenches.iter().enumerate();
        let wrenches = wrenches.map(|(e, w)| dead(self.problem, e, &at[e], *w)).collect();
        Loads { gravity: self.options.gravity, wrenches }
    }

    /// Adds the springs' wrenches to the loads, which were those for the poses `before`; how far
    /// the effectors are off.
    fn take_over(&mut self, e: &Equilibrium, before: &[Pose]) -> f64 {
        let at = effector_poses(self.problem, &e.world_from_link);
        let mut off: f64 = 0.0;
        for (k, id) in self.springs.iter().enumerate() {
            let spring = &self.mechanism.bushings()[id.index()];
            let (gradient, _) = bushing_gradient_and_hessian(spring, &e.world_from_link);
            // Dead loads, seen from where the effector is now.
            let turned = at[k].rotation.conjugate() * before[k].rotation;
            let w = self.wrenches[k];
            self.wrenches[k] = Wrench::new(turned * w.force, turned * w.torque) - gradient;
            let twist = self.poses[k].twist_to(&at[k]);
            off = off.max(twist.scale_linear(1.0 / self.radius).norm());
        }
        off
    }
}

/// Work on another thread.
#[derive(Debug)]
pub struct PendingSample {
    receiver: Receiver<Result<Extended, BlendError>>,
    cancelled: Arc<AtomicBool>,
}

/// Begins to add a sample where a state of a running blend is, on another thread. The state may
/// move on meanwhile.
pub fn add_sample_here(
    problem: &Arc<Problem>,
    model: &Arc<BlendedModel>,
    state: &BlendedState,
    options: &LiveOptions,
) -> PendingSample {
    let poses: Vec<Pose> =
        (0..model.effector_count()).map(|e| model.effector_pose(e, state.coordinates())).collect();
    let (sender, receiver) = channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let (problem, model, options) = (problem.clone(), model.clone(), options.clone());
    let seen = cancelled.clone();
    thread::spawn(move || {
        let proceed = || !seen.load(Ordering::Relaxed);
        // Nobody may be waiting any more.
        let _ = sender.send(extended(&problem, &model, &poses, &options, &proceed));
    });
    PendingSample { receiver, cancelled }
}

impl PendingSample {
    /// The result, once it is there; once only, [`BlendError::WorkerLost`] afterwards. Does not
    /// wait.
    pub fn poll(&mut self) -> Option<Result<Extended, BlendError>> {
        match self.receiver.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(BlendError::WorkerLost)),
        }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// As [`extended`]; [`BlendError::WorkerLost`].
    pub fn wait(self) -> Result<Extended, BlendError> {
        self.receiver.recv().unwrap_or(Err(BlendError::WorkerLost))
    }

    /// Asks the thread to stop at the next part of its work.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for PendingSample {
    /// Nobody waits: the thread need not go on.
    fn drop(&mut self) {
        self.cancel();
    }
}
