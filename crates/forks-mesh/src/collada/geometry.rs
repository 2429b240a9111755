//! `<geometry>`: points by index, in triangles, polygons, strips and fans.

use std::collections::HashMap;

use forks_geometry::lie::glam::{DAffine3, DVec3};
use roxmltree::Node;

use super::{Library, Named, child, children, numbers, wrong};
use crate::painted::{PaintedMesh, Rgba};

/// Adds the triangles of a geometry where it stands; the same points are added once per instance.
pub(super) fn add<'a, 'i>(
    geometry: Node<'a, 'i>,
    at: DAffine3,
    materials: &HashMap<&str, Rgba>,
    library: &Library<'a, 'i>,
    out: &mut PaintedMesh,
) -> Result<(), String> {
    let Some(mesh) = child(geometry, "mesh") else { return Ok(()) };
    // Mirrored, triangles look the other way.
    let mirrored = at.matrix3.determinant() < 0.0;
    // Number of the first point of each source that was added.
    let mut sources: HashMap<usize, (usize, usize)> = HashMap::new();
    for primitive in mesh.children().filter(Node::is_element) {
        let corners: fn(Vec<usize>) -> Vec<[usize; 3]> = match primitive.tag_name().name() {
            "triangles" => triangles,
            "polylist" | "polygons" | "trifans" => fan,
            "tristrips" => strip,
            _ => continue,
        };
        let Some((points, offset, width)) = input(primitive, library)? else { continue };
        let (first, count) = match sources.get(&points.range().start) {
            Some(known) => *known,
            None => {
                let first = out.mesh.vertices.len();
                out.mesh.vertices.extend(positions(points)?.map(|p| at.transform_point3(p)));
                let new = (first, out.mesh.vertices.len() - first);
                sources.insert(points.range().start, new);
                new
            }
        };
        let material = primitive.attribute("material").and_then(|m| materials.get(m));
        let colour = out.colour(material.copied());
        for polygon in polygons(primitive, width)? {
            let index = |c: &[usize]| {
                let i = c[offset];
                if i < count { Ok(first + i) } else { Err(wrong(primitive, &missing(i, count))) }
            };
            let polygon: Vec<usize> =
                polygon.chunks_exact(width).map(index).collect::<Result<_, _>>()?;
            for [a, b, c] in corners(polygon) {
                out.add(if mirrored { [a, c, b] } else { [a, b, c] }, colour);
            }
        }
    }
    Ok(())
}

fn missing(i: usize, count: usize) -> String {
    format!("there is no point {i} among {count}")
}

/// The source of the points of a primitive, the place of their numbers among those of a corner, and
/// how many numbers a corner has.
fn input<'a, 'i>(
    primitive: Node<'a, 'i>,
    library: &Library<'a, 'i>,
) -> Result<Option<(Node<'a, 'i>, usize, usize)>, String> {
    let (mut points, mut width) = (None, 0);
    for input in children(primitive, "input") {
        let offset = match input.attribute("offset").map(|o| o.trim().parse::<usize>()) {
            Some(Ok(offset)) if offset < 256 => offset,
            None => 0,
            _ => return Err(wrong(input, "its offset is no small number")),
        };
        width = width.max(offset + 1);
        if input.attribute("semantic") == Some("VERTEX") {
            points = Some((input, offset));
        }
    }
    let Some((input, offset)) = points else { return Ok(None) };
    let vertices = library.find(input.attribute("source"));
    let position = vertices
        .and_then(|v| children(v, "input").find(|i| i.attribute("semantic") == Some("POSITION")));
    let source = position.and_then(|p| library.find(p.attribute("source")));
    let source = source.ok_or_else(|| wrong(input, "its points are not there"))?;
    Ok(Some((source, offset, width)))
}

/// The points of a source.
fn positions(source: Node<'_, '_>) -> Result<impl Iterator<Item = DVec3>, String> {
    let array = child(source, "float_array").ok_or_else(|| wrong(source, "it has no numbers"))?;
    let numbers: Vec<f64> = numbers(array)?;
    let accessor = child(source, "technique_common").and_then(|t| child(t, "accessor"));
    let number = |name: &str, default: usize| match accessor.and_then(|a| a.attribute(name)) {
        Some(text) => text.trim().parse().map_err(|_| wrong(source, "its accessor is broken")),
        None => Ok(default),
    };
    let (stride, offset) = (number("stride", 3)?, number("offset", 0)?);
    if stride < 3 || offset > numbers.len() {
        return Err(wrong(source, "its points have fewer than three numbers"));
    }
    let count = (numbers.len() - offset) / stride;
    let point = move |i: usize| DVec3::from_slice(&numbers[offset + stride * i..]);
    Ok((0..count).map(point))
}

/// The numbers of each polygon of a primitive.
fn polygons(primitive: Node<'_, '_>, width: usize) -> Result<Vec<Vec<usize>>, String> {
    let lists = children(primitive, "p").map(numbers::<usize>);
    let lists: Vec<Vec<usize>> = lists.collect::<Result<_, _>>()?;
    if !primitive.has_tag_name_of("polylist") {
        return Ok(lists);
    }
    let counts: Vec<usize> = match child(primitive, "vcount") {
        Some(counts) => numbers(counts)?,
        None => return Err(wrong(primitive, "it does not say how many corners its polygons have")),
    };
    let all = lists.concat();
    let mut rest = &all[..];
    let mut out = Vec::with_capacity(counts.len());
    for count in counts {
        let length = count.checked_mul(width).filter(|n| *n <= rest.len());
        let length = length.ok_or_else(|| wrong(primitive, "its polygons are cut off"))?;
        out.push(rest[..length].to_vec());
        rest = &rest[length..];
    }
    Ok(out)
}

fn triangles(corners: Vec<usize>) -> Vec<[usize; 3]> {
    corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
}

fn fan(corners: Vec<usize>) -> Vec<[usize; 3]> {
    (2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]).collect()
}

/// Every second triangle of a strip runs the other way round.
fn strip(corners: Vec<usize>) -> Vec<[usize; 3]> {
    let turned = |(k, c): (usize, &[usize])| match k % 2 {
        0 => [c[0], c[1], c[2]],
        _ => [c[1], c[0], c[2]],
    };
    corners.windows(3).enumerate().map(turned).collect()
}
