//! Line plots.

use std::path::Path;

use forks_io::write_atomically;

use super::{
    Axis, Scale, Stroke,
    axis::Range,
    chart::{Chart, Group},
    colour,
    error::{PlotError, finite},
};

/// One line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    name: String,
    points: Vec<[f64; 2]>,
    stroke: Stroke,
    marks: bool,
}

impl Series {
    /// A solid line through points (x, y) in their order. The name stands in the legend; an empty
    /// one leaves no trace there.
    pub(crate) fn new(name: impl Into<String>, points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        Self {
            name: name.into(),
            points: points.into_iter().collect(),
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

/// A plot of several lines over common axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinePlot {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

impl LinePlot {
    /// A plot without lines.
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new() }
    }

    /// With one more line.
    pub(crate) fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The plot as SVG text.
    ///
    /// # Errors
    /// [`PlotError::NotFinite`] and [`PlotError::NotPositive`] with series and point;
    /// [`PlotError::Empty`]; [`PlotError::RangeTooWide`].
    pub(crate) fn render(&self) -> Result<String, PlotError> {
        for s in &self.series {
            for (i, p) in s.points.iter().enumerate() {
                check(&self.x, p[0], || format!("x of point {i} of series '{}'", s.name))?;
                check(&self.y, p[1], || format!("y of point {i} of series '{}'", s.name))?;
            }
        }
        let points = || self.series.iter().flat_map(|s| &s.points);
        if points().next().is_none() {
            return Err(PlotError::Empty { title: self.title.clone() });
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
    /// As [`LinePlot::render`], and [`PlotError::Io`].
    pub(crate) fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        Ok(write_atomically(path.as_ref(), self.render()?.as_bytes())?)
    }
}

fn check(axis: &Axis, value: f64, place: impl Fn() -> String) -> Result<(), PlotError> {
    finite(value, &place)?;
    if axis.scale() == Scale::Logarithmic && value <= 0.0 {
        return Err(PlotError::NotPositive { place: place(), value });
    }
    Ok(())
}
