//! Worlds: what is in them, and what can be asked of them.

mod bodies;
mod joint_forces;
mod mechanisms;
mod shapes;
mod trial;

pub use trial::Trial;

use forks_contact::{ContactProblem, Method, Settings as ContactSettings, Solver};
use forks_lie::glam::DVec3;

use crate::{
    SimError,
    assemble::Assembly,
    contact::{Cache, ContactPoint, Matches},
    detect::{Detector, Placed},
    energy::Energy,
    error::{check_finite, check_range},
    handles::Owner,
    joint_force::{Active, JointForce},
    mechanism::Instance,
    rigid::{Rigid, RigidState},
    shape::OwnedShape,
};

/// How a world is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// Time of a step, s; 1e-3.
    pub step: f64,
    /// Equal parts of a step, each with contacts of its own; 1. More make stiff contacts and stacks
    /// firmer.
    pub substeps: usize,
    /// Acceleration of free fall of rigid bodies and floating mechanisms, world axes, m/s²; (0, 0,
    /// −9.81). Others have that of the pose they were linearised in: see `README.md`.
    pub gravity: DVec3,
    /// Distance, beyond what motion closes in a step, in which contacts are looked for, m; 1e-3. It
    /// has to exceed what accelerations add within a step, h² times the largest; more costs
    /// contacts that do nothing.
    pub margin: f64,
    /// The contact solver. Gauss–Seidel with warm starts to 1e-5 in 2 to 100 sweeps, then the
    /// robust method; two sweeps over impulses that would do already let bodies come to rest.
    /// Rebounds from 0.02 m/s on, twice what gravity adds in a step.
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
                method: Method::Fallback,
                tolerance: 1e-5,
                min_sweeps: 2,
                max_sweeps: 100,
                restitution_threshold: 0.02,
                ..ContactSettings::default()
            },
        }
    }
}

/// The world before a step, in case numbers overflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) states: Vec<RigidState>,
    pub(crate) cache: Cache,
}

/// Reduced mechanisms, free rigid bodies and static geometry, stepped together in frictional
/// contact.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) settings: WorldSettings,
    /// Time of a substep, s.
    pub(crate) h: f64,
    pub(crate) steps: u64,
    pub(crate) bodies: Vec<Rigid>,
    pub(crate) states: Vec<RigidState>,
    /// What they become.
    pub(crate) next: Vec<RigidState>,
    pub(crate) mechanisms: Vec<Instance>,
    pub(crate) joint_forces: Vec<JointForce>,
    /// Their rows in the present problem, after the contacts.
    pub(crate) active_joints: Vec<Active>,
    pub(crate) colliders: Vec<OwnedShape>,
    pub(crate) placed: Vec<Placed>,
    /// Pairs of shapes that do not touch, in order.
    pub(crate) excluded: Vec<[usize; 2]>,
    pub(crate) detector: Detector,
    pub(crate) problem: ContactProblem,
    pub(crate) solver: Solver,
    pub(crate) contacts: Vec<ContactPoint>,
    pub(crate) cache: Cache,
    pub(crate) matches: Matches,
    pub(crate) assembly: Assembly,
    pub(crate) kept: Kept,
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
            problem: ContactProblem::new(h).map_err(invalid)?,
            settings,
            h,
            steps: 0,
            bodies: Vec::new(),
            states: Vec::new(),
            next: Vec::new(),
            mechanisms: Vec::new(),
            joint_forces: Vec::new(),
            active_joints: Vec::new(),
            colliders: Vec::new(),
            placed: Vec::new(),
            excluded: Vec::new(),
            detector: Detector::default(),
            solver: Solver::new(),
            contacts: Vec::new(),
            cache: Cache::default(),
            matches: Matches::default(),
            assembly: Assembly::default(),
            kept: Kept::default(),
        })
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

    /// Points that were close enough in the last substep to touch, in a fixed order.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.contacts
    }

    /// Force on a body, an effector or the world by all contacts in the last substep, N, world
    /// axes.
    pub fn contact_force(&self, owner: Owner) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for c in &self.contacts {
            let [one, two] = c.owners;
            sum += c.impulse * (f64::from(two == owner) - f64::from(one == owner));
        }
        sum / self.h
    }

    /// Energy now. Compression of soft contacts is not part of it.
    pub fn energy(&self) -> Energy {
        let mut e = Energy::default();
        for (body, s) in self.bodies.iter().zip(&self.states) {
            e.kinetic += body.kinetic_energy(s);
            e.gravitational += body.gravitational_energy(s, self.settings.gravity);
        }
        for m in &self.mechanisms {
            let [kinetic, elastic, gravitational] = m.energy(self.settings.gravity);
            e.kinetic += kinetic;
            e.elastic += elastic;
            e.gravitational += gravitational;
        }
        e
    }
}
