//! PLY: a header that says what follows, then vertices and faces as text or binary numbers of
//! either order. Faces with more than three corners are split into a fan.

use forks_deform::dynamics::mechanism::lie::glam::DVec3;
use forks_geometry::mesh::Mesh;

/// How the numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Text,
    Little,
    Big,
}

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Kind {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "char" | "int8" => Self::Signed(1),
            "uchar" | "uint8" => Self::Unsigned(1),
            "short" | "int16" => Self::Signed(2),
            "ushort" | "uint16" => Self::Unsigned(2),
            "int" | "int32" => Self::Signed(4),
            "uint" | "uint32" => Self::Unsigned(4),
            "float" | "float32" => Self::Float(4),
            "double" | "float64" => Self::Float(8),
            _ => return Err(format!("'{name}' is no type of numbers")),
        })
    }

    /// A number from as many bytes as the type has, the lowest first.
    fn number(self, bytes: [u8; 8]) -> f64 {
        match self {
            Self::Signed(size) => {
                let unused = 64 - 8 * size as u32;
                (i64::from_le_bytes(bytes) << unused >> unused) as f64
            }
            Self::Unsigned(_) => u64::from_le_bytes(bytes) as f64,
            Self::Float(8) => f64::from_le_bytes(bytes),
            Self::Float(_) => {
                let [a, b, c, d, ..] = bytes;
                f64::from(f32::from_le_bytes([a, b, c, d]))
            }
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Signed(size) | Self::Unsigned(size) | Self::Float(size) => size,
        }
    }
}

/// One number per entry, or a list of them behind their count.
struct Property {
    name: String,
    count: Option<Kind>,
    kind: Kind,
}

struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

/// Numbers as they come.
struct Numbers<'a> {
    coding: Coding,
    bytes: &'a [u8],
}

impl Numbers<'_> {
    fn next(&mut self, kind: Kind) -> Result<f64, String> {
        if self.coding == Coding::Text {
            let start = self.bytes.iter().position(|b| !b.is_ascii_whitespace());
            let rest = &self.bytes[start.ok_or("it is cut off")?..];
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            let word = String::from_utf8_lossy(&rest[..end]);
            self.bytes = &rest[end..];
            return word.parse().map_err(|_| format!("'{word}' is no number"));
        }
        let (own, rest) = self.bytes.split_at_checked(kind.size()).ok_or("it is cut off")?;
        self.bytes = rest;
        let mut padded = [0; 8];
        padded[..own.len()].copy_from_slice(own);
        if self.coding == Coding::Big {
            padded[..own.len()].reverse();
        }
        Ok(kind.number(padded))
    }

    /// A whole number from 0 on.
    fn index(&mut self, kind: Kind) -> Result<usize, String> {
        let x = self.next(kind)?;
        let whole = x >= 0.0 && x.fract() == 0.0 && x < 4_294_967_296.0;
        if whole { Ok(x as usize) } else { Err(format!("{x} is no number of a vertex")) }
    }
}

/// Reads vertices and faces.
pub(crate) fn parse(bytes: &[u8]) -> Result<Mesh, String> {
    let (coding, elements, body) = header(bytes)?;
    let mut numbers = Numbers { coding, bytes: body };
    let mut out = Mesh::default();
    for e in &elements {
        for _ in 0..e.count {
            let mut x = [None; 3];
            for p in &e.properties {
                let Some(count) = p.count else {
                    let value = numbers.next(p.kind)?;
                    if let Some(i) = ["x", "y", "z"].iter().position(|n| *n == p.name) {
                        x[i] = Some(value);
                    }
                    continue;
                };
                let mut corners = Vec::new();
                for _ in 0..numbers.index(count)? {
                    corners.push(numbers.index(p.kind)?);
                }
                if e.name == "face" && ["vertex_indices", "vertex_index"].contains(&&p.name[..]) {
                    let fan = (2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]);
                    out.faces.extend(fan);
                }
            }
            if e.name == "vertex" {
                let [Some(x), Some(y), Some(z)] = x else {
                    return Err("its vertices have not x, y and z".into());
                };
                out.vertices.push(DVec3::new(x, y, z));
            }
        }
    }
    Ok(out)
}

/// The coding, what elements follow, and the bytes behind the header.
fn header(bytes: &[u8]) -> Result<(Coding, Vec<Element>, &[u8]), String> {
    let (mut coding, mut elements) = (None, Vec::<Element>::new());
    let mut rest = bytes;
    for i in 0.. {
        let end = rest.iter().position(|b| *b == b'\n').ok_or("its header has no end")?;
        let line = String::from_utf8_lossy(&rest[..end]).trim().to_owned();
        rest = &rest[end + 1..];
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["ply"] if i == 0 => {}
            _ if i == 0 => return Err("it does not begin with 'ply'".into()),
            ["format", "ascii", _] => coding = Some(Coding::Text),
            ["format", "binary_little_endian", _] => coding = Some(Coding::Little),
            ["format", "binary_big_endian", _] => coding = Some(Coding::Big),
            ["element", name, count] => {
                let count = count.parse().map_err(|_| format!("'{line}' has no count"))?;
                elements.push(Element { name: name.into(), count, properties: vec![] });
            }
            ["property", "list", count, kind, name] => {
                let (count, kind) = (Some(Kind::named(count)?), Kind::named(kind)?);
                let last = elements.last_mut().ok_or("a property is of no element")?;
                last.properties.push(Property { name: name.into(), count, kind });
            }
            ["property", kind, name] => {
                let kind = Kind::named(kind)?;
                let last = elements.last_mut().ok_or("a property is of no element")?;
                last.properties.push(Property { name: name.into(), count: None, kind });
            }
            ["comment" | "obj_info", ..] | [] => {}
            ["end_header"] => break,
            _ => return Err(format!("line {} cannot be understood", i + 1)),
        }
    }
    // An element without properties takes no bytes, however many of it there may be.
    elements.retain(|e| !e.properties.is_empty());
    Ok((coding.ok_or("its header names no format")?, elements, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "element vertex 4\nproperty float x\nproperty double y\nproperty float z\n\
        property uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";

    #[test]
    fn text_and_both_orders_of_bytes_are_one_mesh() {
        let corners: [[f64; 3]; 4] =
            [[0.0, 0.0, 0.5], [1.0, 0.0, 0.5], [1.0, 0.25, 0.5], [0.0, 0.25, 0.5]];
        let mut text = format!("ply\ncomment a square\nformat ascii 1.0\n{HEAD}");
        let mut little = format!("ply\nformat binary_little_endian 1.0\n{HEAD}").into_bytes();
        let mut big = format!("ply\nformat binary_big_endian 1.0\n{HEAD}").into_bytes();
        for [x, y, z] in corners {
            text += &format!("{x} {y} {z} 7\n");
            little.extend((x as f32).to_le_bytes());
            little.extend(y.to_le_bytes());
            little.extend((z as f32).to_le_bytes());
            little.push(7);
            big.extend((x as f32).to_be_bytes());
            big.extend(y.to_be_bytes());
            big.extend((z as f32).to_be_bytes());
            big.push(7);
        }
        text += "4 0 1 2 3\n";
        little.push(4);
        big.push(4);
        for i in 0..4i32 {
            little.extend(i.to_le_bytes());
            big.extend(i.to_be_bytes());
        }
        let expected = parse(text.as_bytes()).unwrap();
        assert_eq!(expected.vertices, corners.map(DVec3::from_array));
        assert_eq!(expected.faces, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(parse(&little).unwrap(), expected);
        assert_eq!(parse(&big).unwrap(), expected);
        assert_eq!(Kind::Signed(2).number([0xfe, 0xff, 0, 0, 0, 0, 0, 0]), -2.0);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let head = format!("ply\nformat ascii 1.0\n{HEAD}");
        for (text, expected) in [
            ("solid x\n".to_owned(), "does not begin"),
            ("ply\nformat ascii 1.0\n".to_owned(), "no end"),
            (format!("{head}0 0"), "cut off"),
            (format!("{head}0 0 x 0"), "'x' is no number"),
            ("ply\nformat ascii 1.0\nproperty float x\nend_header\n".to_owned(), "no element"),
            (format!("ply\n{HEAD}"), "no format"),
            (format!("ply\nformat ascii 1.0\nwhat\n{HEAD}"), "line 3"),
        ] {
            let e = parse(text.as_bytes()).unwrap_err();
            assert!(e.contains(expected), "{e}");
        }
    }
}
