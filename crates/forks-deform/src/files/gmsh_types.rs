//! Gmsh's types of elements and its groups.

use std::collections::HashMap;

/// Nodes of an element type, where tetrahedra are 4 and 11; `None` for types that are unknown here.
pub(super) fn nodes_of(kind: u64) -> Option<usize> {
    // Lines, triangles, quadrangles, tetrahedra, hexahedra, prisms, pyramids, of order 1 and 2.
    const NODES: [usize; 19] = [2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13];
    NODES.get((kind as usize).checked_sub(1)?).copied()
}

/// True for tetrahedra.
pub(super) fn is_tetrahedron(kind: u64) -> bool {
    kind == 4 || kind == 11
}

/// Names of physical groups by dimension and number.
pub(super) type Names = HashMap<(u64, u64), String>;

/// The name of a group, or its number.
pub(super) fn name_of(names: &Names, dimension: u64, tag: u64) -> String {
    names.get(&(dimension, tag)).cloned().unwrap_or_else(|| tag.to_string())
}

/// The dimension of an element type.
pub(super) fn dimension_of(kind: u64) -> u64 {
    match kind {
        15 => 0,
        1 | 8 => 1,
        2 | 3 | 9 | 10 | 16 => 2,
        _ => 3,
    }
}
