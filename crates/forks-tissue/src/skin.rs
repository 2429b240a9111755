//! The surface that is drawn and touches: an embedded one, or the boundary of the mesh.

use forks_deform::{SoftBody, dynamics::mechanism::lie::glam::DVec3};

/// Vertices that follow nodes, and triangles between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Skin {
    /// Nodes and their weights.
    pub(crate) vertices: Vec<Vec<(usize, f64)>>,
    /// Counter-clockwise from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Tissue of every vertex.
    pub(crate) part: Vec<usize>,
}

/// Nodes with their shares.
type Weighted = Vec<(usize, f64)>;

impl Skin {
    /// Of a body whose parts have so many nodes, one after the other.
    pub(crate) fn new(body: &SoftBody, parts: &[(String, usize)]) -> Self {
        let (vertices, triangles): (Vec<Weighted>, Vec<[u32; 3]>) = match body.surface() {
            Some(s) => {
                let nodes = |v: &forks_deform::EmbeddedVertex| {
                    let element = body.mesh().element(v.element).iter().copied();
                    element.zip(v.weights.iter().copied()).collect()
                };
                let faces = s.faces().iter().map(|f| f.map(|v| v as u32));
                (s.vertices().iter().map(nodes).collect(), faces.collect())
            }
            None => {
                let boundary = body.mesh().boundary();
                let mut number = vec![None; body.mesh().nodes().len()];
                let mut vertices = Vec::new();
                let triangles = boundary.iter().map(|face| {
                    face.map(|n| {
                        *number[n].get_or_insert_with(|| {
                            vertices.push(vec![(n, 1.0)]);
                            vertices.len() as u32 - 1
                        })
                    })
                });
                let triangles = triangles.collect();
                (vertices, triangles)
            }
        };
        let part_of = |node: usize| {
            let mut end = 0;
            let found = parts.iter().position(|(_, count)| {
                end += count;
                node < end
            });
            found.unwrap_or(0)
        };
        let part = vertices.iter().map(|v| part_of(v[0].0)).collect();
        Self { vertices, triangles, part }
    }

    /// Where a vertex is, or how it moves, for positions or velocities of the nodes.
    pub(crate) fn of(&self, vertex: usize, nodes: &[DVec3]) -> DVec3 {
        self.vertices[vertex].iter().map(|&(n, w)| nodes[n] * w).sum()
    }

    /// Where all vertices are.
    pub(crate) fn positions(&self, x: &[DVec3]) -> Vec<DVec3> {
        (0..self.vertices.len()).map(|v| self.of(v, x)).collect()
    }

    /// The vertex nearest to a point.
    pub(crate) fn nearest(&self, x: &[DVec3], point: DVec3) -> Option<usize> {
        let far = |v: &usize| self.of(*v, x).distance_squared(point);
        (0..self.vertices.len()).min_by(|a, b| far(a).total_cmp(&far(b)))
    }
}
