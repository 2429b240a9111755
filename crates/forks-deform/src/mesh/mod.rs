//! Tetrahedral meshes: nodes, elements of four or ten nodes, what is wrong with them by index.

mod error;
mod kuhn;
mod lattice;
mod parametric;
mod quadratic;
mod topology;

use forks_dynamics::mechanism::lie::glam::{DMat3, DVec3};

pub use error::{MeshError, MeshNote};

/// Corner pairs of the edges, in the order of the middle nodes of a quadratic element.
pub const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Corner triples of the faces, counter-clockwise from outside; face i is opposite to corner i.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Below this quality an element is noted as a sliver.
const SLIVER: f64 = 0.05;

/// Below this part of the cube of its longest edge a volume is rounding.
const FLAT: f64 = 1e-12;

/// The polynomials of the displacement in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Four nodes, constant strain.
    Linear,
    /// Ten nodes, those beyond the corners in the middle of the edges.
    Quadratic,
}

impl Order {
    /// Nodes per element.
    pub fn nodes(self) -> usize {
        match self {
            Self::Linear => 4,
            Self::Quadratic => 10,
        }
    }
}

/// Tetrahedra in their shape without stress: nodes (m) and the nodes of every element, corners
/// first, with positive volume.
#[derive(Clone, Debug, PartialEq)]
pub struct TetMesh {
    pub(crate) nodes: Vec<DVec3>,
    pub(crate) connectivity: Vec<usize>,
    pub(crate) order: Order,
    pub(crate) notes: Vec<MeshNote>,
}

impl TetMesh {
    /// Checks nodes and elements of four nodes. Elements with negative volume are turned, which
    /// [`notes`](Self::notes) tell, as slivers, nodes without elements, nodes in one place and
    /// parts that hang together by a node or an edge.
    ///
    /// # Errors
    /// The first node or element that cannot be, by index.
    pub fn new(nodes: Vec<DVec3>, elements: &[[usize; 4]]) -> Result<Self, MeshError> {
        if elements.is_empty() {
            return Err(MeshError::Empty);
        }
        if let Some(node) = nodes.iter().position(|x| !x.is_finite()) {
            return Err(MeshError::NotFinite { node, position: nodes[node].to_array() });
        }
        let mut mesh = Self {
            connectivity: Vec::with_capacity(4 * elements.len()),
            nodes,
            order: Order::Linear,
            notes: Vec::new(),
        };
        for (element, corners) in elements.iter().enumerate() {
            mesh.push(element, *corners)?;
        }
        mesh.note_topology();
        Ok(mesh)
    }

    fn push(&mut self, element: usize, mut corners: [usize; 4]) -> Result<(), MeshError> {
        let count = self.nodes.len();
        if let Some(&node) = corners.iter().find(|&&n| n >= count) {
            return Err(MeshError::NoSuchNode { element, node, count });
        }
        for [a, b] in EDGES {
            if corners[a] == corners[b] {
                return Err(MeshError::RepeatedNode { element, node: corners[a] });
            }
        }
        let x = corners.map(|n| self.nodes[n]);
        let volume = signed_volume(x);
        let longest = EDGES.iter().fold(0.0f64, |m, [a, b]| m.max(x[*a].distance(x[*b])));
        if volume.abs() <= FLAT * longest.powi(3) {
            return Err(MeshError::Flat { element, volume, longest });
        }
        if volume < 0.0 {
            corners.swap(2, 3);
            self.notes.push(MeshNote::Turned { element });
        }
        self.connectivity.extend(corners);
        let quality = self.quality(element);
        if quality < SLIVER {
            self.notes.push(MeshNote::Sliver { element, quality });
        }
        Ok(())
    }

    /// Positions of all nodes without stress, m.
    pub fn nodes(&self) -> &[DVec3] {
        &self.nodes
    }

    /// Number of elements.
    pub fn element_count(&self) -> usize {
        self.connectivity.len() / self.order.nodes()
    }

    /// Nodes of an element, its corners first.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn element(&self, index: usize) -> &[usize] {
        let n = self.order.nodes();
        &self.connectivity[n * index..][..n]
    }

    /// Elements of four nodes or of ten.
    pub fn order(&self) -> Order {
        self.order
    }

    /// What was changed, or may not have been meant.
    pub fn notes(&self) -> &[MeshNote] {
        &self.notes
    }

    /// Corners of an element.
    pub(crate) fn corners(&self, index: usize) -> [DVec3; 4] {
        let e = self.element(index);
        [0, 1, 2, 3].map(|i| self.nodes[e[i]])
    }

    /// Edges from the first corner as columns.
    pub(crate) fn edge_matrix(&self, index: usize) -> DMat3 {
        let [a, b, c, d] = self.corners(index);
        DMat3::from_cols(b - a, c - a, d - a)
    }

    /// Volume of an element, m³.
    pub fn volume(&self, index: usize) -> f64 {
        signed_volume(self.corners(index))
    }

    /// Volume of all elements, m³.
    pub fn total_volume(&self) -> f64 {
        (0..self.element_count()).map(|e| self.volume(e)).sum()
    }

    /// Mean-ratio quality of an element: 12 (3 V)^⅔ / Σ ℓ², 1 for a regular tetrahedron, 0 for a
    /// flat one.
    pub fn quality(&self, index: usize) -> f64 {
        let x = self.corners(index);
        let squares: f64 = EDGES.iter().map(|[a, b]| x[*a].distance_squared(x[*b])).sum();
        12.0 * (3.0 * signed_volume(x)).cbrt().powi(2) / squares
    }

    /// The same mesh with every node moved by a map; elements must keep their orientation.
    ///
    /// # Errors
    /// As [`TetMesh::new`], and where an element is turned over.
    pub fn mapped(&self, map: impl Fn(DVec3) -> DVec3) -> Result<Self, MeshError> {
        let nodes = self.nodes[..self.corner_count()].iter().map(|x| map(*x)).collect();
        let corners: Vec<[usize; 4]> =
            (0..self.element_count()).map(|e| [0, 1, 2, 3].map(|i| self.element(e)[i])).collect();
        let mapped = Self::new(nodes, &corners)?;
        for note in &mapped.notes {
            if let MeshNote::Turned { element } = note {
                let volume = -mapped.volume(*element);
                return Err(MeshError::TurnedOver { element: *element, volume });
            }
        }
        Ok(match self.order {
            Order::Linear => mapped,
            Order::Quadratic => mapped.quadratic(),
        })
    }

    /// Nodes before those in the middle of edges.
    pub(crate) fn corner_count(&self) -> usize {
        match self.order {
            Order::Linear => self.nodes.len(),
            Order::Quadratic => {
                let corners = (0..self.element_count()).flat_map(|e| &self.element(e)[..4]);
                corners.max().map_or(0, |n| n + 1)
            }
        }
    }
}

/// Volume with the sign of the corners' order.
pub(crate) fn signed_volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}
