//! What is wrong with a mesh, and what may be.

use forks_dynamics::mechanism::lie::{Digits, DigitsOf};

/// Why nodes and elements are no mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There are no elements.
    #[error("the mesh has no elements")]
    Empty,
    /// A box with no cells along an edge, or without length.
    #[error("a box of {cells:?} cells and edges of {} m encloses nothing", DigitsOf(.size))]
    EmptyBox {
        /// Cells along x, y and z.
        cells: [usize; 3],
        /// Edges, m.
        size: [f64; 3],
    },
    /// Cells around a surface that are too small or none.
    #[error(
        "cells of {} m around the surface come to {} cubes; at most 1e6",
        Digits(*.cell),
        Digits(*.cubes)
    )]
    Cell {
        /// Size of a cube, m.
        cell: f64,
        /// Cubes that there would be.
        cubes: f64,
    },
    /// A position is NaN or infinite.
    #[error("node {node} is at ({}), which is not finite", DigitsOf(.position))]
    NotFinite {
        /// The node.
        node: usize,
        /// Its position.
        position: [f64; 3],
    },
    /// An element refers to a node that is not there.
    #[error("element {element} refers to node {node} of {count}")]
    NoSuchNode {
        /// The element.
        element: usize,
        /// What it refers to.
        node: usize,
        /// Nodes that there are.
        count: usize,
    },
    /// An element has a node twice.
    #[error("element {element} has node {node} twice")]
    RepeatedNode {
        /// The element.
        element: usize,
        /// The node.
        node: usize,
    },
    /// An element has no volume.
    #[error(
        "element {element} is flat: volume {} m³ with an edge of {} m",
        Digits(*.volume),
        Digits(*.longest)
    )]
    Flat {
        /// The element.
        element: usize,
        /// Its volume, m³.
        volume: f64,
        /// Its longest edge, m.
        longest: f64,
    },
    /// A map turned an element over.
    #[error("element {element} is turned over: its volume would be {} m³", Digits(*.volume))]
    TurnedOver {
        /// The element.
        element: usize,
        /// Its volume, m³.
        volume: f64,
    },
}

/// Something about a mesh that was changed, or may not have been meant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MeshNote {
    /// Two nodes were exchanged, since the volume was negative.
    Turned {
        /// The element.
        element: usize,
    },
    /// An element is nearly flat.
    Sliver {
        /// The element.
        element: usize,
        /// Its mean ratio, 1 for a regular tetrahedron.
        quality: f64,
    },
    /// A node belongs to no element.
    Unused {
        /// The node.
        node: usize,
    },
    /// Two nodes are in one place, so that elements there may not hang together.
    Duplicate {
        /// The node that comes first.
        first: usize,
        /// The other one.
        second: usize,
    },
    /// Parts that no face joins share a node: it is a hinge there.
    Hinge {
        /// The node.
        node: usize,
    },
}

impl std::fmt::Display for MeshNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Turned { element } => {
                write!(f, "element {element} had negative volume; two of its nodes are exchanged")
            }
            Self::Sliver { element, quality } => {
                write!(f, "element {element} is nearly flat: quality {}", Digits(*quality))
            }
            Self::Unused { node } => write!(f, "node {node} belongs to no element"),
            Self::Duplicate { first, second } => {
                write!(f, "nodes {first} and {second} are in one place")
            }
            Self::Hinge { node } => {
                write!(f, "parts that no face joins hang together by node {node}")
            }
        }
    }
}
