//! What is in the scene: scenery, bodies and bars, and how they move.

use forks_geometry::Geometry;
use forks_lie::{
    Pose,
    glam::{DQuat, DVec3},
};
use serde_json::{Value, json};

use super::{Writer, binary::singles, skins, xyzw};
use crate::{
    IoError,
    animation::{Animation, AnimationFrame, Colour, End, Segment, VisualShape},
    mesh::Parts,
};

/// Radius of bars that have none, over the size of the region in which bodies move.
const THIN: f64 = 0.006;

pub(super) fn write(writer: &mut Writer, animation: &Animation) -> Result<(), IoError> {
    let bar = VisualShape::new(Geometry::Cylinder { radius: 1.0, half_length: 1.0 });
    let mut parts = Parts::default();
    for shape in &animation.scenery {
        for part in parts.of(shape, Colour::SCENERY) {
            writer.part(&part, &parts)?;
        }
    }
    let times =
        if animation.frames.len() > 1 { Some(times(writer, &animation.frames)?) } else { None };
    for (b, body) in animation.bodies.iter().enumerate() {
        let mut children = Vec::new();
        for shape in &body.shapes {
            for part in parts.of(shape, Colour::palette(b)) {
                children.push(writer.part(&part, &parts)?);
            }
        }
        let place = |frame: usize| format!("position of body '{}' in frame {frame}", body.name);
        let motion = Motion::of_body(b, &animation.frames, place)?;
        let node = motion.node(&body.name, &children);
        motion.write(writer, node, times);
    }
    let thin = THIN * size(&animation.frames);
    for (i, segment) in animation.segments.iter().enumerate() {
        let default = segment.owner().map_or(Colour::SCENERY, |b| animation.bodies[b].colour(b));
        for part in parts.of(&bar, segment.colour.unwrap_or(default)) {
            let shown = writer.part(&part, &parts)?;
            let radius = segment.radius.unwrap_or(thin);
            let motion = Motion::of_segment(i, segment, &animation.frames, radius)?;
            let node = motion.node(&format!("segment {i}"), &[shown]);
            motion.write(writer, node, times);
        }
    }
    skins::write(writer, animation, times)
}

/// Times from the first frame on, in an accessor.
fn times(writer: &mut Writer, frames: &[AnimationFrame]) -> Result<usize, IoError> {
    let mut times: Vec<[f32; 1]> = Vec::with_capacity(frames.len());
    for (i, frame) in frames.iter().enumerate() {
        let time = singles(&[frame.time - frames[0].time], || format!("time of frame {i}"))?;
        if times.last().is_some_and(|before| time <= *before) {
            let reason = "the time is that of the frame before in single precision";
            return Err(IoError::NotShowable { place: format!("frame {i}"), reason });
        }
        times.push(time);
    }
    Ok(writer.binary.vectors(&times, false))
}

/// Half the diagonal of the box around all positions.
fn size(frames: &[AnimationFrame]) -> f64 {
    let mut positions = frames.iter().flat_map(|f| &f.world_from_body).map(|p| p.translation);
    let first = positions.next().unwrap_or_default();
    let (low, high) = positions.fold((first, first), |(l, h), p| (l.min(p), h.max(p)));
    let size = 0.5 * (high - low).length();
    if size > 0.0 { size } else { 1.0 }
}

/// A node's properties, frame after frame.
struct Motion {
    translations: Vec<[f32; 3]>,
    rotations: Vec<[f32; 4]>,
    scales: Option<Vec<[f32; 3]>>,
}

impl Motion {
    fn of_body(
        body: usize,
        frames: &[AnimationFrame],
        place: impl Fn(usize) -> String,
    ) -> Result<Self, IoError> {
        let mut motion = Self { translations: vec![], rotations: vec![], scales: None };
        for (i, frame) in frames.iter().enumerate() {
            motion.push(&frame.world_from_body[body], || place(i))?;
        }
        Ok(motion)
    }

    /// A unit cylinder stretched between the ends.
    fn of_segment(
        number: usize,
        segment: &Segment,
        frames: &[AnimationFrame],
        radius: f64,
    ) -> Result<Self, IoError> {
        let place = |i: usize| format!("segment {number} in frame {i}");
        let mut motion = Self { translations: vec![], rotations: vec![], scales: None };
        let (mut scales, mut rotation) = (Vec::new(), DQuat::IDENTITY);
        for (i, frame) in frames.iter().enumerate() {
            let end = |e: &End| {
                e.body.map_or(e.point, |b| frame.world_from_body[b].transform_point(e.point))
            };
            let [from, to] = [end(&segment.ends[0]), end(&segment.ends[1])];
            // Turned from the frame before by the smallest rotation, so that the bar never spins.
            let before = rotation * DVec3::Z;
            let along = (to - from).normalize_or(before);
            rotation = (DQuat::from_rotation_arc(before, along) * rotation).normalize();
            motion.push(&Pose::new(rotation, 0.5 * (from + to)), || place(i))?;
            // A factor of 0 would leave the node without an inverse.
            let half = (0.5 * (to - from).length()).max(1e-6 * radius);
            scales.push(singles(&[radius, radius, half], || place(i))?);
        }
        motion.scales = Some(scales);
        Ok(motion)
    }

    fn push(&mut self, pose: &Pose, place: impl FnOnce() -> String) -> Result<(), IoError> {
        self.translations.push(singles(&pose.translation.to_array(), place)?);
        let q = xyzw(pose.rotation.normalize()).map(|x| x as f32);
        // q and −q are one rotation; programs that do not take the shorter arc need neighbours
        // alike.
        let dot = |p: &[f32; 4]| p.iter().zip(&q).map(|(a, b)| a * b).sum::<f32>();
        let flip = self.rotations.last().is_some_and(|p| dot(p) < 0.0);
        self.rotations.push(if flip { q.map(|x| -x) } else { q });
        Ok(())
    }

    /// The node as it is in the first frame.
    fn node(&self, name: &str, children: &[usize]) -> Value {
        let mut node = json!({
            "name": name, "translation": self.translations[0], "rotation": self.rotations[0],
        });
        if let Some(scales) = &self.scales {
            node["scale"] = json!(scales[0]);
        }
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        node
    }

    fn write(&self, writer: &mut Writer, node: Value, times: Option<usize>) {
        let node = writer.node(node);
        let Some(times) = times else {
            return;
        };
        let translations = writer.binary.vectors(&self.translations, false);
        writer.channel(times, node, "translation", translations);
        let rotations = writer.binary.vectors(&self.rotations, false);
        writer.channel(times, node, "rotation", rotations);
        if let Some(scales) = &self.scales {
            let scales = writer.binary.vectors(scales, false);
            writer.channel(times, node, "scale", scales);
        }
    }
}
