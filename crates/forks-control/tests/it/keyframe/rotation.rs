//! Curves of rotations.

use forks_control::keyframe::{BSpline, End, RotationEnd, RotationSpline, SplineError};
use forks_dynamics::mechanism::lie::{
    glam::{DQuat, DVec3},
    so3::{exp_rotation, log_rotation},
};

const TIMES: [f64; 6] = [0.0, 0.3, 0.5, 1.1, 1.5, 2.0];

fn keys() -> Vec<DQuat> {
    let mut turn = DQuat::IDENTITY;
    let mut out = vec![turn];
    for k in 1..TIMES.len() {
        let k = k as f64;
        turn *= exp_rotation(DVec3::new((2.0 * k).sin(), (3.0 * k).cos(), (5.0 * k).sin()) * 0.6);
        out.push(turn);
    }
    out
}

fn ends(degree: usize) -> [RotationEnd; 2] {
    let acceleration = |x| (degree == 5).then_some(x);
    [
        RotationEnd {
            velocity: DVec3::new(0.5, -1.0, 0.3),
            acceleration: acceleration(DVec3::new(2.0, 1.0, -1.0)),
        },
        RotationEnd {
            velocity: DVec3::new(-0.2, 0.7, 1.3),
            acceleration: acceleration(DVec3::new(0.0, -3.0, 1.5)),
        },
    ]
}

fn splines() -> Vec<(usize, RotationSpline)> {
    let mut closed = keys();
    closed[5] = -closed[0];
    let mut out = Vec::new();
    for degree in [3, 5] {
        let [a, b] = ends(degree);
        let through = RotationSpline::interpolating(degree, &TIMES, &keys(), [&a, &b]).unwrap();
        out.push((degree, through));
        out.push((degree, RotationSpline::periodic(degree, &TIMES, &closed).unwrap()));
        out.push((degree, RotationSpline::approximating(degree, &TIMES, &keys()).unwrap()));
    }
    out
}

fn angle(a: DQuat, b: DQuat) -> f64 {
    log_rotation(a.inverse() * b).length()
}

#[test]
fn keys_are_hit_to_rounding_in_few_steps() {
    for degree in [3, 5] {
        let [a, b] = ends(degree);
        let s = RotationSpline::interpolating(degree, &TIMES, &keys(), [&a, &b]).unwrap();
        for (t, k) in TIMES.iter().zip(keys()) {
            assert!(angle(s.evaluate(*t).rotation, k) < 1e-14, "{degree} {t}");
        }
        // Where keys turn by half as much, Newton's method is where it is quadratic.
        let small: Vec<DQuat> =
            keys().iter().map(|k| exp_rotation(log_rotation(*k) * 0.3)).collect();
        let rest = RotationEnd::default();
        let s = RotationSpline::interpolating(degree, &TIMES, &small, [&rest, &rest]).unwrap();
        assert!(s.iterations() <= 6, "{}", s.iterations());
        let mut closed = keys();
        closed[5] = -closed[0];
        let s = RotationSpline::periodic(degree, &TIMES, &closed).unwrap();
        for (t, k) in TIMES.iter().zip(closed) {
            for turns in [-1.0, 0.0, 2.0] {
                let r = s.evaluate(t + turns * 2.0).rotation;
                assert!(angle(r, k) < if turns == 0.0 { 1e-14 } else { 1e-13 }, "{degree} {t}");
            }
        }
    }
}

#[test]
fn ends_have_the_rates_that_are_asked_for() {
    for degree in [3, 5] {
        let [a, b] = ends(degree);
        let s = RotationSpline::interpolating(degree, &TIMES, &keys(), [&a, &b]).unwrap();
        for (t, end) in [(0.0, a), (2.0, b)] {
            let x = s.evaluate(t);
            assert!((x.velocity - end.velocity).length() < 1e-12, "{degree} {t}");
            if let Some(acceleration) = end.acceleration {
                assert!((x.acceleration - acceleration).length() < 1e-11, "{degree} {t}");
            }
        }
    }
}

/// Richardson's extrapolation of central differences.
fn slope(mut f: impl FnMut(f64) -> DVec3, h: f64) -> DVec3 {
    let mut central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    (central(0.5 * h) * 4.0 - central(h)) / 3.0
}

#[test]
fn rates_are_those_of_differences() {
    for (degree, s) in splines() {
        for t in [0.1, 0.4, 0.7, 1.0, 1.3, 1.8] {
            let x = s.evaluate(t);
            let turn = |h: f64| log_rotation(x.rotation.inverse() * s.evaluate(t + h).rotation);
            let velocity = slope(turn, 1e-3);
            let acceleration = slope(|h| s.evaluate(t + h).velocity, 1e-3);
            let size = 1.0 + x.acceleration.length();
            assert!((velocity - x.velocity).length() < 1e-8 * size, "{degree} {t}");
            assert!((acceleration - x.acceleration).length() < 1e-8 * size * size, "{degree} {t}");
        }
    }
}

#[test]
fn velocities_and_accelerations_have_no_jumps() {
    for (degree, s) in splines() {
        for t in &TIMES[1..5] {
            let (a, b) = (s.evaluate(t.next_down()), s.evaluate(*t));
            let size = 1.0 + b.acceleration.length();
            assert!((a.velocity - b.velocity).length() < 1e-12 * size, "{degree} {t}");
            assert!((a.acceleration - b.acceleration).length() < 1e-12 * size * size);
        }
    }
}

/// Turns about one axis are plain angles: the curve is the spline of these.
#[test]
fn turns_about_one_axis_are_the_spline_of_angles() {
    let axis = DVec3::new(1.0, 2.0, -2.0) / 3.0;
    let angles = [0.0, 1.0, 3.0, 2.5, 4.0, 0.0];
    let turns: Vec<DQuat> = angles.iter().map(|a| exp_rotation(axis * *a)).collect();
    let plain: Vec<Vec<f64>> = angles.iter().map(|a| vec![*a]).collect();
    // The short way from 4 to 0 is forward, to 2π: so leave that key out.
    let (times, turns, plain) = (&TIMES[..5], &turns[..5], &plain[..5]);
    for degree in [3, 5] {
        let end = |rate: f64, a: f64| {
            let a = (degree == 5).then_some(a);
            let turned = RotationEnd { velocity: axis * rate, acceleration: a.map(|a| axis * a) };
            let plain = End { velocity: Some(vec![rate]), acceleration: a.map(|a| vec![a]) };
            (turned, plain)
        };
        let ((r0, p0), (r1, p1)) = (end(0.5, 1.0), end(-1.0, 2.0));
        let s = RotationSpline::interpolating(degree, times, turns, [&r0, &r1]).unwrap();
        let rival = BSpline::interpolating(degree, times, plain, [&p0, &p1]).unwrap();
        for i in 0..=60 {
            let t = 1.5 * f64::from(i) / 60.0;
            let mut x = [[0.0]; 3];
            (0..3).for_each(|d| rival.evaluate(t, d, &mut x[d]));
            let state = s.evaluate(t);
            assert!(
                angle(state.rotation, exp_rotation(axis * x[0][0])) < 1e-13,
                "{degree} {t} {x:?}"
            );
            assert!((state.velocity - axis * x[1][0]).length() < 1e-11, "{degree} {t}");
            assert!((state.acceleration - axis * x[2][0]).length() < 1e-9, "{degree} {t}");
        }
    }
}

/// Turning all keys by one rotation turns the curve, and the sign of a quaternion means nothing.
#[test]
fn curves_of_turned_keys_are_turned_curves() {
    let by = exp_rotation(DVec3::new(0.4, -1.0, 2.0));
    let turned: Vec<DQuat> = keys().iter().map(|k| -(by * *k)).collect();
    for degree in [3, 5] {
        let [a, b] = ends(degree);
        let s = RotationSpline::interpolating(degree, &TIMES, &keys(), [&a, &b]).unwrap();
        let r = RotationSpline::interpolating(degree, &TIMES, &turned, [&a, &b]).unwrap();
        for i in 0..=40 {
            let t = 0.05 * f64::from(i);
            let (x, y) = (s.evaluate(t), r.evaluate(t));
            assert!(angle(by * x.rotation, y.rotation) < 1e-13, "{degree} {t}");
            assert!((x.velocity - y.velocity).length() < 1e-11, "{degree} {t}");
        }
    }
}

#[test]
fn two_keys_and_turns_near_half_a_turn_work() {
    let rest = RotationEnd::default();
    let far = exp_rotation(DVec3::X * 3.1);
    let s = RotationSpline::interpolating(3, &[0.0, 1.0], &[DQuat::IDENTITY, far], [&rest, &rest]);
    let half = s.unwrap().evaluate(0.5).rotation;
    assert!(angle(half, exp_rotation(DVec3::X * 1.55)) < 1e-14);
    let zigzag: Vec<DQuat> = (0..40)
        .map(|k| exp_rotation(DVec3::new(0.0, (k % 2) as f64 * 1.5, (k % 3) as f64 * 0.2)))
        .collect();
    let times: Vec<f64> = (0..40).map(|k| 0.1 * f64::from(k)).collect();
    let s = RotationSpline::interpolating(3, &times, &zigzag, [&rest, &rest]).unwrap();
    for (t, k) in times.iter().zip(&zigzag) {
        assert!(angle(s.evaluate(*t).rotation, *k) < 1e-13, "{t}");
    }
}

#[test]
fn what_is_no_curve_of_rotations_is_refused() {
    let rest = RotationEnd::default();
    let opposite = [DQuat::IDENTITY, exp_rotation(DVec3::X * core::f64::consts::PI)];
    let error =
        RotationSpline::interpolating(3, &[0.0, 1.0], &opposite, [&rest, &rest]).unwrap_err();
    assert!(matches!(error, SplineError::Opposite { key: 1, .. }), "{error}");
    let none = [DQuat::IDENTITY, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)];
    let error = RotationSpline::interpolating(3, &[0.0, 1.0], &none, [&rest, &rest]).unwrap_err();
    assert_eq!(error, SplineError::Quaternion { key: 1, length: 0.0 });
    let pushed = RotationEnd { acceleration: Some(DVec3::X), ..rest };
    let two = [DQuat::IDENTITY, exp_rotation(DVec3::X)];
    let error = RotationSpline::interpolating(3, &[0.0, 1.0], &two, [&pushed, &rest]).unwrap_err();
    assert_eq!(error, SplineError::TwoEnds);
    let error = RotationSpline::periodic(3, &[0.0, 1.0], &two).unwrap_err();
    assert!(matches!(error, SplineError::NotClosed { .. }));
}
