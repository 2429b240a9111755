//! The reduced model: its numbers, and what is computed from them once.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Twist};

use crate::{
    ModelError,
    check::check,
    data::{LinkRest, ModelData},
    effectors::EffectorBlocks,
    kernel::{Isa, LinkBlocks},
    transition::Packed,
    wrench_maps::WrenchMaps,
};

/// A first order reduced compliant system about one linearisation pose.
///
/// State η; effector poses H exp(Bη); elastic energy U(η) = U₀ + b_ηᵀη + ½(η−η_s)ᵀ𝓗(η−η_s), η_s the
/// coordinates at which the mechanism rests for its servo targets.
#[derive(Clone, Debug)]
pub struct ReducedModel {
    data: ModelData,
    static_force: Vec<f64>,
    isa: Isa,
    blocks: LinkBlocks,
    /// Place of each link in `blocks`; none for the ground and massless frames inside joints.
    slots: Vec<Option<usize>>,
    effectors: EffectorBlocks,
    servo_rest: Packed,
    wrenches: WrenchMaps,
}

impl PartialEq for ReducedModel {
    /// Everything else follows from the numbers.
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl ReducedModel {
    /// Checks the numbers and makes a model.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers that are not finite, a 𝓗 that is not positive definite.
    pub fn new(data: ModelData) -> Result<Self, ModelError> {
        check(&data)?;
        if data.basis.columns() > 0 && !data.hessian.is_positive_definite() {
            return Err(ModelError::NotPositiveDefinite);
        }
        Ok(Self::prepared(data))
    }

    /// A model about a pose that may be held only by the loads on its effectors: 𝓗 need not be
    /// positive definite.
    ///
    /// It is meant as a sample of a blend; alone it may run away, and steps may find a singular
    /// matrix.
    ///
    /// # Errors
    /// As [`ReducedModel::new`], but for 𝓗.
    pub fn held_by_loads(data: ModelData) -> Result<Self, ModelError> {
        check(&data)?;
        Ok(Self::prepared(data))
    }

    fn prepared(data: ModelData) -> Self {
        let mut static_force = vec![0.0; data.basis.columns()];
        for (e, effector) in data.effectors.iter().enumerate() {
            let w = effector.static_wrench.to_array();
            for (j, f) in static_force.iter_mut().enumerate() {
                *f += (0..6).map(|i| data.basis[(6 * e + i, j)] * w[i]).sum::<f64>();
            }
        }
        let shown = |(i, l): (usize, &LinkRest)| (i > 0 && !l.auxiliary).then_some(i);
        let shown: Vec<usize> = data.links.iter().enumerate().filter_map(shown).collect();
        let mut slots = vec![None; data.links.len()];
        shown.iter().enumerate().for_each(|(slot, &l)| slots[l] = Some(slot));
        let of = |&l: &usize| (data.links[l].rest, &data.links[l].map, &data.links[l].servo_map);
        let columns = data.basis.columns() + data.servos.len();
        Self {
            blocks: LinkBlocks::new(columns, shown.iter().map(of)),
            effectors: EffectorBlocks::new(&data),
            servo_rest: Packed::new(&data.servo_rest),
            wrenches: WrenchMaps::new(&data),
            static_force,
            isa: Isa::detect(),
            slots,
            data,
        }
    }

    /// The same model on another instruction set.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    #[doc(hidden)]
    pub fn blocks(&self) -> &LinkBlocks {
        &self.blocks
    }

    pub(crate) fn slot(&self, link: usize) -> Option<usize> {
        self.slots[link]
    }

    /// Links whose poses are shown, by slot.
    pub(crate) fn shown_links(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.iter().enumerate().filter_map(|(l, s)| s.map(|_| l))
    }

    /// Where the mechanism rests for unit servo targets.
    pub(crate) fn servo_rest(&self) -> &Packed {
        &self.servo_rest
    }

    pub(crate) fn effector_blocks(&self) -> &EffectorBlocks {
        &self.effectors
    }

    pub(crate) fn wrench_maps(&self) -> &WrenchMaps {
        &self.wrenches
    }

    /// The numbers.
    pub fn data(&self) -> &ModelData {
        &self.data
    }

    /// n_η: the rank of the effectors' motion, and the fixed-effector modes if there are any.
    pub fn dof(&self) -> usize {
        self.data.basis.columns()
    }

    /// Number of effectors.
    pub fn effector_count(&self) -> usize {
        self.data.effectors.len()
    }

    /// b_η = Bᵀ b, the generalised force that holds the linearisation pose.
    pub fn static_force(&self) -> &[f64] {
        &self.static_force
    }

    /// Twist of effector `e` in its frame, exponential coordinates: ξ_e = B_e η.
    pub fn effector_twist(&self, e: usize, eta: &[f64]) -> Twist {
        Twist::from_array(core::array::from_fn(|i| {
            self.data.basis.row(6 * e + i).iter().zip(eta).map(|(b, x)| b * x).sum()
        }))
    }

    /// World pose of effector `e`: H exp(ξ_e).
    pub fn effector_pose(&self, e: usize, eta: &[f64]) -> Pose {
        self.data.effectors[e].rest.displaced(self.effector_twist(e, eta))
    }

    /// Elastic energy over its value at the linearisation pose, J.
    pub fn elastic_energy(&self, eta: &[f64], servo_targets: &[f64]) -> f64 {
        let rest = self.rest_coordinates(servo_targets);
        let d: Vec<f64> = eta.iter().zip(&rest).map(|(a, b)| a - b).collect();
        let linear: f64 = self.static_force.iter().zip(eta).map(|(b, x)| b * x).sum();
        linear + 0.5 * self.data.hessian.mul_vec(&d).iter().zip(&d).map(|(f, x)| f * x).sum::<f64>()
    }

    /// Gradient of [`ReducedModel::elastic_energy`]: b_η + 𝓗 (η − η_s).
    pub fn elastic_force(&self, eta: &[f64], servo_targets: &[f64]) -> Vec<f64> {
        let rest = self.rest_coordinates(servo_targets);
        let d: Vec<f64> = eta.iter().zip(&rest).map(|(a, b)| a - b).collect();
        let mut f = self.data.hessian.mul_vec(&d);
        f.iter_mut().zip(&self.static_force).for_each(|(f, b)| *f += b);
        f
    }

    /// η_s for servo targets (zero for an empty slice).
    pub fn rest_coordinates(&self, servo_targets: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.dof()];
        for (s, &target) in servo_targets.iter().enumerate().take(self.data.servos.len()) {
            for (i, x) in out.iter_mut().enumerate() {
                *x += self.data.servo_rest[(i, s)] * target;
            }
        }
        out
    }
}
