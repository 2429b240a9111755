//! Surfaces that change their form, as the viewer reads them: in every frame a box, and places in
//! it by 16 bits each, six bytes per corner.

use forks_lie::glam::DVec3;
use serde::Serialize;

use crate::{
    IoError,
    animation::{Animation, Skin},
    base64,
};

/// Steps along each side of a frame's box.
const STEPS: f64 = 65535.0;

#[derive(Serialize)]
pub(super) struct SkinData {
    body: usize,
    colour: [u8; 4],
    corners: usize,
    /// 32-bit numbers, three per triangle.
    triangles: String,
    /// Single precision, six per frame: the lowest corner of its box, and what a step is along each
    /// side.
    boxes: String,
    /// 16-bit numbers, frame after frame, three per corner: steps from the lowest corner.
    places: String,
}

/// All skins; the animation must have passed its check.
pub(super) fn skins(animation: &Animation) -> Result<Vec<SkinData>, IoError> {
    animation.skins.iter().enumerate().map(|(i, s)| skin(animation, i, s)).collect()
}

fn skin(animation: &Animation, i: usize, skin: &Skin) -> Result<SkinData, IoError> {
    let (mut boxes, mut places) = (Vec::new(), Vec::new());
    for (k, frame) in animation.frames.iter().enumerate() {
        let corners = &frame.skins[i];
        let first = corners.first().copied().unwrap_or_default();
        let (low, high) = corners.iter().fold((first, first), |(l, h), x| (l.min(*x), h.max(*x)));
        let bounds = [low, high].map(DVec3::as_vec3);
        if let Some(side) = bounds.iter().position(|b| !b.is_finite()) {
            let value = [low, high][side].abs().max_element();
            return Err(IoError::TooLarge { place: format!("skin {i} in frame {k}"), value });
        }
        let step = (high - low) / STEPS;
        boxes.extend(bounds[0].to_array());
        boxes.extend(step.as_vec3().to_array());
        let along = |x: f64, low: f64, step: f64| match step > 0.0 {
            true => ((x - low) / step).round().clamp(0.0, STEPS) as u16,
            false => 0,
        };
        for x in corners {
            places.push(along(x.x, low.x, step.x));
            places.push(along(x.y, low.y, step.y));
            places.push(along(x.z, low.z, step.z));
        }
    }
    let default = animation.bodies[skin.body].colour(skin.body);
    Ok(SkinData {
        body: skin.body,
        colour: skin.colour.unwrap_or(default).to_array(),
        corners: skin.corners,
        triangles: base64::u32s(skin.triangles.iter().flatten().copied()),
        boxes: base64::f32s(boxes),
        places: base64::u16s(places),
    })
}
