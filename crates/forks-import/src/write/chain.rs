//! Which links become bodies, and which joints move each body relative to the one that carries it.
//!
//! MuJoCo's joints of one body act one after the other about axes and anchors given in the body's
//! frame in the start pose. A chain of tree joints through massless links marked auxiliary is such
//! a list, whatever its frames are: with A the joint's frame in the last body in the start pose,
//! anchor = A.translation, axis = A.rotation · axis.

use forks_mechanism::{
    Cable, JointId, JointKind, LinkId, Mechanism, TreeEdge,
    lie::{
        Pose, Twist,
        glam::{DQuat, DVec3},
        so3::{quaternion_from_wxyz, wxyz_from_quaternion},
    },
};

use super::{WriteError, Writer, unsupported};
use crate::note::Effect;

/// An MJCF joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Motion {
    Hinge(DVec3),
    Slide(DVec3),
    Ball,
    Free,
}

/// A joint of the mechanism and the MJCF joints that it becomes, in MuJoCo's order.
#[derive(Clone, Debug)]
pub(crate) struct WrittenJoint {
    pub(crate) id: JointId,
    /// Anchor in the body's frame in the start pose.
    pub(crate) anchor: DVec3,
    /// Motions about body axes; coordinate i of the joint is motion i.
    pub(crate) motions: Vec<Motion>,
    /// For balls and free joints: written = before · (own or its inverse) · after.
    before: Pose,
    after: Pose,
    inverted: bool,
}

impl WrittenJoint {
    /// Positions of the joint in MJCF's coordinates.
    pub(crate) fn written_positions(&self, m: &Mechanism, q: &[f64]) -> Vec<f64> {
        let kind = &m.joint(self.id).kind;
        if kind.has_scalar_coordinates() || self.plain() || *kind == JointKind::Planar {
            return q.to_vec();
        }
        let own = kind.motion(q);
        let own = if self.inverted { own.inverse() } else { own };
        let p = self.before * own * self.after;
        let mut out =
            if *kind == JointKind::Free { p.translation.to_array().to_vec() } else { vec![] };
        out.extend(wxyz_from_quaternion(p.rotation));
        out
    }

    /// Coordinates are the mechanism's own.
    pub(crate) fn plain(&self) -> bool {
        !self.inverted && self.before == Pose::IDENTITY && self.after == Pose::IDENTITY
    }
}

/// A body with the joints that move it.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) link: LinkId,
    /// The link whose body carries this one.
    pub(crate) carrier: LinkId,
    /// Pose in the carrier in the start pose.
    pub(crate) carrier_from_body: Pose,
    /// Joints in order, outward; empty for a welded body.
    pub(crate) joints: Vec<WrittenJoint>,
}

impl Writer<'_> {
    /// All bodies in depth-first order.
    pub(crate) fn find_chains(&mut self) -> Result<Vec<Chain>, WriteError> {
        let m = self.m;
        let through = passing_through(m);
        let mut chains = Vec::new();
        let mut edges: Vec<TreeEdge> = Vec::new();
        for e in m.forest().edges() {
            edges.push(*e);
            if through[e.outer.index()] {
                continue;
            }
            if m.link(e.outer).auxiliary {
                let name = format!("link '{}'", m.link(e.outer).name);
                self.note(
                    name,
                    "auxiliary",
                    Effect::Approximated,
                    "the link becomes an ordinary body",
                );
            }
            chains.push(self.chain(&edges)?);
            edges.clear();
        }
        Ok(chains)
    }

    fn chain(&mut self, edges: &[TreeEdge]) -> Result<Chain, WriteError> {
        let mut joints = Vec::new();
        // From the body inwards: body_from_frame is the frame of the link outside the joint, in the
        // start pose.
        let mut body_from_outer = Pose::IDENTITY;
        for e in edges.iter().rev() {
            let j = self.m.joint(e.joint);
            let q = self.start[self.m.position_range(e.joint)].to_vec();
            let (outer_frame, inner_frame) = if e.reversed {
                (j.parent_from_joint, j.child_from_joint)
            } else {
                (j.child_from_joint, j.parent_from_joint)
            };
            if j.dof() > 0 {
                joints.push(self.written_joint(
                    e,
                    body_from_outer * outer_frame,
                    edges.len() == 1,
                )?);
            }
            let relative: Vec<f64> =
                q.iter().enumerate().map(|(i, q)| q - j.reference.get(i).unwrap_or(&0.0)).collect();
            let motion = j.kind.motion(&relative);
            let outward = if e.reversed { motion.inverse() } else { motion };
            body_from_outer =
                body_from_outer * (outer_frame * outward.inverse() * inner_frame.inverse());
        }
        joints.reverse();
        let last = edges.last().expect("a chain has an edge");
        let body_pose = pose_in_carrier(self.m, edges, &self.start);
        Ok(Chain {
            link: last.outer,
            carrier: edges[0].inner,
            carrier_from_body: body_pose,
            joints,
        })
    }

    /// `frame` is the joint's outer frame in the body in the start pose.
    fn written_joint(
        &mut self,
        e: &TreeEdge,
        frame: Pose,
        alone: bool,
    ) -> Result<WrittenJoint, WriteError> {
        let j = self.m.joint(e.joint);
        let sign = if e.reversed { -1.0 } else { 1.0 };
        let turned = |axis: DVec3| frame.rotation * axis * sign;
        let start = &self.start[self.m.position_range(e.joint)];
        let mut out = WrittenJoint {
            id: e.joint,
            anchor: frame.translation,
            motions: vec![],
            before: Pose::IDENTITY,
            after: Pose::IDENTITY,
            inverted: false,
        };
        let label = self.label(e.joint);
        match &j.kind {
            JointKind::Fixed => {}
            JointKind::Revolute { axis } => out.motions = vec![Motion::Hinge(turned(*axis))],
            JointKind::Prismatic { axis } => out.motions = vec![Motion::Slide(turned(*axis))],
            JointKind::Cylindrical { axis } => {
                out.motions = vec![Motion::Slide(turned(*axis)), Motion::Hinge(turned(*axis))];
            }
            JointKind::Universal { .. } | JointKind::Planar if e.reversed => {
                return Err(unsupported(
                    label,
                    "its parent hangs on its child, and turned round it has other coordinates",
                ));
            }
            JointKind::Universal { first, second } => {
                // In the start pose the first axis is seen through the second rotation.
                let q1 = start[1] - j.reference[1];
                let back = forks_mechanism::lie::so3::exp_rotation(*second * -q1);
                out.motions =
                    vec![Motion::Hinge(turned(back * *first)), Motion::Hinge(turned(*second))];
            }
            JointKind::Planar => {
                let back = forks_mechanism::lie::so3::exp_rotation(DVec3::Z * -start[2]);
                out.motions = vec![
                    Motion::Slide(turned(back * DVec3::X)),
                    Motion::Slide(turned(back * DVec3::Y)),
                    Motion::Hinge(turned(DVec3::Z)),
                ];
            }
            JointKind::Spherical => self.write_ball(e, frame.rotation, start.to_vec(), &mut out),
            JointKind::Free => self.write_free(e, alone, &label, &mut out)?,
            JointKind::General { subspace } => {
                if !general(subspace, frame, sign, &mut out) {
                    return Err(unsupported(
                        label,
                        "MJCF has no joints along screws, and none of unequal units",
                    ));
                }
                if let [Motion::Hinge(_) | Motion::Slide(_)] = out.motions[..] {
                    let reason = "the joint becomes a hinge or a slide";
                    self.note(label.as_str(), "type", Effect::Approximated, reason);
                }
            }
        }
        if out.motions.len() > 1 {
            self.note(
                label,
                "type",
                Effect::Approximated,
                "the joint becomes a chain of hinges and slides",
            );
        }
        Ok(out)
    }

    /// written = R start⁻¹ q R⁻¹ (or its inverse, seen from the other side).
    fn write_ball(&mut self, e: &TreeEdge, r: DQuat, start: Vec<f64>, out: &mut WrittenJoint) {
        out.motions = vec![Motion::Ball];
        let s = quaternion_from_wxyz([start[0], start[1], start[2], start[3]]);
        out.inverted = e.reversed;
        let (before, after) =
            if e.reversed { (r * s, r.conjugate()) } else { (r * s.conjugate(), r.conjugate()) };
        (out.before, out.after) = (Pose::from_rotation(before), Pose::from_rotation(after));
        if !out.plain() {
            let label = self.label(e.joint);
            self.note(
                label,
                "positions",
                Effect::Approximated,
                "the quaternion is relative to the start pose, in body axes",
            );
        }
    }

    /// written = pose of the body in the world.
    fn write_free(
        &mut self,
        e: &TreeEdge,
        alone: bool,
        label: &str,
        out: &mut WrittenJoint,
    ) -> Result<(), WriteError> {
        if e.inner != LinkId::WORLD || !alone {
            return Err(unsupported(
                label,
                "MJCF has free joints only between the world and a body",
            ));
        }
        let j = self.m.joint(e.joint);
        out.motions = vec![Motion::Free];
        out.inverted = e.reversed;
        (out.before, out.after) = if e.reversed {
            (j.child_from_joint, j.parent_from_joint.inverse())
        } else {
            (j.parent_from_joint, j.child_from_joint.inverse())
        };
        if !out.plain() {
            self.note(
                label,
                "positions",
                Effect::Approximated,
                "the coordinates are the pose of the body in the world",
            );
        }
        Ok(())
    }
}

/// Unit slides, or one unit hinge without pitch, of a general joint; `false` where it is neither.
fn general(subspace: &[Twist], frame: Pose, sign: f64, out: &mut WrittenJoint) -> bool {
    let unit = |v: DVec3| (v.length() - 1.0).abs() < 4.0 * f64::EPSILON;
    if let [s] = subspace
        && unit(s.angular)
        && s.angular.dot(s.linear).abs() < 4.0 * f64::EPSILON * (1.0 + s.linear.length())
    {
        // v = −ω × p for the point p of the axis that is nearest.
        out.anchor = frame.transform_point(s.angular.cross(s.linear));
        out.motions = vec![Motion::Hinge(frame.rotation * s.angular * sign)];
        return true;
    }
    if subspace.iter().all(|s| s.angular == DVec3::ZERO && unit(s.linear)) {
        let slide = |s: &Twist| Motion::Slide(frame.rotation * s.linear * sign);
        out.motions = subspace.iter().map(slide).collect();
        return true;
    }
    false
}

/// Pose of the last link of a chain in the first one's carrier, in the start pose.
fn pose_in_carrier(m: &Mechanism, edges: &[TreeEdge], start: &[f64]) -> Pose {
    edges
        .iter()
        .map(|e| {
            let p = m.joint(e.joint).parent_from_child(&start[m.position_range(e.joint)]);
            if e.reversed { p.inverse() } else { p }
        })
        .reduce(|a, b| a * b)
        .unwrap_or(Pose::IDENTITY)
}

/// True for massless auxiliary links with one joint on either side and nothing else on them.
fn passing_through(m: &Mechanism) -> Vec<bool> {
    let mut out: Vec<bool> = m.links().iter().map(|l| l.auxiliary && l.inertia.is_zero()).collect();
    let mut joints = vec![0; out.len()];
    for j in m.joints() {
        for l in [j.parent, j.child] {
            joints[l.index()] += 1;
            out[l.index()] &= j.dof() > 0 && j.kind != JointKind::Free;
        }
    }
    let mut carries = vec![false; out.len()];
    m.forest().edges().iter().for_each(|e| carries[e.inner.index()] = true);
    m.frames().iter().for_each(|f| out[f.link.index()] = false);
    m.shapes().iter().for_each(|s| out[s.link.index()] = false);
    m.cables().iter().flat_map(Cable::mentioned_links).for_each(|l| out[l.index()] = false);
    (0..out.len()).map(|i| out[i] && joints[i] == 2 && carries[i]).collect()
}
