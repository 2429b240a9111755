//! Version 2.2 of Gmsh's format.

use super::{
    FileError,
    gmsh_types::{Names, dimension_of, is_tetrahedron, name_of, nodes_of},
    raw::Raw,
    reader::Reader,
};

pub(super) fn nodes(r: &mut Reader<'_>, binary: bool, raw: &mut Raw) -> Result<(), FileError> {
    let count: u64 = r.number("a number of nodes")?;
    r.rest_of_line();
    for _ in 0..count {
        if binary {
            let number = r.int("a node")? as u64;
            let x = r.binary_point()?;
            raw.push_node(number, x);
        } else {
            let number = r.number("a node")?;
            let x = r.point()?;
            raw.push_node(number, x);
        }
    }
    Ok(())
}

pub(super) fn elements(
    r: &mut Reader<'_>,
    binary: bool,
    names: &Names,
    raw: &mut Raw,
) -> Result<(), FileError> {
    let count: u64 = r.number("a number of elements")?;
    r.rest_of_line();
    let mut done = 0;
    while done < count {
        // In binary files elements of one type follow a common header.
        let (kind, following, tags) = match binary {
            true => {
                let (kind, following) = (r.int("a type")? as u64, r.int("a number of elements")?);
                (kind, following.max(1) as u64, r.int("a number of tags")? as u64)
            }
            false => {
                r.number::<u64>("an element")?;
                (r.number("a type")?, 1, r.number("a number of tags")?)
            }
        };
        let size = nodes_of(kind)
            .ok_or_else(|| r.unexpected("a type of element up to 19", &kind.to_string()))?;
        for _ in 0..following {
            let (tags, nodes) = match binary {
                true => {
                    r.int("an element")?;
                    let mut some = |n: usize| -> Result<Vec<u64>, FileError> {
                        (0..n).map(|_| Ok(r.int("a node")? as u64)).collect()
                    };
                    (some((tags as usize).min(64))?, some(size)?)
                }
                false => (r.numbers(tags.min(64) as usize, "a tag")?, r.numbers(size, "a node")?),
            };
            // The first tag is the physical group, 0 for none.
            if let Some(&tag) = tags.first().filter(|t| **t > 0) {
                raw.group(&name_of(names, dimension_of(kind), tag), &nodes);
            }
            if is_tetrahedron(kind) {
                raw.elements.push(nodes);
            }
        }
        done += following;
    }
    Ok(())
}
