//! Small models of random numbers.

use std::sync::Arc;

use forks_rom::{
    EffectorLoad, Elasticity, LoadFrame, ReducedModel, Scheme, State, Stepper,
    data::{DEFAULT_RANGE, EffectorRest, LinkRest, ModelData},
    lie::{Pose, Wrench, glam::DVec3, so3::exp_rotation},
    linalg::Matrix,
};
use forks_testkit::Rng;

pub(crate) fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from_array(rng.vector())
}

pub(crate) fn numbers(rng: &mut Rng, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| size * rng.symmetric()).collect()
}

pub(crate) fn random(rng: &mut Rng, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| rng.symmetric())
}

/// AᵀA + least · 1, times `scale`.
pub(crate) fn positive(rng: &mut Rng, n: usize, least: f64, scale: f64) -> Matrix {
    let a = random(rng, n, n);
    let product = a.transpose_mul(&a).symmetric_part();
    Matrix::from_fn(n, n, |i, j| scale * (product[(i, j)] + if i == j { least } else { 0.0 }))
}

/// `effectors` bodies with `n` coordinates and one servo: 𝓗 with eigenvalues above 20, M above 0.1,
/// D above 0.
pub(crate) fn data(rng: &mut Rng, effectors: usize, n: usize, static_wrench: f64) -> ModelData {
    let rest = |rng: &mut Rng| Pose::new(exp_rotation(vector(rng)), vector(rng));
    let effector = |rng: &mut Rng, i: usize| EffectorRest {
        name: format!("effector{i}"),
        link: i,
        link_from_effector: Pose::IDENTITY,
        rest: rest(rng),
        static_wrench: Wrench::new(vector(rng), vector(rng) * 0.3) * static_wrench,
    };
    let found: Vec<EffectorRest> = (0..effectors).map(|i| effector(rng, i)).collect();
    let link = |rng: &mut Rng, e: &EffectorRest| LinkRest {
        name: e.name.clone(),
        auxiliary: false,
        rest: e.rest,
        map: random(rng, 6, n),
        servo_map: random(rng, 6, 1),
    };
    ModelData {
        radius: 0.7,
        range: DEFAULT_RANGE,
        links: found.iter().map(|e| link(rng, e)).collect(),
        effectors: found,
        basis: random(rng, 6 * effectors, n),
        hessian: positive(rng, n, 2.0, 10.0),
        mass: positive(rng, n, 0.1, 1.0),
        damping: positive(rng, n, 0.01, 0.5),
        servo_rest: random(rng, n, 1),
        servos: vec!["servo".into()],
        joints: vec![],
        base: None,
    }
}

/// A slider along world x: one coordinate of a mass on a spring and a damper.
pub(crate) fn slider(m: f64, d: f64, k: f64) -> ModelData {
    let one = |x: f64| Matrix::from_fn(1, 1, |_, _| x);
    let map = Matrix::from_fn(6, 1, |i, _| f64::from(i == 0));
    ModelData {
        radius: 1.0,
        range: 1e3,
        effectors: vec![EffectorRest {
            name: "slider".into(),
            link: 0,
            link_from_effector: Pose::IDENTITY,
            rest: Pose::IDENTITY,
            static_wrench: Wrench::ZERO,
        }],
        basis: map.clone(),
        hessian: one(k),
        mass: one(m),
        damping: one(d),
        servo_rest: one(1.0),
        servos: vec!["position".into()],
        links: vec![LinkRest {
            name: "slider".into(),
            auxiliary: false,
            rest: Pose::IDENTITY,
            map,
            servo_map: Matrix::zeros(6, 1),
        }],
        joints: vec![],
        base: None,
    }
}

pub(crate) fn load(rng: &mut Rng, effector: usize, size: f64, frame: LoadFrame) -> EffectorLoad {
    EffectorLoad { effector, wrench: Wrench::new(vector(rng), vector(rng)) * size, frame }
}

/// A force along world x on the first effector.
pub(crate) fn push(f: f64) -> EffectorLoad {
    let wrench = Wrench::new(DVec3::X * f, DVec3::ZERO);
    EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }
}

pub(crate) fn model(data: ModelData) -> Arc<ReducedModel> {
    Arc::new(ReducedModel::new(data).unwrap())
}

pub(crate) fn stepper(model: &Arc<ReducedModel>, h: f64, scheme: Scheme) -> Stepper {
    Stepper::with(model.clone(), h, scheme, Elasticity::Energy).unwrap()
}

pub(crate) fn started(model: &ReducedModel, eta: &[f64], velocity: &[f64]) -> State {
    let mut state = State::new(model);
    state.set(eta, velocity).unwrap();
    state
}
