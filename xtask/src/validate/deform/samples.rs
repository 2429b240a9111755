//! Meshes, laws and mechanisms that the checks share.

use forks_deform::{
    Attachment, Material, Model, Range, SoftBody, SoftOptions, SoftSimulation, TetMesh, Window,
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_testkit::Rng;

use crate::words::said;

pub(super) fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from_array(rng.vector())
}

pub(super) fn matrix(rng: &mut Rng) -> DMat3 {
    DMat3::from_cols(vector(rng), vector(rng), vector(rng))
}

pub(super) fn rotation(rng: &mut Rng) -> DMat3 {
    let [w, x, y, z] = rng.quaternion();
    DMat3::from_quat(DQuat::from_xyzw(x, y, z, w))
}

pub(super) fn largest(x: impl IntoIterator<Item = DVec3>) -> f64 {
    x.into_iter().fold(0.0, |m, v| m.max(v.abs().max_element()))
}

pub(super) fn product(a: &DMat3, b: &DMat3) -> f64 {
    a.to_cols_array().iter().zip(b.to_cols_array()).map(|(a, b)| a * b).sum()
}

/// Laws that have an energy, by name.
pub(super) fn laws() -> Result<Vec<(&'static str, Material)>, String> {
    let range = Range::PAPER;
    let models = [
        ("StVK", Model::StVenantKirchhoff(Window::None)),
        ("linear stress", Model::StVenantKirchhoff(Window::LinearStress(range))),
        ("linear strain", Model::StVenantKirchhoff(Window::LinearStrain(range))),
        ("stable neo-Hookean", Model::StableNeoHookean),
        ("fixed corotated", Model::FixedCorotated),
    ];
    let made = models.map(|(n, m)| Ok((n, Material::new(m, 1e5, 0.3, 1000.0).map_err(said)?)));
    made.into_iter().collect()
}

pub(super) fn plain(young: f64, poisson: f64) -> Result<Material, String> {
    let model = Model::StVenantKirchhoff(Window::None);
    Material::new(model, young, poisson, 1000.0).map_err(said)
}

/// True for points on the surface of a box from the origin.
pub(super) fn on_surface(x: DVec3, size: DVec3) -> bool {
    let pairs = x.to_array().into_iter().zip(size.to_array());
    pairs.into_iter().any(|(x, s)| x.abs() < 1e-12 || (x - s).abs() < 1e-12)
}

/// A box whose inner nodes are moved at random by up to a part of a cell.
pub(super) fn distorted(cells: [usize; 3], size: DVec3, part: f64) -> Result<TetMesh, String> {
    let mut rng = Rng::new(3);
    let cell = size / DVec3::from_array(cells.map(|n| n as f64));
    let mesh = TetMesh::kuhn(cells, size).map_err(said)?;
    let mut nodes = mesh.nodes().to_vec();
    for x in nodes.iter_mut().filter(|x| !on_surface(**x, size)) {
        *x += vector(&mut rng) * cell * part;
    }
    let corners = |e: usize| [0, 1, 2, 3].map(|i| mesh.element(e)[i]);
    let elements: Vec<[usize; 4]> = (0..mesh.element_count()).map(corners).collect();
    TetMesh::new(nodes, &elements).map_err(said)
}

/// Nothing but the ground.
pub(super) fn ground(gravity: f64) -> Result<Mechanism, String> {
    let mut builder = MechanismBuilder::new("ground");
    builder.set_gravity(DVec3::new(0.0, 0.0, -gravity));
    builder.build().map_err(said)
}

/// Tissue on the ground by some of its nodes.
pub(super) fn grounded(
    mesh: TetMesh,
    material: Material,
    held: impl Fn(DVec3) -> bool,
    options: SoftOptions,
) -> Result<SoftSimulation, String> {
    let ground = ground(if options.gravity { 9.81 } else { 0.0 })?;
    let nodes = mesh.nodes().iter().enumerate();
    let nodes = nodes.filter(|(_, x)| held(**x)).map(|(n, _)| n).collect();
    let how = Attachment::Nodes(vec![(LinkId::WORLD, nodes)]);
    let body = SoftBody::new(mesh, material).and_then(|b| b.attached(&ground, &how));
    SoftSimulation::new(&ground, body.map_err(said)?, options).map_err(said)
}

/// Two bones of 0.2 m and 0.1 kg with a hinge about y between them.
pub(super) fn two_bones(base: JointKind, gravity: f64) -> Result<Mechanism, String> {
    let mut builder = MechanismBuilder::new("two bones");
    builder.set_gravity(DVec3::new(0.0, 0.0, -gravity));
    let across = 0.1 * 0.2 * 0.2 / 12.0;
    let inertia = SpatialInertia::new(
        0.1,
        DVec3::new(0.1, 0.0, 0.0),
        DMat3::from_diagonal(DVec3::new(1e-5, across, across)),
    );
    let a = builder.add_link(Link::new("a").with_inertia(inertia));
    let b = builder.add_link(Link::new("b").with_inertia(inertia));
    builder.add_joint(Joint::new("base", base, LinkId::WORLD, a));
    let at = Pose::from_translation(DVec3::new(0.2, 0.0, 0.0));
    builder.add_joint(Joint::new("hinge", JointKind::Revolute { axis: DVec3::Y }, a, b).at(at));
    builder.build().map_err(said)
}

/// A bar of tissue on two bones, of so many cells; nodes near the axis but for those at the hinge
/// are in the bones.
pub(super) fn bar_on_bones(
    base: JointKind,
    cells: [usize; 3],
    material: Material,
    options: SoftOptions,
) -> Result<SoftSimulation, String> {
    let m = two_bones(base, if options.gravity { 9.81 } else { 0.0 })?;
    let size = DVec3::new(0.4, 0.08, 0.08);
    let mesh = TetMesh::kuhn(cells, size).map_err(said)?;
    let mesh = mesh.mapped(|x| x - DVec3::new(0.0, 0.04, 0.04)).map_err(said)?;
    let mut lists = vec![(LinkId::new(1), vec![]), (LinkId::new(2), vec![])];
    let coarse = cells[1] == 1;
    for (n, x) in mesh.nodes().iter().enumerate() {
        // Of a bar one cell thick, the nodes along one edge.
        let on_axis = if coarse { x.y > 0.0 && x.z > 0.0 } else { x.y.abs().max(x.z.abs()) < 1e-9 };
        if on_axis && (x.x - 0.2).abs() > 1e-6 {
            lists[usize::from(x.x > 0.2)].1.push(n);
        }
    }
    let body = SoftBody::new(mesh, material).map_err(said)?;
    let body = body.attached(&m, &Attachment::Nodes(lists)).map_err(said)?;
    SoftSimulation::new(&m, body, options).map_err(said)
}

/// The same in motion: base and hinge turn, nodes have random velocities.
pub(super) fn set_going(s: &mut SoftSimulation, speed: f64) -> Result<(), String> {
    let mut rng = Rng::new(1);
    let mut state = s.state().clone();
    state.velocity.iter_mut().for_each(|v| *v = vector(&mut rng) * speed);
    let n = state.v.len();
    if n == 7 {
        state.v[3..6].copy_from_slice(&[1.0, 0.5, -0.3]);
    }
    if n > 0 {
        state.v[n - 1] = 2.0;
    }
    s.set_state(state).map_err(said)
}
