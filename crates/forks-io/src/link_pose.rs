//! Poses of links in answers.

use forks_lie::{Pose, so3::wxyz_from_quaternion};
use serde::Serialize;

use crate::{Align, TextTable, short};

/// A link's pose in the world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkPose {
    /// Its name.
    pub name: String,
    /// Where it is, m.
    pub position: [f64; 3],
    /// How it is turned, a unit quaternion.
    pub quaternion_wxyz: [f64; 4],
}

impl LinkPose {
    /// Of a pose.
    pub fn new(name: &str, pose: &Pose) -> Self {
        Self {
            name: name.into(),
            position: pose.translation.to_array(),
            quaternion_wxyz: wxyz_from_quaternion(pose.rotation),
        }
    }

    /// Positions for people.
    pub fn table(title: &str, links: &[Self]) -> TextTable {
        let mut table = TextTable::new()
            .column(title, Align::Left)
            .columns(["x (m)", "y (m)", "z (m)"], Align::Right);
        for l in links {
            let mut cells = vec![l.name.clone()];
            cells.extend(l.position.iter().map(|x| short(*x)));
            table.push(cells);
        }
        table
    }
}
