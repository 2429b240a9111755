//! Poses of links in answers.

use forks_io::{Align, TextTable};
use forks_mechanism::lie::{Pose, so3::wxyz_from_quaternion};
use serde::Serialize;

use crate::output::short;

/// A link's pose in the world.
#[derive(Debug, Serialize)]
pub(crate) struct LinkPose {
    pub(crate) name: String,
    pub(crate) position: [f64; 3],
    pub(crate) quaternion_wxyz: [f64; 4],
}

impl LinkPose {
    pub(crate) fn new(name: &str, pose: &Pose) -> Self {
        Self {
            name: name.into(),
            position: pose.translation.to_array(),
            quaternion_wxyz: wxyz_from_quaternion(pose.rotation),
        }
    }

    /// Positions for people.
    pub(crate) fn table(title: &str, links: &[Self]) -> TextTable {
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
