//! A soft finger with three bones: the example of this crate.

use forks_deform::{
    Attachment, Material, Model, SoftBody, SoftOptions, SoftSimulation, TetMesh,
    dynamics::mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia,
            glam::{DMat3, DVec3},
        },
    },
};

use crate::{CondenseError, Patch};

/// What the finger is made of: a box along x, with bones in the middle and ball joints between
/// them, its back face on the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftFinger {
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// Length and thickness, m.
    pub size: [f64; 2],
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Stiffness of the ball joints, N·m/rad.
    pub joints: f64,
    /// Bones.
    pub bones: usize,
    /// Elements of ten nodes.
    pub quadratic: bool,
}

impl Default for SoftFinger {
    /// 90 × 16 × 16 mm, 304 nodes, 972 elements, 0.1 MPa.
    fn default() -> Self {
        Self {
            cells: [18, 3, 3],
            size: [0.09, 0.016],
            young: 1e5,
            poisson: 0.45,
            joints: 0.02,
            bones: 3,
            quadratic: false,
        }
    }
}

/// A skeleton with its tissue and a pad.
#[derive(Clone, Debug)]
pub struct BuiltFinger {
    /// The bones without tissue.
    pub skeleton: Mechanism,
    /// The bones with the mass of the nodes in them.
    pub mechanism: Mechanism,
    /// The tissue.
    pub body: SoftBody,
    /// The lower side of the last fifth.
    pub pad: Patch,
}

impl SoftFinger {
    /// Builds it.
    ///
    /// # Errors
    /// Sizes or constants that cannot be.
    pub fn build(&self) -> Result<BuiltFinger, CondenseError> {
        let [length, thick] = self.size;
        let half = 0.5 * thick;
        let soft = |e: forks_deform::MeshError| forks_deform::SoftError::Mechanism(e.to_string());
        let mut mesh = TetMesh::kuhn(self.cells, DVec3::new(length, thick, thick))
            .and_then(|m| m.mapped(|x| x - DVec3::new(0.0, half, half)))
            .map_err(soft)?;
        if self.quadratic {
            mesh = mesh.quadratic();
        }
        let material = Material::new(Model::StableNeoHookean, self.young, self.poisson, 1000.0)
            .map_err(|e| forks_deform::SoftError::Mechanism(e.to_string()))?;
        let skeleton = self.skeleton()?;
        let part = length / self.bones as f64;
        let mut lists: Vec<(LinkId, Vec<usize>)> =
            (0..=self.bones).map(|i| (LinkId::new(i), Vec::new())).collect();
        let mut pad = Vec::new();
        for (n, x) in mesh.nodes().iter().enumerate() {
            let bone = ((x.x / part - 1e-9).max(0.0) as usize).min(self.bones - 1);
            let within = x.x / part - bone as f64;
            if x.x < 1e-9 {
                lists[0].1.push(n);
            } else if x.y.abs().max(x.z.abs()) < 0.2 * thick && within > 0.25 && within < 0.75 {
                lists[bone + 1].1.push(n);
            }
            if x.z < -half + 1e-9 && x.x > 0.8 * length {
                pad.push(n);
            }
        }
        let body = SoftBody::new(mesh, material)?.attached(&skeleton, &Attachment::Nodes(lists))?;
        let options = SoftOptions::default();
        let whole = SoftSimulation::new(&skeleton, body.clone(), options)?;
        let mechanism = whole.mechanism().clone();
        Ok(BuiltFinger { skeleton, mechanism, body, pad: Patch::new("pad", pad) })
    }

    fn skeleton(&self) -> Result<Mechanism, CondenseError> {
        let l = self.size[0] / self.bones as f64;
        let mut b = MechanismBuilder::new("soft finger");
        let mut inner = LinkId::WORLD;
        let mass = 0.004;
        let across = mass * l * l / 12.0;
        let inertia = SpatialInertia::new(
            mass,
            DVec3::new(0.5 * l, 0.0, 0.0),
            DMat3::from_diagonal(DVec3::new(2e-5 * mass, across, across)),
        );
        for i in 0..self.bones {
            let bone = b.add_link(Link::new(format!("bone{i}")).with_inertia(inertia));
            let at = DVec3::new(if i == 0 { 0.0 } else { l }, 0.0, 0.0);
            b.add_joint(
                Joint::new(format!("ball{i}"), JointKind::Spherical, inner, bone)
                    .at(Pose::from_translation(at))
                    .with_stiffness(self.joints),
            );
            inner = bone;
        }
        let built = b.build();
        Ok(built.map_err(|e| forks_deform::SoftError::Mechanism(e.to_string()))?)
    }
}
