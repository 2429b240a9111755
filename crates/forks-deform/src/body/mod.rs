//! A soft body: a mesh with a material, its nodes in bones or free, an embedded surface.

mod attach;
mod embed;
mod error;
mod filled;
mod joined;

use forks_dynamics::mechanism::{LinkId, lie::glam::DVec3};

use crate::{elastic::Elastic, material::Material, mesh::TetMesh};
pub use attach::Attachment;
pub use embed::{Embedded, EmbeddedVertex};
pub use error::{SoftError, SoftNote};
pub use joined::BodyPart;

/// A mesh with a material in the world frame, the mechanism in its start pose. By builder calls its
/// nodes are attached to bones and a surface embedded.
#[derive(Clone, Debug)]
pub struct SoftBody {
    pub(crate) mesh: TetMesh,
    pub(crate) elastic: Elastic,
    /// Mass of every node, kg.
    pub(crate) masses: Vec<f64>,
    /// The link of every fixed node.
    pub(crate) holder: Vec<Option<LinkId>>,
    /// The nearest bone of every node, which dampers and relative coordinates refer to.
    pub(crate) reference: Vec<LinkId>,
    /// Positions in the frame of the reference bone, m.
    pub(crate) local: Vec<DVec3>,
    pub(crate) surface: Option<Embedded>,
    notes: Vec<SoftNote>,
}

impl SoftBody {
    /// A free body, wholly filled.
    ///
    /// # Errors
    /// Nodes that belong to no element: nothing would move them.
    pub fn new(mesh: TetMesh, material: Material) -> Result<Self, SoftError> {
        let elastic = Elastic::new(&mesh, material);
        let masses = elastic.elements().lumped_masses(material.density());
        if let Some(node) = masses.iter().position(|m| *m <= 0.0) {
            return Err(SoftError::Massless { node });
        }
        let count = mesh.nodes().len();
        Ok(Self {
            local: mesh.nodes().to_vec(),
            mesh,
            elastic,
            masses,
            holder: vec![None; count],
            reference: vec![LinkId::WORLD; count],
            surface: None,
            notes: Vec::new(),
        })
    }

    /// The mesh, without stress.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The elements with their material.
    pub fn elastic(&self) -> &Elastic {
        &self.elastic
    }

    /// The same, to be changed.
    pub fn elastic_mut(&mut self) -> &mut Elastic {
        &mut self.elastic
    }

    /// Mass of every node, kg.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The same with other masses of the nodes, kg; those in bones may have none.
    ///
    /// # Errors
    /// A wrong number of masses, masses that are negative or not finite, free nodes without one.
    pub fn with_masses(mut self, masses: Vec<f64>) -> Result<Self, SoftError> {
        let (found, expected) = (masses.len(), self.masses.len());
        if found != expected {
            return Err(SoftError::Length { what: "masses of nodes", found, expected });
        }
        for (node, m) in masses.iter().enumerate() {
            if !(m.is_finite() && *m >= 0.0) {
                return Err(SoftError::NotPositive { what: "the mass of a node", value: *m });
            }
            if *m == 0.0 && self.holder[node].is_none() {
                return Err(SoftError::Massless { node });
            }
        }
        self.masses = masses;
        Ok(self)
    }

    /// Mass of all nodes, kg.
    pub fn mass(&self) -> f64 {
        self.masses.iter().sum()
    }

    /// The link that holds a node, if one does.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn holder(&self, node: usize) -> Option<LinkId> {
        self.holder[node]
    }

    /// The nearest bone of a node.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn reference(&self, node: usize) -> LinkId {
        self.reference[node]
    }

    /// Number of nodes that no bone holds.
    pub fn free_count(&self) -> usize {
        self.holder.iter().filter(|h| h.is_none()).count()
    }

    /// The embedded surface.
    pub fn surface(&self) -> Option<&Embedded> {
        self.surface.as_ref()
    }

    /// What may not have been meant.
    pub fn notes(&self) -> &[SoftNote] {
        &self.notes
    }
}
