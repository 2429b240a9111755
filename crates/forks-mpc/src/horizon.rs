//! The condensed problem of a horizon: steps put into one another, so that commands alone are left.
//!
//! x_{k+1} = A_k x_k + B_k u_k gives x_k = … + Σ_j Γ_kj u_j. With errors e_k = … + C_k x_k, changes
//! Δ_k = u_k − u_{k−1} and z = (x_N, u_{N−1}) the cost ½ (Σ |e_k|² + Δ_kᵀSΔ_k + u_kᵀRu_k + zᵀPz)
//! has the second derivative H = Σ (C_kΓ_k)ᵀC_kΓ_k + … and, by the adjoint recursion λ_k =
//! A_kᵀλ_{k+1} + C_kᵀe_k, the derivative B_kᵀλ_{k+1} + ….

use forks_rom::linalg::{
    Matrix, dot,
    simd::{Arithmetic, Isa, Kernel},
};

use crate::sums::add_transposed;

/// One step of the horizon: its slopes, and those of the errors after it by the coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// 2n × 2n.
    pub(crate) a: Matrix,
    /// 2n × m.
    pub(crate) b: Matrix,
    /// Errors × n.
    pub(crate) c: Matrix,
}

impl Node {
    pub(crate) fn zeros(n: usize, m: usize, errors: usize) -> Self {
        let (a, b) = (Matrix::zeros(2 * n, 2 * n), Matrix::zeros(2 * n, m));
        Self { a, b, c: Matrix::zeros(errors, n) }
    }
}

/// What commands themselves cost, and what comes after the horizon.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// S and R, diagonal.
    pub(crate) change: Vec<f64>,
    pub(crate) effort: Vec<f64>,
    /// P, (2n + m) × (2n + m).
    pub(crate) terminal: Matrix,
}

/// Memory of the condensed problem of N steps.
#[derive(Clone, Debug)]
pub(crate) struct Condensed {
    /// H, N m × N m.
    pub(crate) h: Matrix,
    pub(crate) g: Vec<f64>,
    /// Γ of one step, transposed: row j is what command j does to x. And the next one's.
    gamma: [Matrix; 2],
    /// C Γ, transposed.
    seen: Matrix,
    adjoint: [Vec<f64>; 2],
    isa: Isa,
}

impl Condensed {
    pub(crate) fn new(n: usize, m: usize, steps: usize, errors: usize) -> Self {
        let all = steps * m;
        Self {
            h: Matrix::zeros(all, all),
            g: vec![0.0; all],
            gamma: [Matrix::zeros(all, 2 * n), Matrix::zeros(all, 2 * n)],
            seen: Matrix::zeros(all, errors),
            adjoint: [vec![0.0; 2 * n], vec![0.0; 2 * n]],
            isa: Isa::detect(),
        }
    }

    /// H for the steps of a horizon; `node(k)` is step k.
    pub(crate) fn build<'a>(
        &mut self,
        steps: usize,
        node: impl Fn(usize) -> &'a Node,
        costs: &Costs,
    ) {
        let m = costs.change.len();
        self.h.as_mut_slice().fill(0.0);
        self.gamma.iter_mut().for_each(|g| g.as_mut_slice().fill(0.0));
        for k in 0..steps {
            let (step, used) = (node(k), (k + 1) * m);
            let [now, next] = &mut self.gamma;
            for j in 0..used {
                let out = next.row_mut(j);
                match j.checked_sub(k * m) {
                    None => {
                        for (i, x) in out.iter_mut().enumerate() {
                            *x = dot(step.a.row(i), now.row(j));
                        }
                    }
                    Some(own) => {
                        out.iter_mut().enumerate().for_each(|(i, x)| *x = step.b[(i, own)]);
                    }
                }
                for (e, seen) in self.seen.row_mut(j).iter_mut().enumerate() {
                    *seen = dot(step.c.row(e), &next.row(j)[..step.c.columns()]);
                }
            }
            for i in 0..used {
                for j in 0..=i {
                    self.h[(i, j)] += dot(self.seen.row(i), self.seen.row(j));
                }
            }
            self.gamma.swap(0, 1);
        }
        self.add_terminal(steps, &costs.terminal, m);
        for k in 0..steps {
            for s in 0..m {
                let i = k * m + s;
                let after = f64::from(k + 1 < steps);
                self.h[(i, i)] += costs.effort[s] + costs.change[s] * (1.0 + after);
                if k > 0 {
                    self.h[(i, i - m)] -= costs.change[s];
                }
            }
        }
        for i in 0..steps * m {
            for j in 0..i {
                self.h[(j, i)] = self.h[(i, j)];
            }
        }
    }

    /// The part of z = (x_N, u_{N−1}).
    fn add_terminal(&mut self, steps: usize, p: &Matrix, m: usize) {
        let (all, last) = (steps * m, (steps - 1) * m);
        let x = self.gamma[0].columns();
        let ends = &self.gamma[0];
        // z as a row per command.
        let z = Matrix::from_fn(all, x + m, |j, i| match i.checked_sub(x) {
            None => ends[(j, i)],
            Some(s) => f64::from(j == last + s),
        });
        let pz = z.mul(p);
        for i in 0..all {
            for j in 0..=i {
                self.h[(i, j)] += dot(z.row(i), pz.row(j));
            }
        }
    }

    /// The derivative of the cost at a plan: `errors(k)` are those after step k, `end` is z less
    /// where it shall be, `plan` the commands less where they shall be, `before` those before the
    /// plan.
    pub(crate) fn slope<'a>(
        &mut self,
        steps: usize,
        node: impl Fn(usize) -> &'a Node,
        costs: &Costs,
        errors: impl Fn(usize) -> &'a [f64],
        (plan, wanted, before, end): (&[f64], &[f64], &[f64], &[f64]),
    ) {
        let m = costs.change.len();
        let [now, next] = &mut self.adjoint;
        let x = now.len();
        for (i, l) in now.iter_mut().enumerate() {
            *l = dot(costs.terminal.row(i), end);
        }
        for k in (0..steps).rev() {
            let (step, g) = (node(k), &mut self.g[k * m..(k + 1) * m]);
            self.isa.run(Back { step, errors: errors(k), now, next, g });
            core::mem::swap(now, next);
        }
        for k in 0..steps {
            for s in 0..m {
                let i = k * m + s;
                let last = if k == 0 { before[s] } else { plan[i - m] };
                let own = costs.change[s] * (plan[i] - last);
                let after = plan.get(i + m).map_or(0.0, |next| costs.change[s] * (next - plan[i]));
                self.g[i] += costs.effort[s] * (plan[i] - wanted[s]) + own - after;
            }
        }
        for s in 0..m {
            self.g[(steps - 1) * m + s] += dot(costs.terminal.row(x + s), end);
        }
    }
}

/// One step of the adjoint recursion: λ += Cᵀe, then Aᵀλ and Bᵀλ.
struct Back<'a> {
    step: &'a Node,
    errors: &'a [f64],
    now: &'a mut [f64],
    next: &'a mut [f64],
    g: &'a mut [f64],
}

impl Kernel for Back<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { step: Node { a, b, c }, errors, now, next, g } = self;
        add_transposed(l, c.as_slice(), errors, &mut now[..c.columns()]);
        next.fill(0.0);
        add_transposed(l, a.as_slice(), now, next);
        g.fill(0.0);
        add_transposed(l, b.as_slice(), now, g);
    }
}
