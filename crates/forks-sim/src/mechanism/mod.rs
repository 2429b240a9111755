//! Mechanisms in a world: what all kinds of them have in common.
//!
//! The free velocity of a step comes from the model's own stepper; contact adds A⁻¹ Jᵀλ with A =
//! M + hD + h²𝓗, so that elasticity and damping are implicit in contact too (\[A16\] §6).

#[cfg(feature = "twin")]
mod full;
#[cfg(feature = "twin")]
mod full_joints;
mod reduced;

#[cfg(feature = "twin")]
pub(crate) use full::Full;
pub(crate) use reduced::Reduced;

use forks_contact::{BodyId, ContactError, NewContact, PortId, Side, point_columns};
use forks_lie::{
    Pose, Twist, Wrench,
    glam::{DMat3, DVec3},
};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Lanes, Vectors},
};
use forks_rom::{
    EffectorLoad, EffectorMotions, EffectorState, LoadFrame, ModelError, Openings, ServoTerms,
    StepStatus,
};

use crate::{SimError, error::check_finite};

/// What moves in a mechanism: a model and its state, in n generalised velocities v. Poses and world
/// axes are those of the frame that the model calls world.
pub(crate) trait Motion: core::fmt::Debug + Send + Sync {
    /// A copy.
    fn boxed(&self) -> Box<dyn Motion>;

    /// n.
    fn dof(&self) -> usize;

    fn effector_count(&self) -> usize;

    /// Generalised coordinates, as many as the kind of model has.
    fn coordinates(&self) -> &[f64];

    /// v, n numbers.
    fn velocity(&self) -> &[f64];

    /// The part of the state beyond coordinates and velocities, for [`Motion::set_extra_state`]:
    /// what a restored state needs to go on with the same bits.
    fn extra_state(&self) -> &[f64] {
        &[]
    }

    fn servo_targets(&self) -> &[f64];

    /// Copies coordinates, velocities and the extra state.
    fn keep(&self, kept: &mut Kept) {
        kept.take(self.coordinates(), self.velocity(), self.extra_state());
    }

    /// Coordinates and velocities, checked.
    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError>;

    /// Restores [`Motion::extra_state`]; call it after [`Motion::set`].
    fn set_extra_state(&mut self, _extra: &[f64]) -> Result<(), ModelError> {
        Ok(())
    }

    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError>;

    /// Its effectors in a world where it is placed so, if their Jacobians are rows over P v, P
    /// constant maps.
    fn effector_motions(&self, _world_from_model: &Pose) -> Option<EffectorMotions> {
        None
    }

    /// Effectors at the present state.
    fn update_motions(&self, _effectors: &mut EffectorMotions) {}

    /// Poses, Jacobians and twists at the present state of effectors that have no such maps.
    fn update(&self, _effectors: &mut [EffectorState]) {}

    /// A⁻¹, n × n, where there is one. Called before the first step and, where it
    /// [changes](Motion::varies), after every free step.
    fn inverse_system(&mut self) -> Option<&Matrix>;

    /// True if A depends on the state.
    fn varies(&self) -> bool {
        false
    }

    /// Takes the free step, or prepares it where [`Motion::end_with`] makes it.
    fn step_freely(&mut self, loads: &[EffectorLoad], gravity: DVec3) -> StepStatus;

    /// v⁺ that contact starts from, after the free step: its velocity, or the linear part of it
    /// where A is the linear response of a step that is not.
    fn free_velocity(&self) -> &[f64];

    /// Ends the step with the velocity that contact left; `change` is room for n numbers. What is
    /// known of the step at its end only is returned.
    fn end_with(&mut self, velocity: &[f64], change: &mut [f64]) -> Result<StepStatus, ModelError>;

    /// The solver of all joints, where there is one, and what its servos push with.
    #[cfg(feature = "twin")]
    fn full(&mut self) -> Option<&mut Full> {
        None
    }

    /// Why the last step that failed did, where the model knows.
    fn failure(&self) -> Option<&'static str> {
        None
    }

    /// Kinetic energy, J.
    fn kinetic_energy(&self) -> f64;

    /// Energy of the springs about their present targets, over the linearisation pose, the static
    /// loads' potential included, J.
    fn elastic_energy(&self) -> f64;

    /// How that depends on the targets, for models that do not say themselves.
    fn set_servo_terms(&mut self, _terms: &ServoTerms) {}

    /// Energy in the world's gravity, as far as it is not part of the elastic one, J.
    fn gravitational_energy(&self, _gravity: DVec3) -> f64 {
        0.0
    }

    /// Linear momentum and angular momentum about the origin, where nothing holds the mechanism.
    fn momentum(&self) -> Option<(DVec3, DVec3)> {
        None
    }

    /// Joints that the model knows.
    fn joint_count(&self) -> usize {
        0
    }

    /// A joint and how many coordinates it has, by name.
    fn find_joint(&self, _name: &str) -> Option<(usize, usize)> {
        None
    }

    /// θ, a coordinate of a joint at the present state, and ∂θ/∂v into `row`.
    fn joint_coordinate(&self, _joint: usize, _coordinate: usize, row: &mut [f64]) -> f64 {
        row.fill(0.0);
        0.0
    }

    /// ∂θ̇/∂v of a joint's velocity coordinate at the present state, into `row`.
    fn joint_rate(&self, joint: usize, coordinate: usize, row: &mut [f64]) {
        self.joint_coordinate(joint, coordinate, row);
    }

    /// What opens at the present state, and where the model rests for the present servo targets;
    /// `None` where nothing is left out or the model does not know.
    fn openings(&self) -> Option<[Openings; 2]> {
        None
    }

    /// The full solver, where the mechanism is stepped by it.
    #[cfg(feature = "twin")]
    fn full_solver(&self) -> Option<&forks_dynamics::integrate::ImpulseStepper> {
        None
    }

    /// Links whose poses the model knows.
    fn link_count(&self) -> usize;

    fn link_name(&self, link: usize) -> &str;

    /// Poses of all links, one after the other.
    fn link_poses(&self, out: &mut Vec<Pose>);
}

/// A mechanism of a world.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) body: BodyId,
    pub(crate) motion: Box<dyn Motion>,
    /// World from the frame that the model calls world.
    placement: Pose,
    /// In the model's axes.
    pub(crate) loads: Vec<EffectorLoad>,
    effectors: Effectors,
    /// What contact adds to v⁺.
    change: Vec<f64>,
    /// The start of the step.
    kept: Kept,
}

/// What contact needs to know about effectors.
#[derive(Clone, Debug)]
enum Effectors {
    /// Jacobians are rows over six rates of each effector.
    Ported { motions: EffectorMotions, ports: Vec<PortId> },
    /// Jacobians are rows over all velocities.
    Direct(Vec<EffectorState>),
}

/// A state; servo targets where they are part of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    pub(crate) coordinates: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) extra_state: Vec<f64>,
    pub(crate) servo_targets: Vec<f64>,
}

impl Clone for Instance {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            body: self.body,
            motion: self.motion.boxed(),
            placement: self.placement,
            loads: self.loads.clone(),
            effectors: self.effectors.clone(),
            change: self.change.clone(),
            kept: self.kept.clone(),
        }
    }
}

impl Instance {
    pub(crate) fn new(
        name: &str,
        mut motion: Box<dyn Motion>,
        placement: Pose,
        add: impl FnOnce(&Matrix, &[Matrix]) -> Result<(BodyId, Vec<PortId>), SimError>,
    ) -> Result<Self, SimError> {
        check_finite(format_args!("mechanism {name:?}"), "the placement", &placement.to_array())?;
        let n = motion.dof();
        let placement = placement.normalized();
        let motions = motion.effector_motions(&placement);
        let maps: Vec<Matrix> =
            motions.iter().flat_map(|m| (0..m.count()).map(|e| m.map(e))).collect();
        let inverse = motion.inverse_system().ok_or(ModelError::SingularStep);
        let inverse =
            inverse.map_err(|source| SimError::Model { mechanism: name.into(), source })?;
        let (body, ports) = add(inverse, &maps)?;
        let mut out = Self {
            name: name.into(),
            body,
            placement,
            loads: Vec::new(),
            effectors: match motions {
                Some(motions) => Effectors::Ported { motions, ports },
                None => Effectors::Direct(vec![EffectorState::new(n); motion.effector_count()]),
            },
            change: vec![0.0; n],
            kept: Kept::default(),
            motion,
        };
        out.update_effectors();
        Ok(out)
    }

    pub(crate) fn effector_count(&self) -> usize {
        match &self.effectors {
            Effectors::Ported { motions, .. } => motions.count(),
            Effectors::Direct(states) => states.len(),
        }
    }

    /// World from effector.
    pub(crate) fn effector_pose(&self, e: usize) -> Pose {
        match &self.effectors {
            Effectors::Ported { motions, .. } => motions.pose(e),
            Effectors::Direct(states) => states[e].pose,
        }
    }

    /// Twist of an effector in its frame.
    pub(crate) fn effector_twist(&self, e: usize) -> Twist {
        match &self.effectors {
            Effectors::Ported { motions, .. } => motions.body_twist(e),
            Effectors::Direct(states) => states[e].twist,
        }
    }

    /// How fast an effector's origin moves and how fast it turns.
    pub(crate) fn effector_speeds(&self, e: usize) -> [f64; 2] {
        match &self.effectors {
            Effectors::Ported { motions, .. } => motions.speeds(e),
            Effectors::Direct(states) => {
                let twist = &states[e].twist;
                [twist.linear.length(), twist.angular.length()]
            }
        }
    }

    /// World from the model's world.
    pub(crate) fn placement(&self) -> &Pose {
        &self.placement
    }

    /// Effectors at the present state.
    pub(crate) fn update_effectors(&mut self) {
        match &mut self.effectors {
            Effectors::Ported { motions, .. } => self.motion.update_motions(motions),
            Effectors::Direct(states) => {
                self.motion.update(states);
                for state in states {
                    state.pose = self.placement * state.pose;
                }
            }
        }
    }

    /// Replaces the loads of an effector by a wrench at its origin; world axes or the effector's.
    pub(crate) fn set_load(&mut self, effector: usize, wrench: Wrench, frame: LoadFrame) {
        let wrench = match frame {
            LoadFrame::World => {
                let back = self.placement.rotation.conjugate();
                Wrench::new(back * wrench.force, back * wrench.torque)
            }
            LoadFrame::Body => wrench,
        };
        self.loads.retain(|l| l.effector != effector || l.frame != frame);
        if wrench != Wrench::ZERO {
            self.loads.push(EffectorLoad { effector, wrench, frame });
        }
    }

    /// Gravity in the model's axes.
    fn turned_back(&self, gravity: DVec3) -> DVec3 {
        self.placement.rotation.conjugate() * gravity
    }

    /// Takes the free step, or prepares it.
    pub(crate) fn step_freely(&mut self, gravity: DVec3) -> StepStatus {
        let gravity = self.turned_back(gravity);
        self.motion.step_freely(&self.loads, gravity)
    }

    /// A⁻¹ after the free step, if it is another than before.
    pub(crate) fn changed_system(&mut self) -> Option<Option<&Matrix>> {
        self.motion.varies().then(|| self.motion.inverse_system())
    }

    /// v⁺ without contact.
    pub(crate) fn free(&self) -> &[f64] {
        self.motion.free_velocity()
    }

    /// Ends the step with the velocity that contact left.
    pub(crate) fn finish(&mut self, velocity: &[f64]) -> Result<StepStatus, ModelError> {
        let end = self.motion.end_with(velocity, &mut self.change)?;
        self.update_effectors();
        Ok(end)
    }

    /// The state.
    pub(crate) fn state(&self) -> Kept {
        let mut out = Kept { servo_targets: self.motion.servo_targets().into(), ..Kept::default() };
        self.motion.keep(&mut out);
        out
    }

    /// What moves here, in another state.
    pub(crate) fn motion_at(&self, state: &Kept) -> Result<Box<dyn Motion>, ModelError> {
        let mut motion = self.motion.boxed();
        motion.set(&state.coordinates, &state.velocity)?;
        motion.set_extra_state(&state.extra_state)?;
        motion.set_servo_targets(&state.servo_targets)?;
        Ok(motion)
    }

    /// Remembers the state.
    pub(crate) fn keep(&mut self) {
        self.motion.keep(&mut self.kept);
    }

    /// Back to what was remembered.
    pub(crate) fn restore(&mut self) -> Result<(), ModelError> {
        self.motion.set(&self.kept.coordinates, &self.kept.velocity)?;
        self.motion.set_extra_state(&self.kept.extra_state)?;
        self.update_effectors();
        Ok(())
    }

    /// Momentum in the world, where nothing holds the mechanism.
    pub(crate) fn momentum(&self) -> Option<(DVec3, DVec3)> {
        let (linear, angular) = self.motion.momentum()?;
        let p = &self.placement;
        let linear = p.rotation * linear;
        Some((linear, p.rotation * angular + p.translation.cross(linear)))
    }

    /// Kinetic, elastic and gravitational energy.
    pub(crate) fn energy(&self, gravity: DVec3) -> [f64; 3] {
        let m = &self.motion;
        let gravity = self.turned_back(gravity);
        [m.kinetic_energy(), m.elastic_energy(), m.gravitational_energy(gravity)]
    }
}

impl Kept {
    fn take(&mut self, coordinates: &[f64], velocity: &[f64], extra: &[f64]) {
        let parts = [&mut self.coordinates, &mut self.velocity, &mut self.extra_state];
        for (kept, now) in parts.into_iter().zip([coordinates, velocity, extra]) {
            if kept.len() != now.len() {
                kept.resize(now.len(), 0.0);
            }
            kept.copy_from_slice(now);
        }
    }
}

/// Columns of a point's velocities along axes of the world, one per velocity of the mechanism,
/// appended to `out`; and the first of these velocities now.
#[inline(never)]
fn point_columns_of(e: &EffectorState, point: DVec3, axes: &Vectors, out: &mut Vec<Lanes>) -> f64 {
    let back = DMat3::from_quat(e.pose.rotation);
    let arm = back.transpose() * (point - e.pose.translation);
    let columns = point_columns(arm, &axes.turned_back(&back));
    for j in 0..e.jacobian.columns() {
        let mut sum = Lanes::default();
        for (i, column) in columns.iter().enumerate() {
            let x = e.jacobian[(i, j)];
            sum.iter_mut().zip(column.0).for_each(|(sum, c)| *sum += x * c);
        }
        out.push(sum);
    }
    first_rate(&columns, &e.twist.to_array())
}

impl Instance {
    /// Velocities of a point of an effector along axes of the world as a side of a contact; returns
    /// the first of them now. `columns` is room.
    #[inline(always)]
    pub(crate) fn add_side<L: Arithmetic>(
        &self,
        l: L,
        e: usize,
        (point, axes): (DVec3, &Vectors),
        columns: &mut Vec<Lanes>,
        contact: &mut NewContact<'_>,
    ) -> Result<f64, ContactError> {
        match &self.effectors {
            Effectors::Ported { motions, ports } => {
                let (six, rate) = motions.point_columns(l, e, point, axes);
                contact.add_side(&Side::through(ports[e], &[]).by_columns(&six))?;
                Ok(rate)
            }
            Effectors::Direct(states) => {
                columns.clear();
                let rate = point_columns_of(&states[e], point, axes, columns);
                contact.add_side(&Side::of(self.body, &[]).by_columns(columns))?;
                Ok(rate)
            }
        }
    }
}

/// The first row of a Jacobian times rates.
#[inline(always)]
pub(crate) fn first_rate(columns: &[Lanes; 6], rates: &[f64; 6]) -> f64 {
    columns.iter().zip(rates).map(|(c, x)| c[0] * x).sum()
}
