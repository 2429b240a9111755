//! Which part of every element a closed surface encloses, and the masses that follow.
//!
//! Elements are cut into 64 parts; a part counts as inside where the winding number of the surface
//! round its centre is above ½ \[JKS13\]. Masses are m_i = ∫ ρ φ_i over the parts
//! inside, scaled so that their sum is ρ times the volume that the surface encloses, and moved so
//! that their centre is its centre.

use forks_dynamics::mechanism::{
    geometry::mesh::Mesh,
    lie::glam::{DMat3, DVec3},
};

use super::{
    Embedded, SoftBody, SoftError, SoftNote,
    embed::{locate, shape},
};
use crate::{
    elastic::Elastic,
    mesh::{Order, TetMesh},
    winding::Winding,
};

/// The least filled part of an element: with less, its stiffness would vanish before its mass.
const LEAST: f64 = 1e-3;

impl SoftBody {
    /// The same body within a closed surface (m, world frame): filled where the surface encloses an
    /// element, with the surface embedded.
    ///
    /// # Errors
    /// A surface that encloses no volume, or nothing of the mesh.
    pub fn with_surface(mut self, surface: &Mesh) -> Result<Self, SoftError> {
        let (volume, center) = enclosed(surface);
        if volume.is_nan() || volume <= 0.0 {
            return Err(SoftError::Surface(volume));
        }
        let count = self.mesh.element_count();
        let (mut filled, mut masses) = (vec![0.0; count], vec![0.0; self.masses.len()]);
        let winding = Winding::new(surface);
        for (e, filled) in filled.iter_mut().enumerate() {
            *filled = fill(&self.mesh, e, &winding, &mut masses);
        }
        let total: f64 = masses.iter().sum();
        if total.is_nan() || total <= 0.0 {
            return Err(SoftError::Outside);
        }
        let material = *self.elastic.material();
        let scale = material.density() * volume / total;
        // Elements that hold next to nothing keep a little of mass and stiffness alike.
        let mut extra = vec![0.0; masses.len()];
        for (element, part) in filled.iter_mut().enumerate() {
            if *part < LEAST {
                self.notes.push(SoftNote::Empty { element, filled: *part });
                let nodes = self.mesh.element(element);
                let mass = LEAST * self.mesh.volume(element) / nodes.len() as f64;
                nodes.iter().for_each(|&n| extra[n] += mass);
                *part = LEAST;
            }
        }
        let least: f64 = extra.iter().sum();
        let whole = material.density() * volume;
        let kept = whole / (whole + material.density() * least);
        for (m, e) in masses.iter_mut().zip(&extra) {
            *m = (*m * scale + material.density() * e) * kept;
        }
        move_center(self.mesh.nodes(), &mut masses, center);
        self.masses = masses;
        self.elastic = Elastic::filled(&self.mesh, material, &filled);
        self.surface = Some(self.embedded(surface));
        Ok(self)
    }

    fn embedded(&mut self, surface: &Mesh) -> Embedded {
        let mut vertices = Vec::with_capacity(surface.vertices.len());
        for (vertex, x) in surface.vertices.iter().enumerate() {
            let (found, outside) = locate(&self.mesh, *x);
            if let Some(depth) = outside {
                self.notes.push(SoftNote::Outside { vertex, element: found.element, depth });
            }
            vertices.push(found);
        }
        Embedded { vertices, faces: surface.faces.clone() }
    }
}

/// Volume that triangles enclose, m³, and its centre.
fn enclosed(surface: &Mesh) -> (f64, DVec3) {
    let [low, high] = [f64::min, f64::max].map(|f| {
        surface
            .vertices
            .iter()
            .fold(surface.vertices[0], |m, v| DVec3::new(f(m.x, v.x), f(m.y, v.y), f(m.z, v.z)))
    });
    let middle = 0.5 * (low + high);
    let (mut volume, mut moment) = (0.0, DVec3::ZERO);
    for f in &surface.faces {
        let [a, b, c] = f.map(|i| surface.vertices[i] - middle);
        let part = a.dot(b.cross(c)) / 6.0;
        volume += part;
        moment += (a + b + c) * (0.25 * part);
    }
    (volume, middle + moment / volume)
}

/// Masses m_i (1 + a·(x_i − c)) whose centre is the given one: sums over parts of elements are off
/// by a part of a cell. Left as they are where a node would lose half of its mass.
fn move_center(nodes: &[DVec3], masses: &mut [f64], center: DVec3) {
    let whole: f64 = masses.iter().sum();
    let mean = nodes.iter().zip(&*masses).map(|(x, m)| *x * *m).sum::<DVec3>() / whole;
    let mut spread = DMat3::ZERO;
    for (x, m) in nodes.iter().zip(&*masses) {
        let (d, m) = (*x - mean, *m);
        spread += DMat3::from_cols(d * (d.x * m), d * (d.y * m), d * (d.z * m));
    }
    let a = spread.inverse() * ((center - mean) * whole);
    let change = |x: &DVec3| a.dot(*x - mean);
    if a.is_finite() && nodes.iter().all(|x| change(x).abs() < 0.5) {
        masses.iter_mut().zip(nodes).for_each(|(m, x)| *m *= 1.0 + change(x));
    }
}

/// The filled part of an element; adds volumes ∫ φ_i to its nodes.
fn fill(mesh: &TetMesh, element: usize, surface: &Winding<'_>, masses: &mut [f64]) -> f64 {
    let unit =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let parts: Vec<[[f64; 4]; 4]> = halves(unit).into_iter().flat_map(halves).collect();
    let (corners, volume) = (mesh.corners(element), mesh.volume(element) / parts.len() as f64);
    let mut inside = 0;
    for p in &parts {
        let middle: [f64; 4] =
            std::array::from_fn(|i| 0.25 * (p[0][i] + p[1][i] + p[2][i] + p[3][i]));
        let x: DVec3 = corners.iter().zip(middle).map(|(c, l)| *c * l).sum();
        if surface.is_inside(x) {
            inside += 1;
            let lumped = match mesh.order() {
                Order::Linear => shape(Order::Linear, middle),
                Order::Quadratic => hinton(middle),
            };
            for (&n, w) in mesh.element(element).iter().zip(lumped) {
                masses[n] += w * volume;
            }
        }
    }
    f64::from(inside) / parts.len() as f64
}

/// The squares of the quadratic shape functions over their sum: what HRZ lumping gives a point.
fn hinton(l: [f64; 4]) -> Vec<f64> {
    let squares: Vec<f64> = shape(Order::Quadratic, l).iter().map(|n| n * n).collect();
    let sum: f64 = squares.iter().sum();
    squares.iter().map(|s| s / sum).collect()
}

/// The eight tetrahedra between corners and middles of edges, of equal volume.
fn halves(t: [[f64; 4]; 4]) -> [[[f64; 4]; 4]; 8] {
    let m = |a: usize, b: usize| std::array::from_fn(|i| 0.5 * (t[a][i] + t[b][i]));
    let (ab, ac, ad, bc, bd, cd) = (m(0, 1), m(0, 2), m(0, 3), m(1, 2), m(1, 3), m(2, 3));
    [
        [t[0], ab, ac, ad],
        [ab, t[1], bc, bd],
        [ac, bc, t[2], cd],
        [ad, bd, cd, t[3]],
        [ab, ac, ad, bd],
        [ab, ac, bc, bd],
        [ac, ad, bd, cd],
        [ac, bc, bd, cd],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::signed_volume;

    #[test]
    fn eight_parts_have_an_eighth_each() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::new(0.3, 2.0, 0.1), DVec3::new(0.2, 0.4, 1.5)];
        let unit: [[f64; 4]; 4] =
            std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
        let whole = signed_volume(corners);
        for part in halves(unit) {
            let x = part.map(|l| corners.iter().zip(l).map(|(c, l)| *c * l).sum::<DVec3>());
            assert!((signed_volume(x).abs() / whole - 0.125).abs() < 1e-15);
        }
    }
}
