//! Free rigid bodies.
//!
//! A body is stepped about its centre of mass: position and velocity in world axes, angular
//! velocity in its own. Its velocity in the contact problem is the twist there, in its own axes, in
//! which the inverse system matrix is constant.

use forks_contact::BodyId;
use forks_lie::{
    Pose, SpatialInertia, Twist, Wrench,
    glam::{DMat3, DQuat, DVec3},
    skew,
    so3::exp_rotation,
};
use forks_linalg::Matrix;

use crate::{
    SimError,
    error::{check_finite, check_range},
};

/// A free rigid body as it is added to a world.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidBody {
    /// Name, for messages.
    pub name: String,
    /// Mass, centre of mass and inertia in the body's frame.
    pub inertia: SpatialInertia,
    /// Pose at the start, world from body.
    pub pose: Pose,
    /// Twist at the start, in the body's frame.
    pub twist: Twist,
}

impl RigidBody {
    /// A body at rest.
    pub fn at_rest(name: impl Into<String>, inertia: SpatialInertia, pose: Pose) -> Self {
        Self { name: name.into(), inertia, pose, twist: Twist::ZERO }
    }
}

/// What does not change.
#[derive(Clone, Debug)]
pub(crate) struct Rigid {
    pub(crate) name: String,
    pub(crate) body: BodyId,
    mass: f64,
    center: DVec3,
    inertia: DMat3,
    inverse_inertia: DMat3,
    /// True if all moments of inertia are equal: nothing gyroscopic then.
    is_isotropic: bool,
    /// Force and torque about the centre of mass, world axes.
    pub(crate) load: Wrench,
}

/// What does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RigidState {
    /// Centre of mass, world, m.
    pub(crate) position: DVec3,
    /// World from body axes.
    pub(crate) rotation: DQuat,
    /// Of the centre of mass, world axes, m/s.
    pub(crate) velocity: DVec3,
    /// Body axes, rad/s.
    pub(crate) omega: DVec3,
}

impl RigidState {
    /// State of a body in a pose.
    pub(crate) fn new(pose: &Pose, twist: Twist, center: DVec3) -> Self {
        Self {
            position: pose.transform_point(center),
            rotation: pose.rotation.normalize(),
            velocity: pose.transform_vector(twist.linear + twist.angular.cross(center)),
            omega: twist.angular,
        }
    }

    /// Pose of the frame at the centre of mass.
    pub(crate) fn central_pose(&self) -> Pose {
        Pose { rotation: self.rotation, translation: self.position }
    }

    /// Twist at the centre of mass, body axes.
    pub(crate) fn central_twist(&self) -> Twist {
        Twist::new(self.rotation.conjugate() * self.velocity, self.omega)
    }

    #[inline(always)]
    pub(crate) fn is_finite(&self) -> bool {
        // 0 × x is 0 unless x is NaN or infinite.
        let zero = self.position * 0.0 + self.velocity * 0.0 + self.omega * 0.0;
        let q = self.rotation * 0.0;
        (zero.x + zero.y + zero.z) + (q.x + q.y + q.z + q.w) == 0.0
    }
}

/// A state's frame at the centre of mass, in the forms that a step needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// World from body axes.
    pub(crate) axes: DMat3,
    /// World.
    pub(crate) position: DVec3,
    /// Twist, body axes.
    pub(crate) rates: [f64; 6],
}

impl Frame {
    #[inline(always)]
    pub(crate) fn of(s: &RigidState) -> Self {
        let axes = DMat3::from_quat(s.rotation);
        let linear = axes.transpose() * s.velocity;
        Self { axes, position: s.position, rates: Twist::new(linear, s.omega).to_array() }
    }
}

impl Rigid {
    /// Checks a description; `add` takes the inverse system matrix into the contact problem.
    pub(crate) fn new(
        description: &RigidBody,
        add: impl FnOnce(&Matrix) -> Result<BodyId, SimError>,
    ) -> Result<(Self, RigidState), SimError> {
        let RigidBody { name, inertia, pose, twist } = description;
        let invalid = |source| SimError::Inertia { body: name.clone(), source };
        inertia.validate(INERTIA_TOLERANCE).map_err(invalid)?;
        let element = format!("body {name:?}");
        let above = (f64::MIN_POSITIVE, f64::MAX);
        check_range(&element, "the mass", inertia.mass, above, "above 0")?;
        check_finite(&element, "the pose", &pose.to_array())?;
        check_finite(&element, "the twist", &twist.to_array())?;
        let smallest = inertia.principal_moments()[0];
        check_range(&element, "the smallest principal moment", smallest, above, "above 0")?;
        let inverse = inertia.inertia.inverse();
        let inverse_inertia = (inverse + inverse.transpose()) * 0.5;
        let mut system = Matrix::zeros(6, 6);
        for i in 0..3 {
            system[(i, i)] = 1.0 / inertia.mass;
            for j in 0..3 {
                system[(3 + i, 3 + j)] = inverse_inertia.col(j)[i];
            }
        }
        let body = Self {
            name: name.clone(),
            body: add(&system)?,
            mass: inertia.mass,
            center: inertia.center_of_mass,
            inertia: inertia.inertia,
            inverse_inertia,
            is_isotropic: inertia.inertia
                == DMat3::from_diagonal(DVec3::splat(inertia.inertia.x_axis.x)),
            load: Wrench::ZERO,
        };
        Ok((body, RigidState::new(pose, *twist, inertia.center_of_mass)))
    }

    /// Centre of mass, body frame.
    pub(crate) fn center(&self) -> DVec3 {
        self.center
    }

    /// World from body.
    pub(crate) fn pose(&self, s: &RigidState) -> Pose {
        Pose { rotation: s.rotation, translation: s.position - s.rotation * self.center }
    }

    /// In the body's frame.
    pub(crate) fn twist(&self, s: &RigidState) -> Twist {
        let t = s.central_twist();
        Twist::new(t.linear - t.angular.cross(self.center), t.angular)
    }

    /// Twist (body axes, centre of mass) after a step of h if nothing touches the body.
    #[inline(always)]
    pub(crate) fn free(&self, s: &RigidState, frame: &Frame, gravity: DVec3, h: f64) -> Twist {
        let back = frame.axes.transpose();
        if self.load == Wrench::ZERO {
            return Twist::new(back * (s.velocity + gravity * h), s.omega);
        }
        let velocity = s.velocity + (gravity + self.load.force / self.mass) * h;
        let torque = back * self.load.torque;
        Twist::new(back * velocity, s.omega + self.inverse_inertia * torque * h)
    }

    /// Euler's equations without torque over h: I ω⁺ = exp(−h ω_m) I ω, ω_m = (ω + ω⁺)/2. With the
    /// rotation R⁺ = R exp(h ω_m) that keeps R I ω, and the energy too, as ω_mᵀ (exp(−h ω_m) − 1)
    /// = 0. By Newton's method from the explicit midpoint rule, whose error is of order (h‖ω‖)³,
    /// with the derivative of exp taken to first order: errors shrink by h‖ω‖ at least.
    #[inline(always)]
    fn gyroscopic(&self, omega: DVec3, h: f64) -> DVec3 {
        if self.is_isotropic {
            return omega;
        }
        let rate = |w: DVec3| self.inverse_inertia * (self.inertia * w).cross(w);
        let next = omega + rate(omega + rate(omega) * (0.5 * h)) * h;
        let turn = h * omega.length();
        if turn * turn * turn <= GYROSCOPIC_TOLERANCE {
            return next;
        }
        self.improved(omega, next, h)
    }

    /// Newton's method for [`Rigid::gyroscopic`].
    #[inline(always)]
    fn improved(&self, omega: DVec3, mut next: DVec3, h: f64) -> DVec3 {
        let (momentum, turn) = (self.inertia * omega, h * omega.length());
        for _ in 0..GYROSCOPIC_ITERATIONS {
            let rotated = exp_rotation((omega + next) * (-0.5 * h)) * momentum;
            let residual = self.inertia * next - rotated;
            let slope = self.inertia - skew(rotated) * (0.5 * h);
            let change = slope.inverse() * residual;
            next -= change;
            let left = change.length() * turn.min(1.0);
            if left <= GYROSCOPIC_TOLERANCE * omega.length() || change.is_nan() {
                break;
            }
        }
        next
    }

    /// The state after a step with the twist (body axes, centre of mass) that forces and contact
    /// left.
    #[inline(always)]
    pub(crate) fn advance(
        &self,
        s: &RigidState,
        frame: &Frame,
        twist: Twist,
        h: f64,
    ) -> RigidState {
        let velocity = frame.axes * twist.linear;
        let omega = self.gyroscopic(twist.angular, h);
        let turn = (twist.angular + omega) * (0.5 * h);
        RigidState {
            position: s.position + velocity * h,
            rotation: (s.rotation * exp_rotation(turn)).normalize(),
            velocity,
            omega,
        }
    }

    /// J.
    pub(crate) fn kinetic_energy(&self, s: &RigidState) -> f64 {
        0.5 * self.mass * s.velocity.length_squared() + 0.5 * s.omega.dot(self.inertia * s.omega)
    }

    /// J, zero at the world's origin.
    pub(crate) fn gravitational_energy(&self, s: &RigidState, gravity: DVec3) -> f64 {
        -self.mass * gravity.dot(s.position)
    }

    /// Linear momentum, and angular momentum about the world's origin; world axes.
    pub(crate) fn momentum(&self, s: &RigidState) -> (DVec3, DVec3) {
        let linear = s.velocity * self.mass;
        (linear, s.position.cross(linear) + s.rotation * (self.inertia * s.omega))
    }
}

/// Relative tolerance on the triangle inequality of principal moments.
const INERTIA_TOLERANCE: f64 = 1e-6;
/// Newton steps at most; three suffice where a step turns the body by less than a tenth of a
/// radian.
const GYROSCOPIC_ITERATIONS: usize = 12;
/// Error at which Newton's method ends, of |ω|.
const GYROSCOPIC_TOLERANCE: f64 = 4.0 * f64::EPSILON;
