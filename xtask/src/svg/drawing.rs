//! Projected drawings of mechanisms: several poses of the same links laid over each other.

use std::path::Path;

use forks_io::{lie::glam::DVec3, write_atomically};

use super::{
    Axis, Stroke,
    axis::Range,
    chart::{Chart, Group, equal_scales},
    colour,
    error::{PlotError, finite},
};

/// A parallel projection: which directions of the world point right and up in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    right: DVec3,
    up: DVec3,
}

impl View {
    /// Seen along any direction: `right` and `up` are made orthonormal, `right` keeps its
    /// direction.
    ///
    /// # Errors
    /// [`PlotError::DegenerateView`] if the two are parallel, zero or not finite.
    pub(crate) fn new(right: DVec3, up: DVec3) -> Result<Self, PlotError> {
        let degenerate =
            || PlotError::DegenerateView { right: right.to_array(), up: up.to_array() };
        let r = right.try_normalize().ok_or_else(degenerate)?;
        let unit_up = up.try_normalize().ok_or_else(degenerate)?;
        let rest = unit_up - r * unit_up.dot(r);
        // Below this the direction of the rest is rounding noise.
        if rest.length() < 1e-12 {
            return Err(degenerate());
        }
        Ok(Self { right: r, up: rest.normalize() })
    }

    fn project(&self, p: DVec3) -> [f64; 2] {
        [p.dot(self.right), p.dot(self.up)]
    }
}

/// One pose of the mechanism: polylines drawn in one colour.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layer {
    name: String,
    lines: Vec<Vec<DVec3>>,
    stroke: Stroke,
    marks: bool,
}

impl Layer {
    /// A layer of solid lines through points of the world, m.
    pub(crate) fn new(
        name: impl Into<String>,
        lines: impl IntoIterator<Item = Vec<DVec3>>,
    ) -> Self {
        Self {
            name: name.into(),
            lines: lines.into_iter().collect(),
            stroke: Stroke::Solid,
            marks: false,
        }
    }

    /// With another kind of line.
    pub(crate) fn stroke(mut self, stroke: Stroke) -> Self {
        self.stroke = stroke;
        self
    }

    /// With a circle at every point.
    pub(crate) fn marks(mut self) -> Self {
        self.marks = true;
        self
    }
}

/// A drawing with equal scales in both directions, in metres.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawing {
    title: String,
    view: View,
    layers: Vec<Layer>,
}

impl Drawing {
    /// A drawing without layers.
    pub(crate) fn new(title: impl Into<String>, view: View) -> Self {
        Self { title: title.into(), view, layers: Vec::new() }
    }

    /// With one more layer on top.
    pub(crate) fn layer(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// The drawing as SVG text.
    ///
    /// # Errors
    /// [`PlotError::NotFinite`] with layer and point; [`PlotError::Empty`];
    /// [`PlotError::RangeTooWide`].
    pub(crate) fn render(&self) -> Result<String, PlotError> {
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
            return Err(PlotError::Empty { title: self.title.clone() });
        }
        let [x_axis, y_axis] = ["right", "up"].map(|name| Axis::linear(name, "m"));
        let (x, y) = equal_scales(
            Range::of(&x_axis, points.iter().map(|p| p[0]))?,
            Range::of(&y_axis, points.iter().map(|p| p[1]))?,
        );
        Ok(Chart { title: &self.title, x: (&x_axis, x), y: (&y_axis, y), groups }.render())
    }

    fn projected(&self, layer: &Layer) -> Result<Vec<Vec<[f64; 2]>>, PlotError> {
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
    /// As [`Drawing::render`], and [`PlotError::Io`].
    pub(crate) fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        Ok(write_atomically(path.as_ref(), self.render()?.as_bytes())?)
    }
}
