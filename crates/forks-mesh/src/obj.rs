//! OBJ: `v` and `f` lines; faces with more than three corners are split into a fan.

use forks_lie::glam::DVec3;

use super::Mesh;

/// Reads vertices and faces of all objects and groups as one mesh.
pub(crate) fn parse(bytes: &[u8]) -> Result<Mesh, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Mesh::default();
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let done = match words.next() {
            Some("v") => vertex(words).map(|v| out.vertices.push(v)),
            Some("f") => face(words, out.vertices.len()).map(|f| {
                out.faces.extend((2..f.len()).map(|k| [f[0], f[k - 1], f[k]]));
            }),
            _ => Some(()),
        };
        done.ok_or_else(|| format!("line {} cannot be understood", i + 1))?;
    }
    Ok(out)
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
    use super::parse;

    #[test]
    fn numbers_from_either_end_and_polygons() {
        let text = "# a\no x\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 \
            4//1\nf -1/2/3 -2 -4\n";
        let m = parse(text.as_bytes()).unwrap();
        assert_eq!(m.vertices.len(), 4);
        assert_eq!(m.faces, [[0, 1, 2], [0, 2, 3], [3, 2, 0]]);
    }

    #[test]
    fn broken_lines_are_named() {
        for (text, line) in [("v 0 0\n", 1), ("v 0 0 0\nf 1 1\n", 2), ("v 0 0 0\nf 0 1 1\n", 2)] {
            let e = parse(text.as_bytes()).unwrap_err();
            assert!(e.contains(&format!("line {line} ")), "{e}");
        }
    }
}
