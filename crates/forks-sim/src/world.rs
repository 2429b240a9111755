//! Worlds: what is in them, and what can be asked of them.

use std::sync::Arc;

use forks_contact::{Method, Problem, Settings as ContactSettings, Solver};
use forks_lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_rom::{LoadFrame, ReducedModel, State};

use crate::{
    Shape, SimError,
    contact::{Cache, ContactPoint},
    detect::{Detector, Placed, reach},
    energy::{Energy, EnergyRecord},
    error::{check_finite, check_range},
    mechanism::Instance,
    rigid::{Rigid, RigidBody, RigidState},
    shape::prepare,
};

/// A free rigid body of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyHandle(pub(crate) usize);

/// A reduced mechanism of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MechanismHandle(pub(crate) usize);

/// A shape of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeHandle(pub(crate) usize);

/// What carries a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Nothing that moves.
    World,
    /// A rigid body: the shape's pose is in the body's frame.
    Body(BodyHandle),
    /// An effector of a reduced mechanism: the shape's pose is in the effector's frame.
    Effector {
        /// The mechanism.
        mechanism: MechanismHandle,
        /// The effector's number in the model.
        effector: usize,
    },
}

/// How a world is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// Time of a step, s; 1e-3.
    pub step: f64,
    /// Equal parts of a step, each with contacts of its own; 1. More make stiff contacts and stacks firmer.
    pub substeps: usize,
    /// Acceleration of free fall of rigid bodies, world axes, m/s²; (0, 0, −9.81). Reduced models have the gravity of the
    /// pose they were linearised in: see `README.md`.
    pub gravity: DVec3,
    /// Distance, beyond what motion closes in a step, in which contacts are looked for, m; 1e-3. It has to exceed what
    /// accelerations add within a step, h² times the largest; more costs contacts that do nothing.
    pub margin: f64,
    /// The contact solver. Gauss–Seidel with warm starts to 1e-5 in at most 100 sweeps; rebounds from 0.02 m/s on, twice
    /// what gravity adds in a step, so that bodies come to rest.
    pub contact: ContactSettings,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            step: 1e-3,
            substeps: 1,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            margin: 1e-3,
            contact: ContactSettings {
                method: Method::GaussSeidel,
                tolerance: 1e-5,
                max_sweeps: 100,
                restitution_threshold: 0.02,
                ..ContactSettings::default()
            },
        }
    }
}

/// A shape and its owner.
#[derive(Clone, Debug)]
pub(crate) struct Collider {
    pub(crate) name: String,
    pub(crate) owner: Owner,
    /// Owner's frame (of a rigid body: the frame at its centre of mass) from the library's shape.
    pub(crate) owner_from_placed: Pose,
    pub(crate) material: crate::Material,
}

/// Reduced mechanisms, free rigid bodies and static geometry, stepped together in frictional contact.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) settings: WorldSettings,
    /// Time of a substep, s.
    pub(crate) h: f64,
    pub(crate) steps: u64,
    pub(crate) bodies: Vec<Rigid>,
    pub(crate) states: Vec<RigidState>,
    pub(crate) mechanisms: Vec<Instance>,
    pub(crate) colliders: Vec<Collider>,
    pub(crate) placed: Vec<Placed>,
    /// Pairs of shapes that do not touch, in order.
    pub(crate) excluded: Vec<[usize; 2]>,
    pub(crate) detector: Detector,
    pub(crate) problem: Problem,
    pub(crate) solver: Solver,
    pub(crate) contacts: Vec<ContactPoint>,
    pub(crate) cache: Cache,
    pub(crate) record: Option<EnergyRecord>,
    pub(crate) kept: crate::step::Kept,
}

impl World {
    /// An empty world.
    ///
    /// # Errors
    /// Settings out of their range, by name.
    pub fn new(settings: WorldSettings) -> Result<Self, SimError> {
        let element = "settings of the world";
        let positive = (f64::MIN_POSITIVE, f64::MAX);
        check_range(element, "the step", settings.step, positive, "above 0")?;
        let substeps = settings.substeps as f64;
        check_range(element, "the number of substeps", substeps, (1.0, 1e6), "1 to 1e6")?;
        check_range(element, "the margin", settings.margin, (0.0, f64::MAX), "0 or more")?;
        check_finite(element, "the gravity", &settings.gravity.to_array())?;
        let h = settings.step / substeps;
        let invalid = |source| SimError::Contact { element: element.into(), source };
        Ok(Self {
            problem: Problem::new(h).map_err(invalid)?,
            settings,
            h,
            steps: 0,
            bodies: Vec::new(),
            states: Vec::new(),
            mechanisms: Vec::new(),
            colliders: Vec::new(),
            placed: Vec::new(),
            excluded: Vec::new(),
            detector: Detector::default(),
            solver: Solver::new(),
            contacts: Vec::new(),
            cache: Cache::default(),
            record: None,
            kept: crate::step::Kept::default(),
        })
    }

    /// Adds a free rigid body.
    ///
    /// # Errors
    /// A mass or inertia that is not positive, numbers that are not finite.
    pub fn add_body(&mut self, body: &RigidBody) -> Result<BodyHandle, SimError> {
        let problem = &mut self.problem;
        let (rigid, state) = Rigid::new(body, |inverse| {
            problem.add_body(inverse, &[0.0; 6]).map_err(|source| SimError::Contact {
                element: format!("body {:?}", body.name),
                source,
            })
        })?;
        self.bodies.push(rigid);
        self.states.push(state);
        Ok(BodyHandle(self.bodies.len() - 1))
    }

    /// Adds a reduced mechanism at rest in its linearisation pose; `world_from_model` places the frame that the model calls
    /// world.
    ///
    /// # Errors
    /// A model that cannot be stepped, a placement that is not finite.
    pub fn add_mechanism(
        &mut self,
        name: &str,
        model: Arc<ReducedModel>,
        world_from_model: Pose,
    ) -> Result<MechanismHandle, SimError> {
        let (problem, n) = (&mut self.problem, model.dof());
        let instance = Instance::new(name, model, world_from_model, self.h, |inverse| {
            problem.add_body(inverse, &vec![0.0; n]).map_err(|source| SimError::Contact {
                element: format!("mechanism {name:?}"),
                source,
            })
        })?;
        self.mechanisms.push(instance);
        Ok(MechanismHandle(self.mechanisms.len() - 1))
    }

    /// Adds a shape. Shapes of one owner do not touch each other.
    ///
    /// # Errors
    /// An owner that is not there, sizes that are not positive, points or triangles that make no surface, planes, meshes and
    /// height fields on something that moves.
    pub fn add_shape(&mut self, owner: Owner, shape: &Shape) -> Result<ShapeHandle, SimError> {
        let element = format!("shape {:?}", shape.name);
        let (number, owner_from_frame) = self.owner_frame(owner)?;
        check_finite(&element, "the pose", &shape.owner_from_shape.to_array())?;
        shape.material.check(&element)?;
        let prepared = prepare(&shape.name, &shape.form)?;
        if let (Some(kind), true) = (prepared.static_only, owner != Owner::World) {
            return Err(SimError::StaticOnly { shape: shape.name.clone(), kind });
        }
        let owner_from_placed =
            owner_from_frame * shape.owner_from_shape.normalized() * prepared.shape_from_prepared;
        let origin = owner_from_placed.inverse().translation;
        let reach = if owner == Owner::World { 0.0 } else { reach(&prepared.shape, origin) };
        self.colliders.push(Collider {
            name: shape.name.clone(),
            owner,
            owner_from_placed,
            material: shape.material,
        });
        self.placed.push(Placed {
            shape: prepared.shape,
            pose: owner_from_placed,
            reach,
            speed: 0.0,
            owner: number,
        });
        Ok(ShapeHandle(self.colliders.len() - 1))
    }

    /// A number of its own for an owner, and its moving frame from the frame that shapes are given in.
    fn owner_frame(&self, owner: Owner) -> Result<(usize, Pose), SimError> {
        match owner {
            Owner::World => Ok((0, Pose::IDENTITY)),
            Owner::Body(body) => {
                let center = self.body(body)?.center();
                Ok((2 * body.0 + 2, Pose::from_translation(-center)))
            }
            Owner::Effector { mechanism, effector } => {
                let count = self.instance(mechanism)?.effector_count();
                if effector >= count {
                    return Err(SimError::Missing { kind: "effector", index: effector, count });
                }
                let before = &self.mechanisms[..mechanism.0];
                let before: usize = before.iter().map(Instance::effector_count).sum();
                Ok((2 * (before + effector) + 1, Pose::IDENTITY))
            }
        }
    }

    /// Lets two shapes pass through each other.
    ///
    /// # Errors
    /// A shape that is not there.
    pub fn exclude(&mut self, a: ShapeHandle, b: ShapeHandle) -> Result<(), SimError> {
        let count = self.colliders.len();
        for index in [a.0, b.0] {
            if index >= count {
                return Err(SimError::Missing { kind: "shape", index, count });
            }
        }
        let pair = [a.0.min(b.0), a.0.max(b.0)];
        if let Err(place) = self.excluded.binary_search(&pair) {
            self.excluded.insert(place, pair);
        }
        Ok(())
    }

    /// The settings.
    pub fn settings(&self) -> &WorldSettings {
        &self.settings
    }

    /// Time since the start, s.
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.settings.step
    }

    /// Steps made.
    pub fn step_count(&self) -> u64 {
        self.steps
    }

    /// World from body.
    ///
    /// # Errors
    /// A body that is not there.
    pub fn body_pose(&self, body: BodyHandle) -> Result<Pose, SimError> {
        Ok(self.body(body)?.pose(&self.states[body.0]))
    }

    /// Twist of a body in its frame.
    ///
    /// # Errors
    /// A body that is not there.
    pub fn body_twist(&self, body: BodyHandle) -> Result<Twist, SimError> {
        Ok(self.body(body)?.twist(&self.states[body.0]))
    }

    /// Puts a body somewhere else.
    ///
    /// # Errors
    /// A body that is not there, numbers that are not finite.
    pub fn set_body(&mut self, body: BodyHandle, pose: Pose, twist: Twist) -> Result<(), SimError> {
        let rigid = self.body(body)?;
        let element = format!("body {:?}", rigid.name);
        check_finite(&element, "the pose", &pose.to_array())?;
        check_finite(&element, "the twist", &twist.to_array())?;
        self.states[body.0] = RigidState::new(&pose, twist, rigid.center());
        Ok(())
    }

    /// Force and torque on a body from now on, about its centre of mass, world axes.
    ///
    /// # Errors
    /// A body that is not there, numbers that are not finite.
    pub fn set_body_load(&mut self, body: BodyHandle, wrench: Wrench) -> Result<(), SimError> {
        let element = format!("body {:?}", self.body(body)?.name);
        check_finite(&element, "the load", &wrench.to_array())?;
        self.bodies[body.0].load = wrench;
        Ok(())
    }

    /// Linear momentum of a body (N·s) and its angular momentum about the world's origin (N·m·s), world axes.
    ///
    /// # Errors
    /// A body that is not there.
    pub fn body_momentum(&self, body: BodyHandle) -> Result<(DVec3, DVec3), SimError> {
        Ok(self.body(body)?.momentum(&self.states[body.0]))
    }

    /// The state of a mechanism.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn mechanism_state(&self, mechanism: MechanismHandle) -> Result<&State, SimError> {
        Ok(&self.instance(mechanism)?.state)
    }

    /// The model of a mechanism; its links' poses are in the model's world, see [`World::placement`].
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn model(&self, mechanism: MechanismHandle) -> Result<&Arc<ReducedModel>, SimError> {
        Ok(self.instance(mechanism)?.model())
    }

    /// World from the frame that a mechanism's model calls world.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn placement(&self, mechanism: MechanismHandle) -> Result<Pose, SimError> {
        Ok(*self.instance(mechanism)?.placement())
    }

    /// World from effector.
    ///
    /// # Errors
    /// A mechanism or effector that is not there.
    pub fn effector_pose(&self, m: MechanismHandle, effector: usize) -> Result<Pose, SimError> {
        self.check_effector(m, effector)?;
        let m = &self.mechanisms[m.0];
        Ok(*m.placement() * m.model().effector_pose(effector, m.state.eta()))
    }

    /// Sets η and η̇ of a mechanism.
    ///
    /// # Errors
    /// A mechanism that is not there, wrong lengths, numbers that are not finite.
    pub fn set_mechanism(
        &mut self,
        mechanism: MechanismHandle,
        eta: &[f64],
        velocity: &[f64],
    ) -> Result<(), SimError> {
        self.instance(mechanism)?;
        let m = &mut self.mechanisms[mechanism.0];
        let invalid = |source| SimError::Model { mechanism: m.name.clone(), source };
        m.state.set(eta, velocity).map_err(invalid)
    }

    /// Sets the servo targets of a mechanism, relative to those of its linearisation pose.
    ///
    /// # Errors
    /// A mechanism that is not there, a wrong length, numbers that are not finite.
    pub fn set_servo_targets(
        &mut self,
        mechanism: MechanismHandle,
        targets: &[f64],
    ) -> Result<(), SimError> {
        self.instance(mechanism)?;
        let m = &mut self.mechanisms[mechanism.0];
        let model = m.model().clone();
        let set = m.state.set_servo_targets(&model, targets);
        set.map_err(|source| SimError::Model { mechanism: m.name.clone(), source })
    }

    /// Wrench on an effector from now on, at its origin; a load in the other frame stays.
    ///
    /// # Errors
    /// A mechanism or effector that is not there, numbers that are not finite.
    pub fn set_effector_load(
        &mut self,
        mechanism: MechanismHandle,
        effector: usize,
        wrench: Wrench,
        frame: LoadFrame,
    ) -> Result<(), SimError> {
        self.check_effector(mechanism, effector)?;
        let m = &mut self.mechanisms[mechanism.0];
        check_finite(&format!("mechanism {:?}", m.name), "the load", &wrench.to_array())?;
        m.set_load(effector, wrench, frame);
        Ok(())
    }

    /// Points that were close enough in the last substep to touch, in a fixed order.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.contacts
    }

    /// Force on a body, an effector or the world by all contacts in the last substep, N, world axes.
    pub fn contact_force(&self, owner: Owner) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for c in &self.contacts {
            let [one, two] = c.owners;
            sum += c.impulse * (f64::from(two == owner) - f64::from(one == owner));
        }
        sum / self.h
    }

    /// Name of a shape.
    ///
    /// # Errors
    /// A shape that is not there.
    pub fn shape_name(&self, shape: ShapeHandle) -> Result<&str, SimError> {
        let (index, count) = (shape.0, self.colliders.len());
        let found = self.colliders.get(index).map(|c| c.name.as_str());
        found.ok_or(SimError::Missing { kind: "shape", index, count })
    }

    /// Energy now. Compression of soft contacts is not part of it.
    pub fn energy(&self) -> Energy {
        let mut e = Energy::default();
        for (body, s) in self.bodies.iter().zip(&self.states) {
            e.kinetic += body.kinetic_energy(s);
            e.gravitational += body.gravitational_energy(s, self.settings.gravity);
        }
        for m in &self.mechanisms {
            let kinetic = m.model().kinetic_energy(m.state.velocity());
            e.kinetic += kinetic;
            e.elastic += m.model().energy(&m.state) - kinetic;
        }
        e
    }

    /// Starts a record of the energy after every step, or with `false` ends it.
    pub fn record_energy(&mut self, on: bool) {
        self.record = on.then(EnergyRecord::default);
    }

    /// The record, empty if none was started.
    pub fn energy_record(&self) -> &[(f64, Energy)] {
        self.record.as_ref().map_or(&[], |r| &r.samples)
    }

    pub(crate) fn body(&self, body: BodyHandle) -> Result<&Rigid, SimError> {
        let (index, count) = (body.0, self.bodies.len());
        self.bodies.get(index).ok_or(SimError::Missing { kind: "body", index, count })
    }

    fn instance(&self, m: MechanismHandle) -> Result<&Instance, SimError> {
        let (index, count) = (m.0, self.mechanisms.len());
        self.mechanisms.get(index).ok_or(SimError::Missing { kind: "mechanism", index, count })
    }

    fn check_effector(&self, m: MechanismHandle, index: usize) -> Result<(), SimError> {
        let count = self.instance(m)?.effector_count();
        if index < count {
            return Ok(());
        }
        Err(SimError::Missing { kind: "effector", index, count })
    }
}
