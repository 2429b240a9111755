//! What a user says about a contact or a scalar row.

use forks_linalg::simd::Lanes;

use crate::{BodyId, ContactError, PortId};

/// How a contact's tangential impulse is bounded. λ_n is the normal impulse, λ_1, λ_2 the
/// tangential ones.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Friction {
    /// The exact Coulomb cone: √(λ_1² + λ_2²) ≤ μ λ_n, opposite to the sliding velocity.
    Cone {
        /// Coefficient of friction, ≥ 0.
        mu: f64,
    },
    /// An elliptic cone: √((λ_1/μ_1)² + (λ_2/μ_2)²) ≤ λ_n, with the largest dissipation it allows.
    EllipticCone {
        /// Coefficients along the two tangents, ≥ 0.
        mu: [f64; 2],
    },
    /// A four-sided pyramid: |λ_i| ≤ μ_i λ_n, each tangent on its own.
    Pyramid {
        /// Coefficients along the two tangents, ≥ 0.
        mu: [f64; 2],
    },
    /// A box that the normal impulse does not change: |λ_i| ≤ limit_i (\[A16\] §6 after
    /// \[E07\]).
    Box {
        /// Largest impulses along the two tangents, N·s, ≥ 0.
        limit: [f64; 2],
    },
}

impl Friction {
    /// No friction.
    pub const NONE: Self = Self::Cone { mu: 0.0 };
}

/// A point contact of three rows: normal (pointing so that separation is positive), two tangents
/// orthogonal to it.
///
/// With the step h, compliance c and relaxation time τ, the normal law is complementarity of λ_n ≥
/// 0 and
///
/// ```text
/// u_n + c/(h(h+τ)) λ_n + b ≥ 0,   b = gap/h where the gap is open, gap/(h+τ) where it is not
/// ```
///
/// that is a spring 1/c with a damper τ/c in parallel, integrated implicitly. With c = 0 a
/// penetration is removed at the speed −gap/(h+τ). A contact that closes within the step and hits
/// faster than [`Settings::restitution_threshold`](crate::Settings::restitution_threshold) leaves
/// at −e u_n⁻ or faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Bounds of the tangential impulse.
    pub friction: Friction,
    /// Distance of the surfaces, m; negative where they penetrate.
    pub gap: f64,
    /// e, from 0 to 1: the normal velocity after the impact over the one before it (Newton).
    pub restitution: f64,
    /// u_n⁻, the normal velocity before the step, m/s; negative where the surfaces approach.
    pub approach: f64,
    /// c, m/N; 0 for a rigid contact.
    pub compliance: f64,
    /// τ, s: the time in which a penetration decays, and damping over stiffness.
    pub relaxation: f64,
    /// Tangential velocity per friction force, m/(N·s): makes redundant friction unique; 0 for
    /// exact sticking.
    pub slip_compliance: f64,
    /// Impulses (normal, two tangents) to start from, N·s: those of the last step, or zero.
    pub warm: [f64; 3],
}

impl Contact {
    /// A rigid contact that is just closed and does not rebound.
    pub const fn new(friction: Friction) -> Self {
        Self {
            friction,
            gap: 0.0,
            restitution: 0.0,
            approach: 0.0,
            compliance: 0.0,
            relaxation: 0.0,
            slip_compliance: 0.0,
            warm: [0.0; 3],
        }
    }

    /// Without branches: the numbers that are wrong are looked for where some are.
    #[inline(always)]
    pub(crate) fn check(&self, constraint: usize) -> Result<(), ContactError> {
        let Self {
            gap,
            restitution: e,
            approach,
            compliance,
            relaxation,
            slip_compliance,
            warm,
            ..
        } = *self;
        let [one, two] = match self.friction {
            Friction::Cone { mu } => [mu; 2],
            Friction::EllipticCone { mu: two }
            | Friction::Pyramid { mu: two }
            | Friction::Box { limit: two } => two,
        };
        // 0 × x is 0 unless x is NaN or infinite.
        let of_any_sign = [gap, approach, warm[0], warm[1], warm[2]];
        let not_negative = [one, two, e, compliance, relaxation, slip_compliance];
        let zero = of_any_sign.iter().chain(&not_negative).fold(0.0, |sum, x| sum + 0.0 * x);
        let fits = not_negative.iter().fold(e <= 1.0, |all, x| all & (*x >= 0.0));
        if (zero == 0.0) & fits { Ok(()) } else { self.check_each(constraint) }
    }

    #[cold]
    fn check_each(&self, constraint: usize) -> Result<(), ContactError> {
        let check = Check { constraint };
        match self.friction {
            Friction::Cone { mu } => check.not_negative("the coefficient of friction", mu)?,
            Friction::EllipticCone { mu } | Friction::Pyramid { mu } => {
                check.not_negative("the first coefficient of friction", mu[0])?;
                check.not_negative("the second coefficient of friction", mu[1])?;
            }
            Friction::Box { limit } => {
                check.not_negative("the first limit of friction", limit[0])?;
                check.not_negative("the second limit of friction", limit[1])?;
            }
        }
        check.gap(self.gap, self.restitution, self.approach)?;
        check.not_negative("the compliance", self.compliance)?;
        check.not_negative("the relaxation time", self.relaxation)?;
        check.not_negative("the slip compliance", self.slip_compliance)?;
        self.warm.iter().try_for_each(|&x| check.finite("the warm-start impulse", x))
    }
}

/// A scalar row: a joint limit, a bilateral constraint, dry friction in a joint.
///
/// The impulse stays in [lower, upper]; where it is inside, the velocity along the row is what the
/// gap asks for, as in [`Contact`]. A row with `upper` = ∞ and `lower` = 0 is unilateral: a gap
/// above 0 may close within the step. In all others the gap is an error that is removed from either
/// side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Smallest impulse, N·s or N·m·s; −∞ for none.
    pub lower: f64,
    /// Largest impulse, N·s or N·m·s; ∞ for none.
    pub upper: f64,
    /// Distance to the limit, or error of the constraint, m or rad.
    pub gap: f64,
    /// e, from 0 to 1, for unilateral rows.
    pub restitution: f64,
    /// Velocity along the row before the step, m/s or rad/s.
    pub approach: f64,
    /// m/N or rad/(N·m); 0 for a rigid row.
    pub compliance: f64,
    /// s, as in [`Contact::relaxation`].
    pub relaxation: f64,
    /// Impulse to start from.
    pub warm: f64,
}

impl Row {
    /// A rigid one-sided row at a distance `gap` (m or rad) from its limit; the impulse pushes
    /// towards larger gaps.
    pub const fn unilateral(gap: f64) -> Self {
        Self {
            lower: 0.0,
            upper: f64::INFINITY,
            gap,
            restitution: 0.0,
            approach: 0.0,
            compliance: 0.0,
            relaxation: 0.0,
            warm: 0.0,
        }
    }

    /// A rigid two-sided row whose error is `gap`, m or rad.
    pub const fn bilateral(gap: f64) -> Self {
        Self { lower: f64::NEG_INFINITY, ..Self::unilateral(gap) }
    }

    /// Dry friction: holds until the impulse `limit` (N·s or N·m·s: force times step), then slides.
    pub const fn friction(limit: f64) -> Self {
        Self { lower: -limit, upper: limit, ..Self::unilateral(0.0) }
    }

    /// True if a positive gap may close freely.
    pub(crate) fn is_unilateral(&self) -> bool {
        self.lower == 0.0 && self.upper == f64::INFINITY
    }

    pub(crate) fn check(&self, constraint: usize) -> Result<(), ContactError> {
        let check = Check { constraint };
        for (name, x) in [("the lower bound", self.lower), ("the upper bound", self.upper)] {
            if x.is_nan() {
                return Err(ContactError::NotFinite { constraint, quantity: name, value: x });
            }
        }
        let range = |quantity, value, range| {
            Err(ContactError::OutOfRange { constraint, quantity, value, range })
        };
        if self.lower > 0.0 || self.lower == f64::INFINITY {
            return range("the lower bound", self.lower, "−∞ to 0");
        }
        if self.upper < 0.0 {
            return range("the upper bound", self.upper, "0 to ∞");
        }
        check.gap(self.gap, self.restitution, self.approach)?;
        check.not_negative("the compliance", self.compliance)?;
        check.not_negative("the relaxation time", self.relaxation)?;
        check.finite("the warm-start impulse", self.warm)
    }
}

/// The part of a constraint that acts on one body: a Jacobian, u = Σ over sides J w. Fixed bodies
/// have none.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub(crate) at: At,
    pub(crate) jacobian: Jacobian<'a>,
}

/// What w is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    Body(BodyId),
    Port(PortId),
}

/// J.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Jacobian<'a> {
    Rows(&'a [f64]),
    Columns(&'a [Lanes]),
}

impl<'a> Side<'a> {
    /// A Jacobian with one column per coordinate of the body: w = v. Row after row; the rows of a
    /// contact are normal, first tangent, second tangent.
    pub const fn of(body: BodyId, rows: &'a [f64]) -> Self {
        Self { at: At::Body(body), jacobian: Jacobian::Rows(rows) }
    }

    /// A Jacobian with one column per rate of a port of the body: w = P v. Row after row.
    pub const fn through(port: PortId, rows: &'a [f64]) -> Self {
        Self { at: At::Port(port), jacobian: Jacobian::Rows(rows) }
    }

    /// The same, column after column: the entries of the rows, then zeros. Saves turning it round.
    #[must_use]
    pub const fn by_columns(self, columns: &'a [Lanes]) -> Self {
        Self { at: self.at, jacobian: Jacobian::Columns(columns) }
    }
}

/// Checks of one constraint's numbers.
struct Check {
    constraint: usize,
}

impl Check {
    fn finite(&self, quantity: &'static str, value: f64) -> Result<(), ContactError> {
        if value.is_finite() {
            return Ok(());
        }
        Err(ContactError::NotFinite { constraint: self.constraint, quantity, value })
    }

    fn not_negative(&self, quantity: &'static str, value: f64) -> Result<(), ContactError> {
        self.finite(quantity, value)?;
        if value >= 0.0 {
            return Ok(());
        }
        let range = "0 or more";
        Err(ContactError::OutOfRange { constraint: self.constraint, quantity, value, range })
    }

    fn gap(&self, gap: f64, restitution: f64, approach: f64) -> Result<(), ContactError> {
        self.finite("the gap", gap)?;
        self.finite("the approach velocity", approach)?;
        self.not_negative("the restitution", restitution)?;
        if restitution > 1.0 {
            return Err(ContactError::OutOfRange {
                constraint: self.constraint,
                quantity: "the restitution",
                value: restitution,
                range: "0 to 1",
            });
        }
        Ok(())
    }
}
