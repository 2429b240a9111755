//! Nonsmooth Newton on the map of Alart and Curnier \[AC91\], with a line search on its norm.
//!
//! In scaled impulses y and velocities u = M y + p ([`Delassus`]), with a = y − u:
//!
//! ```text
//! F_n = y_n − max(0, a_n)                                                                      (1)
//! F_t = y_t − P(a_t),   P onto the disc of radius μ max(0, a_n), the box, or the interval      (2)
//! ```
//!
//! F = 0 exactly where Coulomb's law holds. A generalised Jacobian is P + Q M with P, Q block
//! diagonal; redundant sticking contacts make it singular, so M + εI stands there in place of M (F
//! itself stays exact).

use forks_linalg::{Pivots, solve_lu};

use alloc::vec::Vec;

use crate::{
    delassus::Delassus,
    dense::reset,
    law::Law,
    scalar::hypot,
    system::{System, read},
};

/// ε, relative to the mean diagonal 1 of M.
const REGULARISATION: f64 = 1e-10;

/// Arrays of the iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewtonWork {
    pub(crate) y: Vec<f64>,
    trial: Vec<f64>,
    u: Vec<f64>,
    f: Vec<f64>,
    direction: Vec<f64>,
    matrix: Vec<f64>,
}

/// Derivative of one block of F: P dy + Q du.
#[derive(Clone, Copy, Debug, Default)]
struct LinearBlock {
    f: [f64; 3],
    p: [[f64; 3]; 3],
    q: [[f64; 3]; 3],
}

/// What an attempt came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempt {
    pub(crate) iterations: usize,
    pub(crate) factorisations: usize,
}

/// Iterates from scaled impulses and leaves the result in `work.y` (times D: the impulses).
pub(crate) fn newton(
    system: &System,
    dense: &Delassus,
    work: &mut NewtonWork,
    start: &[f64],
    weight: f64,
    iterations: usize,
    tolerance: f64,
) -> Attempt {
    let n = dense.n;
    for x in [&mut work.y, &mut work.trial, &mut work.u, &mut work.f, &mut work.direction] {
        reset(x, n);
    }
    reset(&mut work.matrix, n * n);
    work.y.copy_from_slice(start);
    let mut done = Attempt::default();
    let mut failures = 0;
    dense.velocity(&work.y, &mut work.u);
    for _ in 0..iterations {
        done.iterations += 1;
        if dense.residual(system, &work.y, &work.u) <= tolerance {
            break;
        }
        let merit = linearise(system, dense, work, weight);
        if !merit.is_finite() {
            break;
        }
        done.factorisations += 1;
        if !solve_lu(n, &mut work.matrix, &mut work.direction, 1, Pivots::AboveZero) {
            break;
        }
        match line_search(system, dense, work, merit, weight) {
            Some(true) => failures = 0,
            Some(false) if failures < TRIES => failures += 1,
            _ => break,
        }
    }
    done
}

/// F, −F as right-hand side, and P + Q (M + εI). Returns ½‖F‖².
fn linearise(system: &System, dense: &Delassus, work: &mut NewtonWork, weight: f64) -> f64 {
    let n = dense.n;
    let mut merit = 0.0;
    for block in &system.blocks {
        let at = block.row;
        let rows = block.rows();
        let linear = if block.rho > 0.0 {
            let law = block.law.scaled(dense.d[at]);
            linearise_block(&law, read(&work.y, block), read(&work.u, block).map(|u| weight * u))
        } else {
            LinearBlock { p: IDENTITY, ..LinearBlock::default() }
        };
        for r in 0..rows {
            merit += 0.5 * linear.f[r] * linear.f[r];
            work.direction[at + r] = -linear.f[r];
            let line = &mut work.matrix[(at + r) * n..(at + r + 1) * n];
            line.fill(0.0);
            for c in 0..rows {
                let q = weight * linear.q[r][c];
                if q != 0.0 {
                    for (x, m) in line.iter_mut().zip(&dense.m[(at + c) * n..(at + c + 1) * n]) {
                        *x += q * m;
                    }
                    line[at + c] += q * REGULARISATION;
                }
            }
            for c in 0..rows {
                line[at + c] += linear.p[r][c];
            }
        }
    }
    merit
}

const IDENTITY: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// (1), (2) and their derivative for one block.
fn linearise_block(law: &Law, y: [f64; 3], u: [f64; 3]) -> LinearBlock {
    let mut out = LinearBlock::default();
    let a = [y[0] - u[0], y[1] - u[1], y[2] - u[2]];
    if let Law::Interval { lower, upper } = *law {
        if a[0] > lower && a[0] < upper {
            out.f[0] = u[0];
            out.q[0][0] = 1.0;
        } else {
            out.f[0] = y[0] - a[0].clamp(lower, upper);
            out.p[0][0] = 1.0;
        }
        return out;
    }
    let closed = a[0] > 0.0;
    if closed {
        out.f[0] = u[0];
        out.q[0][0] = 1.0;
    } else {
        out.f[0] = y[0];
        out.p[0][0] = 1.0;
    }
    let radius = law.radii(a[0].max(0.0));
    // d radius / d a_n.
    let slope = match *law {
        Law::Cone { mu } if closed => [mu; 2],
        Law::Pyramid { mu } if closed => mu,
        _ => [0.0; 2],
    };
    if let Law::Cone { .. } = law {
        disc(&mut out, y, u, a, radius[0], slope[0]);
        return out;
    }
    for i in 1..3 {
        let r = radius[i - 1];
        if a[i].abs() <= r && r > 0.0 {
            out.f[i] = u[i];
            out.q[i][i] = 1.0;
        } else {
            let sign = if a[i] >= 0.0 { 1.0 } else { -1.0 };
            out.f[i] = y[i] - sign * r;
            out.p[i] = [-sign * slope[i - 1], 0.0, 0.0];
            out.p[i][i] = 1.0;
            out.q[i][0] = sign * slope[i - 1];
        }
    }
    out
}

/// The tangents of a Coulomb cone.
fn disc(out: &mut LinearBlock, y: [f64; 3], u: [f64; 3], a: [f64; 3], radius: f64, mu: f64) {
    let length = hypot(a[1], a[2]);
    if length <= radius && radius > 0.0 {
        for i in 1..3 {
            out.f[i] = u[i];
            out.q[i][i] = 1.0;
        }
        return;
    }
    let e = if length > 0.0 { [a[1] / length, a[2] / length] } else { [0.0; 2] };
    let ratio = if length > 0.0 { radius / length } else { 0.0 };
    for i in 0..2 {
        out.f[1 + i] = y[1 + i] - radius * e[i];
        out.p[1 + i][0] = -mu * e[i];
        out.q[1 + i][0] = mu * e[i];
        for j in 0..2 {
            let identity = if i == j { 1.0 } else { 0.0 };
            let turn = ratio * (identity - e[i] * e[j]);
            out.p[1 + i][1 + j] = identity - turn;
            out.q[1 + i][1 + j] = turn;
        }
    }
}

/// Halves the step until ½‖F‖² falls; takes the best length tried if it never falls enough (false).
/// None: not finite.
fn line_search(
    system: &System,
    dense: &Delassus,
    work: &mut NewtonWork,
    merit: f64,
    weight: f64,
) -> Option<bool> {
    let mut best = (f64::INFINITY, 0.0);
    let (mut t, mut fell) = (1.0, false);
    for _ in 0..HALVINGS {
        let value = merit_at(system, dense, work, t, weight);
        if value <= (1.0 - 2e-4 * t) * merit {
            best = (value, t);
            fell = true;
            break;
        }
        if value < best.0 {
            best = (value, t);
        }
        t *= 0.5;
    }
    if !best.0.is_finite() {
        return None;
    }
    merit_at(system, dense, work, best.1, weight);
    core::mem::swap(&mut work.y, &mut work.trial);
    Some(fell)
}

const HALVINGS: usize = 10;
/// Steps without descent before an attempt is given up.
const TRIES: usize = 3;

/// ½‖F‖² at y + t Δ, which it leaves in `trial` with its velocity in `u`.
fn merit_at(system: &System, dense: &Delassus, work: &mut NewtonWork, t: f64, weight: f64) -> f64 {
    for (x, (y, d)) in work.trial.iter_mut().zip(work.y.iter().zip(&work.direction)) {
        *x = y + t * d;
    }
    dense.velocity(&work.trial, &mut work.u);
    let mut merit = 0.0;
    for block in system.blocks.iter().filter(|b| b.rho > 0.0) {
        let law = block.law.scaled(dense.d[block.row]);
        let f = linearise_block(
            &law,
            read(&work.trial, block),
            read(&work.u, block).map(|u| weight * u),
        )
        .f;
        merit += 0.5 * f.iter().map(|x| x * x).sum::<f64>();
    }
    merit
}
