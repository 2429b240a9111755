//! Tree coordinates as MuJoCo has them: velocities of free joints have a linear part in world axes,
//! those of planar joints are the rates of (x, y, angle).
//!
//! With v the mechanism's velocities (body twists) and u MuJoCo's, v = T u, T = diag(Rᵀ, 1) on
//! every such joint; v̇ = T u̇ − (ω × v_lin; 0).

use forks_mechanism::{
    JointKind, Mechanism,
    lie::{
        glam::{DQuat, DVec3},
        so3::{exp_rotation, quaternion_from_wxyz},
    },
    linalg::Matrix,
};

/// A joint whose linear velocities MuJoCo has in the parent's axes.
#[derive(Debug)]
struct Turned {
    /// Where its velocities start.
    first: usize,
    /// 3 for free joints, 2 for planar ones.
    linear: usize,
    /// R.
    rotation: DQuat,
}

impl Turned {
    fn linear(&self, x: &[f64]) -> DVec3 {
        let x = &x[self.first..];
        DVec3::new(x[0], x[1], if self.linear == 3 { x[2] } else { 0.0 })
    }

    fn angular(&self, x: &[f64]) -> DVec3 {
        let x = &x[self.first + self.linear..];
        if self.linear == 3 { DVec3::from_slice(x) } else { DVec3::Z * x[0] }
    }

    fn set_linear(&self, x: &mut [f64], value: DVec3) {
        x[self.first..][..self.linear].copy_from_slice(&value.to_array()[..self.linear]);
    }
}

/// The free and planar joints of a state.
#[derive(Debug)]
pub(crate) struct FreeJoints(Vec<Turned>);

impl FreeJoints {
    /// For tree positions `q`.
    pub(crate) fn new(m: &Mechanism, q: &[f64]) -> Self {
        let turned = |e: &forks_mechanism::TreeEdge| {
            let x = &q[m.position_range(e.joint)];
            let (linear, rotation) = match m.joint(e.joint).kind {
                JointKind::Free => (3, quaternion_from_wxyz([x[3], x[4], x[5], x[6]]).normalize()),
                JointKind::Planar => (2, exp_rotation(DVec3::Z * x[2])),
                _ => return None,
            };
            Some(Turned { first: m.velocity_range(e.joint).start, linear, rotation })
        };
        Self(m.forest().edges().iter().filter_map(turned).collect())
    }

    /// v from u.
    pub(crate) fn to_body(&self, u: &mut [f64]) {
        for t in &self.0 {
            t.set_linear(u, t.rotation.conjugate() * t.linear(u));
        }
    }

    /// u from v; generalised forces too (T is orthogonal).
    pub(crate) fn to_world(&self, v: &mut [f64]) {
        for t in &self.0 {
            t.set_linear(v, t.rotation * t.linear(v));
        }
    }

    /// ω × v_lin of every free or planar joint, zero elsewhere.
    fn transport(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        for t in &self.0 {
            t.set_linear(&mut out, t.angular(v).cross(t.linear(v)));
        }
        out
    }

    /// u̇ from v̇ at v.
    pub(crate) fn acceleration(&self, v: &[f64], a: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = a.iter().zip(self.transport(v)).map(|(a, t)| a + t).collect();
        self.to_world(&mut out);
        out
    }

    /// Tᵀ (b − M (ω × v; 0)).
    pub(crate) fn bias(&self, v: &[f64], mass: &Matrix, bias: &[f64]) -> Vec<f64> {
        let carried = mass.mul_vec(&self.transport(v));
        let mut out: Vec<f64> = bias.iter().zip(carried).map(|(b, c)| b - c).collect();
        self.to_world(&mut out);
        out
    }

    /// Tᵀ M T.
    pub(crate) fn mass(&self, mass: &Matrix) -> Matrix {
        let mut half = mass.clone();
        (0..half.rows()).for_each(|i| self.to_world(half.row_mut(i)));
        let mut full = half.transpose();
        (0..full.rows()).for_each(|i| self.to_world(full.row_mut(i)));
        full
    }
}
