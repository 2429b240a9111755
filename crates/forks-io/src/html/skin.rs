//! Surfaces that change their form, as the viewer reads them: in every frame a box, and places in
//! it by 16 bits each, six bytes per corner.

use forks_lie::glam::DVec3;
use serde::Serialize;

use crate::{
    IoError,
    animation::{Animation, PackedCorners, Skin},
    base64,
};

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
        let packed = PackedCorners::new(&frame.skins[i]);
        if packed.bounds.iter().any(|x| !x.is_finite()) {
            let far = |m: f64, x: &DVec3| m.max(x.abs().max_element());
            let value = frame.skins[i].iter().fold(0.0, far);
            return Err(IoError::TooLarge { place: format!("skin {i} in frame {k}"), value });
        }
        boxes.extend(packed.bounds);
        places.extend(packed.places);
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
