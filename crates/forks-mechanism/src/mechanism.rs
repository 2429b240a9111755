//! The mechanism: an immutable, checked description with its joint graph.

use std::{ops::Range, sync::Arc};

use forks_lie::{Pose, glam::DVec3};

use crate::{
    Bushing, BushingId, Cable, CableId, CombinationSpring, Coordinate, Coupling, Frame, FrameId,
    Joint, JointId, Link, LinkId, Look, Servo, Shape, SpanningForest,
};

/// A named start state.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Name; may be empty.
    pub name: String,
    /// Position coordinates of all tree joints, in the mechanism's order.
    pub positions: Vec<f64>,
}

/// What a mechanism is made of.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) gravity: DVec3,
    pub(crate) links: Vec<Link>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) shapes: Vec<Shape>,
    /// Shared, for meshes of vertices are large and copies of mechanisms many.
    pub(crate) looks: Arc<Vec<Look>>,
    pub(crate) exclusions: Vec<[LinkId; 2]>,
    pub(crate) couplings: Vec<Coupling>,
    pub(crate) combination_springs: Vec<CombinationSpring>,
    pub(crate) bushings: Vec<Bushing>,
    pub(crate) cables: Vec<Cable>,
    pub(crate) servos: Vec<Servo>,
    pub(crate) keyframes: Vec<Keyframe>,
}

/// A mechanism; made by [`crate::MechanismBuilder`].
///
/// Coordinates: positions `q` and velocities `v` hold the tree joints in joint order first, then
/// the loop-closing joints in joint order. A loop-closing joint thus has coordinates of its own,
/// and its closure is six equations (see [`crate::kinematics::loops`]).
#[derive(Clone, Debug)]
pub struct Mechanism {
    pub(crate) parts: Parts,
    pub(crate) forest: SpanningForest,
    pub(crate) position_offsets: Vec<usize>,
    pub(crate) velocity_offsets: Vec<usize>,
    pub(crate) velocity_owners: Vec<JointId>,
    pub(crate) tree_positions: usize,
    pub(crate) tree_velocities: usize,
    pub(crate) positions: usize,
    pub(crate) velocities: usize,
}

impl Mechanism {
    /// Name of the mechanism.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Acceleration of free fall, world frame, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.parts.gravity
    }

    /// All links; index 0 is the ground.
    pub fn links(&self) -> &[Link] {
        &self.parts.links
    }

    /// A link.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links()[id.index()]
    }

    /// Links that move or are welded: all but the ground, with their identifiers.
    pub fn moving_links(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        self.links().iter().enumerate().skip(1).map(|(i, l)| (LinkId::new(i), l))
    }

    /// The link of that name.
    pub fn find_link(&self, name: &str) -> Option<LinkId> {
        self.links().iter().position(|l| l.name == name).map(LinkId::new)
    }

    /// All joints, tree joints and loop-closing joints.
    pub fn joints(&self) -> &[Joint] {
        &self.parts.joints
    }

    /// A joint.
    pub fn joint(&self, id: JointId) -> &Joint {
        &self.joints()[id.index()]
    }

    /// The joint of that name.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.joints().iter().position(|j| j.name == name).map(JointId::new)
    }

    /// What a joint is called in messages: its name, or `#index (parent - child)`.
    pub fn joint_label(&self, id: JointId) -> String {
        let j = self.joint(id);
        if j.name.is_empty() {
            format!("#{} ({} - {})", id.index(), self.link(j.parent).name, self.link(j.child).name)
        } else {
            j.name.clone()
        }
    }

    /// Named frames.
    pub fn frames(&self) -> &[Frame] {
        &self.parts.frames
    }

    /// The frame of that name.
    pub fn find_frame(&self, name: &str) -> Option<FrameId> {
        self.frames().iter().position(|f| f.name == name).map(FrameId::new)
    }

    /// Pairs of links whose shapes do not touch each other.
    pub fn exclusions(&self) -> &[[LinkId; 2]] {
        &self.parts.exclusions
    }

    /// Collision shapes.
    pub fn shapes(&self) -> &[Shape] {
        &self.parts.shapes
    }

    /// What is drawn of the links; empty where the model says nothing about it.
    pub fn looks(&self) -> &[Look] {
        &self.parts.looks
    }

    /// Couplings between joint coordinates.
    pub fn couplings(&self) -> &[Coupling] {
        &self.parts.couplings
    }

    /// Springs on combinations of coordinates.
    pub fn combination_springs(&self) -> &[CombinationSpring] {
        &self.parts.combination_springs
    }

    /// Bushings.
    pub fn bushings(&self) -> &[Bushing] {
        &self.parts.bushings
    }

    /// A bushing.
    pub fn bushing(&self, id: BushingId) -> &Bushing {
        &self.bushings()[id.index()]
    }

    /// Cables.
    pub fn cables(&self) -> &[Cable] {
        &self.parts.cables
    }

    /// A cable.
    pub fn cable(&self, id: CableId) -> &Cable {
        &self.cables()[id.index()]
    }

    /// The cable of that name.
    pub fn find_cable(&self, name: &str) -> Option<CableId> {
        self.cables().iter().position(|c| c.name == name).map(CableId::new)
    }

    /// Servos.
    pub fn servos(&self) -> &[Servo] {
        &self.parts.servos
    }

    /// Named start states.
    pub fn keyframes(&self) -> &[Keyframe] {
        &self.parts.keyframes
    }

    /// The spanning forest with its loop-closing joints.
    pub fn forest(&self) -> &SpanningForest {
        &self.forest
    }

    /// Number of position coordinates, loop-closing joints included.
    pub fn position_count(&self) -> usize {
        self.positions
    }

    /// Number of velocity coordinates, loop-closing joints included.
    pub fn velocity_count(&self) -> usize {
        self.velocities
    }

    /// Position coordinates of the tree joints alone: the first entries of `q`.
    pub fn tree_position_count(&self) -> usize {
        self.tree_positions
    }

    /// Velocity coordinates of the tree joints alone: the first entries of `v`.
    pub fn tree_velocity_count(&self) -> usize {
        self.tree_velocities
    }

    /// Where a joint's positions are in `q`.
    pub fn position_range(&self, id: JointId) -> Range<usize> {
        let start = self.position_offsets[id.index()];
        start..start + self.joint(id).kind.position_count()
    }

    /// Where a joint's velocities are in `v`.
    pub fn velocity_range(&self, id: JointId) -> Range<usize> {
        let start = self.velocity_offsets[id.index()];
        start..start + self.joint(id).dof()
    }

    /// Index of a scalar coordinate in `q`.
    pub fn position_index(&self, c: Coordinate) -> usize {
        self.position_offsets[c.joint.index()] + c.index
    }

    /// Index of a scalar coordinate in `v`.
    pub fn velocity_index(&self, c: Coordinate) -> usize {
        self.velocity_offsets[c.joint.index()] + c.index
    }

    /// The joint that owns a velocity coordinate, and which of its coordinates it is.
    ///
    /// # Panics
    /// If `index` is not below [`Mechanism::velocity_count`].
    pub fn velocity_owner(&self, index: usize) -> Coordinate {
        let joint = self.velocity_owners[index];
        Coordinate { joint, index: index - self.velocity_offsets[joint.index()] }
    }

    /// The start pose: every tree joint's start positions; loop-closing joints as close to the
    /// links' poses as their kind allows.
    pub fn start_positions(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.positions];
        for (i, j) in self.joints().iter().enumerate() {
            q[self.position_range(JointId::new(i))].copy_from_slice(&j.start);
        }
        self.fit_closures(&mut q);
        q
    }

    /// Sets the coordinates of loop-closing joints from the poses that the tree coordinates give.
    pub fn fit_closures(&self, q: &mut [f64]) {
        if self.forest.closures().is_empty() {
            return;
        }
        let poses = self.link_poses(q);
        for &id in self.forest.closures() {
            let j = self.joint(id);
            let relative = poses[j.parent.index()].inverse() * poses[j.child.index()];
            let fitted = j.closest_positions(&relative);
            q[self.position_range(id)].copy_from_slice(&fitted);
        }
    }

    /// q ⊞ v: moves every joint's positions along its velocities for unit time.
    pub fn integrate(&self, q: &mut [f64], v: &[f64]) {
        for (i, j) in self.joints().iter().enumerate() {
            let id = JointId::new(i);
            j.kind.integrate(&mut q[self.position_range(id)], &v[self.velocity_range(id)]);
        }
    }

    /// The velocities that lead from `from` to `to` in unit time, joint by joint.
    pub fn difference(&self, from: &[f64], to: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.velocities];
        for (i, j) in self.joints().iter().enumerate() {
            let id = JointId::new(i);
            let r = self.position_range(id);
            v[self.velocity_range(id)]
                .copy_from_slice(&j.kind.difference(&from[r.clone()], &to[r]));
        }
        v
    }

    /// Mass of all links, kg.
    pub fn total_mass(&self) -> f64 {
        self.links().iter().map(|l| l.inertia.mass).sum()
    }

    /// Mass of the links that can move relative to the ground, kg.
    pub fn moving_mass(&self) -> f64 {
        let mut welded = vec![false; self.links().len()];
        welded[0] = true;
        for e in self.forest.edges() {
            welded[e.outer.index()] = welded[e.inner.index()] && self.joint(e.joint).dof() == 0;
        }
        self.links().iter().zip(welded).filter(|(_, w)| !w).map(|(l, _)| l.inertia.mass).sum()
    }

    /// Size r of the mechanism in the given link poses: the largest distance of link frames, joint
    /// anchors and centres of mass from the mean of the link frames; 1 if that is 0. Links that are
    /// one with the ground ([`Mechanism::grounded_links`]) count only where no link moves: how far
    /// a pillar stands away says nothing of the mechanism.
    pub fn bounding_radius(&self, world_from_link: &[Pose]) -> f64 {
        let grounded = self.grounded_links();
        let all = (1..self.links().len()).all(|i| grounded[i] || self.links()[i].auxiliary);
        self.extent(world_from_link, |l| all || !grounded[l.index()])
    }

    /// The same of all links, those that stand on the ground included.
    pub fn overall_radius(&self, world_from_link: &[Pose]) -> f64 {
        self.extent(world_from_link, |_| true)
    }

    fn extent(&self, world_from_link: &[Pose], counts: impl Fn(LinkId) -> bool) -> f64 {
        let real: Vec<usize> = (1..self.links().len())
            .filter(|&i| !self.links()[i].auxiliary && counts(LinkId::new(i)))
            .collect();
        if real.is_empty() {
            return 1.0;
        }
        let mean =
            real.iter().map(|&i| world_from_link[i].translation).sum::<DVec3>() / real.len() as f64;
        let mut r: f64 = 0.0;
        for &i in &real {
            let p = &world_from_link[i];
            r = r.max(p.translation.distance(mean));
            if self.links()[i].inertia.mass > 0.0 {
                r = r.max(p.transform_point(self.links()[i].inertia.center_of_mass).distance(mean));
            }
        }
        for j in
            self.joints().iter().filter(|j| !j.implicit && (counts(j.parent) || counts(j.child)))
        {
            let anchor =
                world_from_link[j.child.index()].transform_point(j.child_from_joint.translation);
            r = r.max(anchor.distance(mean));
        }
        if r > 0.0 && r.is_finite() { r } else { 1.0 }
    }
}
