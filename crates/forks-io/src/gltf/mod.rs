//! An [`Animation`] as a binary glTF 2.0 file (`.glb`), for other programs that show, render or
//! edit.
//!
//! Bodies are nodes with their names, moved by one animation; z is turned to glTF's y at the root.
//! Equal surfaces are stored once. Surfaces that change their form are morphed, a target per frame.
//! glTF has no place for planes without end, numbers over time,
//! contacts and notes: they are left out. Times count from the first frame.

mod binary;
mod bodies;
mod skins;

use std::path::Path;

use binary::Binary;
use forks_lie::{
    Pose,
    glam::{DQuat, DVec3},
};
use serde_json::{Value, json};

use crate::{
    IoError,
    animation::{Animation, Colour},
    mesh::{Part, Parts, Surface},
    write_atomically,
};

/// The file's bytes.
///
/// # Errors
/// As [`Animation::check`], [`IoError::TooLarge`] for what single precision cannot hold, and
/// [`IoError::NotShowable`] for frames whose times are equal in it.
pub fn to_bytes(animation: &Animation) -> Result<Vec<u8>, IoError> {
    animation.check()?;
    let mut writer = Writer::default();
    bodies::write(&mut writer, animation)?;
    Ok(writer.finish(&animation.title))
}

/// Writes the file; see [`write_atomically`].
///
/// # Errors
/// As [`to_bytes`], and [`IoError::Write`].
pub fn save(path: impl AsRef<Path>, animation: &Animation) -> Result<(), IoError> {
    write_atomically(path.as_ref(), &to_bytes(animation)?)
}

/// The lists of a glTF file as they grow.
#[derive(Default)]
struct Writer {
    binary: Binary,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
    /// Accessors of each surface: positions, normals, triangles.
    surfaces: Vec<[usize; 3]>,
    /// Colours in the order of materials.
    colours: Vec<Colour>,
    /// Surface and colour in the order of meshes.
    combinations: Vec<(usize, Colour)>,
}

impl Writer {
    fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// A node that shows a part.
    fn part(&mut self, part: &Part, parts: &Parts<'_>) -> Result<usize, IoError> {
        let mesh = self.mesh(part.surface, part.colour, parts)?;
        let [translation, scale] = [part.pose.translation, part.scale].map(|v| v.to_array());
        binary::singles(&translation, || "a position of a shape".to_owned())?;
        binary::singles(&scale, || "a size of a shape".to_owned())?;
        let rotation = xyzw(part.pose.rotation.normalize());
        Ok(self.node(json!({
            "mesh": mesh, "translation": translation, "rotation": rotation, "scale": scale,
        })))
    }

    /// The mesh of a surface in a colour, made if it is new.
    fn mesh(
        &mut self,
        surface: usize,
        colour: Colour,
        parts: &Parts<'_>,
    ) -> Result<usize, IoError> {
        let combination = (surface, colour);
        if let Some(known) = self.combinations.iter().position(|c| *c == combination) {
            return Ok(known);
        }
        // Surfaces are numbered in the order in which they first occur.
        while self.surfaces.len() <= surface {
            let next = self.surface(&parts.surfaces[self.surfaces.len()])?;
            self.surfaces.push(next);
        }
        let [positions, normals, triangles] = self.surfaces[surface];
        let material = self.material(colour);
        self.meshes.push(json!({ "primitives": [{
            "attributes": { "POSITION": positions, "NORMAL": normals },
            "indices": triangles,
            "material": material,
        }] }));
        self.combinations.push(combination);
        Ok(self.meshes.len() - 1)
    }

    fn surface(&mut self, s: &Surface) -> Result<[usize; 3], IoError> {
        if let Some(x) = s.positions.iter().flatten().find(|x| !x.is_finite()) {
            let value = f64::from(*x);
            return Err(IoError::TooLarge { place: "a corner of a mesh".into(), value });
        }
        let triangles: Vec<u32> = s.triangles.iter().flatten().copied().collect();
        Ok([
            self.binary.vectors(&s.positions, true),
            self.binary.vectors(&s.normals, true),
            self.binary.indices(&triangles),
        ])
    }

    fn material(&mut self, colour: Colour) -> usize {
        if let Some(known) = self.colours.iter().position(|c| *c == colour) {
            return known;
        }
        let [red, green, blue] = colour.rgb.map(linear);
        let mut material = json!({
            "pbrMetallicRoughness": {
                "baseColorFactor": [red, green, blue, f64::from(colour.alpha) / 255.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.6,
            },
            "doubleSided": true,
        });
        if colour.alpha < 255 {
            material["alphaMode"] = json!("BLEND");
        }
        self.materials.push(material);
        self.colours.push(colour);
        self.materials.len() - 1
    }

    /// Moves one property of a node: numbers of all frames at the times of accessor `input`.
    fn channel(&mut self, input: usize, node: usize, path: &str, output: usize) {
        let sampler = self.samplers.len();
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    fn finish(self, title: &str) -> Vec<u8> {
        // glTF has y up: z is turned there about x.
        let up = Pose::from_rotation(DQuat::from_rotation_arc(DVec3::Z, DVec3::Y));
        let mut nodes = self.nodes;
        let owned: Vec<usize> = nodes
            .iter()
            .flat_map(|n| n["children"].as_array().into_iter().flatten())
            .filter_map(|c| c.as_u64().map(|c| c as usize))
            .collect();
        let top: Vec<usize> = (0..nodes.len()).filter(|n| !owned.contains(n)).collect();
        let root = nodes.len();
        let mut node = json!({ "name": title, "rotation": xyzw(up.rotation) });
        if !top.is_empty() {
            node["children"] = json!(top);
        }
        nodes.push(node);
        let mut header = json!({
            "asset": {
                "version": "2.0",
                "generator": concat!("forks-io ", env!("CARGO_PKG_VERSION")),
            },
            "scene": 0,
            "scenes": [{ "nodes": [root] }],
            "nodes": nodes,
        });
        // Empty lists are not allowed.
        for (name, list) in [("meshes", self.meshes), ("materials", self.materials)] {
            if !list.is_empty() {
                header[name] = json!(list);
            }
        }
        if !self.channels.is_empty() {
            let (channels, samplers) = (self.channels, self.samplers);
            header["animations"] =
                json!([{ "name": title, "channels": channels, "samplers": samplers }]);
        }
        self.binary.container(header)
    }
}

/// glTF's order of quaternions.
fn xyzw(q: DQuat) -> [f64; 4] {
    [q.x, q.y, q.z, q.w]
}

/// Light of a colour value as screens have it (sRGB).
fn linear(value: u8) -> f64 {
    let v = f64::from(value) / 255.0;
    if v <= 0.04045 {
        return v / 12.92;
    }
    // x^2.4 = x² x^0.4, and y = x^0.4 solves y⁵ = x²: Newton's method, whose arithmetic is the same
    // on every machine where a library's power function is not.
    let x = (v + 0.055) / 1.055;
    let mut y = 1.0;
    for _ in 0..12 {
        y -= (y - x * x / (y * y * y * y)) / 5.0;
    }
    x * x * y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_is_the_power_that_srgb_defines() {
        for value in 0..=255_u8 {
            let v = f64::from(value) / 255.0;
            let expected = if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
            assert!((linear(value) - expected).abs() <= 8.0 * f64::EPSILON, "{value}");
        }
    }
}
