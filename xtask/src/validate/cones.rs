//! Static tip error under forces in cones: the energy form beside two readings of \[A16\]'s w = b +
//! Kξ.

use std::sync::Arc;

use forks_dynamics::statics::Equilibrium;
use forks_io::{Cell, CsvTable};
use forks_mechanism::{
    lie::{Pose, Twist, Wrench, glam::DVec3, se3::right_jacobian},
    linalg::{Matrix, dense},
};
use forks_rom::{
    EffectorLoad, Elasticity, LoadFrame, ReducedModel, Scheme, State, StaticStatus, StepStatus,
    Stepper, System,
};
use forks_testkit::Rng;

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::{Cone, Cones},
};

/// Equal load steps of \[A16\]'s equilibrium, and Newton steps in each.
const LOAD_STEPS: usize = 16;
const NEWTON_STEPS: usize = 30;

/// How the elastic wrench depends on the displacement.
#[derive(Clone, Copy)]
enum Form {
    Energy,
    /// w = Kξ, w in displaced body axes.
    DisplacedAxes,
    /// w = Kξ, w in the axes of the rest pose.
    RestAxes,
}

const FORMS: [(&str, Form); 3] = [
    ("energy", Form::Energy),
    ("[A16] body axes", Form::DisplacedAxes),
    ("[A16] rest axes", Form::RestAxes),
];

pub(crate) fn check(c: &Cones, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let columns = ["cone", "force_x", "force_y", "force_z", "energy", "a16_body", "a16_rest"];
    let mut table = CsvTable::new(columns);
    check_linear_stepper(case, DVec3::from_array(c.cones[0].axis).normalize() * c.until, out)?;
    for cone in &c.cones {
        let mut rng = Rng::new(c.seed);
        let mut errors: [Vec<f64>; 3] = Default::default();
        for _ in 0..c.loads {
            let force = draw(&mut rng, cone, c);
            let full = case.equilibrium(&case.load_on_first(Wrench::new(force, DVec3::ZERO)));
            if !full.status.is_equilibrium() {
                let problem = format!("full solver under {force} N: {}", full.status.name());
                out.fail(
                    &format!("tip error, cone {}", cone.name),
                    cone.energy.map(|b| b[0]),
                    problem,
                );
                return Ok(());
            }
            for ((_, form), errors) in FORMS.iter().zip(&mut errors) {
                errors.push(tip_error(case, *form, force, &full));
            }
            let row: [Cell; 7] = [
                cone.name.as_str().into(),
                force.x.into(),
                force.y.into(),
                force.z.into(),
                errors[0][errors[0].len() - 1].into(),
                errors[1][errors[1].len() - 1].into(),
                errors[2][errors[2].len() - 1].into(),
            ];
            table.push(row).map_err(|e| e.to_string())?;
        }
        let bounds = [cone.energy, cone.body_axes, cone.rest_axes];
        for (((name, _), errors), bound) in FORMS.iter().zip(&errors).zip(bounds) {
            let label = |what: &str| format!("tip error {what}, cone {}, {name}", cone.name);
            let max = errors.iter().copied().fold(0.0, larger);
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            out.judge(&label("max"), max, bound.map(|b| b[0]));
            out.judge(&label("mean"), mean, bound.map(|b| b[1]));
        }
    }
    match out.report_path("cones.csv") {
        Some(path) => table.save(path).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

/// The library's linear stepper stays where the solution found here is at rest.
fn check_linear_stepper(case: &Case, force: DVec3, out: &mut Recorder) -> Result<(), String> {
    let check = "[A16] equilibrium: moved by one step of 100 s";
    // Newton's last change above, and what one Newton step leaves of it.
    let bound = 1e-11;
    let model = &case.reduction.model;
    let Some(eta) = linear_equilibrium(model, force, true) else {
        out.fail(check, bound, "no equilibrium");
        return Ok(());
    };
    let model = Arc::new(model.clone());
    let stepper = Stepper::with(model.clone(), 100.0, Scheme::ImplicitEuler, Elasticity::Linear)
        .map_err(|e| e.to_string())?;
    let mut state = State::new(&model);
    let mut work = stepper.workspace();
    state.set(&eta, &vec![0.0; eta.len()]).map_err(|e| e.to_string())?;
    let wrench = Wrench::new(force, DVec3::ZERO);
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
    if stepper.step(&mut state, &mut work, &[load]) != StepStatus::Completed {
        out.fail(check, bound, "the step did not complete");
        return Ok(());
    }
    let moved = state.coordinates().iter().zip(&eta).map(|(a, b)| (a - b).abs()).fold(0.0, larger);
    out.at_most(check, moved, bound);
    Ok(())
}

/// Uniform magnitude, uniform direction in the cone.
fn draw(rng: &mut Rng, cone: &Cone, c: &Cones) -> DVec3 {
    let axis = DVec3::from_array(cone.axis).normalize();
    let (side, other) = axis.any_orthonormal_pair();
    let cosine = rng.range(c.half_angle_deg.to_radians().cos(), 1.0);
    let (s, k) = rng.range(0.0, core::f64::consts::TAU).sin_cos();
    let across = (side * k + other * s) * (1.0 - cosine * cosine).sqrt();
    (axis * cosine + across) * rng.range(0.0, c.until)
}

/// |p − p_full| / max(|p_full − p_rest|, 0.1 r); infinite where the form has no solution.
fn tip_error(case: &Case, form: Form, force: DVec3, full: &Equilibrium) -> f64 {
    let model = &case.reduction.model;
    let eta = match form {
        Form::Energy => {
            let wrench = Wrench::new(force, DVec3::ZERO);
            let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
            let found = model.solve_static(&[load], &[]).ok();
            found.filter(|s| s.status == StaticStatus::Converged).map(|s| s.coordinates)
        }
        Form::DisplacedAxes => linear_equilibrium(model, force, true),
        Form::RestAxes => linear_equilibrium(model, force, false),
    };
    let effector = &case.problem.effectors[0];
    let at = full.world_from_link[effector.link.index()] * effector.link_from_effector;
    let rest = model.data().effectors[0].rest.translation;
    let size = at.translation.distance(rest).max(0.1 * case.r());
    eta.map_or(f64::INFINITY, |eta| {
        model.effector_pose(0, &eta).translation.distance(at.translation) / size
    })
}

/// 𝓗η = Bᵀw at a rest pose without static wrench, w the force in body axes, by Newton's method
/// under growing force.
fn linear_equilibrium(
    model: &ReducedModel,
    force: DVec3,
    displaced_axes: bool,
) -> Option<Vec<f64>> {
    let n = model.dof();
    let basis = model.data().basis.block(0, 0, 6, n);
    let rest = model.data().effectors[0].rest.rotation;
    let mut eta = vec![0.0; n];
    for step in 1..=LOAD_STEPS {
        let force = force * (step as f64 / LOAD_STEPS as f64);
        let mut last = f64::INFINITY;
        for _ in 0..NEWTON_STEPS {
            let xi = model.effector_twist(0, &eta);
            let turned = if displaced_axes { Pose::exp(xi).rotation } else { Default::default() };
            let w = (rest * turned).conjugate() * force;
            // The body sees a world-fixed force turn backwards: ẇ = w × ω.
            let slope = Matrix::from_fn(6, n, |i, j| {
                if !displaced_axes || i >= 3 {
                    return 0.0;
                }
                let column = right_jacobian(xi).mul_vec(&core::array::from_fn(|k| basis[(k, j)]));
                w.cross(Twist::from_array(column).angular)[i]
            });
            let g = basis.transpose_mul_vec(&Wrench::new(w, DVec3::ZERO).to_array());
            let elastic = model.elastic_force(&eta, &[]);
            let residual = Matrix::from_fn(n, 1, |i, _| elastic[i] - g[i]);
            let system = model.data().hessian.sub(&basis.transpose_mul(&slope));
            let dx = dense::lu_solve(&system, &residual);
            eta.iter_mut().zip(dx.as_slice()).for_each(|(x, d)| *x -= d);
            last = dx.max_abs();
            if last < 1e-12 {
                break;
            }
        }
        if last.is_nan() || last >= 1e-12 {
            return None;
        }
    }
    Some(eta)
}
