//! Nodes on a chain of bones, whole: one dense stiffness over joints and free nodes. The rival of
//! tissue that is condensed and swept.
//!
//! Bone i (link i) is carried by a ball joint at its own origin, on bone i − 1; at rest all axes
//! are those of the world.

use forks_mechanism::{
    LinkId, Mechanism,
    lie::glam::DVec3,
    linalg::{Matrix, dense},
};

/// A chain with its nodes at rest.
#[derive(Clone, Debug)]
pub struct SoftChain {
    /// Motion of all nodes per joint coordinate, then per displacement of a free node: 3 nodes ×
    /// (joints' + 3 free).
    pub motions: Matrix,
    /// K over the same coordinates, N/m, N, N·m/rad.
    pub stiffness: Matrix,
}

impl SoftChain {
    /// Of nodes at world positions `x` in bones (`None`: free) with their dense stiffness; `joints`
    /// is that of the ball joints, N·m/rad.
    pub fn new(
        m: &Mechanism,
        x: &[DVec3],
        holder: impl Fn(usize) -> Option<LinkId>,
        of_nodes: &Matrix,
        joints: f64,
    ) -> Self {
        let poses = m.link_poses(&m.start_positions());
        let nv = m.velocity_count();
        let free: Vec<usize> = (0..x.len()).filter(|n| holder(*n).is_none()).collect();
        let mut motions = Matrix::zeros(3 * x.len(), nv + 3 * free.len());
        for n in 0..x.len() {
            let Some(holder) = holder(n) else { continue };
            for bone in 1..=holder.index() {
                for k in 0..3 {
                    let u = DVec3::AXES[k].cross(x[n] - poses[bone].translation);
                    (0..3).for_each(|a| motions[(3 * n + a, 3 * (bone - 1) + k)] = u[a]);
                }
            }
        }
        for (i, n) in free.iter().enumerate() {
            (0..3).for_each(|a| motions[(3 * n + a, nv + 3 * i + a)] = 1.0);
        }
        let mut stiffness = motions.transpose_mul(&of_nodes.mul(&motions)).symmetric_part();
        (0..nv).for_each(|i| stiffness[(i, i)] += joints);
        Self { motions, stiffness }
    }

    /// Displacements of joints and free nodes per unit of every row's load; `None` if the whole is
    /// not stable.
    pub fn response(&self, rows: &Matrix) -> Option<Matrix> {
        dense::cholesky_solve(&self.stiffness, &rows.mul(&self.motions).transpose())
    }

    /// C of rows over all nodes; `None` if the whole is not stable.
    pub fn compliance(&self, rows: &Matrix) -> Option<Matrix> {
        Some(rows.mul(&self.motions).mul(&self.response(rows)?).symmetric_part())
    }

    /// C of rows over all nodes where further coordinates y of stiffness `further` are tied to the
    /// chain's x by tie (x; y) = 0.
    pub fn tied_compliance(&self, rows: &Matrix, further: &Matrix, tie: &Matrix) -> Matrix {
        let (n, k, c) = (self.stiffness.rows(), further.rows(), tie.rows());
        let entry = |i: usize, j: usize| match (i < n, j < n, i < n + k, j < n + k) {
            (true, true, ..) => self.stiffness[(i, j)],
            (false, false, true, true) => further[(i - n, j - n)],
            (_, _, false, true) => tie[(i - n - k, j)],
            (_, _, true, false) => tie[(j - n - k, i)],
            _ => 0.0,
        };
        let whole = Matrix::from_fn(n + k + c, n + k + c, entry);
        let rows = rows.mul(&self.motions);
        let right =
            Matrix::from_fn(n + k + c, rows.rows(), |i, j| if i < n { rows[(j, i)] } else { 0.0 });
        rows.mul(&dense::lu_solve(&whole, &right).block(0, 0, n, rows.rows()))
    }
}

/// E of a patch: the rigid twist about its mean that fits its nodes best, world axes, 6 × 3 nodes.
pub fn patch_rows(patch: &[usize], x: &[DVec3]) -> Matrix {
    let middle = patch.iter().map(|n| x[*n]).sum::<DVec3>() / patch.len() as f64;
    let rigid = Matrix::from_fn(3 * patch.len(), 6, |i, j| {
        let (r, axis) = (x[patch[i / 3]] - middle, DVec3::AXES[j % 3]);
        (if j < 3 { axis } else { axis.cross(r) })[i % 3]
    });
    let inverse = dense::lu_solve(&rigid.transpose_mul(&rigid), &rigid.transpose());
    let mut out = Matrix::zeros(6, 3 * x.len());
    for (i, n) in patch.iter().enumerate() {
        for k in 0..3 {
            (0..6).for_each(|row| out[(row, 3 * n + k)] = inverse[(row, 3 * i + k)]);
        }
    }
    out
}

/// Rows of the displacements of some of `count` nodes.
pub fn node_rows(nodes: &[usize], count: usize) -> Matrix {
    let of = |i: usize, j: usize| f64::from(u8::from(j == 3 * nodes[i / 3] + i % 3));
    Matrix::from_fn(3 * nodes.len(), 3 * count, of)
}

/// Largest difference over the largest entry of `b`.
pub fn difference(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).max_abs() / b.max_abs()
}
