//! Building a mechanism: collect elements, then check everything at once.

use forks_lie::{InertiaError, Pose, SymMat6, glam::DVec3};

use crate::{
    BuildError, Bushing, BushingId, Combination, CombinationSpring, CombinationSpringId, Coupling,
    CouplingId, Frame, FrameId, Geometry, Joint, JointId, JointKind, Keyframe, Link, LinkId,
    Mechanism, Servo, ServoId, Shape, ShapeId, SpanningForest, dense,
};

/// Relative slack of the inertia checks: covers tensors rounded to the digits of a file and turned
/// into other axes.
const INERTIA_TOLERANCE: f64 = 1e-6;
/// Relative slack of symmetry and definiteness checks of stiffness and damping matrices.
const MATRIX_TOLERANCE: f64 = 1e-10;

/// Collects the elements of a mechanism.
#[derive(Clone, Debug)]
pub struct MechanismBuilder {
    name: String,
    gravity: DVec3,
    links: Vec<Link>,
    joints: Vec<Joint>,
    frames: Vec<Frame>,
    shapes: Vec<Shape>,
    couplings: Vec<Coupling>,
    combination_springs: Vec<CombinationSpring>,
    bushings: Vec<Bushing>,
    servos: Vec<Servo>,
    keyframes: Vec<Keyframe>,
}

impl MechanismBuilder {
    /// An empty mechanism: the ground alone, gravity 9.81 m/s² along −z.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            gravity: DVec3::new(0.0, 0.0, -9.81),
            links: vec![Link::new("world")],
            joints: vec![],
            frames: vec![],
            shapes: vec![],
            couplings: vec![],
            combination_springs: vec![],
            bushings: vec![],
            servos: vec![],
            keyframes: vec![],
        }
    }

    /// Starts from an existing mechanism, to change it.
    pub fn from_mechanism(m: &Mechanism) -> Self {
        Self {
            name: m.name.clone(),
            gravity: m.gravity,
            links: m.links.clone(),
            joints: m.joints.clone(),
            frames: m.frames.clone(),
            shapes: m.shapes.clone(),
            couplings: m.couplings.clone(),
            combination_springs: m.combination_springs.clone(),
            bushings: m.bushings.clone(),
            servos: m.servos.clone(),
            keyframes: m.keyframes.clone(),
        }
    }

    /// Sets the acceleration of free fall, world frame, m/s².
    pub fn set_gravity(&mut self, gravity: DVec3) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// Adds a link.
    pub fn add_link(&mut self, link: Link) -> LinkId {
        self.links.push(link);
        LinkId::new(self.links.len() - 1)
    }

    /// Adds a joint.
    pub fn add_joint(&mut self, joint: Joint) -> JointId {
        self.joints.push(joint);
        JointId::new(self.joints.len() - 1)
    }

    /// Adds a named frame.
    pub fn add_frame(&mut self, frame: Frame) -> FrameId {
        self.frames.push(frame);
        FrameId::new(self.frames.len() - 1)
    }

    /// Adds a collision shape.
    pub fn add_shape(&mut self, shape: Shape) -> ShapeId {
        self.shapes.push(shape);
        ShapeId::new(self.shapes.len() - 1)
    }

    /// Adds a coupling.
    pub fn add_coupling(&mut self, coupling: Coupling) -> CouplingId {
        self.couplings.push(coupling);
        CouplingId::new(self.couplings.len() - 1)
    }

    /// Adds a spring on a combination of coordinates.
    pub fn add_combination_spring(&mut self, spring: CombinationSpring) -> CombinationSpringId {
        self.combination_springs.push(spring);
        CombinationSpringId::new(self.combination_springs.len() - 1)
    }

    /// Adds a bushing.
    pub fn add_bushing(&mut self, bushing: Bushing) -> BushingId {
        self.bushings.push(bushing);
        BushingId::new(self.bushings.len() - 1)
    }

    /// Adds a servo.
    pub fn add_servo(&mut self, servo: Servo) -> ServoId {
        self.servos.push(servo);
        ServoId::new(self.servos.len() - 1)
    }

    /// Adds a named start state.
    pub fn add_keyframe(&mut self, keyframe: Keyframe) -> &mut Self {
        self.keyframes.push(keyframe);
        self
    }

    /// Forgets the named start states.
    pub(crate) fn clear_keyframes(&mut self) {
        self.keyframes.clear();
    }

    /// The joints added so far, to be changed.
    pub fn joints_mut(&mut self) -> &mut [Joint] {
        &mut self.joints
    }

    /// The joints added so far.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The links added so far, the ground first, to be changed.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }

    /// The links added so far, the ground first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Checks everything and derives the joint graph.
    ///
    /// Axes are scaled to unit length. A link that no joint ties to the ground, directly or through
    /// others, gets a free joint marked [`Joint::implicit`].
    ///
    /// # Errors
    /// The first element that cannot be right, with its name and value.
    pub fn build(mut self) -> Result<Mechanism, BuildError> {
        finite_vector("mechanism", "gravity", self.gravity)?;
        self.check_links()?;
        self.check_joints()?;
        self.check_couplings()?;
        self.check_springs_and_servos()?;
        self.check_bushings()?;
        self.check_frames_and_shapes()?;
        for root in SpanningForest::loose_roots(self.links.len(), &self.joints) {
            let mut joint = Joint::new("", JointKind::Free, LinkId::WORLD, root);
            joint.implicit = true;
            self.joints.push(joint);
        }
        let m = self.finish();
        for (i, k) in m.keyframes.iter().enumerate() {
            let element = label("keyframe", &k.name, i);
            length(&element, "positions", k.positions.len(), m.tree_positions)?;
            k.positions.iter().try_for_each(|&x| finite(&element, "position", x))?;
        }
        Ok(m)
    }

    fn finish(self) -> Mechanism {
        let forest = SpanningForest::new(self.links.len(), &self.joints);
        let mut is_closure = vec![false; self.joints.len()];
        for c in forest.closures() {
            is_closure[c.index()] = true;
        }
        let mut position_offsets = vec![0; self.joints.len()];
        let mut velocity_offsets = vec![0; self.joints.len()];
        let mut velocity_owners = Vec::new();
        let (mut positions, mut velocities) = (0, 0);
        let (mut tree_positions, mut tree_velocities) = (0, 0);
        for closures in [false, true] {
            for (i, j) in self.joints.iter().enumerate().filter(|(i, _)| is_closure[*i] == closures)
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
            name: self.name,
            gravity: self.gravity,
            links: self.links,
            joints: self.joints,
            frames: self.frames,
            shapes: self.shapes,
            couplings: self.couplings,
            combination_springs: self.combination_springs,
            bushings: self.bushings,
            servos: self.servos,
            keyframes: self.keyframes,
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
        let j = &self.joints[i];
        if j.name.is_empty() { format!("joint #{i}") } else { format!("joint '{}'", j.name) }
    }

    fn check_link_reference(&self, element: &str, id: LinkId) -> Result<(), BuildError> {
        if id.index() < self.links.len() {
            return Ok(());
        }
        Err(BuildError::UnknownElement {
            element: element.into(),
            kind: "link",
            index: id.index(),
            count: self.links.len(),
        })
    }

    fn check_links(&self) -> Result<(), BuildError> {
        unique_names("link", self.links.iter().map(|l| l.name.as_str()))?;
        for l in &self.links {
            let element = format!("link '{}'", l.name);
            check_inertia(&element, l)?;
            finite(&element, "gravity compensation", l.gravity_compensation)?;
        }
        Ok(())
    }

    fn check_joints(&mut self) -> Result<(), BuildError> {
        for i in 0..self.joints.len() {
            let element = self.joint_label(i);
            let j = &self.joints[i];
            self.check_link_reference(&element, j.parent)?;
            self.check_link_reference(&element, j.child)?;
            if j.parent == j.child {
                let link = self.links[j.parent.index()].name.clone();
                return Err(BuildError::SelfLoop { element, link });
            }
            check_joint_numbers(&element, j)?;
            let kind = normalized_kind(&element, &j.kind)?;
            self.joints[i].kind = kind;
            let j = &mut self.joints[i];
            j.parent_from_joint = normalized_pose(&element, &j.parent_from_joint)?;
            j.child_from_joint = normalized_pose(&element, &j.child_from_joint)?;
            normalize_quaternion(&element, "start", &j.kind, &mut j.start)?;
            if let Some(s) = &mut j.spring {
                normalize_quaternion(&element, "spring rest", &j.kind, &mut s.rest)?;
            }
        }
        Ok(())
    }

    fn check_combination(&self, element: &str, c: &Combination) -> Result<(), BuildError> {
        finite(element, "offset", c.offset)?;
        for (coordinate, a) in &c.terms {
            finite(element, "coefficient", *a)?;
            let index = coordinate.joint.index();
            let Some(j) = self.joints.get(index) else {
                return Err(BuildError::UnknownElement {
                    element: element.into(),
                    kind: "joint",
                    index,
                    count: self.joints.len(),
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
        for (i, c) in self.couplings.iter().enumerate() {
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
        for (i, s) in self.combination_springs.iter().enumerate() {
            let element = label("spring", &s.name, i);
            self.check_combination(&element, &s.combination)?;
            not_negative(&element, "stiffness", s.stiffness)?;
            not_negative(&element, "damping", s.damping)?;
            finite(&element, "rest", s.rest)?;
        }
        for (i, s) in self.servos.iter().enumerate() {
            let element = label("servo", &s.name, i);
            self.check_combination(&element, &s.combination)?;
            not_negative(&element, "stiffness", s.stiffness)?;
            not_negative(&element, "damping", s.damping)?;
        }
        Ok(())
    }

    fn check_bushings(&mut self) -> Result<(), BuildError> {
        for i in 0..self.bushings.len() {
            let b = &self.bushings[i];
            let element = label("bushing", &b.name, i);
            self.check_link_reference(&element, b.link_a)?;
            self.check_link_reference(&element, b.link_b)?;
            if b.link_a == b.link_b {
                let link = self.links[b.link_a.index()].name.clone();
                return Err(BuildError::SelfLoop { element, link });
            }
            let six = |s: &SymMat6| s.to_mat6().rows.concat();
            positive_semi_definite(&element, "stiffness", 6, &six(&b.stiffness))?;
            positive_semi_definite(&element, "damping", 6, &six(&b.damping))?;
            let b = &mut self.bushings[i];
            b.a_from_bushing = normalized_pose(&element, &b.a_from_bushing)?;
            b.b_from_bushing = normalized_pose(&element, &b.b_from_bushing)?;
        }
        Ok(())
    }

    fn check_frames_and_shapes(&mut self) -> Result<(), BuildError> {
        unique_names("frame", self.frames.iter().map(|f| f.name.as_str()))?;
        for i in 0..self.frames.len() {
            let element = format!("frame '{}'", self.frames[i].name);
            self.check_link_reference(&element, self.frames[i].link)?;
            self.frames[i].link_from_frame =
                normalized_pose(&element, &self.frames[i].link_from_frame)?;
        }
        for i in 0..self.shapes.len() {
            let element = label("shape", &self.shapes[i].name, i);
            self.check_link_reference(&element, self.shapes[i].link)?;
            self.shapes[i].link_from_shape =
                normalized_pose(&element, &self.shapes[i].link_from_shape)?;
            not_negative(&element, "friction", self.shapes[i].friction)?;
            for x in sizes(&self.shapes[i].geometry) {
                not_negative(&element, "size", x)?;
            }
        }
        Ok(())
    }
}

fn sizes(geometry: &Geometry) -> Vec<f64> {
    match *geometry {
        Geometry::Plane => vec![],
        Geometry::Sphere { radius } => vec![radius],
        Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
            vec![radius, half_length]
        }
        Geometry::Ellipsoid { radii } => radii.to_array().to_vec(),
        Geometry::Box { half_extents } => half_extents.to_array().to_vec(),
    }
}

fn label(kind: &str, name: &str, i: usize) -> String {
    if name.is_empty() { format!("{kind} #{i}") } else { format!("{kind} '{name}'") }
}

fn finite(element: &str, quantity: &'static str, value: f64) -> Result<(), BuildError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(BuildError::NotFinite { element: element.into(), quantity, value })
}

fn finite_vector(element: &str, quantity: &'static str, v: DVec3) -> Result<(), BuildError> {
    v.to_array().into_iter().try_for_each(|x| finite(element, quantity, x))
}

fn not_negative(element: &str, quantity: &'static str, value: f64) -> Result<(), BuildError> {
    finite(element, quantity, value)?;
    if value < 0.0 {
        return Err(BuildError::Negative { element: element.into(), quantity, value });
    }
    Ok(())
}

fn length(
    element: &str,
    quantity: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), BuildError> {
    if found == expected {
        return Ok(());
    }
    Err(BuildError::WrongLength { element: element.into(), quantity, found, expected })
}

fn unique_names<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), BuildError> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::DuplicateName { kind, name: name.into() });
        }
    }
    Ok(())
}

fn check_inertia(element: &str, link: &Link) -> Result<(), BuildError> {
    let i = &link.inertia;
    finite(element, "mass", i.mass)?;
    finite_vector(element, "centre of mass", i.center_of_mass)?;
    for x in i.inertia.to_cols_array() {
        finite(element, "inertia", x)?;
    }
    let problem = match i.validate(INERTIA_TOLERANCE) {
        Ok(()) => return Ok(()),
        Err(InertiaError::NegativeMass(m)) => {
            return Err(BuildError::Negative {
                element: element.into(),
                quantity: "mass",
                value: m,
            });
        }
        Err(InertiaError::NotPositive(p)) => {
            format!("inertia tensor has the negative principal moment {p}")
        }
        Err(InertiaError::TriangleInequality([a, b, c])) => format!(
            "principal moments of inertia {a}, {b}, {c} violate A + B >= C; no body has such an inertia"
        ),
        Err(e) => format!("inertia is not valid: {e:?}"),
    };
    Err(BuildError::BadInertia { element: element.into(), problem })
}

fn check_joint_numbers(element: &str, j: &Joint) -> Result<(), BuildError> {
    let (n, d) = (j.kind.position_count(), j.kind.dof());
    if let JointKind::General { subspace } = &j.kind
        && subspace.len() > 6
    {
        return length(element, "subspace", subspace.len(), 6);
    }
    length(element, "start", j.start.len(), n)?;
    let scalar = if j.kind.has_scalar_coordinates() { n } else { 0 };
    length(element, "reference", j.reference.len(), scalar)?;
    length(element, "armature", j.armature.len(), d)?;
    length(element, "limits", j.limits.len(), n)?;
    length(element, "damping", j.damping.dof(), d)?;
    for &x in &j.start {
        finite(element, "start", x)?;
    }
    for &x in &j.reference {
        finite(element, "reference", x)?;
    }
    for &x in &j.armature {
        not_negative(element, "armature", x)?;
    }
    positive_semi_definite(element, "damping", d, j.damping.as_slice())?;
    for l in j.limits.iter().flatten() {
        if !l.lower.is_nan() && !l.upper.is_nan() && l.lower <= l.upper {
            continue;
        }
        return Err(BuildError::EmptyRange {
            element: element.into(),
            lower: l.lower,
            upper: l.upper,
        });
    }
    if let Some(s) = &j.spring {
        length(element, "stiffness", s.stiffness.dof(), d)?;
        length(element, "spring rest", s.rest.len(), n)?;
        for &x in &s.rest {
            finite(element, "spring rest", x)?;
        }
        positive_semi_definite(element, "stiffness", d, s.stiffness.as_slice())?;
    }
    Ok(())
}

/// Checks a symmetric matrix given by rows; a negative diagonal entry is reported as such.
fn positive_semi_definite(
    element: &str,
    quantity: &'static str,
    n: usize,
    rows: &[f64],
) -> Result<(), BuildError> {
    for &x in rows {
        finite(element, quantity, x)?;
    }
    for i in 0..n {
        not_negative(element, quantity, rows[i * n + i])?;
    }
    let diagonal = (0..n).all(|i| (0..n).all(|j| i == j || rows[i * n + j] == 0.0));
    if diagonal {
        return Ok(());
    }
    let m = dense::Matrix::from_fn(n, n, |i, j| rows[i * n + j]);
    let asymmetry = m.sub(&m.transpose()).max_abs();
    let smallest = dense::symmetric_eigen(&m).and_then(|(e, _)| e.first().copied()).unwrap_or(0.0);
    let slack = MATRIX_TOLERANCE * m.max_abs();
    let value = if asymmetry > slack { asymmetry } else { smallest };
    if asymmetry > slack || smallest < -slack {
        return Err(BuildError::NotPositiveSemiDefinite {
            element: element.into(),
            quantity,
            value,
        });
    }
    Ok(())
}

fn unit_axis(element: &str, quantity: &'static str, axis: DVec3) -> Result<DVec3, BuildError> {
    finite_vector(element, quantity, axis)?;
    let n = axis.length();
    if n > 0.0 && n.is_finite() {
        // Already of unit length to rounding: keep the user's digits.
        return Ok(if (n - 1.0).abs() < 4.0 * f64::EPSILON { axis } else { axis / n });
    }
    Err(BuildError::DegenerateAxis {
        element: element.into(),
        quantity,
        value: format!("({} {} {}), which has no direction", axis.x, axis.y, axis.z),
    })
}

fn normalized_kind(element: &str, kind: &JointKind) -> Result<JointKind, BuildError> {
    Ok(match kind {
        JointKind::Revolute { axis } => {
            JointKind::Revolute { axis: unit_axis(element, "axis", *axis)? }
        }
        JointKind::Prismatic { axis } => {
            JointKind::Prismatic { axis: unit_axis(element, "axis", *axis)? }
        }
        JointKind::Cylindrical { axis } => {
            JointKind::Cylindrical { axis: unit_axis(element, "axis", *axis)? }
        }
        JointKind::Universal { first, second } => {
            let first = unit_axis(element, "first axis", *first)?;
            let second = unit_axis(element, "second axis", *second)?;
            if first.cross(second).length() < 1e-9 {
                return Err(BuildError::DegenerateAxis {
                    element: element.into(),
                    quantity: "second axis",
                    value: "parallel to the first".into(),
                });
            }
            JointKind::Universal { first, second }
        }
        JointKind::General { subspace } => {
            let m = dense::Matrix::from_fn(6, subspace.len(), |i, j| subspace[j].to_array()[i]);
            for &x in m.as_slice() {
                finite(element, "subspace", x)?;
            }
            let rank = dense::svd(&m).map_or(0, |d| dense::numerical_rank(&d.s, 1e-12));
            if rank < subspace.len() {
                return Err(BuildError::DegenerateAxis {
                    element: element.into(),
                    quantity: "subspace",
                    value: format!("of rank {rank} with {} columns", subspace.len()),
                });
            }
            kind.clone()
        }
        JointKind::Fixed | JointKind::Spherical | JointKind::Planar | JointKind::Free => {
            kind.clone()
        }
    })
}

fn normalized_pose(element: &str, pose: &Pose) -> Result<Pose, BuildError> {
    finite_vector(element, "position", pose.translation)?;
    for x in pose.rotation.to_array() {
        finite(element, "quaternion", x)?;
    }
    let n = pose.rotation.length();
    if n == 0.0 || !n.is_finite() {
        return Err(BuildError::DegenerateAxis {
            element: element.into(),
            quantity: "quaternion",
            value: format!("of length {n}"),
        });
    }
    // Already of unit length to rounding: keep the user's digits.
    Ok(if (n - 1.0).abs() < 4.0 * f64::EPSILON { *pose } else { pose.normalized() })
}

fn normalize_quaternion(
    element: &str,
    quantity: &'static str,
    kind: &JointKind,
    q: &mut [f64],
) -> Result<(), BuildError> {
    let q = match kind {
        JointKind::Spherical => q,
        JointKind::Free => &mut q[3..],
        _ => return Ok(()),
    };
    let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if n == 0.0 || !n.is_finite() {
        return Err(BuildError::DegenerateAxis {
            element: element.into(),
            quantity,
            value: format!("a quaternion of length {n}"),
        });
    }
    if (n - 1.0).abs() > 4.0 * f64::EPSILON {
        q.iter_mut().for_each(|x| *x /= n);
    }
    Ok(())
}
