//! One contact on its own: the exact Coulomb cone for a 3 × 3 system.

use crate::{law::Law, scalar::hypot};

/// A symmetric 3 × 3 block, rows (normal, tangent 1, tangent 2).
pub(crate) type Block3 = [[f64; 3]; 3];

/// A constraint's own system, with what all its solutions need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalSystem {
    /// W, symmetric positive definite.
    pub(crate) w: Block3,
    schur: Schur,
    /// W_nt/W_nn in the axes of S.
    coupling: [f64; 2],
    /// W⁻¹.
    inverse: Block3,
    /// β of the last sliding solution: where the next search starts.
    beta: f64,
}

impl LocalSystem {
    #[inline(always)]
    pub(crate) fn new(w: Block3) -> Self {
        let (wnn, c) = (w[0][0], [w[0][1], w[0][2]]);
        let schur = Schur::new(
            w[1][1] - c[0] * c[0] / wnn,
            w[1][2] - c[0] * c[1] / wnn,
            w[2][2] - c[1] * c[1] / wnn,
        );
        let coupling = schur.rotate([c[0] / wnn, c[1] / wnn]);
        let inverse = inverse(wnn, &schur, coupling);
        Self { w, schur, coupling, inverse, beta: schur.s[0] }
    }

    /// Impulse of one constraint that solves its law, from the present impulse λ and velocity u.
    #[inline(always)]
    pub(crate) fn solve(&mut self, law: &Law, u: [f64; 3], lambda: [f64; 3]) -> [f64; 3] {
        match *law {
            Law::Cone { mu } => self.solve_cone(mu, u, lambda),
            Law::Interval { lower, upper } => {
                [(lambda[0] - u[0] / self.w[0][0]).clamp(lower, upper), 0.0, 0.0]
            }
            _ => solve_box(law, &self.w, self.offset(u, lambda), lambda),
        }
    }

    /// q = u − W λ, what the velocity would be without this impulse.
    #[inline(always)]
    fn offset(&self, u: [f64; 3], lambda: [f64; 3]) -> [f64; 3] {
        let w = product(&self.w, lambda);
        [u[0] - w[0], u[1] - w[1], u[2] - w[2]]
    }

    /// Coulomb's law in three cases: open, sticking, sliding.
    ///
    /// Sliding eliminates the normal row (u_n = 0) and writes λ_t = −u_t / β with β > 0 unknown:
    ///
    /// ```text
    /// λ_n = −q_n/W_nn − c·λ_t,   u_t = S λ_t + q̄,   c = W_nt/W_nn,   S = W_tt − W_tn c,   q̄ = q_t − c q_n
    /// λ_t(β) = −(S + β)⁻¹ q̄,   ‖λ_t(β)‖ = μ λ_n(β)
    /// ```
    ///
    /// β = 0 is sticking (outside the cone here), β → ∞ is λ_t = 0 with λ_n > 0: there is always a root between.
    #[inline(always)]
    fn solve_cone(&mut self, mu: f64, u: [f64; 3], lambda: [f64; 3]) -> [f64; 3] {
        let q = self.offset(u, lambda);
        if q[0] >= 0.0 {
            return [0.0; 3];
        }
        let back = product(&self.inverse, u);
        let stuck = [lambda[0] - back[0], lambda[1] - back[1], lambda[2] - back[2]];
        let bound = mu * stuck[0];
        if stuck[0] > 0.0 && stuck[1] * stuck[1] + stuck[2] * stuck[2] <= bound * bound {
            return stuck;
        }
        self.slide(mu, q)
    }

    /// The impulse of a contact that does not stick.
    fn slide(&mut self, mu: f64, q: [f64; 3]) -> [f64; 3] {
        let alone = -q[0] / self.w[0][0];
        if mu == 0.0 {
            return [alone, 0.0, 0.0];
        }
        let (schur, c) = (self.schur, self.coupling);
        let q_t = schur.rotate([q[1], q[2]]);
        let q_bar = [q_t[0] - c[0] * q[0], q_t[1] - c[1] * q[0]];
        let secular = Secular { s: schur.s, q_bar, c, alone, mu };
        let (mut t, mut n) = secular.at(0.0);
        let sticks = hypot(t[0], t[1]) <= mu * n;
        if !sticks {
            self.beta = secular.root(self.beta);
            (t, n) = secular.at(self.beta);
        }
        let t = schur.rotate_back(t);
        // The root is exact to rounding; clipping makes the impulse exactly admissible.
        Law::Cone { mu }.clip([n, t[0], t[1]])
    }
}

#[inline(always)]
fn product(a: &Block3, x: [f64; 3]) -> [f64; 3] {
    let row = |r: usize| a[r][0] * x[0] + a[r][1] * x[1] + a[r][2] * x[2];
    [row(0), row(1), row(2)]
}

/// W⁻¹ from W_nn, S and c.
fn inverse(wnn: f64, schur: &Schur, coupling: [f64; 2]) -> Block3 {
    // Solutions of S x = a for the unit tangents, and for c.
    let solve = |a: [f64; 2]| schur.rotate_back([a[0] / schur.s[0], a[1] / schur.s[1]]);
    let [first, second] = [schur.rotate([1.0, 0.0]), schur.rotate([0.0, 1.0])].map(solve);
    let along = solve(coupling);
    let c = schur.rotate_back(coupling);
    let normal = 1.0 / wnn + c[0] * along[0] + c[1] * along[1];
    let cross = 0.5 * (first[1] + second[0]);
    [[normal, -along[0], -along[1]], [-along[0], first[0], cross], [-along[1], cross, second[1]]]
}

/// S = Q diag(s) Qᵀ for 2 × 2.
#[derive(Clone, Copy, Debug)]
struct Schur {
    s: [f64; 2],
    /// Cosine and sine of the first eigenvector.
    axis: [f64; 2],
}

impl Schur {
    fn new(a: f64, b: f64, d: f64) -> Self {
        let (mean, half) = (0.5 * (a + d), 0.5 * (a - d));
        let radius = hypot(half, b);
        // The eigenvector of the larger eigenvalue from the better conditioned of its two formulas.
        let v = if half >= 0.0 { [half + radius, b] } else { [b, radius - half] };
        let length = hypot(v[0], v[1]);
        let axis = if length > 0.0 { [v[0] / length, v[1] / length] } else { [1.0, 0.0] };
        // Rounding must not make S indefinite.
        let floor = (a + d).abs() * f64::EPSILON + f64::MIN_POSITIVE;
        Self { s: [(mean + radius).max(floor), (mean - radius).max(floor)], axis }
    }

    fn rotate(&self, x: [f64; 2]) -> [f64; 2] {
        let [c, s] = self.axis;
        [c * x[0] + s * x[1], c * x[1] - s * x[0]]
    }

    fn rotate_back(&self, x: [f64; 2]) -> [f64; 2] {
        let [c, s] = self.axis;
        [c * x[0] - s * x[1], s * x[0] + c * x[1]]
    }
}

/// k(β) = μ λ_n(β) / ‖λ_t(β)‖ − 1, nearly linear in β: negative at sticking, positive for large β.
struct Secular {
    s: [f64; 2],
    q_bar: [f64; 2],
    c: [f64; 2],
    /// −q_n/W_nn, the normal impulse without friction.
    alone: f64,
    mu: f64,
}

impl Secular {
    /// λ_t in the axes of S, and λ_n.
    fn at(&self, beta: f64) -> ([f64; 2], f64) {
        let t = [-self.q_bar[0] / (self.s[0] + beta), -self.q_bar[1] / (self.s[1] + beta)];
        (t, self.alone - (self.c[0] * t[0] + self.c[1] * t[1]))
    }

    /// k and its derivative.
    fn value(&self, beta: f64) -> (f64, f64) {
        let inverse = [1.0 / (self.s[0] + beta), 1.0 / (self.s[1] + beta)];
        let t = [-self.q_bar[0] * inverse[0], -self.q_bar[1] * inverse[1]];
        let n = self.alone - (self.c[0] * t[0] + self.c[1] * t[1]);
        let dt = [-t[0] * inverse[0], -t[1] * inverse[1]];
        let dn = -(self.c[0] * dt[0] + self.c[1] * dt[1]);
        let per_length = 1.0 / hypot(t[0], t[1]);
        let dlength = (t[0] * dt[0] + t[1] * dt[1]) * per_length;
        let ratio = self.mu * n * per_length;
        (ratio - 1.0, (self.mu * dn - ratio * dlength) * per_length)
    }

    /// A root by Newton's method inside a bracket that bisection keeps.
    fn root(&self, guess: f64) -> f64 {
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut beta = guess;
        for _ in 0..STEPS {
            let (k, slope) = self.value(beta);
            if k.abs() <= 4.0 * f64::EPSILON {
                // On the cone to rounding; close to sticking β itself is not that certain.
                return beta;
            }
            if k < 0.0 {
                low = beta;
            } else {
                high = beta;
            }
            let newton = beta - k / slope;
            let next = if newton > low && newton < high {
                newton
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                2.0 * beta
            };
            if (next - beta).abs() <= 4.0 * f64::EPSILON * next {
                return next;
            }
            beta = next;
        }
        beta
    }
}

/// Newton needs a few; doubling and halving through the whole range of exponents some hundreds.
const STEPS: usize = 1200;

/// Pyramids and boxes: the three rows in turn, each exactly, until they rest.
fn solve_box(law: &Law, w: &Block3, q: [f64; 3], start: [f64; 3]) -> [f64; 3] {
    let mut x = start;
    for _ in 0..INNER_SWEEPS {
        let before = x;
        let u = |x: &[f64; 3], i: usize| q[i] + w[i][0] * x[0] + w[i][1] * x[1] + w[i][2] * x[2];
        x[0] = (x[0] - u(&x, 0) / w[0][0]).max(0.0);
        let r = law.radii(x[0]);
        for i in 1..3 {
            if w[i][i] > 0.0 {
                x[i] = (x[i] - u(&x, i) / w[i][i]).clamp(-r[i - 1], r[i - 1]);
            } else {
                x[i] = x[i].clamp(-r[i - 1], r[i - 1]);
            }
        }
        let change = (0..3).fold(0.0_f64, |m, i| m.max((x[i] - before[i]).abs()));
        if change <= 1e-15 * x[0].abs() {
            break;
        }
    }
    x
}

/// Sweeps over the rows of one contact; the outer iteration repairs what is left.
const INNER_SWEEPS: usize = 20;
