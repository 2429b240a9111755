//! The structure of a mechanism, compiled once.

use std::ops::Range;

use forks_mechanism::{JointId, LinkId, Mechanism, lie::glam::DVec3};

use super::{
    DcaError,
    assembly::{ClosingOrder, assemble},
    bodies::{Bodies, Body},
    connections::{ConnectionData, Shape, compile},
    general::General,
    kinematics::Edge,
    nodes::Program,
};

/// How a plan is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcaSettings {
    /// Largest ratio of the inverse inertias of two bodies that a joint connects. The relative
    /// error of accelerations is 1 to 1e5 times this times 1e-16 (EQUATIONS 1.7). Default 1e6.
    pub largest_mass_ratio: f64,
    /// When loops are closed. Default early.
    pub closing_order: ClosingOrder,
}

impl Default for DcaSettings {
    fn default() -> Self {
        Self { largest_mass_ratio: 1e6, closing_order: ClosingOrder::Early }
    }
}

/// A mechanism compiled for [`super::dca`]: bodies, connections and the assembly tree.
///
/// It holds no state and is shared freely among threads; every thread that solves has a
/// [`super::DcaWorkspace`].
#[derive(Clone, Debug)]
pub struct DcaPlan {
    pub(super) gravity: DVec3,
    pub(super) edges: Vec<Edge>,
    pub(super) bodies: Vec<Body>,
    pub(super) connections: Vec<ConnectionData>,
    pub(super) generals: Vec<General>,
    pub(super) program: Program,
    /// Armature of all joints, each as a d×d block.
    pub(super) armature: Vec<f64>,
    pub(super) has_armature: bool,
    /// Where each joint's block is.
    pub(super) stiffness_offsets: Vec<usize>,
    pub(super) joint_dofs: Vec<usize>,
    /// Per joint: its connection, and its first coordinate there.
    pub(super) place_of_joint: Vec<Option<(usize, usize)>>,
    /// True if a joint's parent is on side A of its connection.
    pub(super) forward: Vec<bool>,
    /// Place of a connection among the closed joints.
    pub(super) factor_of: Vec<Option<usize>>,
    pub(super) velocity_offsets: Vec<usize>,
    pub(super) chosen: Vec<Chosen>,
    pub(super) loops: bool,
    pub(super) links: usize,
    pub(super) tree_positions: usize,
    pub(super) tree_velocities: usize,
    pub(super) velocities: usize,
}

/// A link with a handle of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) link: usize,
    /// Link whose frame is the body's; 0 for the ground.
    pub(super) body_link: usize,
    pub(super) body: usize,
    /// The link's origin from the body's centre of mass, body frame.
    pub(super) origin: DVec3,
}

impl DcaPlan {
    /// Compiles a mechanism.
    ///
    /// # Errors
    /// Massless links that cannot be folded, mass ratios beyond 1e6, couplings; see [`DcaError`].
    pub fn new(m: &Mechanism) -> Result<Self, DcaError> {
        Self::with_handles(m, &[], &DcaSettings::default())
    }

    /// Compiles a mechanism with handles on chosen links, whose inverse inertias every solution
    /// then holds ([`super::DcaWorkspace::handle_inverse_inertia`]). The cost grows with the square
    /// of their number.
    ///
    /// # Errors
    /// As [`DcaPlan::new`]; [`DcaError::NoHandle`] for a link that does not exist or was folded.
    pub fn with_handles(
        m: &Mechanism,
        links: &[LinkId],
        settings: &DcaSettings,
    ) -> Result<Self, DcaError> {
        if let Some((i, c)) = m.couplings().iter().enumerate().next() {
            let coupling = if c.name.is_empty() { format!("#{i}") } else { c.name.clone() };
            return Err(DcaError::Coupling { coupling });
        }
        let bodies = Bodies::new(m, settings.largest_mass_ratio)?;
        let chosen = choose(m, &bodies, links)?;
        let chosen_bodies: Vec<usize> = chosen.iter().map(|c| c.body).collect();
        let (program, welds) = assemble(&bodies, &chosen_bodies, settings.closing_order);
        let joint_dofs: Vec<usize> = m.joints().iter().map(|j| j.dof()).collect();
        let stiffness_offsets: Vec<usize> =
            joint_dofs.iter().scan(0, |at, d| Some(std::mem::replace(at, *at + d * d))).collect();
        let armature = armature(m);
        let mut generals = vec![];
        let mut connections: Vec<ConnectionData> = (0..bodies.connections.len())
            .map(|c| compile(m, &bodies, c, &stiffness_offsets, &mut generals))
            .collect();
        connections.extend((0..welds).map(|_| ConnectionData::weld()));
        let ids = (0..m.joints().len()).map(JointId::new);
        Ok(Self {
            gravity: m.gravity(),
            edges: m.forest().edges().iter().map(|e| Edge::new(m, e)).collect(),
            place_of_joint: places(m, &bodies),
            forward: directions(m, &bodies),
            factor_of: factors(&program, connections.len()),
            bodies: bodies.bodies,
            connections,
            generals,
            program,
            has_armature: armature.iter().any(|&a| a != 0.0),
            armature,
            stiffness_offsets,
            joint_dofs,
            velocity_offsets: ids.map(|j| m.velocity_range(j).start).collect(),
            chosen,
            loops: !m.forest().closures().is_empty(),
            links: m.links().len(),
            tree_positions: m.tree_position_count(),
            tree_velocities: m.tree_velocity_count(),
            velocities: m.velocity_count(),
        })
    }

    /// Where a joint's d×d block (by rows) is in [`super::DcaInput::implicit`]: joint after joint,
    /// the loop-closing ones too.
    pub fn implicit_range(&self, joint: JointId) -> Range<usize> {
        let i = joint.index();
        let start = self.stiffness_offsets[i];
        start..start + self.joint_dofs[i] * self.joint_dofs[i]
    }

    /// Length of [`super::DcaInput::implicit`].
    pub fn implicit_len(&self) -> usize {
        self.armature.len()
    }

    /// Number of nodes of the assembly tree.
    pub fn node_count(&self) -> usize {
        self.program.nodes.len()
    }

    /// Number of edges from the root of the assembly tree to the deepest leaf.
    pub fn depth(&self) -> usize {
        self.program.depth
    }

    /// Largest number of handles of a node, open loops and chosen links included.
    pub fn max_handles(&self) -> usize {
        self.program.most_handles
    }
}

fn choose(m: &Mechanism, bodies: &Bodies, links: &[LinkId]) -> Result<Vec<Chosen>, DcaError> {
    let one = |&link: &LinkId| {
        let missing = DcaError::NoHandle { link: link.index() };
        if link.index() >= m.links().len() {
            return Err(missing);
        }
        let body = bodies.body_of_link(link).ok_or(missing)?;
        let b = &bodies.bodies[body];
        let origin = bodies.cluster[link.index()].1.translation - b.inertia.center_of_mass;
        Ok(Chosen { link: link.index(), body_link: b.link, body, origin })
    };
    links.iter().map(one).collect()
}

fn armature(m: &Mechanism) -> Vec<f64> {
    let mut out = vec![];
    for j in m.joints() {
        let d = j.dof();
        let entry = |i: usize| if i / d == i % d { j.armature[i / d] } else { 0.0 };
        out.extend((0..d * d).map(entry));
    }
    out
}

fn places(m: &Mechanism, bodies: &Bodies) -> Vec<Option<(usize, usize)>> {
    let mut out = vec![None; m.joints().len()];
    for (c, connection) in bodies.connections.iter().enumerate() {
        let mut column = 0;
        for p in &connection.parts {
            out[p.joint.index()] = Some((c, column));
            column += m.joint(p.joint).dof();
        }
    }
    out
}

fn directions(m: &Mechanism, bodies: &Bodies) -> Vec<bool> {
    let mut out = vec![true; m.joints().len()];
    for p in bodies.connections.iter().flat_map(|c| &c.parts) {
        out[p.joint.index()] = p.forward;
    }
    out
}

fn factors(program: &Program, connections: usize) -> Vec<Option<usize>> {
    use super::nodes::Operation;
    let mut out = vec![None; connections];
    for n in &program.nodes {
        if let Operation::Join { connection } | Operation::Close { connection, .. } = n.operation {
            out[connection] = Some(n.factor);
        }
    }
    out
}

impl ConnectionData {
    /// Two pieces of a link.
    fn weld() -> Self {
        Self {
            shape: Shape::Weld,
            links: [0; 2],
            bodies: [0; 2],
            dof: 0,
            closing: false,
            scale: [0.0; 2],
            unit: 1.0,
        }
    }
}
