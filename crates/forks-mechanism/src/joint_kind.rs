//! What motion a joint allows, and its coordinates.

use forks_lie::{
    Pose, Twist,
    glam::{DQuat, DVec3},
    se3::{right_jacobian, right_jacobian_derivative, right_jacobian_inverse},
    so3::{exp_rotation, quaternion_from_wxyz, wxyz_from_quaternion},
};
use forks_linalg::Matrix;

use crate::spring::JointMatrix;

/// The motion that a joint allows, in the joint's frame.
///
/// | kind | positions q | velocities θ̇ |
/// |---|---|---|
/// | fixed | – | – |
/// | revolute | angle | its rate |
/// | prismatic | displacement | its rate |
/// | cylindrical | displacement, angle | their rates |
/// | universal | first angle, second angle | their rates |
/// | spherical | quaternion w, x, y, z | body angular velocity |
/// | planar | x, y, angle in the plane | body velocity (x, y, angle) |
/// | free | position x, y, z, quaternion w, x, y, z | body twist |
/// | general | exponential coordinates θ: motion exp(Sθ) | θ̇ |
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// No motion.
    Fixed,
    /// Rotation about an axis through the joint frame's origin.
    Revolute {
        /// Unit axis.
        axis: DVec3,
    },
    /// Translation along an axis.
    Prismatic {
        /// Unit axis.
        axis: DVec3,
    },
    /// Translation along and rotation about the same axis.
    Cylindrical {
        /// Unit axis.
        axis: DVec3,
    },
    /// Rotation about an axis of the parent, then about one of the child.
    Universal {
        /// Unit axis fixed in the parent.
        first: DVec3,
        /// Unit axis fixed in the child.
        second: DVec3,
    },
    /// Any rotation about the origin.
    Spherical,
    /// Translation in the x–y plane of the joint frame and rotation about its z axis.
    Planar,
    /// Any motion.
    Free,
    /// Motion exp(Sθ) with independent columns S.
    General {
        /// The columns of S, at most six.
        subspace: Vec<Twist>,
    },
}

/// Up to six joint-space columns, as twists of the child in the child-side frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointColumns {
    columns: [Twist; 6],
    dof: usize,
}

impl JointColumns {
    /// No columns.
    pub const EMPTY: Self = Self { columns: [Twist::ZERO; 6], dof: 0 };

    fn from_slice(c: &[Twist]) -> Self {
        let mut out = Self::EMPTY;
        out.columns[..c.len()].copy_from_slice(c);
        out.dof = c.len();
        out
    }

    /// The columns.
    #[inline]
    pub fn as_slice(&self) -> &[Twist] {
        &self.columns[..self.dof]
    }

    /// Every column mapped.
    pub fn map(mut self, f: impl Fn(Twist) -> Twist) -> Self {
        for c in &mut self.columns[..self.dof] {
            *c = f(*c);
        }
        self
    }

    /// Σ columnᵢ vᵢ.
    pub fn combine(&self, v: &[f64]) -> Twist {
        let mut t = Twist::ZERO;
        for (c, s) in self.as_slice().iter().zip(v) {
            t += *c * *s;
        }
        t
    }
}

impl JointKind {
    /// Number of position coordinates.
    pub fn position_count(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Cylindrical { .. } | Self::Universal { .. } => 2,
            Self::Planar => 3,
            Self::Spherical => 4,
            Self::Free => 7,
            Self::General { subspace } => subspace.len(),
        }
    }

    /// Number of velocity coordinates d.
    pub fn dof(&self) -> usize {
        match self {
            Self::Spherical => 3,
            Self::Free => 6,
            other => other.position_count(),
        }
    }

    /// True if position coordinates are plain numbers whose rates are the velocities.
    pub fn has_scalar_coordinates(&self) -> bool {
        !matches!(self, Self::Spherical | Self::Planar | Self::Free)
    }

    /// Lower-case name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::Cylindrical { .. } => "cylindrical",
            Self::Universal { .. } => "universal",
            Self::Spherical => "spherical",
            Self::Planar => "planar",
            Self::Free => "free",
            Self::General { .. } => "general",
        }
    }

    /// Position coordinates of the zero pose.
    pub fn zero_positions(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.position_count()];
        match self {
            Self::Spherical => q[0] = 1.0,
            Self::Free => q[3] = 1.0,
            _ => {}
        }
        q
    }

    /// The motion of the child-side joint frame relative to the parent-side one.
    pub fn motion(&self, q: &[f64]) -> Pose {
        match self {
            Self::Fixed => Pose::IDENTITY,
            Self::Revolute { axis } => Pose::from_rotation(exp_rotation(*axis * q[0])),
            Self::Prismatic { axis } => Pose::from_translation(*axis * q[0]),
            Self::Cylindrical { axis } => Pose::new(exp_rotation(*axis * q[1]), *axis * q[0]),
            Self::Universal { first, second } => {
                Pose::from_rotation(exp_rotation(*first * q[0]) * exp_rotation(*second * q[1]))
            }
            Self::Spherical => Pose::from_rotation(quaternion(q)),
            Self::Planar => Pose::new(exp_rotation(DVec3::Z * q[2]), DVec3::new(q[0], q[1], 0.0)),
            Self::Free => Pose::new(quaternion(&q[3..7]), DVec3::new(q[0], q[1], q[2])),
            Self::General { subspace } => Pose::exp(combine(subspace, q)),
        }
    }

    /// Columns that map θ̇ to the twist of the child-side frame relative to the parent-side one, in
    /// the child-side frame.
    pub fn columns(&self, q: &[f64]) -> JointColumns {
        let rotation = |a: DVec3| Twist::new(DVec3::ZERO, a);
        let translation = |a: DVec3| Twist::new(a, DVec3::ZERO);
        match self {
            Self::Fixed => JointColumns::EMPTY,
            Self::Revolute { axis } => JointColumns::from_slice(&[rotation(*axis)]),
            Self::Prismatic { axis } => JointColumns::from_slice(&[translation(*axis)]),
            Self::Cylindrical { axis } => {
                JointColumns::from_slice(&[translation(*axis), rotation(*axis)])
            }
            Self::Universal { first, second } => JointColumns::from_slice(&[
                rotation(exp_rotation(*second * -q[1]) * *first),
                rotation(*second),
            ]),
            Self::Spherical => JointColumns::from_slice(&[
                rotation(DVec3::X),
                rotation(DVec3::Y),
                rotation(DVec3::Z),
            ]),
            Self::Planar => JointColumns::from_slice(&[
                translation(DVec3::X),
                translation(DVec3::Y),
                rotation(DVec3::Z),
            ]),
            Self::Free => JointColumns::from_slice(&core::array::from_fn::<_, 6, _>(Twist::unit)),
            Self::General { subspace } => {
                let j = right_jacobian(combine(subspace, q));
                let mut out = JointColumns::from_slice(subspace);
                for c in &mut out.columns[..out.dof] {
                    *c = Twist::from_array(j.mul_vec(&c.to_array()));
                }
                out
            }
        }
    }

    /// Second derivatives of ξ(δ) = log(motion(q)⁻¹ motion(q ⊞ δ)) at δ = 0 contracted with a
    /// wrench in the child-side frame: Bᵢⱼ = w · ∂²ξ/∂δᵢ∂δⱼ. `None` where it is zero for every
    /// wrench.
    pub fn curvature(&self, q: &[f64], w: forks_lie::Wrench) -> Option<JointMatrix> {
        match self {
            Self::Universal { .. } => {
                let c = self.columns(q);
                let mut b = JointMatrix::zeros(2);
                b.set(0, 1, 0.5 * c.as_slice()[0].ad(c.as_slice()[1]).dot(w));
                Some(b)
            }
            Self::General { subspace } if subspace.len() > 1 => {
                let xi = combine(subspace, q);
                let mut b = JointMatrix::zeros(subspace.len());
                for i in 0..subspace.len() {
                    let d = right_jacobian_derivative(xi, subspace[i]);
                    for j in 0..subspace.len() {
                        let x = Twist::from_array(d.mul_vec(&subspace[j].to_array())).dot(w);
                        b.as_mut_slice()[i * subspace.len() + j] += 0.5 * x;
                        b.as_mut_slice()[j * subspace.len() + i] += 0.5 * x;
                    }
                }
                Some(b)
            }
            _ => None,
        }
    }

    /// The displacement that leads from `from` to `to`: the difference of plain coordinates, the
    /// logarithm of the relative motion for spherical, planar and free joints.
    pub fn difference(&self, from: &[f64], to: &[f64]) -> Vec<f64> {
        if self.has_scalar_coordinates() {
            return from.iter().zip(to).map(|(a, b)| b - a).collect();
        }
        let t = self.motion(from).twist_to(&self.motion(to));
        self.coordinates_of(t)
    }

    /// Derivative of [`JointKind::difference`] by the velocity at `to`, d × d: the identity for
    /// plain coordinates, the inverse of the right Jacobian for spherical, planar and free joints.
    pub fn difference_rate(&self, from: &[f64], to: &[f64]) -> Matrix {
        if self.has_scalar_coordinates() {
            return Matrix::identity(self.dof());
        }
        let inverse = right_jacobian_inverse(self.motion(from).twist_to(&self.motion(to)));
        let columns = self.columns(to);
        let rates: Vec<Vec<f64>> = columns
            .as_slice()
            .iter()
            .map(|c| self.coordinates_of(Twist::from_array(inverse.mul_vec(&c.to_array()))))
            .collect();
        Matrix::from_fn(rates.len(), rates.len(), |i, j| rates[j][i])
    }

    /// The coordinates of a twist that lies in the span of a group joint's columns.
    pub(crate) fn coordinates_of(&self, t: Twist) -> Vec<f64> {
        match self {
            Self::Spherical => t.angular.to_array().to_vec(),
            Self::Planar => vec![t.linear.x, t.linear.y, t.angular.z],
            Self::Free => t.to_array().to_vec(),
            _ => unreachable!("only spherical, planar and free joints have twist coordinates"),
        }
    }

    /// Moves positions along velocities `v` for unit time: q ⊞ v.
    pub fn integrate(&self, q: &mut [f64], v: &[f64]) {
        match self {
            Self::Spherical => {
                let r = quaternion(q) * exp_rotation(DVec3::new(v[0], v[1], v[2]));
                q.copy_from_slice(&wxyz_from_quaternion(r.normalize()));
            }
            Self::Planar => {
                let step = Twist::new(DVec3::new(v[0], v[1], 0.0), DVec3::new(0.0, 0.0, v[2]));
                let translation = (self.motion(q) * Pose::exp(step)).translation;
                q[0] = translation.x;
                q[1] = translation.y;
                q[2] += v[2];
            }
            Self::Free => {
                let step = Twist::from_array([v[0], v[1], v[2], v[3], v[4], v[5]]);
                let p = self.motion(q).displaced(step);
                q[..3].copy_from_slice(&p.translation.to_array());
                q[3..].copy_from_slice(&wxyz_from_quaternion(p.rotation));
            }
            _ => q.iter_mut().zip(v).for_each(|(q, v)| *q += v),
        }
    }

    /// The coordinates whose motion is closest to `motion`; angles in (−π, π].
    ///
    /// Exact where the joint allows the motion (general joints: with a rotation angle below π);
    /// otherwise rotations and translations are projected on the joint's directions, for universal
    /// and general joints such that the twist that is left is smallest.
    pub fn closest_positions(&self, motion: &Pose) -> Vec<f64> {
        let angle_about = |q: DQuat, axis: DVec3| {
            let s = DVec3::new(q.x, q.y, q.z).dot(axis);
            let a = 2.0 * s.atan2(q.w);
            if a > core::f64::consts::PI {
                a - 2.0 * core::f64::consts::PI
            } else if a <= -core::f64::consts::PI {
                a + 2.0 * core::f64::consts::PI
            } else {
                a
            }
        };
        let (r, p) = (motion.rotation, motion.translation);
        match self {
            Self::Fixed => vec![],
            Self::Revolute { axis } => vec![angle_about(r, *axis)],
            Self::Prismatic { axis } => vec![p.dot(*axis)],
            Self::Cylindrical { axis } => vec![p.dot(*axis), angle_about(r, *axis)],
            Self::Spherical => wxyz_from_quaternion(r).to_vec(),
            Self::Planar => vec![p.x, p.y, angle_about(r, DVec3::Z)],
            Self::Free => {
                let mut q = p.to_array().to_vec();
                q.extend(wxyz_from_quaternion(r));
                q
            }
            Self::Universal { first, second } => {
                // The second rotation leaves its own axis alone, so the first takes it to R·second.
                let (from, to) = (*second, r * *second);
                let sine = first.dot(from.cross(to));
                let cosine = from.reject_from_normalized(*first).dot(to);
                let q0 = sine.atan2(cosine);
                let rest = exp_rotation(*first * -q0) * r;
                self.gauss_newton_positions(motion, vec![q0, angle_about(rest, *second)])
            }
            Self::General { subspace } => {
                let columns = Matrix::from_fn(6, subspace.len(), |i, j| subspace[j].to_array()[i]);
                let guess =
                    forks_linalg::dense::min_norm_solve(&columns, &motion.log().to_array(), 1e-12);
                self.gauss_newton_positions(motion, guess)
            }
        }
    }

    /// Least-squares fit of plain coordinates by Gauss–Newton steps on the twist that is left.
    fn gauss_newton_positions(&self, motion: &Pose, mut q: Vec<f64>) -> Vec<f64> {
        for _ in 0..50 {
            let gap = self.motion(&q).twist_to(motion).to_array();
            let columns = self.columns(&q);
            let c = columns.as_slice();
            let j = Matrix::from_fn(6, c.len(), |i, k| c[k].to_array()[i]);
            let step = forks_linalg::dense::min_norm_solve(&j, &gap, 1e-12);
            let mut settled = true;
            for (q, s) in q.iter_mut().zip(&step) {
                *q += s;
                settled &= s.abs() <= 4.0 * f64::EPSILON * (1.0 + q.abs());
            }
            if settled {
                break;
            }
        }
        q
    }
}

fn quaternion(q: &[f64]) -> DQuat {
    quaternion_from_wxyz([q[0], q[1], q[2], q[3]])
}

fn combine(columns: &[Twist], q: &[f64]) -> Twist {
    columns.iter().zip(q).fold(Twist::ZERO, |sum, (c, s)| sum + *c * *s)
}
