//! Several bodies as one, on mechanisms that have become one.

use forks_dynamics::mechanism::{LinkId, lie::Pose};

use super::{Embedded, EmbeddedVertex, SoftBody, SoftError};
use crate::{elastic::Elastic, mesh::TetMesh};

/// A body, where the world of its mechanism is in the common one, and what its links are called
/// there, the ground first.
#[derive(Clone, Debug)]
pub struct BodyPart {
    /// The body, attached to its own mechanism.
    pub body: SoftBody,
    /// Common world from its world.
    pub placement: Pose,
    /// The common mechanism's link for each of its links.
    pub links: Vec<LinkId>,
}

impl SoftBody {
    /// One body of several: nodes, elements and vertices of surfaces one after the other.
    ///
    /// # Errors
    /// No body, bodies of different materials or elements, surfaces on some of them only.
    pub fn joined(parts: &[BodyPart]) -> Result<Self, SoftError> {
        let first = &parts.first().ok_or(SoftError::Mixed { what: "nothing" })?.body;
        let material = *first.elastic.material();
        let order = first.mesh.order();
        let mut mesh = TetMesh { nodes: vec![], connectivity: vec![], order, notes: Vec::new() };
        let (mut filled, mut masses, mut local) = (vec![], vec![], vec![]);
        let (mut holder, mut reference, mut notes) = (vec![], vec![], vec![]);
        let mut surface = Embedded { vertices: vec![], faces: vec![] };
        for part in parts {
            let b = &part.body;
            let mixed = |what| Err(SoftError::Mixed { what });
            if *b.elastic.material() != material {
                return mixed("materials");
            }
            if b.mesh.order() != order {
                return mixed("elements of four and of ten nodes");
            }
            if b.surface.is_some() != first.surface.is_some() {
                return mixed("bodies with and without a surface");
            }
            let (node, element) = (mesh.nodes.len(), mesh.element_count());
            let parts = b.elastic.elements();
            filled.extend((0..parts.count()).map(|e| parts.volume(e) / b.mesh.volume(e)));
            mesh.nodes.extend(b.mesh.nodes.iter().map(|x| part.placement.transform_point(*x)));
            mesh.connectivity.extend(b.mesh.connectivity.iter().map(|n| n + node));
            masses.extend(&b.masses);
            let of = |l: &LinkId| part.links[l.index()];
            // What is in a mechanism's ground is there in its place in the common one.
            for (n, local_here) in b.local.iter().enumerate() {
                let ground = b.reference[n] == LinkId::WORLD;
                let x = *local_here;
                local.push(if ground { part.placement.transform_point(x) } else { x });
            }
            holder.extend(b.holder.iter().map(|h| h.as_ref().map(of)));
            reference.extend(b.reference.iter().map(of));
            notes.extend(b.notes.iter().cloned());
            if let Some(s) = &b.surface {
                let vertex = surface.vertices.len();
                surface.vertices.extend(s.vertices.iter().map(|v| EmbeddedVertex {
                    element: v.element + element,
                    weights: v.weights.clone(),
                }));
                surface.faces.extend(s.faces.iter().map(|f| f.map(|v| v + vertex)));
            }
        }
        let elastic = Elastic::filled(&mesh, material, &filled);
        let surface = first.surface.is_some().then_some(surface);
        Ok(Self { mesh, elastic, masses, holder, reference, local, surface, notes })
    }
}
