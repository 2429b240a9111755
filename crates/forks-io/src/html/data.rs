//! The recording as the viewer reads it: JSON whose long arrays are base 64.
//!
//! A pose is seven numbers everywhere: x, y, z, then the quaternion w, x, y, z.

use forks_geometry::Geometry;
use forks_lie::Pose;
use serde::Serialize;

use super::skin::{SkinData, skins};
use crate::{
    IoError,
    animation::{Animation, Colour, End, Form, JointAxis, JointSide, VisualShape},
    base64, json,
    mesh::{Part, Parts, Pattern, Surface},
};

/// What stands in the page. Sizes are in m, times in s, forces in N; the names are read by
/// `recording.js`.
#[derive(Serialize)]
struct Data<'a> {
    format: &'static str,
    version: u32,
    title: &'a str,
    notes: &'a [String],
    surfaces: Vec<SurfaceData>,
    planes: Vec<PlaneData>,
    scenery: Vec<PartData>,
    bodies: Vec<BodyData<'a>>,
    segments: Vec<SegmentData>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joints: Vec<JointData<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skins: Vec<SkinData>,
    /// Double precision, one per frame.
    times: String,
    /// Single precision, frame after frame, in each body after body, seven numbers each.
    poses: String,
    series: Vec<SeriesData<'a>>,
    contacts: ContactData,
}

#[derive(Serialize)]
struct SurfaceData {
    /// Single precision, three per corner.
    positions: String,
    /// Single precision, three per corner.
    normals: String,
    /// 32-bit numbers, three per triangle.
    triangles: String,
    /// 0 plain, 1 quadrants, 2 octants.
    pattern: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<RoundData>,
}

#[derive(Serialize)]
struct RoundData {
    /// Corners around the axis.
    slices: usize,
    /// Triangles with half as many, with half of these, and so on.
    coarser: Vec<String>,
}

#[derive(Serialize)]
struct PlaneData {
    body: Option<usize>,
    pose: [f64; 7],
    colour: [u8; 4],
}

#[derive(Serialize)]
struct PartData {
    surface: usize,
    pose: [f64; 7],
    scale: [f64; 3],
    colour: [u8; 4],
}

#[derive(Serialize)]
struct BodyData<'a> {
    name: &'a str,
    /// Colour in the list.
    colour: [u8; 4],
    parts: Vec<PartData>,
}

#[derive(Serialize)]
struct SegmentData {
    owner: Option<usize>,
    ends: [EndData; 2],
    radius: Option<f64>,
    colour: [u8; 4],
}

#[derive(Serialize)]
struct EndData {
    body: Option<usize>,
    point: [f64; 3],
}

#[derive(Serialize)]
struct JointData<'a> {
    name: &'a str,
    sides: [SideData; 2],
    axes: Vec<AxisData>,
    closes: bool,
    spring: Option<SpringData>,
}

#[derive(Serialize)]
struct SpringData {
    /// Rows.
    stiffness: [[f64; 6]; 6],
    rest: [f64; 7],
}

#[derive(Serialize)]
struct SideData {
    body: Option<usize>,
    pose: [f64; 7],
}

#[derive(Serialize)]
struct AxisData {
    direction: [f64; 3],
    slides: bool,
    /// Null without a spring.
    stiffness: Option<f64>,
    rest: f64,
    start: f64,
}

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
    unit: &'a str,
    /// Double precision, one per frame.
    values: String,
}

#[derive(Serialize)]
struct ContactData {
    /// 32-bit numbers: the contacts of frame i are those from `starts[i]` up to `starts[i + 1]`.
    starts: String,
    /// Single precision, six per contact: position, force.
    numbers: String,
}

/// The animation as JSON that may stand in a `<script>` element. It must have passed its check.
pub(super) fn json(animation: &Animation) -> Result<String, IoError> {
    let mut parts = Parts::default();
    let mut planes = Vec::new();
    let scenery = shapes(&animation.scenery, (None, Colour::SCENERY), &mut parts, &mut planes)?;
    let mut bodies = Vec::new();
    for (i, body) in animation.bodies.iter().enumerate() {
        let colour = Colour::palette(i);
        let shown = body.colour(i).to_array();
        let parts = shapes(&body.shapes, (Some(i), colour), &mut parts, &mut planes)?;
        bodies.push(BodyData { name: &body.name, colour: shown, parts });
    }
    let text = json::to_string(&Data {
        format: "forks-animation",
        version: 1,
        title: &animation.title,
        notes: &animation.notes,
        surfaces: parts.surfaces.iter().map(surface).collect::<Result<_, _>>()?,
        planes,
        scenery,
        segments: segments(animation, &bodies)?,
        joints: joints(animation)?,
        skins: skins(animation)?,
        bodies,
        times: base64::f64s(animation.frames.iter().map(|f| f.time)),
        poses: poses(animation)?,
        series: series(animation),
        contacts: contacts(animation)?,
    })?;
    // In JSON `<` stands in strings only. Without it no `</script>` or `<!--` can end the element.
    Ok(text.replace('<', "\\u003c"))
}

fn shapes<'a>(
    shapes: &'a [VisualShape],
    (body, colour): (Option<usize>, Colour),
    parts: &mut Parts<'a>,
    planes: &mut Vec<PlaneData>,
) -> Result<Vec<PartData>, IoError> {
    let mut out = Vec::new();
    for shape in shapes {
        if shape.form == Form::Geometry(Geometry::Plane) {
            let colour = shape.colour.unwrap_or(Colour::SCENERY).to_array();
            planes.push(PlaneData { body, pose: pose(&shape.body_from_shape), colour });
        }
        out.extend(parts.of(shape, colour).iter().map(part));
    }
    // The viewer multiplies in single precision.
    for p in &out {
        single_all(&p.pose[..3], || "a position of a shape".to_owned())?;
        single_all(&p.scale, || "a size of a shape".to_owned())?;
    }
    Ok(out)
}

fn part(p: &Part) -> PartData {
    let colour = p.colour.to_array();
    PartData { surface: p.surface, pose: pose(&p.pose), scale: p.scale.to_array(), colour }
}

fn pose(p: &Pose) -> [f64; 7] {
    p.normalized().to_array()
}

fn surface(s: &Surface) -> Result<SurfaceData, IoError> {
    if let Some(x) = s.positions.iter().flatten().find(|x| !x.is_finite()) {
        return Err(IoError::TooLarge { place: "a corner of a mesh".into(), value: f64::from(*x) });
    }
    let numbers = |t: &Vec<[u32; 3]>| base64::u32s(t.iter().flatten().copied());
    Ok(SurfaceData {
        positions: base64::f32s(s.positions.iter().flatten().copied()),
        normals: base64::f32s(s.normals.iter().flatten().copied()),
        triangles: numbers(&s.triangles),
        pattern: match s.pattern {
            Pattern::Plain => 0,
            Pattern::Quadrants => 1,
            Pattern::Octants => 2,
        },
        round: s.round.as_ref().map(|r| RoundData {
            slices: r.slices,
            coarser: r.coarser.iter().map(numbers).collect(),
        }),
    })
}

fn segments(animation: &Animation, bodies: &[BodyData<'_>]) -> Result<Vec<SegmentData>, IoError> {
    let mut out = Vec::new();
    for (i, segment) in animation.segments.iter().enumerate() {
        let end = |e: &End| EndData { body: e.body, point: e.point.to_array() };
        let owner = segment.owner();
        let default = owner.map_or(Colour::SCENERY.to_array(), |b| bodies[b].colour);
        for e in &segment.ends {
            single_all(&e.point.to_array(), || format!("an end of segment {i}"))?;
        }
        out.push(SegmentData {
            owner,
            ends: [end(&segment.ends[0]), end(&segment.ends[1])],
            radius: segment.radius,
            colour: segment.colour.map_or(default, Colour::to_array),
        });
    }
    Ok(out)
}

fn joints(animation: &Animation) -> Result<Vec<JointData<'_>>, IoError> {
    let mut out = Vec::with_capacity(animation.joints.len());
    for joint in &animation.joints {
        let side = |s: &JointSide| SideData { body: s.body, pose: pose(&s.body_from_joint) };
        let axis = |a: &JointAxis| AxisData {
            direction: a.direction.to_array(),
            slides: a.slides,
            stiffness: a.spring.map(|s| s.stiffness),
            rest: a.spring.map_or(0.0, |s| s.rest),
            start: a.spring.map_or(0.0, |s| s.start),
        };
        let sides = [side(&joint.sides[0]), side(&joint.sides[1])];
        for s in &sides {
            single_all(&s.pose[..3], || format!("the place of joint '{}'", joint.name))?;
        }
        let axes = joint.axes.iter().map(axis).collect();
        let spring =
            joint.spring.map(|s| SpringData { stiffness: s.stiffness, rest: pose(&s.rest) });
        let (name, closes) = (&joint.name[..], joint.closes);
        out.push(JointData { name, sides, axes, closes, spring });
    }
    Ok(out)
}

fn poses(animation: &Animation) -> Result<String, IoError> {
    let mut numbers = Vec::with_capacity(7 * animation.bodies.len() * animation.frames.len());
    for (i, frame) in animation.frames.iter().enumerate() {
        for (p, body) in frame.world_from_body.iter().zip(&animation.bodies) {
            let place = || format!("position of body '{}' in frame {i}", body.name);
            numbers.extend(single_all(&pose(p), place)?);
        }
    }
    Ok(base64::f32s(numbers))
}

fn series(animation: &Animation) -> Vec<SeriesData<'_>> {
    let numbers = |i: usize| animation.frames.iter().map(move |f| f.values[i]);
    let named = animation.series.iter().enumerate();
    named
        .map(|(i, s)| SeriesData { name: &s.name, unit: &s.unit, values: base64::f64s(numbers(i)) })
        .collect()
}

fn contacts(animation: &Animation) -> Result<ContactData, IoError> {
    let (mut starts, mut numbers) = (vec![0], Vec::new());
    for (i, frame) in animation.frames.iter().enumerate() {
        for (k, c) in frame.contacts.iter().enumerate() {
            let place = || format!("contact {k} of frame {i}");
            numbers.extend(single_all(&c.position.to_array(), place)?);
            numbers.extend(single_all(&c.force.to_array(), place)?);
        }
        starts.push((numbers.len() / 6) as u32);
    }
    Ok(ContactData { starts: base64::u32s(starts), numbers: base64::f32s(numbers) })
}

/// The numbers in single precision.
fn single_all(numbers: &[f64], place: impl Fn() -> String) -> Result<Vec<f32>, IoError> {
    let single = |value: &f64| {
        let single = *value as f32;
        if single.is_finite() {
            Ok(single)
        } else {
            Err(IoError::TooLarge { place: place(), value: *value })
        }
    };
    numbers.iter().map(single).collect()
}
