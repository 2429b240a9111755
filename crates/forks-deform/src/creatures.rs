//! Bodies with skeletons of the size of those of \[K08\] Table 2: worm, fish, finger.

use forks_dynamics::mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};

use crate::{
    body::{Attachment, SoftBody, SoftError},
    material::Material,
    mesh::TetMesh,
};

/// A mechanism and the tissue on it.
#[derive(Clone, Debug)]
pub struct Creature {
    /// The skeleton.
    pub mechanism: Mechanism,
    /// Its tissue, attached.
    pub body: SoftBody,
}

/// How the first bone moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// In the plane of x and z.
    Planar,
    /// Freely.
    Free,
    /// Not at all.
    Fixed,
}

/// A worm of seven bones and six hinges about y: 224 nodes, 48 of them in bones (\[K08\]: 46), 702
/// elements, 3 + 6 + 3 · 176 coordinates with a planar base.
///
/// # Errors
/// None with the sizes that are written here.
pub fn worm(base: Base, material: Material) -> Result<Creature, SoftError> {
    let mechanism = chain("worm", base, 7, 0.6, 0.02, DVec3::Y)?;
    let held = |x: DVec3| x.y.abs() < 0.03 && x.z.abs() < 0.03 && x.x > 0.01 && x.x < 0.59;
    on_bones(mechanism, TetMesh::worm(), material, held)
}

/// A fish of seven bones and six hinges about z: 108 nodes, 24 of them in bones, 264 elements.
///
/// # Errors
/// None with the sizes that are written here.
pub fn fish(base: Base, material: Material) -> Result<Creature, SoftError> {
    let mechanism = chain("fish", base, 7, 0.3, 0.01, DVec3::Z)?;
    let held = |x: DVec3| x.y.abs() < 1e-9 && (x.z.abs() < 1e-9 || x.z > 0.0);
    on_bones(mechanism, TetMesh::fish(), material, held)
}

/// A finger of four bones and hinges about y, the first at its base: 52 nodes, 26 of them in bones
/// (\[K08\]: 27), 72 elements.
///
/// # Errors
/// None with the sizes that are written here.
pub fn finger(base: Base, material: Material) -> Result<Creature, SoftError> {
    let mechanism = chain("finger", base, 5, 0.09, 0.004, DVec3::Y)?;
    on_bones(mechanism, TetMesh::finger(), material, |x| x.z > 0.0)
}

/// Bones of equal length along x, with hinges between them.
fn chain(
    name: &str,
    base: Base,
    bones: usize,
    length: f64,
    mass: f64,
    axis: DVec3,
) -> Result<Mechanism, SoftError> {
    let mut builder = MechanismBuilder::new(name);
    builder.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    let l = length / bones as f64;
    let across = mass * l * l / 12.0;
    let inertia = SpatialInertia::new(
        mass,
        DVec3::new(0.5 * l, 0.0, 0.0),
        DMat3::from_diagonal(DVec3::new(0.1 * across, across, across)),
    );
    let mut inner = LinkId::WORLD;
    for i in 0..bones {
        let bone = builder.add_link(Link::new(format!("bone{i}")).with_inertia(inertia));
        let joint = match (i, base) {
            (0, Base::Free) => Joint::new("base", JointKind::Free, inner, bone),
            (0, Base::Fixed) => Joint::new("base", JointKind::Fixed, inner, bone),
            (0, Base::Planar) => {
                // Planar joints move in x and y of their frame; a quarter turn takes y to z.
                let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
                let frame = Pose::from_rotation(turn);
                Joint::new("base", JointKind::Planar, inner, bone).at(frame).child_at(frame)
            }
            _ => Joint::new(format!("hinge{i}"), JointKind::Revolute { axis }, inner, bone)
                .at(Pose::from_translation(DVec3::new(l, 0.0, 0.0))),
        };
        builder.add_joint(joint);
        inner = bone;
    }
    builder.build().map_err(|e| SoftError::Mechanism(e.to_string()))
}

/// Tissue whose nodes are in the bone beside them where `held` says so.
fn on_bones(
    mechanism: Mechanism,
    mesh: TetMesh,
    material: Material,
    held: impl Fn(DVec3) -> bool,
) -> Result<Creature, SoftError> {
    let bones = mechanism.links().len() - 1;
    let length = mesh.nodes().iter().fold(0.0, |m: f64, x| m.max(x.x));
    let mut lists: Vec<(LinkId, Vec<usize>)> =
        (0..bones).map(|i| (LinkId::new(i + 1), Vec::new())).collect();
    for (n, x) in mesh.nodes().iter().enumerate().filter(|(_, x)| held(**x)) {
        // A node between two bones belongs to the outer one.
        let along = (x.x / length * bones as f64 + 1e-9) as usize;
        lists[along.min(bones - 1)].1.push(n);
    }
    let body = SoftBody::new(mesh, material)?.attached(&mechanism, &Attachment::Nodes(lists))?;
    Ok(Creature { mechanism, body })
}
