//! What `forks simulate --reduced` steps: a reduced model, or a blend of several.

use std::{path::Path, sync::Arc};

use forks_blend::{Blend, BlendedModel, BlendedState, BlendedStepper, LinkBlend};
use forks_dynamics::Energy;
use forks_mechanism::lie::Pose;
use forks_rom::{
    ConstraintError, EffectorLoad, Elasticity, ModelData, ModelError, Openings, PoseBuffer,
    Reconstruction, ReducedModel, Scheme, State, StepStatus, Stepper,
};

use crate::{
    error::CliError,
    simulate_args::{ElasticityChoice, SchemeChoice, SimulateArgs},
};

/// A model with its state.
pub(crate) trait Instance {
    /// Makes steps of one length.
    type Stepper;

    /// Names, links and effectors.
    fn data(&self) -> &ModelData;
    /// Largest relative displacement for which the model is meant.
    fn range(&self) -> f64;
    fn stepper(&self, h: f64) -> Result<Self::Stepper, ModelError>;
    fn step(&mut self, stepper: &Self::Stepper, loads: &[EffectorLoad]) -> StepStatus;
    /// Gravity is part of the linearisation poses; its energy is not told apart.
    fn energy(&self) -> Energy;
    /// Names of the links that are recorded.
    fn shown_links(&self) -> Vec<String>;
    /// Their poses.
    fn poses(&mut self) -> Vec<Pose>;
    fn effector_pose(&self, e: usize) -> Pose;
    fn constraint_error(&mut self) -> ConstraintError;
    /// What opens now, and where the model rests for its servo targets.
    fn openings(&self) -> [Openings; 2];
    fn coordinates(&self) -> &[f64];
    fn velocity(&self) -> &[f64];
    fn servo_targets(&self) -> &[f64];
    /// Weights of a blend's samples.
    fn weights(&self) -> Option<&[f64]>;
    fn scheme(&self) -> &'static str;
    fn elasticity(&self) -> &'static str;
}

fn names(data: &ModelData, poses: &PoseBuffer) -> Vec<String> {
    poses.links().iter().map(|&l| data.links[l].name.clone()).collect()
}

/// One reduced model.
#[derive(Clone)]
pub(crate) struct Single {
    model: Arc<ReducedModel>,
    state: State,
    poses: PoseBuffer,
    scheme: SchemeChoice,
    elasticity: ElasticityChoice,
}

impl Single {
    /// The linearisation pose at rest, with the servos' targets.
    pub(crate) fn new(
        args: &SimulateArgs,
        file: &Path,
        model: ReducedModel,
        servo_targets: &[f64],
    ) -> Result<Self, CliError> {
        let mut state = State::new(&model);
        state
            .set_servo_targets(&model, servo_targets)
            .map_err(|source| CliError::Step { path: file.into(), source })?;
        Ok(Self {
            poses: PoseBuffer::new(&model),
            model: Arc::new(model),
            state,
            scheme: args.run_time.scheme,
            elasticity: args.run_time.elasticity,
        })
    }
}

impl Instance for Single {
    type Stepper = Stepper;

    fn data(&self) -> &ModelData {
        self.model.data()
    }

    fn range(&self) -> f64 {
        self.data().range
    }

    fn stepper(&self, h: f64) -> Result<Stepper, ModelError> {
        let scheme = match self.scheme {
            SchemeChoice::Implicit => Scheme::ImplicitEuler,
            SchemeChoice::Exponential => Scheme::Exponential,
        };
        let elasticity = match self.elasticity {
            ElasticityChoice::Energy => Elasticity::Energy,
            ElasticityChoice::Linear => Elasticity::Linear,
        };
        Stepper::with(self.model.clone(), h, scheme, elasticity)
    }

    fn step(&mut self, stepper: &Stepper, loads: &[EffectorLoad]) -> StepStatus {
        stepper.step(&mut self.state, loads)
    }

    fn energy(&self) -> Energy {
        let state = &self.state;
        Energy {
            kinetic: self.model.kinetic_energy(state.velocity()),
            gravitational: 0.0,
            elastic: self.model.elastic_energy(state.eta(), state.servo_targets()),
        }
    }

    fn shown_links(&self) -> Vec<String> {
        names(self.data(), &self.poses)
    }

    fn poses(&mut self) -> Vec<Pose> {
        self.model.poses(&self.state, &mut self.poses);
        self.poses.iter().map(|(_, p)| p).collect()
    }

    fn effector_pose(&self, e: usize) -> Pose {
        self.model.effector_pose(e, self.state.eta())
    }

    fn constraint_error(&mut self) -> ConstraintError {
        self.model.constraint_error(&self.state, Reconstruction::Twist)
    }

    fn openings(&self) -> [Openings; 2] {
        let targets = self.model.target_openings(self.state.servo_targets());
        [self.model.openings(&self.state), targets.unwrap_or_default()]
    }

    fn coordinates(&self) -> &[f64] {
        self.state.eta()
    }

    fn velocity(&self) -> &[f64] {
        self.state.velocity()
    }

    fn servo_targets(&self) -> &[f64] {
        self.state.servo_targets()
    }

    fn weights(&self) -> Option<&[f64]> {
        None
    }

    fn scheme(&self) -> &'static str {
        match self.scheme {
            SchemeChoice::Implicit => "implicit",
            SchemeChoice::Exponential => "exponential",
        }
    }

    fn elasticity(&self) -> &'static str {
        match self.elasticity {
            ElasticityChoice::Energy => "energy",
            ElasticityChoice::Linear => "linear",
        }
    }
}

/// A blend.
#[derive(Clone)]
pub(crate) struct Blended {
    model: Arc<BlendedModel>,
    state: BlendedState,
    poses: PoseBuffer,
}

impl Blended {
    /// The chart's reference pose at rest, with the servos' targets.
    pub(crate) fn new(
        args: &SimulateArgs,
        file: &Path,
        model: BlendedModel,
        servo_targets: &[f64],
    ) -> Result<Self, CliError> {
        let refused =
            |option, instead| Err(CliError::NotForBlends { path: file.into(), option, instead });
        let of_file = |source| CliError::Step { path: file.into(), source };
        if args.run_time.scheme == SchemeChoice::Exponential {
            return refused("--scheme exponential", "there is --scheme implicit");
        }
        if args.run_time.elasticity == ElasticityChoice::Linear {
            return refused("--elasticity linear", "there is --elasticity energy");
        }
        let mut state = BlendedState::new(&model, &vec![0.0; model.dof()]).map_err(of_file)?;
        state.set_servo_targets(&model, servo_targets).map_err(of_file)?;
        Ok(Self { poses: model.pose_buffer(), model: Arc::new(model), state })
    }
}

impl Instance for Blended {
    type Stepper = BlendedStepper;

    fn data(&self) -> &ModelData {
        self.model.data().samples[0].model.data()
    }

    fn range(&self) -> f64 {
        self.model.data().range
    }

    fn stepper(&self, h: f64) -> Result<BlendedStepper, ModelError> {
        BlendedStepper::new(self.model.clone(), h)
    }

    fn step(&mut self, stepper: &BlendedStepper, loads: &[EffectorLoad]) -> StepStatus {
        stepper.step(&mut self.state, loads)
    }

    fn energy(&self) -> Energy {
        Energy {
            kinetic: self.state.kinetic_energy(&self.model),
            gravitational: 0.0,
            elastic: self.state.potential_energy(),
        }
    }

    fn shown_links(&self) -> Vec<String> {
        names(self.data(), &self.poses)
    }

    fn poses(&mut self) -> Vec<Pose> {
        self.model.poses(&mut self.state, LinkBlend::default(), &mut self.poses);
        self.poses.iter().map(|(_, p)| p).collect()
    }

    fn effector_pose(&self, e: usize) -> Pose {
        self.model.effector_pose(e, self.state.x())
    }

    fn constraint_error(&mut self) -> ConstraintError {
        let (mode, blend) = (Reconstruction::Twist, LinkBlend::default());
        self.model.constraint_error(&mut self.state, mode, blend)
    }

    fn openings(&self) -> [Openings; 2] {
        // Where a blend rests for its targets takes a search; what they open shows in the motion.
        [self.model.openings(&mut self.state.clone()), Openings::default()]
    }

    fn coordinates(&self) -> &[f64] {
        self.state.x()
    }

    fn velocity(&self) -> &[f64] {
        self.state.velocity()
    }

    fn servo_targets(&self) -> &[f64] {
        self.state.servo_targets()
    }

    fn weights(&self) -> Option<&[f64]> {
        Some(self.state.weights())
    }

    fn scheme(&self) -> &'static str {
        "implicit"
    }

    fn elasticity(&self) -> &'static str {
        match self.model.blend() {
            Blend::Energy => "energy",
            Blend::Eigenvectors => "eigenvectors",
            _ => "spd-manifold",
        }
    }
}
