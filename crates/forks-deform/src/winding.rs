//! What is inside of a closed surface.
//!
//! Seen from far away a patch covers as much of the sky as any other with the same border: where a
//! point is outside of a patch's box, a fan over its border stands for it, so that a point costs
//! about the root of the number of triangles (Jacobson, Kavan and Sorkine-Hornung 2013, §4).

use std::collections::BTreeMap;

use forks_dynamics::mechanism::{geometry::mesh::Mesh, lie::glam::DVec3};

/// Triangles of a patch that is not divided.
const LEAF: usize = 16;

/// How often a surface goes round points.
pub(crate) struct Winding<'a> {
    vertices: &'a [DVec3],
    root: Patch,
}

/// Some triangles.
struct Patch {
    low: DVec3,
    high: DVec3,
    /// Triangles with the same border, as many as or fewer than there are.
    fan: Vec<[usize; 3]>,
    inner: Inner,
}

enum Inner {
    Whole(Vec<[usize; 3]>),
    Parts(Box<[Patch; 2]>),
}

impl<'a> Winding<'a> {
    pub(crate) fn new(surface: &'a Mesh) -> Self {
        let vertices = &surface.vertices[..];
        Self { vertices, root: Patch::new(vertices, surface.faces.clone()) }
    }

    /// How often the surface goes round a point, exactly but for rounding; no number where the
    /// point is in the surface.
    pub(crate) fn number(&self, x: DVec3) -> f64 {
        self.root.angle(self.vertices, x) / (4.0 * std::f64::consts::PI)
    }

    pub(crate) fn is_inside(&self, x: DVec3) -> bool {
        self.number(x) > 0.5
    }
}

impl Patch {
    fn new(vertices: &[DVec3], mut faces: Vec<[usize; 3]>) -> Self {
        let points = || faces.iter().flatten().map(|&v| vertices[v]);
        let low = points().fold(DVec3::INFINITY, DVec3::min);
        let high = points().fold(DVec3::NEG_INFINITY, DVec3::max);
        let mut fan = fan(&faces);
        if fan.len() > faces.len() {
            fan.clone_from(&faces);
        }
        let inner = if faces.len() <= LEAF {
            Inner::Whole(faces)
        } else {
            let size = (high - low).to_array();
            let axis = (0..3).fold(0, |m, i| if size[i] > size[m] { i } else { m });
            let middle = |f: &[usize; 3]| f.iter().map(|&v| vertices[v][axis]).sum::<f64>();
            let half = faces.len() / 2;
            faces.select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)));
            let rest = faces.split_off(half);
            Inner::Parts(Box::new([faces, rest].map(|part| Self::new(vertices, part))))
        };
        Self { low, high, fan, inner }
    }

    /// The solid angle that is covered, seen from a point.
    fn angle(&self, vertices: &[DVec3], x: DVec3) -> f64 {
        if x.cmplt(self.low).any() || x.cmpgt(self.high).any() {
            return covered(vertices, &self.fan, x);
        }
        match &self.inner {
            Inner::Whole(faces) => covered(vertices, faces, x),
            Inner::Parts(parts) => parts.iter().map(|p| p.angle(vertices, x)).sum(),
        }
    }
}

/// Triangles from one corner over all edges that no other triangle goes back along.
fn fan(faces: &[[usize; 3]]) -> Vec<[usize; 3]> {
    let mut times: BTreeMap<[usize; 2], i32> = BTreeMap::new();
    for &[a, b, c] in faces {
        for [i, j] in [[a, b], [b, c], [c, a]] {
            let (edge, sign) = if i < j { ([i, j], 1) } else { ([j, i], -1) };
            *times.entry(edge).or_default() += sign;
        }
    }
    let mut out = Vec::new();
    let mut corner = None;
    for ([i, j], count) in times {
        let first = *corner.get_or_insert(i);
        let [i, j] = if count > 0 { [i, j] } else { [j, i] };
        if first != i && first != j {
            out.extend(std::iter::repeat_n([first, i, j], count.unsigned_abs() as usize));
        }
    }
    out
}

/// The solid angle of triangles \[Van Oosterom and Strackee 1983\].
fn covered(vertices: &[DVec3], faces: &[[usize; 3]], x: DVec3) -> f64 {
    let angle = |f: &[usize; 3]| {
        let [a, b, c] = f.map(|i| vertices[i] - x);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let det = a.dot(b.cross(c));
        let den = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * det.atan2(den)
    };
    faces.iter().map(angle).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bumpy sphere of 2 (rings − 1) columns triangles, some of them left out.
    fn surface(rings: usize, columns: usize, without: usize) -> Mesh {
        let mut vertices = vec![DVec3::Z * 1.3, DVec3::NEG_Z];
        for i in 1..rings {
            for j in 0..columns {
                let a = std::f64::consts::PI * i as f64 / rings as f64;
                let b = std::f64::consts::TAU * j as f64 / columns as f64;
                let r = 1.0 + 0.3 * (5.0 * a).sin() * (3.0 * b).cos();
                vertices.push(DVec3::new(a.sin() * b.cos(), a.sin() * b.sin(), a.cos()) * r);
            }
        }
        let at = |i: usize, j: usize| 2 + (i - 1) * columns + j % columns;
        let mut faces = Vec::new();
        for j in 0..columns {
            faces.push([0, at(1, j), at(1, j + 1)]);
            faces.push([1, at(rings - 1, j + 1), at(rings - 1, j)]);
            for i in 1..rings - 1 {
                faces.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                faces.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
            }
        }
        faces.drain(..without);
        Mesh { vertices, faces }
    }

    #[test]
    fn patches_cover_what_their_triangles_do() {
        for (rings, columns, without) in [(3, 4, 0), (40, 30, 0), (40, 30, 7), (25, 60, 900)] {
            let mesh = surface(rings, columns, without);
            let winding = Winding::new(&mesh);
            let mut worst = 0.0f64;
            for k in 0..600 {
                // Points inside, near the surface and outside.
                let turn = |f: f64| (f * k as f64).fract() * 2.0 - 1.0;
                let x = DVec3::new(turn(0.618_034), turn(0.754_878), turn(0.569_840)) * 1.5;
                let all = covered(&mesh.vertices, &mesh.faces, x) / (4.0 * std::f64::consts::PI);
                worst = worst.max((winding.number(x) - all).abs());
                if without == 0 {
                    assert!((all - all.round()).abs() < 1e-9);
                }
            }
            assert!(worst < 1e-10, "{worst}");
        }
    }
}
