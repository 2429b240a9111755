//! Charts whose coordinates are all motions of a mechanism, loops included: every configuration is
//! known without an equilibrium.
//!
//! Coordinates x = Dᵀ(θ − θ₀) and loop equations g(q) = 0 determine q. Newton's method finds it,
//! and with the same matrix the velocities Z per ẋ are
//!
//! ```text
//! A Z = (1; 0),  A = (Dᵀ ∂(θ − θ₀)/∂v; ∂g/∂v)
//! ```
//!
//! in the sense of least squares, as loop equations may be redundant. ∂U/∂x = −Zᵀf, f the forces of
//! springs and weights.

use forks_dynamics::{Loads, generalized_forces};
use forks_mechanism::{
    kinematics::{link_twists, loops},
    lie::Twist,
    linalg::{
        Matrix,
        dense::{least_squares, svd},
        norm,
    },
};
use forks_reduce::Problem;
use forks_rom::data::ModelData;

use crate::frames::{Rests, displacement_rates, joints_in_order};

/// Newton's method squares what is missing: from here its next step leaves rounding.
const LAST: f64 = 1e-8;
/// Steps at most; three are usual.
const STEPS: usize = 12;
/// A determines q: smallest over largest singular value, and what A Z leaves of (1; 0).
const SINGULAR: f64 = 1e-9;
const CONTRADICTION: f64 = 1e-8;

/// Configurations by coordinates.
pub(crate) struct WholeChart<'a> {
    problem: &'a Problem,
    /// θ₀.
    start: &'a [f64],
    /// D, velocities of the tree × N.
    directions: &'a Matrix,
    /// 1/r, of the loops' gaps.
    per_length: f64,
    loads: Loads,
    /// How many of the effectors are looked at.
    effectors: usize,
}

impl<'a> WholeChart<'a> {
    /// `None` where the mechanism has other motions than the chart's at positions `q`.
    pub(crate) fn new(
        problem: &'a Problem,
        start: &'a [f64],
        directions: &'a Matrix,
        d: &ModelData,
        (gravity, effectors): (bool, usize),
        q: &[f64],
    ) -> Option<Self> {
        let loads = Loads { gravity, wrenches: vec![] };
        let out = Self { problem, start, directions, per_length: 1.0 / d.radius, loads, effectors };
        let m = problem.mechanism();
        let mut joints = joints_in_order(m).zip(&d.joints);
        let known = joints.all(|((id, _), j)| j.map.rows() == m.velocity_range(id).len());
        let enough = loops::constraint_rows(m) + directions.columns() >= m.velocity_count();
        let holds = || -> Option<bool> {
            let a = out.equations(q)?;
            let s = svd(&a)?.s;
            let (most, least) = (s.first()?, s.last()?);
            let left = a.mul(&out.velocities(&a)).sub(&out.unit(a.rows()));
            Some(*least > SINGULAR * most && left.max_abs() <= CONTRADICTION)
        };
        (known && enough && holds() == Some(true)).then_some(out)
    }

    /// A at positions of all joints.
    fn equations(&self, q: &[f64]) -> Option<Matrix> {
        let m = self.problem.mechanism();
        let (n, tree) = (self.directions.columns(), self.directions.rows());
        let moved = displacement_rates(self.problem, self.start, q, Matrix::identity(tree));
        let first = self.directions.transpose_mul(&moved);
        let second = loops::constraint_jacobian(m, q, &m.link_poses(q));
        let entry = |i: usize, j: usize| match i.checked_sub(n) {
            Some(row) => self.row_scale(row) * second[(row, j)],
            None if j < tree => first[(i, j)],
            None => 0.0,
        };
        let out = Matrix::from_fn(n + second.rows(), m.velocity_count(), entry);
        out.is_finite().then_some(out)
    }

    /// Of a row of the loop equations: 1/r for gaps' lengths.
    fn row_scale(&self, row: usize) -> f64 {
        let closures = 6 * self.problem.mechanism().forest().closures().len();
        if row < closures && row % 6 < 3 { self.per_length } else { 1.0 }
    }

    /// (1; 0).
    fn unit(&self, rows: usize) -> Matrix {
        Matrix::from_fn(rows, self.directions.columns(), |i, k| f64::from(u8::from(i == k)))
    }

    /// Z.
    fn velocities(&self, a: &Matrix) -> Matrix {
        least_squares(a, &self.unit(a.rows()))
    }

    /// Positions of all joints at coordinates displaced by y from positions `q`.
    fn displaced(&self, q: &[f64], y: &[f64]) -> Option<Vec<f64>> {
        let m = self.problem.mechanism();
        let place = |q: &[f64]| {
            let moved = m.difference(self.start, q);
            self.directions.transpose_mul_vec(&moved[..self.directions.rows()])
        };
        let aim: Vec<f64> = place(q).iter().zip(y).map(|(x, y)| x + y).collect();
        let mut q = q.to_vec();
        for _ in 0..STEPS {
            let here = place(&q);
            let gaps = loops::constraint_residual(m, &q, &m.link_poses(&q));
            let missing = aim.iter().zip(&here).map(|(a, x)| a - x);
            let gaps = gaps.iter().enumerate().map(|(i, g)| -self.row_scale(i) * g);
            let missing: Vec<f64> = missing.chain(gaps).collect();
            let right = Matrix::from_fn(missing.len(), 1, |i, _| missing[i]);
            let step = least_squares(&self.equations(&q)?, &right);
            m.integrate(&mut q, step.as_slice());
            let left = norm(&missing);
            if !left.is_finite() {
                return None;
            }
            if left <= LAST {
                return Some(q);
            }
        }
        None
    }

    /// First derivatives by x at coordinates displaced by y from a sample at positions `q`, as an
    /// equilibrium next to it would have them.
    pub(crate) fn slopes(&self, rests: &Rests<'_>, q: &[f64], y: &[f64]) -> Option<Vec<f64>> {
        let (problem, m) = (self.problem, self.problem.mechanism());
        let q = self.displaced(q, y)?;
        let poses = m.link_poses(&q);
        let z = self.velocities(&self.equations(&q)?);
        let force = generalized_forces(m, &q, &poses, &self.loads);
        let mut out: Vec<f64> = z.transpose_mul_vec(&force).iter().map(|f| -f).collect();
        let n = z.columns();
        let moved: Vec<Vec<Twist>> = (0..n).map(|k| link_twists(m, &q, &z.column(k))).collect();
        let twist = |f: usize, k: usize| match f.checked_sub(self.effectors) {
            Some(link) => moved[k][link].to_array(),
            None => {
                let e = &problem.effectors[f];
                let own = moved[k][e.link.index()];
                e.link_from_effector.adjoint().apply_inverse(own).to_array()
            }
        };
        rests.frame_rates(problem, self.effectors, &poses, twist, n, &mut out);
        for joint in joints_in_order(m) {
            let v = m.velocity_range(joint.0);
            rests.joint_rates(m, joint, &q, z.block(v.start, 0, v.len(), n), &mut out);
        }
        // ∂²U/∂x∂s of a force `gain` a per target.
        for servo in &problem.servos {
            let drive = servo.at(m, &q, &poses);
            let terms = &drive.combination.terms;
            let pull = |k: usize| -> f64 {
                terms.iter().map(|(c, a)| a * z[(m.velocity_index(*c), k)]).sum()
            };
            out.extend((0..n).map(|k| -drive.gain * pull(k)));
        }
        out.iter().all(|x| x.is_finite()).then_some(out)
    }
}
