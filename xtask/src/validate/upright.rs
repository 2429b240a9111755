//! Bases that float: how far they tilt from where they start, and how their height changes.

use forks_mechanism::lie::{Pose, glam::DVec3};
use forks_sim::{
    MechanismHandle,
    scene::{Scene, SceneMechanism},
};
use serde::Deserialize;

use super::record::Recorder;

/// What is allowed of floating bases.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Upright {
    /// Angle between what points up at the start and up, rad.
    tilt: f64,
    /// Change of height, up or down, m.
    height: f64,
}

/// A base and what was seen of it.
pub(crate) struct Base {
    name: String,
    mechanism: MechanismHandle,
    start: Pose,
    tilt: f64,
    height: f64,
}

impl Base {
    /// All of a scene, as they start.
    pub(crate) fn all(scene: &Scene) -> Vec<Self> {
        let floating = scene.mechanisms.iter().filter(|m| m.floating);
        let base = |m: &SceneMechanism| {
            let mechanism = scene.mechanism(&m.name)?;
            let start = pose(scene, mechanism)?;
            Some(Self { name: m.name.clone(), mechanism, start, tilt: 0.0, height: 0.0 })
        };
        floating.filter_map(base).collect()
    }

    /// After a step.
    pub(crate) fn see(&mut self, scene: &Scene) {
        let Some(now) = pose(scene, self.mechanism) else { return };
        let up = now.rotation * (self.start.rotation.conjugate() * DVec3::Z);
        self.tilt = self.tilt.max(up.angle_between(DVec3::Z));
        self.height = self.height.max((now.translation.z - self.start.translation.z).abs());
    }

    pub(crate) fn record(&self, allowed: &Upright, case: &str, out: &mut Recorder) {
        let name = &self.name;
        out.at_most(&format!("{case}: tilt of the base of {name} (rad)"), self.tilt, allowed.tilt);
        let row = format!("{case}: change of height of the base of {name} (m)");
        out.at_most(&row, self.height, allowed.height);
    }
}

/// The base comes first in the coordinates of a mechanism that floats.
fn pose(scene: &Scene, mechanism: MechanismHandle) -> Option<Pose> {
    let coordinates = scene.world.coordinates(mechanism).ok()?;
    Some(Pose::from_array(coordinates.get(..7)?.try_into().ok()?))
}
