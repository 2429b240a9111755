//! One damped oscillator under a constant load, in closed form.

use forks_linalg::sqrt;

/// x⁺ = `xx` x + `xv` v + `xf` f and v⁺ = `vx` x + `vv` v + `vf` f for ẍ + 2γ ẋ + ω² x = f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Oscillator {
    pub(crate) xx: f64,
    pub(crate) xv: f64,
    pub(crate) xf: f64,
    pub(crate) vx: f64,
    pub(crate) vv: f64,
    pub(crate) vf: f64,
}

impl Oscillator {
    /// Over a time h; ω > 0, `damping` = 2γ.
    pub(crate) fn over(h: f64, omega: f64, damping: f64) -> Self {
        let gamma = 0.5 * damping;
        // (ω − γ)(ω + γ), so that nothing cancels near critical damping.
        let square = (omega - gamma) * (omega + gamma);
        let s;
        let (xx, vv);
        if square > 0.0 {
            let root = sqrt(square);
            let decay = libm::exp(-gamma * h);
            let (sine, cosine) = libm::sincos(root * h);
            s = decay * sine / root;
            (xx, vv) = (decay * cosine + gamma * s, decay * cosine - gamma * s);
        } else {
            // Rates of the slow and the fast decay; their product is ω².
            let root = sqrt(-square);
            let fast = gamma.abs() + root;
            let (slow, fast) = match gamma >= 0.0 {
                true => (omega * omega / fast, fast),
                false => (-fast, -(omega * omega / fast)),
            };
            let z = 2.0 * root * h;
            let first = if z > 0.0 { -libm::expm1(-z) / z } else { 1.0 };
            s = libm::exp(-slow * h) * h * first;
            (xx, vv) = (libm::exp(-slow * h) + slow * s, libm::exp(-fast * h) - slow * s);
        }
        let xf = response(h, omega, gamma, s, xx);
        Self { xx, xv: s, xf, vx: -omega * omega * s, vv, vf: s }
    }
}

/// Displacement under a unit load from rest, ∫ s dt.
fn response(h: f64, omega: f64, gamma: f64, s: f64, xx: f64) -> f64 {
    let (w, g) = (omega * omega * h * h, 2.0 * gamma * h);
    if w < 0.25 && g.abs() < 0.5 {
        // Taylor's series of the solution.
        let (mut before, mut last, mut sum) = (0.0, 0.5, 0.5);
        for k in 1..18 {
            let k = f64::from(k);
            (before, last) = (last, -(g * (k + 1.0) * last + w * before) / ((k + 2.0) * (k + 1.0)));
            sum += last;
        }
        return sum * h * h;
    }
    if gamma <= omega {
        return (1.0 - xx) / (omega * omega);
    }
    let fast = gamma + sqrt((gamma - omega) * (gamma + omega));
    let slow = omega * omega / fast;
    let x = slow * h;
    let reach = if x > 0.0 { -libm::expm1(-x) / slow } else { h };
    (reach - s) / fast
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice half the time is the whole time.
    #[test]
    fn two_half_steps_are_one() {
        for k in -8..=4 {
            for d in -16..=16 {
                let (h, omega) = (0.5, 2.0 * 10f64.powi(k));
                let damping = omega * 10f64.powf(0.25 * f64::from(d));
                let whole = Oscillator::over(h, omega, damping);
                let half = Oscillator::over(0.5 * h, omega, damping);
                let xx = half.xx * half.xx + half.xv * half.vx;
                let xv = half.xx * half.xv + half.xv * half.vv;
                let xf = half.xx * half.xf + half.xv * half.vf + half.xf;
                let vv = half.vx * half.xv + half.vv * half.vv;
                let vf = half.vx * half.xf + half.vv * half.vf + half.vf;
                let gaps = [
                    (whole.xx - xx).abs(),
                    (whole.vv - vv).abs(),
                    (whole.xv - xv).abs() * omega.max(1.0 / h),
                    (whole.vf - vf).abs() * omega.max(1.0 / h),
                    (whole.xf - xf).abs() * (omega * omega).max(1.0 / (h * h)),
                ];
                let gap = gaps.into_iter().fold(0.0, f64::max);
                // The phase ω h is known to ε ω h.
                let tolerance = 32.0 * f64::EPSILON * (1.0 + h * omega);
                assert!(gap < tolerance, "ωh {}, 2γ/ω {}: {gaps:?}", h * omega, damping / omega);
            }
        }
    }

    #[test]
    fn critical_damping_and_none() {
        let (h, omega) = (0.3, 4.0);
        let x = omega * h;
        let critical = Oscillator::over(h, omega, 2.0 * omega);
        let decay = (-x).exp();
        assert!((critical.xx - decay * (1.0 + x)).abs() < 8.0 * f64::EPSILON);
        assert!((critical.xv - decay * h).abs() < 8.0 * f64::EPSILON * h);
        let free = Oscillator::over(h, omega, 0.0);
        assert!((free.xx - x.cos()).abs() < 8.0 * f64::EPSILON);
        assert!((free.xf - (1.0 - x.cos()) / (omega * omega)).abs() < 8.0 * f64::EPSILON);
        // Nothing holds: x = f h²/2 to first order in ω²h².
        let soft = Oscillator::over(1e-3, 1e-6, 0.0);
        assert!((soft.xf / 0.5e-6 - 1.0).abs() < 8.0 * f64::EPSILON);
    }
}
