//! Pads of a scene: which nodes of which tissue.

use std::collections::BTreeSet;

use forks_deform::{SoftBody, dynamics::mechanism::lie::glam::DVec3};

use crate::{
    error::{TissueError, invalid},
    spec::{PadNodes, PadSpec, TissueSpec},
    tissue::{Groups, of_group},
};

/// Nodes whose mean motion may be an end effector of a reduced model.
#[derive(Clone, Debug, PartialEq)]
pub struct Pad {
    /// Its name.
    pub name: String,
    /// The tissue, from 0.
    pub tissue: usize,
    /// Its nodes, among those of the tissue.
    pub nodes: Vec<usize>,
}

/// The pads of the scene on its `k`-th tissue, from 0.
pub(crate) fn pads(
    spec: &TissueSpec,
    k: usize,
    body: &SoftBody,
    groups: &Groups,
) -> Result<Vec<Pad>, TissueError> {
    let mut out: Vec<Pad> = Vec::new();
    for (i, p) in spec.pads.iter().enumerate() {
        let element = format!("pad {:?}", p.name);
        if p.name.is_empty() || spec.pads[..i].iter().any(|o| o.name == p.name) {
            return Err(invalid(element, "has no name of its own"));
        }
        if on(p, spec.tissues.len(), &element)? == k {
            let nodes = nodes(p, body, groups, &element)?;
            out.push(Pad { name: p.name.clone(), tissue: k, nodes });
        }
    }
    Ok(out)
}

/// The tissue of a pad.
fn on(p: &PadSpec, count: usize, element: &str) -> Result<usize, TissueError> {
    match (p.tissue, count) {
        (None, 1) => Ok(0),
        (None, _) => Err(invalid(element, "needs the number of its tissue: there are several")),
        (Some(k), count) if (1..=count).contains(&k) => Ok(k - 1),
        (Some(k), count) => Err(invalid(element, format!("is on tissue {k} of {count}"))),
    }
}

fn nodes(
    p: &PadSpec,
    body: &SoftBody,
    groups: &Groups,
    element: &str,
) -> Result<Vec<usize>, TissueError> {
    let all = body.mesh().nodes();
    let nodes: Vec<usize> = match &p.on {
        PadNodes::Nodes(nodes) => nodes.clone(),
        PadNodes::Group(name) => of_group(groups, name, element)?,
        PadNodes::Box([low, high]) => {
            let (low, high) = (DVec3::from_array(*low), DVec3::from_array(*high));
            let within = |n: &usize| all[*n].cmpge(low).all() && all[*n].cmple(high).all();
            let faces = body.mesh().boundary();
            let surface: BTreeSet<usize> = faces.into_iter().flatten().collect();
            surface.into_iter().filter(within).collect()
        }
    };
    if let Some(n) = nodes.iter().find(|n| **n >= all.len()) {
        return Err(invalid(element, format!("has node {n}, its tissue has {}", all.len())));
    }
    let distinct: BTreeSet<usize> = nodes.iter().copied().collect();
    if distinct.len() != nodes.len() || nodes.len() < 3 {
        let found = distinct.len();
        return Err(invalid(element, format!("has {found} different node(s), it needs three")));
    }
    Ok(nodes)
}
