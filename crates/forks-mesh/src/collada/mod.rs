//! Collada 1.4 and 1.5, from the XML itself: the crates that read it panic on files that are cut
//! off or hold what they do not know, leave out all but one material of a geometry
//! (`mesh-loader` 0.1) or parse dates and physics first (`dae-parser` 0.11).
//!
//! All instances of the scene count, with the transforms of their nodes, in metres by the file's
//! unit. The axis that is up has no effect, as in RViz and Gazebo, for which files of models are
//! made. Lines, splines and convex hulls are left out; skins are drawn as they are bound.

mod geometry;
mod material;
mod scene;

use std::collections::HashMap;

use forks_geometry::lie::glam::{DAffine3, DVec3};
use roxmltree::{Document, Node, ParsingOptions};

use crate::painted::PaintedMesh;

/// Most elements of a file.
const MOST_ELEMENTS: u32 = 4_000_000;

/// Elements by their `id`.
struct Library<'a, 'i> {
    by_id: HashMap<&'a str, Node<'a, 'i>>,
}

impl<'a, 'i> Library<'a, 'i> {
    /// The element that an address `#id` means.
    fn find(&self, address: Option<&str>) -> Option<Node<'a, 'i>> {
        self.by_id.get(address?.trim().strip_prefix('#')?).copied()
    }
}

/// Reads the triangles of the scene, of all geometries where there is no scene.
pub(crate) fn parse(bytes: &[u8]) -> Result<PaintedMesh, String> {
    let text = String::from_utf8_lossy(bytes);
    let options = ParsingOptions { nodes_limit: MOST_ELEMENTS, ..ParsingOptions::default() };
    let text = text.trim_start_matches('\u{feff}');
    let document = Document::parse_with_options(text, options).map_err(|e| e.to_string())?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(format!("its outermost element is '{}', not COLLADA", root.tag_name().name()));
    }
    let ids = root.descendants().filter_map(|n| Some((n.attribute("id")?, n)));
    let library = Library { by_id: ids.collect() };
    let unit = child(root, "asset").and_then(|a| child(a, "unit"));
    let meter = unit.and_then(|u| u.attribute("meter")?.trim().parse::<f64>().ok());
    let meter = meter.filter(|m| m.is_finite() && *m > 0.0).unwrap_or(1.0);
    let at = DAffine3::from_scale(DVec3::splat(meter));
    let mut out = PaintedMesh::default();
    match scene::visual_scene(root, &library) {
        Some(scene) => scene::add(scene, at, &library, &mut out)?,
        None => {
            let all = root.descendants().filter(|n| n.has_tag_name_of("geometry"));
            for geometry in all {
                geometry::add(geometry, at, &HashMap::new(), &library, &mut out)?;
            }
        }
    }
    Ok(out)
}

/// Names of elements whatever their namespace.
trait Named {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Named for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// The children of a name.
fn children<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |n| n.has_tag_name_of(name))
}

/// The first child of a name.
fn child<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'static str) -> Option<Node<'a, 'i>> {
    children(node, name).next()
}

/// All numbers in an element.
fn numbers<T: std::str::FromStr>(node: Node<'_, '_>) -> Result<Vec<T>, String> {
    let words = node.text().unwrap_or("").split_whitespace();
    words
        .map(|w| w.parse().map_err(|_| wrong(node, &format!("'{w}' is no number of it"))))
        .collect()
}

/// What is wrong, with the element and its line.
fn wrong(node: Node<'_, '_>, what: &str) -> String {
    let at = node.document().text_pos_at(node.range().start);
    format!("line {}, element '{}': {what}", at.row, node.tag_name().name())
}
