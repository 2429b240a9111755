//! The rival of the reducer without loads: stiffness of springs that count as unstressed, loop
//! equations with their redundant rows removed, one dense solve of [[K, Gᵀ], [G, 0]].

use std::ops::Range;

use forks_mechanism::{Combination, JointId, LinkId, Mechanism, lie::SpatialInertia, lie::SymMat6};

use crate::{
    Matrix,
    kinematics::{FirstOrder, first_order, size},
    linear::{
        independent_rows, nullspace, product, singular_values, solve, symmetric_eigen,
        transposed_product,
    },
};

/// Rows of the scaled loop equations closer than this to the span of others are redundant.
const ROW_TOLERANCE: f64 = 1e-9;
/// Eigenvalues of the scaled NᵀKN below this part of the largest of K count as zero.
const STIFFNESS_TOLERANCE: f64 = 1e-11;
/// The same for NᵀMN.
const MASS_TOLERANCE: f64 = 1e-13;
/// Singular values of the scaled effector motion on the loop nullspace below this part of the
/// largest without loops count as zero.
const RANK_TOLERANCE: f64 = 1e-9;

/// The matrices of a mechanism at a configuration, springs counted as unstressed.
///
/// Coordinates are the mechanism's velocity coordinates (nv of them, SI units) unless said
/// otherwise.
#[derive(Clone, Debug)]
pub struct System {
    /// Poses and Jacobians.
    pub first: FirstOrder,
    /// Size r of the mechanism, m.
    pub size: f64,
    /// nv×nv stiffness of joint springs, combination springs, bushings and cables.
    pub stiffness: Matrix,
    /// nv×nv damping of joints, combination springs, bushings and cables.
    pub damping: Matrix,
    /// nv×nv mass matrix of all links, with armatures, without the loop equations.
    pub mass: Matrix,
    /// Where each joint's coordinates are.
    pub joint_ranges: Vec<Range<usize>>,
    /// Length scale of each coordinate: r where it is a translation, 1 where it turns.
    pub scale: Vec<f64>,
    /// Loop equations in scaled coordinates with scaled rows, all rows.
    pub scaled_constraints: Matrix,
    /// Factor of each row of the loop equations in their scaled form.
    pub row_scale: Vec<f64>,
    /// Independent rows of them.
    pub rows: Vec<usize>,
    /// Orthonormal basis of their nullspace in scaled coordinates (columns).
    pub scaled_nullspace: Matrix,
}

/// Motions that satisfy all loop equations and that no spring resists.
#[derive(Clone, Debug)]
pub struct Unresisted {
    /// nv×count: one motion per column.
    pub motions: Matrix,
    /// Joints that move in at least one of them, in joint order.
    pub joints: Vec<JointId>,
    /// Links that move in at least one of them, in link order.
    pub links: Vec<LinkId>,
    /// Eigenvalues of the scaled NᵀKN over the largest of K, ascending, all of them.
    pub eigenvalues: Vec<f64>,
}

/// The reduced quantities of a resisted mechanism; wrenches and twists in effector frames, effector
/// by effector, linear part first.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// 6E×6E: effector twists for effector wrenches.
    pub compliance: Matrix,
    /// nv×6E: joint displacements for effector wrenches.
    pub displacements: Matrix,
    /// For every link (the ground first) 6×6E: its body twist for effector wrenches.
    pub twist_maps: Vec<Matrix>,
    /// Dimension of the motions that the effectors can make, loops kept closed.
    pub rank: usize,
    /// Singular values of S J_E on the nullspace, lengths over r, descending.
    pub motion_singular_values: Vec<f64>,
    /// Singular values of S C Sᵀ, descending; unit rad/(N·m).
    pub compliance_singular_values: Vec<f64>,
    /// 6E×6E: J N (NᵀMN)⁻¹ Nᵀ Jᵀ; `None` where NᵀMN is singular.
    pub inverse_mass: Option<Matrix>,
    /// Size r of the mechanism.
    pub size: f64,
}

/// The 6×6 mass matrix of a body about its frame's origin: ½ tᵀ M t is its kinetic energy.
pub fn body_mass(i: &SpatialInertia) -> Matrix {
    let [x, y, z] = i.center_of_mass.to_array();
    let c = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    let cc = |a: usize, b: usize| -> f64 { (0..3).map(|k| c[a][k] * c[b][k]).sum() };
    Matrix::from_fn(6, 6, |a, b| match (a < 3, b < 3) {
        (true, true) => f64::from(u8::from(a == b)) * i.mass,
        (true, false) => -i.mass * c[a][b - 3],
        (false, true) => i.mass * c[a - 3][b],
        (false, false) => i.inertia.col(b - 3)[a - 3] + i.mass * cc(a - 3, b - 3),
    })
}

fn six(m: &SymMat6) -> Matrix {
    Matrix::from_fn(6, 6, |i, j| m.get(i, j))
}

fn add_congruence(sum: &mut Matrix, j: &Matrix, m: &Matrix) {
    let term = transposed_product(j, &product(m, j));
    for i in 0..sum.rows() {
        for k in 0..sum.columns() {
            sum[(i, k)] += term[(i, k)];
        }
    }
}

fn add_combination(m: &Mechanism, sum: &mut Matrix, c: &Combination, k: f64) {
    let mut a = vec![0.0; sum.rows()];
    c.terms.iter().for_each(|(x, s)| a[m.velocity_index(*x)] += s);
    for i in 0..a.len() {
        for j in 0..a.len() {
            sum[(i, j)] += k * a[i] * a[j];
        }
    }
}

/// Stiffness, damping and mass matrices.
fn assemble(m: &Mechanism, f: &FirstOrder) -> [Matrix; 3] {
    let nv = m.velocity_count();
    let mut out = [Matrix::zeros(nv, nv), Matrix::zeros(nv, nv), Matrix::zeros(nv, nv)];
    let [stiffness, damping, mass] = &mut out;
    for (i, j) in m.joints().iter().enumerate() {
        let start = m.velocity_range(JointId::new(i)).start;
        for a in 0..j.dof() {
            for b in 0..j.dof() {
                let k = j.spring.as_ref().map_or(0.0, |s| s.stiffness.get(a, b));
                stiffness[(start + a, start + b)] += k;
                damping[(start + a, start + b)] += j.damping.get(a, b);
            }
            mass[(start + a, start + a)] += j.armature[a];
        }
    }
    for s in m.combination_springs() {
        add_combination(m, stiffness, &s.combination, s.stiffness);
        add_combination(m, damping, &s.combination, s.damping);
    }
    for (b, jacobian) in m.bushings().iter().zip(&f.bushings) {
        add_congruence(stiffness, jacobian, &six(&b.stiffness));
        add_congruence(damping, jacobian, &six(&b.damping));
    }
    for (c, row) in m.cables().iter().zip(&f.cables) {
        for i in 0..nv {
            for j in 0..nv {
                stiffness[(i, j)] += c.stiffness * row[i] * row[j];
                damping[(i, j)] += c.damping * row[i] * row[j];
            }
        }
    }
    for (l, jacobian) in m.links().iter().zip(&f.links) {
        add_congruence(mass, jacobian, &body_mass(&l.inertia));
    }
    out
}

/// r for coordinates that do not turn their joint's child, 1 for the others.
fn coordinate_scales(m: &Mechanism, r: f64) -> Vec<f64> {
    use forks_mechanism::JointKind as K;
    let mut out = vec![1.0; m.velocity_count()];
    for (i, j) in m.joints().iter().enumerate() {
        let translations: Vec<bool> = match &j.kind {
            K::Prismatic { .. } => vec![true],
            K::Cylindrical { .. } => vec![true, false],
            K::Planar => vec![true, true, false],
            K::Free => vec![true, true, true, false, false, false],
            K::General { subspace } => {
                subspace.iter().map(|t| t.angular.to_array() == [0.0; 3]).collect()
            }
            _ => vec![false; j.dof()],
        };
        for (k, t) in m.velocity_range(JointId::new(i)).zip(translations) {
            if t {
                out[k] = r;
            }
        }
    }
    out
}

/// Row factors that take lengths of closures over r and give coupling rows length 1.
fn row_scales(m: &Mechanism, g: &Matrix, r: f64, scale: &[f64]) -> Vec<f64> {
    let closures = 6 * m.forest().closures().len();
    let of_row = |i: usize| {
        if i < closures {
            return if i % 6 < 3 { 1.0 / r } else { 1.0 };
        }
        let n = g.row(i).iter().zip(scale).map(|(x, s)| (x * s).powi(2)).sum::<f64>().sqrt();
        if n > 0.0 { 1.0 / n } else { 1.0 }
    };
    (0..g.rows()).map(of_row).collect()
}

/// Loop equations with scaled rows and columns.
fn scale_constraints(g: &Matrix, rows: &[f64], columns: &[f64]) -> Matrix {
    let out = Matrix::from_fn(g.rows(), g.columns(), |i, j| rows[i] * g[(i, j)] * columns[j]);
    // Structural zeros: what rounding leaves of cancelling columns must not join clusters.
    let floor = 1e-14 * out.max_abs();
    Matrix::from_fn(out.rows(), out.columns(), |i, j| {
        if out[(i, j)].abs() < floor { 0.0 } else { out[(i, j)] }
    })
}

impl System {
    /// The matrices of `m` at positions `q`.
    pub fn new(m: &Mechanism, q: &[f64]) -> Self {
        let first = first_order(m, q);
        let size = size(m, &first.poses);
        let [stiffness, damping, mass] = assemble(m, &first);
        let scale = coordinate_scales(m, size);
        let row_scale = row_scales(m, &first.constraints, size, &scale);
        let scaled_constraints = scale_constraints(&first.constraints, &row_scale, &scale);
        let rows = independent_rows(&scaled_constraints, ROW_TOLERANCE);
        let independent =
            Matrix::from_fn(rows.len(), scale.len(), |i, j| scaled_constraints[(rows[i], j)]);
        let scaled_nullspace = nullspace(&independent, rows.len());
        let joint_ranges =
            (0..m.joints().len()).map(|i| m.velocity_range(JointId::new(i))).collect();
        Self {
            first,
            joint_ranges,
            size,
            stiffness,
            damping,
            mass,
            scale,
            scaled_constraints,
            row_scale,
            rows,
            scaled_nullspace,
        }
    }

    /// Residuals of the loop equations in their scaled form.
    pub fn scaled_residual(&self) -> Vec<f64> {
        self.first.residual.iter().zip(&self.row_scale).map(|(g, s)| g * s).collect()
    }

    /// Rank of the loop equations.
    pub fn constraint_rank(&self) -> usize {
        self.rows.len()
    }

    /// Dimension of the motions that keep all loops closed.
    pub fn mobility(&self) -> usize {
        self.scaled_nullspace.columns()
    }

    /// Smallest non-zero over largest singular value of the scaled loop equations: how far the
    /// configuration is from a singular one. 1 without loops.
    pub fn constraint_conditioning(&self) -> f64 {
        let s = singular_values(&self.scaled_constraints);
        match self.rows.len() {
            0 => 1.0,
            k => s[k - 1] / s[0],
        }
    }

    /// c a c for a matrix a in SI coordinates.
    pub fn scaled(&self, a: &Matrix) -> Matrix {
        Matrix::from_fn(a.rows(), a.columns(), |i, j| self.scale[i] * a[(i, j)] * self.scale[j])
    }

    /// Columns of scaled coordinates in SI coordinates.
    pub fn unscaled(&self, z: &Matrix) -> Matrix {
        Matrix::from_fn(z.rows(), z.columns(), |i, j| self.scale[i] * z[(i, j)])
    }

    /// A basis of the loop equations' nullspace in SI coordinates (columns).
    pub fn nullspace(&self) -> Matrix {
        self.unscaled(&self.scaled_nullspace)
    }

    /// The stacked 6E×nv Jacobian of effectors.
    pub fn effector_jacobian(&self, effectors: &[LinkId]) -> Matrix {
        Matrix::from_fn(6 * effectors.len(), self.scale.len(), |i, j| {
            self.first.links[effectors[i / 6].index()][(i % 6, j)]
        })
    }

    /// Motions that no spring resists; empty for a resisted mechanism.
    pub fn unresisted(&self) -> Unresisted {
        self.unresisted_under(&self.stiffness)
    }

    /// The same for another stiffness matrix (SI coordinates).
    pub fn unresisted_under(&self, stiffness: &Matrix) -> Unresisted {
        let n = &self.scaled_nullspace;
        let scaled = self.scaled(stiffness);
        let (values, vectors) = symmetric_eigen(&transposed_product(n, &product(&scaled, n)));
        // Beside the whole stiffness: NᵀKN alone may be nothing but rounding.
        let top = spectral_norm(&scaled);
        let relative: Vec<f64> =
            values.iter().map(|x| if top > 0.0 { x / top } else { 0.0 }).collect();
        let count = relative.iter().filter(|x| **x <= STIFFNESS_TOLERANCE).count();
        let free = Matrix::from_fn(vectors.rows(), count, |i, j| vectors[(i, j)]);
        let scaled = product(n, &free);
        let moving =
            |rows: &Matrix| (0..count).any(|j| rows.column(j).iter().any(|x| x.abs() > 1e-8));
        let scaled_motion = |j: &Matrix| {
            let t = product(j, &self.unscaled(&scaled));
            Matrix::from_fn(6, count, |i, k| t[(i, k)] / if i < 3 { self.size } else { 1.0 })
        };
        let links = (0..self.first.links.len())
            .filter(|&l| moving(&scaled_motion(&self.first.links[l])))
            .map(LinkId::new)
            .collect();
        let moves = |k: usize| (0..count).any(|j| scaled[(k, j)].abs() > 1e-8);
        let joints = (0..self.joint_ranges.len())
            .filter(|&i| self.joint_ranges[i].clone().any(moves))
            .map(JointId::new)
            .collect();
        Unresisted { motions: self.unscaled(&scaled), joints, links, eigenvalues: relative }
    }

    /// The solution Z of K Z + Gᵀλ = F, G Z = 0 for a stiffness matrix and generalised forces
    /// (columns), both in SI coordinates: one dense solve with independent rows of G, refined once.
    pub fn solve_kkt(&self, stiffness: &Matrix, forces: &Matrix) -> Matrix {
        let (nv, c) = (self.scale.len(), self.rows.len());
        let k = self.scaled(stiffness);
        let k0 = if k.max_abs() > 0.0 { k.max_abs() } else { 1.0 };
        let entry = |i: usize, j: usize| match (i < nv, j < nv) {
            (true, true) => k[(i, j)] / k0,
            (true, false) => self.scaled_constraints[(self.rows[j - nv], i)],
            (false, true) => self.scaled_constraints[(self.rows[i - nv], j)],
            (false, false) => 0.0,
        };
        let a = Matrix::from_fn(nv + c, nv + c, entry);
        let b = Matrix::from_fn(nv + c, forces.columns(), |i, j| {
            if i < nv { self.scale[i] * forces[(i, j)] / k0 } else { 0.0 }
        });
        let x = solve(&a, &b);
        let correction = solve(&a, &b.sub(&product(&a, &x)));
        Matrix::from_fn(nv, b.columns(), |i, j| self.scale[i] * (x[(i, j)] + correction[(i, j)]))
    }

    /// J N (NᵀMN)⁻¹ Nᵀ Jᵀ for effectors; `None` where NᵀMN is singular.
    pub fn inverse_mass(&self, effectors: &[LinkId]) -> Option<Matrix> {
        let n = &self.scaled_nullspace;
        let scaled = self.scaled(&self.mass);
        let m = transposed_product(n, &product(&scaled, n));
        let (values, _) = symmetric_eigen(&m);
        let top = spectral_norm(&scaled);
        if values.first().is_some_and(|x| *x <= MASS_TOLERANCE * top) {
            return None;
        }
        let jn = product(&self.effector_jacobian(effectors), &self.nullspace());
        Some(product(&jn, &solve(&m, &jn.transpose())))
    }

    /// Smallest over largest eigenvalue of the scaled mass matrix of the first `n` coordinates; 1
    /// if there is none.
    pub fn mass_conditioning(&self, n: usize) -> f64 {
        let scaled = self.scaled(&self.mass);
        let (e, _) = symmetric_eigen(&Matrix::from_fn(n, n, |i, j| scaled[(i, j)]));
        e.first().map_or(1.0, |x| x / e[e.len() - 1])
    }

    /// Singular values of S J_E N (lengths over r), descending, and the number of them that are not
    /// zero beside those of S J_E.
    pub fn effector_rank(&self, effectors: &[LinkId]) -> (usize, Vec<f64>) {
        let j = over_size(&self.effector_jacobian(effectors), self.size);
        let values = singular_values(&product(&j, &self.nullspace()));
        let open = Matrix::from_fn(j.rows(), j.columns(), |i, k| j[(i, k)] * self.scale[k]);
        let top = singular_values(&open).first().copied().unwrap_or(0.0);
        (values.iter().filter(|x| **x > RANK_TOLERANCE * top).count(), values)
    }

    /// The reduction with a stiffness matrix in SI coordinates.
    ///
    /// # Errors
    /// The unresisted motions, where there are any.
    pub fn reduce(
        &self,
        stiffness: &Matrix,
        effectors: &[LinkId],
    ) -> Result<Reduction, Unresisted> {
        let free = self.unresisted_under(stiffness);
        if free.motions.columns() > 0 {
            return Err(free);
        }
        let j = self.effector_jacobian(effectors);
        let displacements = self.solve_kkt(stiffness, &j.transpose());
        let compliance = product(&j, &displacements);
        let twist_maps = self.first.links.iter().map(|l| product(l, &displacements)).collect();
        let (rank, motion_singular_values) = self.effector_rank(effectors);
        let scaled = over_size(&over_size(&compliance, self.size).transpose(), self.size);
        Ok(Reduction {
            compliance_singular_values: singular_values(&scaled),
            inverse_mass: self.inverse_mass(effectors),
            size: self.size,
            compliance,
            displacements,
            twist_maps,
            rank,
            motion_singular_values,
        })
    }
}

fn spectral_norm(m: &Matrix) -> f64 {
    singular_values(m).first().copied().unwrap_or(0.0)
}

/// S x: linear rows of stacked twists over r.
fn over_size(x: &Matrix, r: f64) -> Matrix {
    Matrix::from_fn(x.rows(), x.columns(), |i, j| x[(i, j)] / if i % 6 < 3 { r } else { 1.0 })
}

/// The unloaded reduction of `m` at positions `q` (springs count as unstressed there).
///
/// # Errors
/// The unresisted motions, where there are any.
pub fn reduce(m: &Mechanism, q: &[f64], effectors: &[LinkId]) -> Result<Reduction, Unresisted> {
    let system = System::new(m, q);
    system.reduce(&system.stiffness, effectors)
}

/// True if springs resist every motion that keeps the loops closed: NᵀKN is positive definite.
pub fn is_resisted(m: &Mechanism, q: &[f64]) -> bool {
    System::new(m, q).unresisted().motions.columns() == 0
}
