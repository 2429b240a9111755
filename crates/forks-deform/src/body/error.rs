//! What is wrong with a soft body, and what may be.

use forks_dynamics::mechanism::lie::Digits;

/// Why there is no such soft body, or no such simulation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SoftError {
    /// A node without mass: it belongs to no element.
    #[error("node {node} belongs to no element, so that it has no mass")]
    Massless {
        /// The node.
        node: usize,
    },
    /// A distance that is not positive.
    #[error("nodes within {} m of a bone: the distance must be positive", Digits(*.0))]
    Within(f64),
    /// No node is near a bone.
    #[error(
        "no node is within {} m of a bone; the nearest, node {node}, is {} m away",
        Digits(*.within),
        Digits(*.distance)
    )]
    NothingAttached {
        /// The distance asked for, m.
        within: f64,
        /// The nearest node.
        node: usize,
        /// Its distance, m.
        distance: f64,
    },
    /// A list of nodes names one that is not there.
    #[error("node {node} of {count} is to be attached to link {link}")]
    NoSuchNode {
        /// The node.
        node: usize,
        /// Nodes that there are.
        count: usize,
        /// The link's name.
        link: String,
    },
    /// A node is attached twice.
    #[error("node {node} is attached to link {first} and to link {second}")]
    AttachedTwice {
        /// The node.
        node: usize,
        /// A link's name.
        first: String,
        /// The other one's.
        second: String,
    },
    /// A link that the mechanism does not have.
    #[error("there is no link {index}; the mechanism has {count}")]
    NoSuchLink {
        /// The index.
        index: usize,
        /// Links that there are.
        count: usize,
    },
    /// A surface without volume.
    #[error(
        "the surface encloses {} m³; it must be closed, its faces counter-clockwise from outside",
        Digits(*.0)
    )]
    Surface(f64),
    /// The surface encloses no part of the mesh.
    #[error("the surface encloses nothing of the mesh")]
    Outside,
    /// A mechanism with loops or couplings.
    #[error(
        "mechanism {mechanism} has {loops} loop coordinates and {couplings} couplings; tissue \
         needs a tree"
    )]
    NotATree {
        /// The mechanism's name.
        mechanism: String,
        /// Coordinates of loop-closing joints.
        loops: usize,
        /// Couplings.
        couplings: usize,
    },
    /// The mechanism with the tissue's mass in its links cannot be built.
    #[error("the mechanism with the mass of its tissue: {0}")]
    Mechanism(String),
    /// A body attached to another mechanism.
    #[error("the body is attached to link {link}, the mechanism has {count} links")]
    OtherMechanism {
        /// The link's index.
        link: usize,
        /// Links that there are.
        count: usize,
    },
    /// A part of the tissue that nothing holds, in statics.
    #[error(
        "the part of the tissue with node {node} is attached to no bone, so that it has no \
         position of rest"
    )]
    LoosePart {
        /// Its first node.
        node: usize,
    },
    /// A law without energy where a minimum of energy is asked for.
    #[error(
        "the material has no energy (the window is continued per stretch), so that there is no \
         minimum to look for"
    )]
    NoEnergy,
    /// Bodies that cannot be one.
    #[error("the parts of one body are {what}; they must be of one kind")]
    Mixed {
        /// What they are.
        what: &'static str,
    },
    /// Contact in a scheme that knows none.
    #[error("backward Euler knows no contact; linearly implicit steps and mixed Euler do")]
    NoContact,
    /// The answer of a step to forces in a scheme that does not solve for its end at once.
    #[error("steps answer to forces where they are linearly implicit; these are not")]
    NoResponse,
    /// A number that is not positive.
    #[error("{what} is {}; it must be positive and finite", Digits(*.value))]
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A wrong number of values.
    #[error("{found} {what} instead of {expected}")]
    Length {
        /// What they are.
        what: &'static str,
        /// How many came.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// A step or a state whose numbers are not finite.
    #[error("{what} {index} is {value}: the step is too long, or an input is not finite")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Which.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Forward dynamics of the skeleton has no answer.
    #[error(transparent)]
    Dynamics(#[from] forks_dynamics::tree::DynamicsError),
    /// The step's matrix is not positive definite.
    #[error("the matrix of the step is not positive definite at {0}")]
    Matrix(String),
}

/// Something about a soft body that may not have been meant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SoftNote {
    /// A vertex of the surface lies in no element; it follows the nearest.
    Outside {
        /// The vertex.
        vertex: usize,
        /// The element that it follows.
        element: usize,
        /// How far outside it is: the largest negative barycentric coordinate.
        depth: f64,
    },
    /// An element that holds next to nothing of what the surface encloses is as good as empty.
    Empty {
        /// The element.
        element: usize,
        /// Its filled part.
        filled: f64,
    },
}

impl std::fmt::Display for SoftNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outside { vertex, element, depth } => write!(
                f,
                "vertex {vertex} of the surface is in no element; it follows element {element} \
                 (barycentric coordinate {})",
                Digits(*depth)
            ),
            Self::Empty { element, filled } => {
                write!(
                    f,
                    "element {element} is filled to {}; it counts as the least part",
                    Digits(*filled)
                )
            }
        }
    }
}
