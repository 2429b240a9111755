//! Elements prepared for their sums: gradients of shape functions at quadrature points.
//!
//! F = Σ x_a ∇N_aᵀ, forces f_a = −w V P ∇N_a (\[K08\] Eq. 14, 15: with outward normals of the
//! undeformed faces, b_a = −V ∇N_a). Tet4 has one point; Tet10 four, exact to degree 2.

use forks_dynamics::mechanism::lie::glam::{DMat3, DVec3};

use crate::mesh::{EDGES, Order, TetMesh};

/// Barycentric coordinates of the four-point rule: (5 + 3√5)/20 and (5 − √5)/20.
const NEAR: f64 = 0.585_410_196_624_968_5;
const FAR: f64 = 0.138_196_601_125_010_5;

/// A mesh prepared for sums over its elements.
#[derive(Clone, Debug)]
pub struct Elements {
    /// Nodes per element.
    per_element: usize,
    /// Quadrature points per element.
    points: usize,
    connectivity: Vec<usize>,
    /// ∇N_a at every point, 1/m: element by element, point by point, node by node.
    gradients: Vec<DVec3>,
    /// w V / points, m³, element by element.
    weights: Vec<f64>,
    /// Volume of the material in every element, m³.
    volumes: Vec<f64>,
    nodes: usize,
}

/// One quadrature point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a> {
    pub(crate) nodes: &'a [usize],
    pub(crate) gradients: &'a [DVec3],
    /// Volume, m³.
    pub(crate) weight: f64,
}

impl Point<'_> {
    /// F at positions of all nodes.
    #[inline]
    pub(crate) fn deformation(&self, x: &[DVec3]) -> DMat3 {
        let mut f = DMat3::ZERO;
        for (&n, g) in self.nodes.iter().zip(self.gradients) {
            let x = x[n];
            f.x_axis += x * g.x;
            f.y_axis += x * g.y;
            f.z_axis += x * g.z;
        }
        f
    }
}

impl Elements {
    /// Prepares a mesh; `filled` holds the filled part of every element, and is empty where all are
    /// full.
    pub(crate) fn new(mesh: &TetMesh, filled: &[f64]) -> Self {
        let count = mesh.element_count();
        let points = match mesh.order() {
            Order::Linear => 1,
            Order::Quadratic => 4,
        };
        let per_element = mesh.order().nodes();
        let mut out = Self {
            per_element,
            points,
            connectivity: mesh.connectivity.clone(),
            gradients: Vec::with_capacity(count * points * per_element),
            weights: Vec::with_capacity(count),
            volumes: Vec::with_capacity(count),
            nodes: mesh.nodes().len(),
        };
        for e in 0..count {
            let corners = barycentric_gradients(mesh.edge_matrix(e));
            match mesh.order() {
                Order::Linear => out.gradients.extend(corners),
                Order::Quadratic => {
                    (0..4).for_each(|p| out.gradients.extend(quadratic_gradients(&corners, p)));
                }
            }
            let volume = mesh.volume(e) * filled.get(e).copied().unwrap_or(1.0);
            out.volumes.push(volume);
            out.weights.push(volume / points as f64);
        }
        out
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// Nodes of an element.
    pub fn element(&self, e: usize) -> &[usize] {
        &self.connectivity[e * self.per_element..][..self.per_element]
    }

    /// Volume of the material in an element, m³.
    pub fn volume(&self, e: usize) -> f64 {
        self.volumes[e]
    }

    /// Points of an element.
    #[inline]
    pub(crate) fn points(&self, e: usize) -> impl Iterator<Item = Point<'_>> {
        let (n, weight) = (self.per_element, self.weights[e]);
        let nodes = &self.connectivity[e * n..][..n];
        let gradients = &self.gradients[e * n * self.points..][..n * self.points];
        gradients.chunks_exact(n).map(move |gradients| Point { nodes, gradients, weight })
    }

    /// Deformation gradients at the points of an element.
    pub fn deformations(&self, e: usize, x: &[DVec3]) -> Vec<DMat3> {
        self.points(e).map(|p| p.deformation(x)).collect()
    }

    /// Masses of the nodes for a density (kg/m³): a quarter of the element's mass to each corner of
    /// a linear element; 1/36 to each corner and 4/27 to each middle of a quadratic one, the
    /// diagonal of its mass matrix scaled to the whole (\[HRZ76\]).
    pub fn lumped_masses(&self, density: f64) -> Vec<f64> {
        let mut masses = vec![0.0; self.nodes];
        for e in 0..self.count() {
            let whole = density * self.volume(e);
            for (i, &n) in self.element(e).iter().enumerate() {
                masses[n] += whole
                    * match (self.per_element, i) {
                        (4, _) => 0.25,
                        (_, 0..4) => 1.0 / 36.0,
                        _ => 4.0 / 27.0,
                    };
            }
        }
        masses
    }
}

/// Gradients of the four barycentric coordinates.
pub(crate) fn barycentric_gradients(edges: DMat3) -> [DVec3; 4] {
    let rows = edges.inverse().transpose();
    let [b, c, d] = [rows.x_axis, rows.y_axis, rows.z_axis];
    [-(b + c + d), b, c, d]
}

/// Gradients of the ten shape functions at a point of the rule: L(2L − 1) and 4 L_a L_b.
fn quadratic_gradients(g: &[DVec3; 4], point: usize) -> [DVec3; 10] {
    let mut l = [FAR; 4];
    l[point] = NEAR;
    let mut out = [DVec3::ZERO; 10];
    for i in 0..4 {
        out[i] = g[i] * (4.0 * l[i] - 1.0);
    }
    for (out, [a, b]) in out[4..].iter_mut().zip(EDGES) {
        *out = (g[b] * l[a] + g[a] * l[b]) * 4.0;
    }
    out
}
