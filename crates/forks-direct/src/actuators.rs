//! Coordinates that commands act on.

use forks_mechanism::{JointId, Mechanism};

/// A velocity coordinate with a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Its joint's name, with the number of the coordinate where there are several.
    pub name: String,
    /// Its joint.
    pub joint: JointId,
    /// Its velocity coordinate.
    pub coordinate: usize,
    /// `N` or `N·m`.
    pub unit: &'static str,
}

/// All coordinates of joints.
pub fn actuators(m: &Mechanism, joints: &[JointId]) -> Vec<Actuator> {
    let mut out = Vec::new();
    for &joint in joints {
        let j = m.joint(joint);
        let (label, range) = (m.joint_label(joint), m.velocity_range(joint));
        let columns = j.columns(&j.start);
        for (i, (coordinate, column)) in range.clone().zip(columns.as_slice()).enumerate() {
            let name = if range.len() > 1 { format!("{label}.{i}") } else { label.clone() };
            let unit = if column.angular.length() > 0.0 { "N·m" } else { "N" };
            out.push(Actuator { name, joint, coordinate, unit });
        }
    }
    out
}
