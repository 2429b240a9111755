//! STL: a list of triangles without shared vertices, binary or as text. Equal corners become one
//! vertex.

use std::collections::HashMap;

use forks_geometry::{lie::glam::DVec3, mesh::Mesh};

use crate::binary::{point, word};

/// Bytes before the first triangle, and of a triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// Reads either form. Binary headers may begin with the word that starts a text, hence the length
/// decides first.
pub(crate) fn parse(bytes: &[u8]) -> Result<Mesh, String> {
    let count = word(bytes, 80).map(|w| u32::from_le_bytes(w) as usize);
    let binary = |n: &usize| n.checked_mul(TRIANGLE).map(|s| s + HEADER) == Some(bytes.len());
    if let Some(n) = count.filter(binary) {
        return parse_binary(bytes, n);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with("solid") => parse_text(text),
        _ => Err("its length does not fit the number of triangles that it names".into()),
    }
}

fn parse_binary(bytes: &[u8], count: usize) -> Result<Mesh, String> {
    let mut out = Corners::default();
    for i in 0..count {
        // A normal, three corners and two bytes of colour.
        let first = HEADER + TRIANGLE * i + 12;
        let corner = |k: usize| point(bytes, first + 12 * k).ok_or("a triangle is cut off");
        out.add([corner(0)?, corner(1)?, corner(2)?]);
    }
    Ok(out.mesh)
}

fn parse_text(text: &str) -> Result<Mesh, String> {
    let mut out = Corners::default();
    let mut corners = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("vertex") => {
                let numbers: Vec<f64> = words.map_while(|w| w.parse().ok()).collect();
                let [x, y, z] = numbers[..] else {
                    return Err(format!("line {} has no three numbers", i + 1));
                };
                corners.push(DVec3::new(x, y, z));
            }
            Some("endloop") => {
                let Ok(three) = <[DVec3; 3]>::try_from(std::mem::take(&mut corners)) else {
                    return Err(format!("line {} ends a face that is no triangle", i + 1));
                };
                out.add(three);
            }
            _ => {}
        }
    }
    Ok(out.mesh)
}

/// Triangles by their corners.
#[derive(Default)]
struct Corners {
    mesh: Mesh,
    index: HashMap<[u64; 3], usize>,
}

impl Corners {
    fn add(&mut self, corners: [DVec3; 3]) {
        let face = corners.map(|p| {
            // −0 and 0 are one place.
            let key = (p + DVec3::ZERO).to_array().map(f64::to_bits);
            *self.index.entry(key).or_insert_with(|| {
                self.mesh.vertices.push(p);
                self.mesh.vertices.len() - 1
            })
        });
        self.mesh.faces.push(face);
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    const TEXT: &str = "solid a\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 \
        -0.0\nvertex 0 1e0 0\nendloop\nendfacet\n\
        facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 0 0 \
        1\nendloop\nendfacet\nendsolid\n";

    #[test]
    fn text_and_binary_say_the_same() {
        let text = parse(TEXT.as_bytes()).unwrap();
        assert_eq!((text.vertices.len(), text.faces.len()), (4, 2));
        // The header of a binary file may look like a text.
        let mut bytes = b"solid".to_vec();
        bytes.resize(80, b' ');
        bytes.extend(2u32.to_le_bytes());
        for f in &text.faces {
            bytes.extend([0; 12]);
            for v in f.map(|i| text.vertices[i]) {
                v.to_array().iter().for_each(|&x| bytes.extend((x as f32).to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
        assert_eq!(parse(&bytes).unwrap(), text);
        assert!(parse(&bytes[..bytes.len() - 1]).is_err());
    }

    #[test]
    fn broken_text_says_where() {
        let e = parse(TEXT.replace("vertex 0 0 1", "vertex 0 x 1").as_bytes()).unwrap_err();
        assert!(e.contains("line 13"), "{e}");
        let e = parse(TEXT.replace("vertex 0 0 1\n", "").as_bytes()).unwrap_err();
        assert!(e.contains("no triangle"), "{e}");
    }
}
