//! A side file's springs, start positions and loops put into a model.

use forks_mechanism::{
    Joint, JointId, JointKind, JointMatrix, JointSpring, Mechanism, MechanismBuilder,
    SpanningForest, lie::Digits,
};

use super::{JointEntry, Numbers, SideFile, close};
use crate::{Effect, Import, ImportError, Note, read::label, redundant};

impl SideFile {
    /// Adds what the file says to a model; loops are assembled from the start pose, which becomes
    /// the assembled one.
    ///
    /// Springs without `rest` rest at the (assembled) start pose, unless the joint has a spring in
    /// the model already.
    ///
    /// # Errors
    /// Joints and links that the model does not have, lists of a wrong length, loops that cannot be
    /// closed.
    pub fn apply(&self, import: Import) -> Result<Import, ImportError> {
        let Import { mechanism, mut notes, mut effectors, order } = import;
        let mut b = MechanismBuilder::from_mechanism(&mechanism);
        let joints = self.find_joints(&mechanism)?;
        for (entry, &id) in self.joints.iter().zip(&joints) {
            entry.put_numbers(&mut b.joints_mut()[id.index()])?;
        }
        for entry in &self.loops {
            let joint = close::joint(entry, &mechanism)?;
            b.add_joint(joint);
        }
        let file = self.file.clone().unwrap_or_else(|| "side file".into());
        let failed = |source| ImportError::Mechanism { file: file.clone(), source };
        let mut assembled = b.build().map_err(failed)?;
        let mut moved = None;
        let mut released = None;
        if !self.loops.is_empty() {
            let (m, largest, release) = close::assembled(&assembled, &self.loops)?;
            (assembled, moved) = (m, Some(largest));
            released = release.map(|r| redundant::notes(&r, &assembled, self.file.as_deref()));
        }
        let mut b = MechanismBuilder::from_mechanism(&assembled);
        for (entry, &id) in self.joints.iter().zip(&joints) {
            entry.put_spring(&mut b.joints_mut()[id.index()])?;
        }
        let first = b.joints().len() - self.loops.len();
        for (entry, j) in self.loops.iter().zip(&mut b.joints_mut()[first..]) {
            close::put_spring(entry, j)?;
        }
        self.check_effectors(&mechanism)?;
        if self.file.is_some() {
            notes.push(self.note(moved));
        }
        notes.extend(released.into_iter().flatten());
        effectors.extend(self.effectors.iter().map(|(_, name)| name.clone()));
        Ok(Import { mechanism: b.build().map_err(failed)?, notes, effectors, order })
    }

    /// The tree joints that the entries are about.
    fn find_joints(&self, m: &Mechanism) -> Result<Vec<JointId>, ImportError> {
        let find = |e: &JointEntry| {
            let id = m.find_joint(&e.name).ok_or_else(|| ImportError::UnknownReference {
                at: Box::new(e.at.clone()),
                element: "joints".into(),
                attribute: "name".into(),
                value: e.name.clone(),
                kind: "joint",
            })?;
            let problem = if is_closure(m.forest(), id) && e.start.is_some() {
                "closes a loop; its start follows from the other joints"
            } else if m.joint(id).dof() == 0 {
                "is fixed; it has no coordinate"
            } else {
                return Ok(id);
            };
            Err(e.error(problem))
        };
        self.joints.iter().map(find).collect()
    }

    fn check_effectors(&self, m: &Mechanism) -> Result<(), ImportError> {
        for (at, name) in &self.effectors {
            let known = match name.strip_prefix("site:") {
                Some(site) => m.find_frame(site).is_some(),
                None => m.find_link(name).is_some(),
            };
            if !known {
                return Err(ImportError::UnknownReference {
                    at: Box::new(at.clone()),
                    element: "side file".into(),
                    attribute: "effectors".into(),
                    value: name.clone(),
                    kind: "link or site",
                });
            }
        }
        Ok(())
    }

    /// What the file changed; `moved` is the largest motion of a coordinate while its loops were
    /// closed.
    fn note(&self, moved: Option<f64>) -> Note {
        let count = |n: usize, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            n => Some(format!("{n} {what}s")),
        };
        let parts = [
            count(self.joints.len(), "joint"),
            count(self.loops.len(), "loop"),
            count(self.effectors.len(), "end effector"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let adds = if parts.is_empty() { "nothing".into() } else { parts.join(", ") };
        let start = moved.map_or(String::new(), |x| {
            format!(
                "; the start pose is the assembled one, joints moved by up to {} rad or m",
                Digits(x)
            )
        });
        let reason = format!("adds to the model: {adds}{start}");
        let mut note = Note::new("side file", "", Effect::Approximated, reason);
        note.file.clone_from(&self.file);
        note
    }
}

fn is_closure(forest: &SpanningForest, id: JointId) -> bool {
    forest.closures().contains(&id)
}

impl JointEntry {
    fn error(&self, problem: &str) -> ImportError {
        ImportError::Element {
            at: Box::new(self.at.clone()),
            element: label("joint", Some(&self.name)),
            problem: problem.into(),
        }
    }

    fn put_numbers(&self, j: &mut Joint) -> Result<(), ImportError> {
        let element = label("joint", Some(&self.name));
        if let Some(n) = &self.damping {
            j.damping = n.diagonal(j.dof(), &element)?;
        }
        if let Some(n) = &self.armature {
            j.armature = n.per_coordinate(j.dof(), &element)?;
        }
        if let Some(n) = &self.friction {
            j.friction = n.per_coordinate(j.dof(), &element)?;
        }
        if let Some(n) = &self.start {
            j.start = n.positions(&j.kind, &element)?;
        }
        Ok(())
    }

    /// The spring; its rest is the start pose unless it is given or was there before.
    fn put_spring(&self, j: &mut Joint) -> Result<(), ImportError> {
        let element = label("joint", Some(&self.name));
        if let Some(n) = &self.stiffness {
            let stiffness = n.diagonal(j.dof(), &element)?;
            let before = j.spring.take().map(|s| s.rest);
            let rest = before.unwrap_or_else(|| j.start.clone());
            j.spring = Some(JointSpring { stiffness, rest });
        }
        let Some(n) = &self.rest else { return Ok(()) };
        let rest = n.positions(&j.kind, &element)?;
        match &mut j.spring {
            Some(s) => s.rest = rest,
            None => return Err(self.error("has a rest position but no stiffness")),
        }
        Ok(())
    }
}

impl Numbers {
    fn invalid(&self, element: &str, problem: String) -> ImportError {
        let words: Vec<String> = self.list.iter().map(f64::to_string).collect();
        ImportError::Value {
            at: Box::new(self.at.clone()),
            element: element.into(),
            attribute: self.key.into(),
            value: words.join(", "),
            problem,
        }
    }

    fn wrong_count(&self, element: &str, expected: &str) -> ImportError {
        let found = self.list.len();
        self.invalid(element, format!("has {found} numbers, expected {expected}"))
    }

    /// All positions of a joint; quaternions (w, x, y, z) are scaled to unit length later.
    fn positions(&self, kind: &JointKind, element: &str) -> Result<Vec<f64>, ImportError> {
        let n = kind.position_count();
        if self.list.len() != n {
            return Err(self.wrong_count(element, &n.to_string()));
        }
        let quaternion = match kind {
            JointKind::Spherical => &self.list[..],
            JointKind::Free => &self.list[3..],
            _ => return Ok(self.list.clone()),
        };
        let square: f64 = quaternion.iter().map(|x| x * x).sum();
        if square > 0.0 && square.is_finite() {
            return Ok(self.list.clone());
        }
        Err(self.invalid(element, format!("has a quaternion of length {}", Digits(square.sqrt()))))
    }

    /// One number for all coordinates, or one for each.
    fn per_coordinate(&self, dof: usize, element: &str) -> Result<Vec<f64>, ImportError> {
        match self.list[..] {
            [x] => Ok(vec![x; dof]),
            _ if self.list.len() == dof => Ok(self.list.clone()),
            _ => Err(self.wrong_count(element, &format!("1 or {dof}"))),
        }
    }

    pub(super) fn diagonal(&self, dof: usize, element: &str) -> Result<JointMatrix, ImportError> {
        Ok(JointMatrix::diagonal(&self.per_coordinate(dof, element)?))
    }
}
