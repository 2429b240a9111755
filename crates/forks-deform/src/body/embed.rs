//! A surface that follows the elements around its vertices: y = Σ φ_i x_i, forces f_i = φ_i f
//! (\[K08\] Eq. 9, 10), which keeps force and moment.

use forks_dynamics::mechanism::lie::glam::DVec3;

use crate::{
    elements::barycentric_gradients,
    mesh::{EDGES, Order, TetMesh},
};

/// What lies outside all elements by less is rounding.
const ROUNDING: f64 = 1e-9;

/// A vertex within an element.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedVertex {
    /// The element.
    pub element: usize,
    /// φ of the element's nodes; their sum is 1.
    pub weights: Vec<f64>,
}

/// A surface whose vertices follow elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    pub(crate) vertices: Vec<EmbeddedVertex>,
    pub(crate) faces: Vec<[usize; 3]>,
}

impl Embedded {
    /// The vertices.
    pub fn vertices(&self) -> &[EmbeddedVertex] {
        &self.vertices
    }

    /// Triangles, counter-clockwise from outside.
    pub fn faces(&self) -> &[[usize; 3]] {
        &self.faces
    }

    /// Positions of all vertices for positions of the nodes.
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn positions(&self, mesh: &TetMesh, x: &[DVec3], out: &mut [DVec3]) {
        assert_eq!(out.len(), self.vertices.len(), "number of vertices");
        for (y, v) in out.iter_mut().zip(&self.vertices) {
            *y = mesh.element(v.element).iter().zip(&v.weights).map(|(&n, w)| x[n] * *w).sum();
        }
    }

    /// Adds to the nodes' forces what forces on the vertices come to.
    ///
    /// # Panics
    /// If there is not a force for every vertex.
    pub fn spread(&self, mesh: &TetMesh, forces: &[DVec3], out: &mut [DVec3]) {
        assert_eq!(forces.len(), self.vertices.len(), "number of vertices");
        for (f, v) in forces.iter().zip(&self.vertices) {
            for (&n, w) in mesh.element(v.element).iter().zip(&v.weights) {
                out[n] += *f * *w;
            }
        }
    }
}

/// Barycentric coordinates of a point in an element; their sum is 1.
pub(super) fn barycentric(mesh: &TetMesh, element: usize, x: DVec3) -> [f64; 4] {
    let g = barycentric_gradients(mesh.edge_matrix(element));
    let d = x - mesh.corners(element)[0];
    let [b, c, e] = [g[1].dot(d), g[2].dot(d), g[3].dot(d)];
    [1.0 - (b + c + e), b, c, e]
}

/// Shape functions of an element at barycentric coordinates.
pub(super) fn shape(order: Order, l: [f64; 4]) -> Vec<f64> {
    match order {
        Order::Linear => l.to_vec(),
        Order::Quadratic => {
            let corners = l.iter().map(|l| l * (2.0 * l - 1.0));
            corners.chain(EDGES.iter().map(|[a, b]| 4.0 * l[*a] * l[*b])).collect()
        }
    }
}

/// The element around a point, or the one that it is least outside of, and its smallest barycentric
/// coordinate where that is negative.
pub(super) fn locate(mesh: &TetMesh, x: DVec3) -> (EmbeddedVertex, Option<f64>) {
    let mut best = (0, [0.0; 4], f64::NEG_INFINITY);
    for e in 0..mesh.element_count() {
        let l = barycentric(mesh, e, x);
        let least = l.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        if least > best.2 {
            best = (e, l, least);
        }
    }
    let (element, l, least) = best;
    let vertex = EmbeddedVertex { element, weights: shape(mesh.order(), l) };
    (vertex, (least < -ROUNDING).then_some(least))
}
