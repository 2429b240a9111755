//! Triangles with colours.

use forks_geometry::{
    lie::glam::DVec3,
    mesh::{Mesh, MeshError},
};

/// Red, green, blue (sRGB) and opacity.
pub type Rgba = [u8; 4];

/// A mesh whose triangles may have colours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PaintedMesh {
    /// All triangles.
    pub mesh: Mesh,
    /// Colours of materials; `None` for one that says nothing about it.
    pub colours: Vec<Option<Rgba>>,
    /// The number of each triangle's colour; empty where the file has no materials.
    pub colour_of: Vec<usize>,
}

/// The triangles of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The triangles; no vertex that none of them needs.
    pub mesh: Mesh,
    /// Their colour, if the file has one.
    pub colour: Option<Rgba>,
}

impl PaintedMesh {
    /// A mesh without colours.
    pub fn plain(mesh: Mesh) -> Self {
        Self { mesh, colours: Vec::new(), colour_of: Vec::new() }
    }

    /// The number of a colour, entered if it is new.
    pub(crate) fn colour(&mut self, colour: Option<Rgba>) -> usize {
        self.colours.iter().position(|c| *c == colour).unwrap_or_else(|| {
            self.colours.push(colour);
            self.colours.len() - 1
        })
    }

    /// Adds a triangle of a colour.
    pub(crate) fn add(&mut self, corners: [usize; 3], colour: usize) {
        self.mesh.faces.push(corners);
        self.colour_of.push(colour);
    }

    /// One piece per colour, in the order of their first triangles.
    pub fn pieces(&self) -> Vec<Piece> {
        if self.colour_of.is_empty() {
            return vec![Piece { mesh: self.mesh.clone(), colour: None }];
        }
        let mut order: Vec<usize> = Vec::new();
        let mut faces: Vec<Vec<[usize; 3]>> = vec![Vec::new(); self.colours.len()];
        for (f, &c) in self.mesh.faces.iter().zip(&self.colour_of) {
            if faces[c].is_empty() {
                order.push(c);
            }
            faces[c].push(*f);
        }
        let piece = |c: usize| Piece {
            mesh: needed(&self.mesh.vertices, &faces[c]),
            colour: self.colours[c],
        };
        order.into_iter().map(piece).collect()
    }

    /// The mesh, if its numbers are finite and refer to what is there.
    pub(crate) fn checked(self) -> Result<Self, MeshError> {
        let Self { mesh, colours, colour_of } = self;
        let fits = colour_of.is_empty() || colour_of.len() == mesh.faces.len();
        if !fits || colour_of.iter().any(|&c| c >= colours.len()) {
            return Err("its triangles have colours that are not there".to_owned().into());
        }
        Ok(Self { mesh: mesh.checked()?, colours, colour_of })
    }
}

/// Triangles with those of the vertices that they need, in the order of their use.
fn needed(vertices: &[DVec3], faces: &[[usize; 3]]) -> Mesh {
    let mut place = vec![usize::MAX; vertices.len()];
    let mut out = Mesh::default();
    for f in faces {
        let f = f.map(|i| {
            if place[i] == usize::MAX {
                place[i] = out.vertices.len();
                out.vertices.push(vertices[i]);
            }
            place[i]
        });
        out.faces.push(f);
    }
    out
}

/// A number from 0 to 1 as a byte.
pub(crate) fn byte(x: f64) -> u8 {
    // Casts saturate, and take what is no number for 0.
    (x.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_their_own_vertices() {
        let mut m = PaintedMesh::default();
        m.mesh.vertices = (0..5).map(|i| DVec3::X * f64::from(i)).collect();
        let (red, none) = (m.colour(Some([255, 0, 0, 255])), m.colour(None));
        m.add([4, 3, 2], none);
        m.add([0, 1, 4], red);
        assert_eq!(m.colour(None), none);
        let pieces = m.checked().unwrap().pieces();
        assert_eq!(pieces[0].mesh.vertices, [4.0, 3.0, 2.0].map(|x| DVec3::X * x));
        assert_eq!((pieces[0].colour, pieces[1].colour), (None, Some([255, 0, 0, 255])));
        assert_eq!((pieces.len(), &pieces[1].mesh.faces[..]), (2, &[[0, 1, 2]][..]));
    }

    #[test]
    fn numbers_that_are_none_are_dark() {
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 7.0, f64::NAN].map(byte), [0, 0, 128, 255, 255, 0]);
    }
}
