//! A body by itself: Φ_ij = X_i I⁻¹ X_jᵀ and b_i at its handles (\[R06\] Eq. 3, EQUATIONS 1.2 and
//! 1.6).

use forks_mechanism::lie::{
    Wrench,
    glam::{DMat3, DVec3},
};

use super::{
    bodies::Body,
    kernel::{Block, Vec6, ZERO_BLOCK, packed},
    kinematics::Links,
};

/// A body's response without its joints, world axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyState {
    inverse_mass: f64,
    inverse_inertia: DMat3,
    /// Acceleration of the centre of mass, and angular acceleration.
    linear: DVec3,
    angular: DVec3,
    omega: DVec3,
}

impl BodyState {
    pub(super) const ZERO: Self = Self {
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        linear: DVec3::ZERO,
        angular: DVec3::ZERO,
        omega: DVec3::ZERO,
    };

    /// `external`: body wrenches of all links, or none; `carried`: force and torque about the
    /// centre of mass, world axes, from massless links folded into the body's connections.
    pub(super) fn new(
        body: &Body,
        links: &Links,
        gravity: DVec3,
        external: &[Wrench],
        carried: Wrench,
    ) -> Self {
        if body.link == 0 {
            return Self::ZERO;
        }
        let r = &links.rotation[body.link];
        let omega = links.omega[body.link];
        let mut force = gravity * body.weight + carried.force;
        let mut torque = (*r * body.weight_moment).cross(gravity) + carried.torque;
        if !external.is_empty() {
            for m in &body.members {
                let w = external[m.link];
                let (f, t) = (links.rotation[m.link] * w.force, links.rotation[m.link] * w.torque);
                force += f;
                torque += t + (*r * m.origin).cross(f);
            }
        }
        let in_body = r.transpose() * omega;
        let gyroscopic = in_body.cross(body.inertia.inertia * in_body);
        let inverse_inertia = *r * body.inverse_inertia * r.transpose();
        Self {
            inverse_mass: 1.0 / body.inertia.mass,
            inverse_inertia: symmetric(&inverse_inertia),
            linear: force / body.inertia.mass,
            angular: *r * (body.inverse_inertia * (r.transpose() * torque - gyroscopic)),
            omega,
        }
    }

    /// b at a point `r` from the centre of mass.
    #[inline]
    fn bias(&self, r: DVec3) -> Vec6 {
        let a = self.linear + self.angular.cross(r) + self.omega.cross(self.omega.cross(r));
        [a.x, a.y, a.z, self.angular.x, self.angular.y, self.angular.z]
    }

    /// Φ and b of one of several equal pieces of the body (`pieces` of them) at points from the
    /// centre of mass.
    pub(super) fn leaf(
        &self,
        pieces: f64,
        points: impl Iterator<Item = DVec3> + Clone,
        phi: &mut [Block],
        b: &mut [Vec6],
    ) {
        let m = b.len();
        let j = self.inverse_inertia * pieces;
        let inverse_mass = self.inverse_mass * pieces;
        for (i, r) in points.clone().enumerate() {
            b[i] = self.bias(r);
            let cross_j = crossed(r, &j);
            for (k, s) in points.clone().enumerate().skip(i) {
                phi[packed(m, i, k)] = block(inverse_mass, &j, &cross_j, s);
            }
        }
    }
}

fn symmetric(m: &DMat3) -> DMat3 {
    (*m + m.transpose()) * 0.5
}

/// r× m.
#[inline]
fn crossed(r: DVec3, m: &DMat3) -> DMat3 {
    DMat3::from_cols(r.cross(m.x_axis), r.cross(m.y_axis), r.cross(m.z_axis))
}

/// [[1/m − r× J s×, −r× J], [J s×, J]], given r× J.
#[inline]
fn block(inverse_mass: f64, j: &DMat3, cross_j: &DMat3, s: DVec3) -> Block {
    let mut out = ZERO_BLOCK;
    // Rows of (M s×) are the rows of M crossed with s: (M s×) x = M (s × x).
    let (a, c) = (cross_j.transpose(), j.transpose());
    for (i, (row_a, row_c)) in
        [a.x_axis, a.y_axis, a.z_axis].into_iter().zip([c.x_axis, c.y_axis, c.z_axis]).enumerate()
    {
        let (top, low) = (row_a.cross(s), row_c.cross(s));
        out[i] = [-top.x, -top.y, -top.z, -row_a.x, -row_a.y, -row_a.z];
        out[i][i] += inverse_mass;
        out[i + 3] = [low.x, low.y, low.z, row_c.x, row_c.y, row_c.z];
    }
    out
}
