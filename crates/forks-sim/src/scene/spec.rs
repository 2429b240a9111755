//! What a scene file may say. Angles in degrees where a name says so; everything else SI.

use std::collections::BTreeMap;

use forks_geometry::Geometry;
use serde::Deserialize;

use crate::JointForces;

/// A scene as it is written: TOML tables of these names.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SceneSpec {
    /// What it shows, in a few words.
    pub title: String,
    /// What it is for and what its numbers mean.
    #[serde(default)]
    pub about: String,
    /// Time, gravity, solver.
    #[serde(default)]
    pub world: WorldSpec,
    /// Mechanisms.
    #[serde(default, rename = "mechanism")]
    pub mechanisms: Vec<MechanismSpec>,
    /// Free rigid bodies.
    #[serde(default, rename = "body")]
    pub bodies: Vec<BodySpec>,
    /// Shapes of the world.
    #[serde(default, rename = "ground")]
    pub ground: Vec<ShapeSpec>,
    /// What servos and forces do over time.
    #[serde(default, rename = "action")]
    pub actions: Vec<ActionSpec>,
    /// Pairs that pass through each other: names of bodies, of shapes, of the ground (`world`), or
    /// `MECHANISM/EFFECTOR`.
    #[serde(default)]
    pub ignore: Vec<[String; 2]>,
    /// Tables that `forks-direct` reads: scenes that have some are built there.
    #[serde(default)]
    pub task: Elsewhere,
    /// The same.
    #[serde(default)]
    pub keyframes: Elsewhere,
    /// The same.
    #[serde(default)]
    pub mpc: Elsewhere,
    /// The same.
    #[serde(default)]
    pub control: Elsewhere,
}

/// Something that is read elsewhere: only whether it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere(pub bool);

impl<'de> Deserialize<'de> for Elsewhere {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self(true))
    }
}

/// Time, gravity, solver.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct WorldSpec {
    /// Simulated time, s; 5.
    pub duration: f64,
    /// Step, s; 1e-3.
    pub step: f64,
    /// Equal parts of a step; 1.
    pub substeps: usize,
    /// World axes, m/s²; (0, 0, −9.81).
    pub gravity: [f64; 3],
    /// See [`WorldSettings::margin`](crate::WorldSettings::margin).
    pub margin: Option<f64>,
    /// Tolerance of the contact solver, part of the speed that contact has to stop.
    pub tolerance: Option<f64>,
    /// Sweeps of Gauss–Seidel at most.
    pub sweeps: Option<usize>,
    /// Frames per second that a recording keeps; 60.
    pub frames: f64,
}

impl Default for WorldSpec {
    fn default() -> Self {
        Self {
            duration: 5.0,
            step: 1e-3,
            substeps: 1,
            gravity: [0.0, 0.0, -9.81],
            margin: None,
            tolerance: None,
            sweeps: None,
            frames: 60.0,
        }
    }
}

/// A mechanism: a model file or a parametric one, changed and reduced.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MechanismSpec {
    /// Unique name.
    pub name: String,
    /// An MJCF or URDF file, from the scene file's folder.
    #[serde(default)]
    pub file: Option<String>,
    /// A mechanism of the library by its name; see `forks_models::NAMES`.
    #[serde(default)]
    pub parametric: Option<String>,
    /// Links of the mechanism, or `site:NAME`; what touches the world.
    pub effectors: Vec<String>,
    /// True if the free joint at the mechanism's root moves. Otherwise it is held.
    #[serde(default)]
    pub floating: bool,
    /// World from the frame that the model calls world; a floating base starts at its place there.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// A keyframe of the file to start at, all joints; `pose` changes single ones.
    #[serde(default)]
    pub key: Option<String>,
    /// Joint coordinates in the linearisation pose (single axis: radians or metres); others as the
    /// model has them.
    #[serde(default)]
    pub pose: BTreeMap<String, f64>,
    /// Servos to add.
    #[serde(default, rename = "servo")]
    pub servos: Vec<ServoSpec>,
    /// Damping of joints of one axis in place of their own, before servos are added.
    #[serde(default)]
    pub joint_damping: Option<f64>,
    /// Servo-driven slides between the world and the mechanism's root.
    #[serde(default, rename = "slide")]
    pub slides: Vec<SlideSpec>,
    /// An object that the effectors hold as one mechanism: it becomes the only effector.
    #[serde(default)]
    pub holds: Option<HeldSpec>,
    /// False: linearised without gravity. Default: about the equilibrium under the world's gravity;
    /// floating ones fall freely.
    #[serde(default = "yes")]
    pub gravity: bool,
    /// False leaves out the model's own collision shapes. Only those on effectors count.
    #[serde(default = "yes")]
    pub own_shapes: bool,
    /// Shapes to add to effectors.
    #[serde(default, rename = "shape")]
    pub shapes: Vec<ShapeSpec>,
    /// Friction of the model's own shapes, in place of their own.
    #[serde(default)]
    pub friction: Option<f64>,
    /// Enforce the limits of the model's joints.
    #[serde(default)]
    pub limits: bool,
    /// Let the dry friction of the model's joints act.
    #[serde(default)]
    pub joint_friction: bool,
    /// A blended model (`forks blend … -o FILE`) of the same mechanism and effectors, from the
    /// scene file's folder; of one that floats, made with `--floating`.
    #[serde(default)]
    pub blend: Option<String>,
    /// Repair inertias that no body has (A + B < C), as MuJoCo's `balanceinertia` does.
    #[serde(default)]
    pub balance_inertia: bool,
}

impl MechanismSpec {
    /// What acts in the joints.
    pub fn joint_forces(&self) -> JointForces {
        JointForces { limits: self.limits, friction: self.joint_friction }
    }
}

fn yes() -> bool {
    true
}

/// Where something is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct PlaceSpec {
    /// m.
    #[serde(default)]
    pub position: [f64; 3],
    /// Roll, pitch, yaw about the fixed axes x, y, z.
    #[serde(default)]
    pub rpy_deg: Option<[f64; 3]>,
    /// In place of `rpy_deg`.
    #[serde(default)]
    pub quaternion_wxyz: Option<[f64; 4]>,
}

/// Servos that pull joints to targets.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ServoSpec {
    /// Names of joints of one axis; all that no spring or servo resists if left out. `*` at the end
    /// of a name stands for anything.
    #[serde(default)]
    pub joints: Vec<String>,
    /// N·m/rad or N/m.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m.
    pub damping: f64,
}

/// A servo-driven slide below a mechanism's root. Its joint and servo have its name.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SlideSpec {
    /// Name of joint and servo.
    pub name: String,
    /// In the model's world.
    pub axis: [f64; 3],
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    pub damping: f64,
}

/// An object held by fingertips.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HeldSpec {
    /// Name of the object's link.
    pub name: String,
    /// kg.
    pub mass: f64,
    /// Where it is in the linearisation pose, in the model's world.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// Its shape: inertia follows from it.
    pub form: FormSpec,
    /// Coefficient of friction.
    #[serde(default)]
    pub friction: Option<f64>,
}

/// A free rigid body.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// Unique name.
    pub name: String,
    /// kg.
    pub mass: f64,
    /// Principal moments about the centre of mass along the body's axes, kg·m²; that of the first
    /// shape if left out.
    #[serde(default)]
    pub inertia: Option<[f64; 3]>,
    /// Start.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// World axes, m/s.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// World axes, rad/s.
    #[serde(default)]
    pub spin: [f64; 3],
    /// Its shapes.
    #[serde(rename = "shape")]
    pub shapes: Vec<ShapeSpec>,
}

/// A shape.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ShapeSpec {
    /// Name; made up from its owner's if left out.
    #[serde(default)]
    pub name: Option<String>,
    /// The effector that carries it, for shapes of mechanisms; all effectors if left out.
    #[serde(default)]
    pub on: Option<String>,
    /// Its form.
    pub form: FormSpec,
    /// Where it is in its owner's frame.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// Coefficient of friction; 0.5.
    #[serde(default)]
    pub friction: Option<f64>,
    /// See [`Material`](crate::Material).
    #[serde(default)]
    pub restitution: Option<f64>,
    /// See [`Material`](crate::Material).
    #[serde(default)]
    pub compliance: Option<f64>,
    /// See [`Material`](crate::Material).
    #[serde(default)]
    pub relaxation: Option<f64>,
}

/// The form of a shape: one of [`Geometry`]'s by its name, or heights made here.
#[derive(Clone, Debug, PartialEq)]
pub enum FormSpec {
    /// `{ sphere = { radius = 0.1 } }` and its like.
    Geometry(Geometry),
    /// `{ hills = { … } }`.
    Hills(HillsSpec),
    /// `{ heights = { … } }`.
    Heights(HeightsSpec),
}

/// Smooth random hills on a rectangle; of the world only.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HillsSpec {
    /// Sides, m.
    pub size: [f64; 2],
    /// Points along x and y.
    pub points: [usize; 2],
    /// Largest height over the lowest, m.
    pub height: f64,
    /// Typical distance between tops, m.
    pub spacing: f64,
    /// Of the random numbers.
    pub seed: u64,
    /// Radius around the origin that is flat, at half height, m.
    #[serde(default)]
    pub flat: f64,
}

/// Heights on a rectangle; of the world only.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HeightsSpec {
    /// Sides, m.
    pub size: [f64; 2],
    /// Rows from −y to y of heights from −x to x, m.
    pub rows: Vec<Vec<f64>>,
}

/// What servos or forces do over time.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ActionSpec {
    /// The mechanism, for servos and effectors.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// Servos that get the value as their target, relative to the linearisation pose. `*` at the
    /// end stands for anything.
    #[serde(default)]
    pub servos: Vec<String>,
    /// What the value is multiplied with for each entry of `servos`; 1 if left out.
    #[serde(default)]
    pub weights: Option<Vec<f64>>,
    /// A body that gets the value times `direction` as a force at its centre of mass.
    #[serde(default)]
    pub body: Option<String>,
    /// An effector that gets the value times `direction` as a force at its origin.
    #[serde(default)]
    pub effector: Option<String>,
    /// World axes, of forces.
    #[serde(default)]
    pub direction: Option<[f64; 3]>,
    /// Times at which `values` are reached, s, increasing; between them the value goes smoothly.
    /// Before and after it stays.
    #[serde(default)]
    pub times: Vec<f64>,
    /// One value per time.
    #[serde(default)]
    pub values: Vec<f64>,
    /// An oscillation, added to the values.
    #[serde(default)]
    pub wave: Option<WaveSpec>,
}

/// amplitude · sin(2π frequency (t − from) + phase) from `from` until `until`, growing and fading
/// over a quarter second.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WaveSpec {
    /// As the values.
    pub amplitude: f64,
    /// Hz.
    pub frequency: f64,
    /// Degrees.
    #[serde(default)]
    pub phase_deg: f64,
    /// s.
    #[serde(default)]
    pub from: f64,
    /// s; the end if left out.
    #[serde(default)]
    pub until: Option<f64>,
}
