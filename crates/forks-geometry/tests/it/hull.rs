//! Convex hulls of clouds, balls and grids.

use std::collections::HashSet;

use forks_geometry::convex_hull;
use forks_lie::{SplitMix64, glam::DVec3};

#[test]
fn hulls_contain_their_points_and_close() {
    let mut random = SplitMix64::new(5);
    let mut next = || random.range(-0.5, 0.5);
    for n in [4, 5, 20, 400, 2000] {
        let mut p: Vec<DVec3> =
            (0..n).map(|_| DVec3::new(next(), 2.0 * next(), 3.0 * next())).collect();
        // Doubled points and points in faces change nothing.
        p.push(p[0]);
        p.push((p[0] + p[1]) * 0.5);
        let faces = convex_hull(&p).unwrap();
        let edges: HashSet<(usize, usize)> =
            faces.iter().flat_map(|f| [(f[0], f[1]), (f[1], f[2]), (f[2], f[0])]).collect();
        assert_eq!(edges.len(), 3 * faces.len(), "{n}: an edge is used twice");
        assert!(edges.iter().all(|(i, j)| edges.contains(&(*j, *i))), "{n}: open");
        for f in &faces {
            let [a, b, c] = f.map(|i| p[i]);
            let normal = (b - a).cross(c - a).normalize();
            assert!(p.iter().all(|x| (*x - a).dot(normal) < 1e-11), "{n}: a point is outside");
        }
    }
}

/// All points of a ball's surface are corners; many of a fine grid lie in common planes.
#[test]
fn balls_and_grids() {
    let n = 3000;
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let ball: Vec<DVec3> = (0..n)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / n as f64;
            let (s, c) = (golden * i as f64).sin_cos();
            DVec3::new(c, s, 0.0) * (1.0 - z * z).sqrt() + DVec3::Z * z
        })
        .collect();
    assert_eq!(convex_hull(&ball).unwrap().len(), 2 * n - 4);
    let side = 0..9;
    let grid: Vec<DVec3> = side
        .clone()
        .flat_map(|x| (0..81).map(move |i| DVec3::new(x as f64, (i / 9) as f64, (i % 9) as f64)))
        .map(|p| p * 0.1)
        .collect();
    let faces = convex_hull(&grid).unwrap();
    let volume: f64 =
        faces.iter().map(|f| grid[f[0]].dot(grid[f[1]].cross(grid[f[2]])) / 6.0).sum();
    assert!((volume - 0.512).abs() < 1e-12, "{volume}");
}

#[test]
fn flat_clouds_have_none() {
    let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
    assert!(convex_hull(&square).is_none());
    assert!(convex_hull(&[DVec3::ONE; 5]).is_none() && convex_hull(&[]).is_none());
}
