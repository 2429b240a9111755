//! The implicit equations of a step, for (ω, η̇) after it.

use forks_lie::{Matrix, dot, exp_rotation, glam::DVec3, rotation_right_jacobian, skew};

use super::{
    inertia::BaseInertia,
    state::FloatingWork,
    step::{entry, three},
};

/// Corrections after which Newton's method is given up.
const MAX_CORRECTIONS: usize = 12;
/// Relative size of the last correction: the next one would be its square.
const LAST_CORRECTION: f64 = 1e-9;

/// What does not change during a step.
pub(super) struct Equations<'a> {
    pub(super) inertia: &'a BaseInertia,
    /// M̃ + hD + h²𝓗.
    pub(super) matrix: &'a Matrix,
    pub(super) h: f64,
    /// Factor on the changes of the inertia.
    pub(super) held: f64,
    /// L + hτ in the base's axes before the step.
    pub(super) spin: DVec3,
    pub(super) eta: &'a [f64],
}

/// Solves for `work.trial`, which holds the start; false if inertia and axes of the start had to be used.
pub(super) fn solve(e: &Equations<'_>, work: &mut FloatingWork) -> bool {
    for _ in 0..MAX_CORRECTIONS {
        e.linearise(work);
        let Some((correction, size)) = e.correct(work) else { break };
        if correction <= LAST_CORRECTION * size {
            return true;
        }
    }
    // Without changes of inertia and axes the equations are linear and never singular.
    e.linearise_at_rest(work);
    if e.correct(work).is_none() {
        work.trial.fill(f64::NAN);
    }
    false
}

impl Equations<'_> {
    /// Residual and its derivative at the trial.
    ///
    /// r_L = Jω + Ση̇ − exp(−hω)(L + hτ), r_k = Σ_kᵀω + (M̃ + hD + h²𝓗)η̇ − constant − h ω·(½J_kω + Σ_kη̇), J and Σ at
    /// η + hη̇.
    pub(super) fn linearise(&self, work: &mut FloatingWork) {
        let (i, h, n) = (self.inertia, self.h, self.inertia.n);
        let size = 3 + n;
        let omega = three(&work.trial);
        let rate = &work.trial[3..];
        for (x, (start, y)) in work.eta.iter_mut().zip(self.eta.iter().zip(rate)) {
            *x = start + h * y;
        }
        let rotation = i.rotation_at(&work.eta, self.held);
        i.coupling_at(&work.eta, self.held, &mut work.coupling);
        let spin = exp_rotation(omega * -h) * self.spin;
        let turning = rotation - skew(spin) * rotation_right_jacobian(omega * h) * h;
        let coupled: DVec3 = work.coupling.iter().zip(rate).map(|(s, y)| *s * *y).sum();
        let residual = rotation * omega + coupled - spin;
        work.residual[..3].copy_from_slice(&residual.to_array());
        for a in 0..3 {
            for b in 0..3 {
                work.matrix[a * size + b] = entry(&turning, a, b);
            }
        }
        for k in 0..n {
            let row = &i.coupling_slopes[k * n..][..n];
            let along: DVec3 = row.iter().zip(rate).map(|(s, y)| *s * *y).sum();
            let moved = i.rotation_slopes[k] * omega;
            let upper = work.coupling[k] + (moved + along) * (h * self.held);
            let lower = work.coupling[k] - (moved + along) * (h * self.held);
            let left = (3 + k) * size;
            for a in 0..3 {
                work.matrix[a * size + 3 + k] = upper[a];
                work.matrix[left + a] = lower[a];
            }
            let power = omega.dot(moved * 0.5 + along) * (h * self.held);
            work.residual[3 + k] =
                work.coupling[k].dot(omega) + dot(self.matrix.row(k), rate) - work.force[k] - power;
            for j in 0..n {
                // Only the curl of Σ is left: a gyroscopic force, without power.
                let curl = i.coupling_slopes[j * n + k] - i.coupling_slopes[k * n + j];
                work.matrix[left + 3 + j] = self.matrix[(k, j)] + h * self.held * curl.dot(omega);
            }
        }
    }

    /// The same with the linearisation pose's inertia and the base's axes before the step.
    fn linearise_at_rest(&self, work: &mut FloatingWork) {
        let (i, n) = (self.inertia, self.inertia.n);
        let size = 3 + n;
        work.trial.fill(0.0);
        work.residual[..3].copy_from_slice(&(-self.spin).to_array());
        for k in 0..n {
            work.residual[3 + k] = -work.force[k];
        }
        for a in 0..size {
            for b in 0..size {
                work.matrix[a * size + b] = match (a < 3, b < 3) {
                    (true, true) => entry(&i.rotation, a, b),
                    (true, false) => i.coupling[b - 3][a],
                    (false, true) => i.coupling[a - 3][b],
                    (false, false) => self.matrix[(a - 3, b - 3)],
                };
            }
        }
    }

    /// Solves for the correction and applies it; its size and that of the result in the mass norm of the step, squared
    /// roots taken.
    fn correct(&self, work: &mut FloatingWork) -> Option<(f64, f64)> {
        eliminate(&mut work.matrix, &mut work.residual)?;
        for (x, d) in work.trial.iter_mut().zip(&work.residual) {
            *x -= d;
        }
        let norm = |x: &[f64]| {
            let omega = three(x);
            let turning = omega.dot(self.inertia.rotation * omega);
            let shape: f64 =
                x[3..].iter().enumerate().map(|(k, y)| y * dot(self.matrix.row(k), &x[3..])).sum();
            crate::scalar::sqrt(turning + shape)
        };
        let (correction, size) = (norm(&work.residual), norm(&work.trial));
        (correction + size).is_finite().then_some((correction, size))
    }
}

/// Gaussian elimination with partial pivoting, in place; `b` becomes the solution.
fn eliminate(a: &mut [f64], b: &mut [f64]) -> Option<()> {
    let n = b.len();
    for p in 0..n {
        let mut best = p;
        for i in p + 1..n {
            if a[i * n + p].abs() > a[best * n + p].abs() {
                best = i;
            }
        }
        let pivot = a[best * n + p];
        if pivot == 0.0 || !pivot.is_finite() {
            return None;
        }
        if best != p {
            for j in p..n {
                a.swap(p * n + j, best * n + j);
            }
            b.swap(p, best);
        }
        let (upper, lower) = a.split_at_mut((p + 1) * n);
        let pivot_row = &upper[p * n..];
        for i in p + 1..n {
            let row = &mut lower[(i - p - 1) * n..(i - p) * n];
            let factor = row[p] / pivot;
            for (x, y) in row[p + 1..].iter_mut().zip(&pivot_row[p + 1..n]) {
                *x -= factor * y;
            }
            b[i] -= factor * b[p];
        }
    }
    for i in (0..n).rev() {
        let row = &a[i * n..(i + 1) * n];
        let rest = dot(&row[i + 1..], &b[i + 1..]);
        b[i] = (b[i] - rest) / row[i];
    }
    Some(())
}
