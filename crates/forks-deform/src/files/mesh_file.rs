//! What a mesh file holds.

use std::collections::BTreeMap;

use crate::mesh::TetMesh;

/// What a mesh file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// The tetrahedra; nodes without one are left out, the others keep their order.
    pub mesh: TetMesh,
    /// Nodes of every named or numbered group, ascending (Gmsh's physical groups, references and
    /// attributes of others).
    pub groups: BTreeMap<String, Vec<usize>>,
    /// Nodes of the file that belong to no tetrahedron, and were left out.
    pub unused: usize,
    /// Quadratic elements with bent edges: their middle nodes were put in the middle.
    pub straightened: usize,
}
