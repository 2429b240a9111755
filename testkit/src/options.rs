//! What random mechanisms look like.

use crate::Rng;

/// Joint kinds a random mechanism may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointChoice {
    /// One rotation.
    Revolute,
    /// One translation.
    Prismatic,
    /// A screw: one general column.
    Screw,
    /// Translation and rotation on one axis.
    Cylindrical,
    /// Two rotations.
    Universal,
    /// Three rotations.
    Spherical,
    /// Motion in a plane.
    Planar,
    /// Two general columns.
    General2,
    /// Three general columns.
    General3,
    /// No motion.
    Fixed,
    /// Six coordinates; springless or sprung like any other.
    Free,
}

impl JointChoice {
    /// All kinds with one to three coordinates.
    pub const USUAL: [Self; 9] = [
        Self::Revolute,
        Self::Prismatic,
        Self::Screw,
        Self::Cylindrical,
        Self::Universal,
        Self::Spherical,
        Self::Planar,
        Self::General2,
        Self::General3,
    ];
}

/// What random mechanisms look like.
#[derive(Clone, Debug)]
pub struct RandomMechanismOptions {
    /// Number of moving links, at least 1.
    pub links: usize,
    /// Joints beyond a spanning tree, between any two links or a link and the ground.
    pub extra_loops: usize,
    /// Couplings between scalar coordinates, linear or polynomial (degree ≤ 3), satisfied at the
    /// start.
    pub couplings: usize,
    /// Springs on linear combinations of coordinates.
    pub combination_springs: usize,
    /// Bushings between any two links.
    pub bushings: usize,
    /// Cables that run straight through points of two to four links, never slack.
    pub cables: usize,
    /// Part of the joints without any spring, 0…1.
    pub springless_fraction: f64,
    /// Part of the sprung multi-dof joints whose stiffness matrix is singular (not along a
    /// coordinate).
    pub singular_spring_fraction: f64,
    /// Kinds to draw from.
    pub joint_kinds: Vec<JointChoice>,
    /// Probability that a joint's child is the link nearer to the ground.
    pub reversed_edges: f64,
    /// Probability that a link hangs on the one before it rather than on any earlier link or the
    /// ground.
    pub chain_fraction: f64,
    /// Shuffle the joints, so that which ones close loops is random too.
    pub shuffle_joints: bool,
    /// All axes along one direction, joints revolute only: loops have redundant rows.
    pub planar: bool,
    /// Start coordinates, references and quaternions away from zero.
    pub displaced_start: bool,
    /// Spring rest positions differ from the start by up to this, in rad or lengths over `length`.
    pub preload: f64,
    /// The first link hangs on the ground by a springless free joint, all others on it.
    pub floating_base: bool,
    /// Probability that a link which carries another one in the drawn tree has no mass; redrawn
    /// until the mass matrix of the open tree is positive definite.
    pub massless_fraction: f64,
    /// Links have mass.
    pub masses: bool,
    /// Joints, combination springs and bushings have damping.
    pub damping: bool,
    /// Joints have armature.
    pub armature: bool,
    /// Magnitude of gravity, random direction, m/s².
    pub gravity: f64,
    /// Typical distance of neighbouring links, m.
    pub length: f64,
    /// Typical stiffness, N·m/rad; N/m over `length²`.
    pub stiffness: f64,
    /// Decades over which stiffnesses spread, between joints and within a joint.
    pub stiffness_decades: f64,
    /// Draw until the springs resist every motion (`Some(true)`), until they do not
    /// (`Some(false)`), or take what comes (`None`).
    pub resisted: Option<bool>,
    /// Redraw mechanisms whose loop equations or stiffness on the loop nullspace are nearly
    /// singular: smallest over largest non-zero singular value (scaled by size) below this. 0 takes
    /// all.
    pub conditioning: f64,
}

impl Default for RandomMechanismOptions {
    fn default() -> Self {
        Self {
            links: 8,
            extra_loops: 2,
            couplings: 0,
            combination_springs: 0,
            bushings: 0,
            cables: 0,
            springless_fraction: 0.0,
            singular_spring_fraction: 0.0,
            joint_kinds: JointChoice::USUAL.to_vec(),
            reversed_edges: 0.3,
            chain_fraction: 0.6,
            shuffle_joints: true,
            planar: false,
            displaced_start: true,
            preload: 0.0,
            floating_base: false,
            massless_fraction: 0.0,
            masses: true,
            damping: true,
            armature: false,
            gravity: 9.81,
            length: 0.3,
            stiffness: 100.0,
            stiffness_decades: 1.0,
            resisted: None,
            conditioning: 1e-5,
        }
    }
}

impl RandomMechanismOptions {
    /// The graphs of the published check: at most 12 links, at most three extra loops anywhere,
    /// every joint sprung; sizes vary with the seed.
    pub fn sprung(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x5eed_0001);
        Self { links: 1 + rng.index(12), extra_loops: rng.index(4), ..Self::default() }
    }

    /// The same with couplings, tendon springs, bushings and passive joints, still resisted.
    pub fn mixed(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x5eed_0002);
        Self {
            links: 2 + rng.index(11),
            extra_loops: rng.index(4),
            couplings: rng.index(3),
            combination_springs: rng.index(3),
            bushings: rng.index(2),
            springless_fraction: 0.3,
            singular_spring_fraction: 0.2,
            resisted: Some(true),
            ..Self::default()
        }
    }
}
