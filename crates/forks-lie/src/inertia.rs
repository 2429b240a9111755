//! Spatial inertia of a rigid body.

use forks_linalg::{Accuracy, jacobi};

use glam::{DMat3, DVec3};

use crate::{Digits, DigitsOf, Mat6, Pose, SymMat6, Twist, Wrench, skew};

/// Mass, centre of mass and rotational inertia of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpatialInertia {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in the body frame, m.
    pub center_of_mass: DVec3,
    /// Inertia tensor about the centre of mass, in the axes of the body frame, kg·m².
    pub inertia: DMat3,
}

/// What double precision leaves where numbers of the size m r² cancel.
const ROUNDING: f64 = 1e-12;

/// What is wrong with an inertia.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InertiaError {
    /// A number is NaN or infinite.
    #[error("mass, centre of mass or inertia tensor is not finite")]
    NotFinite,
    /// The mass is negative.
    #[error("mass {} kg is negative", Digits(*.0))]
    NegativeMass(f64),
    /// The tensor is not positive semi-definite; the smallest principal moment is given.
    #[error("inertia tensor is not positive semi-definite: principal moment {} kg m²", Digits(*.0))]
    NotPositive(f64),
    /// The principal moments (ascending) violate A + B ≥ C.
    #[error("principal moments {} kg m² violate the triangle inequality", DigitsOf(.0))]
    TriangleInequality([f64; 3]),
}

impl SpatialInertia {
    /// No mass, no inertia.
    pub const ZERO: Self = Self { mass: 0.0, center_of_mass: DVec3::ZERO, inertia: DMat3::ZERO };

    /// A body of given mass, centre of mass and tensor about it, in body axes.
    pub const fn new(mass: f64, center_of_mass: DVec3, inertia: DMat3) -> Self {
        Self { mass, center_of_mass, inertia }
    }

    /// From (mass, centre of mass x y z, tensor xx yy zz xy xz yz), the order of MJCF's
    /// `fullinertia`.
    pub fn from_array(a: [f64; 10]) -> Self {
        let [mass, x, y, z, ixx, iyy, izz, ixy, ixz, iyz] = a;
        let inertia = DMat3::from_cols(
            DVec3::new(ixx, ixy, ixz),
            DVec3::new(ixy, iyy, iyz),
            DVec3::new(ixz, iyz, izz),
        );
        Self::new(mass, DVec3::new(x, y, z), inertia)
    }

    /// As (mass, centre of mass x y z, tensor xx yy zz xy xz yz), from the tensor's upper triangle.
    pub fn to_array(&self) -> [f64; 10] {
        let (c, i) = (self.center_of_mass, &self.inertia);
        [
            self.mass, c.x, c.y, c.z, i.x_axis.x, i.y_axis.y, i.z_axis.z, i.y_axis.x, i.z_axis.x,
            i.z_axis.y,
        ]
    }

    /// Kinetic energy of the body moving with a twist, J.
    pub fn kinetic_energy(&self, t: Twist) -> f64 {
        0.5 * self.apply(t).dot(t)
    }

    /// True if mass and tensor are zero.
    pub fn is_zero(&self) -> bool {
        self.mass == 0.0 && self.inertia == DMat3::ZERO
    }

    /// The 6×6 matrix about the frame's origin: `[[m 1, −m c×], [m c×, I − m c×²]]`.
    pub fn matrix(&self) -> SymMat6 {
        let c = skew(self.center_of_mass);
        let m = self.mass;
        SymMat6::symmetric_part(&Mat6::from_blocks(
            DMat3::from_diagonal(DVec3::splat(m)),
            c * -m,
            c * m,
            self.inertia - c * c * m,
        ))
    }

    /// Momentum (as a wrench) of the body moving with a twist.
    pub fn apply(&self, t: Twist) -> Wrench {
        let c = self.center_of_mass;
        let momentum = (t.linear + t.angular.cross(c)) * self.mass;
        Wrench::new(momentum, self.inertia * t.angular + c.cross(momentum))
    }

    /// The same body described in frame `a`, for `self` given in frame `b` and the pose `a_from_b`.
    pub fn transformed(&self, a_from_b: &Pose) -> Self {
        let r = DMat3::from_quat(a_from_b.rotation);
        Self::new(
            self.mass,
            a_from_b.transform_point(self.center_of_mass),
            symmetric(r * self.inertia * r.transpose()),
        )
    }

    /// Two bodies joined rigidly, both given in the same frame.
    pub fn combined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return Self::new(0.0, self.center_of_mass, self.inertia + other.inertia);
        }
        let center = (self.center_of_mass * self.mass + other.center_of_mass * other.mass) / mass;
        let about = |b: &Self| {
            let d = skew(b.center_of_mass - center);
            b.inertia - d * d * b.mass
        };
        Self::new(mass, center, about(self) + about(other))
    }

    /// Principal moments about the centre of mass, ascending.
    pub fn principal_moments(&self) -> [f64; 3] {
        symmetric_eigenvalues(self.inertia)
    }

    /// Checks that the numbers can belong to a body whose size is the distance of its centre of
    /// mass from its frame; see [`SpatialInertia::validate_at_size`].
    pub fn validate(&self, tolerance: f64) -> Result<(), InertiaError> {
        let size = self.center_of_mass.length();
        self.validate_at_size(tolerance, size, size)
    }

    /// Checks that the numbers can belong to a body. `size` is how far the body reaches from its
    /// frame (m), `reach` that of the whole mechanism.
    ///
    /// `tolerance` covers the rounding of a tensor written to a file, relative to the sum of its
    /// entries: the noise of one entry is that of the others. A + B ≥ C may be violated by
    /// `tolerance` m size² too, since single precision about another point leaves that much, and
    /// where A is not negative the mass matrix stays positive. A negative moment may be as large as
    /// what double precision leaves of m reach², 10⁻¹² of it.
    pub fn validate_at_size(
        &self,
        tolerance: f64,
        size: f64,
        reach: f64,
    ) -> Result<(), InertiaError> {
        let finite = self.mass.is_finite()
            && self.center_of_mass.is_finite()
            && self.inertia.to_cols_array().iter().all(|x| x.is_finite());
        if !finite {
            return Err(InertiaError::NotFinite);
        }
        if self.mass < 0.0 {
            return Err(InertiaError::NegativeMass(self.mass));
        }
        let p = self.principal_moments();
        let entries: f64 =
            self.inertia.to_cols_array().iter().map(|x| if *x < 0.0 { -x } else { *x }).sum();
        let slack = tolerance * entries + ROUNDING * self.mass * reach * reach;
        if p[0] < -slack {
            return Err(InertiaError::NotPositive(p[0]));
        }
        if p[0] + p[1] < p[2] - slack - tolerance * self.mass * size * size {
            return Err(InertiaError::TriangleInequality(p));
        }
        Ok(())
    }
}

impl From<[f64; 10]> for SpatialInertia {
    fn from(a: [f64; 10]) -> Self {
        Self::from_array(a)
    }
}

impl From<SpatialInertia> for [f64; 10] {
    fn from(i: SpatialInertia) -> Self {
        i.to_array()
    }
}

/// ½(m + mᵀ).
fn symmetric(m: DMat3) -> DMat3 {
    (m + m.transpose()) * 0.5
}

/// Eigenvalues of a symmetric 3×3 matrix, ascending.
fn symmetric_eigenvalues(m: DMat3) -> [f64; 3] {
    let (mut a, mut vectors) = (symmetric(m).to_cols_array(), [0.0; 9]);
    jacobi(3, &mut a, &mut vectors, Accuracy::Entries);
    let mut e = [a[0], a[4], a[8]];
    e.sort_by(f64::total_cmp);
    e
}
