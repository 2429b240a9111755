//! `<visual_scene>`: nodes with transforms, and what they hold.

use std::collections::HashMap;

use forks_geometry::lie::glam::{DAffine3, DMat4, DQuat, DVec3};
use roxmltree::Node;

use super::{Library, Named, child, children, geometry, material, numbers, wrong};
use crate::painted::{PaintedMesh, Rgba};

/// Most nodes of a scene, instances of instances included, which may refer to themselves.
const MOST_NODES: usize = 100_000;

/// The scene that the file shows: the one that it names, else its first.
pub(super) fn visual_scene<'a, 'i>(
    root: Node<'a, 'i>,
    library: &Library<'a, 'i>,
) -> Option<Node<'a, 'i>> {
    let named = child(root, "scene").and_then(|s| child(s, "instance_visual_scene"));
    let named = named.and_then(|s| library.find(s.attribute("url")));
    named.or_else(|| root.descendants().find(|n| n.has_tag_name_of("visual_scene")))
}

/// Adds what the nodes of a scene hold, in their order.
pub(super) fn add<'a, 'i>(
    scene: Node<'a, 'i>,
    at: DAffine3,
    library: &Library<'a, 'i>,
    out: &mut PaintedMesh,
) -> Result<(), String> {
    let mut open: Vec<(Node<'a, 'i>, DAffine3)> = vec![(scene, at)];
    let mut count = 0;
    while let Some((node, around)) = open.pop() {
        count += 1;
        if count > MOST_NODES {
            return Err(wrong(node, "its nodes refer to each other without end"));
        }
        let at = around * transform(node)?;
        let first = open.len();
        for c in node.children().filter(Node::is_element) {
            let meant = || library.find(c.attribute("url"));
            match c.tag_name().name() {
                "node" => open.push((c, at)),
                "instance_node" => open.extend(meant().map(|n| (n, at))),
                "instance_geometry" => {
                    if let Some(g) = meant() {
                        geometry::add(g, at, &materials(c, library), library, out)?;
                    }
                }
                "instance_controller" => {
                    let skin = meant().and_then(|controller| child(controller, "skin"));
                    let Some(skin) = skin else { continue };
                    let bound = match child(skin, "bind_shape_matrix") {
                        Some(m) => matrix(m)?,
                        None => DAffine3::IDENTITY,
                    };
                    if let Some(g) = library.find(skin.attribute("source")) {
                        geometry::add(g, at * bound, &materials(c, library), library, out)?;
                    }
                }
                _ => {}
            }
        }
        open[first..].reverse();
    }
    Ok(())
}

/// The transforms of a node, the first one outermost.
fn transform(node: Node<'_, '_>) -> Result<DAffine3, String> {
    let mut out = DAffine3::IDENTITY;
    for c in node.children().filter(Node::is_element) {
        out *= match c.tag_name().name() {
            "matrix" => matrix(c)?,
            "translate" => DAffine3::from_translation(DVec3::from(exactly::<3>(c)?)),
            "scale" => DAffine3::from_scale(DVec3::from(exactly::<3>(c)?)),
            "rotate" => {
                let [x, y, z, degrees] = exactly::<4>(c)?;
                let axis = DVec3::new(x, y, z).normalize_or_zero();
                match axis == DVec3::ZERO {
                    true => DAffine3::IDENTITY,
                    false => {
                        DAffine3::from_quat(DQuat::from_axis_angle(axis, degrees.to_radians()))
                    }
                }
            }
            "skew" | "lookat" => return Err(wrong(c, "this kind of transform is not read")),
            _ => continue,
        };
    }
    Ok(out)
}

/// Sixteen numbers, row after row.
fn matrix(node: Node<'_, '_>) -> Result<DAffine3, String> {
    Ok(DAffine3::from_mat4(DMat4::from_cols_array(&exactly::<16>(node)?).transpose()))
}

fn exactly<const N: usize>(node: Node<'_, '_>) -> Result<[f64; N], String> {
    numbers(node)?.try_into().map_err(|_| wrong(node, &format!("there are not {N} numbers")))
}

/// Colours by the symbols that a geometry uses for its materials.
fn materials<'a, 'i>(instance: Node<'a, 'i>, library: &Library<'a, 'i>) -> HashMap<&'a str, Rgba> {
    let bound = child(instance, "bind_material").and_then(|b| child(b, "technique_common"));
    let all = bound.into_iter().flat_map(|b| children(b, "instance_material"));
    all.filter_map(|m| {
        let target = library.find(m.attribute("target"))?;
        Some((m.attribute("symbol")?, material::colour(target, library)?))
    })
    .collect()
}
