//! A world in contact, with what its file says happens.

use forks_io::animation::{Animation, AnimationFrame};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_record::Recording;
use forks_rom::LoadFrame;
use forks_sim::{Owner, StepReport, WorldStatus, scene::Scene};

use super::{Push, Servo, Subject};

/// A scene in motion.
#[derive(Clone)]
pub(crate) struct Scenery {
    scene: Scene,
    /// Draws; keeps no frames.
    recording: Recording,
    pushes: Vec<Push>,
    /// What the last pushes acted on.
    pushed: Vec<Owner>,
    report: StepReport,
}

impl Scenery {
    pub(crate) fn new(scene: Scene) -> Self {
        let mut recording = Recording::new(&scene);
        recording.animation.frames.clear();
        recording.animation.notes.extend(scene.notes.iter().cloned());
        let (pushes, pushed) = (Vec::new(), Vec::new());
        Self { scene, recording, pushes, pushed, report: StepReport::default() }
    }

    fn load(&mut self, owner: Owner, force: DVec3, about: DVec3) -> Result<(), String> {
        let wrench = Wrench::new(force, about);
        let world = &mut self.scene.world;
        let done = match owner {
            Owner::World => Ok(()),
            Owner::Body(body) => world.set_body_load(body, wrench),
            Owner::Effector { mechanism, effector } => {
                world.set_effector_load(mechanism, effector, wrench, LoadFrame::World)
            }
        };
        done.map_err(|e| e.to_string())
    }

    /// Takes off what the last pushes put on, acts as the file says, and adds the pushes.
    fn act(&mut self) -> Result<(), String> {
        for owner in std::mem::take(&mut self.pushed) {
            self.load(owner, DVec3::ZERO, DVec3::ZERO)?;
        }
        let Scene { script, world, .. } = &mut self.scene;
        script.act(world).map_err(|e| e.to_string())?;
        for p in self.pushes.clone() {
            let Some(owner) = self.recording.owner(p.body) else { continue };
            let pose = self.pose(p.body);
            // Loads on bodies act about their centres of mass.
            let centre = match owner {
                Owner::Body(_) => {
                    pose.transform_point(self.scene.bodies[p.body].inertia.center_of_mass)
                }
                _ => pose.translation,
            };
            let arm = pose.transform_point(p.point) - centre;
            self.load(owner, p.force, arm.cross(p.force))?;
            self.pushed.push(owner);
        }
        Ok(())
    }
}

impl<'m> Subject<'m> for Scenery {
    fn duplicate(&self) -> Box<dyn Subject<'m> + 'm> {
        Box::new(self.clone())
    }

    fn step_length(&self) -> f64 {
        self.scene.world.settings().step
    }

    fn time(&self) -> f64 {
        self.scene.world.time()
    }

    fn step(&mut self) -> Result<(), String> {
        self.act()?;
        self.report = self.scene.world.step();
        match self.report.status {
            WorldStatus::NotFinite { .. } => {
                Err(format!("the world's numbers overflow at {:.4} s", self.scene.world.time()))
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, pushes: &[Push]) -> Result<(), String> {
        self.pushes = pushes.to_vec();
        Ok(())
    }

    fn feels(&self, body: usize) -> bool {
        self.recording.owner(body).is_some()
    }

    fn pose(&self, body: usize) -> Pose {
        match self.recording.owner(body) {
            Some(owner) => self.scene.owner_pose(owner),
            None => Pose::IDENTITY,
        }
    }

    fn frame(&mut self) -> AnimationFrame {
        self.recording.after(&self.scene, &self.report, true);
        self.recording.animation.frames.pop().unwrap_or_default()
    }

    /// The file says what they do.
    fn servos(&self) -> &[Servo] {
        &[]
    }

    fn set_servo(&mut self, _index: usize, _target: f64) -> Result<(), String> {
        Ok(())
    }

    fn picture(&self) -> &Animation {
        &self.recording.animation
    }

    fn size(&self) -> usize {
        let bodies = self.recording.animation.bodies.len();
        (1 << 16) + 4096 * bodies
    }
}
