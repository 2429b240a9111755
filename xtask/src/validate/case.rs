//! A scenario's mechanism, prepared and reduced at rest.

use std::path::Path;

use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{Equilibrium, EquilibriumOptions, solve_equilibrium},
};
use forks_import::{ImportOptions, load_mjcf};
use forks_mechanism::{
    Mechanism, MechanismBuilder,
    lie::{Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_models::{HelixJoints, Parametric};
use forks_reduce::{Basis, Problem, ProblemOptions, ReduceOptions, Response};
use forks_rom::ReducedModel;
use forks_testkit::floating as testkit;

use super::scenario::{MechanismSource, ParametricKind, Scenario};

/// Bend of the two-joint example where nothing else is said, rad.
pub(crate) const TWO_JOINT_BEND: f64 = 0.5;

/// A mechanism ready for checks.
pub(crate) struct Case {
    pub(crate) original: Mechanism,
    pub(crate) problem: Problem,
    /// The prepared mechanism with all springs at rest in the start pose, and no gravity.
    pub(crate) unstressed: Problem,
    pub(crate) reduction: AtRest,
}

/// What the reduction at rest found.
pub(crate) struct AtRest {
    pub(crate) model: ReducedModel,
    pub(crate) basis: Basis,
    pub(crate) response: Response,
    /// C, 6E × 6E.
    pub(crate) compliance: Matrix,
}

impl Case {
    pub(crate) fn load(fixtures: &Path, s: &Scenario) -> Result<Self, String> {
        let source = s.mechanism.as_ref().ok_or(format!("{}: no mechanism", s.name))?;
        let (original, own) = mechanism(fixtures, source)?;
        let effectors = if s.effectors.is_empty() { own } else { s.effectors.clone() };
        let names: Vec<&str> = effectors.iter().map(String::as_str).collect();
        let options =
            ProblemOptions { default_stiffness: s.default_stiffness, ..ProblemOptions::default() };
        let said = |e: &dyn std::fmt::Display| format!("{}: {e}", s.name);
        let problem = Problem::new(&original, &names, &options).map_err(|e| said(&e))?;
        let found = problem.reduce(problem.at_rest(), &ReduceOptions::default());
        let found = found.map_err(|e| said(&e))?;
        let (model, linear) = (found.model, found.linear);
        let (basis, response, compliance) = (linear.basis, linear.response, linear.compliance);
        let reduction = AtRest { model, basis, response, compliance };
        let unstressed = problem.mechanism().unstressed_at(&problem.start).map_err(|e| said(&e))?;
        let mut weightless = MechanismBuilder::from_mechanism(&unstressed);
        weightless.set_gravity(DVec3::ZERO);
        let unstressed = weightless.build().map_err(|e| said(&e))?;
        let unstressed = Problem::unprepared(unstressed, problem.effectors.clone());
        Ok(Self { original, problem, unstressed, reduction })
    }

    /// The mechanism's size r.
    pub(crate) fn r(&self) -> f64 {
        self.reduction.response.radius
    }

    /// A dead wrench on the first effector, world axes.
    pub(crate) fn load_on_first(&self, wrench: Wrench) -> Loads {
        Loads::none().with(self.problem.effectors[0].applied(wrench, WrenchFrame::World))
    }

    /// The equilibrium of the unstressed mechanism under loads.
    pub(crate) fn equilibrium(&self, loads: &Loads) -> Equilibrium {
        solve_equilibrium(
            self.unstressed.mechanism(),
            &self.problem.start,
            loads,
            &EquilibriumOptions::default(),
        )
    }
}

fn mechanism(
    fixtures: &Path,
    source: &MechanismSource,
) -> Result<(Mechanism, Vec<String>), String> {
    match source {
        MechanismSource::Model { path } => {
            let import = load_mjcf(&fixtures.join(path), &ImportOptions::default());
            Ok((import.map_err(|e| e.to_string())?.mechanism, vec![]))
        }
        MechanismSource::Parametric { kind, size } => {
            if let Some(floating) = floating(*kind) {
                return Ok(floating);
            }
            let p = build(*kind, *size)?;
            let names = p.effectors.iter().map(|&e| p.mechanism.link(e).name.clone()).collect();
            Ok((p.mechanism, names))
        }
    }
}

/// Mechanisms with a base that floats, and their effectors.
fn floating(kind: ParametricKind) -> Option<(Mechanism, Vec<String>)> {
    let (mechanism, effectors): (_, &[&str]) = match kind {
        ParametricKind::FloatingHub => (testkit::floating_hub(), &["a5", "b5", "c5"]),
        ParametricKind::FloatingLoop => (testkit::floating_loop(), &["bar", "c5"]),
        ParametricKind::FloatingBoom => (testkit::floating_boom(), &["a5"]),
        _ => return None,
    };
    Some((mechanism, effectors.iter().map(|&e| e.to_owned()).collect()))
}

fn build(kind: ParametricKind, size: usize) -> Result<Parametric, String> {
    Ok(match kind {
        ParametricKind::HelixHinge3 => forks_models::helix(size, HelixJoints::Hinge3),
        ParametricKind::HelixAlternating => forks_models::helix(size, HelixJoints::Alternating),
        ParametricKind::HelixHingeZ => forks_models::helix(size, HelixJoints::HingeZ),
        ParametricKind::Ladder => forks_models::ladder(size),
        ParametricKind::IrregularLadder => forks_models::irregular_ladder(size),
        ParametricKind::Y => forks_models::y_mechanism(),
        ParametricKind::Arm20 => forks_models::arm20(),
        ParametricKind::FourBar => forks_models::four_bar(),
        ParametricKind::ScottRussell => forks_models::scott_russell(),
        ParametricKind::Parallelogram => forks_models::parallelogram(),
        ParametricKind::TwoJoint => {
            forks_models::two_joint_example(TWO_JOINT_BEND).map_err(|e| e.to_string())?
        }
        ParametricKind::OctahedralTruss => forks_models::octahedral_truss(),
        ParametricKind::FloatingHub
        | ParametricKind::FloatingLoop
        | ParametricKind::FloatingBoom => {
            return Err("a mechanism of the test kit".to_owned());
        }
    })
}
