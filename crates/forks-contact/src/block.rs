//! One contact on its own: the exact Coulomb cone for a 3 × 3 system.

use crate::{law::Law, scalar::hypot};

/// A symmetric 3 × 3 block, rows (normal, tangent 1, tangent 2).
pub(crate) type Block3 = [[f64; 3]; 3];

/// Impulse λ of one contact with u = W λ + q and the contact's law; W symmetric positive definite.
///
/// `start` is where the iterations of pyramids and boxes begin; cones need none.
pub(crate) fn solve_block(law: &Law, w: &Block3, q: [f64; 3], start: [f64; 3]) -> [f64; 3] {
    match *law {
        Law::Cone { mu } => solve_cone(mu, w, q),
        Law::Interval { lower, upper } => [(-q[0] / w[0][0]).clamp(lower, upper), 0.0, 0.0],
        _ => solve_box(law, w, q, start),
    }
}

/// Coulomb's law in three cases: open, sticking, sliding.
///
/// Sliding eliminates the normal row (u_n = 0) and writes λ_t = −u_t / β with β > 0 unknown:
///
/// ```text
/// λ_n = −(q_n + w·λ_t) / W_nn,   u_t = S λ_t + q̄,   S = W_tt − w wᵀ/W_nn,   q̄ = q_t − w q_n/W_nn
/// λ_t(β) = −(S + β)⁻¹ q̄,   ‖λ_t(β)‖ = μ λ_n(β)
/// ```
///
/// β = 0 is sticking (outside the cone here), β → ∞ is λ_t = 0 with λ_n > 0: there is always a root between.
fn solve_cone(mu: f64, w: &Block3, q: [f64; 3]) -> [f64; 3] {
    if q[0] >= 0.0 {
        return [0.0; 3];
    }
    let wnn = w[0][0];
    if mu == 0.0 {
        return [-q[0] / wnn, 0.0, 0.0];
    }
    let c = [w[0][1], w[0][2]];
    let schur = Schur::new(
        w[1][1] - c[0] * c[0] / wnn,
        w[1][2] - c[0] * c[1] / wnn,
        w[2][2] - c[1] * c[1] / wnn,
    );
    let q_bar = schur.rotate([q[1] - c[0] * q[0] / wnn, q[2] - c[1] * q[0] / wnn]);
    let c_bar = schur.rotate(c);
    let secular = Secular { s: schur.s, q_bar, c_bar, q_n: q[0], wnn, mu };
    let (t, n) = secular.at(0.0);
    if hypot(t[0], t[1]) <= mu * n {
        let t = schur.rotate_back(t);
        return [n, t[0], t[1]];
    }
    let (t, n) = secular.at(secular.root());
    let t = schur.rotate_back(t);
    // The root is exact to rounding; clipping makes the impulse exactly admissible.
    Law::Cone { mu }.clip([n, t[0], t[1]])
}

/// S = Q diag(s) Qᵀ for 2 × 2.
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
    c_bar: [f64; 2],
    q_n: f64,
    wnn: f64,
    mu: f64,
}

impl Secular {
    /// λ_t in the axes of S, and λ_n.
    fn at(&self, beta: f64) -> ([f64; 2], f64) {
        let t = [-self.q_bar[0] / (self.s[0] + beta), -self.q_bar[1] / (self.s[1] + beta)];
        (t, -(self.q_n + self.c_bar[0] * t[0] + self.c_bar[1] * t[1]) / self.wnn)
    }

    /// k and its derivative.
    fn value(&self, beta: f64) -> (f64, f64) {
        let (t, n) = self.at(beta);
        let length = hypot(t[0], t[1]);
        let dt = [-t[0] / (self.s[0] + beta), -t[1] / (self.s[1] + beta)];
        let dn = -(self.c_bar[0] * dt[0] + self.c_bar[1] * dt[1]) / self.wnn;
        let dlength = (t[0] * dt[0] + t[1] * dt[1]) / length;
        let ratio = self.mu * n / length;
        (ratio - 1.0, self.mu * dn / length - ratio * dlength / length)
    }

    /// A root by Newton's method inside a bracket that bisection keeps.
    fn root(&self) -> f64 {
        let (mut low, mut high) = (0.0, self.s[0]);
        for _ in 0..1100 {
            if self.value(high).0 >= 0.0 {
                break;
            }
            low = high;
            high *= 2.0;
        }
        let mut beta = 0.5 * (low + high);
        for _ in 0..100 {
            let (k, slope) = self.value(beta);
            if k < 0.0 {
                low = beta;
            } else {
                high = beta;
            }
            let newton = beta - k / slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - beta).abs() <= 4.0 * f64::EPSILON * next || next == beta {
                return next;
            }
            beta = next;
        }
        beta
    }
}

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
