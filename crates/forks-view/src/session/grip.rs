//! Springs that pull bodies, implicit in the motion of the point that they pull.
//!
//! A spring K and a damper C from a point p to a target g give F = K (g − p − h v⁺) − C v⁺, where
//! v⁺ = v₁ + W (F − F₁) is the point's velocity after the step: v₁ with the last step's force F₁, W
//! the response of the step to more. So
//!
//! ```text
//! (1 + (K h + C) W) F = K (g − p) − (K h + C) (v₁ − W F₁)
//! ```
//!
//! holds for stiff springs too, and at rest, where v₁ = 0, F = K (g − p) whatever W is. v₁ and W
//! are measured on copies: a step with F₁, and one for each axis. W changes slowly and is measured
//! now and then, v₁ for every step.

use forks_mechanism::lie::glam::{DMat3, DVec3};

use crate::subject::{Aim, Push, Subject};

/// Steps after which the response is measured again.
const FRESH: u32 = 64;

/// Part of a force that could not be followed which is allowed next, and how that grows again.
const WEAKER: f64 = 0.25;
const RECOVERY: f64 = 1.1;

/// Part of the spring's force by which the response is measured.
const SMALL: f64 = 1e-4;

/// A point of a body that is pulled.
#[derive(Clone, Debug)]
pub(crate) struct Grip {
    /// What pages call it: a body of the picture and a point in it.
    pub(crate) asked: (usize, DVec3),
    /// What is held of it, see [`Subject::hold`].
    pub(crate) body: usize,
    /// In what is held, m.
    pub(crate) point: DVec3,
    /// In the world, m.
    pub(crate) target: DVec3,
    /// N/m.
    pub(crate) stiffness: f64,
    response: Option<Response>,
    pub(crate) force: DVec3,
    /// What the step could not follow is not tried again at once, N.
    most: f64,
}

#[derive(Clone, Copy, Debug)]
struct Response {
    /// W, m/s per N.
    velocity: DMat3,
    steps: u32,
}

impl Grip {
    pub(crate) fn new(subject: &dyn Subject<'_>, aim: Aim, stiffness: f64) -> Self {
        let (body, point) = subject.hold(aim.body, aim.point);
        Self {
            asked: (aim.body, aim.point),
            body,
            point,
            target: aim.target,
            stiffness,
            response: None,
            force: DVec3::ZERO,
            most: f64::MAX,
        }
    }

    /// A force that the step cannot follow: begin without one, and allow less for a while.
    pub(crate) fn weaken(&mut self) {
        self.most = WEAKER * self.force.length();
        self.force = DVec3::ZERO;
        self.response = None;
    }

    /// Where the point is.
    pub(crate) fn place(&self, subject: &dyn Subject<'_>) -> DVec3 {
        subject.pose(self.body).transform_point(self.point)
    }

    /// The push for the next step, beside `others`; `None` if the step cannot be tried.
    pub(crate) fn push(&mut self, subject: &dyn Subject<'_>, others: &[Push]) -> Option<Push> {
        let (h, p) = (subject.step_length(), self.place(subject));
        let with_force = self.velocity(subject, others, self.force);
        let before = match with_force {
            Some(v) => v,
            None => {
                self.weaken();
                self.velocity(subject, others, self.force)?
            }
        };
        let fresh = self.response.filter(|r| r.steps < FRESH);
        let velocity = match fresh {
            Some(r) => r.velocity,
            None => self.response_to_force(subject, others, before)?,
        };
        let steps = fresh.map_or(0, |r| r.steps + 1);
        self.response = Some(Response { velocity, steps });
        // Critical for the inertia that the point has along its lightest axis.
        let lightest = (0..3).map(|i| velocity.col(i)[i]).fold(f64::MIN_POSITIVE, f64::max);
        let mass = h / lightest;
        let damping = 2.0 * (self.stiffness * mass).sqrt();
        let implicit = self.stiffness * h + damping;
        let free = before - velocity * self.force;
        let right = self.stiffness * (self.target - p) - implicit * free;
        let force = (DMat3::IDENTITY + velocity * implicit).inverse() * right;
        if !force.is_finite() {
            return None;
        }
        let force = force.clamp_length_max(self.most);
        self.most *= RECOVERY;
        self.force = force;
        Some(Push { body: self.body, point: self.point, force })
    }

    /// Velocity of the point in the next step under a force on it.
    fn velocity(&self, s: &dyn Subject<'_>, others: &[Push], force: DVec3) -> Option<DVec3> {
        let mut copy = s.duplicate();
        let mut pushes = others.to_vec();
        pushes.push(Push { body: self.body, point: self.point, force });
        copy.push(&pushes).ok()?;
        copy.step().ok()?;
        Some((self.place(&*copy) - self.place(s)) / s.step_length())
    }

    /// W, by differences from the velocity with the present force.
    fn response_to_force(
        &self,
        s: &dyn Subject<'_>,
        others: &[Push],
        before: DVec3,
    ) -> Option<DMat3> {
        // Small beside what the spring may exert: the step is linear in it, and not cut short.
        let size = SMALL * self.stiffness * (self.target - self.place(s)).length();
        let size = if size > 0.0 { size } else { SMALL };
        let column = |axis: DVec3| {
            Some((self.velocity(s, others, self.force + axis * size)? - before) / size)
        };
        let columns = [column(DVec3::X)?, column(DVec3::Y)?, column(DVec3::Z)?];
        Some(DMat3::from_cols(columns[0], columns[1], columns[2]))
    }
}
