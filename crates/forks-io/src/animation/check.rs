//! What a writer relies on: sizes, references and the order of time.

use forks_geometry::{Geometry, convex_hull};

use super::{Animation, AnimationFrame, Form, Joint, Segment, Skin, VisualShape};
use crate::{IoError, finite::check_finite};

/// Quaternions may be off unit length by what single precision and long integration leave.
const UNIT_TOLERANCE: f64 = 1e-3;

pub(super) fn check(animation: &Animation) -> Result<(), IoError> {
    check_finite(animation)?;
    let shape = |place: String, s: &VisualShape| {
        check_form(&place, &s.form)?;
        unit(|| place.clone(), s.body_from_shape.rotation.length())
    };
    for (i, s) in animation.scenery.iter().enumerate() {
        shape(format!("shape {i} of the scenery"), s)?;
    }
    for body in &animation.bodies {
        for (i, s) in body.shapes.iter().enumerate() {
            shape(format!("shape {i} of body '{}'", body.name), s)?;
        }
    }
    for (i, s) in animation.segments.iter().enumerate() {
        check_segment(i, s, animation.bodies.len())?;
    }
    for joint in &animation.joints {
        check_joint(joint, animation.bodies.len())?;
    }
    for (i, s) in animation.skins.iter().enumerate() {
        check_skin(i, s, animation.bodies.len())?;
    }
    check_frames(animation)
}

fn check_skin(i: usize, skin: &Skin, bodies: usize) -> Result<(), IoError> {
    let place = || format!("skin {i}");
    require(skin.body < bodies, place, "it belongs to a body that does not exist")?;
    let known = |t: &[u32; 3]| t.iter().all(|c| (*c as usize) < skin.corners);
    require(skin.triangles.iter().all(known), place, "a triangle has a corner that is not there")
}

fn check_frames(animation: &Animation) -> Result<(), IoError> {
    if animation.frames.is_empty() {
        return Err(IoError::Empty { title: animation.title.clone() });
    }
    for (i, frame) in animation.frames.iter().enumerate() {
        check_frame(i, frame, animation)?;
        if let Some(before) = i.checked_sub(1).map(|b| animation.frames[b].time)
            && frame.time <= before
        {
            return Err(IoError::TimeOrder { frame: i, time: frame.time, before });
        }
    }
    Ok(())
}

fn check_frame(i: usize, frame: &AnimationFrame, animation: &Animation) -> Result<(), IoError> {
    let count = |what, found, expected| {
        if found == expected {
            Ok(())
        } else {
            Err(IoError::WrongFrame { frame: i, what, found, expected })
        }
    };
    count("poses of bodies", frame.world_from_body.len(), animation.bodies.len())?;
    count("values of series", frame.values.len(), animation.series.len())?;
    count("skins", frame.skins.len(), animation.skins.len())?;
    for (corners, skin) in frame.skins.iter().zip(&animation.skins) {
        count("corners of a skin", corners.len(), skin.corners)?;
    }
    for (pose, body) in frame.world_from_body.iter().zip(&animation.bodies) {
        let place = || format!("pose of body '{}' in frame {i}", body.name);
        unit(place, pose.rotation.length())?;
    }
    Ok(())
}

fn unit(place: impl FnOnce() -> String, length: f64) -> Result<(), IoError> {
    require((length - 1.0).abs() <= UNIT_TOLERANCE, place, "the quaternion is not of unit length")
}

fn check_segment(i: usize, segment: &Segment, bodies: usize) -> Result<(), IoError> {
    let place = || format!("segment {i}");
    let known = segment.ends.iter().all(|e| e.body.is_none_or(|b| b < bodies));
    require(known, place, "an end is on a body that does not exist")?;
    require(segment.radius.is_none_or(|r| r > 0.0), place, "the radius is not above 0")
}

fn check_joint(joint: &Joint, bodies: usize) -> Result<(), IoError> {
    let place = || format!("joint '{}'", joint.name);
    for side in &joint.sides {
        require(
            side.body.is_none_or(|b| b < bodies),
            place,
            "it is on a body that does not exist",
        )?;
        unit(place, side.body_from_joint.rotation.length())?;
    }
    for axis in &joint.axes {
        let off = (axis.direction.length() - 1.0).abs();
        require(off <= UNIT_TOLERANCE, place, "an axis is not of unit length")?;
        let soft = axis.spring.is_some_and(|s| s.stiffness < 0.0);
        require(!soft, place, "a spring's stiffness is below 0")?;
    }
    if let Some(spring) = &joint.spring {
        unit(place, spring.rest.rotation.length())?;
    }
    Ok(())
}

fn check_form(place: &str, form: &Form) -> Result<(), IoError> {
    let require = |holds, reason| require(holds, || place.to_owned(), reason);
    let positive = |sizes: &[f64]| {
        // What single precision takes for 0 has no surface.
        require(sizes.iter().all(|s| *s as f32 > 0.0), "a size is not above 0")
    };
    let geometry = match form {
        Form::Geometry(geometry) => geometry,
        Form::Axes { length } => return positive(&[*length]),
    };
    positive(&geometry.sizes())?;
    match geometry {
        Geometry::Hull { points } => require(
            convex_hull(points).is_some(),
            "fewer than four points, or all of them in one plane",
        ),
        Geometry::Mesh { vertices, triangles } => {
            let known = |t: &[u32; 3]| t.iter().all(|v| (*v as usize) < vertices.len());
            require(triangles.iter().all(known), "a triangle has a corner that is no vertex")
        }
        Geometry::HeightField { columns, heights, .. } => {
            let rows = heights.len() / (*columns).max(1);
            let whole = *columns >= 2 && rows >= 2 && rows * columns == heights.len();
            require(whole, "heights are not at least two whole rows of two")
        }
        _ => Ok(()),
    }
}

fn require(
    holds: bool,
    place: impl FnOnce() -> String,
    reason: &'static str,
) -> Result<(), IoError> {
    if holds { Ok(()) } else { Err(IoError::NotShowable { place: place(), reason }) }
}
