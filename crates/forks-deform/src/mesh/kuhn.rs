//! Boxes of cells cut into six tetrahedra each \[Ku60\]: neighbours share the diagonals of
//! their faces.

use forks_dynamics::mechanism::lie::glam::DVec3;

use super::{MeshError, MeshNote, TetMesh};

/// Corners of the six tetrahedra; bit 2 of a corner is x, bit 1 y, bit 0 z.
const KUHN: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

impl TetMesh {
    /// A box from the origin to `size` (m), cut into cells along x, y and z. Nodes come in the
    /// order of x, then y, then z.
    ///
    /// # Errors
    /// No cells along an edge, an edge that is not positive.
    pub fn kuhn(cells: [usize; 3], size: DVec3) -> Result<Self, MeshError> {
        let [nx, ny, nz] = cells;
        let size_is_good = size.is_finite() && size.min_element() > 0.0;
        if cells.contains(&0) || !size_is_good {
            return Err(MeshError::EmptyBox { cells, size: size.to_array() });
        }
        let at = |i: usize, n: usize, length: f64| length * (i as f64 / n as f64);
        let mut nodes = Vec::with_capacity((nx + 1) * (ny + 1) * (nz + 1));
        for i in 0..=nx {
            for j in 0..=ny {
                for k in 0..=nz {
                    nodes.push(DVec3::new(at(i, nx, size.x), at(j, ny, size.y), at(k, nz, size.z)));
                }
            }
        }
        let index = |i: usize, j: usize, k: usize| (i * (ny + 1) + j) * (nz + 1) + k;
        let mut elements = Vec::with_capacity(6 * nx * ny * nz);
        for i in 0..nx {
            for j in 0..ny {
                for k in 0..nz {
                    let corner = |b: usize| index(i + (b >> 2 & 1), j + (b >> 1 & 1), k + (b & 1));
                    elements.extend(KUHN.map(|t| t.map(corner)));
                }
            }
        }
        let mut mesh = Self::new(nodes, &elements)?;
        // Three of the six are mirror images of the others; that is how the cut is written.
        mesh.notes.retain(|n| !matches!(n, MeshNote::Turned { .. }));
        Ok(mesh)
    }
}
