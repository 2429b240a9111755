//! glTF 2.0, `.gltf` and `.glb`: triangles of the scene with the base colours of their materials.
//! Its y axis is up; as for Collada, that has no effect here.
//!
//! Numbers are read here and not by the crate's readers, which take a file's word for sizes and
//! types. Sparse and compressed numbers are refused; lines and points, images, skins and morphs are
//! left out.

use forks_geometry::lie::glam::{DAffine3, DMat4, DVec3};
use gltf::{
    Accessor, Document, Glb, Primitive, Semantic,
    accessor::{DataType, Dimensions},
    buffer,
    mesh::Mode,
};

use crate::{
    binary::point,
    painted::{PaintedMesh, Rgba, byte},
};

/// Most nodes of a scene; broken files have nodes inside themselves.
const MOST_NODES: usize = 100_000;

/// Reads all instances of meshes; `beside` reads a file that stands beside this one.
pub(crate) fn parse(
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<PaintedMesh, String> {
    let (document, blob) = document(bytes)?;
    let buffers = buffers(&document, blob, beside)?;
    let scene = document.default_scene().or_else(|| document.scenes().next());
    let mut out = PaintedMesh::default();
    let Some(scene) = scene else { return Ok(out) };
    let mut open: Vec<_> = scene.nodes().map(|n| (n, DAffine3::IDENTITY)).collect();
    open.reverse();
    let mut count = 0;
    while let Some((node, around)) = open.pop() {
        count += 1;
        if count > MOST_NODES {
            return Err("its nodes are inside themselves".into());
        }
        let columns = node.transform().matrix().map(|c| c.map(f64::from));
        let at = around * DAffine3::from_mat4(DMat4::from_cols_array_2d(&columns));
        for primitive in node.mesh().into_iter().flat_map(|m| m.primitives()) {
            add(&primitive, at, &buffers, &mut out)?;
        }
        let first = open.len();
        open.extend(node.children().map(|n| (n, at)));
        open[first..].reverse();
    }
    Ok(out)
}

/// The checked document of either form, and the buffer that stands in the file.
fn document(bytes: &[u8]) -> Result<(Document, Option<Vec<u8>>), String> {
    let say = |e: gltf::Error| e.to_string();
    let (text, blob) = match bytes.starts_with(b"glTF") {
        true => {
            let Glb { json, bin, .. } = Glb::from_slice(bytes).map_err(say)?;
            (json, bin.map(|b| b.into_owned()))
        }
        false => (bytes.into(), None),
    };
    let root = gltf::json::Root::from_slice(&text).map_err(|e| e.to_string())?;
    // The crate's own check reads the numbers of points before it looks whether they are there.
    let all = root.meshes.iter().flat_map(|m| &m.primitives);
    let mut numbers = all.flat_map(|p| p.attributes.values());
    if numbers.any(|i| i.value() >= root.accessors.len()) {
        return Err("a mesh refers to numbers that are not there".into());
    }
    Ok((Document::from_json(root).map_err(say)?, blob))
}

/// The bytes of all buffers: in the file, in an address, or in a file beside it.
fn buffers(
    document: &Document,
    mut blob: Option<Vec<u8>>,
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<Vec<u8>>, String> {
    let bytes = |b: gltf::Buffer<'_>| match b.source() {
        buffer::Source::Bin => {
            blob.take().ok_or_else(|| format!("buffer {} is not in the file", b.index()))
        }
        buffer::Source::Uri(uri) if uri.starts_with("data:") => uri
            .split_once(";base64,")
            .and_then(|(_, text)| {
                use base64::Engine;
                base64::engine::general_purpose::STANDARD.decode(text).ok()
            })
            .ok_or_else(|| format!("buffer {} is no base 64", b.index())),
        buffer::Source::Uri(uri) => beside(uri),
    };
    document.buffers().map(bytes).collect()
}

/// Adds a primitive's triangles where it stands.
fn add(
    primitive: &Primitive<'_>,
    at: DAffine3,
    buffers: &[Vec<u8>],
    out: &mut PaintedMesh,
) -> Result<(), String> {
    let mode = primitive.mode();
    if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
        return Ok(());
    }
    let Some(positions) = primitive.get(&Semantic::Positions) else { return Ok(()) };
    let single = positions.data_type() == DataType::F32;
    if !single || positions.dimensions() != Dimensions::Vec3 {
        return Err("its points are no three numbers of single precision".into());
    }
    let first = out.mesh.vertices.len();
    let points = items(&positions, buffers)?;
    let points = points.map(|p| point(p, 0).unwrap_or(DVec3::ZERO));
    out.mesh.vertices.extend(points.map(|p| at.transform_point3(p)));
    let count = out.mesh.vertices.len() - first;
    let corners: Vec<usize> = match primitive.indices() {
        None => (0..count).collect(),
        Some(indices) => numbers(&indices, buffers)?,
    };
    if let Some(i) = corners.iter().find(|i| **i >= count) {
        return Err(format!("there is no point {i} among {count}"));
    }
    let factor = primitive.material().pbr_metallic_roughness().base_color_factor();
    let has_material = primitive.material().index().is_some();
    let colour = out.colour(has_material.then(|| on_screen(factor)));
    let mirrored = at.matrix3.determinant() < 0.0;
    let mut triangle = |a: usize, b: usize, c: usize| {
        let [a, b, c] = [a, b, c].map(|k| first + corners[k]);
        out.add(if mirrored { [a, c, b] } else { [a, b, c] }, colour);
    };
    match mode {
        Mode::Triangles => {
            (0..corners.len() / 3).for_each(|k| triangle(3 * k, 3 * k + 1, 3 * k + 2));
        }
        Mode::TriangleFan => (2..corners.len()).for_each(|k| triangle(0, k - 1, k)),
        // Every second triangle of a strip runs the other way round.
        _ => (2..corners.len()).for_each(|k| match k % 2 {
            0 => triangle(k - 2, k - 1, k),
            _ => triangle(k - 1, k - 2, k),
        }),
    }
    Ok(())
}

/// Numbers of vertices.
fn numbers(accessor: &Accessor<'_>, buffers: &[Vec<u8>]) -> Result<Vec<usize>, String> {
    let all = items(accessor, buffers)?;
    let kind = (accessor.data_type(), accessor.dimensions());
    Ok(match kind {
        (DataType::U8, Dimensions::Scalar) => all.map(|b| usize::from(b[0])).collect(),
        (DataType::U16, Dimensions::Scalar) => {
            all.map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))).collect()
        }
        (DataType::U32, Dimensions::Scalar) => {
            all.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize).collect()
        }
        _ => return Err("its triangles are no whole numbers".into()),
    })
}

/// The bytes of each item, as many as its type has.
fn items<'b>(
    accessor: &Accessor<'_>,
    buffers: &'b [Vec<u8>],
) -> Result<impl Iterator<Item = &'b [u8]> + use<'b>, String> {
    let Some(view) = accessor.view().filter(|_| accessor.sparse().is_none()) else {
        return Err(format!("numbers {} are sparse, which is not read", accessor.index()));
    };
    let cut_off = || format!("numbers {} are cut off", accessor.index());
    let size = accessor.size();
    let stride = view.stride().unwrap_or(size);
    let end = view.offset().checked_add(view.length()).ok_or_else(cut_off)?;
    let bytes = buffers.get(view.buffer().index()).and_then(|b| b.get(view.offset()..end));
    let bytes = bytes.and_then(|b| b.get(accessor.offset()..)).ok_or_else(cut_off)?;
    let count = accessor.count();
    // The last item may end before the next one would begin.
    let needed = count.saturating_sub(1).checked_mul(stride).and_then(|n| n.checked_add(size));
    if stride < size || count > 0 && needed.is_none_or(|n| n > bytes.len()) {
        return Err(cut_off());
    }
    Ok((0..count).map(move |i| &bytes[i * stride..i * stride + size]))
}

/// A linear colour as screens have it.
fn on_screen([r, g, b, a]: [f32; 4]) -> Rgba {
    let curved = |x: f32| {
        let x = f64::from(x);
        byte(if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 })
    };
    [curved(r), curved(g), curved(b), byte(f64::from(a))]
}

#[cfg(test)]
mod tests {
    use super::on_screen;

    #[test]
    fn linear_colours_become_brighter_on_screens() {
        // The middle of the curve of sRGB by its own definition.
        assert_eq!(on_screen([0.0, 0.215_861, 1.0, 0.5]), [0, 128, 255, 128]);
    }
}
