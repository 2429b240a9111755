//! Tree coordinates as MuJoCo has them: velocities of free joints have a linear part in world axes.
//!
//! With v the mechanism's velocities (body twists) and u MuJoCo's, v = T u, T = diag(Rᵀ, 1) on every free
//! joint; v̇ = T u̇ − (ω × v_lin; 0).

use forks_mechanism::{
    JointKind, Mechanism,
    dense::Matrix,
    lie::{
        glam::{DQuat, DVec3},
        quaternion_from_wxyz,
    },
};

/// The free joints of a state: where their velocities start, and their rotation R.
#[derive(Debug)]
pub(crate) struct FreeJoints(Vec<(usize, DQuat)>);

impl FreeJoints {
    /// For tree positions `q`.
    pub(crate) fn new(m: &Mechanism, q: &[f64]) -> Self {
        let free = |e: &forks_mechanism::TreeEdge| {
            let range = m.position_range(e.joint);
            matches!(m.joint(e.joint).kind, JointKind::Free).then(|| {
                let x = &q[range.start + 3..range.end];
                let rotation = quaternion_from_wxyz([x[0], x[1], x[2], x[3]]).normalize();
                (m.velocity_range(e.joint).start, rotation)
            })
        };
        Self(m.forest().edges().iter().filter_map(free).collect())
    }

    fn turn(&self, x: &mut [f64], back: bool) {
        for (first, r) in &self.0 {
            let r = if back { r.conjugate() } else { *r };
            let turned = r * DVec3::from_slice(&x[*first..]);
            x[*first..first + 3].copy_from_slice(&turned.to_array());
        }
    }

    /// v from u.
    pub(crate) fn to_body(&self, u: &mut [f64]) {
        self.turn(u, true);
    }

    /// u from v; generalised forces too (T is orthogonal).
    pub(crate) fn to_world(&self, v: &mut [f64]) {
        self.turn(v, false);
    }

    /// ω × v_lin of every free joint, zero elsewhere.
    fn transport(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        for (first, _) in &self.0 {
            let linear = DVec3::from_slice(&v[*first..]);
            let angular = DVec3::from_slice(&v[first + 3..]);
            out[*first..first + 3].copy_from_slice(&angular.cross(linear).to_array());
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
