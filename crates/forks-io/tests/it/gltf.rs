//! Binary glTF: the container, the accessors and the animation are as the specification of version
//! 2.0 wants them, and the numbers are those that went in.

use forks_io::{
    Geometry, IoError,
    animation::{Animation, AnimationFrame, Body, Colour, End, Segment, VisualShape},
    gltf,
    lie::{
        Pose,
        glam::{DMat4, DQuat, DVec3, DVec4},
        so3::exp_rotation,
    },
};
use serde_json::Value;

fn pose(i: usize) -> Pose {
    let x = i as f64;
    Pose::new(exp_rotation(DVec3::new(0.4 * x, -0.1 * x, 0.5)), DVec3::new(x, 0.5 - x, 0.25))
}

fn sample(frames: usize) -> Animation {
    let mut a = Animation::new("a title with \"quotes\"");
    let yellow = Colour::rgb(255, 200, 0);
    a.scenery = vec![Geometry::Plane.into(), Geometry::Box { half_extents: DVec3::ONE }.into()];
    a.bodies = vec![
        Body::new("ball", [Geometry::Sphere { radius: 0.5 }]),
        Body::new(
            "pair",
            [
                VisualShape::new(Geometry::Sphere { radius: 0.1 }).coloured(yellow),
                VisualShape::new(Geometry::Capsule { radius: 0.1, half_length: 0.3 })
                    .coloured(yellow.with_alpha(51)),
            ],
        ),
        Body { name: "bare".into(), shapes: vec![] },
    ];
    a.segments = vec![Segment::new(End::world(DVec3::Z), End::origin(2)).thick(0.03)];
    a.frames = (0..frames)
        .map(|i| AnimationFrame::new(2.0 + 0.25 * i as f64, (0..3).map(|b| pose(3 * i + b))))
        .collect();
    a
}

/// The two chunks of a file whose sizes and alignment are checked on the way.
struct File {
    header: Value,
    binary: Vec<u8>,
}

impl File {
    fn read(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(&bytes[..4], b"glTF");
        assert_eq!((number(4), number(8)), (2, bytes.len()));
        let (mut at, mut chunks) = (12, Vec::new());
        while at < bytes.len() {
            let length = number(at);
            assert_eq!(length % 4, 0, "chunks are aligned");
            chunks.push((&bytes[at + 4..at + 8], &bytes[at + 8..at + 8 + length]));
            at += 8 + length;
        }
        assert_eq!(at, bytes.len());
        assert_eq!(chunks[0].0, b"JSON");
        let header: Value = serde_json::from_slice(chunks[0].1).unwrap();
        let binary = chunks.get(1).map_or(vec![], |(kind, bytes)| {
            assert_eq!(kind, b"BIN\0");
            bytes.to_vec()
        });
        let file = Self { header, binary };
        assert_eq!(file.header["asset"]["version"], "2.0");
        file
    }

    fn list(&self, name: &str) -> &[Value] {
        self.header[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// Bytes of an accessor.
    fn bytes(&self, accessor: &Value) -> &[u8] {
        let a = &self.list("accessors")[index(accessor)];
        let view = &self.list("bufferViews")[index(&a["bufferView"])];
        let (offset, length) = (index(&view["byteOffset"]), index(&view["byteLength"]));
        let width = match a["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            other => panic!("{other}"),
        };
        assert_eq!(length, 4 * width * index(&a["count"]), "as long as its numbers");
        assert_eq!(offset % 4, 0);
        &self.binary[offset..offset + length]
    }

    fn floats(&self, accessor: &Value) -> Vec<f32> {
        assert_eq!(self.list("accessors")[index(accessor)]["componentType"], 5126);
        self.bytes(accessor).chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn named(&self, name: &str) -> usize {
        self.list("nodes").iter().position(|n| n["name"] == name).unwrap()
    }

    /// Numbers of a channel.
    fn channel(&self, node: usize, path: &str) -> Vec<f32> {
        let animation = &self.list("animations")[0];
        let of = |c: &&Value| c["target"]["node"] == node && c["target"]["path"] == path;
        let found: Vec<_> = animation["channels"].as_array().unwrap().iter().filter(of).collect();
        assert_eq!(found.len(), 1, "one {path} of node {node}");
        self.floats(&animation["samplers"][index(&found[0]["sampler"])]["output"])
    }
}

fn index(v: &Value) -> usize {
    v.as_u64().unwrap() as usize
}

fn read(a: &Animation) -> File {
    File::read(&gltf::to_bytes(a).unwrap())
}

#[test]
fn every_reference_and_bound_holds() {
    let f = read(&sample(4));
    assert_eq!(f.list("buffers").len(), 1);
    assert_eq!(index(&f.header["buffers"][0]["byteLength"]), f.binary.len());
    for (i, a) in f.list("accessors").iter().enumerate() {
        let number = Value::from(i);
        if a["componentType"] != 5126 {
            f.bytes(&number);
            continue;
        }
        let numbers = f.floats(&number);
        let width = numbers.len() / index(&a["count"]);
        for k in 0..width {
            let column = || numbers.iter().skip(k).step_by(width).copied();
            assert_eq!(a["min"][k].as_f64().unwrap() as f32, column().reduce(f32::min).unwrap());
            assert_eq!(a["max"][k].as_f64().unwrap() as f32, column().reduce(f32::max).unwrap());
        }
    }
    for m in f.list("meshes") {
        let p = &m["primitives"][0];
        let corners = f.floats(&p["attributes"]["POSITION"]).len() / 3;
        assert_eq!(f.floats(&p["attributes"]["NORMAL"]).len() / 3, corners);
        let indices = f.bytes(&p["indices"]);
        assert_eq!(indices.len() % 12, 0);
        for b in indices.chunks(4) {
            assert!((u32::from_le_bytes(b.try_into().unwrap()) as usize) < corners);
        }
        assert!(index(&p["material"]) < f.list("materials").len());
    }
    // A strict tree below one root: every node but that is a child once.
    let mut parents = vec![0; f.list("nodes").len()];
    for child in f.list("nodes").iter().filter_map(|n| n["children"].as_array()).flatten() {
        parents[index(child)] += 1;
    }
    let root = index(&f.header["scenes"][0]["nodes"][0]);
    assert!(parents.iter().enumerate().all(|(i, n)| *n == usize::from(i != root)), "{parents:?}");
    for n in f.list("nodes").iter().filter(|n| !n["mesh"].is_null()) {
        assert!(index(&n["mesh"]) < f.list("meshes").len());
    }
}

#[test]
fn surfaces_and_materials_are_shared() {
    let f = read(&sample(4));
    // Box, blue ball, yellow ball, tube and half sphere in translucent yellow, bar.
    assert_eq!(f.list("meshes").len(), 6);
    // Grey, blue, yellow, translucent yellow, green for the bare body's bar.
    assert_eq!(f.list("materials").len(), 5);
    let translucent: Vec<_> =
        f.list("materials").iter().filter(|m| m["alphaMode"] == "BLEND").collect();
    assert_eq!(translucent.len(), 1);
    let colour = &translucent[0]["pbrMetallicRoughness"]["baseColorFactor"];
    assert_eq!((colour[0].as_f64(), colour[3].as_f64()), (Some(1.0), Some(0.2)));
    let sphere =
        |mesh: usize| f.list("meshes")[mesh]["primitives"][0]["attributes"]["POSITION"].clone();
    assert_eq!(sphere(1), sphere(2), "one sphere in two colours");
}

#[test]
fn bodies_move_as_recorded() {
    let f = read(&sample(4));
    let sampler = &f.list("animations")[0]["samplers"][0];
    assert_eq!(f.floats(&sampler["input"]), [0.0, 0.25, 0.5, 0.75], "from the first frame");
    for (b, name) in ["ball", "pair", "bare"].iter().enumerate() {
        let node = f.named(name);
        let (t, r) = (f.channel(node, "translation"), f.channel(node, "rotation"));
        for i in 0..4 {
            let p = pose(3 * i + b);
            assert_eq!(t[3 * i..3 * i + 3], p.translation.as_vec3().to_array());
            // x, y, z, w, up to the sign of all four and one rounding.
            let q = DQuat::from_array(std::array::from_fn(|k| f64::from(r[4 * i + k])));
            assert!((q.dot(p.rotation).abs() - 1.0).abs() < 4.0 * f64::from(f32::EPSILON));
            let next = r.get(4 * i + 4..4 * i + 8);
            let dot = next.map(|n| n.iter().zip(&r[4 * i..]).map(|(a, b)| a * b).sum::<f32>());
            assert!(dot.is_none_or(|d| d >= 0.0), "neighbours take the shorter arc");
        }
    }
}

/// The corners of the bar's axis, mapped by node and root, are its ends with z turned to y.
#[test]
fn bars_reach_from_end_to_end_with_y_up() {
    let f = read(&sample(4));
    let node = f.named("segment 0");
    let [t, r, s] = ["translation", "rotation", "scale"].map(|path| f.channel(node, path));
    let root = &f.list("nodes")[index(&f.header["scenes"][0]["nodes"][0])];
    let turn = DQuat::from_array(std::array::from_fn(|k| root["rotation"][k].as_f64().unwrap()));
    for i in 0..4 {
        let v = |n: &[f32]| DVec3::new(n[3 * i].into(), n[3 * i + 1].into(), n[3 * i + 2].into());
        let q = DQuat::from_array(std::array::from_fn(|k| f64::from(r[4 * i + k])));
        let map = DMat4::from_quat(turn) * DMat4::from_scale_rotation_translation(v(&s), q, v(&t));
        for (z, end) in [(-1.0, DVec3::Z), (1.0, pose(3 * i + 2).translation)] {
            let got = (map * DVec4::new(0.0, 0.0, z, 1.0)).truncate();
            let expected = DVec3::new(end.x, end.z, -end.y);
            let tolerance = 16.0 * f64::from(f32::EPSILON) * (1.0 + end.length());
            assert!((got - expected).length() < tolerance, "{got} {expected}");
        }
        assert!((v(&s).x - 0.03).abs() < 1e-8);
    }
}

#[test]
fn one_frame_is_a_scene_that_stands_still() {
    let f = read(&sample(1));
    assert!(f.list("animations").is_empty());
    let ball = &f.list("nodes")[f.named("ball")];
    assert_eq!(ball["translation"][1].as_f64().unwrap(), 0.5);
    let mut bare = Animation::new("nothing");
    bare.frames.push(AnimationFrame::default());
    assert_eq!(read(&bare).list("nodes").len(), 1, "only the root");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(gltf::to_bytes(&sample(3)).unwrap(), gltf::to_bytes(&sample(3)).unwrap());
}

#[test]
fn what_cannot_be_written_is_refused_with_its_place() {
    let mut a = sample(3);
    a.frames[2].time = a.frames[1].time + 1e-12;
    assert_eq!(
        gltf::to_bytes(&a).unwrap_err().to_string(),
        "frame 2: the time is that of the frame before in single precision"
    );
    let mut a = sample(3);
    a.frames[1].world_from_body[2].translation.z = -1e39;
    assert_eq!(
        gltf::to_bytes(&a).unwrap_err().to_string(),
        "position of body 'bare' in frame 1 is -1e39, more than single precision can hold"
    );
    a.frames[1].world_from_body[2].translation.z = f64::NAN;
    assert!(matches!(gltf::to_bytes(&a), Err(IoError::NotFinite { .. })));
}
