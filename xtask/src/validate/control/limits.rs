//! Robots that run into their limits of position, speed and acceleration.

use forks_control::limits::CoordinateLimits;
use forks_mechanism::Limit;
use forks_testkit::Rng;

use crate::validate::record::{Recorder, larger};

pub(super) fn check(robots: usize, steps: usize, out: &mut Recorder) -> Result<(), String> {
    let mut rng = Rng::new(8);
    let [mut position, mut speed, mut acceleration] = [0.0f64; 3];
    for _ in 0..robots {
        let a = 10f64.powf(rng.range(-1.0, 3.0));
        let most = 10f64.powf(rng.range(-1.0, 1.5));
        let (h, width) = (10f64.powf(rng.range(-4.0, -1.5)), 10f64.powf(rng.range(-2.0, 1.0)));
        let lower = rng.range(-1.0, 1.0);
        let range = Limit { lower, upper: lower + width };
        let limits = CoordinateLimits { position: Some(range), velocity: most, acceleration: a };
        let (mut q, mut v, mut wish) = (rng.range(lower, range.upper), 0.0, 1.0);
        for _ in 0..steps {
            let may = limits.range(q, v, h).map_err(|e| e.to_string())?;
            if !may.viable {
                return Err(format!("no way to brake from {q} with {v}"));
            }
            if rng.chance(0.002) {
                wish = rng.range(-1.0, 1.0);
            }
            let next = match wish {
                w if w > 0.4 => may.upper,
                w if w < -0.4 => may.lower,
                _ => rng.range(may.lower, may.upper),
            };
            // A rate is a difference of positions over h, which is rounded as they are.
            let rounding = 4.0 * f64::EPSILON * (3.0 + width) / h;
            let beyond =
                ((next - v).abs() - rounding) / (h * a + v.abs()) - h * a / (h * a + v.abs());
            acceleration = larger(acceleration, beyond.max(0.0));
            (q, v) = (q + h * next, next);
            speed = larger(speed, (next.abs() / most - 1.0).max(0.0));
            position =
                larger(position, ((q - range.upper).max(lower - q) / (1.0 + width)).max(0.0));
        }
    }
    let of = |what: &str| format!("{what} beyond its limit, {robots} robots of {steps} steps");
    out.at_most(&of("position"), position, 1e-12);
    out.at_most(&of("speed"), speed, 1e-12);
    out.at_most(&of("acceleration"), acceleration, 1e-12);
    out.info("overshoot where a limit acts as a spring, rad", penalty());
    Ok(())
}

/// How far a joint with at most 50 rad/s² and 8 rad/s goes beyond a limit that begins to act there.
fn penalty() -> f64 {
    let (h, most, mut q, mut v, mut beyond) = (1e-3, 50.0, 0.0f64, 0.0f64, 0.0f64);
    for _ in 0..4000 {
        let a = match q <= 1.0 {
            true => most,
            false => (-1e4 * (q - 1.0) - 200.0 * v).clamp(-most, most),
        };
        v = (v + h * a).min(8.0);
        q += h * v;
        beyond = beyond.max(q - 1.0);
    }
    beyond
}
