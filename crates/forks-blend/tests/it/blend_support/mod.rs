//! Random blends, and blends of a real mechanism.

// Every test program uses a part of this.

pub(crate) mod bent;

use std::sync::Arc;

use forks_blend::{BlendData, SampleData, Weights};
use forks_rom::ServoTerms;
use forks_rom::{
    ReducedModel,
    data::{DEFAULT_RANGE, EffectorRest, LinkRest, ModelData},
};
use forks_rom::{
    lie::{Pose, Twist, Wrench},
    linalg::Matrix,
};
use forks_testkit::Rng;

pub(crate) const RADIUS: f64 = 0.7;

/// Sizes of a random blend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) effectors: usize,
    pub(crate) samples: usize,
    /// Links beside the ground and the effectors.
    pub(crate) links: usize,
    /// How far samples are apart.
    pub(crate) spread: f64,
}

pub(crate) fn twist(rng: &mut Rng, size: f64) -> Twist {
    Twist::from_array(core::array::from_fn(|_| size * rng.symmetric()))
}

pub(crate) fn numbers(rng: &mut Rng, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| size * rng.symmetric()).collect()
}

pub(crate) fn spd(rng: &mut Rng, n: usize, size: f64) -> Matrix {
    let a = Matrix::from_fn(n, n, |_, _| rng.symmetric());
    let b = a.transpose_mul(&a);
    Matrix::from_fn(n, n, |i, j| size * (b[(i, j)] + if i == j { 1.0 } else { 0.0 }))
        .symmetric_part()
}

/// Columns S⁻¹ e_i: every motion of every effector.
pub(crate) fn full_basis(effectors: usize) -> Matrix {
    let n = 6 * effectors;
    Matrix::from_fn(n, n, |i, j| match (i == j, i % 6 < 3) {
        (false, _) => 0.0,
        (true, true) => RADIUS,
        (true, false) => 1.0,
    })
}

fn near(rng: &mut Rng, m: &Matrix, size: f64) -> Matrix {
    Matrix::from_fn(m.rows(), m.columns(), |i, j| m[(i, j)] + size * rng.symmetric())
}

/// A blend whose samples lie around the first one; matrices are random, near those of the first.
pub(crate) fn blend(rng: &mut Rng, sizes: Sizes) -> BlendData {
    let Sizes { effectors, samples, links, spread } = sizes;
    let n = 6 * effectors;
    let reference: Vec<Pose> = (0..effectors).map(|_| Pose::exp(twist(rng, 1.0))).collect();
    let places: Vec<Pose> = (0..links).map(|_| Pose::exp(twist(rng, 1.2))).collect();
    let maps: Vec<Matrix> =
        (0..links).map(|_| Matrix::from_fn(6, n, |_, _| 0.4 * rng.symmetric())).collect();
    let [hessian, mass, damping] = [20.0, 0.1, 0.05].map(|size| spd(rng, n, size));
    let sample = |rng: &mut Rng, first: bool| {
        let s = if first { 0.0 } else { spread };
        let moved = |rng: &mut Rng, p: &Pose| *p * Pose::exp(twist(rng, s));
        let rests: Vec<Pose> = reference.iter().map(|p| moved(rng, p)).collect();
        let effector = |(e, rest): (usize, &Pose)| EffectorRest {
            name: format!("effector{e}"),
            link: e + 1,
            link_from_effector: Pose::IDENTITY,
            rest: *rest,
            static_wrench: Wrench::ZERO,
        };
        let mut found: Vec<EffectorRest> = rests.iter().enumerate().map(effector).collect();
        for e in &mut found {
            e.static_wrench = Wrench::from_array(twist(rng, 2.0).to_array());
        }
        let link = |name: String, rest: Pose, map: Matrix| LinkRest {
            name,
            auxiliary: false,
            rest,
            map,
            servo_map: Matrix::zeros(6, 0),
        };
        let mut all = vec![link("world".into(), Pose::IDENTITY, Matrix::zeros(6, n))];
        let basis = full_basis(effectors);
        for (e, rest) in rests.iter().enumerate() {
            all.push(link(format!("tip{e}"), *rest, basis.block(6 * e, 0, 6, n)));
        }
        for (i, (place, map)) in places.iter().zip(&maps).enumerate() {
            let (rest, map) = (moved(rng, place), near(rng, map, 0.2 * s));
            all.push(link(format!("link{i}"), rest, map));
        }
        let scaled = |rng: &mut Rng, m: &Matrix, size: f64| {
            let more = spd(rng, n, s * size);
            Matrix::from_fn(n, n, |i, j| m[(i, j)] + more[(i, j)])
        };
        let model = ReducedModel::new(ModelData {
            radius: RADIUS,
            range: DEFAULT_RANGE,
            effectors: found,
            basis,
            hessian: scaled(rng, &hessian, 20.0),
            mass: scaled(rng, &mass, 0.1),
            damping: scaled(rng, &damping, 0.05),
            servo_rest: Matrix::zeros(n, 0),
            servos: vec![],
            links: all,
            joints: vec![],
            base: None,
        })
        .unwrap();
        SampleData {
            model: Arc::new(model),
            potential: rng.symmetric(),
            servos: ServoTerms::default(),
            curvature: Matrix::zeros(0, 0),
        }
    };
    let samples = (0..samples).map(|i| sample(rng, i == 0)).collect();
    BlendData {
        reference,
        basis: full_basis(effectors),
        radius: RADIUS,
        range: DEFAULT_RANGE,
        weights: Weights::Shepard { exponent: 4 },
        samples,
        chart: vec![],
        guard: None,
        kinematics: Default::default(),
        link_forces: vec![],
    }
}
