//! The simulation: what it is made of, and its steps.

use forks_dynamics::mechanism::{
    Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};

use super::{
    border::Border,
    commands::Commands,
    root::Root,
    state::SoftState,
    touch::{At, Obstacles},
};
use crate::{
    body::{SoftBody, SoftError},
    skeleton::Skeleton,
};

/// Which coordinates nodes have in explicit steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Positions in the world.
    #[default]
    Absolute,
    /// Positions in the frame of the reference bone, accelerations by \[K08\] Table 5.
    Relative,
}

/// What becomes of momentum that a step does not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Momentum {
    /// Nothing.
    Free,
    /// The twist of a free root is set such that momentum changes by the outer impulses alone.
    #[default]
    Projected,
}

/// Schemes of time integration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stepper {
    /// v⁺ = v + h a(q, v), q⁺ = q ⊞ h v⁺: explicit, order 1. Relative and Free is \[K08\]'s.
    MixedEuler(Coordinates),
    /// One linear system with the projected stiffness, order 1; where that would leave more energy
    /// than there was, two of half the step.
    LinearlyImplicit,
    /// The minimum of the incremental potential, to a gradient below `tolerance` times the largest
    /// nodal force. Sensible 1e-6 to 1e-11.
    BackwardEuler {
        /// Largest part of the largest nodal force that is left.
        tolerance: f64,
    },
}

/// Settings of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftOptions {
    /// The scheme. Default: linearly implicit.
    pub stepper: Stepper,
    /// Default: projected.
    pub momentum: Momentum,
    /// True if the mechanism's gravity acts. Default true.
    pub gravity: bool,
    /// Dampers from every free node to its reference bone, as a rate c₀ (1/s): c = c₀ m (\[K08\]
    /// Eq. 20). Default 0.
    pub damping: f64,
}

impl Default for SoftOptions {
    fn default() -> Self {
        Self {
            stepper: Stepper::LinearlyImplicit,
            momentum: Momentum::default(),
            gravity: true,
            damping: 0.0,
        }
    }
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepStatus {
    /// As asked.
    Completed,
    /// Backward Euler stopped above its tolerance; the state is the best one found.
    IterationLimit,
}

/// What a step took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// How it ended.
    pub status: StepStatus,
    /// Parts that the step was made in.
    pub steps: usize,
    /// Newton steps.
    pub newton: usize,
    /// Sparse factorisations.
    pub factorisations: usize,
    /// Halvings in line searches.
    pub line_search_cuts: usize,
    /// Quadrature points whose F was decomposed, in the last evaluation of forces.
    pub decomposed: usize,
    /// Largest force that is not balanced at the end, N or N·m; 0 for schemes without equations to
    /// solve.
    pub residual: f64,
}

impl StepReport {
    pub(crate) const START: Self = Self {
        status: StepStatus::Completed,
        steps: 1,
        newton: 0,
        factorisations: 0,
        line_search_cuts: 0,
        decomposed: 0,
        residual: 0.0,
    };
}

/// A mechanism with tissue in motion.
#[derive(Clone, Debug)]
pub struct SoftSimulation {
    pub(crate) skeleton: Skeleton,
    pub(crate) body: SoftBody,
    pub(crate) options: SoftOptions,
    pub(crate) state: SoftState,
    pub(crate) root: Option<Root>,
    pub(crate) free: Vec<usize>,
    /// Forces on all nodes.
    pub(crate) forces: Vec<DVec3>,
    pub(crate) border: Border,
    pub(crate) work: Work,
    time: f64,
}

/// Memory of steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub(crate) given: Vec<f64>,
    pub(crate) prescribed: Vec<bool>,
    pub(crate) acceleration: Vec<f64>,
    pub(crate) tau: Vec<f64>,
    pub(crate) step: Vec<f64>,
}

impl SoftSimulation {
    /// At the mechanism's start pose, at rest, the tissue without stress.
    ///
    /// # Errors
    /// A mechanism with loops or couplings, a body of another mechanism, links that cannot be with
    /// the mass of their nodes, dampers that are not positive.
    pub fn new(
        mechanism: &Mechanism,
        body: SoftBody,
        options: SoftOptions,
    ) -> Result<Self, SoftError> {
        if !(options.damping >= 0.0 && options.damping.is_finite()) {
            return Err(SoftError::NotPositive {
                what: "the dampers' rate",
                value: options.damping,
            });
        }
        let links = mechanism.links().len();
        let foreign = body.reference.iter().map(|l| l.index()).find(|l| *l >= links);
        if let Some(link) = foreign {
            return Err(SoftError::OtherMechanism { link, count: links });
        }
        let merged = merged(mechanism, &body)?;
        let root = Root::of(&merged, &body);
        let skeleton = Skeleton::new(merged)?;
        let n = skeleton.dof();
        let nodes = body.mesh.nodes().len();
        let free: Vec<usize> = (0..nodes).filter(|&i| body.holder[i].is_none()).collect();
        let border = Border::new(&body, n);
        let state = SoftState {
            q: skeleton.mechanism.start_positions(),
            v: vec![0.0; n],
            x: body.mesh.nodes().to_vec(),
            velocity: vec![DVec3::ZERO; nodes],
        };
        let work = Work {
            given: vec![0.0; n],
            prescribed: vec![false; n],
            acceleration: vec![0.0; n],
            tau: vec![0.0; n],
            step: vec![0.0; n],
        };
        let forces = vec![DVec3::ZERO; nodes];
        let mut out =
            Self { skeleton, body, options, state, root, free, forces, border, work, time: 0.0 };
        out.place();
        Ok(out)
    }

    /// The mechanism with the mass of its tissue.
    pub fn mechanism(&self) -> &Mechanism {
        &self.skeleton.mechanism
    }

    /// World poses of all links, the ground first.
    pub fn link_poses(&self) -> &[Pose] {
        &self.skeleton.poses
    }

    /// The tissue.
    pub fn body(&self) -> &SoftBody {
        &self.body
    }

    /// The state.
    pub fn state(&self) -> &SoftState {
        &self.state
    }

    /// Settings.
    pub fn options(&self) -> &SoftOptions {
        &self.options
    }

    /// Time since the start, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Sets the state; nodes in bones take the places that `q` and `v` give them.
    ///
    /// # Errors
    /// A length that does not fit, a number that is not finite; the state stays.
    pub fn set_state(&mut self, state: SoftState) -> Result<(), SoftError> {
        let old = &self.state;
        for (what, found, expected) in [
            ("positions", state.q.len(), old.q.len()),
            ("velocities", state.v.len(), old.v.len()),
            ("positions of nodes", state.x.len(), old.x.len()),
            ("velocities of nodes", state.velocity.len(), old.velocity.len()),
        ] {
            if found != expected {
                return Err(SoftError::Length { what, found, expected });
            }
        }
        finite(&state)?;
        self.state = state;
        self.place();
        Ok(())
    }

    /// Puts skeleton and nodes in bones where the state says.
    pub(crate) fn place(&mut self) {
        self.skeleton.place(&self.state.q, &self.state.v);
        self.carry_nodes();
    }

    /// Positions and velocities of the nodes in bones.
    pub(crate) fn carry_nodes(&mut self) {
        for (n, holder) in self.body.holder.iter().enumerate() {
            if let Some(link) = holder {
                let x = self.skeleton.poses[link.index()].transform_point(self.body.local[n]);
                self.state.x[n] = x;
                self.state.velocity[n] = self.skeleton.velocity(link.index(), x);
            }
        }
    }

    /// Moves on by `h` seconds; after an error state and time are what they were.
    ///
    /// # Errors
    /// A step that is not positive, commands that do not fit, no answer of the dynamics, numbers
    /// that overflow.
    pub fn step(&mut self, h: f64, commands: &Commands<'_>) -> Result<StepReport, SoftError> {
        self.step_among(h, commands, None)
    }

    /// The same with what touches.
    ///
    /// # Errors
    /// As [`step`](Self::step), and backward Euler, which knows no contact.
    pub fn step_among(
        &mut self,
        h: f64,
        commands: &Commands<'_>,
        obstacles: Option<&mut (dyn Obstacles + '_)>,
    ) -> Result<StepReport, SoftError> {
        self.check(h, commands)?;
        let before = self.state.clone();
        let done = match self.options.stepper {
            Stepper::MixedEuler(coordinates) => {
                self.mixed_euler(h, coordinates, commands, obstacles)
            }
            Stepper::LinearlyImplicit => self.bounded(h, commands, obstacles),
            Stepper::BackwardEuler { .. } if obstacles.is_some() => Err(SoftError::NoContact),
            Stepper::BackwardEuler { tolerance } => self.backward_euler(h, tolerance, commands),
        };
        match done.and_then(|report| finite(&self.state).map(|()| report)) {
            Ok(report) => {
                self.time += h;
                Ok(report)
            }
            Err(e) => {
                self.state = before;
                self.place();
                Err(e)
            }
        }
    }

    pub(crate) fn check(&self, h: f64, commands: &Commands<'_>) -> Result<(), SoftError> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(SoftError::NotPositive { what: "the step", value: h });
        }
        let (n, nodes) = (self.skeleton.dof(), self.state.x.len());
        let fits = |what, found: usize, expected: usize| {
            let empty_or_all = found == 0 || found == expected;
            if empty_or_all { Ok(()) } else { Err(SoftError::Length { what, found, expected }) }
        };
        fits("forces", commands.forces.len(), n)?;
        fits("forces on nodes", commands.node_forces.len(), nodes)?;
        for (c, _) in commands.accelerations {
            if *c >= n {
                let what = "coordinates with the prescribed one";
                return Err(SoftError::Length { what, found: c + 1, expected: n });
            }
        }
        Ok(())
    }

    /// Where points of tissue and bones are.
    pub(crate) fn at(&self) -> At<'_> {
        At { skeleton: &self.skeleton, body: &self.body, state: &self.state }
    }

    /// Acceleration of free fall that acts.
    pub(crate) fn gravity(&self) -> DVec3 {
        if self.options.gravity { self.skeleton.mechanism.gravity() } else { DVec3::ZERO }
    }

    /// Elastic and commanded forces on all nodes at the state, into `forces`.
    pub(crate) fn evaluate_forces(&mut self, commands: &Commands<'_>) -> usize {
        let decomposed = self.body.elastic.forces(&self.state.x, &mut self.forces);
        for (f, more) in self.forces.iter_mut().zip(commands.node_forces) {
            *f += *more;
        }
        decomposed
    }
}

/// The first number of a state that is not finite.
fn finite(s: &SoftState) -> Result<(), SoftError> {
    for (what, values) in [("position", &s.q), ("velocity", &s.v)] {
        if let Some(index) = values.iter().position(|x| !x.is_finite()) {
            return Err(SoftError::NotFinite { what, index, value: values[index] });
        }
    }
    for (what, values) in [("node", &s.x), ("velocity of node", &s.velocity)] {
        if let Some(index) = values.iter().position(|x| !x.is_finite()) {
            let worst = values[index].to_array().into_iter().find(|x| !x.is_finite());
            return Err(SoftError::NotFinite { what, index, value: worst.unwrap_or(f64::NAN) });
        }
    }
    Ok(())
}

/// The mechanism with the masses of the nodes in its bones.
fn merged(m: &Mechanism, body: &SoftBody) -> Result<Mechanism, SoftError> {
    let mut builder = MechanismBuilder::from_mechanism(m);
    for (n, holder) in body.holder.iter().enumerate() {
        if let Some(link) = holder.filter(|l| l.index() != 0) {
            let inertia = &mut builder.links_mut()[link.index()].inertia;
            let point = SpatialInertia::new(body.masses[n], body.local[n], DMat3::ZERO);
            *inertia = inertia.combined(&point);
        }
    }
    builder.build().map_err(|e| SoftError::Mechanism(e.to_string()))
}
