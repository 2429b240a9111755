//! Bodies of the size of those of \[K08\] Table 2, along x, from 0 to their length, about the axis.

use forks_dynamics::mechanism::lie::glam::DVec3;

use super::{MeshError, TetMesh};

impl TetMesh {
    /// A worm: 224 nodes, 702 elements (\[K08\]: 224, 714); 0.6 m × 0.1 m × 0.1 m.
    pub fn worm() -> Self {
        round([13, 3, 3], DVec3::new(0.6, 0.1, 0.1), |_| DVec3::ONE)
    }

    /// A fish: 108 nodes, 264 elements (\[K08\]: 107, 415); 0.3 m × 0.06 m × 0.1 m, its height and
    /// width falling toward the tail.
    pub fn fish() -> Self {
        round([11, 2, 2], DVec3::new(0.3, 0.06, 0.1), |s| {
            let bulge = 0.45 + 0.55 * (std::f64::consts::PI * (0.15 + 0.75 * s)).sin();
            DVec3::new(1.0, bulge, bulge)
        })
    }

    /// A finger: 52 nodes, 72 elements (\[K08\]: 52, 119); 0.09 m × 0.016 m × 0.016 m, thinner at
    /// the tip.
    pub fn finger() -> Self {
        round([12, 1, 1], DVec3::new(0.09, 0.016, 0.016), |s| {
            let width = 1.0 - 0.25 * s * s;
            DVec3::new(1.0, width, width)
        })
    }
}

/// A box about the x axis whose sections at x = s L are scaled.
fn round(cells: [usize; 3], size: DVec3, scale: impl Fn(f64) -> DVec3) -> TetMesh {
    let middle = DVec3::new(0.0, 0.5 * size.y, 0.5 * size.z);
    let shaped = |mesh: TetMesh| -> Result<TetMesh, MeshError> {
        mesh.mapped(|x| (x - middle) * scale(x.x / size.x))
    };
    // Sizes and scales are those written above, which no argument changes.
    TetMesh::kuhn(cells, size).and_then(shaped).expect("a box with positive edges")
}
