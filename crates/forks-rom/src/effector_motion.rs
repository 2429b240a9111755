//! Where the effectors of a single model are and how fast, for contact: poses, and rows of Jacobians on effector rates.
//!
//! All in world axes: with ξ' = (v; ω) = B' η an effector has moved by V(ω) v and turned by exp(ω̂), as in
//! [`effectors`](crate::effectors). The velocity of its origin and its angular velocity are, with Q = ∂(V v)/∂ω,
//!
//! ```text
//! ṗ = V v̇ + Q ω̇,  Ω = V ω̇
//! V = (1 − c ω²) + b ω̂ + c ω ωᵀ
//! Q = −(b v + c ω×v)^ + c (v·ω) + k ωᵀ,  k = 2 b' ω×v + 2 c' ω×(ω×v) − c v
//! ```
//!
//! where b = (1 − cos θ)/θ², c = (θ − sin θ)/θ³, b' and c' are their derivatives by θ², and ^ makes cross products.

use forks_lie::{Lanes, Matrix, Pose, Twist, Vectors, glam::DVec3};

use crate::{
    Isa, ReducedModel, State,
    effectors::{Coefficients, WorldTwist},
    kernel::{self, Kernel},
};

/// Pose and motion of an effector.
#[derive(Clone, Copy, Debug)]
pub struct EffectorMotion {
    /// World from effector.
    pub pose: Pose,
    /// B' η̇, world axes: see [`ReducedModel::effector_map`].
    pub rates: [f64; 6],
    /// ω.
    turn: DVec3,
    /// 1 − c ω², b and c: V.
    along: [f64; 3],
    /// b v + c ω×v.
    across: DVec3,
    /// c (v·ω).
    scale: f64,
    /// k.
    pull: DVec3,
    isa: Isa,
}

impl EffectorMotion {
    #[inline(always)]
    fn new(pose: Pose, twist: &WorldTwist, rate: &WorldTwist, of: &Coefficients, isa: Isa) -> Self {
        let (v, o, Coefficients { b, c, db, dc }) = (twist.linear, twist.angular, *of);
        let ([x, y, z], [p, q, r]) = (rate.linear.to_array(), rate.angular.to_array());
        let once = o.cross(v);
        Self {
            pose,
            rates: [x, y, z, p, q, r],
            turn: o,
            along: [1.0 - c * o.length_squared(), b, c],
            across: v * b + once * c,
            scale: c * v.dot(o),
            pull: (once * db + o.cross(once) * dc) * 2.0 - v * c,
            isa,
        }
    }

    /// Columns, one per rate of B' η̇, of the power of up to four wrenches at the effector's origin, in world axes: the velocity
    /// of a point p along n is the row of the force n and the torque (p − origin) × n, times [`EffectorMotion::rates`].
    pub fn columns(&self, force: &Vectors, torque: &Vectors) -> [Lanes; 6] {
        self.isa.run(Columns { motion: self, force, torque })
    }

    #[inline(always)]
    fn columns_here(&self, force: &Vectors, torque: &Vectors) -> [Lanes; 6] {
        let linear = self.pulled(force);
        let turned = force.scaled(self.scale).plus(&force.crossed_by(self.across));
        let turned = turned.plus_along(self.turn, force.dot(self.pull)).plus(&self.pulled(torque));
        [linear.x, linear.y, linear.z, turned.x, turned.y, turned.z]
    }

    /// Vᵀ x.
    #[inline(always)]
    fn pulled(&self, x: &Vectors) -> Vectors {
        let [one, b, c] = self.along;
        let across = x.crossed_by(self.turn * -b);
        x.scaled(one).plus(&across).plus_along(self.turn * c, x.dot(self.turn))
    }

    /// V x.
    #[inline]
    fn carried(&self, x: DVec3) -> DVec3 {
        let [one, b, c] = self.along;
        x * one + self.turn.cross(x) * b + self.turn * (c * self.turn.dot(x))
    }

    /// Velocity of the effector's origin and its angular velocity, world axes.
    #[inline]
    pub fn velocity(&self) -> (DVec3, DVec3) {
        let [x, y, z, p, q, r] = self.rates;
        let (dv, d_o) = (DVec3::new(x, y, z), DVec3::new(p, q, r));
        let turned = d_o * self.scale - self.across.cross(d_o) + self.pull * self.turn.dot(d_o);
        (self.carried(dv) + turned, self.carried(d_o))
    }

    /// Twist of the effector in its own frame.
    pub fn body_twist(&self) -> Twist {
        let back = self.pose.rotation.conjugate();
        let (linear, angular) = self.velocity();
        Twist::new(back * linear, back * angular)
    }
}

impl ReducedModel {
    /// B' of an effector, 6 × n_η: what η̇ moves it by in the linearisation pose, world axes, linear part first. Constant.
    pub fn effector_map(&self, e: usize) -> Matrix {
        let columns = self.effector_blocks().columns(e);
        Matrix::from_fn(6, self.dof(), |i, j| columns[2 * j + i / 3].0[i % 3])
    }

    /// Poses and motions of all effectors, handed over one after the other. Allocates nothing.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn effector_motions(&self, state: &State, each: impl FnMut(usize, EffectorMotion)) {
        assert_eq!(state.dof, self.dof(), "coordinates of the state");
        self.isa().run(Motions { model: self, state, each });
    }
}

/// Columns as a kernel: nothing in them is fused, only wider.
struct Columns<'a> {
    motion: &'a EffectorMotion,
    force: &'a Vectors,
    torque: &'a Vectors,
}

impl Kernel for Columns<'_> {
    type Output = [Lanes; 6];

    #[inline(always)]
    fn run<L: kernel::Lanes>(self, _: L) -> [Lanes; 6] {
        self.motion.columns_here(self.force, self.torque)
    }
}

/// All effectors as a kernel.
struct Motions<'a, F> {
    model: &'a ReducedModel,
    state: &'a State,
    each: F,
}

impl<F: FnMut(usize, EffectorMotion)> Kernel for Motions<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: kernel::Lanes>(self, l: L) {
        let Self { model, state, mut each } = self;
        let blocks = model.effector_blocks();
        for (e, effector) in model.data().effectors.iter().enumerate() {
            let rest = &effector.rest;
            let twist = blocks.twist(l, e, &state.eta[..state.dof]);
            let rate = blocks.twist(l, e, &state.velocity[..state.dof]);
            let coefficients = Coefficients::at(l, twist.angular.length_squared());
            let rotation = twist.rotation(l) * rest.rotation;
            let translation = rest.translation + twist.displacement_by(&coefficients);
            let pose = Pose { rotation, translation };
            each(e, EffectorMotion::new(pose, &twist, &rate, &coefficients, model.isa()));
        }
    }
}

#[cfg(test)]
mod tests {
    use forks_lie::right_jacobian;

    use super::*;
    use crate::kernel::Portable;

    #[test]
    fn rows_and_velocities_are_those_of_the_right_jacobian() {
        let axis = DVec3::new(0.48, -0.6, 0.64);
        let linear = DVec3::new(0.4, 0.9, -0.7);
        let rate =
            WorldTwist { linear: DVec3::new(-0.2, 1.1, 0.5), angular: DVec3::new(0.8, 0.3, -1.2) };
        let (force, torque) = (DVec3::new(3.0, -1.0, 2.0), DVec3::new(0.5, 1.5, -0.8));
        for angle in [0.0, 1e-9, 1e-4, 0.1, 1.0, 2.5, 3.13, 3.15, 4.0, 6.0] {
            let twist = WorldTwist { linear, angular: axis * angle };
            let xi = Twist::new(linear, twist.angular);
            let (pose, jacobian) = (Pose::exp(xi), right_jacobian(xi));
            let of = Coefficients::at(Portable, twist.angular.length_squared());
            let motion = EffectorMotion::new(pose, &twist, &rate, &of, Isa::Portable);
            let body = jacobian.mul_vec(&Twist::new(rate.linear, rate.angular).to_array());
            // Some dozens of products of numbers of size 10.
            let bound = 640.0 * f64::EPSILON;
            for (x, y) in motion.body_twist().to_array().iter().zip(body) {
                assert!((x - y).abs() < bound, "{angle}");
            }
            let (v, w) = motion.velocity();
            let columns = motion.columns(
                &Vectors::of_three([force, DVec3::X, -force]),
                &Vectors::of_three([torque, DVec3::Y, -torque]),
            );
            let of =
                |i: usize| columns.iter().zip(motion.rates).map(|(c, x)| c[i] * x).sum::<f64>();
            let (power, other) = (of(0), of(1));
            assert!((of(2) + power).abs() < bound && (other - v.x - w.y).abs() < bound);
            assert!((power - force.dot(v) - torque.dot(w)).abs() < bound, "{angle}");
        }
    }
}
