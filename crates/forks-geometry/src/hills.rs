//! Random hills as heights on a grid.

use core::f64::consts::TAU;

use forks_lie::{SplitMix64, glam::DVec2};

/// Heights of smooth random hills on a rectangle, rows from −y to y of heights from −x to x: a sum
/// of sine waves of random directions and phases, from 0 to `height` (m), tops `spacing` (m) apart,
/// level at half the height within `flat` (m) of the origin.
///
/// # Panics
/// If there are fewer than two points along a side.
pub fn hills(
    size: [f64; 2],
    points: [usize; 2],
    height: f64,
    spacing: f64,
    seed: u64,
    flat: f64,
) -> Vec<f64> {
    const WAVES: usize = 12;
    assert!(points[0] > 1 && points[1] > 1, "points along a side");
    let mut random = SplitMix64::new(seed);
    let waves: Vec<(DVec2, f64)> = (0..WAVES)
        .map(|_| {
            let (angle, phase) = (TAU * random.uniform(), TAU * random.uniform());
            let length = spacing * (0.7 + 0.8 * random.uniform());
            (DVec2::new(angle.cos(), angle.sin()) * (TAU / length), phase)
        })
        .collect();
    let place = |i: usize, n: usize, side: f64| side * (i as f64 / (n - 1) as f64 - 0.5);
    let mut raw = Vec::with_capacity(points[0] * points[1]);
    for row in 0..points[1] {
        for column in 0..points[0] {
            let x = DVec2::new(place(column, points[0], size[0]), place(row, points[1], size[1]));
            raw.push(waves.iter().map(|(k, phase)| (k.dot(x) + phase).sin()).sum::<f64>());
        }
    }
    let (low, high) = raw.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
    let mut heights = Vec::with_capacity(raw.len());
    for (k, x) in raw.iter().enumerate() {
        let (column, row) = (k % points[0], k / points[0]);
        let r = DVec2::new(place(column, points[0], size[0]), place(row, points[1], size[1]));
        let out = if flat > 0.0 { (r.length() / flat - 1.0).clamp(0.0, 1.0) } else { 1.0 };
        let hill = height * (x - low) / (high - low).max(f64::MIN_POSITIVE);
        heights.push(0.5 * height + out * (hill - 0.5 * height));
    }
    heights
}
