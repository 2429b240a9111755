//! From a scene file to a world.

use std::{path::Path, sync::Arc};

use forks_blend::{BlendedModel, FloatingBlend};
use forks_lie::{
    Pose, SpatialInertia, Twist,
    glam::{DMat3, DVec3},
};
use forks_mechanism::{ContactMask, Geometry};
use forks_reduce::{Problem, ReduceOptions};
use forks_rom::{BaseCoupling, FloatingModel, FloatingState, ModelError};

use super::{
    Fidelity, Scene, SceneMechanism, Script,
    action::Action,
    error::{SceneError, invalid},
    spec::{BodySpec, MechanismSpec, SceneSpec, ShapeSpec, WorldSpec},
};
use crate::{
    CollisionShape, Material, MechanismHandle, Owner, RigidBody, ShapeHandle, SimError, World,
    WorldSettings,
};

impl Scene {
    /// Builds a scene; the files that it names are looked for from `folder`.
    ///
    /// # Errors
    /// What is wrong with the scene, its models or its world.
    pub fn build(spec: SceneSpec, folder: &Path, fidelity: Fidelity) -> Result<Self, SceneError> {
        check_names(&spec)?;
        let tables = [spec.task, spec.keyframes, spec.mpc, spec.control];
        if tables.iter().any(|t| t.0) {
            let problem = "has tables `task`, `keyframes`, `mpc` or `control`: build it with \
                           forks-direct";
            return Err(invalid("the scene", problem));
        }
        let mut scene = Self {
            world: World::new(settings(&spec.world)?)?,
            mechanisms: Vec::new(),
            bodies: Vec::new(),
            notes: Vec::new(),
            shapes: Vec::new(),
            script: Script::default(),
            spec,
        };
        for k in 0..scene.spec.mechanisms.len() {
            let spec = scene.spec.mechanisms[k].clone();
            scene.add_mechanism(&spec, folder, fidelity)?;
        }
        for k in 0..scene.spec.bodies.len() {
            let spec = scene.spec.bodies[k].clone();
            scene.add_body(&spec)?;
        }
        for (k, s) in scene.spec.ground.clone().iter().enumerate() {
            scene.add_shape(Owner::World, s.shape("ground", k)?)?;
        }
        scene.ignore()?;
        for (k, a) in scene.spec.actions.iter().enumerate() {
            let action = Action::new(a, k, &scene)?;
            scene.script.add(action);
        }
        Ok(scene)
    }

    fn add_mechanism(
        &mut self,
        spec: &MechanismSpec,
        folder: &Path,
        fidelity: Fidelity,
    ) -> Result<(), SceneError> {
        let gravity = DVec3::from_array(self.spec.world.gravity);
        let mut m = SceneMechanism::new(spec, folder, gravity)?;
        if spec.blend.is_none() && fidelity == Fidelity::Reduced {
            m.reach_joints(spec.joint_forces())?;
        }
        self.notes.extend(m.notes.iter().cloned());
        let problem = m.problem()?;
        self.notes.extend(kept_still(&m, &problem));
        let handle = match fidelity {
            Fidelity::Reduced => self.add_reduced(spec, &m, &problem, folder)?,
            #[cfg(feature = "twin")]
            Fidelity::Full => self.add_full(&m, &problem)?,
        };
        self.world.add_joint_forces(handle, &m.mechanism, spec.joint_forces())?;
        self.script.add_mechanism(m.mechanism.servos().len());
        let frames = m.effector_frames()?;
        let first = self.shapes.len();
        let shapes = effector_shapes(spec, &m)?;
        for (b, (k, shape, mask)) in shapes.iter().enumerate() {
            let owner = Owner::Effector { mechanism: handle, effector: *k };
            self.add_shape(owner, shape.clone())?;
            for (a, (other, _, of_other)) in shapes[..b].iter().enumerate() {
                let may = m.mechanism.links_may_touch(frames[*other].link, frames[*k].link);
                if other != k && !(may && mask.meets(*of_other)) {
                    self.world.exclude(ShapeHandle(first + a), ShapeHandle(first + b))?;
                }
            }
        }
        self.mechanisms.push(m);
        Ok(())
    }

    fn add_reduced(
        &mut self,
        spec: &MechanismSpec,
        m: &SceneMechanism,
        problem: &Problem,
        folder: &Path,
    ) -> Result<MechanismHandle, SceneError> {
        if let Some(file) = &spec.blend {
            let blend = BlendedModel::load(folder.join(file)).map_err(|source| {
                SceneError::Blend { mechanism: m.name.clone(), source: Box::new(source) }
            })?;
            return self.add_blend(m, blend);
        }
        if m.floating {
            let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
            let reduction = problem.reduce(problem.at_rest(), &options);
            let reduction = reduction.map_err(|e| m.reduce_error(e))?;
            let model = FloatingModel::new(Arc::new(reduction.model), BaseCoupling::default())
                .map_err(|source| SimError::Model { mechanism: m.name.clone(), source })?;
            let start = FloatingState::new(&model).world_from_base();
            let placed = m.placement * start;
            let terms = problem.servo_terms(&problem.start, model.reduced().data());
            let handle = self.world.add_floating(&m.name, Arc::new(model), placed)?;
            self.world.set_servo_terms(handle, &terms)?;
            return Ok(handle);
        }
        let model = Arc::new(m.reduced(problem)?);
        let at = if m.gravity { &m.equilibrium(problem)?.q } else { &problem.start };
        let terms = problem.servo_terms(at, model.data());
        let handle = self.world.add_mechanism(&m.name, model, m.placement)?;
        self.world.set_servo_terms(handle, &terms)?;
        Ok(handle)
    }

    /// A blend of the scene's mechanism: it has to have the same effectors and servos.
    fn add_blend(
        &mut self,
        m: &SceneMechanism,
        blend: BlendedModel,
    ) -> Result<MechanismHandle, SceneError> {
        let element = format!("mechanism {:?}", m.name);
        let found = blend.data().samples.first().map(|s| &s.model.data().effectors);
        let found: Vec<&str> = found.into_iter().flatten().map(|e| e.name.as_str()).collect();
        if found != m.effectors {
            let problem = format!("has effectors {:?}, its blend {found:?}", m.effectors);
            return Err(invalid(element, problem));
        }
        let (servos, blend) = (m.mechanism.servos().len(), Arc::new(blend));
        let handle = match m.floating {
            true => {
                let model = FloatingBlend::new(blend).map_err(|source| match source {
                    ModelError::NoBase => {
                        let problem = "floats, its blend does not: make it with --floating";
                        invalid(element, problem)
                    }
                    source => SimError::Model { mechanism: m.name.clone(), source }.into(),
                })?;
                let placed = m.placement * model.base_at_rest();
                self.world.add_floating_blend(&m.name, Arc::new(model), placed)?
            }
            false => self.world.add_blended(&m.name, blend, m.placement)?,
        };
        // Blends that cannot be driven say so.
        for target in [1.0, 0.0] {
            self.world.set_servo_targets(handle, &vec![target; servos])?;
        }
        Ok(handle)
    }

    fn add_body(&mut self, spec: &BodySpec) -> Result<(), SceneError> {
        let element = format!("body {:?}", spec.name);
        let first = spec.shapes.first();
        let first = first.ok_or_else(|| invalid(&element, "has no shape"))?;
        let inertia = match spec.inertia {
            Some(m) => {
                let tensor = DMat3::from_diagonal(DVec3::from_array(m));
                SpatialInertia::new(spec.mass, DVec3::ZERO, tensor)
            }
            None if first.place != Default::default() => {
                return Err(invalid(
                    element,
                    "needs `inertia`: its first shape is not at its origin",
                ));
            }
            None => first.form.inertia(&element, spec.mass)?,
        };
        let pose = spec.place.pose(&element)?;
        let back = pose.rotation.conjugate();
        let [v, w] = [spec.velocity, spec.spin].map(|x| back * DVec3::from_array(x));
        let mut body = RigidBody::at_rest(&spec.name, inertia, pose);
        body.twist = Twist::new(v, w);
        let handle = self.world.add_body(&body)?;
        self.bodies.push(body);
        for (k, s) in spec.shapes.iter().enumerate() {
            self.add_shape(Owner::Body(handle), s.shape(&spec.name, k)?)?;
        }
        Ok(())
    }

    fn add_shape(&mut self, owner: Owner, shape: CollisionShape) -> Result<(), SceneError> {
        self.world.add_shape(owner, &shape)?;
        self.shapes.push((owner, shape));
        Ok(())
    }

    /// Pairs that pass through each other.
    fn ignore(&mut self) -> Result<(), SceneError> {
        for [a, b] in self.spec.ignore.clone() {
            let [one, two] = [self.shapes_called(&a)?, self.shapes_called(&b)?];
            for &i in &one {
                for &j in two.iter().filter(|j| **j != i) {
                    self.world.exclude(ShapeHandle(i), ShapeHandle(j))?;
                }
            }
        }
        Ok(())
    }

    /// Shapes by their own name, their owner's, or that of the owner's mechanism.
    fn shapes_called(&self, name: &str) -> Result<Vec<usize>, SceneError> {
        let fits = |(owner, shape): &(Owner, CollisionShape)| {
            let called = self.owner_name(*owner);
            let mechanism = called.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
            shape.name == name || called == name || mechanism
        };
        let found: Vec<usize> = (0..self.shapes.len()).filter(|&k| fits(&self.shapes[k])).collect();
        if found.is_empty() {
            return Err(invalid("ignore", format!("names {name:?}, which has no shape")));
        }
        Ok(found)
    }
}

/// What of a mechanism stands still: a base that nothing holds, free bodies beside it.
fn kept_still(m: &SceneMechanism, problem: &Problem) -> Vec<String> {
    let (of, p) = (problem.mechanism(), &problem.prepared);
    let mut out = Vec::new();
    if let Some(joint) = p.held.filter(|_| !m.floating) {
        let joint = of.joint_label(joint);
        out.push(format!(
            "mechanism {:?}: free joint {joint:?} is held, as nothing else holds its tree",
            m.name
        ));
    }
    let beside = p.left_out.iter().map(|&l| of.link(l)).filter(|l| !l.auxiliary);
    let beside: Vec<&str> = beside.map(|l| l.name.as_str()).collect();
    if !beside.is_empty() {
        let names = beside.join(", ");
        out.push(format!(
            "mechanism {:?}: free bodies without an effector stand still: {names}",
            m.name
        ));
    }
    out
}

fn settings(spec: &WorldSpec) -> Result<WorldSettings, SceneError> {
    let default = WorldSettings::default();
    if !(spec.duration.is_finite() && spec.duration >= 0.0) {
        return Err(invalid("world", format!("lasts {} s", spec.duration)));
    }
    if !(spec.frames.is_finite() && spec.frames > 0.0) {
        return Err(invalid("world", format!("has {} frames per second", spec.frames)));
    }
    let mut contact = default.contact;
    contact.tolerance = spec.tolerance.unwrap_or(contact.tolerance);
    contact.max_sweeps = spec.sweeps.unwrap_or(contact.max_sweeps);
    Ok(WorldSettings {
        step: spec.step,
        substeps: spec.substeps,
        gravity: DVec3::from_array(spec.gravity),
        margin: spec.margin.unwrap_or(default.margin),
        contact,
    })
}

/// Names have to tell things apart, and `world` is taken.
fn check_names(spec: &SceneSpec) -> Result<(), SceneError> {
    let mechanisms = spec.mechanisms.iter().map(|m| &m.name);
    let names: Vec<&String> = mechanisms.chain(spec.bodies.iter().map(|b| &b.name)).collect();
    for (k, name) in names.iter().enumerate() {
        if name.is_empty() || name.as_str() == "world" || name.contains('/') {
            let problem = "is no name for a body or mechanism";
            return Err(invalid(format!("{name:?}"), problem));
        }
        if names[..k].contains(name) {
            return Err(invalid(format!("{name:?}"), "names two things"));
        }
    }
    Ok(())
}

/// Shapes of effectors with the effectors' numbers and what they touch within the mechanism: the
/// model's own, then the scene's.
fn effector_shapes(
    spec: &MechanismSpec,
    m: &SceneMechanism,
) -> Result<Vec<(usize, CollisionShape, ContactMask)>, SceneError> {
    let frames = &m.effector_frames()?[..m.touching];
    let mut out = Vec::new();
    for (e, frame) in frames.iter().enumerate().filter(|_| spec.own_shapes) {
        for (k, s) in m.mechanism.shapes().iter().enumerate() {
            if s.link != frame.link || s.geometry == Geometry::Plane {
                continue;
            }
            let name =
                if s.name.is_empty() { format!("{}.own{k}", frame.name) } else { s.name.clone() };
            let pose: Pose = frame.link_from_effector.inverse() * s.link_from_shape;
            let material = Material::with_friction(spec.friction.unwrap_or(s.friction));
            out.push((
                e,
                CollisionShape::new(name, s.geometry.clone()).at(pose).of(material),
                s.mask,
            ));
        }
    }
    if let Some(held) = &spec.holds {
        let shape = ShapeSpec {
            name: Some(held.name.clone()),
            on: None,
            form: held.form.clone(),
            place: Default::default(),
            friction: held.friction,
            restitution: None,
            compliance: None,
            relaxation: None,
        };
        out.push((0, shape.shape(&held.name, 0)?, ContactMask::default()));
    }
    for (k, s) in spec.shapes.iter().enumerate() {
        let on: Vec<usize> = match &s.on {
            None => (0..frames.len()).collect(),
            Some(name) => match m.effectors.iter().position(|e| e == name) {
                Some(e) => vec![e],
                None => {
                    let element = format!("mechanism {:?}", m.name);
                    let problem = format!("has a shape on {name:?}, which is no effector");
                    return Err(invalid(element, problem));
                }
            },
        };
        for e in on {
            out.push((e, s.shape(&m.effectors[e], k)?, ContactMask::default()));
        }
    }
    Ok(out)
}
