//! Surfaces whose corners move one by one.

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
