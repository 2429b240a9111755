//! Variable steps with error control: the embedded pair of orders 5 and 4 by Dormand and Prince
//! \[DP80\].

use super::{
    explicit::{Rates, combined, rates},
    state::{SimulationState, SimulationStatus, System},
};

/// Stage weights (rows of the Butcher tableau).
const STAGES: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Solution of order 5 minus solution of order 4.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// A trial step: the state of order 5 and its error in units of the tolerance (≤ 1 is accepted).
pub(crate) fn trial(
    system: &mut System<'_>,
    state: &SimulationState,
    h: f64,
    tolerance: f64,
) -> Result<(SimulationState, f64), SimulationStatus> {
    let mut k: Vec<Rates> = vec![rates(system, state)?];
    let mut next = state.clone();
    for row in STAGES {
        let stages: Vec<(f64, &Rates)> = row.iter().copied().zip(&k).collect();
        next = combined(system, state, h, &stages);
        k.push(rates(system, &next)?);
    }
    let q = scaled_error(&k, |r| &r.q, &state.q, &next.q);
    let v = scaled_error(&k, |r| &r.v, &state.v, &next.v);
    let worst = h * q.max(v) / tolerance;
    if worst.is_finite() { Ok((next, worst)) } else { Err(SimulationStatus::NotFinite) }
}

/// Largest error per unit of time, relative to 1 + |coordinate|; NaN if one is NaN.
fn scaled_error(
    k: &[Rates],
    part: impl Fn(&Rates) -> &[f64],
    before: &[f64],
    after: &[f64],
) -> f64 {
    let error = |i: usize| {
        let e: f64 = ERROR.iter().zip(k).map(|(c, k)| c * part(k)[i]).sum();
        e.abs() / (1.0 + before[i].abs().max(after[i].abs()))
    };
    (0..before.len()).map(error).fold(0.0, |m, e| if e.is_nan() { e } else { e.max(m) })
}

/// The next step's size from the error of the last one.
pub(crate) fn next_step(h: f64, error: f64) -> f64 {
    h * (0.9 * error.max(1e-10).powf(-0.2)).clamp(0.2, 5.0)
}
