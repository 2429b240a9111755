//! `<keyframe>`: named start states.

use forks_mechanism::Keyframe;

use super::{Reader, assemble::Model, joint::JointType, orientation::unit_quaternion};
use crate::{ImportError, note::Effect, xml::Element};
use forks_mechanism::lie::so3::wxyz_from_quaternion;

impl<'a> Reader<'a> {
    pub(crate) fn read_keyframes(
        &mut self,
        section: &'a Element,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        for e in self.tree.children(section) {
            if e.tag != "key" {
                self.unknown_element(e, "keyframe")?;
                continue;
            }
            let a = self.attributes("key", e)?;
            let mut positions = model.start.clone();
            let given = a.numbers("qpos", 0, usize::MAX)?.unwrap_or_default();
            let (n, count) = (positions.len(), given.len());
            if count > n {
                let problem = format!("qpos has {count} numbers, but the model has {n} positions");
                return Err(a.error(problem));
            }
            if (1..n).contains(&count) {
                let reason =
                    format!("it has {count} of {n} numbers; the others are those of the start");
                self.notes.add(a.label(), "qpos", Effect::Approximated, &reason, &a.at);
            }
            positions[..count].copy_from_slice(&given);
            let mut at = 0;
            for j in &model.joints {
                let (first, count) = match j.raw.kind {
                    JointType::Free => (3, 7),
                    JointType::Ball => (0, 4),
                    _ => (0, 1),
                };
                if count > 1 {
                    let q = &mut positions[at + first..at + first + 4];
                    let unit = unit_quaternion([q[0], q[1], q[2], q[3]]).ok_or_else(|| {
                        a.error(format!("qpos holds a zero quaternion for {}", j.raw.label))
                    })?;
                    q.copy_from_slice(&wxyz_from_quaternion(unit));
                }
                at += count;
            }
            model.builder.add_keyframe(Keyframe { name: a.name().unwrap_or("").into(), positions });
        }
        Ok(())
    }
}
