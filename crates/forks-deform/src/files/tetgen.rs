//! TetGen's `.node` and `.ele`; the first attribute of an element is its group.

use super::{FileError, raw::Raw, reader::Reader};

pub(super) fn parse(nodes: &[u8], elements: &[u8]) -> Result<Raw, FileError> {
    let mut raw = Raw::default();
    let mut r = Reader::new(nodes);
    let count: u64 = r.number("a number of nodes")?;
    let dimension: u64 = r.number("a dimension")?;
    if dimension != 3 {
        return Err(r.unexpected("dimension 3", &dimension.to_string()));
    }
    let attributes: u64 = r.number("a number of attributes")?;
    let markers: u64 = r.number("0 or 1")?;
    for _ in 0..count {
        let number = r.number("a node")?;
        let x = r.point()?;
        for _ in 0..attributes {
            r.number::<f64>("an attribute")?;
        }
        raw.push_node(number, x);
        if markers > 0 {
            let marker: i64 = r.number("a marker")?;
            if marker != 0 {
                raw.group(&marker.to_string(), &[number]);
            }
        }
    }
    let mut r = Reader::new(elements);
    let count: u64 = r.number("a number of tetrahedra")?;
    let size: usize = r.number("nodes per tetrahedron")?;
    if size != 4 && size != 10 {
        return Err(r.unexpected("4 or 10 nodes per tetrahedron", &size.to_string()));
    }
    let attributes: u64 = r.number("a number of attributes")?;
    for _ in 0..count {
        r.number::<u64>("a tetrahedron")?;
        let nodes = r.numbers(size, "a node")?;
        for k in 0..attributes {
            let value: f64 = r.number("an attribute")?;
            if k == 0 && value != 0.0 {
                raw.group(&value.to_string(), &nodes);
            }
        }
        raw.elements.push(nodes);
    }
    Ok(raw)
}
