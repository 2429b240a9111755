//! The surface of a mesh: faces of one element only.

use std::collections::BTreeMap;

use forks_deform::{TetMesh, mesh::FACES};

/// Triangles between corners of elements, counter-clockwise from outside.
pub fn boundary(mesh: &TetMesh) -> Vec<[usize; 3]> {
    let mut faces: BTreeMap<[usize; 3], Option<[usize; 3]>> = BTreeMap::new();
    for e in 0..mesh.element_count() {
        let corners = mesh.element(e);
        for f in FACES {
            let face = f.map(|i| corners[i]);
            let mut key = face;
            key.sort_unstable();
            faces.entry(key).and_modify(|f| *f = None).or_insert(Some(face));
        }
    }
    faces.into_values().flatten().collect()
}
