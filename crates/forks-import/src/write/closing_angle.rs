//! Coordinates of loop-closing hinges. MJCF's closures have none, but around a loop whose axes are
//! all parallel the angles add up, so that the angle of the hinge that closes it is a sum of the
//! others'.

use forks_mechanism::{Combination, CombinationSpring, Coordinate, JointId, JointKind};

use super::{WriteError, Writer};
use crate::note::Effect;

/// Sine of the largest angle between axes that are parallel.
const PARALLEL: f64 = 1e-12;

impl Writer<'_> {
    /// The angle of a loop-closing hinge from tree coordinates; `None` where its loop turns about
    /// other axes.
    pub(crate) fn closing_angle(&self, id: JointId) -> Option<Combination> {
        let j = self.m.joint(id);
        let JointKind::Revolute { axis } = j.kind else { return None };
        let in_world = |link: forks_mechanism::LinkId| self.poses[link.index()].rotation;
        let along = in_world(j.parent) * (j.parent_from_joint.rotation * axis);
        let mut out =
            Combination { terms: vec![], offset: self.start[self.m.position_range(id).start] };
        for (e, outward) in self.m.forest().path_between(j.parent, j.child) {
            let t = self.m.joint(e.joint);
            let (index, axis) = match t.kind {
                JointKind::Fixed | JointKind::Prismatic { .. } => continue,
                JointKind::Revolute { axis } => (0, axis),
                JointKind::Cylindrical { axis } => (1, axis),
                _ => return None,
            };
            let other = in_world(t.parent) * (t.parent_from_joint.rotation * axis);
            if other.cross(along).length() > PARALLEL {
                return None;
            }
            // What turns the child's side adds to the angle, what turns the parent's side takes
            // from it.
            let sign = other.dot(along).signum() * if outward == e.reversed { -1.0 } else { 1.0 };
            let coordinate = Coordinate { joint: e.joint, index };
            out.offset -= sign * self.start[self.m.position_index(coordinate)];
            out.terms.push((coordinate, sign));
        }
        (!out.terms.is_empty()).then_some(out)
    }

    /// The combination with coordinates of the tree only; `None` where one of a closure cannot be
    /// replaced.
    pub(crate) fn on_tree(&self, c: &Combination) -> Option<Combination> {
        let mut out = Combination { terms: vec![], offset: c.offset };
        for &(coordinate, a) in &c.terms {
            if !self.m.forest().closures().contains(&coordinate.joint) {
                out.terms.push((coordinate, a));
                continue;
            }
            let angle = self.closing_angle(coordinate.joint)?;
            out.offset += a * angle.offset;
            out.terms.extend(angle.terms.iter().map(|&(q, s)| (q, a * s)));
        }
        Some(out)
    }

    /// Spring, damping and rotor inertia of a loop-closing joint.
    pub(crate) fn closure_forces(&mut self, id: JointId) -> Result<(), WriteError> {
        let j = self.m.joint(id);
        let label = self.label(id);
        if j.armature.iter().any(|&a| a != 0.0) {
            self.refuse(&label, "armature", "a loop-closing joint has no rotor inertia in MJCF")?;
        }
        let spring = j.spring.as_ref().filter(|s| !s.stiffness.is_zero());
        if spring.is_none() && j.damping.is_zero() {
            return Ok(());
        }
        let Some(combination) = self.closing_angle(id) else {
            let reason = "a loop-closing joint has no spring and damping in MJCF, unless all axes \
                of its loop are parallel";
            return self.refuse(&label, "spring", reason);
        };
        let reason = "its spring and damping act on the sum of the other angles of its loop";
        self.note(label, "spring", Effect::Approximated, reason);
        self.spring(&CombinationSpring {
            name: self.free_tendon_name(&j.name),
            combination,
            stiffness: spring.map_or(0.0, |s| s.stiffness.get(0, 0)),
            damping: j.damping.get(0, 0),
            rest: spring.map_or(0.0, |s| s.rest[0]),
        })
    }
}
