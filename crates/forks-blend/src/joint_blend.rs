//! How joints of the tree are blended: found once, from the samples.

use alloc::{vec, vec::Vec};

use forks_linalg::{Matrix, OrthogonalRows};
use forks_rom::{
    ModelError,
    data::{JointPath, JointRest},
    internal::{displaced_joint, is_group},
};

use crate::data::BlendData;

/// How a joint of the tree is blended.
#[derive(Clone, Debug)]
pub(crate) enum JointBlend {
    /// By poses of the joint's child-side frame in its parent-side frame.
    Group,
    /// By coordinates: those of each sample relative to the first one's, sample after sample.
    Coordinates(Vec<f64>),
}

/// How each joint of the tree is blended.
///
/// # Errors
/// Samples whose trees differ, or whose joints are so far from each other that coordinates are not
/// found.
pub(crate) fn joint_blends(data: &BlendData) -> Result<Vec<JointBlend>, ModelError> {
    let unlike = || ModelError::UnlikeSamples { quantity: "joints" };
    let joints = |i: usize| &data.samples[i].model.data().joints;
    let first = joints(0);
    let same = |a: &JointRest, b: &JointRest| {
        let ends = |j: &JointRest| (j.closes_loop, j.reversed, j.inner, j.outer, j.map.rows());
        ends(a) == ends(b)
    };
    for i in 0..data.samples.len() {
        let all = joints(i).len() == first.len();
        if !all || !first.iter().zip(joints(i)).all(|(a, b)| same(a, b)) {
            return Err(unlike());
        }
    }
    let blend = |(k, j): (usize, &JointRest)| {
        if is_group(j) {
            return Ok(JointBlend::Group);
        }
        let mut all = Vec::new();
        for i in 0..data.samples.len() {
            all.extend(coordinates(j, &joints(i)[k]).ok_or_else(unlike)?);
        }
        Ok(JointBlend::Coordinates(all))
    };
    first.iter().enumerate().filter(|(_, j)| !j.closes_loop).map(blend).collect()
}

/// The displacement of a joint at which it is where it is in another sample.
fn coordinates(j: &JointRest, other: &JointRest) -> Option<Vec<f64>> {
    const ITERATIONS: usize = 60;
    let n = j.map.rows();
    let mut delta = match (&j.path, &other.path) {
        (JointPath::Subspace { start: a, .. }, JointPath::Subspace { start: b, .. }) => {
            b.iter().zip(a).map(|(b, a)| b - a).collect()
        }
        _ => vec![0.0; n],
    };
    let mut best = (f64::INFINITY, delta.clone());
    for _ in 0..ITERATIONS {
        let at = |d: &[f64]| displaced_joint(j, |i| d[i]);
        let here = at(&delta);
        let gap = here.twist_to(&other.inner_from_outer);
        if gap.norm() >= 0.5 * best.0 && best.0 < 1e-9 {
            break;
        }
        if gap.norm() < best.0 {
            best = (gap.norm(), delta.clone());
        }
        // Most often the first guess is right.
        if best.0 < 4.0 * f64::EPSILON {
            break;
        }
        let columns: Vec<[f64; 6]> = (0..n)
            .map(|k| {
                let side = |h: f64| {
                    let mut d = delta.clone();
                    d[k] += h;
                    here.twist_to(&at(&d))
                };
                ((side(1e-5) - side(-1e-5)) * 0.5e5).to_array()
            })
            .collect();
        let rows = OrthogonalRows::new(&Matrix::from_fn(6, n, |i, k| columns[k][i]));
        let step = rows.solve(&gap.to_array(), 1e-9 * rows.largest());
        delta.iter_mut().zip(step).for_each(|(d, s)| *d += s);
    }
    // Rounding of positions of size 1.
    (best.0 < 1e-9).then_some(best.1)
}
