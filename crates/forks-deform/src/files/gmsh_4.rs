//! Version 4.1 of Gmsh's format: nodes and elements in blocks by geometrical entity.

use std::collections::HashMap;

use super::{
    FileError,
    gmsh_types::{Names, is_tetrahedron, name_of, nodes_of},
    raw::Raw,
    reader::Reader,
};

/// Physical groups of every entity, by dimension and number.
pub(super) type Entities = HashMap<(u64, i64), Vec<u64>>;

/// A whole number of either form.
fn size(r: &mut Reader<'_>, binary: bool, expected: &'static str) -> Result<u64, FileError> {
    if binary { r.size(expected) } else { r.number(expected) }
}

fn int(r: &mut Reader<'_>, binary: bool, expected: &'static str) -> Result<i64, FileError> {
    if binary { Ok(r.int(expected)?.into()) } else { r.number(expected) }
}

fn double(r: &mut Reader<'_>, binary: bool) -> Result<f64, FileError> {
    if binary { r.double("a coordinate") } else { r.number("a coordinate") }
}

pub(super) fn entities(r: &mut Reader<'_>, binary: bool) -> Result<Entities, FileError> {
    if binary {
        r.rest_of_line();
    }
    let mut counts = [0; 4];
    for c in &mut counts {
        *c = size(r, binary, "a number of entities")?;
    }
    let mut out = Entities::new();
    for (dimension, count) in counts.into_iter().enumerate() {
        for _ in 0..count {
            let tag = int(r, binary, "an entity")?;
            // A point, or a box.
            for _ in 0..if dimension == 0 { 3 } else { 6 } {
                double(r, binary)?;
            }
            let groups = size(r, binary, "a number of groups")?;
            let mut own = Vec::with_capacity(r.bounded(groups, 1));
            for _ in 0..groups {
                own.push(int(r, binary, "a group")?.unsigned_abs());
            }
            if dimension > 0 {
                for _ in 0..size(r, binary, "a number of bounding entities")? {
                    int(r, binary, "a bounding entity")?;
                }
            }
            out.insert((dimension as u64, tag), own);
        }
    }
    Ok(out)
}

pub(super) fn nodes(r: &mut Reader<'_>, binary: bool, raw: &mut Raw) -> Result<(), FileError> {
    if binary {
        r.rest_of_line();
    }
    let blocks = size(r, binary, "a number of blocks")?;
    for what in ["a number of nodes", "the least node", "the last node"] {
        size(r, binary, what)?;
    }
    for _ in 0..blocks {
        int(r, binary, "a dimension")?;
        int(r, binary, "an entity")?;
        let parametric = int(r, binary, "0 or 1")?;
        if parametric != 0 {
            return Err(r.unexpected("nodes without parameters", &parametric.to_string()));
        }
        let count = size(r, binary, "a number of nodes")?;
        let mut numbers = Vec::with_capacity(r.bounded(count, 1));
        for _ in 0..count {
            numbers.push(size(r, binary, "a node")?);
        }
        for number in numbers {
            let x = [double(r, binary)?, double(r, binary)?, double(r, binary)?];
            raw.push_node(number, x);
        }
    }
    Ok(())
}

pub(super) fn elements(
    r: &mut Reader<'_>,
    binary: bool,
    names: &Names,
    entities: &Entities,
    raw: &mut Raw,
) -> Result<(), FileError> {
    if binary {
        r.rest_of_line();
    }
    let blocks = size(r, binary, "a number of blocks")?;
    for what in ["a number of elements", "the least element", "the last element"] {
        size(r, binary, what)?;
    }
    for _ in 0..blocks {
        let dimension = int(r, binary, "a dimension")?.unsigned_abs();
        let entity = int(r, binary, "an entity")?;
        let kind = int(r, binary, "a type")?.unsigned_abs();
        let count = size(r, binary, "a number of elements")?;
        let length = nodes_of(kind)
            .ok_or_else(|| r.unexpected("a type of element up to 19", &kind.to_string()))?;
        let groups = entities.get(&(dimension, entity)).map_or(&[][..], Vec::as_slice);
        for _ in 0..count {
            size(r, binary, "an element")?;
            let mut nodes = Vec::with_capacity(length);
            for _ in 0..length {
                nodes.push(size(r, binary, "a node")?);
            }
            for &tag in groups {
                raw.group(&name_of(names, dimension, tag), &nodes);
            }
            if is_tetrahedron(kind) {
                raw.elements.push(nodes);
            }
        }
    }
    Ok(())
}
