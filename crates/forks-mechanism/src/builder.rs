//! Building a mechanism: collect elements, then check everything at once.

use std::sync::Arc;

use forks_lie::{SymMat6, glam::DVec3};

use crate::{
    BuildError, Bushing, BushingId, Cable, CableId, Combination, CombinationSpring,
    CombinationSpringId, Coupling, CouplingId, Frame, FrameId, ImpossibleInertia, InertiaVerdict,
    Joint, JointId, JointKind, Keyframe, Link, LinkId, Look, Mechanism, Servo, ServoId, Shape,
    ShapeId, SpanningForest, Transmission,
    cable::check_cables,
    checks::{
        check_inertia, check_joint_numbers, finite, finite_vector, label, length,
        normalize_quaternion, normalized_kind, normalized_pose, not_negative,
        positive_semi_definite, unique_names,
    },
    mechanism::Parts,
    possible::impossible,
};

/// Collects the elements of a mechanism.
#[derive(Clone, Debug)]
pub struct MechanismBuilder {
    parts: Parts,
}

impl MechanismBuilder {
    /// An empty mechanism: the ground alone, gravity 9.81 m/s² along −z.
    pub fn new(name: impl Into<String>) -> Self {
        let parts = Parts {
            name: name.into(),
            gravity: DVec3::new(0.0, 0.0, -9.81),
            links: vec![Link::new("world")],
            joints: vec![],
            frames: vec![],
            shapes: vec![],
            looks: Arc::default(),
            exclusions: vec![],
            couplings: vec![],
            combination_springs: vec![],
            bushings: vec![],
            cables: vec![],
            servos: vec![],
            keyframes: vec![],
        };
        Self { parts }
    }

    /// Starts from an existing mechanism, to change it.
    pub fn from_mechanism(m: &Mechanism) -> Self {
        Self { parts: m.parts.clone() }
    }

    /// Sets the acceleration of free fall, world frame, m/s².
    pub fn set_gravity(&mut self, gravity: DVec3) -> &mut Self {
        self.parts.gravity = gravity;
        self
    }

    /// Adds a link.
    pub fn add_link(&mut self, link: Link) -> LinkId {
        self.parts.links.push(link);
        LinkId::new(self.parts.links.len() - 1)
    }

    /// Adds a joint.
    pub fn add_joint(&mut self, joint: Joint) -> JointId {
        self.parts.joints.push(joint);
        JointId::new(self.parts.joints.len() - 1)
    }

    /// Adds a named frame.
    pub fn add_frame(&mut self, frame: Frame) -> FrameId {
        self.parts.frames.push(frame);
        FrameId::new(self.parts.frames.len() - 1)
    }

    /// Adds a collision shape.
    pub fn add_shape(&mut self, shape: Shape) -> ShapeId {
        self.parts.shapes.push(shape);
        ShapeId::new(self.parts.shapes.len() - 1)
    }

    /// Adds a form that is drawn and touches nothing.
    pub fn add_look(&mut self, look: Look) -> &mut Self {
        Arc::make_mut(&mut self.parts.looks).push(look);
        self
    }

    /// Lets the shapes of two links pass through each other.
    pub fn exclude_contact(&mut self, a: LinkId, b: LinkId) -> &mut Self {
        self.parts.exclusions.push([a, b]);
        self
    }

    /// Adds a coupling.
    pub fn add_coupling(&mut self, coupling: Coupling) -> CouplingId {
        self.parts.couplings.push(coupling);
        CouplingId::new(self.parts.couplings.len() - 1)
    }

    /// Adds a spring on a combination of coordinates.
    pub fn add_combination_spring(&mut self, spring: CombinationSpring) -> CombinationSpringId {
        self.parts.combination_springs.push(spring);
        CombinationSpringId::new(self.parts.combination_springs.len() - 1)
    }

    /// Adds a bushing.
    pub fn add_bushing(&mut self, bushing: Bushing) -> BushingId {
        self.parts.bushings.push(bushing);
        BushingId::new(self.parts.bushings.len() - 1)
    }

    /// Adds a cable.
    pub fn add_cable(&mut self, cable: Cable) -> CableId {
        self.parts.cables.push(cable);
        CableId::new(self.parts.cables.len() - 1)
    }

    /// Adds a servo.
    pub fn add_servo(&mut self, servo: Servo) -> ServoId {
        self.parts.servos.push(servo);
        ServoId::new(self.parts.servos.len() - 1)
    }

    /// Adds a named start state.
    pub fn add_keyframe(&mut self, keyframe: Keyframe) -> &mut Self {
        self.parts.keyframes.push(keyframe);
        self
    }

    /// Forgets the named start states.
    pub(crate) fn clear_keyframes(&mut self) {
        self.parts.keyframes.clear();
    }

    /// Drops couplings and springs on coordinates of `joints`, and takes these out of servos.
    pub(crate) fn remove_combinations_of(&mut self, joints: &[bool]) {
        let apart = |c: &Combination| c.terms.iter().all(|(c, _)| !joints[c.joint.index()]);
        self.parts.couplings.retain(|c| c.terms.iter().all(|t| apart(&t.combination)));
        self.parts.combination_springs.retain(|s| apart(&s.combination));
        for s in &mut self.parts.servos {
            s.combination.terms.retain(|(c, _)| !joints[c.joint.index()]);
        }
    }

    /// The joints added so far, to be changed.
    pub fn joints_mut(&mut self) -> &mut [Joint] {
        &mut self.parts.joints
    }

    /// The springs on combinations added so far, to be changed.
    pub fn combination_springs_mut(&mut self) -> &mut [CombinationSpring] {
        &mut self.parts.combination_springs
    }

    /// The bushings added so far, to be changed.
    pub fn bushings_mut(&mut self) -> &mut [Bushing] {
        &mut self.parts.bushings
    }

    /// The cables added so far.
    pub fn cables(&self) -> &[Cable] {
        &self.parts.cables
    }

    /// The cables added so far, to be changed.
    pub fn cables_mut(&mut self) -> &mut [Cable] {
        &mut self.parts.cables
    }

    /// The servos added so far, to be changed.
    pub fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.parts.servos
    }

    /// The frames added so far, to be changed.
    pub fn frames_mut(&mut self) -> &mut [Frame] {
        &mut self.parts.frames
    }

    /// The joints added so far.
    pub fn joints(&self) -> &[Joint] {
        &self.parts.joints
    }

    /// The links added so far, the ground first, to be changed.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.parts.links
    }

    /// The links added so far, the ground first.
    pub fn links(&self) -> &[Link] {
        &self.parts.links
    }

    /// Checks everything and derives the joint graph.
    ///
    /// Axes are scaled to unit length. A link that no joint ties to the ground, directly or through
    /// others, gets a free joint marked [`Joint::implicit`].
    ///
    /// # Errors
    /// The first element that cannot be right, with its name and value.
    pub fn build(mut self) -> Result<Mechanism, BuildError> {
        finite_vector("mechanism", "gravity", self.parts.gravity)?;
        self.check_links()?;
        self.check_joints()?;
        self.check_bodies()?;
        self.check_couplings()?;
        self.check_springs_and_servos()?;
        self.check_bushings()?;
        check_cables(&mut self.parts.cables, &self.parts.links)?;
        self.check_frames_and_shapes()?;
        for root in SpanningForest::loose_roots(self.parts.links.len(), &self.parts.joints) {
            let mut joint = Joint::new("", JointKind::Free, LinkId::WORLD, root);
            joint.implicit = true;
            self.parts.joints.push(joint);
        }
        let m = self.finish();
        for (i, k) in m.keyframes().iter().enumerate() {
            let element = label("keyframe", &k.name, i);
            length(&element, "positions", k.positions.len(), m.tree_positions)?;
            k.positions.iter().try_for_each(|&x| finite(&element, "position", x))?;
        }
        Ok(m)
    }

    fn finish(self) -> Mechanism {
        let forest = SpanningForest::new(self.parts.links.len(), &self.parts.joints);
        let mut is_closure = vec![false; self.parts.joints.len()];
        for c in forest.closures() {
            is_closure[c.index()] = true;
        }
        let mut position_offsets = vec![0; self.parts.joints.len()];
        let mut velocity_offsets = vec![0; self.parts.joints.len()];
        let mut velocity_owners = Vec::new();
        let (mut positions, mut velocities) = (0, 0);
        let (mut tree_positions, mut tree_velocities) = (0, 0);
        for closures in [false, true] {
            for (i, j) in
                self.parts.joints.iter().enumerate().filter(|(i, _)| is_closure[*i] == closures)
            {
                position_offsets[i] = positions;
                velocity_offsets[i] = velocities;
                velocity_owners.extend(std::iter::repeat_n(JointId::new(i), j.dof()));
                positions += j.kind.position_count();
                velocities += j.dof();
            }
            if !closures {
                (tree_positions, tree_velocities) = (positions, velocities);
            }
        }
        Mechanism {
            parts: self.parts,
            forest,
            position_offsets,
            velocity_offsets,
            velocity_owners,
            tree_positions,
            tree_velocities,
            positions,
            velocities,
        }
    }

    fn joint_label(&self, i: usize) -> String {
        let j = &self.parts.joints[i];
        if j.name.is_empty() { format!("joint #{i}") } else { format!("joint '{}'", j.name) }
    }

    fn check_link_reference(&self, element: &str, id: LinkId) -> Result<(), BuildError> {
        if id.index() < self.parts.links.len() {
            return Ok(());
        }
        Err(BuildError::UnknownElement {
            element: element.into(),
            kind: "link",
            index: id.index(),
            count: self.parts.links.len(),
        })
    }

    fn check_links(&self) -> Result<(), BuildError> {
        unique_names("link", self.parts.links.iter().map(|l| l.name.as_str()))?;
        for l in &self.parts.links {
            let element = format!("link '{}'", l.name);
            check_inertia(&element, l)?;
            finite(&element, "gravity compensation", l.gravity_compensation)?;
        }
        Ok(())
    }

    fn check_joints(&mut self) -> Result<(), BuildError> {
        for i in 0..self.parts.joints.len() {
            let element = self.joint_label(i);
            let j = &self.parts.joints[i];
            self.check_link_reference(&element, j.parent)?;
            self.check_link_reference(&element, j.child)?;
            if j.parent == j.child {
                let link = self.parts.links[j.parent.index()].name.clone();
                return Err(BuildError::SelfLoop { element, link });
            }
            check_joint_numbers(&element, j)?;
            let kind = normalized_kind(&element, &j.kind)?;
            self.parts.joints[i].kind = kind;
            let j = &mut self.parts.joints[i];
            j.parent_from_joint = normalized_pose(&element, &j.parent_from_joint)?;
            j.child_from_joint = normalized_pose(&element, &j.child_from_joint)?;
            normalize_quaternion(&element, "start", &j.kind, &mut j.start)?;
            if let Some(s) = &mut j.spring {
                normalize_quaternion(&element, "spring rest", &j.kind, &mut s.rest)?;
            }
        }
        Ok(())
    }

    /// Bodies that move have an inertia that can be.
    fn check_bodies(&self) -> Result<(), BuildError> {
        let mut found = self.impossible_inertias().into_iter();
        match found.find(|i| i.verdict == InertiaVerdict::Moving) {
            None => Ok(()),
            Some(i) => Err(BuildError::BadInertia {
                element: format!("link '{}'", self.parts.links[i.link.index()].name),
                problem: format!("{}; no body has such an inertia", i.problem),
            }),
        }
    }

    fn check_combination(&self, element: &str, c: &Combination) -> Result<(), BuildError> {
        finite(element, "offset", c.offset)?;
        for (coordinate, a) in &c.terms {
            finite(element, "coefficient", *a)?;
            let index = coordinate.joint.index();
            let Some(j) = self.parts.joints.get(index) else {
                return Err(BuildError::UnknownElement {
                    element: element.into(),
                    kind: "joint",
                    index,
                    count: self.parts.joints.len(),
                });
            };
            if !j.kind.has_scalar_coordinates() || coordinate.index >= j.dof() {
                return Err(BuildError::NoScalarCoordinate {
                    element: element.into(),
                    joint: self.joint_label(index),
                    index: coordinate.index,
                });
            }
        }
        Ok(())
    }

    fn check_couplings(&self) -> Result<(), BuildError> {
        for (i, c) in self.parts.couplings.iter().enumerate() {
            let element = label("coupling", &c.name, i);
            for t in &c.terms {
                self.check_combination(&element, &t.combination)?;
                for &p in &t.polynomial {
                    finite(&element, "polynomial coefficient", p)?;
                }
            }
        }
        Ok(())
    }

    fn check_springs_and_servos(&self) -> Result<(), BuildError> {
        for (i, s) in self.parts.combination_springs.iter().enumerate() {
            let element = label("spring", &s.name, i);
            self.check_combination(&element, &s.combination)?;
            not_negative(&element, "stiffness", s.stiffness)?;
            not_negative(&element, "damping", s.damping)?;
            finite(&element, "rest", s.rest)?;
        }
        for (i, s) in self.parts.servos.iter().enumerate() {
            let element = label("servo", &s.name, i);
            self.check_combination(&element, &s.combination)?;
            not_negative(&element, "stiffness", s.stiffness)?;
            not_negative(&element, "damping", s.damping)?;
            if let Transmission::Cable(id) = s.transmission {
                let (index, count) = (id.index(), self.parts.cables.len());
                if index >= count {
                    return Err(BuildError::UnknownElement {
                        element,
                        kind: "cable",
                        index,
                        count,
                    });
                }
                length(&element, "combination", s.combination.terms.len(), 0)?;
            }
        }
        Ok(())
    }

    fn check_bushings(&mut self) -> Result<(), BuildError> {
        for i in 0..self.parts.bushings.len() {
            let b = &self.parts.bushings[i];
            let element = label("bushing", &b.name, i);
            self.check_link_reference(&element, b.link_a)?;
            self.check_link_reference(&element, b.link_b)?;
            if b.link_a == b.link_b {
                let link = self.parts.links[b.link_a.index()].name.clone();
                return Err(BuildError::SelfLoop { element, link });
            }
            let six = |s: &SymMat6| s.to_mat6().rows.concat();
            positive_semi_definite(&element, "stiffness", 6, &six(&b.stiffness))?;
            positive_semi_definite(&element, "damping", 6, &six(&b.damping))?;
            let b = &mut self.parts.bushings[i];
            b.a_from_bushing = normalized_pose(&element, &b.a_from_bushing)?;
            b.b_from_bushing = normalized_pose(&element, &b.b_from_bushing)?;
        }
        Ok(())
    }

    fn check_frames_and_shapes(&mut self) -> Result<(), BuildError> {
        unique_names("frame", self.parts.frames.iter().map(|f| f.name.as_str()))?;
        for i in 0..self.parts.frames.len() {
            let element = format!("frame '{}'", self.parts.frames[i].name);
            self.check_link_reference(&element, self.parts.frames[i].link)?;
            self.parts.frames[i].link_from_frame =
                normalized_pose(&element, &self.parts.frames[i].link_from_frame)?;
        }
        for (i, [a, b]) in self.parts.exclusions.iter().enumerate() {
            let element = label("exclusion", "", i);
            self.check_link_reference(&element, *a)?;
            self.check_link_reference(&element, *b)?;
        }
        for i in 0..self.parts.shapes.len() {
            let element = label("shape", &self.parts.shapes[i].name, i);
            self.check_link_reference(&element, self.parts.shapes[i].link)?;
            self.parts.shapes[i].link_from_shape =
                normalized_pose(&element, &self.parts.shapes[i].link_from_shape)?;
            not_negative(&element, "friction", self.parts.shapes[i].friction)?;
            for x in self.parts.shapes[i].geometry.sizes() {
                not_negative(&element, "size", x)?;
            }
            let inside = if self.parts.shapes[i].geometry.is_finite() { 0.0 } else { f64::NAN };
            finite(&element, "a point or height", inside)?;
        }
        for (i, look) in self.parts.looks.iter().enumerate() {
            let element = label("look", "", i);
            self.check_link_reference(&element, look.link)?;
            normalized_pose(&element, &look.link_from_look)?;
        }
        Ok(())
    }
}

impl MechanismBuilder {
    /// The links whose inertia no body has, beyond the rounding of files: see
    /// [`forks_lie::SpatialInertia::validate_at_size`], with the distances of the link's joints and
    /// centre of mass as its size. [`MechanismBuilder::build`] refuses those that matter. Links
    /// with numbers that are not finite, or a negative mass, are left to that check.
    pub fn impossible_inertias(&self) -> Vec<ImpossibleInertia> {
        impossible(self.links(), self.joints())
    }

    /// Gives a link that cannot be the nearest inertia with equal moments: their mean, negative
    /// ones counted as zero. The moments before, ascending.
    pub fn make_isotropic(&mut self, link: LinkId) -> [f64; 3] {
        let inertia = &mut self.links_mut()[link.index()].inertia;
        let before = inertia.principal_moments();
        let mean = before.iter().map(|p| p.max(0.0)).sum::<f64>() / 3.0;
        inertia.inertia =
            forks_lie::glam::DMat3::from_diagonal(forks_lie::glam::DVec3::splat(mean));
        before
    }
}
