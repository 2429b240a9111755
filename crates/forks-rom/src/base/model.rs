//! A reduced model with a base that floats.

use alloc::sync::Arc;

use forks_lie::{Pose, Twist, glam::DVec3};
use forks_linalg::simd::{Arithmetic, Kernel, Rows};

use super::{
    coupling::BaseCoupling,
    inertia::{BaseInertia, BaseMotion, symmetric_rows},
    state::FloatingState,
};
use crate::{ModelError, ReducedModel, State};

/// A reduced model whose base floats, ready to be stepped.
#[derive(Clone, Debug)]
pub struct FloatingModel {
    pub(super) model: Arc<ReducedModel>,
    pub(super) inertia: BaseInertia,
    coupling: BaseCoupling,
    /// 𝓗.
    pub(super) stiffness: Rows,
    /// B, 6E × n.
    pub(super) basis: Rows,
    /// b_η, padded.
    pub(super) static_force: Rows,
    pub(super) gravity: DVec3,
    /// Pose of the linearisation pose's world in the base link.
    pub(super) base_from_rest: Pose,
}

impl FloatingModel {
    /// Prepares a model; its gravity acts.
    ///
    /// # Errors
    /// [`ModelError::NoBase`] if the model's base does not float; a base without mass or rotational
    /// inertia, masses that do not belong together.
    pub fn new(model: Arc<ReducedModel>, coupling: BaseCoupling) -> Result<Self, ModelError> {
        let base = model.data().base.as_ref().ok_or(ModelError::NoBase)?;
        let inertia = BaseInertia::new(base, &model.data().mass, coupling)?;
        let base_from_rest = model.data().links[base.link].rest.inverse();
        let (b, basis) = (model.static_force(), &model.data().basis);
        Ok(Self {
            stiffness: symmetric_rows(&model.data().hessian),
            basis: Rows::from_fn(basis.rows(), basis.columns(), |i, j| basis[(i, j)]),
            static_force: Rows::from_fn(1, b.len(), |_, j| b[j]),
            gravity: base.gravity,
            inertia,
            coupling,
            base_from_rest,
            model,
        })
    }

    /// The same with another acceleration of free fall, world axes, m/s².
    #[must_use]
    pub fn with_gravity(mut self, gravity: DVec3) -> Self {
        self.gravity = gravity;
        self
    }

    /// The reduced model.
    pub fn reduced(&self) -> &Arc<ReducedModel> {
        &self.model
    }

    /// How base and reduced coordinates act on each other.
    pub fn coupling(&self) -> BaseCoupling {
        self.coupling
    }

    /// Acceleration of free fall, world axes, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Mass of the base, with the mechanism's as far as the form counts it there, kg.
    pub fn mass(&self) -> f64 {
        self.inertia.mass
    }

    /// Pose of the world of the linearisation pose, carried along by the base, in the world.
    pub fn world_from_rest(&self, state: &FloatingState) -> Pose {
        state.world_from_base * self.base_from_rest
    }

    /// World pose of effector `e`.
    pub fn effector_pose(&self, e: usize, state: &FloatingState) -> Pose {
        self.world_from_rest(state) * self.model.effector_pose(e, state.shape.coordinates())
    }

    /// Body twist of effector `e`, effector frame: the base's velocity carried over, and the motion
    /// relative to it.
    pub fn effector_velocity(&self, e: usize, state: &FloatingState) -> Twist {
        let base_from_effector =
            self.base_from_rest * self.model.effector_pose(e, state.shape.coordinates());
        let carried = base_from_effector.adjoint().apply_inverse(self.base_velocity(state));
        carried + self.model.effector_velocity(e, &state.shape)
    }

    /// All that the motion of base and centre of mass depends on.
    pub(super) fn motion(&self, state: &FloatingState) -> BaseMotion {
        self.model.isa().run(Motion { inertia: &self.inertia, shape: &state.shape })
    }

    /// Body twist of the base link.
    pub fn base_velocity(&self, state: &FloatingState) -> Twist {
        let m = self.motion(state);
        let omega = m.base_rate(state);
        let center = state.world_from_base.rotation.conjugate() * state.center_velocity;
        Twist::new(center - (omega.cross(m.center) + m.center_rate), omega)
    }
}

impl BaseMotion {
    /// Angular velocity of the base, base axes: J⁻¹(L − Ση̇).
    pub(super) fn base_rate(&self, state: &FloatingState) -> DVec3 {
        let spin = state.world_from_base.rotation.conjugate() * state.spin;
        self.rotation.inverse() * (spin - self.coupled)
    }
}

/// [`BaseInertia::motion`] as a kernel.
struct Motion<'a> {
    inertia: &'a BaseInertia,
    shape: &'a State,
}

impl Kernel for Motion<'_> {
    type Output = BaseMotion;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> BaseMotion {
        self.inertia.motion(l, &self.shape.eta, &self.shape.velocity)
    }
}
