//! Surfaces that change their form: a morph target for every frame after the first, weighed 1 at
//! its time.

use forks_lie::glam::DVec3;
use serde_json::json;

use super::{Writer, binary::singles};
use crate::{IoError, animation::Animation};

pub(super) fn write(
    writer: &mut Writer,
    animation: &Animation,
    times: Option<usize>,
) -> Result<(), IoError> {
    for (i, skin) in animation.skins.iter().enumerate() {
        let corners = |frame: usize| &animation.frames[frame].skins[i];
        let single = |x: DVec3, frame: usize| {
            singles(&x.to_array(), || format!("skin {i} in frame {frame}"))
        };
        let rest = corners(0).iter().map(|x| single(*x, 0)).collect::<Result<Vec<_>, _>>()?;
        let mut targets = Vec::with_capacity(animation.frames.len());
        for frame in 1..animation.frames.len() {
            let moved =
                corners(frame).iter().zip(corners(0)).map(|(x, at)| single(*x - *at, frame));
            let moved = moved.collect::<Result<Vec<_>, _>>()?;
            targets.push(json!({ "POSITION": writer.binary.vectors(&moved, true) }));
        }
        let positions = writer.binary.vectors(&rest, true);
        let triangles: Vec<u32> = skin.triangles.iter().flatten().copied().collect();
        let indices = writer.binary.indices(&triangles);
        let default = animation.bodies[skin.body].colour(skin.body);
        let material = writer.material(skin.colour.unwrap_or(default));
        // Without normals programs shade every triangle as it lies, in any form.
        let mut primitive = json!({
            "attributes": { "POSITION": positions }, "indices": indices, "material": material,
        });
        let count = targets.len();
        let mut mesh = json!({});
        if count > 0 {
            primitive["targets"] = json!(targets);
            mesh["weights"] = json!(vec![0.0; count]);
        }
        mesh["primitives"] = json!([primitive]);
        writer.meshes.push(mesh);
        let name = &animation.bodies[skin.body].name;
        let node = json!({ "name": format!("{name} (skin)"), "mesh": writer.meshes.len() - 1 });
        let node = writer.node(node);
        if let Some(times) = times {
            let weights: Vec<[f32; 1]> = (0..=count)
                .flat_map(|frame| (1..=count).map(move |k| [f32::from(u8::from(k == frame))]))
                .collect();
            let weights = writer.binary.vectors(&weights, false);
            writer.channel(times, node, "weights", weights);
        }
    }
    Ok(())
}
