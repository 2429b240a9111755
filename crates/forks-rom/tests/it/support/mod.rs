//! Random models of a few effectors and many links, random loads, and a hash of bits.

// Every test program uses a part of this.

use std::sync::Arc;

use forks_rom::{
    EffectorLoad, LoadFrame, ReducedModel,
    data::{EffectorRest, LinkRest, ModelData},
    lie::{Pose, Twist, Wrench, glam::DVec3, so3::exp_rotation},
    linalg::Matrix,
};
use forks_testkit::Rng;

/// Sizes of a random model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Effectors.
    pub(crate) effectors: usize,
    /// Reduced coordinates.
    pub(crate) coordinates: usize,
    /// Servos.
    pub(crate) servos: usize,
    /// Links, the ground included.
    pub(crate) links: usize,
}

pub(crate) fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from_array(rng.vector())
}

pub(crate) fn matrix(rng: &mut Rng, rows: usize, columns: usize, size: f64) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| size * rng.symmetric())
}

/// AᵀA scale + identity shift.
fn positive(rng: &mut Rng, n: usize, scale: f64, shift: f64) -> Matrix {
    let a = matrix(rng, n, n, 1.0);
    let product = a.transpose_mul(&a);
    // Symmetric to the last bit.
    Matrix::from_fn(n, n, |i, j| {
        scale * product[(i.max(j), i.min(j))] + if i == j { shift } else { 0.0 }
    })
}

/// A model that rests under static wrenches; every third link is a massless frame.
pub(crate) fn data(rng: &mut Rng, sizes: Sizes) -> ModelData {
    let Sizes { effectors, coordinates: n, servos, links } = sizes;
    let links: Vec<LinkRest> = (0..links)
        .map(|i| LinkRest {
            name: format!("link{i}"),
            auxiliary: i % 3 == 2,
            rest: Pose::new(exp_rotation(vector(rng) * 2.0), vector(rng)),
            map: if i == 0 { Matrix::zeros(6, n) } else { matrix(rng, 6, n, 0.5) },
            servo_map: if i == 0 { Matrix::zeros(6, servos) } else { matrix(rng, 6, servos, 0.2) },
        })
        .collect();
    ModelData {
        radius: 0.8,
        range: 1.0,
        effectors: (0..effectors)
            .map(|e| EffectorRest {
                name: format!("effector{e}"),
                link: e % links.len(),
                link_from_effector: Pose::IDENTITY,
                rest: Pose::new(exp_rotation(vector(rng)), vector(rng)),
                static_wrench: Wrench::new(vector(rng), vector(rng) * 0.3),
            })
            .collect(),
        basis: matrix(rng, 6 * effectors, n, 0.7),
        hessian: positive(rng, n, 10.0, 20.0),
        mass: positive(rng, n, 0.1, 0.2),
        damping: positive(rng, n, 0.02, 0.01),
        servo_rest: matrix(rng, n, servos, 0.3),
        servos: (0..servos).map(|i| format!("servo{i}")).collect(),
        links,
        joints: vec![],
        base: None,
    }
}

pub(crate) fn model(seed: u64, sizes: Sizes) -> Arc<ReducedModel> {
    Arc::new(ReducedModel::new(data(&mut Rng::new(seed), sizes)).unwrap())
}

/// Up to three loads in any frame on any effector.
pub(crate) fn loads(rng: &mut Rng, effectors: usize, size: f64) -> Vec<EffectorLoad> {
    let count = rng.index(4);
    let load = |rng: &mut Rng| EffectorLoad {
        effector: rng.index(effectors),
        wrench: Wrench::new(vector(rng) * size, vector(rng) * (0.3 * size)),
        frame: if rng.index(2) == 0 { LoadFrame::World } else { LoadFrame::Body },
    };
    (0..count).map(|_| load(rng)).collect()
}

/// Bits of a pose.
pub(crate) fn bits(p: &Pose) -> [u64; 7] {
    let (t, q) = (p.translation, p.rotation);
    [t.x, t.y, t.z, q.x, q.y, q.z, q.w].map(f64::to_bits)
}

/// Bits of numbers.
pub(crate) fn all_bits(x: impl IntoIterator<Item = f64>) -> Vec<u64> {
    x.into_iter().map(f64::to_bits).collect()
}

/// The hash FNV-1a of numbers' bits, eight bytes at a time in little-endian order.
pub(crate) struct Fnv(pub(crate) u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub(crate) fn add(&mut self, bits: u64) {
        for byte in bits.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The twist of a link: X η + Y s.
pub(crate) fn twist(l: &LinkRest, eta: &[f64], servo_targets: &[f64]) -> Twist {
    let a = l.map.mul_vec(eta);
    let b = l.servo_map.mul_vec(servo_targets);
    Twist::from_array(core::array::from_fn(|i| a[i] + b[i]))
}
