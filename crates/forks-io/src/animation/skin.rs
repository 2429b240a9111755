//! Surfaces whose corners move one by one.

use forks_lie::glam::DVec3;
use serde::Serialize;

use super::Colour;

/// A surface that changes its form: frames hold the places of its corners in the world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skin {
    /// Number of the body that it is listed, hidden and selected with; the body's pose does not
    /// move it.
    pub body: usize,
    /// Number of corners.
    pub corners: usize,
    /// Three corners each, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Its colour; without one that of the body.
    pub colour: Option<Colour>,
}

/// Steps along each side of a box.
const STEPS: f64 = 65535.0;

/// Corners of one frame in few bytes, as the viewer reads them: a box around them, and places in it
/// by 16 bits each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedCorners {
    /// The lowest corner of the box, and what a step is along each side; not finite where single
    /// precision does not hold it.
    pub bounds: [f32; 6],
    /// Steps from the lowest corner, three per corner.
    pub places: Vec<u16>,
}

impl PackedCorners {
    /// Of corners of a surface.
    pub fn new(corners: &[DVec3]) -> Self {
        let first = corners.first().copied().unwrap_or_default();
        let (low, high) = corners.iter().fold((first, first), |(l, h), x| (l.min(*x), h.max(*x)));
        let step = (high - low) / STEPS;
        let along = |x: f64, low: f64, step: f64| match step > 0.0 {
            true => ((x - low) / step).round().clamp(0.0, STEPS) as u16,
            false => 0,
        };
        let place = |x: &DVec3| {
            [along(x.x, low.x, step.x), along(x.y, low.y, step.y), along(x.z, low.z, step.z)]
        };
        let ([a, b, c], [d, e, f]) = (low.as_vec3().to_array(), step.as_vec3().to_array());
        Self { bounds: [a, b, c, d, e, f], places: corners.iter().flat_map(place).collect() }
    }
}
