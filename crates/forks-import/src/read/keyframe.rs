//! `<keyframe>`: named start states.

use forks_mechanism::Keyframe;

use super::{Reader, assemble::Model, joint::JointType, orientation::unit_quaternion};
use crate::{ImportError, xml::Element};
use forks_mechanism::lie::wxyz_from_quaternion;

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
            if let Some(q) = a.numbers("qpos", 0, usize::MAX)? {
                if q.len() != positions.len() {
                    let n = positions.len();
                    return Err(a.error(format!(
                        "qpos has {} numbers, but the model has {n} positions",
                        q.len()
                    )));
                }
                positions = q;
            }
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
