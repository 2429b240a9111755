//! The whole system at once: one dense factorisation in `f64`, refined with residuals of twice the
//! precision.

use faer::{Mat, linalg::solvers::Solve};
use forks_mechanism::{JointId, Mechanism};

use super::{
    Double, State,
    equations::{Equations, JointRows, d, dot_columns},
};
use crate::{Matrix, kinematics, linear::independent_rows};

/// Rows of the scaled constraints closer than this to the span of others are redundant.
const ROW_TOLERANCE: f64 = 1e-9;

/// What the equations of motion say.
#[derive(Clone, Debug)]
pub struct Acceleration {
    /// Rates of the velocity coordinates of all joints, loop-closing joints last.
    pub joints: Vec<f64>,
    /// Rates of the components of the links' body twists, ground first.
    pub links: Vec<[f64; 6]>,
    /// Wrench of every joint on its child in the child's frame at its origin, armature and
    /// generalised forces of the joint included; its parent feels the opposite. One of many where
    /// rows are redundant.
    pub wrenches: Vec<[f64; 6]>,
    /// Multipliers of the couplings: they act with Cᵀ μ.
    pub couplings: Vec<f64>,
    /// What drives the velocity coordinates: torques, springs and dampers.
    pub generalized: Vec<f64>,
    /// Independent rows of all joints and couplings, and all of them.
    pub rank: (usize, usize),
    /// Largest left-over of any row, redundant ones included, rad/s² and m/s²: what the velocities'
    /// rounding makes of the loops.
    pub inconsistency: f64,
    /// For every velocity coordinate: by how much its rate changes, to first order and at most, if
    /// every number in the equations changes by its own size; |A⁻¹|(|A||x| + |b|). Times ε it is
    /// the error that rounding of the data alone may cause.
    pub sensitivity: Vec<f64>,
    /// The same for every joint's wrench; no guide where rows are redundant.
    pub wrench_sensitivity: Vec<[f64; 6]>,
    /// Largest correction of the last refinement over the largest unknown.
    pub refinement: f64,
}

/// Accelerations of `m` in a state; velocities are assumed to keep the loops closed.
///
/// # Panics
/// If the system is singular (a massless leaf that is free to move) or the refinement does not
/// settle.
pub fn forward_dynamics(m: &Mechanism, s: &State) -> Acceleration {
    Dense::new(m, s, false).solve()
}

/// The same with all loops and couplings open: loop-closing joints are away, their coordinates'
/// rates are those of free rotors (zero without armature).
///
/// # Panics
/// As [`forward_dynamics`].
pub fn open_forward_dynamics(m: &Mechanism, s: &State) -> Acceleration {
    Dense::new(m, s, true).solve()
}

struct Dense {
    e: Equations,
    links: usize,
    nv: usize,
    /// Rows that are kept: six per joint, then couplings.
    kept: Vec<usize>,
    /// All rows on (a, θ̈) with their biases.
    all: Vec<(Vec<Double>, Double)>,
    /// By rows, n×n, scaled by powers of two on both sides.
    a: Vec<Double>,
    b: Vec<Double>,
    /// Factor of each unknown.
    scale: Vec<f64>,
}

impl Dense {
    fn new(m: &Mechanism, s: &State, open: bool) -> Self {
        let mut e = Equations::new(m, s);
        if open {
            open_loops(m, &mut e);
        }
        let (links, nv) = (m.links().len() - 1, m.velocity_count());
        let all = constraint_rows(&e, links, nv);
        let kept = if open { tree_rows(m) } else { independent(m, s, &all, links) };
        let n = 6 * links + nv + kept.len();
        let mut out = Self {
            links,
            nv,
            all,
            a: vec![Double::ZERO; n * n],
            b: vec![Double::ZERO; n],
            scale: vec![1.0; n],
            kept,
            e,
        };
        out.assemble();
        out.equilibrate();
        out
    }

    fn size(&self) -> usize {
        self.b.len()
    }

    fn assemble(&mut self) {
        let (n, first) = (self.size(), 6 * self.links + self.nv);
        for l in 0..self.links {
            for (k, column) in self.e.inertias[l + 1].iter().enumerate() {
                (0..6).for_each(|i| self.a[(6 * l + i) * n + 6 * l + k] = column[i]);
            }
            self.b[6 * l..6 * l + 6].copy_from_slice(&self.e.forces[l + 1]);
        }
        for k in 0..self.nv {
            let at = 6 * self.links + k;
            self.a[at * n + at] = d(self.e.armature[k]);
            self.b[at] = d(self.e.generalized[k]);
        }
        for (r, &row) in self.kept.iter().enumerate() {
            let (entries, bias) = &self.all[row];
            for (k, x) in entries.iter().enumerate() {
                self.a[(first + r) * n + k] = *x;
                self.a[k * n + first + r] = -*x;
            }
            self.b[first + r] = -*bias;
        }
    }

    /// Rows and columns get entries of order one: A ← S A S, b ← S b, x = S y.
    fn equilibrate(&mut self) {
        let n = self.size();
        for _ in 0..8 {
            let factor: Vec<f64> = (0..n)
                .map(|i| {
                    let row = &self.a[i * n..(i + 1) * n];
                    let largest = row.iter().fold(0.0, |m: f64, x| m.max(x.high.abs()));
                    if largest > 0.0 {
                        2f64.powi((-0.5 * largest.log2()).round() as i32)
                    } else {
                        1.0
                    }
                })
                .collect();
            for i in 0..n {
                for j in 0..n {
                    self.a[i * n + j] = self.a[i * n + j].shifted(factor[i] * factor[j]);
                }
                self.b[i] = self.b[i].shifted(factor[i]);
                self.scale[i] *= factor[i];
            }
        }
    }

    /// b − A y.
    fn residual(&self, y: &[Double]) -> Vec<f64> {
        let n = self.size();
        let row = |i: usize| {
            let row = &self.a[i * n..(i + 1) * n];
            let filled = row.iter().zip(y).filter(|(a, _)| a.high != 0.0);
            filled.fold(self.b[i], |sum, (a, y)| sum - *a * *y).high
        };
        (0..n).map(row).collect()
    }

    fn solve(self) -> Acceleration {
        let n = self.size();
        let a = Mat::from_fn(n, n, |i, j| self.a[i * n + j].high);
        let inverse = a.partial_piv_lu().solve(Mat::<f64>::identity(n, n));
        let mut y = vec![Double::ZERO; n];
        let mut refinement = 1.0;
        for _ in 0..40 {
            let r = self.residual(&y);
            let step: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| inverse[(i, j)] * r[j]).sum()).collect();
            y.iter_mut().zip(&step).for_each(|(y, s)| *y = *y + d(*s));
            let largest = y.iter().fold(f64::MIN_POSITIVE, |m, y| m.max(y.high.abs()));
            refinement = step.iter().fold(0.0, |m: f64, s| m.max(s.abs())) / largest;
            if refinement < 1e-24 {
                break;
            }
        }
        assert!(
            refinement < 1e-20,
            "refinement stops at {refinement:e}: singular equations of motion"
        );
        let uncancelled: Vec<f64> = (0..n)
            .map(|i| {
                let row = self.a[i * n..(i + 1) * n].iter().zip(&y);
                row.map(|(a, y)| (a.high * y.high).abs()).sum::<f64>() + self.b[i].high.abs()
            })
            .collect();
        let sensitivity: Vec<f64> = (0..n)
            .map(|i| {
                let change: f64 = (0..n).map(|j| inverse[(i, j)].abs() * uncancelled[j]).sum();
                change * self.scale[i]
            })
            .collect();
        let x: Vec<Double> = y.iter().zip(&self.scale).map(|(y, s)| y.shifted(*s)).collect();
        self.unpack(&x, &sensitivity, refinement)
    }

    /// Largest left-over of any row, dropped ones included.
    fn inconsistency(&self, x: &[Double]) -> f64 {
        let of = |(row, bias): &(Vec<Double>, Double)| {
            let filled = row.iter().zip(x).filter(|(g, _)| g.high != 0.0);
            filled.fold(*bias, |sum, (g, x)| sum + *g * *x).high.abs()
        };
        self.all.iter().map(of).fold(0.0, f64::max)
    }

    fn unpack(self, x: &[Double], sensitivity: &[f64], refinement: f64) -> Acceleration {
        let first = 6 * self.links + self.nv;
        let mut multipliers = vec![Double::ZERO; self.all.len()];
        let mut changes = vec![0.0; self.all.len()];
        for (r, &row) in self.kept.iter().enumerate() {
            (multipliers[row], changes[row]) = (x[first + r], sensitivity[first + r]);
        }
        let change = |(i, j): (usize, &JointRows)| {
            let of = |k: usize| -> f64 {
                (0..6).map(|l| j.of_child[k][l].high.abs() * changes[6 * i + l]).sum()
            };
            std::array::from_fn(of)
        };
        let mut links = vec![[0.0; 6]];
        links.extend((0..self.links).map(|l| std::array::from_fn(|i| x[6 * l + i].high)));
        let wrench = |(i, j): (usize, &JointRows)| {
            let lambda = std::array::from_fn(|k| multipliers[6 * i + k]);
            let on_child = dot_columns(&j.of_child, &lambda);
            std::array::from_fn(|k| on_child[k].high)
        };
        Acceleration {
            joints: x[6 * self.links..first].iter().map(|x| x.high).collect(),
            links,
            wrenches: self.e.joints.iter().enumerate().map(wrench).collect(),
            couplings: multipliers[6 * self.e.joints.len()..].iter().map(|x| x.high).collect(),
            generalized: self.e.generalized.clone(),
            rank: (self.kept.len(), self.all.len()),
            inconsistency: self.inconsistency(x),
            sensitivity: sensitivity[6 * self.links..first].to_vec(),
            wrench_sensitivity: self.e.joints.iter().enumerate().map(change).collect(),
            refinement,
        }
    }
}

/// Closing coordinates without armature get one and no force: they stand still.
fn open_loops(m: &Mechanism, e: &mut Equations) {
    for k in m.tree_velocity_count()..m.velocity_count() {
        if e.armature[k] == 0.0 {
            (e.armature[k], e.generalized[k]) = (1.0, 0.0);
        }
    }
}

/// The rows of tree joints.
fn tree_rows(m: &Mechanism) -> Vec<usize> {
    let closures = m.forest().closures();
    let is_tree = |i: &usize| !closures.contains(&JointId::new(*i));
    (0..m.joints().len()).filter(is_tree).flat_map(|i| 6 * i..6 * i + 6).collect()
}

/// All rows on (a, θ̈) with their biases.
fn constraint_rows(e: &Equations, links: usize, nv: usize) -> Vec<(Vec<Double>, Double)> {
    let width = 6 * links + nv;
    let mut out = vec![];
    for j in &e.joints {
        for i in 0..6 {
            let mut row = vec![Double::ZERO; width];
            for (link, columns) in [(j.parent, &j.of_parent), (j.child, &j.of_child)] {
                if link > 0 {
                    (0..6).for_each(|k| {
                        row[6 * (link - 1) + k] = row[6 * (link - 1) + k] + columns[k][i]
                    });
                }
            }
            for (k, column) in j.range.clone().zip(&j.of_joint) {
                row[6 * links + k] = column[i];
            }
            out.push((row, j.bias[i]));
        }
    }
    for c in &e.couplings {
        let mut row = vec![Double::ZERO; width];
        row[6 * links..].copy_from_slice(&c.row);
        out.push((row, c.bias));
    }
    out
}

/// Rows that span all of them; lengths over the mechanism's size.
fn independent(
    m: &Mechanism,
    s: &State,
    all: &[(Vec<Double>, Double)],
    links: usize,
) -> Vec<usize> {
    if m.forest().closures().is_empty() && m.couplings().is_empty() {
        return (0..all.len()).collect();
    }
    let still = vec![0.0; m.velocity_count()];
    let r = kinematics::size(m, &kinematics::link_poses(m, &s.q, &still));
    let closures = 6 * m.joints().len();
    let width = all[0].0.len();
    let scaled = Matrix::from_fn(all.len(), width, |i, k| {
        let column = if k < 6 * links && k % 6 < 3 { r } else { 1.0 };
        let row = if i < closures && i % 6 < 3 { 1.0 / r } else { 1.0 };
        row * all[i].0[k].high * column
    });
    let norm = |i: usize| scaled.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
    let norms: Vec<f64> = (0..all.len()).map(|i| norm(i).max(f64::MIN_POSITIVE)).collect();
    let unit = Matrix::from_fn(all.len(), width, |i, k| scaled[(i, k)] / norms[i]);
    independent_rows(&unit, ROW_TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            StateOptions,
            equations::{combine, six},
            random_state,
        },
        *,
    };
    use crate::{RandomMechanismOptions, random_mechanism};

    /// A wrench in one link's frame seen from another's.
    fn carried(e: &Equations, from: usize, to: usize, w: &[Double; 6]) -> [Double; 6] {
        let h = e.poses[to].inverse().times(&e.poses[from]);
        let turn = |x: [Double; 3]| h.a.map(|r| r[0] * x[0] + r[1] * x[1] + r[2] * x[2]);
        let (f, t) = (turn([w[0], w[1], w[2]]), turn([w[3], w[4], w[5]]));
        let at = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            t[i] + h.b[j] * f[k] - h.b[k] * f[j]
        };
        [f[0], f[1], f[2], at(0), at(1), at(2)]
    }

    /// Newton and Euler for every link with the reported joint wrenches, action and reaction
    /// opposite.
    #[test]
    fn joint_wrenches_balance_every_link() {
        for seed in 0..40 {
            let m = random_mechanism(seed, &RandomMechanismOptions::mixed(seed));
            let s = random_state(seed, &m, &StateOptions::default());
            let x = forward_dynamics(&m, &s);
            let e = Equations::new(&m, &s);
            let links = 0..e.inertias.len();
            let mut left: Vec<[Double; 6]> = links
                .map(|l| {
                    six(&combine(&e.inertias[l], &x.links[l].map(d)), &e.forces[l], |a, b| a - b)
                })
                .collect();
            let mut size: f64 = 1.0;
            for (j, w) in e.joints.iter().zip(&x.wrenches) {
                let w = w.map(d);
                size = w.iter().fold(size, |m, x| m.max(x.high.abs()));
                left[j.child] = six(&left[j.child], &w, |a, b| a - b);
                let back = carried(&e, j.child, j.parent, &w);
                left[j.parent] = six(&left[j.parent], &back, |a, b| a + b);
            }
            let worst = left[1..].iter().flatten().fold(0.0, |m: f64, x| m.max(x.high.abs()));
            // Gaps of 1e-15 in the given positions, times forces and a few joints per link.
            assert!(worst < 100.0 * f64::EPSILON * size, "seed {seed}: {worst:e} of {size:e}");
        }
    }
}
