//! The state of a mechanism under adaptive quasi-statics: positions, forces and all coefficients.

use forks_mechanism::lie::Wrench;

use super::{
    AdaptiveError, AdaptiveStep, Target,
    closing::{Coefficients, Rank, Scratch},
    connection::Turn,
    error::{check_finite, check_length},
    frames::Frames,
    general::GeneralState,
    layout::{NONE, Work},
    loads::BodyLoads,
    plan::AdaptivePlan,
    queue::Queue,
};
use crate::{AppliedWrench, WrenchFrame};
use forks_mechanism::{JointId, LinkId};

/// A mechanism at rest with forces on it, and the coefficients of all nodes of its assembly tree.
///
/// Making it costs as much as a solution by [`crate::dca::dca()`]; after that a step costs in
/// proportion to the joints that matter and the logarithm of the rest. See
/// [`AdaptiveState::solve`], [`AdaptiveState::step`].
#[derive(Clone, Debug)]
pub struct AdaptiveState<'p> {
    pub(super) plan: &'p AdaptivePlan,
    /// Positions of all joints; those of closing joints are not kept up to date.
    pub(super) q: Vec<f64>,
    /// Generalised forces that the caller gave.
    pub(super) tau: Vec<f64>,
    pub(super) loads: BodyLoads,
    pub(super) frames: Frames,
    pub(super) turns: Vec<Turn>,
    pub(super) generals: Vec<GeneralState>,
    pub(super) coefficients: Coefficients,
    /// Rank decision of every connection.
    pub(super) ranks: Vec<Rank>,
    pub(super) scratch: Scratch,
    /// φ of every node.
    pub(super) forces: Vec<f64>,
    /// Accelerations of all coordinates, zero where they were not computed.
    pub(super) acceleration: Vec<f64>,
    /// Nodes computed by the last solution, in their order, with the norms of their accelerations.
    pub(super) computed: Vec<(u32, f64)>,
    /// Connections that move, for the hysteresis.
    pub(super) moving: Vec<bool>,
    /// Number of steps, and of the last one that caught up.
    pub(super) steps: u64,
    pub(super) caught_up: u64,
    /// The step in which a connection last moved.
    pub(super) moved: Vec<u64>,
    /// Accelerations with which coordinates last moved, where steps catch up.
    pub(super) last_acceleration: Vec<f64>,
    pub(super) queue: Queue,
    /// Nodes that have to be opened in any case.
    pub(super) stack: Vec<u32>,
    /// Nodes whose coefficients have to be brought up to date.
    pub(super) dirty: Vec<u32>,
    pub(super) is_dirty: Vec<bool>,
    /// True if poses changed since forces that depend on them were last turned.
    pub(super) poses_changed: bool,
    /// Nodes brought up to date since the last solution.
    pub(super) updated: usize,
    /// The last step, if it found that nothing has to move and nothing was changed since.
    pub(super) rest: Option<(Target, AdaptiveStep)>,
    /// General connections whose columns are dependent in the present pose.
    pub(super) dependent: usize,
}

impl<'p> AdaptiveState<'p> {
    /// The start pose without forces. O(n).
    pub fn new(plan: &'p AdaptivePlan) -> Self {
        let layout = &plan.layout;
        let n = layout.nodes.len();
        let mut out = Self {
            plan,
            q: plan.start.clone(),
            tau: vec![0.0; plan.velocities],
            loads: BodyLoads::new(plan),
            frames: Frames::new(layout),
            turns: vec![Turn::NONE; plan.connections.len()],
            generals: vec![GeneralState::ZERO; plan.generals.len()],
            coefficients: Coefficients {
                matrix: vec![0.0; layout.matrix],
                total: vec![0.0; layout.total],
                response: vec![0.0; layout.response],
            },
            ranks: vec![(0, 1.0); plan.connections.len()],
            scratch: Scratch::new(layout),
            forces: vec![0.0; layout.forces],
            acceleration: vec![0.0; plan.velocities],
            computed: Vec::with_capacity(n),
            moving: vec![true; plan.connections.len()],
            last_acceleration: vec![0.0; plan.velocities],
            steps: 0,
            caught_up: 0,
            moved: vec![0; plan.connections.len()],
            queue: Queue::with_capacity(n + 1),
            stack: Vec::with_capacity(2 * layout.depth + 2),
            dirty: Vec::with_capacity(n),
            is_dirty: vec![false; n],
            poses_changed: true,
            updated: 0,
            rest: None,
            dependent: 0,
        };
        out.start();
        out
    }

    /// What never changes, and all of the rest for the first time.
    fn start(&mut self) {
        let plan = self.plan;
        for (g, state) in plan.generals.iter().zip(&mut self.generals) {
            for part in g.parts.iter().filter(|p| p.closing) {
                state.fitted[..part.q_len]
                    .copy_from_slice(&plan.start[part.q..part.q + part.q_len]);
            }
        }
        for n in &plan.layout.nodes {
            self.forces[n.forces + 6 * n.handles] = 1.0;
            let Work::Leaf { body, .. } = n.work else { continue };
            let handles = &plan.leaf_handles[n.response..n.response + n.handles];
            let matrix = &mut self.coefficients.matrix[n.matrix..];
            plan.bodies[body].write_inertia(n, handles, matrix);
            let at = &plan.layout.leaf_handles[n.response..n.response + n.handles];
            let pose = |h: &[usize; 2]| plan.connections[h[0]].handles[h[1]];
            for (k, h) in at.iter().enumerate() {
                self.frames.handles[n.poses + k] = pose(&at[0]).inverse() * pose(h);
            }
        }
        self.place_all();
    }

    /// All frames and coefficients anew: O(n).
    pub(super) fn place_all(&mut self) {
        for i in 0..self.plan.layout.nodes.len() {
            self.place(i);
            self.touch(i);
        }
        self.poses_changed = true;
        self.refresh();
    }

    /// Sets the positions of all joints; those of closing joints follow from the others and are
    /// ignored. O(n).
    ///
    /// # Errors
    /// [`AdaptiveError::WrongLength`] unless `q` holds the positions of the tree joints or of all
    /// joints; [`AdaptiveError::NotFinite`].
    pub fn set_positions(&mut self, q: &[f64]) -> Result<(), AdaptiveError> {
        let tree = self.tree_positions();
        if q.len() != self.q.len() {
            check_length("q", q.len(), tree)?;
        }
        check_finite("q", q)?;
        self.q[..tree].copy_from_slice(&q[..tree]);
        self.place_all();
        Ok(())
    }

    /// Sets the positions of one joint of the spanning tree. O(log n).
    ///
    /// # Errors
    /// [`AdaptiveError::NoJoint`], [`AdaptiveError::ClosingJoint`], [`AdaptiveError::WrongLength`],
    /// [`AdaptiveError::NotFinite`].
    pub fn set_joint_positions(&mut self, joint: JointId, q: &[f64]) -> Result<(), AdaptiveError> {
        let place = self.joint_place(joint)?;
        if place.closing {
            return Err(AdaptiveError::ClosingJoint { joint: joint.index() });
        }
        check_length("q", q.len(), place.q_len)?;
        check_finite("q", q)?;
        self.q[place.q..place.q + place.q_len].copy_from_slice(q);
        let mut at = place.place.and_then(|(c, _)| self.plan.connections[c].node);
        if let Some(node) = at {
            self.touch(node);
        }
        while let Some(node) = at {
            self.place(node);
            at = Some(self.plan.layout.nodes[node].parent)
                .filter(|&p| p != NONE)
                .map(|p| p as usize);
        }
        self.poses_changed = true;
        Ok(())
    }

    fn tree_positions(&self) -> usize {
        let closing = self.plan.generals.iter().flat_map(|g| &g.parts).filter(|p| p.closing);
        closing.map(|p| p.q).min().unwrap_or(self.q.len())
    }

    /// Sets the force on a link: force (N) and torque (N·m) at the origin of the link's frame, with
    /// components in world axes or in the link's. It replaces the force that was set before. O(1);
    /// the next solution updates the nodes above the link, each once however many forces were set.
    ///
    /// # Errors
    /// [`AdaptiveError::NoLink`] for the ground or a link that does not exist,
    /// [`AdaptiveError::NotFinite`].
    pub fn set_force(
        &mut self,
        link: LinkId,
        wrench: Wrench,
        frame: WrenchFrame,
    ) -> Result<(), AdaptiveError> {
        if link == LinkId::WORLD || link.index() >= self.plan.links.len() {
            return Err(AdaptiveError::NoLink { link: link.index() });
        }
        check_finite("wrench", &wrench.to_array())?;
        self.loads.set(self.plan, link.index(), wrench, frame);
        self.rest = None;
        Ok(())
    }

    /// Sets the force on a link by a wrench at a point frame in it; as
    /// [`AdaptiveState::set_force`].
    ///
    /// # Errors
    /// As [`AdaptiveState::set_force`]; a dead load must act at the link's origin or be a pure
    /// torque, because its moment about the origin would turn:
    /// [`AdaptiveError::DeadLoadOffOrigin`].
    pub fn set_applied(&mut self, w: &AppliedWrench) -> Result<(), AdaptiveError> {
        let p = &w.link_from_point;
        match w.frame {
            WrenchFrame::Body => {
                let (force, torque) = (p.rotation * w.wrench.force, p.rotation * w.wrench.torque);
                let at_origin = Wrench::new(force, torque + p.translation.cross(force));
                self.set_force(w.link, at_origin, w.frame)
            }
            WrenchFrame::World => {
                use forks_mechanism::lie::glam::DVec3;
                if p.translation != DVec3::ZERO && w.wrench.force != DVec3::ZERO {
                    return Err(AdaptiveError::DeadLoadOffOrigin { link: w.link.index() });
                }
                self.set_force(w.link, w.wrench, w.frame)
            }
        }
    }

    /// Takes the forces on all links away.
    pub fn clear_forces(&mut self) {
        self.loads.clear(self.plan);
        self.rest = None;
    }

    /// Sets the generalised forces of a joint's coordinates (motors). O(log n).
    ///
    /// # Errors
    /// [`AdaptiveError::NoJoint`], [`AdaptiveError::WrongLength`], [`AdaptiveError::NotFinite`].
    pub fn set_joint_force(&mut self, joint: JointId, force: &[f64]) -> Result<(), AdaptiveError> {
        let place = self.joint_place(joint)?;
        check_length("force", force.len(), place.dof)?;
        check_finite("force", force)?;
        self.tau[place.v..place.v + place.dof].copy_from_slice(force);
        if let Some(node) = place.place.and_then(|(c, _)| self.plan.connections[c].node) {
            self.touch(node);
        }
        Ok(())
    }

    pub(super) fn joint_place(
        &self,
        joint: JointId,
    ) -> Result<super::plan::JointPlace, AdaptiveError> {
        let place = self.plan.joints.get(joint.index()).copied();
        place.ok_or(AdaptiveError::NoJoint { joint: joint.index() })
    }
}

impl AdaptivePlan {
    /// Memory of one [`AdaptiveState`] that grows with the mechanism, bytes.
    pub fn state_bytes(&self) -> usize {
        let l = &self.layout;
        let n = l.nodes.len();
        let numbers = l.matrix + l.total + l.response + l.forces;
        let per_node = size_of::<(u32, f64)>() + 16 + 4 + 1;
        let per_connection = size_of::<Turn>() + size_of::<Rank>() + 1 + 8;
        8 * numbers
            + Frames::bytes(l)
            + n * per_node
            + self.connections.len() * per_connection
            + self.generals.len() * size_of::<GeneralState>()
            + self.bodies.len() * (size_of::<Wrench>() + 6)
            + self.links.len() * 4
            + (self.start.len() + 3 * self.velocities) * 8
    }
}
