//! What a session steps: a full mechanism, a reduced model, a scene.

mod full;
mod reduced;
mod scene;
mod soft;

use std::sync::Arc;

use forks_blend::BlendedModel;
use forks_io::animation::{Animation, AnimationFrame};
use forks_mechanism::lie::{Pose, glam::DVec3};
use serde::Serialize;

pub(crate) use full::Full;
pub(crate) use reduced::{Blended, Look, look, reduced};
pub(crate) use scene::Scenery;
pub(crate) use soft::Soft;

/// A force on a body of the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) body: usize,
    /// Where it acts, in the body, m.
    pub(crate) point: DVec3,
    /// World axes, N.
    pub(crate) force: DVec3,
}

/// A point of a body that shall be at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aim {
    /// Number in the picture.
    pub(crate) body: usize,
    /// In the body, m.
    pub(crate) point: DVec3,
    /// In the world, m.
    pub(crate) target: DVec3,
}

/// A servo as a slider shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Servo {
    pub(crate) name: String,
    /// Away from its target in the start pose, m or rad.
    pub(crate) target: f64,
    /// What a slider offers.
    pub(crate) range: [f64; 2],
}

/// Something that moves by steps. It can be copied as it is: a copy goes on with the same bits.
pub(crate) trait Subject<'m> {
    fn duplicate(&self) -> Box<dyn Subject<'m> + 'm>;

    /// Time of a step, s.
    fn step_length(&self) -> f64;

    fn time(&self) -> f64;

    /// One step; what went wrong, in a sentence, where it was not made.
    fn step(&mut self) -> Result<(), String>;

    /// Forces from now on, in place of those before; `Err` names a body that cannot feel one.
    fn push(&mut self, pushes: &[Push]) -> Result<(), String>;

    /// True if the body can feel forces.
    fn feels(&self, body: usize) -> bool;

    fn pose(&self, body: usize) -> Pose;

    /// What a hand takes hold of at a point of a body, and where in it: a part of its surface has a
    /// number behind the bodies of the picture.
    fn hold(&self, body: usize, point: DVec3) -> (usize, DVec3) {
        (body, point)
    }

    /// Poses, numbers and contacts now.
    fn frame(&mut self) -> AnimationFrame;

    fn servos(&self) -> &[Servo];

    /// Sets a target; the index is one of a servo.
    fn set_servo(&mut self, index: usize, target: f64) -> Result<(), String>;

    /// True if its joints take commands, and poses from hands.
    fn is_commanded(&self) -> bool {
        false
    }

    /// Finds the commands of joints or servos for the next step that bring a point to its place;
    /// takes all commands off without one.
    fn command(&mut self, aim: Option<&Aim>) -> Result<(), String> {
        aim.map_or(Ok(()), |_| Err("there are no joints to command here".into()))
    }

    /// Goes to the pose at rest in which a point is at its place or as near as can be, while pins
    /// hold, loops stay closed and limits are kept.
    fn pose_by(&mut self, _aim: &Aim, _pins: &[Aim]) -> Result<(), String> {
        Err("there are no joints to pose here".into())
    }

    /// Bodies and series, without frames.
    fn picture(&self) -> &Animation;

    /// Bytes of a copy, roughly.
    fn size(&self) -> usize;

    /// Stands still with bodies as near to poses as it can have them; only models beside a
    /// mechanism are asked to, for their effectors, in their order.
    fn stand(&mut self, _bodies: &[usize], _poses: &[Pose]) -> Result<(), String> {
        Err("only a reduced model or a blend can be put where a mechanism is".into())
    }

    /// Goes over into another blend while it moves; only a blend can.
    fn replace(&mut self, _new: &Arc<BlendedModel>) -> Result<(), String> {
        Err("only a blend can go over into another one".into())
    }
}

/// Sliders reach this far from the start where nothing says how far, m or rad.
const REACH: f64 = 1.0;
