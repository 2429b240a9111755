//! `<equality>`: loop-closing joints as connect and weld; couplings follow.

use forks_mechanism::{
    Joint, JointId, JointKind, LinkId,
    kinematics::loops::closure_gap,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
        so3::wxyz_from_quaternion,
    },
};

use super::{
    WriteError, Writer,
    bodies::pose_attributes,
    unsupported,
    xml::{Xml, numbers},
};
use crate::note::Effect;

/// Loops that are open by more than this times the mechanism's size in the start pose keep both
/// anchors.
const CLOSED: f64 = 1e-14;

impl Writer<'_> {
    pub(crate) fn equalities(&mut self) -> Result<Xml, WriteError> {
        let mut x = Xml::new(2);
        for &id in self.m.forest().closures() {
            self.closure(id, &mut x)?;
        }
        self.couplings(&mut x)?;
        Ok(x)
    }

    fn closure(&mut self, id: JointId, x: &mut Xml) -> Result<(), WriteError> {
        let j = self.m.joint(id);
        let label = self.label(id);
        self.closure_forces(id)?;
        if j.limits.iter().any(Option::is_some) {
            self.note(
                label.as_str(),
                "limits",
                Effect::Ignored,
                "a loop-closing joint has no limits in MJCF",
            );
        }
        if j.friction.iter().any(|f| *f != 0.0) {
            let reason = "a loop-closing joint has no dry friction in MJCF";
            self.refuse(&label, "friction", reason)?;
        }
        match &j.kind {
            JointKind::Fixed => self.weld(j, x),
            JointKind::Spherical => self.connect(id, j, DVec3::ZERO, &j.name, x),
            JointKind::Revolute { axis } => {
                self.note(
                    label,
                    "type",
                    Effect::Approximated,
                    "the revolute joint becomes two spherical ones on its axis",
                );
                let r = self.size;
                // Far enough apart to hold the axis, on the mechanism's own scale.
                for (k, side) in [-0.5, 0.5].into_iter().enumerate() {
                    let name =
                        if j.name.is_empty() { String::new() } else { format!("{}/{k}", j.name) };
                    self.connect(id, j, *axis * (side * r), &name, x);
                }
            }
            kind => {
                let reason = format!(
                    "MJCF closes loops with fixed and spherical joints, not with {} ones",
                    kind.name()
                );
                return Err(unsupported(label, &reason));
            }
        }
        Ok(())
    }

    /// Ties the point `offset` of the joint's frames together.
    fn connect(&mut self, id: JointId, j: &Joint, offset: DVec3, name: &str, x: &mut Xml) {
        let point = |frame: &Pose| *frame * Pose::from_translation(offset);
        let (a, b) = (point(&j.parent_from_joint), point(&j.child_from_joint));
        let mut attributes = self.equality(name);
        if let Some(sites) = self.existing_sites(j.parent, &a, j.child, &b) {
            attributes.extend(sites);
        } else if self.closed(id) {
            attributes.push(("body1", self.m.link(j.parent).name.clone()));
            attributes.push(("body2", self.m.link(j.child).name.clone()));
            attributes.push(("anchor", numbers(&a.translation.to_array())));
        } else {
            for (key, link, pose) in [("site1", j.parent, &a), ("site2", j.child, &b)] {
                attributes.push((key, self.add_site(id, link, pose)));
            }
        }
        x.empty("connect", &attributes);
    }

    fn weld(&mut self, j: &Joint, x: &mut Xml) {
        let mut attributes = self.equality(&j.name);
        let (a, b) = (j.parent_from_joint, j.child_from_joint);
        if let Some(sites) = self.existing_sites(j.parent, &a, j.child, &b) {
            attributes.extend(sites);
        } else {
            let rotation = if b.rotation == DQuat::IDENTITY {
                a.rotation
            } else {
                a.rotation * b.rotation.conjugate()
            };
            let mut relative = a.translation.to_array().to_vec();
            relative.extend(wxyz_from_quaternion(rotation));
            attributes.push(("body1", self.m.link(j.parent).name.clone()));
            attributes.push(("body2", self.m.link(j.child).name.clone()));
            attributes.push(("relpose", numbers(&relative)));
            if b.translation != DVec3::ZERO {
                attributes.push(("anchor", numbers(&b.translation.to_array())));
            }
        }
        x.empty("weld", &attributes);
    }

    /// What all equalities begin with: the name, if there is one, and how stiff they are.
    pub(crate) fn equality(&mut self, name: &str) -> Vec<(&'static str, String)> {
        let name = self.equality_name(name);
        let mut out = if name.is_empty() { vec![] } else { vec![("name", name)] };
        if let Some(time) = self.scene.and_then(|s| s.equality_time) {
            out.push(("solref", numbers(&[time, 1.0])));
        }
        out
    }

    /// Named frames that are exactly where the joint's frames are.
    fn existing_sites(
        &self,
        parent: LinkId,
        a: &Pose,
        child: LinkId,
        b: &Pose,
    ) -> Option<[(&'static str, String); 2]> {
        let find = |link: LinkId, pose: &Pose| {
            let f =
                self.m.frames().iter().find(|f| f.link == link && f.link_from_frame == *pose)?;
            Some(f.name.clone())
        };
        Some([("site1", find(parent, a)?), ("site2", find(child, b)?)])
    }

    /// The loop is closed in the start pose, so that one anchor gives the other.
    fn closed(&self, id: JointId) -> bool {
        let gap = closure_gap(self.m, &self.start, &self.poses, id);
        gap.linear.length() <= CLOSED * self.size
    }

    fn add_site(&mut self, id: JointId, link: LinkId, pose: &Pose) -> String {
        let label = self.label(id);
        let name =
            self.site_name(&format!("{}/{}", self.m.joint_label(id), self.m.link(link).name));
        self.note(
            label,
            "sites",
            Effect::Approximated,
            "the loop is open in the start pose and gets two named frames",
        );
        let mut x = Xml::new(3);
        let mut attributes = vec![("name", name.clone())];
        attributes.extend(pose_attributes(pose));
        x.empty("site", &attributes);
        self.sites.push((link.index(), x.text));
        name
    }
}
