//! Mechanisms of scenes: from a file or the library, with servos, slides and pose as the scene
//! says.

use std::{collections::BTreeSet, path::Path, sync::OnceLock};

use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions},
};
use forks_import::{ImportOptions, load_model};
use forks_lie::{Pose, glam::DVec3};
use forks_mechanism::{
    BuildError, Grasp, GraspCarrier, Joint, JointId, JointKind, JointMatrix, LinkId, Mechanism,
    MechanismBuilder, Mount, Slide,
};
use forks_reduce::{Effector, Linearisation, Problem, ProblemOptions, ReduceOptions};
use forks_rom::ReducedModel;

use super::{
    error::{SceneError, invalid},
    spec::{HeldSpec, MechanismSpec, ServoSpec, SlideSpec},
};

/// Mass of the carriage on slides, kg.
const CARRIAGE: f64 = 1.0;

/// A mechanism as the scene wants it, before it is reduced.
#[derive(Clone, Debug)]
pub struct SceneMechanism {
    /// Its name in the scene.
    pub name: String,
    /// The mechanism with servos, slides, the scene's gravity in its axes, and the linearisation
    /// pose without gravity as its start pose.
    pub mechanism: Mechanism,
    /// Names of the effectors, as [`Problem::new`] takes them.
    pub effectors: Vec<String>,
    /// How many of them, from the first on, the scene asks for: only these touch anything. The
    /// others are there for limits and dry friction of joints.
    pub touching: usize,
    /// True if the free joint at its root moves.
    pub floating: bool,
    /// World from the frame that the model calls world.
    pub placement: Pose,
    /// True if it is linearised about its equilibrium under gravity.
    pub gravity: bool,
    /// What is not exactly as in the file.
    pub notes: Vec<String>,
    /// The equilibrium under gravity, once it was asked for.
    balanced: OnceLock<Equilibrium>,
}

impl SceneMechanism {
    /// Loads and changes it; `folder` is where the scene's files are.
    pub(super) fn new(
        spec: &MechanismSpec,
        folder: &Path,
        gravity: DVec3,
    ) -> Result<Self, SceneError> {
        let element = format!("mechanism {:?}", spec.name);
        let build = |source| SceneError::Build { mechanism: spec.name.clone(), source };
        let placement = spec.place.pose(&element)?;
        let mut notes = Vec::new();
        let mut m = source(spec, folder, &element, &mut notes)?;
        if let Some(d) = spec.joint_damping {
            m = damped(&m, d).map_err(build)?;
        }
        if !spec.slides.is_empty() {
            let slide = |s: &SlideSpec| {
                let axis = DVec3::from_array(s.axis);
                Slide::new(s.name.clone(), axis, s.stiffness, s.damping)
            };
            let mount = Mount::new(CARRIAGE, spec.slides.iter().map(slide).collect());
            m = m.mounted(&mount).map_err(build)?;
        }
        if spec.floating {
            m = floating(&m, spec).map_err(build)?;
        }
        m = with_servos(&m, &spec.servos, &element, &spec.name)?;
        m = posed(&m, spec, &element, placement.rotation.conjugate() * gravity)?;
        let mut effectors = spec.effectors.clone();
        if let Some(held) = &spec.holds {
            m = holding(&m, &effectors, held, &element, &spec.name)?;
            effectors = vec![held.name.clone()];
        }
        let gravity = spec.gravity && !spec.floating;
        Ok(Self {
            name: spec.name.clone(),
            mechanism: m,
            touching: effectors.len(),
            effectors,
            floating: spec.floating,
            placement,
            gravity,
            notes,
            balanced: OnceLock::new(),
        })
    }

    /// The mechanism prepared for reduction.
    ///
    /// # Errors
    /// Effectors that do not exist.
    pub fn problem(&self) -> Result<Problem, SceneError> {
        let names: Vec<&str> = self.effectors.iter().map(String::as_str).collect();
        Problem::new(&self.mechanism, &names, &ProblemOptions::default())
            .map_err(|source| self.reduce_error(source))
    }

    /// Frames of the effectors.
    ///
    /// # Errors
    /// Effectors that do not exist.
    pub fn effector_frames(&self) -> Result<Vec<Effector>, SceneError> {
        let find = |name: &String| Effector::find(&self.mechanism, name);
        self.effectors.iter().map(find).collect::<Result<_, _>>().map_err(|e| self.reduce_error(e))
    }

    /// The model of a mechanism that does not float: about its equilibrium under gravity, or its
    /// rest pose; `problem` is [`SceneMechanism::problem`].
    ///
    /// # Errors
    /// Where there is no equilibrium or no model.
    pub fn reduced(&self, problem: &Problem) -> Result<ReducedModel, SceneError> {
        let loads = Loads::gravity();
        let at = match self.gravity {
            true => Linearisation::equilibrium(self.equilibrium(problem)?, &loads),
            false => problem.at_rest(),
        };
        let reduction = problem.reduce(at, &ReduceOptions::default());
        Ok(reduction.map_err(|e| self.reduce_error(e))?.model)
    }

    /// The equilibrium under gravity that the model is linearised about; `problem` is
    /// [`SceneMechanism::problem`].
    ///
    /// # Errors
    /// Where there is none.
    pub fn equilibrium(&self, problem: &Problem) -> Result<&Equilibrium, SceneError> {
        if let Some(e) = self.balanced.get() {
            return Ok(e);
        }
        let e = problem.equilibrium(&Loads::gravity(), &EquilibriumOptions::default());
        if e.status.is_equilibrium() {
            return Ok(self.balanced.get_or_init(|| e));
        }
        let why = e.explanation(problem.mechanism()).unwrap_or_default();
        let problem = format!("finds no equilibrium under gravity ({}): {why}", e.status.name());
        Err(invalid(format!("mechanism {:?}", self.name), problem))
    }

    pub(super) fn reduce_error(&self, source: forks_reduce::ReduceError) -> SceneError {
        SceneError::Reduce { mechanism: self.name.clone(), source: Box::new(source) }
    }
}

fn source(
    spec: &MechanismSpec,
    folder: &Path,
    element: &str,
    notes: &mut Vec<String>,
) -> Result<Mechanism, SceneError> {
    match (&spec.file, &spec.parametric) {
        (Some(file), None) => {
            let balance_inertia = spec.balance_inertia;
            let hulls = spec.own_shapes;
            let options = ImportOptions { balance_inertia, hulls, ..Default::default() };
            let import = load_model(&folder.join(file), &options).map_err(|source| {
                SceneError::Import { mechanism: spec.name.clone(), source: Box::new(source) }
            })?;
            notes.extend(import.notes.iter().map(|n| format!("{element}: {n}")));
            Ok(import.mechanism)
        }
        (None, Some(kind)) => forks_models::named(kind).map(|p| p.mechanism).ok_or_else(|| {
            let known = forks_models::NAMES.join(", ");
            invalid(element, format!("is of the unknown kind {kind:?}; there are {known}"))
        }),
        _ => Err(invalid(element, "needs either `file` or `parametric`")),
    }
}

/// True if a name is meant by a pattern: itself, or with a `*` at one of its ends for anything.
pub fn meant(pattern: &str, name: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) => name.starts_with(start),
        (None, Some(end)) => name.ends_with(end),
        (None, None) => pattern == name,
    }
}

/// A free joint in place of the one that fixes the base of the first effector, as URDF has it.
fn floating(m: &Mechanism, spec: &MechanismSpec) -> Result<Mechanism, BuildError> {
    let mut b = MechanismBuilder::from_mechanism(m);
    let root = spec.effectors.first().and_then(|e| Effector::find(m, e).ok());
    let root = root.and_then(|e| m.forest().path_to_ground(e.link).last().copied());
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        let fixes = j.kind == JointKind::Fixed && j.parent == LinkId::WORLD;
        if fixes && root.is_some_and(|r| r.joint.index() == i) {
            let free = Joint::new("base", JointKind::Free, j.parent, j.child);
            *j = free.at(j.parent_from_joint).child_at(j.child_from_joint);
        }
    }
    b.build()
}

/// The same damping in all joints of one axis.
fn damped(m: &Mechanism, d: f64) -> Result<Mechanism, BuildError> {
    let mut b = MechanismBuilder::from_mechanism(m);
    for j in b.joints_mut().iter_mut().filter(|j| j.dof() == 1) {
        j.damping = JointMatrix::isotropic(1, d);
    }
    b.build()
}

fn with_servos(
    m: &Mechanism,
    servos: &[ServoSpec],
    element: &str,
    mechanism: &str,
) -> Result<Mechanism, SceneError> {
    let mut list: Vec<(&str, f64, f64)> = Vec::new();
    for s in servos {
        let before = list.len();
        for j in m.joints() {
            let named = s.joints.iter().any(|p| meant(p, &j.name));
            let driven = m
                .servos()
                .iter()
                .any(|v| v.combination.terms.iter().any(|(c, _)| m.joint(c.joint).name == j.name));
            let soft = s.joints.is_empty() && j.spring.is_none() && !driven;
            if j.dof() == 1 && soft && j.name.is_empty() {
                return Err(invalid(
                    element,
                    "has joints without names: name those that get servos",
                ));
            }
            if j.dof() == 1 && (named || soft) && !list.iter().any(|(n, ..)| *n == j.name) {
                list.push((&j.name, s.stiffness, s.damping));
            }
        }
        if list.len() == before {
            let problem =
                format!("has a servo for {:?}, which name no joint of one axis", s.joints);
            return Err(invalid(element, problem));
        }
    }
    m.with_servos(&list).map_err(|source| SceneError::Build { mechanism: mechanism.into(), source })
}

/// The scene's pose and gravity, in the mechanism itself.
fn posed(
    m: &Mechanism,
    spec: &MechanismSpec,
    element: &str,
    gravity: DVec3,
) -> Result<Mechanism, SceneError> {
    let mut b = MechanismBuilder::from_mechanism(m);
    b.set_gravity(gravity);
    if let Some(name) = &spec.key {
        let key = m.keyframes().iter().find(|k| k.name == *name).ok_or_else(|| {
            let known: Vec<&str> = m.keyframes().iter().map(|k| k.name.as_str()).collect();
            invalid(element, format!("has no keyframe {name:?}; there are {known:?}"))
        })?;
        for (i, j) in b.joints_mut().iter_mut().enumerate() {
            // Keys have no coordinates of joints that close loops.
            if let Some(start) = key.positions.get(m.position_range(JointId::new(i))) {
                j.start = start.to_vec();
            }
        }
    }
    let mut wanted: BTreeSet<&str> = spec.pose.keys().map(String::as_str).collect();
    for j in b.joints_mut() {
        let Some(value) = spec.pose.get(&j.name) else { continue };
        if j.dof() != 1 {
            let problem = format!("has a pose for {:?}, a joint of more than one axis", j.name);
            return Err(invalid(element, problem));
        }
        wanted.remove(j.name.as_str());
        j.start = vec![*value];
    }
    if let Some(name) = wanted.first() {
        return Err(invalid(element, format!("has a pose for {name:?}, which is no joint")));
    }
    b.build().map_err(|source| SceneError::Build { mechanism: spec.name.clone(), source })
}

/// The fidelity dial: the object as a link between the fingertips (\[A16\] §1).
fn holding(
    m: &Mechanism,
    tips: &[String],
    held: &HeldSpec,
    element: &str,
    mechanism: &str,
) -> Result<Mechanism, SceneError> {
    let pose = held.place.pose(element)?;
    let inertia = held.form.inertia(element, held.mass)?;
    let mut points = Vec::new();
    for tip in tips {
        let effector = Effector::find(m, tip).map_err(|source| SceneError::Reduce {
            mechanism: mechanism.into(),
            source: Box::new(source),
        })?;
        // Where the tip's frame is: tips are small against the object.
        points.push((effector.link, effector.link_from_effector.translation));
    }
    let grasp = Grasp {
        name: held.name.clone(),
        inertia,
        world_from_object: pose,
        contacts: points,
        carrier: GraspCarrier::default(),
    };
    m.grasping(&grasp).map_err(|source| SceneError::Build { mechanism: mechanism.into(), source })
}
