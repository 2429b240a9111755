//! Where the effectors of a single model are and how fast, for contact: poses, and rows of Jacobians on effector rates.
//!
//! All in world axes: with ξ' = B' η (linear part first) an effector has moved by V(ω') v' and turned by exp(ω̂'), as in
//! [`effectors`](crate::effectors). A wrench at its displaced origin has the generalised force J_r(ξ')ᵀ w on ξ', which is
//! the row of a Jacobian on the rates B' η̇.

use forks_lie::{Matrix, Pose, Twist, glam::DVec3};

use crate::{
    ReducedModel, State,
    effectors::{Coefficients, WorldTwist, WorldWrench},
    kernel::{Kernel, Lanes},
};

/// Pose and motion of an effector.
#[derive(Clone, Copy, Debug)]
pub struct EffectorMotion {
    /// World from effector.
    pub pose: Pose,
    /// B' η̇, world axes: see [`ReducedModel::effector_map`].
    pub rates: [f64; 6],
    twist: WorldTwist,
    coefficients: Coefficients,
}

impl Default for EffectorMotion {
    /// The world's frame, at rest.
    fn default() -> Self {
        Self {
            pose: Pose::IDENTITY,
            rates: [0.0; 6],
            twist: WorldTwist { linear: DVec3::ZERO, angular: DVec3::ZERO },
            coefficients: Coefficients::at_rest(),
        }
    }
}

impl EffectorMotion {
    /// Row over B' η̇ of the power of a wrench at the effector's origin, in world axes: the velocity of a point p along n is
    /// the row of the force n and the torque (p − origin) × n, times [`EffectorMotion::rates`].
    #[inline]
    pub fn row(&self, force: DVec3, torque: DVec3) -> [f64; 6] {
        let g = self.twist.pull_back_by(&self.coefficients, &WorldWrench { force, torque });
        let ([a, b, c], [d, e, f]) = (g.force.to_array(), g.torque.to_array());
        [a, b, c, d, e, f]
    }

    /// Velocity of the effector's origin and its angular velocity, world axes.
    #[inline]
    pub fn velocity(&self) -> (DVec3, DVec3) {
        let [a, b, c, d, e, f] = self.rates;
        let (v, o) = (self.twist.linear, self.twist.angular);
        let (dv, d_o) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
        let Coefficients { b, c, db, dc } = self.coefficients;
        // Of v + b ω×v + c ω×(ω×v); b and c depend on ω².
        let once = o.cross(v);
        let d_once = d_o.cross(v) + o.cross(dv);
        let growth = 2.0 * o.dot(d_o);
        let linear = dv
            + once * (db * growth)
            + d_once * b
            + o.cross(once) * (dc * growth)
            + (d_o.cross(once) + o.cross(d_once)) * c;
        let turn = o.cross(d_o);
        (linear, d_o + turn * b + o.cross(turn) * c)
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

    /// Pose and motion of an effector. Allocates nothing.
    ///
    /// # Panics
    /// If the state belongs to a model of another size, or the effector does not exist.
    pub fn effector_motion(&self, state: &State, e: usize) -> EffectorMotion {
        assert_eq!(state.dof, self.dof(), "coordinates of the state");
        assert!(e < self.effector_count(), "an effector of the model");
        self.isa().run(Motion { model: self, state, e })
    }
}

/// An effector as a kernel.
struct Motion<'a> {
    model: &'a ReducedModel,
    state: &'a State,
    e: usize,
}

impl Kernel for Motion<'_> {
    type Output = EffectorMotion;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> EffectorMotion {
        let Self { model, state, e } = self;
        let (blocks, rest) = (model.effector_blocks(), &model.data().effectors[e].rest);
        let twist = blocks.twist(l, e, &state.eta[..state.dof]);
        let rate = blocks.twist(l, e, &state.velocity[..state.dof]);
        let ([a, b, c], [d, e, f]) = (rate.linear.to_array(), rate.angular.to_array());
        let coefficients = Coefficients::at(l, twist.angular.length_squared());
        let rotation = twist.rotation(l) * rest.rotation;
        let translation = rest.translation + twist.displacement_by(&coefficients);
        EffectorMotion {
            pose: Pose { rotation, translation },
            rates: [a, b, c, d, e, f],
            twist,
            coefficients,
        }
    }
}
