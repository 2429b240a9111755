//! Where the samples of a blend are placed: at equilibria of skeleton and tissue under forces of a
//! cone, each where the worst vertex of the blend so far is farthest from where it should be; then
//! samples are exchanged for others as long as that brings the worst nearer.

use std::sync::Arc;

use forks_blend::{BlendData, BlendedModel, SampleData, Weights};
use forks_condense::{SkinKind, surface_places};
use forks_mechanism::{
    lie::{Wrench, glam::DVec3},
    linalg::{Matrix, dense},
};
use forks_reduce::ReduceOptions;
use forks_rom::{EffectorLoad, LoadFrame, ServoTerms, StaticStatus};
use forks_skin::SkinnedModel;

use crate::{PadForce, SkinnedBlend, SoftModelError, SoftProblem};

/// Parts of the largest force of the training loads, and of loads between them; directions around
/// the cone's axis. Near the start, where a sample should do best, they are closer.
const PARTS: [f64; 5] = [0.125, 0.25, 0.5, 0.75, 1.0];
const BETWEEN: [f64; 5] = [0.06, 0.18, 0.37, 0.62, 0.87];
const AROUND: usize = 6;
/// Range of a blend over how far its samples are from the first.
const BEYOND: f64 = 1.25;
/// Exponents of the weights that are tried.
const EXPONENTS: [u32; 3] = [4, 8, 10];
/// Exchanges of samples at most.
const EXCHANGES: usize = 4;
/// Newton's steps for the force that brings a displacement about, and how near they come to it.
const SEARCH: usize = 8;
const NEAR: f64 = 0.02;

/// Forces on the pad that a blend is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceCone {
    /// Axis, world.
    pub axis: DVec3,
    /// Angle between axis and border, rad.
    pub half_angle: f64,
    /// Largest force, N.
    pub force: f64,
}

/// How many samples a blend gets.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceOptions {
    /// Samples at most, the pose of the problem among them. Default 4.
    pub samples: usize,
    /// Error of the worst vertex over the largest displacement that is small enough. Default 0.02.
    pub tolerance: f64,
    /// How samples are reduced; without fixed-effector modes.
    pub reduce: ReduceOptions,
}

impl Default for PlaceOptions {
    fn default() -> Self {
        Self { samples: 4, tolerance: 0.02, reduce: ReduceOptions::default() }
    }
}

/// A blend with what it is worth.
#[derive(Clone, Debug)]
pub struct PlacedBlend {
    /// The blend with its skins.
    pub model: SkinnedBlend,
    /// Forces at the samples, world axes, N.
    pub samples: Vec<DVec3>,
    /// Forces of the training loads, and the error of the worst vertex there over the largest
    /// displacement; infinite where the blend finds no rest.
    pub errors: Vec<(DVec3, f64)>,
    /// The same at loads between these, that the blend was not made for.
    pub unseen: Vec<(DVec3, f64)>,
}

impl PlacedBlend {
    /// The largest error, unseen loads included.
    pub fn worst(&self) -> f64 {
        self.errors.iter().chain(&self.unseen).fold(0.0, |m, (_, e)| m.max(*e))
    }
}

/// A load with what the whole does under it.
struct Training {
    force: DVec3,
    /// Where the vertices are.
    truth: Vec<DVec3>,
    /// Largest displacement of a vertex, m.
    moved: f64,
}

impl SoftProblem {
    /// The force along an axis at which the pad of the first effector has moved by the relative
    /// displacement, its turn and its way over the mechanism's size.
    ///
    /// # Errors
    /// No equilibrium under a force on the way, a pad that does not move.
    pub fn force_that_moves(&self, axis: DVec3, by: f64) -> Result<f64, SoftModelError> {
        let model = self.reduce(&ReduceOptions::default())?.model;
        let (rest, r) = (model.data().effectors[0].rest, model.data().radius);
        let direction = axis.normalize_or_zero();
        // 𝓗 η = Bᵀ w for a unit force at the pose itself.
        let w = Wrench::new(rest.rotation.conjugate() * direction, DVec3::ZERO).to_array();
        let (basis, n) = (&model.data().basis, model.dof());
        let right = Matrix::from_fn(n, 1, |j, _| (0..6).map(|i| basis[(i, j)] * w[i]).sum::<f64>());
        let slope = dense::cholesky_solve(&model.data().hessian, &right);
        let size = |eta: &[f64]| model.effector_twist(0, eta).scale_linear(1.0 / r).norm();
        let per_newton = slope.map_or(0.0, |s| size(s.as_slice()));
        let mut force = by / per_newton;
        if !force.is_finite() || force <= 0.0 {
            return Err(SoftModelError::Still { by });
        }
        let (mut low, mut high) = (0.0, f64::INFINITY);
        for _ in 0..SEARCH {
            let there = self.loaded(&[PadForce { effector: 0, force: direction * force }])?;
            let pose = there.reduce(&held())?.model.data().effectors[0].rest;
            let found = rest.twist_to(&pose).scale_linear(1.0 / r).norm();
            if (found / by - 1.0).abs() < NEAR {
                break;
            }
            if found < by {
                low = force
            } else {
                high = force
            }
            let next = force * by / found;
            let within = next > low && next < high;
            force = if within { next } else { 0.5 * (low + high.min(2.0 * force)) };
        }
        Ok(force)
    }

    /// A blend over equilibria under forces on the pad of the first effector: of training loads in
    /// the cone those become samples where the blend so far is worst.
    ///
    /// # Errors
    /// No equilibrium under a force of the cone, servos, effectors of which the first is no pad.
    pub fn blend(
        &self,
        cone: &ForceCone,
        options: &PlaceOptions,
    ) -> Result<PlacedBlend, SoftModelError> {
        if let Some(servo) = self.problem.servos.first() {
            return Err(SoftModelError::Servo { name: servo.name.clone() });
        }
        let training = self.loads(&forces(cone))?;
        let mut pool = Pool::new(self, &training, &options.reduce)?;
        let mut chosen: Vec<usize> = vec![];
        let (model, errors) = loop {
            let model = pool.blend(&chosen)?;
            let errors = vertex_errors(&model, &training)?;
            match worst_but(&errors, &chosen) {
                Some((next, error))
                    if error > options.tolerance && chosen.len() + 1 < options.samples =>
                {
                    chosen.push(next);
                }
                _ => break (model, errors),
            }
        };
        let worst = errors.iter().fold(0.0, |m: f64, e| m.max(e.1));
        let (model, errors) = match worst > options.tolerance && !chosen.is_empty() {
            true => pool.exchange(&mut chosen, worst, options.tolerance)?,
            false => (model, errors),
        };
        let mut samples = vec![DVec3::ZERO];
        samples.extend(chosen.iter().map(|k| training[*k].force));
        let unseen = vertex_errors(&model, &self.loads(&between(cone))?)?;
        Ok(PlacedBlend { model, samples, errors, unseen })
    }

    fn sample(
        &self,
        potential: f64,
        options: &ReduceOptions,
    ) -> Result<(SkinnedModel, SampleData), SoftModelError> {
        let options = ReduceOptions { held_by_loads: true, ..options.clone() };
        let reduction = self.reduce(&options)?;
        let skinned = self.skinned(&reduction, SkinKind::Twist)?;
        let sample = SampleData {
            model: Arc::new(skinned.model.clone()),
            potential,
            servos: ServoTerms::default(),
            curvature: Matrix::default(),
        };
        Ok((skinned, sample))
    }

    /// What the whole does under forces on the pad.
    fn loads(&self, forces: &[DVec3]) -> Result<Vec<Training>, SoftModelError> {
        let rest = self.vertices(self.whole());
        let load = |&force: &DVec3| {
            let there = self.at_rest_under(&[PadForce { effector: 0, force }])?;
            let truth = self.vertices(&there);
            let far = truth.iter().zip(&rest).map(|(a, b)| a.distance(*b));
            let moved = far.fold(0.0, f64::max);
            Ok(Training { force, truth, moved })
        };
        forces.iter().map(load).collect()
    }

    /// Where the vertices of all skins are in a state of the whole.
    pub fn vertices(&self, whole: &forks_deform::SoftSimulation) -> Vec<DVec3> {
        let mut first = 0;
        let places = self.bodies().map(|body| {
            let nodes = first..first + body.mesh().nodes().len();
            first = nodes.end;
            surface_places(body, &whole.state().x[nodes])
        });
        places.collect::<Vec<_>>().concat()
    }
}

/// Samples at the pose of the problem and at training loads, each made when it is first wanted.
struct Pool<'a> {
    problem: &'a SoftProblem,
    training: &'a [Training],
    options: &'a ReduceOptions,
    start: (SkinnedModel, SampleData),
    made: Vec<Option<(SkinnedModel, SampleData)>>,
    weights: Weights,
}

impl<'a> Pool<'a> {
    fn new(
        problem: &'a SoftProblem,
        training: &'a [Training],
        options: &'a ReduceOptions,
    ) -> Result<Self, SoftModelError> {
        let start = problem.sample(problem.potential(), options)?;
        let made = training.iter().map(|_| None).collect();
        Ok(Self { problem, training, options, start, made, weights: Weights::default() })
    }

    /// The blend of the start and the samples at some training loads.
    fn blend(&mut self, chosen: &[usize]) -> Result<SkinnedBlend, SoftModelError> {
        for &k in chosen {
            if self.made[k].is_none() {
                let force = self.training[k].force;
                let there = self.problem.loaded(&[PadForce { effector: 0, force }])?;
                self.made[k] = Some(there.sample(there.potential(), self.options)?);
            }
        }
        let own = chosen.iter().filter_map(|k| self.made[*k].as_ref());
        let all = std::iter::once(&self.start).chain(own).cloned();
        let (models, data): (Vec<SkinnedModel>, Vec<SampleData>) = all.unzip();
        let first = models[0].model.data();
        let turned = |m: &SkinnedModel| {
            let own = first.effectors.iter().zip(&m.model.data().effectors);
            let far = own.map(|(a, b)| a.rest.twist_to(&b.rest).scale_linear(1.0 / first.radius));
            far.map(|t| t.norm()).fold(0.0, f64::max)
        };
        let range = models.iter().map(|m| BEYOND * turned(m)).fold(first.range, f64::max);
        let blend = BlendedModel::new(BlendData {
            reference: first.effectors.iter().map(|e| e.rest).collect(),
            basis: first.basis.clone(),
            radius: first.radius,
            range,
            weights: self.weights,
            samples: data,
            chart: vec![],
            guard: None,
            kinematics: Default::default(),
            link_forces: vec![],
        })?;
        SkinnedBlend::new(blend, models)
    }

    /// The exponent of the weights that makes the worst error least, and that error.
    fn choose_weights(&mut self, chosen: &[usize], mut worst: f64) -> Result<f64, SoftModelError> {
        let mut best = self.weights;
        for exponent in EXPONENTS {
            self.weights = Weights::Shepard { exponent };
            let model = self.blend(chosen)?;
            let errors = vertex_errors(&model, self.training)?;
            let found = errors.iter().fold(0.0, |m: f64, e| m.max(e.1));
            if found < worst {
                (worst, best) = (found, self.weights);
            }
        }
        self.weights = best;
        Ok(worst)
    }

    /// Exchanges one sample at a time for the training load that makes the worst error least, until
    /// that is small enough or no exchange helps.
    fn exchange(
        &mut self,
        chosen: &mut Vec<usize>,
        mut worst: f64,
        tolerance: f64,
    ) -> Result<(SkinnedBlend, Vec<(DVec3, f64)>), SoftModelError> {
        worst = self.choose_weights(chosen, worst)?;
        // Loads that were worst are looked at first: most exchanges are ruled out by one of them.
        let mut order: Vec<usize> = (0..self.training.len()).collect();
        for _ in 0..EXCHANGES {
            let mut best = None;
            for place in 0..chosen.len() {
                for k in (0..self.training.len()).filter(|k| !chosen.contains(k)) {
                    let mut other = chosen.clone();
                    other[place] = k;
                    let model = self.blend(&other)?;
                    let mut found = 0.0f64;
                    for at in 0..order.len() {
                        found = found.max(vertex_error(&model, &self.training[order[at]])?);
                        if found >= worst {
                            order[..=at].rotate_right(1);
                            break;
                        }
                    }
                    if found < worst {
                        (worst, best) = (found, Some(other));
                    }
                }
            }
            let Some(other) = best else { break };
            *chosen = other;
            if worst <= tolerance {
                break;
            }
        }
        self.choose_weights(chosen, worst)?;
        let model = self.blend(chosen)?;
        let errors = vertex_errors(&model, self.training)?;
        Ok((model, errors))
    }
}

/// The training load with the largest error that is no sample.
fn worst_but(errors: &[(DVec3, f64)], chosen: &[usize]) -> Option<(usize, f64)> {
    let open = errors.iter().map(|(_, e)| *e).enumerate().filter(|(k, _)| !chosen.contains(k));
    open.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn held() -> ReduceOptions {
    ReduceOptions { held_by_loads: true, ..ReduceOptions::default() }
}

/// Training loads: along the axis and along directions on the border.
fn forces(cone: &ForceCone) -> Vec<DVec3> {
    let mut directions = vec![cone.axis.normalize_or_zero()];
    directions.extend(around(cone, 1.0, 0.0));
    in_parts(&directions, cone.force, &PARTS)
}

/// Loads between these.
fn between(cone: &ForceCone) -> Vec<DVec3> {
    let mut directions = vec![cone.axis.normalize_or_zero()];
    directions.extend(around(cone, 0.7, 0.5));
    in_parts(&directions, cone.force, &BETWEEN)
}

fn in_parts(directions: &[DVec3], force: f64, parts: &[f64]) -> Vec<DVec3> {
    directions.iter().flat_map(|d| parts.iter().map(|p| *d * (force * p))).collect()
}

/// Directions at a part of the half angle, turned by a part of the angle between them.
fn around(cone: &ForceCone, part: f64, turned: f64) -> Vec<DVec3> {
    if cone.half_angle == 0.0 {
        return vec![];
    }
    let axis = cone.axis.normalize_or_zero();
    let (across, along) = axis.any_orthonormal_pair();
    let (aside, ahead) = (part * cone.half_angle).sin_cos();
    let direction = |k: usize| {
        let angle = std::f64::consts::TAU * (k as f64 + turned) / AROUND as f64;
        axis * ahead + (across * angle.cos() + along * angle.sin()) * aside
    };
    (0..AROUND).map(direction).collect()
}

fn vertex_errors(
    model: &SkinnedBlend,
    loads: &[Training],
) -> Result<Vec<(DVec3, f64)>, SoftModelError> {
    loads.iter().map(|t| Ok((t.force, vertex_error(model, t)?))).collect()
}

/// Error of the worst vertex over the largest displacement; infinite without a rest.
fn vertex_error(model: &SkinnedBlend, t: &Training) -> Result<f64, SoftModelError> {
    let load = EffectorLoad {
        effector: 0,
        wrench: Wrench::new(t.force, DVec3::ZERO),
        frame: LoadFrame::World,
    };
    let found = model.blend().solve_static(&[load], &[])?;
    if found.status != StaticStatus::Converged {
        return Ok(f64::INFINITY);
    }
    let mut room = model.room();
    let places = model.place(&found.coordinates, &mut room)?.concat();
    let far = places.iter().zip(&t.truth).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    Ok(far / t.moved)
}
