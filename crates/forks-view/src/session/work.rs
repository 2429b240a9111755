//! Work that takes long, on a thread of its own: blends placed, and a sample more where the
//! mechanism is.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TryRecvError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use forks_blend::{BlendedModel, Weights};
use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions},
};
use forks_mechanism::lie::Pose;
use forks_place::{
    LoadRegion, Placement, PlacementStatus, Progress, Sample, blend_data, live, place,
};
use forks_reduce::{Linearisation, Problem, ReduceOptions};

/// A placement ends after this time with the best blend that it has.
const LONGEST: Duration = Duration::from_secs(120);

/// What came out.
pub(super) struct Made {
    pub(super) problem: Arc<Problem>,
    pub(super) model: Arc<BlendedModel>,
    pub(super) said: String,
}

/// Work under way.
pub(super) struct Work {
    /// Bodies that are the effectors.
    pub(super) bodies: Vec<usize>,
    receiver: Receiver<Result<Made, String>>,
    shared: Arc<Shared>,
}

/// What both threads know.
#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    progress: Mutex<String>,
}

impl Shared {
    fn goes_on(&self) -> bool {
        !self.cancelled.load(Ordering::Relaxed)
    }

    fn say(&self, text: String) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Work {
    fn start(
        bodies: &[usize],
        work: impl FnOnce(&Shared) -> Result<Made, String> + Send + 'static,
    ) -> Self {
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        thread::spawn(move || {
            // Nobody may be waiting any more.
            let _ = sender.send(work(&seen));
        });
        Self { bodies: bodies.to_vec(), receiver, shared }
    }

    /// Places a blend for forces in all directions that move an effector up to `range`.
    pub(super) fn place(
        problem: Arc<Problem>,
        bodies: &[usize],
        range: f64,
        samples: usize,
    ) -> Self {
        Self::start(bodies, move |shared| placed(problem, range, samples, shared))
    }

    /// Adds a sample to a blend where the effectors are at `poses`; without a blend to one of a
    /// single sample at rest.
    pub(super) fn extend(
        problem: Arc<Problem>,
        model: Option<Arc<BlendedModel>>,
        bodies: &[usize],
        poses: Vec<Pose>,
    ) -> Self {
        Self::start(bodies, move |shared| extended(problem, model, &poses, shared))
    }

    pub(super) fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// How far it is, in a few words.
    pub(super) fn progress(&self) -> String {
        self.shared.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The result, once it is there.
    pub(super) fn poll(&self) -> Option<Result<Made, String>> {
        match self.receiver.try_recv() {
            Ok(made) => Some(made),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err("the work ended without a result".into())),
        }
    }
}

impl Drop for Work {
    /// Nobody waits: the thread need not go on.
    fn drop(&mut self) {
        self.cancel();
    }
}

/// The equilibrium under gravity.
pub(super) fn start(problem: &Problem) -> Result<(Equilibrium, Loads), String> {
    let loads = Loads::gravity();
    let at = problem.equilibrium(&loads, &EquilibriumOptions::default());
    if at.status.is_equilibrium() {
        return Ok((at, loads));
    }
    let why = at.explanation(problem.mechanism()).unwrap_or_default();
    Err(format!("there is no equilibrium to reduce about: {} {why}", at.status.name()))
}

fn placed(
    problem: Arc<Problem>,
    range: f64,
    samples: usize,
    shared: &Shared,
) -> Result<Made, String> {
    let begin = Instant::now();
    shared.say("looking at the rest pose".into());
    let (at, loads) = start(&problem)?;
    let at = Linearisation::equilibrium(&at, &loads);
    let reduction = problem.reduce(at, &ReduceOptions::default()).map_err(|e| e.to_string())?;
    let regions = LoadRegion::in_all_directions(&problem, &reduction, range);
    let placement = Placement {
        regions: regions.map_err(|e| e.to_string())?,
        gravity: true,
        max_samples: samples,
        time_limit: Some(LONGEST),
        ..Placement::default()
    };
    let placed = place(&problem, &placement, &mut |p| {
        shared.say(match p {
            Progress::Trained { done, of } => format!("loads followed: {done} of {of}"),
            Progress::Searching { samples, cost } => {
                format!("{samples} samples, error over tolerance {cost:.2}")
            }
            Progress::Measured { samples, constraint, statics } => {
                format!("{samples} samples: constraint {constraint:.4}, static {statics:.4}")
            }
            _ => return ControlFlow::Continue(()),
        });
        match shared.goes_on() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    let placed = placed.map_err(|e| e.to_string())?;
    if !shared.goes_on() {
        return Err("the placement was cancelled".into());
    }
    let status = match placed.status {
        PlacementStatus::Reached => "keeps to its tolerances",
        PlacementStatus::Unreliable => "keeps to its tolerances at the training loads alone",
        _ => "does not keep to its tolerances everywhere",
    };
    let c = placed.certificate;
    let said = format!(
        "{} samples in {:.1} s, {status}: constraint {:.4}, static {:.4}",
        placed.model.data().samples.len(),
        begin.elapsed().as_secs_f64(),
        c.constraint,
        c.statics
    );
    Ok(Made { problem, model: Arc::new(placed.model), said })
}

fn extended(
    problem: Arc<Problem>,
    model: Option<Arc<BlendedModel>>,
    poses: &[Pose],
    shared: &Shared,
) -> Result<Made, String> {
    let begin = Instant::now();
    shared.say("looking for the equilibrium there".into());
    let say = |e: forks_place::BlendError| e.to_string();
    let model = match model {
        Some(model) => model,
        None => {
            let (at, loads) = start(&problem)?;
            let sample = Sample::new(&problem, &at, &loads).map_err(say)?;
            let rest: Vec<Pose> = sample.data.effectors.iter().map(|e| e.rest).collect();
            let weights = Weights::Shepard { exponent: 4 };
            let data = blend_data(&rest, &[sample], weights).map_err(say)?;
            Arc::new(BlendedModel::new(data).map_err(|e| e.to_string())?)
        }
    };
    let options = live::LiveOptions { gravity: true, ..live::LiveOptions::default() };
    let proceed = || shared.goes_on();
    let new = live::extended(&problem, &model, poses, &options, &proceed).map_err(say)?;
    let said = format!(
        "{} samples, the last one made here in {:.0} ms",
        new.model.data().samples.len(),
        1e3 * begin.elapsed().as_secs_f64()
    );
    Ok(Made { problem, model: new.model, said })
}
