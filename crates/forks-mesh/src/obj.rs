//! OBJ: `v` and `f` lines, colours of materials; faces with more than three corners are split into
//! a fan.

use std::collections::HashMap;

use forks_geometry::lie::glam::DVec3;

use crate::{
    mtl,
    painted::{PaintedMesh, Rgba},
};

/// Reads vertices and faces of all objects and groups as one mesh. Libraries of materials that
/// cannot be read leave faces without colour.
pub(crate) fn parse(
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<PaintedMesh, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = PaintedMesh::default();
    let mut materials: HashMap<String, Rgba> = HashMap::new();
    let mut colour = out.colour(None);
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let done = match words.next() {
            Some("v") => vertex(words).map(|v| out.mesh.vertices.push(v)),
            Some("f") => face(words, out.mesh.vertices.len()).map(|f| {
                for k in 2..f.len() {
                    out.add([f[0], f[k - 1], f[k]], colour);
                }
            }),
            Some("mtllib") => {
                let library = beside(after(line, "mtllib"));
                materials.extend(library.iter().flat_map(|bytes| mtl::parse(bytes)));
                Some(())
            }
            Some("usemtl") => {
                colour = out.colour(materials.get(after(line, "usemtl")).copied());
                Some(())
            }
            _ => Some(()),
        };
        done.ok_or_else(|| format!("line {} cannot be understood", i + 1))?;
    }
    Ok(out)
}

/// What stands behind the first word of a line: names may have blanks.
fn after<'a>(line: &'a str, word: &str) -> &'a str {
    line.trim().strip_prefix(word).unwrap_or("").trim()
}

/// The first three numbers; a weight or colours may follow.
fn vertex<'a>(words: impl Iterator<Item = &'a str>) -> Option<DVec3> {
    let x: Vec<f64> = words.take(3).map_while(|w| w.parse().ok()).collect();
    (x.len() == 3).then(|| DVec3::from_slice(&x))
}

/// Vertex numbers: from 1, or backwards from the last vertex so far; texture and normal numbers
/// follow slashes.
fn face<'a>(words: impl Iterator<Item = &'a str>, count: usize) -> Option<Vec<usize>> {
    let index = |w: &str| {
        let i: i64 = w.split('/').next()?.parse().ok()?;
        let i = if i < 0 { i + count as i64 } else { i - 1 };
        usize::try_from(i).ok()
    };
    let corners = words.map(index).collect::<Option<Vec<_>>>()?;
    (corners.len() >= 3).then_some(corners)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PaintedMesh, String> {
        parse(text.as_bytes(), &mut |name| match name {
            "two words.mtl" => Ok(b"newmtl a b\nKd 0 1 0\n".to_vec()),
            _ => Err("there is no such file".into()),
        })
    }

    #[test]
    fn numbers_from_either_end_and_polygons() {
        let text = "# a\no x\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 \
            4//1\nf -1/2/3 -2 -4\n";
        let m = read(text).unwrap().mesh;
        assert_eq!(m.vertices.len(), 4);
        assert_eq!(m.faces, [[0, 1, 2], [0, 2, 3], [3, 2, 0]]);
    }

    #[test]
    fn materials_colour_the_faces_behind_them() {
        let text = "mtllib no.mtl\nmtllib two words.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n\
            usemtl a b\nf 1 2 3\nusemtl unknown\nf 3 2 1\n";
        let m = read(text).unwrap();
        let colours: Vec<_> = m.colour_of.iter().map(|c| m.colours[*c]).collect();
        assert_eq!(colours, [None, Some([0, 255, 0, 255]), None]);
    }

    #[test]
    fn broken_lines_are_named() {
        for (text, line) in [("v 0 0\n", 1), ("v 0 0 0\nf 1 1\n", 2), ("v 0 0 0\nf 0 1 1\n", 2)] {
            let e = read(text).unwrap_err();
            assert!(e.contains(&format!("line {line} ")), "{e}");
        }
    }
}
