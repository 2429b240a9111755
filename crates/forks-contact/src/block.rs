//! One contact on its own: the exact Coulomb cone for a 3 × 3 system.

use forks_linalg::simd::{Arithmetic, Portable};

use crate::{
    law::{Law, SMALLEST},
    quad::{Coupling, Quad, add_rows, dot},
    scalar::hypot,
};

/// A constraint's own system, with what all its solutions need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LocalSystem {
    /// W, symmetric positive definite.
    pub(crate) w: Coupling,
    /// W⁻¹.
    inverse: Coupling,
    /// What sliding takes, once it is wanted.
    sliding: Option<Sliding>,
}

/// W_tt without the normal row, and where sliding was found.
#[derive(Clone, Copy, Debug)]
struct Sliding {
    schur: Schur,
    /// W_nt/W_nn in the axes of S.
    coupling: [f64; 2],
    /// β of the last sliding solution: where the next search starts.
    beta: f64,
}

impl LocalSystem {
    #[inline(always)]
    pub(crate) fn new(w: Coupling) -> Self {
        Self { inverse: inverse(&w), w, sliding: None }
    }

    /// Impulse of one constraint that solves its law, from the present impulse λ and velocity u.
    #[inline(always)]
    pub(crate) fn solve<L: Arithmetic>(
        &mut self,
        l: L,
        law: &Law,
        u: &Quad,
        lambda: &Quad,
    ) -> Quad {
        match *law {
            Law::Cone { mu } => self.solve_cone(l, mu, u, lambda),
            Law::Interval { lower, upper } => {
                Quad([(lambda[0] - u[0] / self.w[0][0]).clamp(lower, upper), 0.0, 0.0, 0.0])
            }
            _ => solve_box(law, &self.w, self.offset(u, lambda), *lambda),
        }
    }

    /// q = u − W λ, what the velocity would be without this impulse.
    #[inline(always)]
    fn offset(&self, u: &Quad, lambda: &Quad) -> Quad {
        let l = Portable;
        u.minus(add_rows(l, l.splat(0.0), lambda, &self.w).store())
    }

    /// Coulomb's law in three cases: open, sticking (λ − W⁻¹ u), sliding.
    #[inline(always)]
    fn solve_cone<L: Arithmetic>(&mut self, l: L, mu: f64, u: &Quad, lambda: &Quad) -> Quad {
        if u[0] - dot(self.w[0], *lambda) >= 0.0 {
            return Quad::default();
        }
        let step = add_rows(l, l.splat(0.0), u, &self.inverse);
        let stuck = (l.load(lambda) - step).store();
        let bound = mu * stuck[0];
        if stuck[0] > SMALLEST && stuck[1] * stuck[1] + stuck[2] * stuck[2] <= bound * bound {
            return stuck;
        }
        self.slide(mu, self.offset(u, lambda))
    }

    /// The impulse of a contact that is closed and does not stick.
    ///
    /// Sliding eliminates the normal row (u_n = 0) and writes λ_t = −u_t / β with β > 0 unknown:
    ///
    /// ```text
    /// λ_n = −q_n/W_nn − c·λ_t,  u_t = S λ_t + q̄,  c = W_nt/W_nn,  S = W_tt − W_tn c,
    /// q̄ = q_t − c q_n
    /// λ_t(β) = −(S + β)⁻¹ q̄,   ‖λ_t(β)‖ = μ λ_n(β)
    /// ```
    ///
    /// β = 0 is sticking (outside the cone here), β → ∞ is λ_t = 0 with λ_n > 0: there is always a
    /// root between.
    fn slide(&mut self, mu: f64, q: Quad) -> Quad {
        let alone = -q[0] / self.w[0][0];
        if mu == 0.0 {
            return Quad([alone, 0.0, 0.0, 0.0]);
        }
        let w = &self.w;
        let Sliding { schur, coupling: c, beta } =
            self.sliding.get_or_insert_with(|| Sliding::new(w));
        let q_t = schur.rotate([q[1], q[2]]);
        let q_bar = [q_t[0] - c[0] * q[0], q_t[1] - c[1] * q[0]];
        let secular = Secular { s: schur.s, q_bar, c: *c, alone, mu };
        let (mut t, mut n) = secular.at(0.0);
        // At the edge rounding decides between sticking and sliding.
        if hypot(t[0], t[1]) > mu * n {
            *beta = secular.root(*beta);
            (t, n) = secular.at(*beta);
        }
        let t = schur.rotate_back(t);
        // The root is exact to rounding; clipping makes the impulse exactly admissible.
        let [n, s, t] = Law::Cone { mu }.clip([n, t[0], t[1]]);
        Quad([n, s, t, 0.0])
    }
}

impl Sliding {
    fn new(w: &Coupling) -> Self {
        let (wnn, c) = (w[0][0], [w[0][1], w[0][2]]);
        let schur = Schur::new(
            w[1][1] - c[0] * c[0] / wnn,
            w[1][2] - c[0] * c[1] / wnn,
            w[2][2] - c[1] * c[1] / wnn,
        );
        Self { schur, coupling: schur.rotate([c[0] / wnn, c[1] / wnn]), beta: schur.s[0] }
    }
}

/// W⁻¹ from W = L D Lᵀ. Pivots that rounding could make negative have a floor.
#[inline(always)]
fn inverse(w: &Coupling) -> Coupling {
    let first = 1.0 / w[0][0];
    let (l, m) = (w[0][1] * first, w[0][2] * first);
    let (a, b, d) = (w[1][1] - w[0][1] * l, w[1][2] - w[0][1] * m, w[2][2] - w[0][2] * m);
    let floor = (a + d).abs() * f64::EPSILON + f64::MIN_POSITIVE;
    let second = 1.0 / a.max(floor);
    let k = b * second;
    let third = 1.0 / (d - b * k).max(floor);
    // L⁻¹ has the rows (1), (−l, 1), (p, −k, 1).
    let p = l * k - m;
    let (x, y) = (p * third, -k * third);
    let middle = k * k * third + second;
    let cross = -l * second - k * x;
    [
        Quad([first + l * l * second + p * x, cross, x, 0.0]),
        Quad([cross, middle, y, 0.0]),
        Quad([x, y, third, 0.0]),
    ]
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
fn solve_box(law: &Law, w: &Coupling, q: Quad, start: Quad) -> Quad {
    let mut x = start;
    for _ in 0..INNER_SWEEPS {
        let before = x;
        let u = |x: &Quad, i: usize| q[i] + w[i][0] * x[0] + w[i][1] * x[1] + w[i][2] * x[2];
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
