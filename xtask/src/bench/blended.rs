//! `blended/…`: a step of a blend with the poses of all links, against full simulations of the
//! mechanism, and what the links of a blend cost beside those of one model.

use std::{hint::black_box, ops::ControlFlow, sync::Arc};

use forks_benches::{blended::blended, charted::charted};
use forks_blend::{BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, LinkBlend};
use forks_import::{ImportOptions, load_mjcf};
use forks_mechanism::{
    Mechanism,
    lie::{Wrench, glam::DVec3},
};
use forks_models::{HelixJoints, Parametric};
use forks_place::{LoadRegion, Placement, Truth, place};
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{EffectorLoad, LoadFrame, PoseBuffer, State, StepStatus};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
    others::Others,
    reduced::{STEPS, compare},
    rivals::{self, Measured, Pushed},
};

/// Numbers of models whose links are measured.
const MODELS: [usize; 4] = [1, 2, 4, 8];

/// `blended/helix-200x4` and other numbers of models.
pub(super) fn helix_200<const N: usize>(
    name: &str,
    context: &Context<'_>,
) -> Result<Vec<Case>, String> {
    let p = forks_models::helix(200, HelixJoints::Alternating);
    measure(name, context, &p, N)
}

/// `blended/ladder-36x4`.
pub(super) fn ladder_36<const N: usize>(
    name: &str,
    context: &Context<'_>,
) -> Result<Vec<Case>, String> {
    let p = forks_models::ladder_of_links(36);
    measure(name, context, &p, N)
}

/// `blended/arm-20x4`.
pub(super) fn arm_20<const N: usize>(
    name: &str,
    context: &Context<'_>,
) -> Result<Vec<Case>, String> {
    let p = forks_models::arm20();
    measure(name, context, &p, N)
}

/// Half angle of the cones of loads of blends in joint displacements.
const CONE: f64 = core::f64::consts::FRAC_PI_6;

/// `blended/y-joints-x6`: the Y in joint displacements, both tips in one blend.
pub(super) fn y_joints<const N: usize>(
    name: &str,
    context: &Context<'_>,
) -> Result<Vec<Case>, String> {
    let p = forks_models::y_mechanism();
    let names: Vec<&str> = p.effectors.iter().map(|&l| p.mechanism.link(l).name.as_str()).collect();
    let regions = (0..names.len()).map(|e| LoadRegion::cone(e, -DVec3::Z, CONE)).collect();
    joints(name, context, &p.mechanism, &names, regions, N)
}

/// `blended/finger`: the forefinger of the Shadow hand as it is placed by default, servos as
/// springs.
pub(super) fn finger(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let path = context.root.join("fixtures/models/shadow_hand_right/right_hand.nomesh.xml");
    let import = load_mjcf(&path, &ImportOptions::default()).map_err(|e| e.to_string())?;
    let m = &import.mechanism;
    let problem = Problem::new(m, &["rh_ffdistal"], &ProblemOptions::default());
    let regions = vec![LoadRegion::cone(0, -DVec3::Y, CONE)];
    let placement = Placement { regions, ..Placement::default() };
    let problem = problem.map_err(|e| e.to_string())?;
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(()));
    let placed = placed.map_err(|e| e.to_string())?;
    let largest = |a: &Truth, b: &Truth| a.displacement.total_cmp(&b.displacement);
    let far = placed.training.iter().max_by(|a, b| largest(a, b)).ok_or("no load")?;
    let (effector, force) = far.forces[0];
    let model = Arc::new(placed.model);
    let mut run = Run::new(model.clone(), STEPS[0], effector, 0.5 * force)?;
    let (timing, _) = run.measure(context.batch)?;
    let settings = format!(
        "{} samples, {:?}, step and poses of all links, {}",
        model.data().samples.len(),
        placed.chart,
        model.isa().name()
    );
    let mut case = Case::new(name, m.links().len() - 1, 1, timing, &settings);
    case.dt = Some(STEPS[0]);
    case.figure("coordinates", model.dof() as f64);
    case.figure("static error", placed.certificate.statics);
    case.figure("constraint error", placed.certificate.constraint);
    Ok(vec![case])
}

/// A step and the links of a blend in joint displacements, moving under half the forces of its last
/// sample.
fn joints(
    name: &str,
    context: &Context<'_>,
    mechanism: &Mechanism,
    effectors: &[&str],
    regions: Vec<LoadRegion>,
    models: usize,
) -> Result<Vec<Case>, String> {
    let problem = Problem::new(mechanism, effectors, &ProblemOptions::default());
    let (model, forces) = charted(&problem.map_err(|e| e.to_string())?, regions, models)?;
    let (effector, force) = *forces.first().ok_or("the last sample is at rest")?;
    let model = Arc::new(model);
    let mut cases = Vec::new();
    for (k, dt) in STEPS.into_iter().enumerate() {
        let full = name.to_owned() + if k == 0 { "" } else { "/dt60" };
        let mut run = Run::new(model.clone(), dt, effector, 0.5 * force)?;
        run.warm_up()?;
        let step = time(context.batch, || run.step());
        let average = time(context.batch, || run.links(LinkBlend::Average));
        if !run.is_finite() {
            return Err("a pose is not finite".into());
        }
        let settings = format!(
            "energies of {models} models in joint displacements, a step without links, {}",
            model.isa().name()
        );
        let mut case = Case::new(&full, mechanism.links().len() - 1, 1, step, &settings);
        case.dt = Some(dt);
        case.figure("coordinates", model.dof() as f64);
        case.figure("models", models as f64);
        case.figure("ns of average poses of all links", average.ns);
        if let Some(effector) = run.outside {
            case.notes.push(format!("effector {effector} is outside the model's range"));
        }
        cases.push(case);
    }
    Ok(cases)
}

/// `blended/links-helix-200`.
pub(super) fn links_200(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let p = forks_models::helix(200, HelixJoints::Alternating);
    MODELS.iter().map(|&n| links(&format!("{name}/x{n}"), context, &p, n)).collect()
}

/// `blended/links-helix-400`.
pub(super) fn links_400(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let p = forks_models::helix(400, HelixJoints::Alternating);
    MODELS.iter().map(|&n| links(&format!("{name}/x{n}"), context, &p, n)).collect()
}

/// An instance under the force.
pub(super) struct Run {
    stepper: BlendedStepper,
    state: BlendedState,
    work: BlendedWorkspace,
    poses: PoseBuffer,
    load: EffectorLoad,
    /// The first effector that was outside the model's range.
    outside: Option<usize>,
}

impl Run {
    pub(super) fn new(
        model: Arc<BlendedModel>,
        dt: f64,
        effector: usize,
        force: DVec3,
    ) -> Result<Self, String> {
        let wrench = Wrench::new(force, DVec3::ZERO);
        let start = vec![0.0; model.dof()];
        Ok(Self {
            state: BlendedState::new(&model, &start).map_err(|e| e.to_string())?,
            poses: model.pose_buffer(),
            work: BlendedWorkspace::new(&model),
            stepper: BlendedStepper::new(model, dt).map_err(|e| e.to_string())?,
            load: EffectorLoad { effector, wrench, frame: LoadFrame::World },
            outside: None,
        })
    }

    fn step(&mut self) -> StepStatus {
        self.stepper.step(&mut self.state, &mut self.work, &[self.load])
    }

    fn warm_up(&mut self) -> Result<(), String> {
        for _ in 0..rivals::STEPS_BEFORE {
            match self.step() {
                StepStatus::Completed => {}
                StepStatus::OutOfRange { effector } => self.outside = Some(effector),
                other => return Err(format!("a step ended with {other:?}")),
            }
        }
        Ok(())
    }

    fn links(&mut self, blend: LinkBlend) {
        let model = self.stepper.model();
        model.poses(&self.state, &mut self.work, blend, black_box(&mut self.poses));
    }

    /// Time of a step with the poses of all links, and how far the first effector went before.
    pub(super) fn measure(&mut self, batch: f64) -> Result<(Timing, DVec3), String> {
        let start = self.position();
        self.warm_up()?;
        let displacement = self.position() - start;
        let timing = time(batch, || {
            let status = self.step();
            self.links(LinkBlend::Average);
            status
        });
        match self.is_finite() {
            true => Ok((timing, displacement)),
            false => Err("a pose is not finite".into()),
        }
    }

    fn is_finite(&self) -> bool {
        self.poses.iter().all(|(_, p)| p.is_finite())
    }

    fn position(&self) -> DVec3 {
        self.stepper.model().effector_pose(0, self.state.coordinates()).translation
    }
}

/// The case at both time steps.
fn measure(
    name: &str,
    context: &Context<'_>,
    p: &Parametric,
    models: usize,
) -> Result<Vec<Case>, String> {
    let pushed = Pushed { p, force: rivals::FORCE, batch: context.batch };
    let model = Arc::new(blended(p, models)?);
    let others = Others::ask(name, context, &pushed, &STEPS);
    let mut cases = Vec::new();
    for (k, dt) in STEPS.into_iter().enumerate() {
        let full = name.to_owned() + if k == 0 { "" } else { "/dt60" };
        let mut run = Run::new(model.clone(), dt, 0, rivals::FORCE)?;
        let (timing, displacement) = run.measure(context.batch)?;
        let displacement = Some(displacement);
        let settings = format!(
            "energies of {models} models blended, step and average poses of all links, {}",
            model.isa().name()
        );
        let ours = Measured { timing, displacement, settings };
        let mut case = Case::new(&full, p.mechanism.links().len() - 1, 1, timing, &ours.settings);
        case.dt = Some(dt);
        case.figure("coordinates", model.dof() as f64);
        case.figure("models", models as f64);
        if let Some(effector) = run.outside {
            case.notes.push(format!("effector {effector} is outside the model's range"));
        }
        compare(&mut case, k, &ours, &pushed, others.as_ref())?;
        cases.push(case);
    }
    Ok(cases)
}

/// Links of a blend by both means, those of its first model, and a step without links, in one run.
fn links(name: &str, context: &Context<'_>, p: &Parametric, models: usize) -> Result<Case, String> {
    let model = Arc::new(blended(p, models)?);
    let mut run = Run::new(model.clone(), STEPS[0], 0, rivals::FORCE)?;
    run.warm_up()?;
    let first = &model.data().samples[0].model;
    let mut single = State::new(first);
    let eta = model.to_sample(run.state.coordinates(), first);
    single.set(&eta, &vec![0.0; eta.len()]).map_err(|e| e.to_string())?;
    let one = time(context.batch, || first.poses(&single, black_box(&mut run.poses)));
    let average = time(context.batch, || run.links(LinkBlend::Average));
    let logarithm = time(context.batch, || run.links(LinkBlend::Logarithm));
    if !run.is_finite() {
        return Err("a pose is not finite".into());
    }
    let step = time(context.batch, || run.step());
    let settings = format!("average poses of all links, {models} models, {}", model.isa().name());
    let mut case = Case::new(name, p.mechanism.links().len() - 1, 1, average, &settings);
    case.rival("one-model", one, "links of the first model alone");
    case.rival("logarithm", logarithm, "[A16] Eq. 28");
    case.figure("models", models as f64);
    case.figure("average / one model", average.ns / one.ns);
    case.figure("logarithm / one model", logarithm.ns / one.ns);
    if let [Some(one), Some(average), Some(logarithm)] = [one, average, logarithm].map(|t| t.cpu_ns)
    {
        case.figure("average / one model, computing time", average / one);
        case.figure("logarithm / one model, computing time", logarithm / one);
    }
    // The bound: 1 µs and 0.3 µs for every model.
    let ns = step.cpu_ns.unwrap_or(step.ns);
    case.figure("step without links, ns of computing time", ns);
    case.figure(
        "step without links / (1 µs + 0.3 µs × models)",
        ns / (1e3 + 300.0 * models as f64),
    );
    Ok(case)
}
