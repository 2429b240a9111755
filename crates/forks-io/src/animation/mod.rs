//! Moving pictures as plain data: bodies with shapes, their poses over time, numbers and contacts.
//!
//! An [`Animation`] knows poses, names and numbers, no mechanism. Write it with [`crate::html`] (a
//! page with a 3D viewer that opens from disk) or [`crate::gltf`] (for other programs).
//!
//! z is up, lengths are in metres, times in seconds, forces in newtons. Frames may be unevenly
//! spaced; viewers interpolate between them (positions linearly, rotations along the shorter arc).

mod check;
mod colour;
mod form;
mod joint;
mod skin;

pub use colour::Colour;
use forks_lie::{Pose, glam::DVec3, so3::quaternion_from_wxyz};
pub use form::Form;
pub use joint::{AxisSpring, Joint, JointAxis, JointSide, PoseSpring};
use serde::Serialize;
pub use skin::{PackedCorners, Skin};

use crate::{IoError, Trajectory};

/// A form at a place, in a colour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VisualShape {
    /// The form, about its own frame.
    pub form: Form,
    /// Pose of the form's frame in the body (or in the world, for scenery).
    pub body_from_shape: Pose,
    /// Its colour; without one the body's turn of the palette, for scenery a grey.
    pub colour: Option<Colour>,
}

impl VisualShape {
    /// A form at its owner's frame in the default colour.
    pub fn new(form: impl Into<Form>) -> Self {
        Self { form: form.into(), body_from_shape: Pose::IDENTITY, colour: None }
    }

    /// The same elsewhere.
    #[must_use]
    pub fn at(self, body_from_shape: Pose) -> Self {
        Self { body_from_shape, ..self }
    }

    /// The same in a colour.
    #[must_use]
    pub fn coloured(self, colour: Colour) -> Self {
        Self { colour: Some(colour), ..self }
    }
}

impl<F: Into<Form>> From<F> for VisualShape {
    fn from(form: F) -> Self {
        Self::new(form)
    }
}

/// Something that moves as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Body {
    /// Name, shown in the list of bodies.
    pub name: String,
    /// Shapes; a body without any is still listed, can be followed, and can carry segments.
    pub shapes: Vec<VisualShape>,
}

impl Body {
    /// A body of the given shapes.
    pub fn new<S: Into<VisualShape>>(
        name: impl Into<String>,
        shapes: impl IntoIterator<Item = S>,
    ) -> Self {
        Self { name: name.into(), shapes: shapes.into_iter().map(Into::into).collect() }
    }

    /// The colour that stands for the body: that of its first coloured shape, else the `i`-th of
    /// the palette.
    pub(crate) fn colour(&self, i: usize) -> Colour {
        self.shapes.iter().find_map(|s| s.colour).unwrap_or(Colour::palette(i))
    }
}

/// One end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct End {
    /// Number of the body that carries the end; `None` for the world.
    pub body: Option<usize>,
    /// The point, in the body.
    pub point: DVec3,
}

impl End {
    /// The origin of a body.
    pub fn origin(body: usize) -> Self {
        Self { body: Some(body), point: DVec3::ZERO }
    }

    /// A point of a body.
    pub fn of(body: usize, point: DVec3) -> Self {
        Self { body: Some(body), point }
    }

    /// A point of the world.
    pub fn world(point: DVec3) -> Self {
        Self { body: None, point }
    }
}

/// A bar between two points: the skeleton of a mechanism whose links have no shapes, a tendon, a
/// spring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// Its ends. The bar is hidden and selected together with the body of the first end that has
    /// one.
    pub ends: [End; 2],
    /// Radius, m; without one a thin bar that suits the size of the scene.
    pub radius: Option<f64>,
    /// Its colour; without one that of the body that it belongs to.
    pub colour: Option<Colour>,
}

impl Segment {
    /// A thin bar from one end to another.
    pub fn new(from: End, to: End) -> Self {
        Self { ends: [from, to], radius: None, colour: None }
    }

    /// The same with a radius, m.
    #[must_use]
    pub fn thick(self, radius: f64) -> Self {
        Self { radius: Some(radius), ..self }
    }

    /// The same in a colour.
    #[must_use]
    pub fn coloured(self, colour: Colour) -> Self {
        Self { colour: Some(colour), ..self }
    }

    /// Number of the body that the segment is hidden and selected with.
    pub(crate) fn owner(&self) -> Option<usize> {
        self.ends[0].body.or(self.ends[1].body)
    }
}

/// A number that is plotted over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// Its unit, may be empty; series of the same unit share a plot.
    pub unit: String,
}

impl Series {
    /// A series of a name and a unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }
}

/// A point where bodies touch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContactMarker {
    /// Where, world, m.
    pub position: DVec3,
    /// Force that is drawn as an arrow from there, world, N (an impulse divided by the length of
    /// its step).
    pub force: DVec3,
}

/// What there is at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnimationFrame {
    /// Time, s.
    pub time: f64,
    /// One pose per body.
    pub world_from_body: Vec<Pose>,
    /// One number per series.
    pub values: Vec<f64>,
    /// Any number of contacts.
    pub contacts: Vec<ContactMarker>,
    /// Corners of every skin, world, m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skins: Vec<Vec<DVec3>>,
}

impl AnimationFrame {
    /// A frame without numbers and contacts.
    pub fn new(time: f64, world_from_body: impl IntoIterator<Item = Pose>) -> Self {
        Self { time, world_from_body: world_from_body.into_iter().collect(), ..Self::default() }
    }

    /// With one number per series.
    #[must_use]
    pub fn values(self, values: impl IntoIterator<Item = f64>) -> Self {
        Self { values: values.into_iter().collect(), ..self }
    }

    /// With the corners of every skin.
    #[must_use]
    pub fn skins(self, skins: impl IntoIterator<Item = Vec<DVec3>>) -> Self {
        Self { skins: skins.into_iter().collect(), ..self }
    }

    /// With contacts.
    #[must_use]
    pub fn contacts(self, contacts: impl IntoIterator<Item = ContactMarker>) -> Self {
        Self { contacts: contacts.into_iter().collect(), ..self }
    }
}

/// A recording to look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Animation {
    /// Title of the page.
    pub title: String,
    /// Remarks shown beside the picture, one paragraph each.
    pub notes: Vec<String>,
    /// Shapes that stand still in the world.
    pub scenery: Vec<VisualShape>,
    /// What moves.
    pub bodies: Vec<Body>,
    /// Bars between bodies.
    pub segments: Vec<Segment>,
    /// Joints between bodies, shown on demand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<Joint>,
    /// Surfaces that change their form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skins: Vec<Skin>,
    /// Numbers over time.
    pub series: Vec<Series>,
    /// The recording, in the order of time; at least one frame.
    pub frames: Vec<AnimationFrame>,
}

impl Animation {
    /// An animation of nothing yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The links of a trajectory as bodies without shapes, its energies and loop gap as series.
    ///
    /// Add shapes and segments to make it visible.
    pub fn from_trajectory(title: impl Into<String>, trajectory: &Trajectory) -> Self {
        let mut animation = Self::new(title);
        let body = |name: &String| Body { name: name.clone(), shapes: Vec::new() };
        animation.bodies = trajectory.links().iter().map(body).collect();
        animation.series = vec![
            Series::new("kinetic", "J"),
            Series::new("gravitational", "J"),
            Series::new("elastic", "J"),
            Series::new("loop gap", ""),
        ];
        animation.frames.extend(trajectory.samples().iter().map(|s| {
            let rotations = s.quaternions_wxyz.iter().map(|q| quaternion_from_wxyz(*q));
            let pose = |(r, p): (_, &[f64; 3])| Pose::new(r, DVec3::from_array(*p));
            AnimationFrame::new(s.time, rotations.zip(&s.positions).map(pose)).values([
                s.kinetic,
                s.gravitational,
                s.elastic,
                s.loop_gap,
            ])
        }));
        animation
    }

    /// Drops frames until at most `rate` per second are left; the first and the last stay.
    ///
    /// The kept frames are those nearest behind the ticks of a clock of that rate, so nothing is
    /// interpolated here. Numbers and contacts of dropped frames are lost: record peaks as a series
    /// of their own if they matter. A rate of 0 or less, or NaN, leaves the first and the last
    /// frame; an infinite one leaves all.
    pub fn thin(&mut self, rate: f64) {
        let Some(start) = self.frames.first().map(|f| f.time) else {
            return;
        };
        if rate == f64::INFINITY {
            return;
        }
        // Times of exact multiples of the period fall on either side of a tick by rounding.
        let tick = |time: f64| ((time - start) * rate * (1.0 + 4.0 * f64::EPSILON)).floor();
        let (last, mut index, mut previous) = (self.frames.len() - 1, 0, None);
        self.frames.retain(|f| {
            let now = tick(f.time);
            let kept = index == last || previous.is_none_or(|p| now > p);
            if kept {
                previous = Some(now);
            }
            index += 1;
            kept
        });
    }

    /// Checks everything that a writer relies on, without writing.
    ///
    /// # Errors
    /// [`IoError::NotFinite`], [`IoError::WrongFrame`], [`IoError::TimeOrder`],
    /// [`IoError::NotShowable`] and [`IoError::Empty`], each with its place.
    pub fn check(&self) -> Result<(), IoError> {
        check::check(self)
    }
}
