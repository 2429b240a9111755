//! The structure of a mechanism, compiled once.

use forks_mechanism::{
    JointId, LinkId, Mechanism,
    lie::{Pose, glam::DVec3},
};

use super::{
    AdaptiveError, AdaptiveOptions,
    connection::{Connection, General, compile},
    layout::{Layout, Work},
    leaf::{Body, LeafHandle, bodies},
    options::Springs,
};
use crate::dca::{ClosingOrder, DcaError, assembly::assemble, bodies::Bodies};

/// A mechanism compiled for adaptive quasi-statics: bodies, handle frames and the assembly tree.
///
/// It holds no state and is shared freely among threads; see [`super::AdaptiveState`].
#[derive(Clone, Debug)]
pub struct AdaptivePlan {
    pub(super) options: AdaptiveOptions,
    pub(super) layout: Layout,
    pub(super) connections: Vec<Connection>,
    pub(super) generals: Vec<General>,
    pub(super) bodies: Vec<Body>,
    pub(super) leaf_handles: Vec<LeafHandle>,
    pub(super) links: Vec<LinkPlace>,
    pub(super) joints: Vec<JointPlace>,
    pub(super) has_loops: bool,
    /// Connections that close a loop with the ground.
    pub(super) ground_closings: Vec<usize>,
    /// Acceleration of free fall, world axes; zero where gravity does not act.
    pub(super) gravity: DVec3,
    pub(super) start: Vec<f64>,
    pub(super) velocities: usize,
}

/// Where a link is.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinkPlace {
    /// Part of a body (the ground too), at a pose in it.
    Body { body: usize, pose: Pose },
    /// Folded into a general connection, behind one of its joints, at a pose in that joint's frame.
    Folded { general: usize, part: usize, pose: Pose },
}

/// Where a joint's coordinates are.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointPlace {
    /// Connection and first coordinate there.
    pub(super) place: Option<(usize, usize)>,
    pub(super) dof: usize,
    pub(super) v: usize,
    pub(super) q: usize,
    pub(super) q_len: usize,
    pub(super) closing: bool,
}

impl AdaptivePlan {
    /// Compiles a mechanism. O(n log n) in the number of links.
    ///
    /// # Errors
    /// [`AdaptiveError::Mechanism`] for massless links that cannot be folded, mass ratios beyond
    /// the setting, and couplings; [`AdaptiveError::SpringAcross`] for bushings, cables and springs
    /// on combinations of coordinates where springs are to act; [`AdaptiveError::Setting`] and
    /// [`AdaptiveError::WrongLength`] for options out of range.
    pub fn new(m: &Mechanism, options: &AdaptiveOptions) -> Result<Self, AdaptiveError> {
        options.check(m.velocity_count())?;
        refuse(m, options)?;
        let found = Bodies::new(m, options.largest_mass_ratio)?;
        let (program, welds) = assemble(&found, &[], ClosingOrder::Early);
        let mut generals = vec![];
        let mut connections: Vec<Connection> = (0..found.connections.len())
            .map(|c| compile(m, &found, c, options, &mut generals))
            .collect();
        let dof: Vec<usize> =
            connections.iter().map(|c| c.dof).chain((0..welds).map(|_| 0)).collect();
        let layout = Layout::new(&program, &found, &dof);
        let mut all = bodies(m, &found, &layout, options.gravity);
        connections.extend((0..welds).map(|_| Connection::weld(DVec3::ZERO)));
        place_welds(&layout, &all, &mut connections);
        for (i, n) in layout.nodes.iter().enumerate() {
            if let Work::Join { connection } | Work::Close { connection, .. } = n.work {
                connections[connection].node = Some(i);
            }
        }
        let leaf_handles = leaf_handles(&layout, &mut all, &connections);
        let ground_closings = (0..found.connections.len())
            .filter(|&c| {
                found.connections[c].closing
                    && found.connections[c].bodies.contains(&0)
                    && connections[c].node.is_some()
            })
            .collect();
        Ok(Self {
            layout,
            links: links(m, &found, &generals, &connections),
            joints: joints(m, &found),
            has_loops: connections.iter().any(|c| c.closing),
            connections,
            generals,
            bodies: all,
            leaf_handles,
            ground_closings,
            gravity: if options.gravity { m.gravity() } else { DVec3::ZERO },
            start: m.start_positions(),
            velocities: m.velocity_count(),
            options: options.clone(),
        })
    }

    /// The options that the plan was made with.
    pub fn options(&self) -> &AdaptiveOptions {
        &self.options
    }

    /// Number of nodes of the assembly tree.
    pub fn node_count(&self) -> usize {
        self.layout.nodes.len()
    }

    /// Number of edges from the root of the assembly tree to the deepest leaf.
    pub fn depth(&self) -> usize {
        self.layout.depth
    }

    /// Largest number of handles of a node, open loops included.
    pub fn max_handles(&self) -> usize {
        self.layout.most_handles
    }
}

fn refuse(m: &Mechanism, o: &AdaptiveOptions) -> Result<(), AdaptiveError> {
    if let Some((i, c)) = m.couplings().iter().enumerate().next() {
        let coupling = if c.name.is_empty() { format!("#{i}") } else { c.name.clone() };
        return Err(DcaError::Coupling { coupling }.into());
    }
    if o.springs == Springs::None {
        return Ok(());
    }
    if !m.combination_springs().is_empty() {
        return Err(AdaptiveError::SpringAcross { element: "combination spring #0".into() });
    }
    if !m.bushings().is_empty() {
        return Err(AdaptiveError::SpringAcross { element: "bushing #0".into() });
    }
    if let Some(c) = m.cables().first() {
        let name = if c.name.is_empty() { "#0".into() } else { format!("'{}'", c.name) };
        return Err(AdaptiveError::SpringAcross { element: format!("cable {name}") });
    }
    Ok(())
}

/// Welds join pieces at their body's centre of mass.
fn place_welds(layout: &Layout, bodies: &[Body], connections: &mut [Connection]) {
    for n in &layout.nodes {
        let Work::Leaf { body, .. } = n.work else { continue };
        for h in &layout.leaf_handles[n.response..n.response + n.handles] {
            if matches!(connections[h[0]].shape, super::connection::Shape::Weld) {
                connections[h[0]] = Connection::weld(bodies[body].center);
            }
        }
    }
}

fn leaf_handles(
    layout: &Layout,
    bodies: &mut [Body],
    connections: &[Connection],
) -> Vec<LeafHandle> {
    let mut out = Vec::with_capacity(layout.leaf_handles.len());
    for n in &layout.nodes {
        let Work::Leaf { body, first } = n.work else { continue };
        let handles = &layout.leaf_handles[n.response..n.response + n.handles];
        let poses = || handles.iter().map(|h| &connections[h[0]].handles[h[1]]);
        out.extend(poses().map(|p| LeafHandle::new(&bodies[body], p)));
        if first && let Some(p) = poses().next() {
            bodies[body].leaf_from_body = p.inverse();
        }
    }
    out
}

fn links(
    m: &Mechanism,
    bodies: &Bodies,
    generals: &[General],
    connections: &[Connection],
) -> Vec<LinkPlace> {
    let nowhere = LinkPlace::Body { body: 0, pose: Pose::IDENTITY };
    let mut out = vec![nowhere; m.links().len()];
    for (l, place) in out.iter_mut().enumerate() {
        if let Some(body) = bodies.body_of_link(LinkId::new(l)) {
            *place = LinkPlace::Body { body, pose: bodies.cluster[l].1 };
        }
    }
    for (g, general) in generals.iter().enumerate() {
        let c = &bodies.connections[general.connection];
        debug_assert_eq!(connections[general.connection].dof, c.dof);
        for (part, p) in c.parts.iter().enumerate().take(c.parts.len() - 1) {
            let j = m.joint(p.joint);
            let far = if p.forward { j.child_from_joint } else { j.parent_from_joint };
            let cluster_from_far = bodies.cluster[p.to].1 * far;
            for &l in &bodies.links_of[bodies.cluster[p.to].0] {
                let pose = cluster_from_far.inverse() * bodies.cluster[l].1;
                out[l] = LinkPlace::Folded { general: g, part, pose };
            }
        }
    }
    out
}

fn joints(m: &Mechanism, bodies: &Bodies) -> Vec<JointPlace> {
    let mut out: Vec<JointPlace> = (0..m.joints().len())
        .map(|j| {
            let id = JointId::new(j);
            let (q, v) = (m.position_range(id), m.velocity_range(id));
            JointPlace {
                place: None,
                dof: v.len(),
                v: v.start,
                q: q.start,
                q_len: q.len(),
                closing: false,
            }
        })
        .collect();
    m.forest().closures().iter().for_each(|j| out[j.index()].closing = true);
    for (c, connection) in bodies.connections.iter().enumerate() {
        let mut column = 0;
        for p in &connection.parts {
            let j = &mut out[p.joint.index()];
            j.place = Some((c, column));
            column += j.dof;
        }
    }
    out
}
