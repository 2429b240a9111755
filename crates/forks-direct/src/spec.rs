//! What tables of a scene file say about driving. Angles in degrees where a name says so;
//! everything else SI.

use std::collections::BTreeMap;

use forks_sim::scene::{SceneError, spec::SceneSpec};
use serde::Deserialize;

use crate::task_spec::Aspect;

/// The tables of a scene file that drive it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct DirectSpec {
    /// How mechanisms are driven.
    #[serde(default, rename = "control")]
    pub controls: Vec<ControlSpec>,
    /// What they shall do.
    #[serde(default, rename = "task")]
    pub tasks: Vec<TaskTable>,
    /// Curves of joints.
    #[serde(default)]
    pub keyframes: Vec<KeyframesSpec>,
    /// Prediction and set points.
    #[serde(default)]
    pub mpc: Vec<MpcSpec>,
}

/// What commands of a mechanism are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum CommandKind {
    /// Forces of joints; of full mechanisms only.
    Torque,
    /// Targets of servos, relative to the linearisation pose.
    Servos,
}

/// What is least.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Least {
    /// The sum of squares of the commands.
    #[default]
    Torque,
    /// That of the accelerations of all coordinates.
    Acceleration,
    /// That of their velocities at the step's end.
    Velocity,
    /// The kinetic energy at the step's end.
    Energy,
    /// The sum of squares of the changes of accelerations.
    Jerk,
}

/// How priorities are kept.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PrioritiesSpec {
    /// Strictly.
    #[default]
    Strict,
    /// Gradually where directions are weak: `smooth = {}` or with the most command per unit of a
    /// task's acceleration.
    Smooth {
        /// N·m per m/s² and the like.
        #[serde(default)]
        most: Option<f64>,
    },
    /// As \[K08\] does.
    Published {
        /// α.
        alpha: f64,
    },
}

/// What is known of contact when commands are chosen.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ContactSpec {
    /// Its forces are those of the last step. Where a target lies behind what is touched, commands
    /// grow from step to step to overcome them.
    #[default]
    Given,
    /// Nothing: what is touched holds back what compliance allows.
    Ignored,
    /// Effectors that touch the ground stay there; the forces are found with the commands.
    Aware,
    /// Commands are corrected by what contact makes of them, up to five times.
    After,
}

/// How a mechanism is driven.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ControlSpec {
    /// Its name; the only mechanism if left out.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// Targets of servos where there are some, forces of joints elsewhere.
    #[serde(default)]
    pub commands: Option<CommandKind>,
    /// Joints, or servos, with commands, all if left out; `*` at an end stands for anything.
    #[serde(default)]
    pub of: Vec<String>,
    /// The largest command.
    #[serde(default)]
    pub largest: Option<f64>,
    /// The largest command of one joint or servo.
    #[serde(default)]
    pub limits: BTreeMap<String, f64>,
    /// Joints keep to their limits, which they brake for with at most so much, rad/s² or m/s².
    #[serde(default)]
    pub joint_limits: Option<f64>,
    /// What is least of all commands that tasks leave open.
    #[serde(default)]
    pub minimise: Least,
    /// How priorities are kept.
    #[serde(default)]
    pub priorities: PrioritiesSpec,
    /// What is known of contact.
    #[serde(default)]
    pub contact: ContactSpec,
    /// Effectors that stay where they touch, all if left out.
    #[serde(default)]
    pub stands: Option<Vec<String>>,
}

/// A place: `{ position = [0, 0, 1], rpy_deg = [0, 30, 0] }`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Plane {
    /// m.
    pub position: [f64; 3],
    /// Roll, pitch, yaw about the fixed axes x, y, z.
    pub rpy_deg: [f64; 3],
}

/// Where something shall be over time.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Way {
    /// The place, once for all.
    pub target: Option<Vec<f64>>,
    /// Times of `keys`, s, increasing.
    pub times: Vec<f64>,
    /// Places at these times; a curve with continuous accelerations leads through them, from rest
    /// to rest.
    pub keys: Vec<Vec<f64>>,
    /// A circle about where it starts, beside all else.
    pub circle: Option<Circle>,
    /// Positions are added to where it starts.
    pub relative: bool,
    /// The axes that positions are meant in; the world's.
    pub plane: Plane,
}

/// radius · (cos φ − 1, sin φ, 0), φ = 2π (t − from)/period, started smoothly.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// m.
    pub radius: f64,
    /// s.
    pub period: f64,
    /// s.
    #[serde(default)]
    pub from: f64,
}

/// Something that shall be done.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TaskTable {
    /// The mechanism; the only one if left out.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// How reports call it; what it is about if left out.
    #[serde(default)]
    pub name: Option<String>,
    /// A link, or `site:NAME`; of a reduced model an effector.
    #[serde(default)]
    pub link: Option<String>,
    /// What of the link.
    #[serde(default)]
    pub what: Aspect,
    /// A joint of one coordinate.
    #[serde(default)]
    pub joint: Option<String>,
    /// The centre of mass.
    #[serde(default)]
    pub centre_of_mass: bool,
    /// All joints of one coordinate where they are at the start.
    #[serde(default)]
    pub posture: bool,
    /// Where; what is at the start if left out.
    #[serde(default)]
    pub way: Way,
    /// 0 first; 1.
    #[serde(default = "one")]
    pub level: usize,
    /// Weight within the level; 1.
    #[serde(default = "unit")]
    pub weight: f64,
    /// k, 1/s²; 100.
    #[serde(default)]
    pub stiffness: Option<f64>,
    /// d, 1/s; 2√k.
    #[serde(default)]
    pub damping: Option<f64>,
    /// Rows that count; all if left out.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Rows along the world's axes.
    #[serde(default)]
    pub world_axes: bool,
    /// The axis of a direction, in the link; z.
    #[serde(default)]
    pub axis: Option<[f64; 3]>,
    /// The link that a place is meant in.
    #[serde(default, rename = "in")]
    pub within: Option<String>,
    /// From when on, s.
    #[serde(default)]
    pub from: f64,
    /// Until when, s.
    #[serde(default)]
    pub until: Option<f64>,
}

fn one() -> usize {
    1
}

fn unit() -> f64 {
    1.0
}

/// Curves that joints follow.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct KeyframesSpec {
    /// The mechanism; the only one if left out.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// A file of keyframes, from the scene file's folder.
    pub file: String,
    /// When they begin, s.
    #[serde(default)]
    pub from: f64,
    /// The level on which forces bring joints onto their curves at every step; 0. Servos get the
    /// curves as their targets.
    #[serde(default)]
    pub level: usize,
}

/// What is found over a horizon.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum MpcKind {
    /// The commands of the next steps.
    #[default]
    Predict,
    /// Commands under which effectors rest where they shall.
    SetPoint,
}

/// Commands of servos or forces on effectors by the reduced model.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MpcSpec {
    /// The mechanism; the only one if left out.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// What is found.
    #[serde(default)]
    pub kind: MpcKind,
    /// Steps of the horizon; 20.
    #[serde(default = "twenty")]
    pub horizon: usize,
    /// Steps of the world per step of the horizon; 1.
    #[serde(default = "one")]
    pub every: usize,
    /// Effectors that take forces; servos are commanded if left out.
    #[serde(default)]
    pub forces: Vec<String>,
    /// The largest command.
    pub largest: f64,
    /// Cost of a command's distance from where it ends; 1e-6.
    #[serde(default = "effort")]
    pub effort: f64,
    /// Cost of its change; 1e-5.
    #[serde(default = "change")]
    pub change: f64,
    /// Time for a decision, s.
    #[serde(default)]
    pub budget: Option<f64>,
    /// Contact forces of the last step are loads that stay.
    #[serde(default)]
    pub contact: bool,
    /// What effectors follow.
    #[serde(rename = "goal")]
    pub goals: Vec<GoalSpec>,
}

fn twenty() -> usize {
    20
}

fn effort() -> f64 {
    1e-6
}

fn change() -> f64 {
    1e-5
}

/// An effector that follows poses.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct GoalSpec {
    /// The effector.
    pub effector: String,
    /// Where: a position, or a pose of seven numbers.
    #[serde(default)]
    pub way: Way,
    /// Turns about where it starts, degrees: roll, pitch, yaw, at the way's times.
    #[serde(default)]
    pub turns_deg: Vec<[f64; 3]>,
    /// Weight of its position, per metre; 1.
    #[serde(default = "unit")]
    pub position: f64,
    /// Weight of its orientation, per radian; 0.
    #[serde(default)]
    pub orientation: f64,
}

impl DirectSpec {
    /// Reads the tables from the text of a scene, and takes them from its other tables; `file` is
    /// its name in messages.
    ///
    /// # Errors
    /// Text that is no scene, with the line.
    pub fn parse(text: &str, file: &str) -> Result<(Self, SceneSpec), SceneError> {
        let mut scene = SceneSpec::parse(text, file)?;
        let spec = toml::from_str(text).map_err(|e| SceneError::Syntax {
            file: file.into(),
            message: e.to_string().trim_end().to_owned(),
        })?;
        (scene.task.0, scene.keyframes.0, scene.mpc.0, scene.control.0) =
            (false, false, false, false);
        Ok((spec, scene))
    }

    /// True if nothing is driven.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.keyframes.is_empty() && self.mpc.is_empty()
    }
}
