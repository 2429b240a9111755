//! Tissue on skeletons, with what its file says happens.

use forks_io::animation::{Animation, AnimationFrame};
use forks_mechanism::lie::{Pose, glam::DVec3};
use forks_soft::tissue::{Recording, TissueScene};

use super::{Push, Servo, Subject};

/// Bytes of a copy per node of the tissue: states, factors of the step; measured on the scenes of
/// this repository, rounded up.
const SIZE: usize = 4096;

/// A scene of tissue in motion.
///
/// Hands take hold of vertices of its surface: they are numbered behind the bodies of the picture.
#[derive(Clone)]
pub(crate) struct Soft {
    scene: TissueScene,
    /// Draws; keeps no frames.
    recording: Recording,
    /// Vertices, and forces on them in the world, N.
    pulls: Vec<(usize, DVec3)>,
}

impl Soft {
    pub(crate) fn new(mut scene: TissueScene) -> Self {
        let mut recording = Recording::new(&mut scene);
        recording.take_frame();
        recording.add_notes(&scene.notes);
        Self { scene, recording, pulls: Vec::new() }
    }

    fn bodies(&self) -> usize {
        self.picture().bodies.len()
    }
}

impl<'m> Subject<'m> for Soft {
    fn duplicate(&self) -> Box<dyn Subject<'m> + 'm> {
        Box::new(self.clone())
    }

    fn step_length(&self) -> f64 {
        self.scene.spec.world.step()
    }

    fn time(&self) -> f64 {
        self.scene.time()
    }

    fn step(&mut self) -> Result<(), String> {
        self.scene.step_under(&self.pulls).map(drop).map_err(|e| e.to_string())
    }

    fn push(&mut self, pushes: &[Push]) -> Result<(), String> {
        let bodies = self.bodies();
        self.pulls.clear();
        for p in pushes {
            let vertex = p.body.checked_sub(bodies);
            let vertex = vertex.ok_or("of a scene with tissue, only tissue feels forces")?;
            self.pulls.push((vertex, p.force));
        }
        Ok(())
    }

    fn feels(&self, body: usize) -> bool {
        let drawn = self.picture().skins.iter().any(|s| s.body == body);
        drawn || (self.bodies()..self.bodies() + self.scene.vertex_count()).contains(&body)
    }

    fn pose(&self, body: usize) -> Pose {
        match body.checked_sub(self.bodies()) {
            Some(vertex) => Pose::from_translation(self.scene.vertex(vertex)),
            None => self.recording.pose(&self.scene, body),
        }
    }

    fn hold(&self, body: usize, point: DVec3) -> (usize, DVec3) {
        let place = self.pose(body).transform_point(point);
        let tissue = self.picture().skins.iter().position(|s| s.body == body);
        match tissue.and_then(|t| self.scene.nearest_vertex(t, place)) {
            Some(vertex) => (self.bodies() + vertex, DVec3::ZERO),
            None => (body, point),
        }
    }

    fn frame(&mut self) -> AnimationFrame {
        self.recording.after(&mut self.scene, true);
        self.recording.take_frame().unwrap_or_default()
    }

    /// The file says what they do.
    fn servos(&self) -> &[Servo] {
        &[]
    }

    fn set_servo(&mut self, _index: usize, _target: f64) -> Result<(), String> {
        Ok(())
    }

    fn picture(&self) -> &Animation {
        self.recording.animation()
    }

    fn size(&self) -> usize {
        (1 << 16) + SIZE * self.scene.simulation.state().x.len()
    }
}
