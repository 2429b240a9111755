//! Files that are cut off or changed are errors or other meshes, never panics.

use forks_mesh::parse;
use proptest::prelude::*;

use crate::{collada, gltf};

/// A file of every format.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let primitives = r##"<polylist><input semantic="VERTEX" source="#v" offset="0"/>
<vcount>3 4</vcount><p>0 1 2 3 2 1 0</p></polylist>"##;
    let node = r##"<node><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix>
<instance_geometry url="#g"/></node>"##;
    let dae = collada::document("", primitives, &collada::scene(node));
    let json = gltf::document(5, 56, r#","byteStride":12"#).replace(",\"uri\":\"points.bin\"", "");
    let padded = format!("{json}{}", " ".repeat(json.len().wrapping_neg() % 4));
    let bin = gltf::points();
    let mut glb = b"glTF".to_vec();
    let total = 12 + 8 + padded.len() + 8 + bin.len();
    for n in [2, total as u32, padded.len() as u32] {
        glb.extend(n.to_le_bytes());
    }
    glb.extend(b"JSON");
    glb.extend(padded.as_bytes());
    glb.extend((bin.len() as u32).to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend(bin);
    let obj =
        b"mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 1\nusemtl a\nf 1/1 2/2 3/3 -1\n".to_vec();
    let mut stl = vec![0; 80];
    stl.extend(2u32.to_le_bytes());
    for x in [
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0f32],
    ] {
        stl.extend([0; 12]);
        x.iter().for_each(|x| stl.extend(x.to_le_bytes()));
        stl.extend([0; 2]);
    }
    let mut msh: Vec<u8> = [4i32, 0, 0, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
    msh.extend(gltf::points()[..48].iter());
    msh.extend([0i32, 1, 2].iter().flat_map(|i| i.to_le_bytes()));
    vec![
        ("dae", dae.into_bytes()),
        ("gltf", gltf::document(4, 56, "").into_bytes()),
        ("glb", glb),
        ("obj", obj),
        ("stl", stl),
        ("msh", msh),
    ]
}

fn read(format: &str, bytes: &[u8]) -> bool {
    let mut beside = |name: &str| match name {
        "points.bin" => Ok(gltf::points()),
        _ => Ok(b"newmtl a\nKd 1 0 0\n".to_vec()),
    };
    parse(format, bytes, &mut beside).is_ok()
}

#[test]
fn the_samples_are_whole_and_their_beginnings_are_no_panic() {
    for (format, bytes) in samples() {
        assert!(read(format, &bytes), "{format}");
        for end in 0..bytes.len() {
            read(format, &bytes[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_are_no_panic(
        which in 0usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (format, mut bytes) = samples().swap_remove(which);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read(format, &bytes);
    }

    #[test]
    fn digits_changed_to_digits_are_no_panic(
        which in 0usize..2,
        changes in prop::collection::vec((any::<prop::sample::Index>(), b'0'..=b'9'), 1..4),
    ) {
        let (format, mut bytes) = samples().swap_remove(which);
        let digits: Vec<usize> =
            (0..bytes.len()).filter(|i| bytes[*i].is_ascii_digit()).collect();
        for (at, byte) in changes {
            bytes[digits[at.index(digits.len())]] = byte;
        }
        read(format, &bytes);
    }
}
