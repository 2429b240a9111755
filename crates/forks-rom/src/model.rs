//! The reduced model: plain numbers about one linearisation pose.

use alloc::{string::String, vec, vec::Vec};

use forks_lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_linalg::Matrix;

use crate::{
    ModelError,
    check::check,
    effectors::EffectorBlocks,
    kernel::{Isa, LinkBlocks},
    linear::is_positive_definite,
    transition::Packed,
    wrench::WrenchMaps,
};

/// A body that touches the world.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectorRest {
    /// Name.
    pub name: String,
    /// The link that carries it, an index into [`ModelData::links`].
    pub link: usize,
    /// The effector's frame in the link.
    pub link_from_effector: Pose,
    /// World pose at the linearisation pose, H.
    pub rest: Pose,
    /// Static wrench b that holds the linearisation pose, effector frame.
    pub static_wrench: Wrench,
}

/// A link whose pose is recovered.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRest {
    /// Name.
    pub name: String,
    /// True for massless frames inside a chain of joints.
    pub auxiliary: bool,
    /// World pose at the linearisation pose.
    pub rest: Pose,
    /// X_l, 6 × n_η: body twist per reduced coordinate.
    pub map: Matrix,
    /// Y_l, 6 × servos: body twist per servo target at fixed η.
    pub servo_map: Matrix,
}

/// How a joint moves its outer link when its coordinates change by δ.
#[derive(Clone, Debug, PartialEq)]
pub enum JointPath {
    /// One exponential: exp(Σ columns δ).
    Exponential {
        /// Columns in the outer link's frame.
        columns: Vec<Twist>,
    },
    /// Exponentials one after the other, each of one coordinate: ∏ exp(column δᵢ).
    Product {
        /// Coordinate and column, in order of multiplication.
        factors: Vec<(usize, Twist)>,
    },
    /// before · exp(S (θ₀ + δ)) · after, or its inverse.
    Subspace {
        /// Pose left of the exponential.
        before: Pose,
        /// Columns S.
        subspace: Vec<Twist>,
        /// θ₀.
        start: Vec<f64>,
        /// Pose right of the exponential.
        after: Pose,
        /// True if the whole is inverted.
        inverted: bool,
    },
}

/// A joint, for reconstruction in joint space, its displacement and its load.
///
/// A load is the wrench that the outer link passes on to its joint, in the outer link's frame at
/// its origin. On every link the applied wrenches and the loads of the joints outward of it, minus
/// the loads of the joints inward of it, sum to zero (each in that link's frame): in a chain pulled
/// at its tip every joint carries the pull.
#[derive(Clone, Debug, PartialEq)]
pub struct JointRest {
    /// Name.
    pub name: String,
    /// True if the joint closes a loop: it is not part of the tree.
    pub closes_loop: bool,
    /// Index of the link nearer to the ground.
    pub inner: usize,
    /// Index of the link that it carries.
    pub outer: usize,
    /// Pose of the outer link in the inner one at the linearisation pose.
    pub inner_from_outer: Pose,
    /// True if the joint's child is the inner link.
    pub reversed: bool,
    /// The joint's frame in its parent link.
    pub parent_from_joint: Pose,
    /// The joint's frame in its child link, where its gap is measured.
    pub child_from_joint: Pose,
    /// How it moves.
    pub path: JointPath,
    /// d × n_η: joint displacement per reduced coordinate.
    pub map: Matrix,
    /// d × servos: joint displacement per servo target at fixed η.
    pub servo_map: Matrix,
    /// Load at the linearisation pose; zero if that is the rest pose.
    pub static_load: Wrench,
    /// 6 × n_η: change of the load per reduced coordinate; no rows where it is not known.
    pub load_map: Matrix,
}

/// A base that floats: the whole mechanism's inertia seen from the link that it is built on
/// (\[A16\] §6.1).
///
/// With φ₀ the base link's body twist the momentum in its frame is I(η) φ₀ + S(η) η̇. Everything is
/// in the base link's frame, linear part first.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseRest {
    /// The base link, an index into [`ModelData::links`].
    pub link: usize,
    /// I, 6 × 6: inertia of base and mechanism at the linearisation pose.
    pub inertia: Matrix,
    /// Change of I per reduced coordinate, n_η matrices 6 × 6.
    pub inertia_slopes: Vec<Matrix>,
    /// S, 6 × n_η: momentum per unit η̇, the base at rest.
    pub coupling: Matrix,
    /// Change of S per reduced coordinate, n_η matrices 6 × n_η.
    pub coupling_slopes: Vec<Matrix>,
    /// The base link's own inertia, 6 × 6.
    pub own_inertia: Matrix,
    /// Acceleration of free fall, world axes, m/s².
    pub gravity: DVec3,
}

/// The numbers of a reduced model; n_η = number of reduced coordinates, E = number of effectors.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelData {
    /// Size r of the mechanism, m.
    pub radius: f64,
    /// Largest relative displacement of an effector (\[A16\] §8.2) for which the model is meant.
    pub range: f64,
    /// Effectors.
    pub effectors: Vec<EffectorRest>,
    /// B, 6E × n_η: effector twists ξ = B η in exponential coordinates, ξ in each effector's frame.
    pub basis: Matrix,
    /// 𝓗, n_η × n_η: second derivative of the elastic energy.
    pub hessian: Matrix,
    /// n_η × n_η: kinetic energy ½ η̇ᵀ M η̇; symmetric, may be singular.
    pub mass: Matrix,
    /// n_η × n_η: damping force −D η̇; symmetric.
    pub damping: Matrix,
    /// n_η × servos: reduced coordinates at which the mechanism rests per servo target.
    pub servo_rest: Matrix,
    /// Names of the servos.
    pub servos: Vec<String>,
    /// Links, the ground first.
    pub links: Vec<LinkRest>,
    /// Joints: those of the tree first, every inner link before its outer links; then those that
    /// close loops.
    pub joints: Vec<JointRest>,
    /// The base, if it floats.
    pub base: Option<BaseRest>,
}

/// The range of a model where nothing else is said: relative displacement 1, the largest that
/// \[A16\] shows.
pub const DEFAULT_RANGE: f64 = 1.0;

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
        if data.basis.columns() > 0 && !is_positive_definite(&data.hessian) {
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
