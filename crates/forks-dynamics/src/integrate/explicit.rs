//! Semi-implicit Euler and the classical Runge–Kutta scheme of order 4 over the tree coordinates.

use super::{
    coordinates::{advance, normalize, position_rates},
    state::{SimulationState, SimulationStatus, System},
};

/// v⁺ = v + h a(q, v), q⁺ = q ⊞ h v⁺.
pub(crate) fn semi_implicit_euler(
    system: &mut System<'_>,
    state: &SimulationState,
    h: f64,
) -> Result<SimulationState, SimulationStatus> {
    let a = system.accelerations(&state.q, &state.v)?;
    let mut next = state.clone();
    next.v.iter_mut().zip(a).for_each(|(v, a)| *v += h * a);
    advance(system.mechanism(), &mut next.q, &next.v, h);
    Ok(next)
}

/// Rates of positions and velocities at one stage.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
}

/// Rates at a state; quaternions change with ½ q ω, so every scheme for plain coordinates applies.
pub(crate) fn rates(
    system: &mut System<'_>,
    state: &SimulationState,
) -> Result<Rates, SimulationStatus> {
    let mut q = vec![0.0; state.q.len()];
    position_rates(system.mechanism(), &state.q, &state.v, &mut q);
    Ok(Rates { q, v: system.accelerations(&state.q, &state.v)? })
}

/// state + h Σ weight · rates, quaternions brought back to length one.
pub(crate) fn combined(
    system: &System<'_>,
    state: &SimulationState,
    h: f64,
    stages: &[(f64, &Rates)],
) -> SimulationState {
    let mut next = state.clone();
    for (weight, r) in stages {
        next.q.iter_mut().zip(&r.q).for_each(|(q, r)| *q += h * weight * r);
        next.v.iter_mut().zip(&r.v).for_each(|(v, r)| *v += h * weight * r);
    }
    normalize(system.mechanism(), &mut next.q);
    next
}

/// The classical scheme of order 4.
pub(crate) fn runge_kutta_4(
    system: &mut System<'_>,
    state: &SimulationState,
    h: f64,
) -> Result<SimulationState, SimulationStatus> {
    let k1 = rates(system, state)?;
    let second = combined(system, state, h, &[(0.5, &k1)]);
    let k2 = rates(system, &second)?;
    let third = combined(system, state, h, &[(0.5, &k2)]);
    let k3 = rates(system, &third)?;
    let fourth = combined(system, state, h, &[(1.0, &k3)]);
    let k4 = rates(system, &fourth)?;
    let (sixth, third) = (1.0 / 6.0, 1.0 / 3.0);
    Ok(combined(system, state, h, &[(sixth, &k1), (third, &k2), (third, &k3), (sixth, &k4)]))
}
