//! [K08] Table 6 in 6×6 algebra, with a switch for each of its misprints.

use forks_dynamics::mechanism::{
    TreeEdge,
    kinematics::tree_joint_motion,
    lie::{Mat6, Twist, Vec6},
    linalg::{Matrix, dense},
};

use super::Case;

/// One printed fault of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Ad*_(T_ik) in place of Ad*_(T_ik⁻¹).
    AdjointWithoutInverse,
    /// Ĵ without its index: that of the coordinate's own joint everywhere.
    InertiaWithoutIndex,
    /// Ψ_i − Sᵀ … without braces: the term Sᵀ dB left out.
    BracesLost,
    /// dV̇_i without S_i dθ̈_i.
    OwnAccelerationLeftOut,
}

struct Row {
    edge: TreeEdge,
    inner: Option<usize>,
    /// Ad of outer_from_inner.
    ad: Mat6,
    s: Matrix,
    prescribed: bool,
    first: usize,
    inertia: Mat6,
    /// Ψ = (Sᵀ Ĵ S + armature)⁻¹; zero for a prescribed joint.
    psi: Matrix,
}

pub(crate) struct Table6<'a> {
    case: &'a Case,
    fault: Fault,
    rows: Vec<Row>,
}

impl<'a> Table6<'a> {
    pub(crate) fn new(case: &'a Case, fault: Fault) -> Self {
        let m = &case.mechanism;
        let mut rows: Vec<Row> = vec![];
        for e in m.forest().edges() {
            let motion = tree_joint_motion(m, e, &case.full_q);
            let c = motion.columns.as_slice();
            let first = m.velocity_range(e.joint).start;
            rows.push(Row {
                edge: *e,
                inner: m.forest().edge_of_link(e.inner),
                ad: motion.inner_from_outer.inverse().adjoint().matrix(),
                s: Matrix::from_fn(6, c.len(), |i, k| c[k].to_array()[i]),
                prescribed: case.prescribed.get(first).copied().unwrap_or(false) && !c.is_empty(),
                first,
                inertia: m.link(e.outer).inertia.matrix().to_mat6(),
                psi: Matrix::zeros(c.len(), c.len()),
            });
        }
        let mut out = Self { case, fault, rows };
        out.articulate();
        out
    }

    fn articulate(&mut self) {
        for i in (0..self.rows.len()).rev() {
            let r = &mut self.rows[i];
            let mut pi = r.inertia;
            let d = r.s.columns();
            if !r.prescribed && d > 0 {
                let u = Matrix::from_fn(6, d, |a, k| r.inertia.mul_vec(&column(&r.s, k))[a]);
                let mut m = r.s.transpose_mul(&u);
                for (k, a) in self.case.mechanism.joint(r.edge.joint).armature.iter().enumerate() {
                    m[(k, k)] += a;
                }
                r.psi = dense::cholesky_solve(&m, &Matrix::identity(d)).expect("free coordinates");
                let w = u.mul(&r.psi).mul(&u.transpose());
                pi = Mat6 {
                    rows: std::array::from_fn(|a| {
                        std::array::from_fn(|b| pi.rows[a][b] - w[(a, b)])
                    }),
                };
            }
            let (ad, inner) = (r.ad, r.inner);
            if let Some(inner) = inner {
                self.rows[inner].inertia += ad.transpose() * pi * ad;
            }
        }
    }

    /// Derivatives of all link accelerations, row 6 l + i.
    pub(crate) fn columns(&self) -> Matrix {
        let n = self.case.tree.velocity_count();
        let mut out = Matrix::zeros(6 * self.case.tree.link_count(), n);
        for z in 0..n {
            for (r, t) in self.rows.iter().zip(self.column(z)) {
                for (i, x) in t.into_iter().enumerate() {
                    out[(6 * r.edge.outer.index() + i, z)] = x;
                }
            }
        }
        out
    }

    fn column(&self, z: usize) -> Vec<Vec6> {
        let owner = self.rows.iter().position(|r| (r.first..r.first + r.s.columns()).contains(&z));
        let own = owner.expect("every coordinate has a joint");
        let inertia = |i: usize| match self.fault {
            Fault::InertiaWithoutIndex => self.rows[own].inertia,
            _ => self.rows[i].inertia,
        };
        let unit = |r: &Row| -> Vec<f64> {
            (0..r.s.columns()).map(|k| f64::from(u8::from(r.first + k == z))).collect()
        };
        let mut db = vec![[0.0; 6]; self.rows.len()];
        for (i, r) in self.rows.iter().enumerate().rev() {
            let x = if r.prescribed { unit(r) } else { self.solve(r, &unit(r), &db[i]) };
            let part = inertia(i).mul_vec(&times(&r.s, &x));
            let beta = plus(&db[i], &part);
            if let Some(inner) = r.inner {
                let carried = match self.fault {
                    Fault::AdjointWithoutInverse => {
                        inverse_adjoint(r, self.case).transpose_mul_vec(&beta)
                    }
                    _ => r.ad.transpose_mul_vec(&beta),
                };
                db[inner] = plus(&db[inner], &carried);
            }
        }
        let mut acceleration: Vec<Vec6> = vec![];
        for (i, r) in self.rows.iter().enumerate() {
            let before = r.inner.map_or([0.0; 6], |k| acceleration[k]);
            let carried = r.ad.mul_vec(&before);
            let x = if r.prescribed {
                unit(r)
            } else {
                let pull = inertia(i).mul_vec(&carried);
                let bias = if self.fault == Fault::BracesLost { pull } else { plus(&db[i], &pull) };
                self.solve(r, &unit(r), &bias)
            };
            acceleration.push(match self.fault {
                Fault::OwnAccelerationLeftOut if !r.prescribed => carried,
                _ => plus(&carried, &times(&r.s, &x)),
            });
        }
        acceleration
    }

    /// Ψ (dτ − Sᵀ b).
    fn solve(&self, r: &Row, tau: &[f64], b: &Vec6) -> Vec<f64> {
        let rhs: Vec<f64> = (0..tau.len())
            .map(|k| tau[k] - (0..6).map(|i| r.s[(i, k)] * b[i]).sum::<f64>())
            .collect();
        r.psi.mul_vec(&rhs)
    }
}

fn inverse_adjoint(r: &Row, case: &Case) -> Mat6 {
    tree_joint_motion(&case.mechanism, &r.edge, &case.full_q).inner_from_outer.adjoint().matrix()
}

fn column(s: &Matrix, k: usize) -> Vec6 {
    std::array::from_fn(|i| s[(i, k)])
}

fn times(s: &Matrix, x: &[f64]) -> Vec6 {
    let mut t = Twist::ZERO;
    for (k, x) in x.iter().enumerate() {
        t += Twist::from_array(column(s, k)) * *x;
    }
    t.to_array()
}

fn plus(a: &Vec6, b: &Vec6) -> Vec6 {
    std::array::from_fn(|i| a[i] + b[i])
}
