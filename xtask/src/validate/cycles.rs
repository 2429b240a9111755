//! Work of the elastic wrench around closed cycles: ∮ w·φ dt of public wrenches and velocities, and
//! of public wrenches and poses alone.

use core::f64::consts::TAU;

use forks_dynamics::{Loads, statics::EquilibriumStatus};
use forks_io::{Cell, CsvTable};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_reduce::{Linearisation, ReduceOptions};
use forks_rom::{Elasticity, LoadFrame, ReducedModel, State};
use forks_testkit::Rng;

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::Cycles,
};

/// Harmonics of a random cycle.
const HARMONICS: usize = 3;
/// Points on a cycle with velocities: the trapezoidal rule converges faster than any power.
const SPECTRAL: usize = 192;
/// Points on the coarser of two polygons of poses.
const POLYGON: usize = 768;
/// Rounding of sums of some hundred terms over their absolute values.
const SPECTRAL_BOUND: f64 = 1e-12;
/// The polygon's error after one Richardson step, of fourth order in 1/768.
const POLYGON_BOUND: f64 = 1e-7;

pub(crate) fn check(c: &Cycles, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let mut table = CsvTable::new(["pose", "cycle", "energy", "energy_poses", "linear"]);
    around("at rest", c, &case.reduction.model, &mut table, out)?;
    let load = Wrench::new(DVec3::from_array(c.static_force), DVec3::from_array(c.static_torque));
    let loads = case.load_on_first(load);
    let loaded = loaded_model(case, &loads)?;
    around("loaded", c, &loaded, &mut table, out)?;
    match out.report_path("cycles.csv") {
        Some(path) => table.save(path).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

fn loaded_model(case: &Case, loads: &Loads) -> Result<ReducedModel, String> {
    let e = case.equilibrium(loads);
    if e.status != EquilibriumStatus::Converged {
        return Err(format!("cycles: no equilibrium under the static load: {}", e.status.name()));
    }
    let at = Linearisation::equilibrium(&e, loads);
    let found = case.unstressed.reduce(at, &ReduceOptions::default());
    found.map(|r| r.model).map_err(|e| e.to_string())
}

fn around(
    pose: &str,
    c: &Cycles,
    model: &ReducedModel,
    table: &mut CsvTable,
    out: &mut Recorder,
) -> Result<(), String> {
    let mut rng = Rng::new(c.seed);
    let (mut energy, mut polygon, mut linear) = (0.0f64, 0.0f64, 0.0f64);
    for k in 0..c.count {
        let cycle = Cycle::random(&mut rng, model, c.amplitude);
        let of = |form| work(model, &cycle, form);
        let found = (of(Elasticity::Energy), along_poses(model, &cycle), of(Elasticity::Linear));
        energy = larger(energy, found.0.abs());
        polygon = larger(polygon, found.1.abs());
        linear = larger(linear, found.2.abs());
        let row: [Cell; 5] =
            [pose.into(), (k as f64).into(), found.0.into(), found.1.into(), found.2.into()];
        table.push(row).map_err(|e| e.to_string())?;
    }
    let name = |what: &str| format!("∮w·φ over ∮|w·φ|, {} cycles {pose}, {what}", c.count);
    out.at_most(&name("energy"), energy, SPECTRAL_BOUND);
    out.at_most(&name("energy, poses"), polygon, POLYGON_BOUND);
    out.info(&name("[A16]"), linear);
    // Otherwise the cycles would not tell the forms apart.
    out.at_most(&name("energy over [A16]"), energy / linear, 1e-6);
    Ok(())
}

/// η(t) as a sum of harmonics, t in one period 0…1.
struct Cycle {
    /// Cosine and sine coefficients, harmonic by harmonic.
    coefficients: Vec<[Vec<f64>; 2]>,
}

impl Cycle {
    /// Displacements of about `amplitude` (lengths over r, angles).
    fn random(rng: &mut Rng, model: &ReducedModel, amplitude: f64) -> Self {
        let n = model.dof();
        let mut cycle = Self {
            coefficients: (0..HARMONICS)
                .map(|_| [0, 1].map(|_| (0..n).map(|_| rng.symmetric()).collect()))
                .collect(),
        };
        let points = (0..SPECTRAL).map(|k| cycle.at(k as f64 / SPECTRAL as f64).0);
        let sizes = points.flat_map(|eta| {
            let twist = |e| model.effector_twist(e, &eta).scale_linear(1.0 / model.data().radius);
            (0..model.effector_count()).map(|e| twist(e).norm()).collect::<Vec<_>>()
        });
        let scale = amplitude / sizes.fold(f64::MIN_POSITIVE, f64::max);
        let all = cycle.coefficients.iter_mut().flatten().flatten();
        all.for_each(|x| *x *= scale);
        cycle
    }

    /// η and η̇.
    fn at(&self, t: f64) -> (Vec<f64>, Vec<f64>) {
        let n = self.coefficients[0][0].len();
        let (mut eta, mut rate) = (vec![0.0; n], vec![0.0; n]);
        for (k, [a, b]) in self.coefficients.iter().enumerate() {
            let omega = TAU * (k + 1) as f64;
            let (s, c) = (omega * t).sin_cos();
            for i in 0..n {
                eta[i] += a[i] * c + b[i] * s;
                rate[i] += omega * (b[i] * c - a[i] * s);
            }
        }
        (eta, rate)
    }
}

/// ∮ w·φ dt over ∮ |w·φ| dt by the trapezoidal rule.
fn work(model: &ReducedModel, cycle: &Cycle, form: Elasticity) -> f64 {
    let mut state = State::new(model);
    let (mut sum, mut size) = (0.0, 0.0f64);
    for k in 0..SPECTRAL {
        let (eta, rate) = cycle.at(k as f64 / SPECTRAL as f64);
        state.set(&eta, &rate).expect("finite coordinates of the right number");
        let wrenches = model.effector_wrenches(&state, form, LoadFrame::Body);
        let power = |(e, w): (usize, Wrench)| w.dot(model.effector_velocity(e, &state));
        let power: f64 = wrenches.enumerate().map(power).sum();
        sum += power;
        size += power.abs();
    }
    sum / size
}

/// The same from poses: ½(w_k + w_{k+1}) · log(H_k⁻¹ H_{k+1}), whose error is even in the step; one
/// Richardson step.
fn along_poses(model: &ReducedModel, cycle: &Cycle) -> f64 {
    let mut state = State::new(model);
    let still = vec![0.0; model.dof()];
    let points: Vec<(Vec<Wrench>, Vec<Pose>)> = (0..2 * POLYGON)
        .map(|k| {
            let eta = cycle.at(k as f64 / (2 * POLYGON) as f64).0;
            let poses = (0..model.effector_count()).map(|e| model.effector_pose(e, &eta)).collect();
            state.set(&eta, &still).expect("finite coordinates of the right number");
            let wrenches = model.effector_wrenches(&state, Elasticity::Energy, LoadFrame::Body);
            (wrenches.collect(), poses)
        })
        .collect();
    let sum = |stride: usize| {
        let (mut sum, mut size) = (0.0, 0.0f64);
        for k in (0..points.len()).step_by(stride) {
            let (a, b) = (&points[k], &points[(k + stride) % points.len()]);
            let segment: f64 =
                (0..a.0.len()).map(|e| 0.5 * (a.0[e] + b.0[e]).dot(a.1[e].twist_to(&b.1[e]))).sum();
            sum += segment;
            size += segment.abs();
        }
        (sum, size)
    };
    let ((fine, size), (coarse, _)) = (sum(1), sum(2));
    (4.0 * fine - coarse) / (3.0 * size)
}
