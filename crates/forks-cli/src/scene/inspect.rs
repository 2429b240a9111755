//! `forks inspect SCENE.toml`: what a scene is made of, and what of it other simulators would get.

use std::{path::Path, process::ExitCode};

use forks_mechanism::Geometry;
use forks_sim::{
    CollisionShape, Owner,
    scene::{Fidelity, Scene, SceneMechanism, spec::ActionSpec, spec::MechanismSpec},
};
use serde::Serialize;

use super::{load, refused};
use crate::{error::CliError, output};

/// Runs the command.
pub(crate) fn inspect(path: &Path, json: bool) -> Result<ExitCode, CliError> {
    let scene = load(path, Fidelity::Reduced, |_| ())?.scene;
    let report = Inspection::new(&scene).map_err(|e| refused(path, e))?;
    output::print(&report, json, Inspection::text)
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
pub(super) struct Inspection {
    pub(super) scene: String,
    /// Paragraphs.
    pub(super) about: Vec<String>,
    /// Simulated time, s.
    pub(super) duration: f64,
    pub(super) step: f64,
    pub(super) substeps: usize,
    pub(super) steps: u64,
    pub(super) gravity: [f64; 3],
    pub(super) mechanisms: Vec<MechanismEntry>,
    pub(super) bodies: Vec<BodyEntry>,
    pub(super) ground: Vec<ShapeEntry>,
    pub(super) actions: Vec<ActionEntry>,
    /// Pairs that pass through each other.
    pub(super) ignored: Vec<[String; 2]>,
    pub(super) mjcf: ExportEntry,
    pub(super) notes: Vec<String>,
}

/// A mechanism.
#[derive(Debug, Serialize)]
pub(super) struct MechanismEntry {
    pub(super) name: String,
    /// File, or name in the library.
    pub(super) source: String,
    /// How it moves: `single`, `blended` or `floating`.
    pub(super) kind: &'static str,
    pub(super) links: usize,
    /// Velocity coordinates of all joints but those that close loops.
    pub(super) dof: usize,
    /// Velocity coordinates of its model.
    pub(super) reduced_dof: usize,
    pub(super) mass: f64,
    /// It is linearised about its equilibrium under gravity, or gravity moves it.
    pub(super) gravity: bool,
    /// The model's joint limits are enforced.
    pub(super) limits: bool,
    /// The dry friction of the model's joints acts.
    pub(super) joint_friction: bool,
    pub(super) effectors: Vec<EffectorEntry>,
    pub(super) servos: Vec<String>,
}

/// An effector.
#[derive(Debug, Serialize)]
pub(super) struct EffectorEntry {
    pub(super) name: String,
    /// At the start, m.
    pub(super) position: [f64; 3],
    pub(super) shapes: Vec<ShapeEntry>,
}

/// A free body.
#[derive(Debug, Serialize)]
pub(super) struct BodyEntry {
    pub(super) name: String,
    pub(super) mass: f64,
    /// At the start, m.
    pub(super) position: [f64; 3],
    pub(super) shapes: Vec<ShapeEntry>,
}

/// A shape.
#[derive(Debug, Serialize)]
pub(super) struct ShapeEntry {
    pub(super) name: String,
    pub(super) form: &'static str,
    /// With the sizes.
    #[serde(skip)]
    pub(super) shown: String,
    pub(super) friction: f64,
}

/// What servos or forces do.
#[derive(Debug, Serialize)]
pub(super) struct ActionEntry {
    /// `servos`, `force on a body` or `force on an effector`.
    pub(super) kind: &'static str,
    /// The body, or the mechanism.
    pub(super) of: String,
    /// Patterns of servos, or the effector.
    pub(super) on: Vec<String>,
    /// When it begins to change and when it ends, s; none: it never does.
    pub(super) from: Option<f64>,
    pub(super) until: Option<f64>,
    /// Between which values the steps lie, the oscillation not counted.
    pub(super) range: Option<[f64; 2]>,
    /// Hz, where it oscillates.
    pub(super) frequency: Option<f64>,
}

/// What `forks simulate --mjcf` would write.
#[derive(Debug, Serialize)]
pub(super) struct ExportEntry {
    /// Why it cannot be written.
    pub(super) refused: Option<String>,
    pub(super) actuators: Vec<String>,
    /// What would not be as in the scene.
    pub(super) notes: Vec<String>,
}

impl Inspection {
    fn new(scene: &Scene) -> Result<Self, forks_sim::scene::SceneError> {
        let spec = &scene.spec;
        let mechanisms = scene.mechanisms.iter().zip(&spec.mechanisms);
        let bodies = spec.bodies.iter().map(|b| {
            let owner = Owner::Body(scene.body(&b.name).expect("a body of this scene"));
            let position = scene.owner_pose(owner).translation.to_array();
            BodyEntry { name: b.name.clone(), mass: b.mass, position, shapes: shapes(scene, owner) }
        });
        Ok(Self {
            scene: spec.title.clone(),
            about: spec.paragraphs().collect(),
            duration: spec.world.duration,
            step: spec.world.step,
            substeps: spec.world.substeps,
            steps: scene.step_count(),
            gravity: spec.world.gravity,
            bodies: bodies.collect(),
            ground: shapes(scene, Owner::World),
            actions: spec.actions.iter().map(ActionEntry::new).collect(),
            ignored: spec.ignore.clone(),
            mjcf: ExportEntry::new(scene),
            notes: scene.notes.clone(),
            mechanisms: mechanisms.map(|(m, s)| MechanismEntry::new(scene, m, s)).collect(),
        })
    }
}

impl MechanismEntry {
    fn new(scene: &Scene, m: &SceneMechanism, spec: &MechanismSpec) -> Self {
        let handle = scene.mechanism(&m.name).expect("a mechanism of this scene");
        let effectors = m.effectors.iter().enumerate().map(|(effector, name)| {
            let owner = Owner::Effector { mechanism: handle, effector };
            let position = scene.owner_pose(owner).translation.to_array();
            EffectorEntry { name: name.clone(), position, shapes: shapes(scene, owner) }
        });
        let links = m.mechanism.moving_links().filter(|(_, l)| !l.auxiliary);
        Self {
            name: m.name.clone(),
            source: spec.file.clone().or(spec.parametric.clone()).unwrap_or_default(),
            kind: match (&spec.blend, m.floating) {
                (Some(_), _) => "blended",
                (None, true) => "floating",
                (None, false) => "single",
            },
            links: links.count(),
            dof: m.mechanism.tree_velocity_count(),
            reduced_dof: scene.world.velocities(handle).map_or(0, <[f64]>::len),
            mass: m.mechanism.moving_mass(),
            gravity: m.gravity || m.floating,
            limits: spec.limits,
            joint_friction: spec.joint_friction,
            effectors: effectors.collect(),
            servos: m.mechanism.servos().iter().map(|s| s.name.clone()).collect(),
        }
    }
}

impl ActionEntry {
    fn new(a: &ActionSpec) -> Self {
        let named = |x: &Option<String>| x.clone().unwrap_or_default();
        let (kind, of, on) = match (&a.body, &a.effector) {
            (Some(body), _) => ("force on a body", body.clone(), vec![]),
            (None, Some(e)) => ("force on an effector", named(&a.mechanism), vec![e.clone()]),
            (None, None) => ("servos", named(&a.mechanism), a.servos.clone()),
        };
        // Steps end with the last value; an oscillation without an end never does.
        let steps = (a.times.len() > 1).then(|| [a.times[0], a.times[a.times.len() - 1]]);
        let wave = a.wave.as_ref().map(|w| [w.from, w.until.unwrap_or(f64::INFINITY)]);
        let both = || steps.into_iter().chain(wave);
        let low = a.values.iter().copied().reduce(f64::min);
        let high = a.values.iter().copied().reduce(f64::max);
        Self {
            kind,
            of,
            on,
            from: both().map(|s| s[0]).reduce(f64::min),
            until: both().map(|s| s[1]).reduce(f64::max).filter(|t| t.is_finite()),
            range: low.zip(high).map(|(a, b)| [a, b]),
            frequency: a.wave.as_ref().map(|w| w.frequency),
        }
    }
}

impl ExportEntry {
    fn new(scene: &Scene) -> Self {
        match scene.to_mjcf() {
            Ok(e) => Self {
                refused: None,
                actuators: e.controls.into_iter().map(|c| c.name).collect(),
                notes: e.notes,
            },
            Err(e) => Self { refused: Some(e.to_string()), actuators: vec![], notes: vec![] },
        }
    }
}

/// Shapes of an owner.
fn shapes(scene: &Scene, of: Owner) -> Vec<ShapeEntry> {
    let own = scene.shapes().filter(|(owner, _)| *owner == of);
    own.map(|(_, shape)| ShapeEntry::new(shape)).collect()
}

impl ShapeEntry {
    fn new(shape: &CollisionShape) -> Self {
        let (form, sizes) = form(&shape.form);
        let shown = if sizes.is_empty() { form.to_owned() } else { format!("{form} {sizes}") };
        Self { name: shape.name.clone(), form, shown, friction: shape.material.friction }
    }
}

/// What a form is called, and its sizes in m.
fn form(form: &Geometry) -> (&'static str, String) {
    let sizes = |x: &[f64]| x.iter().map(|x| output::short(*x)).collect::<Vec<_>>().join(" × ");
    match form {
        Geometry::Plane => ("plane", String::new()),
        Geometry::Sphere { radius } => ("sphere", format!("r {}", sizes(&[*radius]))),
        Geometry::Capsule { radius, half_length } => {
            ("capsule", format!("r {}, {} long", sizes(&[*radius]), sizes(&[2.0 * half_length])))
        }
        Geometry::Cylinder { radius, half_length } => {
            ("cylinder", format!("r {}, {} long", sizes(&[*radius]), sizes(&[2.0 * half_length])))
        }
        Geometry::Ellipsoid { radii } => ("ellipsoid", format!("r {}", sizes(&radii.to_array()))),
        Geometry::Box { half_extents } => ("box", sizes(&(*half_extents * 2.0).to_array())),
        Geometry::Hull { points } => ("hull", format!("of {} points", points.len())),
        Geometry::Mesh { triangles, .. } => ("mesh", format!("of {} triangles", triangles.len())),
        Geometry::HeightField { size, heights, .. } => {
            ("height field", format!("{}, {} points", sizes(&size.to_array()), heights.len()))
        }
        _ => ("form", String::new()),
    }
}
