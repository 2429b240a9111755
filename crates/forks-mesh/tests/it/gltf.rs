//! glTF: files by hand, and what forks-io writes.

use forks_io::animation::{Animation, AnimationFrame, Body, Colour, VisualShape};
use forks_mesh::{
    MeshError, PaintedMesh,
    geometry::{
        Geometry,
        lie::{Pose, glam::DVec3},
    },
    parse,
};

pub(crate) fn read(format: &str, bytes: &[u8]) -> Result<PaintedMesh, MeshError> {
    parse(format, bytes, &mut |name| match name {
        "points.bin" => Ok(points()),
        _ => Err("there is no such file".into()),
    })
}

/// Four points of a tetrahedron, then the numbers 0, 1, 2, 3 of two bytes each.
pub(crate) fn points() -> Vec<u8> {
    let numbers = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1].map(|i: i32| i as f32);
    let mut out: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    out.extend([0u16, 1, 2, 3].iter().flat_map(|i| i.to_le_bytes()));
    out
}

/// A mesh in a node that is turned about z, moved by x = 5, and mirrored by its child.
pub(crate) fn document(mode: u32, length: usize, stride: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
"nodes":[{{"rotation":[0,0,0.7071067811865476,0.7071067811865476],"translation":[5,0,0],
  "children":[1]}},{{"mesh":0,"scale":[1,1,-2]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"mode":{mode},
  "material":0}}]}}],
"materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[1,0.215861,0,0.5]}}}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],
  "max":[1,1,1]}},{{"bufferView":1,"componentType":5123,"count":4,"type":"SCALAR"}}],
"bufferViews":[{{"buffer":0,"byteLength":48{stride}}},
  {{"buffer":0,"byteOffset":48,"byteLength":8}}],
"buffers":[{{"byteLength":{length},"uri":"points.bin"}}]}}"#
    )
}

#[test]
fn nodes_materials_and_kinds_of_triangles() {
    let m = read("gltf", document(5, 56, "").as_bytes()).unwrap();
    // Mirrored, the strip runs the other way round.
    assert_eq!(m.mesh.faces, [[0, 2, 1], [2, 3, 1]]);
    assert_eq!(m.colours, [Some([255, 128, 0, 128])]);
    let near = |i: usize, v: DVec3| assert!(m.mesh.vertices[i].distance(v) < 1e-6);
    near(1, DVec3::new(5.0, 1.0, 0.0));
    near(2, DVec3::new(4.0, 0.0, 0.0));
    near(3, DVec3::new(5.0, 0.0, -2.0));
    let fan = read("gltf", document(6, 56, "").as_bytes()).unwrap().mesh.faces;
    assert_eq!(fan, [[0, 2, 1], [0, 3, 2]]);
    let triangles = read("gltf", document(4, 56, "").as_bytes()).unwrap().mesh.faces;
    assert_eq!(triangles, [[0, 2, 1]], "what is over is left out");
    assert!(read("gltf", document(1, 56, "").as_bytes()).is_err(), "lines are no mesh");
}

#[test]
fn data_in_the_address() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let inline = format!("data:application/octet-stream;base64,{}", STANDARD.encode(points()));
    let text = document(5, 56, "").replace("points.bin", &inline);
    let beside = read("gltf", document(5, 56, "").as_bytes()).unwrap();
    assert_eq!(read("gltf", text.as_bytes()).unwrap(), beside);
}

#[test]
fn sizes_that_are_not_there_are_refused() {
    for stride in [r#","byteStride":4"#, r#","byteStride":252"#] {
        let e = read("gltf", document(5, 56, stride).as_bytes()).unwrap_err().to_string();
        assert!(e.contains("cut off"), "{e}");
    }
    let far =
        document(5, 56, "").replace("\"byteOffset\":48", "\"byteOffset\":18446744073709551615");
    assert!(read("gltf", far.as_bytes()).is_err());
    let none = document(5, 56, "").replace("points.bin", "other.bin");
    let e = read("gltf", none.as_bytes()).unwrap_err().to_string();
    assert!(e.contains("no such file"), "{e}");
    let inside = document(5, 56, "").replace("{\"mesh\":0,", "{\"children\":[0],\"mesh\":0,");
    let e = read("gltf", inside.as_bytes()).unwrap_err().to_string();
    assert!(e.contains("inside themselves"), "{e}");
}

#[test]
fn what_is_written_is_read_back() {
    let half = DVec3::new(0.5, 1.0, 1.5);
    let cube = VisualShape::new(Geometry::Box { half_extents: half });
    let red = cube.coloured(Colour::rgb(200, 30, 40));
    let mut animation = Animation::new("a box");
    animation.bodies.push(Body::new("box", [red]));
    animation.frames.push(AnimationFrame::new(0.0, [Pose::IDENTITY]));
    let bytes = forks_io::gltf::to_bytes(&animation).unwrap();
    let m = read("glb", &bytes).unwrap();
    assert_eq!(m.colours, [Some([200, 30, 40, 255])]);
    let (low, high) = m
        .mesh
        .vertices
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
    // glTF's y is up: the box stands on its side.
    let size = high - low;
    let turned = DVec3::new(2.0 * half.x, 2.0 * half.z, 2.0 * half.y);
    assert!(size.distance(turned) < 1e-6, "{size}");
}
