//! Projected drawings of mechanisms: several poses of the same links laid over each other.

use std::path::Path;

use forks_lie::{Pose, glam::DVec3};

use super::{
    Axis, Stroke,
    axis::Range,
    chart::{Chart, Group, equal_scales},
    colour,
};
use crate::{IoError, error::finite, write_atomically};

/// A parallel projection: which directions of the world point right and up in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    right: DVec3,
    up: DVec3,
    labels: [&'static str; 2],
}

impl View {
    /// x to the right, z up: seen against +y.
    pub const XZ: Self = Self { right: DVec3::X, up: DVec3::Z, labels: ["x", "z"] };
    /// x to the right, y up: seen from above.
    pub const XY: Self = Self { right: DVec3::X, up: DVec3::Y, labels: ["x", "y"] };
    /// y to the right, z up: seen against −x.
    pub const YZ: Self = Self { right: DVec3::Y, up: DVec3::Z, labels: ["y", "z"] };

    /// Seen along any direction: `right` and `up` are made orthonormal, `right` keeps its
    /// direction.
    ///
    /// # Errors
    /// [`IoError::DegenerateView`] if the two are parallel, zero or not finite.
    pub fn new(right: DVec3, up: DVec3) -> Result<Self, IoError> {
        let degenerate = || IoError::DegenerateView { right: right.to_array(), up: up.to_array() };
        let r = right.try_normalize().ok_or_else(degenerate)?;
        let unit_up = up.try_normalize().ok_or_else(degenerate)?;
        let rest = unit_up - r * unit_up.dot(r);
        // Below this the direction of the rest is rounding noise.
        if rest.length() < 1e-12 {
            return Err(degenerate());
        }
        Ok(Self { right: r, up: rest.normalize(), labels: ["right", "up"] })
    }

    fn project(&self, p: DVec3) -> [f64; 2] {
        [p.dot(self.right), p.dot(self.up)]
    }
}

/// One pose of the mechanism: polylines drawn in one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    name: String,
    lines: Vec<Vec<DVec3>>,
    stroke: Stroke,
    marks: bool,
}

impl Layer {
    /// A layer of solid lines through points of the world, m; see [`polyline`].
    pub fn new(name: impl Into<String>, lines: impl IntoIterator<Item = Vec<DVec3>>) -> Self {
        Self {
            name: name.into(),
            lines: lines.into_iter().collect(),
            stroke: Stroke::Solid,
            marks: false,
        }
    }

    /// With another kind of line.
    pub fn stroke(mut self, stroke: Stroke) -> Self {
        self.stroke = stroke;
        self
    }

    /// With a circle at every point.
    pub fn marks(mut self) -> Self {
        self.marks = true;
        self
    }
}

/// The line through the origins of link frames (`world_from_link`), in their order.
pub fn polyline<'a>(world_from_link: impl IntoIterator<Item = &'a Pose>) -> Vec<DVec3> {
    world_from_link.into_iter().map(|p| p.translation).collect()
}

/// A drawing with equal scales in both directions, in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    title: String,
    view: View,
    layers: Vec<Layer>,
}

impl Drawing {
    /// A drawing without layers.
    pub fn new(title: impl Into<String>, view: View) -> Self {
        Self { title: title.into(), view, layers: Vec::new() }
    }

    /// With one more layer on top.
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// The drawing as SVG text.
    ///
    /// # Errors
    /// [`IoError::NotFinite`] with layer and point; [`IoError::Empty`]; [`IoError::RangeTooWide`].
    pub fn render(&self) -> Result<String, IoError> {
        let mut groups = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            groups.push(Group {
                name: &layer.name,
                colour: colour(i),
                stroke: layer.stroke,
                marks: layer.marks,
                width: 2.0,
                lines: self.projected(layer)?,
            });
        }
        let points: Vec<[f64; 2]> =
            groups.iter().flat_map(|g| g.lines.iter().flatten().copied()).collect();
        if points.is_empty() {
            return Err(IoError::Empty { title: self.title.clone() });
        }
        let [x_axis, y_axis] = self.view.labels.map(|name| Axis::linear(name, "m"));
        let (x, y) = equal_scales(
            Range::of(&x_axis, points.iter().map(|p| p[0]))?,
            Range::of(&y_axis, points.iter().map(|p| p[1]))?,
        );
        Ok(Chart { title: &self.title, x: (&x_axis, x), y: (&y_axis, y), groups }.render())
    }

    fn projected(&self, layer: &Layer) -> Result<Vec<Vec<[f64; 2]>>, IoError> {
        let point = |line: usize, i: usize, p: DVec3| {
            let place = || format!("point {i} of line {line} of layer '{}'", layer.name);
            let [x, y] = self.view.project(p);
            Ok([finite(x, place)?, finite(y, place)?])
        };
        let project = |(k, line): (usize, &Vec<DVec3>)| {
            line.iter().enumerate().map(|(i, &p)| point(k, i, p)).collect()
        };
        layer.lines.iter().enumerate().map(project).collect()
    }

    /// Writes the drawing to a file; see [`write_atomically`].
    ///
    /// # Errors
    /// As [`Drawing::render`], and [`IoError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), IoError> {
        write_atomically(path.as_ref(), self.render()?.as_bytes())
    }
}
