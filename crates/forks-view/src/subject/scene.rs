//! A world in contact, with what its file says happens.

use forks_direct::Direct;
use forks_io::animation::{Animation, AnimationFrame};
use forks_mechanism::lie::{Pose, Wrench};
use forks_record::Recording;
use forks_rom::LoadFrame;
use forks_sim::{Owner, SimError, StepReport, World, WorldStatus, scene::Scene};

use super::{Push, Servo, Subject};

/// Bytes of a copy beside those of bodies, of a scene without and with what drives it: measured on
/// the scenes of this repository, rounded up.
const SIZE: [usize; 2] = [1 << 16, 1 << 20];

/// A scene in motion.
#[derive(Clone)]
pub(crate) struct Scenery {
    direct: Direct,
    /// Draws; keeps no frames.
    recording: Recording,
    pushes: Vec<Push>,
    /// What the last pushes acted on.
    pushed: Vec<Owner>,
    report: StepReport,
}

impl Scenery {
    pub(crate) fn new(direct: Direct) -> Self {
        let mut recording = direct.recording();
        recording.animation.frames.clear();
        recording.animation.notes.extend(direct.scene.notes.iter().cloned());
        let (pushes, pushed) = (Vec::new(), Vec::new());
        Self { direct, recording, pushes, pushed, report: StepReport::default() }
    }

    /// A push as its owner and the wrench on it.
    fn wrench(&self, p: &Push) -> Option<(Owner, Wrench)> {
        let owner = self.recording.owner(p.body)?;
        let scene = &self.direct.scene;
        let pose = self.pose(p.body);
        // Loads on bodies act about their centres of mass.
        let centre = match owner {
            Owner::Body(_) => pose.transform_point(scene.bodies[p.body].inertia.center_of_mass),
            _ => pose.translation,
        };
        let arm = pose.transform_point(p.point) - centre;
        Some((owner, Wrench::new(p.force, arm.cross(p.force))))
    }
}

fn load(world: &mut World, owner: Owner, wrench: Wrench) -> Result<(), SimError> {
    match owner {
        Owner::World => Ok(()),
        Owner::Body(body) => world.set_body_load(body, wrench),
        Owner::Effector { mechanism, effector } => {
            world.set_effector_load(mechanism, effector, wrench, LoadFrame::World)
        }
    }
}

impl<'m> Subject<'m> for Scenery {
    fn duplicate(&self) -> Box<dyn Subject<'m> + 'm> {
        Box::new(self.clone())
    }

    fn step_length(&self) -> f64 {
        self.direct.scene.world.settings().step
    }

    fn time(&self) -> f64 {
        self.direct.scene.world.time()
    }

    fn step(&mut self) -> Result<(), String> {
        let pushes: Vec<(Owner, Wrench)> =
            self.pushes.iter().filter_map(|p| self.wrench(p)).collect();
        let pushed = std::mem::replace(&mut self.pushed, pushes.iter().map(|p| p.0).collect());
        // What the last pushes put on is taken off before the file's own loads act.
        let world = &mut self.direct.scene.world;
        let off = pushed.into_iter().try_for_each(|owner| load(world, owner, Wrench::ZERO));
        off.map_err(|e| e.to_string())?;
        let push = |scene: &mut Scene| {
            pushes.iter().try_for_each(|(owner, w)| load(&mut scene.world, *owner, *w))
        };
        self.report = self.direct.step_under(push).map_err(|e| e.to_string())?;
        match self.report.status {
            WorldStatus::NotFinite { .. } => {
                Err(format!("the world's numbers overflow at {:.4} s", self.time()))
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
            Some(owner) => self.direct.scene.owner_pose(owner),
            None => Pose::IDENTITY,
        }
    }

    fn frame(&mut self) -> AnimationFrame {
        self.direct.record(&mut self.recording, &self.report, true);
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
        SIZE[usize::from(self.direct.is_driven())] + 4096 * bodies
    }
}
