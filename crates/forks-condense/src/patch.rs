//! Patches: nodes whose mean motion is that of a frame, and over which its wrench is spread.
//!
//! The twist of a patch is the rigid twist that fits its nodes' displacements u best: ξ = E u with
//! E = (Σ w RᵀR)⁻¹ w Rᵀ, R = (1, −\[r\]) per node. A wrench spreads as forces Eᵀ(f; τ). The patch
//! is an observation of its nodes, no rigid plate.

use forks_deform::dynamics::mechanism::{
    lie::{
        Pose, Vec6,
        glam::{DMat3, DVec3},
        skew,
    },
    linalg::{Accuracy, Matrix},
};

use crate::CondenseError;

/// Spread about the worst axis below this part of the best: a line.
const LINE: f64 = 1e-10;

/// Some nodes of tissue that move a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Name of its frame.
    pub name: String,
    /// The nodes.
    pub nodes: Vec<usize>,
    /// Weight of every node; empty: all alike.
    pub weights: Vec<f64>,
}

/// A patch at positions of the nodes.
#[derive(Clone, Debug)]
pub(crate) struct PlacedPatch {
    /// World pose: mean of the nodes, turned from the world's axes as the nodes are.
    pub(crate) pose: Pose,
    /// Of every node of the patch: its index and the rows of E, 6 × 3 by columns, in the axes of
    /// the pose.
    pub(crate) rows: Vec<(usize, [Vec6; 3])>,
}

impl Patch {
    /// Nodes that weigh alike.
    pub fn new(name: impl Into<String>, nodes: Vec<usize>) -> Self {
        Self { name: name.into(), nodes, weights: vec![] }
    }

    /// World pose of its frame at positions `x` of all nodes: their mean, turned as the nodes are
    /// from `rest`, where its axes are the world's.
    ///
    /// # Errors
    /// A node that is not there, fewer than three nodes, nodes in a line.
    pub fn pose(&self, rest: &[DVec3], x: &[DVec3]) -> Result<Pose, CondenseError> {
        Ok(self.placed(rest, x)?.pose)
    }

    /// The patch at positions `x`, `rest` those without turn.
    pub(crate) fn placed(&self, rest: &[DVec3], x: &[DVec3]) -> Result<PlacedPatch, CondenseError> {
        let (count, name) = (x.len(), || self.name.clone());
        if let Some(&node) = self.nodes.iter().find(|&&n| n >= count) {
            return Err(CondenseError::NoSuchNode { patch: name(), node, count });
        }
        let (found, expected) = (self.weights.len(), self.nodes.len());
        if found != 0 && found != expected {
            let quantity = "weights of a patch";
            return Err(CondenseError::Length { quantity, found, expected });
        }
        let w = |i: usize| self.weights.get(i).copied().unwrap_or(1.0);
        let whole: f64 = (0..self.nodes.len()).map(w).sum();
        let mean = |x: &[DVec3]| {
            self.nodes.iter().enumerate().map(|(i, &n)| x[n] * w(i)).sum::<DVec3>() / whole
        };
        let (middle, start) = (mean(x), mean(rest));
        // Σ w (x − c)(X − C)ᵀ, whose rotation is the patch's; Σ w (|r|² − r rᵀ).
        let (mut spread, mut inertia) = (DMat3::ZERO, DMat3::ZERO);
        for (i, &n) in self.nodes.iter().enumerate() {
            let (a, b) = (x[n] - middle, rest[n] - start);
            spread += outer(a, b) * w(i);
            inertia +=
                (DMat3::from_diagonal(DVec3::splat(a.length_squared())) - outer(a, a)) * w(i);
        }
        let (values, _) = matrix(&inertia).jacobi_eigen(Accuracy::Norm);
        let (least, most) =
            values.iter().fold((f64::INFINITY, 0.0f64), |(l, m), v| (l.min(*v), m.max(*v)));
        let is_plane = least > LINE * most && whole > 0.0;
        if self.nodes.len() < 3 || !is_plane {
            let condition = if least > 0.0 { most / least } else { f64::INFINITY };
            return Err(CondenseError::Patch { patch: name(), nodes: self.nodes.len(), condition });
        }
        let rotation = nearest_rotation(&spread);
        let (back, inverse) = (rotation.transpose(), inertia.inverse());
        let rows = self.nodes.iter().enumerate().map(|(i, &n)| {
            let angular = back * inverse * skew(x[n] - middle) * w(i);
            let linear = back * (w(i) / whole);
            let column = |k: usize| {
                let (v, t) = (linear.col(k), angular.col(k));
                [v.x, v.y, v.z, t.x, t.y, t.z]
            };
            (n, [column(0), column(1), column(2)])
        });
        Ok(PlacedPatch {
            rows: rows.collect(),
            pose: Pose::new(glam_quaternion(&rotation), middle),
        })
    }
}

impl PlacedPatch {
    /// E u.
    pub(crate) fn twist(&self, u: &[DVec3]) -> Vec6 {
        let mut out = [0.0; 6];
        for (n, columns) in &self.rows {
            for (column, u) in columns.iter().zip(u[*n].to_array()) {
                out.iter_mut().zip(column).for_each(|(o, e)| *o += e * u);
            }
        }
        out
    }

    /// Adds Eᵀ w to the nodes' forces.
    pub(crate) fn spread(&self, wrench: &Vec6, forces: &mut [DVec3]) {
        for (n, columns) in &self.rows {
            let dot = |c: &Vec6| c.iter().zip(wrench).map(|(e, w)| e * w).sum::<f64>();
            forces[*n] += DVec3::new(dot(&columns[0]), dot(&columns[1]), dot(&columns[2]));
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn matrix(m: &DMat3) -> Matrix {
    Matrix::from_fn(3, 3, |i, j| m.col(j)[i])
}

fn glam_quaternion(r: &DMat3) -> forks_deform::dynamics::mechanism::lie::glam::DQuat {
    forks_deform::dynamics::mechanism::lie::glam::DQuat::from_mat3(r).normalize()
}

/// The rotation R of the largest tr(Rᵀ A) \[Kabsch 1976\]: from A = U Σ Vᵀ, det R = 1.
fn nearest_rotation(a: &DMat3) -> DMat3 {
    let Some(d) = forks_deform::dynamics::mechanism::linalg::dense::svd(&matrix(a)) else {
        return DMat3::IDENTITY;
    };
    let of = |m: &Matrix| {
        DMat3::from_cols_array_2d(&std::array::from_fn(|j| std::array::from_fn(|i| m[(i, j)])))
    };
    let (u, v) = (of(&d.u), of(&d.v));
    let sign = (u * v.transpose()).determinant().signum();
    u * DMat3::from_diagonal(DVec3::new(1.0, 1.0, sign)) * v.transpose()
}
