//! Medit's text form `.mesh`, which fTetWild writes: keywords with lists; references are groups.

use super::{FileError, raw::Raw, reader::Reader};

/// Keywords whose items have so many numbers, the reference last.
const LISTS: [(&str, usize); 8] = [
    ("Edges", 3),
    ("Triangles", 4),
    ("Quadrilaterals", 5),
    ("Hexahedra", 9),
    ("Corners", 1),
    ("RequiredVertices", 1),
    ("Ridges", 1),
    ("RequiredEdges", 1),
];

pub(super) fn parse(bytes: &[u8]) -> Result<Raw, FileError> {
    let mut r = Reader::new(bytes);
    let mut raw = Raw::default();
    while let Some(word) = r.word() {
        match word {
            "MeshVersionFormatted" => {
                r.number::<u64>("a version")?;
            }
            "Dimension" => {
                let dimension: u64 = r.number("a dimension")?;
                if dimension != 3 {
                    return Err(r.unexpected("dimension 3", &dimension.to_string()));
                }
            }
            "Vertices" => {
                for number in 1..=r.number::<u64>("a number of vertices")? {
                    let x = r.point()?;
                    let reference: i64 = r.number("a reference")?;
                    raw.push_node(number, x);
                    if reference != 0 {
                        raw.group(&reference.to_string(), &[number]);
                    }
                }
            }
            "Tetrahedra" => {
                for _ in 0..r.number::<u64>("a number of tetrahedra")? {
                    let nodes = r.numbers(4, "a vertex")?;
                    let reference: i64 = r.number("a reference")?;
                    if reference != 0 {
                        raw.group(&reference.to_string(), &nodes);
                    }
                    raw.elements.push(nodes);
                }
            }
            "End" => break,
            other => {
                let list = LISTS.iter().find(|(name, _)| *name == other);
                let (_, length) = list.ok_or_else(|| r.unexpected("a keyword of Medit", other))?;
                for _ in 0..r.number::<u64>("a number of items")? {
                    for _ in 0..*length {
                        r.number::<i64>("a number")?;
                    }
                }
            }
        }
    }
    Ok(raw)
}
