//! The numbers of a reduced model.

use alloc::{string::String, vec::Vec};

use forks_lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_linalg::Matrix;
use serde::Serialize;

use crate::file::json;

/// A body that touches the world.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(serialize_with = "json::wrench")]
    pub static_wrench: Wrench,
}

/// A link whose pose is recovered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRest {
    /// Name.
    pub name: String,
    /// True for massless frames inside a chain of joints.
    pub auxiliary: bool,
    /// World pose at the linearisation pose.
    pub rest: Pose,
    /// X_l, 6 × n_η: body twist per reduced coordinate.
    #[serde(serialize_with = "json::rows")]
    pub map: Matrix,
    /// Y_l, 6 × servos: body twist per servo target at fixed η.
    #[serde(serialize_with = "json::rows")]
    pub servo_map: Matrix,
}

/// How a joint moves its outer link when its coordinates change by δ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JointPath {
    /// One exponential: exp(Σ columns δ).
    Exponential {
        /// Columns in the outer link's frame.
        #[serde(serialize_with = "json::twists")]
        columns: Vec<Twist>,
    },
    /// Exponentials one after the other, each of one coordinate: ∏ exp(column δᵢ).
    Product {
        /// Coordinate and column, in order of multiplication.
        #[serde(serialize_with = "json::factors")]
        factors: Vec<(usize, Twist)>,
    },
    /// before · exp(S (θ₀ + δ)) · after, or its inverse.
    Subspace {
        /// Pose left of the exponential.
        before: Pose,
        /// Columns S.
        #[serde(serialize_with = "json::twists")]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(serialize_with = "json::rows")]
    pub map: Matrix,
    /// d × servos: joint displacement per servo target at fixed η.
    #[serde(serialize_with = "json::rows")]
    pub servo_map: Matrix,
    /// Load at the linearisation pose; zero if that is the rest pose.
    #[serde(serialize_with = "json::wrench")]
    pub static_load: Wrench,
    /// 6 × n_η: change of the load per reduced coordinate; no rows where it is not known.
    #[serde(serialize_with = "json::rows")]
    pub load_map: Matrix,
}

/// A base that floats: the whole mechanism's inertia seen from the link that it is built on
/// (\[A16\] §6.1).
///
/// With φ₀ the base link's body twist the momentum in its frame is I(η) φ₀ + S(η) η̇. Everything is
/// in the base link's frame, linear part first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BaseRest {
    /// The base link, an index into [`ModelData::links`].
    pub link: usize,
    /// I, 6 × 6: inertia of base and mechanism at the linearisation pose.
    #[serde(serialize_with = "json::rows")]
    pub inertia: Matrix,
    /// Change of I per reduced coordinate, n_η matrices 6 × 6.
    #[serde(serialize_with = "json::all_rows")]
    pub inertia_slopes: Vec<Matrix>,
    /// S, 6 × n_η: momentum per unit η̇, the base at rest.
    #[serde(serialize_with = "json::rows")]
    pub coupling: Matrix,
    /// Change of S per reduced coordinate, n_η matrices 6 × n_η.
    #[serde(serialize_with = "json::all_rows")]
    pub coupling_slopes: Vec<Matrix>,
    /// The base link's own inertia, 6 × 6.
    #[serde(serialize_with = "json::rows")]
    pub own_inertia: Matrix,
    /// Acceleration of free fall, world axes, m/s².
    pub gravity: DVec3,
}

/// The numbers of a reduced model; n_η = number of reduced coordinates, E = number of effectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelData {
    /// Size r of the mechanism, m.
    pub radius: f64,
    /// Largest relative displacement of an effector (\[A16\] §8.2) for which the model is meant.
    pub range: f64,
    /// Effectors.
    pub effectors: Vec<EffectorRest>,
    /// B, 6E × n_η: effector twists ξ = B η in exponential coordinates, ξ in each effector's frame.
    #[serde(serialize_with = "json::rows")]
    pub basis: Matrix,
    /// 𝓗, n_η × n_η: second derivative of the elastic energy.
    #[serde(serialize_with = "json::rows")]
    pub hessian: Matrix,
    /// n_η × n_η: kinetic energy ½ η̇ᵀ M η̇; symmetric, may be singular.
    #[serde(serialize_with = "json::rows")]
    pub mass: Matrix,
    /// n_η × n_η: damping force −D η̇; symmetric.
    #[serde(serialize_with = "json::rows")]
    pub damping: Matrix,
    /// n_η × servos: reduced coordinates at which the mechanism rests per servo target.
    #[serde(serialize_with = "json::rows")]
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
