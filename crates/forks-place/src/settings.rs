//! What a placement is asked for, and what it gives back.

use std::time::Duration;

use forks_blend::{BlendedModel, Weights};
use forks_dynamics::statics::EquilibriumOptions;
use forks_reduce::{MassModel, Problem};

use crate::{
    error::BlendError,
    measure::Errors,
    region::LoadRegion,
    truth::{Forces, Truth},
};

/// Coordinates in which samples are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chart {
    /// The cheapest that keeps to the tolerances: one sample in effectors' poses, one whose links
    /// follow its joints, then as many as needed in joint displacements; several samples in poses
    /// where there is no other.
    #[default]
    Auto,
    /// Logarithms of the effectors' poses.
    Poses,
    /// Joint displacements ([`forks_blend::ChartSample`]): for mechanisms that lock, as arms do
    /// that are pulled straight, and those whose start is singular. Weights are plain ones;
    /// samples cannot be added later.
    Joints,
    /// Joint displacements, one sample, links and effectors by the joints
    /// ([`forks_blend::Kinematics::Joints`]): joints of the tree never open. Where
    /// static shapes swing otherwise than the mechanism, by more than 5 % of where effectors are
    /// released, coordinates are all motions of the mechanism, if these are at most 64.
    Manifold,
}

/// What a blend is made for.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Loads for which the blend is made.
    pub regions: Vec<LoadRegion>,
    /// All regions are loaded at once, in all proportions; otherwise one at a time.
    pub together: bool,
    /// Largest constraint error allowed (gaps at joints and effectors over r), poses blended link
    /// by link.
    pub constraint_tolerance: f64,
    /// Largest static error of an effector allowed, relative to its displacement.
    pub static_tolerance: f64,
    /// The same for links that are shown by blended joint displacements; infinite: not looked at.
    pub joint_space_tolerance: f64,
    /// Largest number of samples, the one at rest included.
    pub max_samples: usize,
    /// Exponents of the weights to choose from.
    pub exponents: Vec<u32>,
    /// Weights in the samples' own metrics to choose from besides plain ones: their energies ε over
    /// the largest energy that a training load stores.
    pub energies: Vec<f64>,
    /// Seed of the training loads.
    pub seed: u64,
    /// Number of training loads; each is also a place where a sample may be.
    pub training_loads: usize,
    /// Number of other loads at which the blend is measured in the end.
    pub unseen_loads: usize,
    /// The samples' mass.
    pub mass: MassModel,
    /// Samples are exact to third order in the energy (`Sample::bent`).
    pub bent: bool,
    /// Coordinates in which samples are blended.
    pub chart: Chart,
    /// How often all samples are tried for exchange after each new one.
    pub exchanges: usize,
    /// Gravity acts.
    pub gravity: bool,
    /// The root that the problem holds is a base that floats ([`crate::with_base`]): it falls
    /// freely, so gravity is no part of the samples, and mass is that of the static shapes.
    pub floating: bool,
    /// The search ends after this time with the best that it has; none: never. It is looked at
    /// between the larger pieces of work.
    pub time_limit: Option<Duration>,
    /// Settings of the full solver.
    pub equilibrium: EquilibriumOptions,
}

impl Default for Placement {
    fn default() -> Self {
        Self {
            regions: vec![],
            together: true,
            constraint_tolerance: 0.01,
            static_tolerance: 0.02,
            joint_space_tolerance: f64::INFINITY,
            max_samples: 8,
            exponents: vec![4, 6, 8],
            energies: vec![0.1, 1.0, 10.0],
            seed: 1,
            training_loads: 96,
            unseen_loads: 64,
            mass: MassModel::Condensed,
            bent: true,
            chart: Chart::Auto,
            time_limit: Some(Duration::from_secs(60)),
            exchanges: 3,
            gravity: false,
            floating: false,
            equilibrium: EquilibriumOptions::default(),
        }
    }
}

/// How far the placement is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// A training load's equilibrium was tried.
    Trained {
        /// So many were tried.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// Sets of samples are being compared.
    Searching {
        /// Samples in each set.
        samples: usize,
        /// Largest of both errors over its tolerance, roughly, in the best set so far.
        cost: f64,
    },
    /// A blend was measured.
    Measured {
        /// Samples it has.
        samples: usize,
        /// Its largest constraint error over the training loads.
        constraint: f64,
        /// Its largest static error over them.
        statics: f64,
    },
}

/// How the placement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementStatus {
    /// The tolerances hold at all training loads.
    Reached,
    /// The largest number of samples is reached, the tolerances are not.
    SampleLimit,
    /// No other training load is left at which a sample could be added.
    Exhausted,
    /// The callback said stop; the blend so far is returned.
    Cancelled,
    /// [`Placement::time_limit`] is over; the best blend so far is returned.
    TimeLimit,
    /// The tolerances hold at all training loads, but not at all others of the region, or loads
    /// that act at once lead to another rest; see [`Certificate`].
    Unreliable,
}

/// What was checked of a blend once it was placed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Loads of the region besides the training loads at which it was measured. Where there are
    /// none, as after a search that was cut short, errors are those of rests next to the training
    /// loads' equilibria.
    pub unseen: usize,
    /// Largest constraint error over all loads, training loads included.
    pub constraint: f64,
    /// Largest of joint-space reconstruction.
    pub joint_space: f64,
    /// Largest static error, on paths on which loads grow in small parts; infinite where the blend
    /// jumps, or rests elsewhere when they grow in other parts.
    pub statics: f64,
    /// How many of these loads have an error above its tolerance.
    pub above: usize,
    /// Part of the loads drawn whose direction could be followed up to the displacement asked for:
    /// in the others the mechanism has no stable equilibrium there, or gives way so little that
    /// larger forces only stretch it.
    pub covered: f64,
    /// By which part the blend's lowest frequency at the start differs from the mechanism's; `None`
    /// where it is not known.
    pub frequency: Option<f64>,
    /// Loads that acted at once on the mechanism at rest.
    pub sudden: usize,
    /// How many of them ended elsewhere, the status having said that the range was left.
    pub sudden_out_of_range: usize,
    /// How many ended elsewhere without a word.
    pub sudden_elsewhere: usize,
}

/// A chart that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Which.
    pub chart: Chart,
    /// How it ended; `None` if it could not be built.
    pub status: Option<PlacementStatus>,
    /// Samples of its best blend.
    pub samples: usize,
    /// Largest error of its best blend over the tolerance, and why there is none.
    pub worst: Result<f64, String>,
}

/// A load whose equilibrium could not be found or reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The forces.
    pub forces: Forces,
    /// Why.
    pub reason: String,
}

/// One blend of the sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Samples that it has.
    pub samples: usize,
    /// The weights chosen.
    pub weights: Weights,
    /// Largest constraint error over the training loads.
    pub constraint: f64,
    /// Largest of joint-space reconstruction.
    pub joint_space: f64,
    /// Largest static error.
    pub statics: f64,
    /// Mean of all errors over their tolerances in which the largest count most.
    pub cost: f64,
    /// How many training loads are over a tolerance.
    pub above: usize,
    /// The forces at which the error is largest.
    pub worst: Forces,
}

/// A placed blend.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The blend.
    pub model: BlendedModel,
    /// How the placement ended.
    pub status: PlacementStatus,
    /// Its coordinates: never [`Chart::Auto`].
    pub chart: Chart,
    /// What was checked of it.
    pub certificate: Certificate,
    /// The charts that were tried, in order.
    pub attempts: Vec<Attempt>,
    /// The forces of each sample; empty at rest.
    pub loads: Vec<Forces>,
    /// Errors of each blend on the way, and in the end those with sharper weights where these are
    /// needed so that no load is worse off than with the nearest sample alone.
    pub rounds: Vec<Round>,
    /// Training loads that could not be used.
    pub skipped: Vec<Skipped>,
    /// The training loads with their equilibria.
    pub training: Vec<Truth>,
}

impl Round {
    /// Its largest errors.
    pub(crate) fn errors(&self) -> Errors {
        let Self { constraint, joint_space, statics, .. } = *self;
        Errors { constraint, joint_space, statics, angle: 0.0 }
    }
}

impl Certificate {
    /// Its largest errors.
    pub(crate) fn errors(&self) -> Errors {
        let Self { constraint, joint_space, statics, .. } = *self;
        Errors { constraint, joint_space, statics, angle: 0.0 }
    }
}

impl Placement {
    /// The largest of errors over their tolerances.
    pub(crate) fn over(&self, e: &Errors) -> f64 {
        (e.constraint / self.constraint_tolerance)
            .max(e.joint_space / self.joint_space_tolerance)
            .max(e.statics / self.static_tolerance)
    }

    pub(crate) fn check(&self, problem: &Problem) -> Result<(), BlendError> {
        if self.regions.is_empty() {
            return Err(BlendError::NoRegion);
        }
        let setting = |quantity, value: f64, ok: bool, expected| match ok {
            true => Ok(()),
            false => Err(BlendError::Setting { quantity, value, expected }),
        };
        let positive =
            |quantity, x: f64| setting(quantity, x, x.is_finite() && x > 0.0, "finite and above 0");
        let count = problem.effectors.len();
        for r in &self.regions {
            if r.effector >= count {
                return Err(BlendError::UnknownEffector { effector: r.effector, count });
            }
            positive("length of a cone's axis", r.axis.length())?;
            let open = r.half_angle >= 0.0 && r.half_angle <= core::f64::consts::PI;
            setting("half angle of a cone", r.half_angle, open, "from 0 to π")?;
            positive("largest displacement of a region", r.displacement)?;
        }
        positive("tolerance of the constraint error", self.constraint_tolerance)?;
        positive("tolerance of the static error", self.static_tolerance)?;
        let joints = self.joint_space_tolerance;
        setting("tolerance of the error in joint space", joints, joints > 0.0, "above 0")?;
        positive("number of samples", self.max_samples as f64)?;
        positive("number of training loads", self.training_loads as f64)?;
        positive("number of exponents", self.exponents.len() as f64)?;
        let refused = |what| Err(BlendError::CannotFloat { what });
        match (self.floating, self.gravity, self.mass) {
            (true, true, _) => refused("samples under gravity"),
            (true, ..) if self.chart == Chart::Manifold => refused("links that follow the joints"),
            (true, _, MassModel::Condensed) | (false, ..) => Ok(()),
            _ => refused("another mass than that of the static shapes"),
        }
    }
}
