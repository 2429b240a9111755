//! A small model that has one of everything, and bytes whose checksum fits.

use forks_rom::{
    ReducedModel,
    data::{BaseRest, EffectorRest, JointPath, JointRest, LinkRest, ModelData},
};
use forks_rom::{
    lie::{Pose, Twist, Wrench, glam::DVec3, so3::exp_rotation},
    linalg::Matrix,
};
use forks_testkit::Rng;

/// Bytes before the first section, as the documentation of the format says.
pub(crate) const HEADER: usize = 24;
/// Bytes of the checksum at the end.
pub(crate) const CHECKSUM: usize = 4;

fn number(rng: &mut Rng) -> f64 {
    2.0 * rng.unit() - 1.0
}

fn matrix(rng: &mut Rng, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| number(rng))
}

/// Positive definite.
fn symmetric(rng: &mut Rng, n: usize) -> Matrix {
    let m = matrix(rng, n, n);
    let mut out = m.transpose_mul(&m).symmetric_part();
    (0..n).for_each(|i| out[(i, i)] += 1.0);
    out
}

fn twist(rng: &mut Rng) -> Twist {
    Twist::from_array(std::array::from_fn(|_| number(rng)))
}

fn pose(rng: &mut Rng) -> Pose {
    let (r, t) = (DVec3::from_array(rng.vector()), DVec3::from_array(rng.vector()));
    Pose::new(exp_rotation(r), t)
}

fn joint(rng: &mut Rng, name: &str, path: JointPath, [d, n, s]: [usize; 3]) -> JointRest {
    JointRest {
        name: name.into(),
        closes_loop: name == "closes",
        inner: 0,
        outer: 1,
        inner_from_outer: pose(rng),
        reversed: name.starts_with("product"),
        parent_from_joint: pose(rng),
        child_from_joint: pose(rng),
        path,
        map: matrix(rng, d, n),
        servo_map: matrix(rng, d, s),
        static_load: Wrench::from_array(twist(rng).to_array()),
        load_map: if name == "closes" { Matrix::zeros(0, 0) } else { matrix(rng, 6, n) },
    }
}

/// Every kind of path, a base, a servo, names beyond ASCII, negative zeros and subnormal numbers.
pub(crate) fn one_of_everything() -> ModelData {
    let rng = &mut Rng::new(4);
    let (n, s) = (2, 1);
    let subspace = JointPath::Subspace {
        before: pose(rng),
        subspace: vec![twist(rng), twist(rng)],
        start: vec![0.25, -0.0],
        after: pose(rng),
        inverted: true,
    };
    let product = JointPath::Product { factors: vec![(1, twist(rng)), (0, twist(rng))] };
    let paths = [
        ("plain", JointPath::Exponential { columns: vec![twist(rng)] }, 1),
        ("rigid", JointPath::Exponential { columns: vec![] }, 0),
        ("product \"ü\"\\\n", product, 2),
        ("closes", subspace, 2),
    ];
    let link = |rng: &mut Rng, name: &str, auxiliary| LinkRest {
        name: name.into(),
        auxiliary,
        rest: pose(rng),
        map: matrix(rng, 6, n),
        servo_map: matrix(rng, 6, s),
    };
    let mut links = vec![link(rng, "world", false), link(rng, "β", false), link(rng, "", true)];
    links[1].map[(2, 1)] = -0.0;
    links[1].map[(3, 0)] = 5e-324;
    links[1].map[(4, 0)] = -f64::MIN_POSITIVE / 3.0;
    links[1].map[(5, 0)] = f64::MAX;
    ModelData {
        radius: 0.75,
        range: 1.5,
        effectors: vec![EffectorRest {
            name: "tip".into(),
            link: 1,
            link_from_effector: pose(rng),
            rest: pose(rng),
            static_wrench: Wrench::from_array(twist(rng).to_array()),
        }],
        basis: matrix(rng, 6, n),
        hessian: symmetric(rng, n),
        mass: symmetric(rng, n),
        damping: symmetric(rng, n),
        servo_rest: matrix(rng, n, s),
        servos: vec!["motor".into()],
        links,
        joints: paths.map(|(name, path, d)| joint(rng, name, path, [d, n, s])).into(),
        base: Some(BaseRest {
            link: 1,
            inertia: symmetric(rng, 6),
            coupling: matrix(rng, 6, n),
            inertia_slopes: (0..n).map(|_| symmetric(rng, 6)).collect(),
            coupling_slopes: (0..n).map(|_| matrix(rng, 6, n)).collect(),
            own_inertia: symmetric(rng, 6),
            gravity: DVec3::new(0.0, -0.0, -9.81),
        }),
    }
}

pub(crate) fn small() -> ReducedModel {
    ReducedModel::new(one_of_everything()).unwrap()
}

/// CRC-32 bit by bit, from its definition.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut r = u32::MAX;
    for b in bytes {
        for bit in 0..8 {
            let carry = (r ^ u32::from(b >> bit)) & 1;
            r = (r >> 1) ^ (0xEDB8_8320 * carry);
        }
    }
    !r
}

/// Length and checksum made to fit the content, so that what lies behind them is tested.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.len() as u64;
    bytes[16..HEADER].copy_from_slice(&length.to_le_bytes());
    reseal(bytes)
}

/// The checksum alone made to fit.
pub(crate) fn reseal(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - CHECKSUM;
    let sum = crc32(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}
