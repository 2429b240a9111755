//! Motions of a whole mechanism, one column each: joint displacements and the twists of all links.

use forks_mechanism::{Mechanism, kinematics::link_twists, linalg::Matrix};
use forks_rom::data::ModelData;

/// Motions, `n` columns.
pub(crate) struct Shapes {
    /// Joint displacements, nv × n.
    pub(crate) joints: Matrix,
    /// Body twist of each link, the ground first, 6 × n.
    pub(crate) links: Vec<Matrix>,
    /// Amplitudes of the superelements' internal modes, all of one after those of the other,
    /// modes × n.
    pub(crate) internal: Matrix,
}

impl Shapes {
    /// From joint displacements, internal modes at rest; one sweep outwards per column.
    pub(crate) fn of_motions(m: &Mechanism, q: &[f64], joints: Matrix) -> Self {
        let mut links = vec![Matrix::zeros(6, joints.columns()); m.links().len()];
        for k in 0..joints.columns() {
            for (map, twist) in links.iter_mut().zip(link_twists(m, q, &joints.column(k))) {
                twist.to_array().into_iter().enumerate().for_each(|(i, x)| map[(i, k)] = x);
            }
        }
        Self { internal: Matrix::zeros(0, joints.columns()), joints, links }
    }

    /// These columns, then those of `other`.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        Self {
            joints: beside(&self.joints, &other.joints),
            links: self.links.iter().zip(&other.links).map(|(a, b)| beside(a, b)).collect(),
            internal: beside(&self.internal, &other.internal),
        }
    }
}

/// The rows of all joints of a model in velocity order, nv × columns.
pub(crate) fn joint_rows(
    m: &Mechanism,
    data: &ModelData,
    columns: usize,
    of: impl Fn(&forks_rom::data::JointRest) -> &Matrix,
) -> Matrix {
    let mut out = Matrix::zeros(m.velocity_count(), columns);
    let ids =
        m.forest().edges().iter().map(|e| e.joint).chain(m.forest().closures().iter().copied());
    for (joint, id) in data.joints.iter().zip(ids) {
        let map = of(joint);
        for (i, v) in m.velocity_range(id).enumerate() {
            out.row_mut(v).copy_from_slice(map.row(i));
        }
    }
    out
}

/// \[a b\].
pub(crate) fn beside(a: &Matrix, b: &Matrix) -> Matrix {
    let n = a.columns();
    Matrix::from_fn(a.rows(), n + b.columns(), |i, j| if j < n { a[(i, j)] } else { b[(i, j - n)] })
}

/// \[a; b\].
pub(crate) fn above(a: &Matrix, b: &Matrix) -> Matrix {
    let n = a.rows();
    Matrix::from_fn(n + b.rows(), a.columns(), |i, j| if i < n { a[(i, j)] } else { b[(i - n, j)] })
}
