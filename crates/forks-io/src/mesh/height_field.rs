//! Height fields as triangles.

use forks_lie::glam::{DVec2, DVec3};

/// Corners and triangles of heights over a rectangle, row after row; two triangles for each cell.
pub(super) fn triangles(
    size: DVec2,
    columns: usize,
    heights: &[f64],
) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let rows = heights.len() / columns;
    let along = |i: usize, n: usize, side: f64| side * (i as f64 / (n - 1) as f64 - 0.5);
    let vertex = |(k, z): (usize, &f64)| {
        DVec3::new(along(k % columns, columns, size.x), along(k / columns, rows, size.y), *z)
    };
    let vertices = heights.iter().enumerate().map(vertex).collect();
    let mut triangles = Vec::with_capacity(2 * (rows - 1) * (columns - 1));
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let a = (row * columns + column) as u32;
            let [b, c, d] = [a + 1, a + 1 + columns as u32, a + columns as u32];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (vertices, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_run_along_y_and_faces_look_up() {
        let heights = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let (v, t) = triangles(DVec2::new(4.0, 2.0), 3, &heights);
        assert_eq!(v[0], DVec3::new(-2.0, -1.0, 0.0));
        assert_eq!(v[2], DVec3::new(2.0, -1.0, 2.0));
        assert_eq!(v[4], DVec3::new(0.0, 1.0, 4.0));
        assert_eq!(t.len(), 4);
        for [a, b, c] in t.map_corners(&v) {
            assert!((b - a).cross(c - a).z > 0.0);
        }
    }

    trait Corners {
        fn map_corners(&self, v: &[DVec3]) -> Vec<[DVec3; 3]>;
    }

    impl Corners for Vec<[u32; 3]> {
        fn map_corners(&self, v: &[DVec3]) -> Vec<[DVec3; 3]> {
            self.iter().map(|t| t.map(|i| v[i as usize])).collect()
        }
    }
}
