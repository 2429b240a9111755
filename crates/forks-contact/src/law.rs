//! The laws between impulse λ and velocity u of one constraint: sets, projections, residuals.
//!
//! Rows are (normal, tangent 1, tangent 2), or one row with two unused places. Coulomb's law with
//! De Saxcé's term reads
//!
//! ```text
//! K = {λ : ‖λ_t‖ ≤ μ λ_n},   K ∋ λ ⊥ u + μ‖u_t‖ n ∈ K*                                         (1)
//! ```
//!
//! Without the term μ‖u_t‖ n the law would be associated: sliding surfaces would lift off with the
//! speed μ‖u_t‖.

use forks_linalg::sqrt;

use crate::{Contact, Friction, Row, quad::Quad, scalar::hypot};

/// Which impulses are allowed and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// Circular Coulomb cone.
    Cone { mu: f64 },
    /// |λ_i| ≤ μ_i λ_n.
    Pyramid { mu: [f64; 2] },
    /// |λ_i| ≤ limit_i.
    Box { limit: [f64; 2] },
    /// One row, lower ≤ λ ≤ upper.
    Interval { lower: f64, upper: f64 },
}

impl Default for Law {
    /// Nothing is allowed.
    fn default() -> Self {
        Self::Interval { lower: 0.0, upper: 0.0 }
    }
}

/// Smaller normal impulses of a cone are none: squares of theirs would lose digits.
pub(crate) const SMALLEST: f64 = 1e-140;

impl Law {
    pub(crate) fn of_contact(contact: &Contact) -> Self {
        match contact.friction {
            Friction::Cone { mu } => Self::Cone { mu },
            Friction::EllipticCone { mu } => Self::Cone { mu: mu[0].max(mu[1]) },
            Friction::Pyramid { mu } => Self::Pyramid { mu },
            Friction::Box { limit } => Self::Box { limit },
        }
    }

    pub(crate) fn of_row(row: &Row) -> Self {
        Self::Interval { lower: row.lower, upper: row.upper }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Interval { .. } => 1,
            _ => 3,
        }
    }

    /// The same law for impulses divided by `d`.
    pub(crate) fn scaled(self, d: f64) -> Self {
        match self {
            Self::Box { limit } => Self::Box { limit: [limit[0] / d, limit[1] / d] },
            Self::Interval { lower, upper } => {
                Self::Interval { lower: lower / d, upper: upper / d }
            }
            cone => cone,
        }
    }

    /// Bounds of the tangential impulses for a normal impulse.
    pub(crate) fn radii(&self, normal: f64) -> [f64; 2] {
        match *self {
            Self::Cone { mu } => [mu * normal; 2],
            Self::Pyramid { mu } => [mu[0] * normal, mu[1] * normal],
            Self::Box { limit } => limit,
            Self::Interval { .. } => [0.0; 2],
        }
    }

    /// The impulse of the set that is nearest to `x`, for cones; for the others the one with the
    /// normal clamped first.
    pub(crate) fn project(&self, x: [f64; 3]) -> [f64; 3] {
        match *self {
            Self::Interval { lower, upper } => [x[0].clamp(lower, upper), 0.0, 0.0],
            Self::Cone { mu } => project_cone(mu, x),
            _ => self.clip(x),
        }
    }

    /// The normal clamped, then the tangents clipped to what it allows: exactly inside the set.
    #[inline(always)]
    pub(crate) fn clip(&self, x: [f64; 3]) -> [f64; 3] {
        match *self {
            Self::Interval { lower, upper } => [x[0].clamp(lower, upper), 0.0, 0.0],
            Self::Cone { .. } if x[0].is_nan() || x[0] < SMALLEST => [0.0; 3],
            Self::Cone { mu } => {
                let t = project_disc(mu * x[0], [x[1], x[2]]);
                [x[0], t[0], t[1]]
            }
            _ => {
                let n = x[0].max(0.0);
                let r = self.radii(n);
                [n, x[1].clamp(-r[0], r[0]), x[2].clamp(-r[1], r[1])]
            }
        }
    }

    /// Natural map residual of (λ, u), in units of velocity; ρ > 0 converts velocity to impulse,
    /// 1/ρ back:
    ///
    /// - cones: ‖λ − P_K(λ − ρ (u + μ‖u_t‖ n))‖ / ρ,  zero exactly where (1) holds;
    /// - others: the same with the box of the present λ_n for the tangents and without De Saxcé's
    ///   term.
    #[inline(always)]
    pub(crate) fn residual(&self, lambda: [f64; 3], u: [f64; 3], rho: f64, per_rho: f64) -> f64 {
        let mut z = [lambda[0] - rho * u[0], lambda[1] - rho * u[1], lambda[2] - rho * u[2]];
        let p = match *self {
            Self::Cone { mu } => {
                z[0] -= rho * mu * hypot(u[1], u[2]);
                project_cone(mu, z)
            }
            Self::Interval { .. } => self.clip(z),
            _ => {
                let r = self.radii(lambda[0].max(0.0));
                [z[0].max(0.0), z[1].clamp(-r[0], r[0]), z[2].clamp(-r[1], r[1])]
            }
        };
        let d = [lambda[0] - p[0], lambda[1] - p[1], lambda[2] - p[2]];
        sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * per_rho
    }

    /// How far λ is outside its set, over the larger of its norm and the bounds; 0 inside.
    pub(crate) fn violation(&self, lambda: [f64; 3]) -> f64 {
        let [n, s, t] = lambda;
        let (outside, size) = match *self {
            Self::Interval { lower, upper } => ((lower - n).max(n - upper), n.abs()),
            Self::Cone { mu } => ((hypot(s, t) - mu * n).max(-n), hypot(n, hypot(s, t))),
            _ => {
                let r = self.radii(n);
                let outside = (s.abs() - r[0]).max(t.abs() - r[1]).max(-n);
                (outside, n.abs().max(s.abs()).max(t.abs()))
            }
        };
        if outside > 0.0 { outside / size.max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

/// Point of K nearest to x.
#[inline(always)]
fn project_cone(mu: f64, x: [f64; 3]) -> [f64; 3] {
    let (n, square) = (x[0], x[1] * x[1] + x[2] * x[2]);
    if n >= 0.0 && square <= (mu * n) * (mu * n) {
        return x;
    }
    let t = sqrt(square);
    if mu * t <= -n {
        return [0.0; 3];
    }
    let normal = (n + mu * t) / (1.0 + mu * mu);
    if normal <= 0.0 {
        return [0.0; 3];
    }
    let scale = mu * normal / t;
    [normal, scale * x[1], scale * x[2]]
}

/// Point of the disc of a radius nearest to x.
#[inline(always)]
pub(crate) fn project_disc(radius: f64, x: [f64; 2]) -> [f64; 2] {
    let square = x[0] * x[0] + x[1] * x[1];
    if square <= radius * radius || square == 0.0 {
        return x;
    }
    let t = sqrt(square);
    [x[0] * (radius / t), x[1] * (radius / t)]
}

/// Factors of the tangents that make an elliptic cone circular, with the larger coefficient as its
/// μ: λ_i = s_i λ̂_i, û_i = s_i u_i, so that power and impulse on the bodies stay what they are.
pub(crate) fn tangent_scale(mu: [f64; 2]) -> [f64; 2] {
    let larger = mu[0].max(mu[1]);
    if larger > 0.0 { [mu[0] / larger, mu[1] / larger] } else { [1.0; 2] }
}

/// Impulses as a user sees them -> as the solver does; they differ for elliptic cones only.
pub(crate) fn inner_impulse(friction: &Friction, x: [f64; 3]) -> [f64; 3] {
    let Friction::EllipticCone { mu } = *friction else { return x };
    let s = tangent_scale(mu);
    let divide = |x: f64, s: f64| if s > 0.0 { x / s } else { 0.0 };
    [x[0], divide(x[1], s[0]), divide(x[2], s[1])]
}

/// The inverse of [`inner_impulse`], for an elliptic cone.
pub(crate) fn outer_impulse(mu: [f64; 2], x: Quad) -> Quad {
    let s = tangent_scale(mu);
    Quad([x[0], x[1] * s[0], x[2] * s[1], 0.0])
}

/// What a gap, a compliance and a restitution put into the normal row: u_n + R λ_n − target ≥ 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NormalRow {
    /// R, velocity per impulse.
    pub(crate) regularisation: f64,
    /// Velocity that the gap asks for: negative where it is open.
    pub(crate) gap_target: f64,
    /// Velocity that restitution asks for where the constraint is hit, ≥ 0.
    pub(crate) rebound: f64,
}

impl NormalRow {
    pub(crate) fn of_contact(c: &Contact, h: f64, threshold: f64) -> Self {
        Self {
            regularisation: regularisation(c.compliance, h, c.relaxation),
            gap_target: gap_target(c.gap, h, c.relaxation, true),
            rebound: rebound(c.restitution, c.approach, threshold),
        }
    }

    pub(crate) fn of_row(r: &Row, h: f64, threshold: f64) -> Self {
        let unilateral = r.is_unilateral();
        Self {
            regularisation: regularisation(r.compliance, h, r.relaxation),
            gap_target: gap_target(r.gap, h, r.relaxation, unilateral),
            rebound: if unilateral { rebound(r.restitution, r.approach, threshold) } else { 0.0 },
        }
    }
}

fn regularisation(compliance: f64, h: f64, relaxation: f64) -> f64 {
    // Most contacts are rigid: spares a division.
    if compliance == 0.0 { 0.0 } else { compliance / (h * (h + relaxation)) }
}

fn gap_target(gap: f64, h: f64, relaxation: f64, may_close: bool) -> f64 {
    if may_close && gap > 0.0 { -gap / h } else { -gap / (h + relaxation) }
}

fn rebound(restitution: f64, approach: f64, threshold: f64) -> f64 {
    if approach < -threshold { -restitution * approach } else { 0.0 }
}
