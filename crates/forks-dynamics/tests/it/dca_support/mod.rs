//! Random mechanisms in motion with their exact accelerations, for the tests of the
//! divide-and-conquer solver.

use forks_dynamics::{
    dca::{DcaError, DcaInput, DcaPlan, DcaSettings, DcaStatus, DcaWorkspace, dca_with},
    mechanism::{Mechanism, lie::Wrench},
    passive::{PassiveWorkspace, passive_forces},
};
use forks_testkit::{
    JointChoice, RandomMechanismOptions, System,
    dynamics::{
        Acceleration, State, StateOptions, forward_dynamics, open_forward_dynamics, random_state,
    },
    random_mechanism,
};

/// Trees, floating trees, loops anywhere, planar loops (redundant rows): a quarter each. Rotors in
/// half.
pub(crate) fn options(seed: u64) -> RandomMechanismOptions {
    let mut joint_kinds = JointChoice::USUAL.to_vec();
    joint_kinds.extend([JointChoice::Free, JointChoice::Fixed]);
    let basis = RandomMechanismOptions {
        joint_kinds,
        armature: seed % 8 < 4,
        preload: 0.2,
        resisted: None,
        couplings: 0,
        ..RandomMechanismOptions::mixed(seed)
    };
    let extra_loops = 1 + seed as usize % 3;
    match seed % 4 {
        0 => RandomMechanismOptions { extra_loops: 0, ..basis },
        1 => RandomMechanismOptions { extra_loops: 0, floating_base: true, ..basis },
        2 => RandomMechanismOptions { extra_loops, ..basis },
        _ => RandomMechanismOptions { planar: true, extra_loops, ..basis },
    }
}

pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) mechanism: Mechanism,
    pub(crate) state: State,
    pub(crate) exact: Acceleration,
    /// By how much each acceleration may change if all numbers do by one part.
    pub(crate) sensitivity: Vec<f64>,
    /// Torques, springs and dampers of all coordinates.
    pub(crate) forces: Vec<f64>,
    pub(crate) wrenches: Vec<Wrench>,
}

impl Case {
    pub(crate) fn new(seed: u64) -> Self {
        Self::of(seed, random_mechanism(seed, &options(seed)), &StateOptions::default())
    }

    pub(crate) fn of(seed: u64, mechanism: Mechanism, o: &StateOptions) -> Self {
        let state = random_state(seed, &mechanism, o);
        let exact = forward_dynamics(&mechanism, &state);
        let wrenches = state.wrenches.iter().map(|w| Wrench::from_array(*w)).collect();
        let sensitivity = sensitivity(&mechanism, &state, &exact);
        let mut forces = vec![0.0; mechanism.velocity_count()];
        let mut work = PassiveWorkspace::new(&mechanism);
        passive_forces(&mechanism, &mut work, &state.q, &state.v, &mut forces);
        forces.iter_mut().zip(&state.tau).for_each(|(f, t)| *f += t);
        Self { seed, mechanism, state, exact, sensitivity, forces, wrenches }
    }

    pub(crate) fn input(&self) -> DcaInput<'_> {
        let n = self.mechanism.tree_velocity_count();
        DcaInput {
            q: self.state.tree_q(&self.mechanism),
            v: self.state.tree_v(&self.mechanism),
            tau: &self.forces[..n],
            external: &self.wrenches,
            closing_tau: &self.forces[n..],
            ..DcaInput::default()
        }
    }

    pub(crate) fn solve(
        &self,
        settings: &DcaSettings,
    ) -> Result<(DcaWorkspace, DcaStatus), DcaError> {
        let plan = DcaPlan::with_handles(&self.mechanism, &[], settings)?;
        let mut work = DcaWorkspace::new(&plan);
        let status = dca_with(&plan, &mut work, &self.input())?;
        Ok((work, status))
    }

    /// Largest error over sensitivity·ε.
    pub(crate) fn error(&self, found: &[f64]) -> f64 {
        let of = |(k, x): (usize, &f64)| {
            let error = (x - self.exact.joints[k]).abs();
            if error == 0.0 { 0.0 } else { error / (self.sensitivity[k] * f64::EPSILON) }
        };
        // NaN must not pass for a small number.
        found.iter().enumerate().map(of).fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
    }
}

/// The largest sensitivity in units of the mechanism's size, for every coordinate; with loops also
/// that of the open tree, whose accelerations cancel where loops lock a coordinate.
fn sensitivity(m: &Mechanism, s: &State, exact: &Acceleration) -> Vec<f64> {
    let scale = System::new(m, &s.q).scale;
    let largest =
        |x: &Acceleration| x.sensitivity.iter().zip(&scale).map(|(x, s)| x / s).fold(0.0, f64::max);
    let mut size = largest(exact);
    if !m.forest().closures().is_empty() {
        size += largest(&open_forward_dynamics(m, s));
    }
    scale.iter().map(|s| s * size).collect()
}
