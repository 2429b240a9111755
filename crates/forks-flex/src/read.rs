//! `<flex>` and `<flexcomp>` to bodies of tissue, the rest to a mechanism.

use std::{collections::BTreeMap, ops::Range};

use forks_deform::{
    Attachment, Material, Model, SoftBody, TetMesh, Window,
    dynamics::mechanism::{
        LinkId, Mechanism,
        lie::{Pose, glam::DVec3},
    },
};
use forks_import::{ImportOptions, parse_mjcf};
use roxmltree::{Document, Node};

use crate::{
    error::FlexError,
    grid::composite,
    numbers::{exactly, list, wrong},
};

/// A model with flexible bodies.
#[derive(Clone, Debug)]
pub struct FlexModel {
    /// Links and joints but for those of nodes that move freely.
    pub mechanism: Mechanism,
    /// Its tissue, attached.
    pub bodies: Vec<FlexBody>,
    /// What is not represented exactly.
    pub notes: Vec<String>,
}

/// A flexible body.
#[derive(Clone, Debug)]
pub struct FlexBody {
    /// Its name.
    pub name: String,
    /// Its tissue, attached to the mechanism.
    pub body: SoftBody,
}

/// Where a node is: in a body's frame.
struct Place {
    body: String,
    at: DVec3,
    /// kg, of nodes that move freely.
    mass: Option<f64>,
}

/// A flexible body as the file has it.
struct Flex {
    name: String,
    places: Vec<Place>,
    elements: Vec<[usize; 4]>,
    young: f64,
    poisson: f64,
}

/// Reads a model.
///
/// # Errors
/// Text that is no MJCF, flexible bodies that cannot be tissue, by name.
pub fn parse(text: &str) -> Result<FlexModel, FlexError> {
    let document = Document::parse(text).map_err(|e| FlexError::Xml(e.to_string()))?;
    let bodies: BTreeMap<&str, Node<'_, '_>> = document
        .descendants()
        .filter(|n| n.has_tag_name("body"))
        .filter_map(|n| Some((n.attribute("name")?, n)))
        .collect();
    let (mut flexes, mut cuts, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for node in document.descendants() {
        if node.has_tag_name("flexcomp") {
            flexes.push(of_composite(node, &mut notes)?);
            cuts.push(node.range());
        } else if node.has_tag_name("flex") && node.parent().is_some_and(is_deformable) {
            flexes.push(of_flex(node, &bodies, &mut cuts, &mut notes)?);
        } else if is_deformable(node) {
            cuts.push(node.range());
            if node.children().any(|c| c.is_element() && !c.has_tag_name("flex")) {
                notes.push("skins of deformable bodies are left out".into());
            }
        }
    }
    let rest = without(text, cuts);
    let read = parse_mjcf(&rest, &ImportOptions::default())?;
    notes.extend(read.notes.iter().map(ToString::to_string));
    let mechanism = read.mechanism;
    let poses = mechanism.link_poses(&mechanism.start_positions());
    let bodies =
        flexes.into_iter().map(|f| body(f, &mechanism, &poses)).collect::<Result<_, _>>()?;
    Ok(FlexModel { mechanism, bodies, notes })
}

fn is_deformable(node: Node<'_, '_>) -> bool {
    node.has_tag_name("deformable")
}

/// Young's modulus and Poisson's ratio.
fn elasticity(
    node: Node<'_, '_>,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<[f64; 2], FlexError> {
    let found = node.children().find(|c| c.has_tag_name("elasticity"));
    let found = found.ok_or_else(|| wrong(name, "has no elasticity"))?;
    let [damping] = exactly(found, "damping", name, [0.0])?;
    if damping != 0.0 {
        notes.push(format!("flex '{name}': damping {damping} is left out"));
    }
    if node.children().any(|c| c.has_tag_name("plugin")) {
        return Err(wrong(name, "has a plugin"));
    }
    if node.children().any(|c| c.has_tag_name("edge")) {
        notes.push(format!("flex '{name}': springs and equalities of edges are left out"));
    }
    let [young] = exactly(found, "young", name, [0.0])?;
    let [poisson] = exactly(found, "poisson", name, [0.0])?;
    Ok([young, poisson])
}

fn three_dimensional(node: Node<'_, '_>, name: &str, default: &str) -> Result<(), FlexError> {
    match node.attribute("dim").unwrap_or(default) {
        "3" => Ok(()),
        dim => Err(wrong(name, format!("has {dim} dimensions; tissue has 3"))),
    }
}

fn of_composite(node: Node<'_, '_>, notes: &mut Vec<String>) -> Result<Flex, FlexError> {
    let name = node.attribute("name").unwrap_or_default().to_owned();
    three_dimensional(node, &name, "2")?;
    let [young, poisson] = elasticity(node, &name, notes)?;
    let made = composite(node, &name)?;
    let parent = node.parent().filter(|p| p.has_tag_name("body"));
    let parent = parent.and_then(|p| p.attribute("name"));
    let parent = parent.ok_or_else(|| wrong(&name, "is in a body without a name"))?;
    let share = made.mass / made.points.len() as f64;
    let place = |(at, pinned): (&DVec3, &bool)| Place {
        body: parent.to_owned(),
        at: *at,
        mass: (!pinned).then_some(share),
    };
    let places = made.points.iter().zip(&made.pinned).map(place).collect();
    Ok(Flex { name, places, elements: made.elements, young, poisson })
}

fn of_flex(
    node: Node<'_, '_>,
    bodies: &BTreeMap<&str, Node<'_, '_>>,
    cuts: &mut Vec<Range<usize>>,
    notes: &mut Vec<String>,
) -> Result<Flex, FlexError> {
    let name = node.attribute("name").unwrap_or_default().to_owned();
    three_dimensional(node, &name, "2")?;
    if node.attribute("node").is_some_and(|n| !n.trim().is_empty()) {
        return Err(wrong(&name, "follows nodes of cells, which tissue does not know"));
    }
    let [young, poisson] = elasticity(node, &name, notes)?;
    let names: Vec<&str> = node.attribute("body").unwrap_or_default().split_whitespace().collect();
    let x: Vec<f64> = list(node, "vertex", &name)?;
    let e: Vec<usize> = list(node, "element", &name)?;
    if !x.len().is_multiple_of(3) || !e.len().is_multiple_of(4) {
        return Err(wrong(
            &name,
            "has vertices of other than 3 or elements of other than 4 numbers",
        ));
    }
    let count = if x.is_empty() { names.len() } else { x.len() / 3 };
    if names.is_empty() || names.len() != 1 && names.len() != count {
        return Err(wrong(&name, format!("has {} bodies for {count} vertices", names.len())));
    }
    let mut places = Vec::with_capacity(count);
    for i in 0..count {
        let carrier = names[if names.len() == 1 { 0 } else { i }];
        let at = x.get(3 * i..3 * i + 3).map_or(DVec3::ZERO, DVec3::from_slice);
        let element = bodies.get(carrier);
        if let Some((body, mass, from)) = element.and_then(|b| particle(*b)) {
            let parent = body.parent().filter(|p| p.has_tag_name("body"));
            let parent = match parent.map(|p| p.attribute("name")) {
                Some(Some(parent)) => parent,
                Some(None) => return Err(wrong(&name, "has a node in a body without a name")),
                None => "world",
            };
            places.push(Place { body: parent.to_owned(), at: from + at, mass: Some(mass) });
            cuts.push(body.range());
        } else if element.is_some() || carrier == "world" {
            places.push(Place { body: carrier.to_owned(), at, mass: None });
        } else {
            return Err(wrong(&name, format!("names the body '{carrier}', which is not there")));
        }
    }
    let elements = e.chunks_exact(4).map(|e| [e[0], e[1], e[2], e[3]]).collect();
    Ok(Flex { name, places, elements, young, poisson })
}

/// A body that is nothing but a point with three slides along its axes: its mass and place.
fn particle<'a, 'b>(body: Node<'a, 'b>) -> Option<(Node<'a, 'b>, f64, DVec3)> {
    let three = |n: Node<'_, '_>, attribute: &str, default: DVec3| -> Option<DVec3> {
        let Some(text) = n.attribute(attribute) else { return Some(default) };
        let x: Vec<f64> = text.split_whitespace().map_while(|w| w.parse().ok()).collect();
        (x.len() == 3).then(|| DVec3::from_slice(&x))
    };
    if body.attributes().any(|a| !["name", "pos"].contains(&a.name())) {
        return None;
    }
    let mut axes = Vec::new();
    let mut mass = None;
    for c in body.children().filter(Node::is_element) {
        match c.tag_name().name() {
            "joint" if c.attribute("type") == Some("slide") => {
                if c.attributes().any(|a| !["name", "type", "axis"].contains(&a.name())) {
                    return None;
                }
                axes.push(three(c, "axis", DVec3::Z)?);
            }
            "inertial" => {
                (three(c, "pos", DVec3::ZERO)? == DVec3::ZERO).then_some(())?;
                mass = c.attribute("mass")?.parse().ok();
            }
            _ => return None,
        }
    }
    (axes == DVec3::AXES).then_some((body, mass?, three(body, "pos", DVec3::ZERO)?))
}

/// Text without some of its parts.
fn without(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|c| c.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for c in cuts.into_iter().filter(|c| !c.is_empty()) {
        if c.start >= at {
            out.push_str(&text[at..c.start]);
        }
        at = at.max(c.end);
    }
    out.push_str(&text[at..]);
    out
}

fn body(flex: Flex, m: &Mechanism, poses: &[Pose]) -> Result<FlexBody, FlexError> {
    let name = flex.name;
    let mut lists: BTreeMap<LinkId, Vec<usize>> = BTreeMap::new();
    let (mut nodes, mut masses) = (Vec::new(), Vec::new());
    for (n, p) in flex.places.iter().enumerate() {
        let link = if p.body == "world" { Some(LinkId::WORLD) } else { m.find_link(&p.body) };
        let link =
            link.ok_or_else(|| wrong(&name, format!("is in '{}', which is no link", p.body)))?;
        nodes.push(poses[link.index()].transform_point(p.at));
        masses.push(p.mass.unwrap_or(0.0));
        if p.mass.is_none() {
            lists.entry(link).or_default().push(n);
        }
    }
    let of_mesh = |source| FlexError::Mesh { name: name.clone(), source };
    let mesh = TetMesh::new(nodes, &flex.elements).map_err(of_mesh)?;
    let whole: f64 = masses.iter().sum();
    // Masses are the nodes' own; the density only has to be one.
    let density = if whole > 0.0 { whole / mesh.total_volume() } else { 1.0 };
    let plain = Model::StVenantKirchhoff(Window::None);
    let material = Material::new(plain, flex.young, flex.poisson, density)
        .map_err(|source| FlexError::Material { name: name.clone(), source })?;
    let made = SoftBody::new(mesh, material).and_then(|b| {
        let lists: Vec<_> = lists.into_iter().collect();
        let attached = if lists.is_empty() { b } else { b.attached(m, &Attachment::Nodes(lists))? };
        attached.with_masses(masses)
    });
    let body = made.map_err(|source| FlexError::Body { name: name.clone(), source })?;
    Ok(FlexBody { name, body })
}
