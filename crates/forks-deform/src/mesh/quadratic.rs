//! Elements of ten nodes from those of four.

use std::collections::HashMap;

use super::{EDGES, Order, TetMesh};

impl TetMesh {
    /// The same mesh with a node in the middle of every edge, after the corners, in the order in
    /// which the elements need them.
    #[must_use]
    pub fn quadratic(&self) -> Self {
        if self.order == Order::Quadratic {
            return self.clone();
        }
        let mut nodes = self.nodes.clone();
        let mut middles: HashMap<[usize; 2], usize> = HashMap::new();
        let mut connectivity = Vec::with_capacity(10 * self.element_count());
        for e in 0..self.element_count() {
            let corners = self.element(e);
            connectivity.extend(corners);
            for [a, b] in EDGES {
                let (a, b) = (corners[a], corners[b]);
                let middle = *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    nodes.push(0.5 * (self.nodes[a] + self.nodes[b]));
                    nodes.len() - 1
                });
                connectivity.push(middle);
            }
        }
        Self { nodes, connectivity, order: Order::Quadratic, notes: self.notes.clone() }
    }
}
