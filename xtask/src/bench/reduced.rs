//! `reduced/…`: a step of the reduced model with the poses of all links, against full simulations
//! of the mechanism.

use std::{hint::black_box, sync::Arc};

use forks_mechanism::{
    Mechanism,
    lie::{Wrench, glam::DVec3},
};
use forks_models::{HelixJoints, Parametric};
use forks_reduce::{Effector, Problem, ReduceOptions};
use forks_rom::{
    EffectorLoad, LoadFrame, PoseBuffer, ReducedModel, State, StepStatus, Stepper, System,
};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
    others::Others,
    rivals::{self, Measured, Pushed},
};

/// Time steps, s: the one of the figures, and that of games.
pub(super) const STEPS: [f64; 2] = [1e-3, 1.0 / 60.0];

/// `reduced/helix-50`.
pub(super) fn helix_50(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, &forks_models::helix(50, HelixJoints::Alternating))
}

/// `reduced/helix-100`.
pub(super) fn helix_100(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, &forks_models::helix(100, HelixJoints::Alternating))
}

/// `reduced/helix-400`.
pub(super) fn helix_400(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, &forks_models::helix(400, HelixJoints::Alternating))
}

/// `reduced/ladder-48`.
pub(super) fn ladder_48(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, &forks_models::ladder_of_links(48))
}

/// `reduced/arm-20`.
pub(super) fn arm_20(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, &forks_models::arm20())
}

/// The case at both time steps.
fn measure(name: &str, context: &Context<'_>, p: &Parametric) -> Result<Vec<Case>, String> {
    let pushed = Pushed { p, force: rivals::FORCE, batch: context.batch };
    let reduction = Reduced::new(&p.mechanism, p)?;
    let others = Others::ask(name, context, &pushed, &STEPS);
    let mut cases = Vec::new();
    for (k, dt) in STEPS.into_iter().enumerate() {
        let full = name.to_owned() + if k == 0 { "" } else { "/dt60" };
        let (ours, outside) = reduction.measure(&pushed, dt)?;
        let mut case =
            Case::new(&full, p.mechanism.links().len() - 1, 1, ours.timing, &ours.settings);
        case.dt = Some(dt);
        case.figure("reduced coordinates", reduction.model.dof() as f64);
        case.figure("ns per link, ours", ours.timing.ns / case.n_links as f64);
        if let Some(effector) = outside {
            case.notes.push(format!("effector {effector} is outside the model's range"));
        }
        compare(&mut case, k, &ours, &pushed, others.as_ref())?;
        cases.push(case);
    }
    Ok(cases)
}

/// Adds the rivals at the `k`-th time step.
pub(super) fn compare(
    case: &mut Case,
    k: usize,
    ours: &Measured,
    pushed: &Pushed<'_>,
    others: Option<&Others>,
) -> Result<(), String> {
    let dt = STEPS[k];
    let implicit = pushed.implicit(dt);
    let reference = implicit.as_ref().ok().and_then(|i| i.displacement);
    if let Some(reference) = reference {
        case.figure("displacement of the effector, m, forks-implicit", reference.length());
        figure_difference(case, "ours", ours, reference);
    }
    let mut rivals = vec![("forks-implicit", implicit), ("forks-aba", pushed.aba(dt))];
    if let Some(others) = others {
        rivals.extend(others.steps(k, dt, pushed));
        others.add_pinocchio(case, pushed);
    }
    for (name, rival) in rivals {
        match rival {
            Ok(rival) => {
                case.rival(name, rival.timing, &rival.settings);
                if let Some(reference) = reference.filter(|_| name != "forks-implicit") {
                    figure_difference(case, name, &rival, reference);
                }
            }
            Err(e) => case.notes.push(format!("{name} left out: {e}")),
        }
    }
    Ok(())
}

/// Difference of displacements over the reference's.
fn figure_difference(case: &mut Case, name: &str, rival: &Measured, reference: DVec3) {
    if let Some(theirs) = rival.displacement {
        let difference = theirs.distance(reference) / reference.length();
        case.figure(
            &format!("displacement, relative difference from forks-implicit, {name}"),
            difference,
        );
    }
}

/// A reduced model of a mechanism at rest.
pub(super) struct Reduced {
    pub(super) model: Arc<ReducedModel>,
}

impl Reduced {
    /// Reduces to the effectors of a parametric mechanism.
    pub(super) fn new(m: &Mechanism, p: &Parametric) -> Result<Self, String> {
        let effectors = p.effectors.iter().map(|&l| Effector::of_link(m, l)).collect();
        let problem = Problem::unprepared(m.clone(), effectors);
        let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default());
        Ok(Self { model: Arc::new(reduction.map_err(|e| e.to_string())?.model) })
    }

    /// Step and poses of all links under the force; the effector that is outside the model's range,
    /// if any.
    pub(super) fn measure(
        &self,
        pushed: &Pushed<'_>,
        dt: f64,
    ) -> Result<(Measured, Option<usize>), String> {
        let model = &self.model;
        let stepper = Stepper::new(Arc::clone(model), dt).map_err(|e| e.to_string())?;
        let loads = [EffectorLoad {
            effector: 0,
            wrench: Wrench::new(pushed.force, DVec3::ZERO),
            frame: LoadFrame::World,
        }];
        let mut state = State::new(model);
        let mut work = stepper.workspace();
        let mut outside = None;
        for _ in 0..rivals::STEPS_BEFORE {
            match stepper.step(&mut state, &mut work, &loads) {
                StepStatus::Completed => {}
                StepStatus::OutOfRange { effector } => outside = Some(effector),
                other => return Err(format!("a step ended with {other:?}")),
            }
        }
        let moved = model.effector_pose(0, state.coordinates()).translation;
        let displacement = moved - model.effector_pose(0, &vec![0.0; model.dof()]).translation;
        let timing = step_and_poses(&stepper, &mut state, &loads, pushed.batch)?;
        let settings = format!(
            "implicit Euler, energy-consistent, condensed mass, step and poses of all links, {}",
            model.isa().name()
        );
        Ok((Measured { timing, displacement: Some(displacement), settings }, outside))
    }
}

/// Time of a step and of the poses of all links.
pub(super) fn step_and_poses(
    stepper: &Stepper,
    state: &mut State,
    loads: &[EffectorLoad],
    batch: f64,
) -> Result<Timing, String> {
    let model = Arc::clone(stepper.model());
    let mut poses = PoseBuffer::new(&model);
    let mut work = stepper.workspace();
    let timing = time(batch, || {
        let status = stepper.step(state, &mut work, loads);
        model.poses(state, black_box(&mut poses));
        status
    });
    if poses.iter().all(|(_, p)| p.is_finite()) {
        Ok(timing)
    } else {
        Err("a pose is not finite".into())
    }
}
