//! Limits over a million random steps; closed forms of braking.

use forks_control::limits::CoordinateLimits;
use forks_dynamics::mechanism::Limit;
use forks_testkit::Rng;

#[test]
fn a_million_steps_keep_position_velocity_and_acceleration() {
    let mut r = Rng::new(8);
    for robot in 0..200 {
        let (a, most) = (10f64.powf(r.range(-1.0, 3.0)), 10f64.powf(r.range(-1.0, 1.5)));
        let (h, width) = (10f64.powf(r.range(-4.0, -1.5)), 10f64.powf(r.range(-2.0, 1.0)));
        let lower = r.range(-1.0, 1.0);
        let position = Limit { lower, upper: lower + width };
        let limits = CoordinateLimits { position: Some(position), velocity: most, acceleration: a };
        let (mut q, mut v) = (r.range(lower, lower + width), 0.0);
        let (mut reached, mut wish) = (0.0f64, 1.0);
        for step in 0..5000 {
            let range = limits.range(q, v, h).unwrap();
            assert!(range.viable && range.lower <= range.upper, "{robot} {step}: {range:?}");
            if r.chance(0.002) {
                wish = r.range(-1.0, 1.0);
            }
            // As fast as it may to one side, or anything between.
            let next = match wish {
                w if w > 0.4 => range.upper,
                w if w < -0.4 => range.lower,
                _ => r.range(range.lower, range.upper),
            };
            // Rates are distances over h, which are rounded as positions are.
            let rounding = 1e-12 * (h * a + v.abs()) + 1e-15 * (3.0 + width) / h;
            assert!((next - v).abs() <= h * a + rounding, "{robot} {step}");
            assert!(next.abs() <= most * (1.0 + 1e-12));
            (q, v) = (q + h * next, next);
            let beyond = (q - position.upper).max(position.lower - q);
            assert!(beyond <= 1e-12 * (1.0 + width), "{robot} {step}: {beyond}");
            reached = reached.max(v.abs());
        }
        assert!(reached > 0.0);
    }
}

#[test]
fn the_fastest_rate_ends_at_the_limit_and_any_faster_one_beyond() {
    let limits = CoordinateLimits {
        position: Some(Limit { lower: -1.0, upper: 1.0 }),
        velocity: f64::INFINITY,
        acceleration: 50.0,
    };
    let h = 1e-3;
    let stop = |mut q: f64, mut v: f64| {
        while v > 0.0 {
            q += h * v;
            v -= h * 50.0;
        }
        q
    };
    for q in [-0.5, 0.0, 0.3, 0.9, 0.999, 0.99999] {
        // From a rate that leaves the choice to the position.
        let mut v = 0.0;
        while limits.range(q, v, h).unwrap().upper >= v + 0.05 {
            v += 0.05;
        }
        let upper = limits.range(q, v, h).unwrap().upper;
        assert!((stop(q, upper) - 1.0).abs() < 1e-12, "{q}: {}", stop(q, upper));
        assert!(stop(q, upper + 1e-6) > 1.0 + 1e-10);
    }
}

#[test]
fn too_fast_to_brake_is_said_and_brakes_with_all_there_is() {
    // At the limit with 8 rad/s and 50 rad/s²: v²/2A = 0.64 rad beyond, whatever is done.
    let limits = CoordinateLimits {
        position: Some(Limit { lower: -1.0, upper: 1.0 }),
        velocity: 10.0,
        acceleration: 50.0,
    };
    let (mut q, mut v, h) = (1.0, 8.0, 1e-4);
    let mut beyond = 0.0f64;
    for step in 0..3000 {
        let range = limits.range(q, v, h).unwrap();
        assert!(step > 0 || !range.viable);
        v = range.upper;
        q += h * v;
        beyond = beyond.max(q - 1.0);
    }
    assert!((beyond - 0.64).abs() < 1e-3, "{beyond}");
}

#[test]
fn numbers_that_cannot_be_used_are_named() {
    let good = CoordinateLimits { position: None, velocity: 1.0, acceleration: 1.0 };
    let text = |l: CoordinateLimits, q, h| l.range(q, 0.0, h).unwrap_err().to_string();
    assert_eq!(text(good, f64::NAN, 1.0), "the position is NaN");
    assert_eq!(text(good, 0.0, 0.0), "the step is 0");
    let empty = Limit { lower: 1.0, upper: 0.5 };
    let none = CoordinateLimits { position: Some(empty), ..good };
    assert_eq!(text(none, 0.0, 1.0), "the width of the range of positions is -0.5");
    let still = CoordinateLimits { acceleration: 0.0, ..good };
    assert_eq!(text(still, 0.0, 1.0), "the largest acceleration is 0");
}
