//! What is inside of a closed surface.

use forks_dynamics::mechanism::{geometry::mesh::Mesh, lie::glam::DVec3};

/// How often the surface goes round a point: solid angles over 4π \[Van Oosterom and Strackee
/// 1983\].
pub(crate) fn winding_number(surface: &Mesh, x: DVec3) -> f64 {
    let angle = |f: &[usize; 3]| {
        let [a, b, c] = f.map(|i| surface.vertices[i] - x);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let det = a.dot(b.cross(c));
        let den = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * det.atan2(den)
    };
    surface.faces.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}
