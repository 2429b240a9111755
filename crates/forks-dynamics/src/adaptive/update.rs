//! Lazy update (\[R06\] §5.2): frames and coefficients of the nodes whose joint moved or whose
//! forces changed, and of their ancestors. Children have smaller numbers than their parents, so
//! that in ascending order every node is brought up to date once, after all below it.

use forks_mechanism::lie::{Twist, glam::DQuat};

use super::{
    closing::{Joint, Ranks, beside, close},
    connection::{Shape, Turn},
    frames::Placed,
    general::Constants,
    layout::{NONE, Work},
    loads::{Change, Poses},
    projection::Projection,
    state::AdaptiveState,
};

use forks_mechanism::lie::Pose;

impl AdaptiveState<'_> {
    /// Notes a node and its ancestors for the next [`AdaptiveState::refresh`].
    pub(super) fn touch(&mut self, node: usize) {
        self.rest = None;
        touch(&self.plan.layout, &mut self.is_dirty, &mut self.dirty, node);
    }

    /// Brings all noted coefficients up to date; forces that depend on poses first.
    pub(super) fn refresh(&mut self) {
        if self.poses_changed || self.loads.are_pending() {
            if self.poses_changed {
                self.frames.forget_world();
            }
            self.refresh_loads();
            if self.poses_changed {
                self.touch_ground_closings();
            }
            self.poses_changed = false;
        }
        if self.dirty.is_empty() {
            return;
        }
        self.dirty.sort_unstable();
        self.updated += self.dirty.len();
        for i in 0..self.dirty.len() {
            let node = self.dirty[i] as usize;
            self.is_dirty[node] = false;
            self.update_coefficients(node);
        }
        self.dirty.clear();
    }

    /// Writes b of the leaves whose forces are others now, and notes their ancestors.
    fn refresh_loads(&mut self) {
        let plan = self.plan;
        let Self { loads, frames, generals, q, coefficients, dirty, is_dirty, .. } = self;
        let poses = Poses { plan, frames, generals, q };
        loads.refresh(poses, |change, wrenches| {
            let node = match change {
                Change::Body(body) => {
                    let b = &plan.bodies[body];
                    let Some(leaf) = b.leaf else { return };
                    let n = &plan.layout.nodes[leaf];
                    let handles = &plan.leaf_handles[n.response..n.response + n.handles];
                    let matrix = &mut coefficients.matrix[n.matrix..];
                    b.write_bias(n, handles, wrenches[body], matrix);
                    Some(leaf)
                }
                Change::General(g) => plan.connections[plan.generals[g].connection].node,
            };
            if let Some(node) = node {
                touch(&plan.layout, is_dirty, dirty, node);
            }
        });
    }

    /// Loops that are closed with the ground have to follow the pose of their other side.
    fn touch_ground_closings(&mut self) {
        let plan = self.plan;
        for &c in &plan.ground_closings {
            let (Shape::General(g), Some(node)) =
                (&plan.connections[c].shape, plan.connections[c].node)
            else {
                continue;
            };
            let pose = self.between_sides(node, c);
            if pose != self.generals[*g].from {
                self.touch(node);
            }
        }
    }

    /// Side B's handle frame in side A's, from the frames of a closing joint's node.
    fn between_sides(&mut self, node: usize, connection: usize) -> Pose {
        let layout = &self.plan.layout;
        let n = &layout.nodes[node];
        let Work::Close { sides, .. } = n.work else { return Pose::IDENTITY };
        let child = n.children[0] as usize;
        let handles = &self.plan.connections[connection].handles;
        let world = if sides.contains(&None) {
            self.frames.shared_world_from_node(layout, child)
        } else {
            Pose::IDENTITY
        };
        let pose = |side: usize| match sides[side] {
            Some(h) => world * self.frames.handles[layout.nodes[child].poses + h],
            None => handles[side],
        };
        pose(0).inverse() * pose(1)
    }

    /// Poses of a node's handles and children from the positions of its joint.
    pub(super) fn place(&mut self, node: usize) {
        let plan = self.plan;
        let n = &plan.layout.nodes[node];
        let mut placed =
            Placed { a_from_b: Pose::IDENTITY, ground: Pose::IDENTITY, closing: false };
        if let Work::Join { connection } | Work::Close { connection, .. } = n.work {
            let c = &plan.connections[connection];
            placed.closing = c.closing;
            match &c.shape {
                Shape::Hinge(h) => {
                    let turn = Turn::about_z(self.q[h.q] - h.reference);
                    self.turns[connection] = turn;
                    placed.a_from_b = Pose::from_rotation(turn.rotation);
                }
                Shape::Weld => {}
                Shape::General(_) if c.closing => {}
                Shape::General(g) => {
                    self.update_columns(*g, &constants(c.dof, c.unit, 0.0), None);
                    placed.a_from_b = self.generals[*g].pose;
                }
            }
            if let Work::Close { sides, .. } = n.work
                && let Some(ground) = sides.iter().position(Option::is_none)
            {
                placed.ground = c.handles[ground];
            }
        }
        self.frames.place(&plan.layout, n, &placed);
    }

    /// M, F and response of a node from those of its children.
    fn update_coefficients(&mut self, node: usize) {
        let plan = self.plan;
        let n = &plan.layout.nodes[node];
        let (connection, sides) = match n.work {
            Work::Leaf { .. } => return,
            Work::Beside => {
                return beside(&plan.layout, n, &mut self.coefficients, &mut self.scratch);
            }
            Work::Join { connection } => (connection, [Some(0); 2]),
            Work::Close { connection, sides } => (connection, sides),
        };
        let c = &plan.connections[connection];
        if let Shape::General(g) = &c.shape {
            self.update_general(node, connection, *g);
        }
        let mut joint = Joint {
            sides: [Projection::Identity; 2],
            dof: c.dof,
            load: [0.0; 6],
            implicit: None,
            weights: [1.0; 6],
            correction: [0.0; 6],
            ground: [0.0; 6],
            ranks: Ranks {
                loops: plan.has_loops,
                closing: c.closing,
                scale: c.scale,
                unit: c.unit,
                scaled: matches!(c.shape, Shape::General(_)),
            },
        };
        let mut stiff = [[0.0; 6]; 6];
        match &c.shape {
            Shape::Weld => {}
            Shape::Hinge(h) => {
                joint.sides[1] = self.turns[connection].projection();
                joint.load[0] = self.tau[h.v] - h.stiffness * (self.q[h.q] - h.rest);
                joint.weights[0] = h.weight;
                stiff[0][0] = h.implicit;
                joint.implicit = (h.implicit != 0.0).then_some(&stiff);
            }
            Shape::General(g) => {
                let (general, state) = (&plan.generals[*g], &self.generals[*g]);
                let [a, b] = &state.sides;
                joint.sides = [Projection::Full(a), Projection::Full(b)];
                joint.load[..c.dof].copy_from_slice(&state.load[..c.dof]);
                joint.weights = general.weights;
                joint.implicit = general.is_stiff.then_some(&general.implicit);
                joint.correction = state.correction;
            }
        }
        if let Some(side) = sides.iter().position(Option::is_none) {
            joint.ground = self.falling(c.handles[side].rotation);
        }
        let data = &mut self.coefficients;
        self.ranks[connection] = close(&plan.layout, n, &joint, data, &mut self.scratch);
    }

    /// Acceleration of the ground in a frame that falls freely, in the axes of a frame on the
    /// ground: gravity without forces (EQUATIONS 1.2).
    fn falling(&self, world_from_frame: DQuat) -> [f64; 6] {
        let g = world_from_frame.conjugate() * self.plan.gravity;
        Twist::new(-g, forks_mechanism::lie::glam::DVec3::ZERO).to_array()
    }

    /// State of a general connection: loads, and of closing ones the positions.
    fn update_general(&mut self, node: usize, connection: usize, g: usize) {
        let plan = self.plan;
        let c = &plan.connections[connection];
        if c.closing {
            let pose = self.between_sides(node, connection);
            let h = plan.options.time_step;
            let k = constants(c.dof, c.unit, plan.options.loop_correction / (h * h));
            self.generals[g].from = pose;
            self.update_columns(g, &k, Some(&pose));
        }
        plan.generals[g].update_load(&self.q, &self.tau, &mut self.generals[g]);
    }

    /// Pose and columns of a general connection, and how many of them all are dependent.
    fn update_columns(&mut self, g: usize, k: &Constants, closed: Option<&Pose>) {
        let state = &mut self.generals[g];
        self.dependent -= usize::from(!state.independent);
        self.plan.generals[g].update(k, &self.q, closed, state);
        self.dependent += usize::from(!state.independent);
    }
}

fn constants(dof: usize, unit: f64, correction: f64) -> Constants {
    Constants { dof, unit, correction }
}

fn touch(layout: &super::layout::Layout, is_dirty: &mut [bool], dirty: &mut Vec<u32>, node: usize) {
    let mut at = node as u32;
    while at != NONE && !std::mem::replace(&mut is_dirty[at as usize], true) {
        dirty.push(at);
        at = layout.nodes[at as usize].parent;
    }
}
