//! What a scene of tissue may say. Angles in degrees where a name says so; everything else SI.

use std::{collections::BTreeMap, path::Path};

use forks_geometry::Geometry;
use forks_sim::scene::spec::PlaceSpec;
use serde::Deserialize;

use crate::error::TissueError;

/// A scene as it is written: TOML tables of these names.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TissueSpec {
    /// What it shows, in a few words.
    pub title: String,
    /// What it is for and what its numbers mean.
    #[serde(default)]
    pub about: String,
    /// Time, gravity, scheme.
    #[serde(default)]
    pub world: WorldSpec,
    /// Skeletons.
    #[serde(default, rename = "mechanism")]
    pub mechanisms: Vec<SkeletonSpec>,
    /// Tissue on them; all of one material.
    #[serde(rename = "tissue")]
    pub tissues: Vec<BodySpec>,
    /// Free rigid bodies.
    #[serde(default, rename = "body")]
    pub bodies: Vec<RigidSpec>,
    /// Shapes that stand still.
    #[serde(default)]
    pub ground: Vec<ShapeSpec>,
    /// What springs of joints are drawn to over time.
    #[serde(default, rename = "action")]
    pub actions: Vec<ActionSpec>,
    /// Points that are drawn along ways.
    #[serde(default, rename = "drag")]
    pub drags: Vec<DragSpec>,
    /// Nodes whose mean motion may be an end effector of a reduced model.
    #[serde(default, rename = "pad")]
    pub pads: Vec<PadSpec>,
}

/// Time, gravity, scheme.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct WorldSpec {
    /// Simulated time, s; 5.
    pub duration: f64,
    /// Step, s; 1/120 for implicit schemes, 1e-3 for explicit ones.
    pub step: Option<f64>,
    /// World axes, m/s²; (0, 0, −9.81).
    pub gravity: [f64; 3],
    /// Frames per second that a recording keeps; 60.
    pub frames: f64,
    /// The scheme.
    pub stepper: StepperSpec,
    /// Keep the momentum of a single free root to rounding; true.
    pub keep_momentum: bool,
    /// Begin at rest under gravity instead of in the start pose.
    pub at_rest: bool,
    /// How tissue touches.
    pub contact: ContactSpec,
}

impl Default for WorldSpec {
    fn default() -> Self {
        Self {
            duration: 5.0,
            step: None,
            gravity: [0.0, 0.0, -9.81],
            frames: 60.0,
            stepper: StepperSpec::default(),
            keep_momentum: true,
            at_rest: false,
            contact: ContactSpec::default(),
        }
    }
}

impl WorldSpec {
    /// The step, s.
    pub fn step(&self) -> f64 {
        let explicit =
            matches!(self.stepper, StepperSpec::MixedEuler | StepperSpec::MixedEulerRelative);
        self.step.unwrap_or(if explicit { 1e-3 } else { 1.0 / 120.0 })
    }
}

/// Schemes of time integration.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum StepperSpec {
    /// Linearly implicit.
    #[default]
    Implicit,
    /// Backward Euler to a certificate; without contact.
    BackwardEuler,
    /// Explicit, nodes in the world.
    MixedEuler,
    /// Explicit, nodes relative to their bones, as \[K08\] has them.
    MixedEulerRelative,
}

/// How tissue touches.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ContactSpec {
    /// Unilateral contact with Coulomb's friction, solved with the step.
    Exact {
        /// Time in which overlaps decay, s; 0.02.
        #[serde(default = "twenty_milliseconds")]
        relaxation: f64,
    },
    /// Springs and dampers at overlapping vertices (\[K08\] Eq. 10).
    Penalty {
        /// N/m per vertex.
        stiffness: f64,
        /// N·s/m per vertex.
        #[serde(default)]
        damping: f64,
    },
}

fn twenty_milliseconds() -> f64 {
    0.02
}

impl Default for ContactSpec {
    fn default() -> Self {
        Self::Exact { relaxation: twenty_milliseconds() }
    }
}

/// A skeleton: a model file, or one made here.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SkeletonSpec {
    /// Unique name.
    pub name: String,
    /// An MJCF or URDF file, from the scene file's folder.
    #[serde(default)]
    pub file: Option<String>,
    /// `worm`, `fish` or `finger`.
    #[serde(default)]
    pub parametric: Option<Creature>,
    /// How the first bone of a parametric one moves; `free`.
    #[serde(default)]
    pub base: BaseSpec,
    /// World from the frame that the model calls world.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// Joint coordinates at the start (single axis: radians or metres); others as the model has
    /// them. Tissue has no stress in the model's own start pose.
    #[serde(default)]
    pub pose: BTreeMap<String, f64>,
    /// Stiffness of joints of one axis in place of their own, N·m/rad or N/m.
    #[serde(default)]
    pub joint_stiffness: Option<f64>,
    /// Damping of joints of one axis in place of their own, N·m·s/rad or N·s/m.
    #[serde(default)]
    pub joint_damping: Option<f64>,
}

/// A body made here.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Creature {
    /// Seven bones, 224 nodes.
    Worm,
    /// Seven bones, 108 nodes.
    Fish,
    /// Five bones, 52 nodes.
    Finger,
}

/// How the first bone moves.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum BaseSpec {
    /// Freely.
    #[default]
    Free,
    /// In the plane of x and z.
    Planar,
    /// Not at all.
    Fixed,
}

/// Tissue.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// The skeleton; the only one if left out, the ground where there is none.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// Its tetrahedra, in the frame that the skeleton's model calls world.
    pub mesh: MeshSpec,
    /// World from the mesh, for tissue without a skeleton.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// What it is made of.
    pub material: MaterialSpec,
    /// Which nodes are in bones; that of a parametric mesh is known.
    #[serde(default)]
    pub attach: Option<AttachSpec>,
    /// Dampers.
    #[serde(default)]
    pub damping: DampingSpec,
    /// A closed surface that fills part of the elements and is drawn and touches; without one the
    /// mesh's own is. A file from the scene's folder (obj, stl, ply).
    #[serde(default)]
    pub surface: Option<String>,
    /// Elements of ten nodes instead of four.
    #[serde(default)]
    pub quadratic: bool,
    /// Coefficient of friction; 0.8.
    #[serde(default)]
    pub friction: Option<f64>,
}

/// Tetrahedra.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, deny_unknown_fields)]
pub enum MeshSpec {
    /// A mesh file: Gmsh, TetGen or Medit.
    File {
        /// From the scene's folder.
        file: String,
    },
    /// Body-centred cells around a closed surface.
    Lattice {
        /// The surface's file (obj, stl, ply).
        lattice: String,
        /// Size of the cells, m.
        cell: f64,
    },
    /// One made here.
    Parametric {
        /// Which.
        parametric: Creature,
    },
    /// A box from the origin.
    Box {
        /// Its edges, m.
        size: [f64; 3],
        /// Cells along them.
        cells: [usize; 3],
    },
}

/// A law with its constants.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MaterialSpec {
    /// The law.
    #[serde(default)]
    pub model: ModelSpec,
    /// Limits of the squares of stretches within which St. Venant–Kirchhoff holds; 2/3 and 5/3.
    #[serde(default)]
    pub window: Option<[f64; 2]>,
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// kg/m³.
    pub density: f64,
}

/// Laws.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ModelSpec {
    /// St. Venant–Kirchhoff with a window, continued as an energy.
    #[default]
    Stvk,
    /// The same without a window: elements may stay inside out.
    PlainStvk,
    /// As \[K08\] continues it, without an energy.
    PublishedStvk,
    /// Stable neo-Hookean.
    StableNeoHookean,
    /// Fixed corotated.
    FixedCorotated,
}

/// Which nodes are in bones.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AttachSpec {
    /// Those nearer to bones than this, m.
    Within(f64),
    /// Nodes by link; `world` is the ground.
    Nodes(BTreeMap<String, Vec<usize>>),
    /// Named groups of the mesh file by link.
    Groups(BTreeMap<String, String>),
    /// Nodes within boxes by link: two opposite corners, m.
    Boxes(BTreeMap<String, [[f64; 3]; 2]>),
}

/// Dampers.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DampingSpec {
    /// Rate of dampers from nodes to the nearest bone, 1/s (\[K08\] Eq. 20).
    #[serde(default)]
    pub external: f64,
}

/// A free rigid body.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RigidSpec {
    /// Unique name.
    pub name: String,
    /// kg.
    pub mass: f64,
    /// Start.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// Its form; inertia follows from it.
    pub form: Geometry,
    /// Coefficient of friction; 0.8.
    #[serde(default)]
    pub friction: Option<f64>,
}

/// A shape that stands still.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ShapeSpec {
    /// Its form.
    pub form: Geometry,
    /// Where it is.
    #[serde(flatten)]
    pub place: PlaceSpec,
    /// Coefficient of friction; 0.8.
    #[serde(default)]
    pub friction: Option<f64>,
}

/// What springs of joints are drawn to over time.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ActionSpec {
    /// The skeleton; the only one if left out.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// Joints of one axis whose springs get the value as their rest, rad or m. `*` at the end
    /// stands for anything.
    pub joints: Vec<String>,
    /// What the value is multiplied with for each joint that is meant; 1 if left out.
    #[serde(default)]
    pub weights: Option<Vec<f64>>,
    /// A turn of the oscillation's phase from each joint to the next, degrees.
    #[serde(default)]
    pub lag_deg: f64,
    /// Times at which `values` are reached, s, increasing; between them the value goes smoothly.
    #[serde(default)]
    pub times: Vec<f64>,
    /// One value per time.
    #[serde(default)]
    pub values: Vec<f64>,
    /// An oscillation, added to the values.
    #[serde(default)]
    pub wave: Option<forks_sim::scene::spec::WaveSpec>,
}

/// A point that a spring and a damper draw along a way.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DragSpec {
    /// The point at the start, world, m: the vertex of the tissue's surface that is nearest.
    pub point: [f64; 3],
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    #[serde(default)]
    pub damping: f64,
    /// Times at which places are reached, s, increasing.
    pub times: Vec<f64>,
    /// Places relative to where the point is at the start, one per time, m.
    pub way: Vec<[f64; 3]>,
    /// Until when, s; the last of the times if left out.
    #[serde(default)]
    pub until: Option<f64>,
}

/// Nodes whose mean motion may be an end effector of a reduced model: where tissue touches the
/// world. Nothing of it is seen where the scene is stepped as it is.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PadSpec {
    /// Unique name.
    pub name: String,
    /// The tissue, from 1; the only one if left out.
    #[serde(default)]
    pub tissue: Option<usize>,
    /// Which nodes: at least three that are not in a line.
    pub on: PadNodes,
}

/// Nodes of a pad.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PadNodes {
    /// By number.
    Nodes(Vec<usize>),
    /// A named group of the mesh file.
    Group(String),
    /// Those of the mesh's surface within a box: two opposite corners, in the frame of the mesh, m.
    Box([[f64; 3]; 2]),
}

impl TissueSpec {
    /// A scene from text; `file` names it in errors.
    ///
    /// # Errors
    /// Text that is no scene of tissue, with the line.
    pub fn parse(text: &str, file: &str) -> Result<Self, TissueError> {
        toml::from_str(text).map_err(|e| TissueError::Syntax {
            file: file.into(),
            problem: e.to_string().trim_end().replace('\n', " "),
        })
    }

    /// A scene file.
    ///
    /// # Errors
    /// A file that cannot be read, text that is no scene of tissue.
    pub fn read(path: &Path) -> Result<Self, TissueError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| TissueError::Read { file: file.clone(), reason: e.to_string() })?;
        Self::parse(&text, &file)
    }

    /// True for text with a table `tissue`: a scene of this kind, whatever else is wrong with it.
    pub fn is_meant(text: &str) -> bool {
        text.lines().map(str::trim).any(|l| l.starts_with("[[tissue]]") || l.starts_with("[tissue"))
    }
}
