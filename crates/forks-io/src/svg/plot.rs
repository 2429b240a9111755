//! Line plots.

use std::path::Path;

use super::{
    Axis, Scale, Stroke,
    axis::Range,
    chart::{Chart, Group},
    colour,
};
use crate::{IoError, error::finite, write_atomically};

/// One line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    name: String,
    points: Vec<[f64; 2]>,
    stroke: Stroke,
    marks: bool,
}

impl Series {
    /// A solid line through points (x, y) in their order. The name stands in the legend; an empty
    /// one leaves no trace there.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        Self {
            name: name.into(),
            points: points.into_iter().collect(),
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

/// A plot of several lines over common axes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinePlot {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

impl LinePlot {
    /// A plot without lines.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new() }
    }

    /// With one more line.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The plot as SVG text.
    ///
    /// # Errors
    /// [`IoError::NotFinite`] and [`IoError::NotPositive`] with series and point;
    /// [`IoError::Empty`]; [`IoError::RangeTooWide`].
    pub fn render(&self) -> Result<String, IoError> {
        for s in &self.series {
            for (i, p) in s.points.iter().enumerate() {
                check(&self.x, p[0], || format!("x of point {i} of series '{}'", s.name))?;
                check(&self.y, p[1], || format!("y of point {i} of series '{}'", s.name))?;
            }
        }
        let points = || self.series.iter().flat_map(|s| &s.points);
        if points().next().is_none() {
            return Err(IoError::Empty { title: self.title.clone() });
        }
        let groups = self.series.iter().enumerate().map(|(i, s)| Group {
            name: &s.name,
            colour: colour(i),
            stroke: s.stroke,
            marks: s.marks,
            width: 1.6,
            lines: vec![s.points.clone()],
        });
        let chart = Chart {
            title: &self.title,
            x: (&self.x, Range::of(&self.x, points().map(|p| p[0]))?),
            y: (&self.y, Range::of(&self.y, points().map(|p| p[1]))?),
            groups: groups.collect(),
        };
        Ok(chart.render())
    }

    /// Writes the plot to a file; see [`write_atomically`].
    ///
    /// # Errors
    /// As [`LinePlot::render`], and [`IoError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), IoError> {
        write_atomically(path.as_ref(), self.render()?.as_bytes())
    }
}

fn check(axis: &Axis, value: f64, place: impl Fn() -> String) -> Result<(), IoError> {
    finite(value, &place)?;
    if axis.scale() == Scale::Logarithmic && value <= 0.0 {
        return Err(IoError::NotPositive { place: place(), value });
    }
    Ok(())
}
