//! Curves of plain numbers against piecewise polynomials solved for by dense elimination.

use forks_control::keyframe::{BSpline, End, Monotone, SplineError};
use forks_dynamics::mechanism::linalg::{Matrix, Pivots};

const TIMES: [f64; 7] = [0.0, 0.3, 0.4, 1.1, 1.5, 2.0, 2.2];

fn keys() -> Vec<Vec<f64>> {
    let of = |k: usize| vec![(2.3 * k as f64).sin(), 10.0 + 3.0 * (1.7 * k as f64).cos()];
    (0..TIMES.len()).map(of).collect()
}

fn value(s: &BSpline, t: f64, d: usize) -> Vec<f64> {
    let mut out = vec![0.0; s.channels()];
    s.evaluate(t, d, &mut out);
    out
}

/// The d-th derivative of t^k at t.
fn power(t: f64, k: usize, d: usize) -> f64 {
    if d > k {
        return 0.0;
    }
    (0..d).map(|i| (k - i) as f64).product::<f64>() * t.powi((k - d) as i32)
}

/// Coefficients of pieces in powers of t − t_k: values at both ends of each piece, equal
/// derivatives between them, and conditions (time, derivative, value) at the ends, or, with none,
/// equal derivatives there too.
fn pieces(degree: usize, keys: &[f64], ends: &[(bool, usize, f64)]) -> Matrix {
    let (n, c) = (TIMES.len() - 1, degree + 1);
    let mut a = Matrix::zeros(n * c, n * c);
    let mut b = Matrix::zeros(n * c, 1);
    let mut row = 0;
    for p in 0..n {
        let h = TIMES[p + 1] - TIMES[p];
        for (t, key) in [(0.0, keys[p]), (h, keys[p + 1])] {
            (0..c).for_each(|k| a[(row, p * c + k)] = power(t, k, 0));
            b[(row, 0)] = key;
            row += 1;
        }
        let next = if p + 1 < n { p + 1 } else { 0 };
        if p + 1 < n || ends.is_empty() {
            for d in 1..degree {
                for k in 0..c {
                    a[(row, p * c + k)] += power(h, k, d);
                    a[(row, next * c + k)] -= power(0.0, k, d);
                }
                row += 1;
            }
        }
    }
    for &(last, d, x) in ends {
        let (p, t) = if last { (n - 1, TIMES[n] - TIMES[n - 1]) } else { (0, 0.0) };
        (0..c).for_each(|k| a[(row, p * c + k)] = power(t, k, d));
        b[(row, 0)] = x;
        row += 1;
    }
    assert_eq!(row, n * c);
    let x = a.solve(&b, Pivots::AboveZero).unwrap();
    Matrix::from_fn(n, c, |p, k| x[(p * c + k, 0)])
}

fn agrees(s: &BSpline, degree: usize, channel: usize, rival: &Matrix) {
    for p in 0..TIMES.len() - 1 {
        for part in [0.0, 0.2, 0.7, 0.99] {
            let h = part * (TIMES[p + 1] - TIMES[p]);
            for d in 0..=degree {
                let expected: f64 = (0..=degree).map(|k| rival[(p, k)] * power(h, k, d)).sum();
                let got = value(s, TIMES[p] + h, d)[channel];
                let size: f64 =
                    (0..=degree).map(|k| (rival[(p, k)] * power(1.0, k, d)).abs()).sum();
                assert!(
                    (got - expected).abs() < 1e-9 * (1.0 + size),
                    "{p} {part} {d}: {got} {expected}"
                );
            }
        }
    }
}

fn end(velocity: Option<f64>, acceleration: Option<f64>) -> End {
    let two = |x: f64| vec![x, -2.0 * x];
    End { velocity: velocity.map(two), acceleration: acceleration.map(two) }
}

/// All ends that there are, on both sides: with the derivatives that they give.
fn all_ends(degree: usize) -> Vec<(End, Vec<(usize, f64)>)> {
    match degree {
        3 => vec![
            (end(None, None), vec![(2, 0.0)]),
            (end(Some(0.7), None), vec![(1, 0.7)]),
            (end(None, Some(-3.0)), vec![(2, -3.0)]),
        ],
        _ => vec![
            (end(None, None), vec![(3, 0.0), (4, 0.0)]),
            (end(Some(0.7), None), vec![(1, 0.7), (3, 0.0)]),
            (end(None, Some(-3.0)), vec![(2, -3.0), (4, 0.0)]),
            (end(Some(0.4), Some(2.0)), vec![(1, 0.4), (2, 2.0)]),
        ],
    }
}

#[test]
fn splines_are_the_piecewise_polynomials_of_their_conditions() {
    for degree in [3, 5] {
        for (start, first) in all_ends(degree) {
            for (stop, last) in all_ends(degree) {
                let s = BSpline::interpolating(degree, &TIMES, &keys(), [&start, &stop]).unwrap();
                for channel in 0..2 {
                    let by = if channel == 0 { 1.0 } else { -2.0 };
                    let of = |l: bool, c: &[(usize, f64)]| -> Vec<(bool, usize, f64)> {
                        c.iter().map(|(d, x)| (l, *d, by * x)).collect()
                    };
                    let ends = [of(false, &first), of(true, &last)].concat();
                    let keys: Vec<f64> = keys().iter().map(|k| k[channel]).collect();
                    agrees(&s, degree, channel, &pieces(degree, &keys, &ends));
                }
            }
        }
    }
}

#[test]
fn periodic_splines_are_the_piecewise_polynomials_without_ends() {
    let mut keys = keys();
    keys[6] = keys[0].clone();
    for degree in [3, 5] {
        let s = BSpline::periodic(degree, &TIMES, &keys).unwrap();
        for channel in 0..2 {
            let keys: Vec<f64> = keys.iter().map(|k| k[channel]).collect();
            agrees(&s, degree, channel, &pieces(degree, &keys, &[]));
        }
        for t in [0.1, 0.9, 2.15] {
            for d in 0..degree {
                let (a, b) = (value(&s, t, d), value(&s, t + 3.0 * 2.2, d));
                assert!((a[0] - b[0]).abs() < 1e-9 * 1e3f64.powi(d as i32), "{degree} {t} {d}");
                let c = value(&s, t - 2.2, d);
                assert!((a[0] - c[0]).abs() < 1e-9 * 1e3f64.powi(d as i32), "{degree} {t} {d}");
            }
        }
    }
}

#[test]
fn keys_are_hit_to_rounding_and_ends_are_exact() {
    let (first, last) = (end(Some(0.4), None), end(Some(-0.9), None));
    let quintic = [end(Some(0.4), Some(2.0)), end(Some(-0.9), Some(1.0))];
    for degree in [3, 5] {
        let ends = if degree == 3 { [&first, &last] } else { [&quintic[0], &quintic[1]] };
        let s = BSpline::interpolating(degree, &TIMES, &keys(), ends).unwrap();
        for (t, key) in TIMES.iter().zip(keys()) {
            for (x, k) in value(&s, *t, 0).iter().zip(key) {
                assert!((x - k).abs() <= 1e-14 * (1.0 + k.abs()), "{degree} {t}: {x} {k}");
            }
        }
        for (t, end) in [(TIMES[0], ends[0]), (TIMES[6], ends[1])] {
            for (d, given) in [(1, &end.velocity), (2, &end.acceleration)] {
                let Some(given) = given else { continue };
                let x = value(&s, t, d);
                assert!((x[0] - given[0]).abs() < 1e-12 && (x[1] - given[1]).abs() < 1e-11);
            }
        }
    }
}

#[test]
fn derivatives_have_no_jumps_up_to_degree_less_one() {
    for degree in [3, 5] {
        let s = BSpline::interpolating(degree, &TIMES, &keys(), [&End::default(), &End::default()])
            .unwrap();
        for t in &TIMES[1..6] {
            for d in 0..degree {
                let (a, b) = (value(&s, t.next_down(), d)[0], value(&s, *t, d)[0]);
                let size = value(&s, *t, d).iter().fold(1.0f64, |m, x| m.max(x.abs()));
                assert!((a - b).abs() < 1e-12 * size, "{degree} {t} {d}: {a} {b}");
            }
        }
    }
}

/// Of all curves through the keys with the same velocities at the ends, a cubic bends least.
#[test]
fn cubics_bend_least_and_quintics_jerk_least() {
    let ends = |degree| if degree == 3 { end(Some(0.3), None) } else { end(Some(0.3), Some(1.0)) };
    for (degree, order) in [(3, 2), (5, 3)] {
        let ends = ends(degree);
        let s = BSpline::interpolating(degree, &TIMES, &keys(), [&ends, &ends]).unwrap();
        // A bump that vanishes at all keys, with its velocity, and acceleration for degree 5.
        let bump = |p: usize, t: f64, d: usize| {
            let (a, b) = (TIMES[p], TIMES[p + 1]);
            let (x, h) = ((t - a) / (b - a), b - a);
            let of = |x: f64| (x * (1.0 - x)).powi(3);
            let e = 1e-3;
            let stencil = match d {
                2 => (of(x + e) - 2.0 * of(x) + of(x - e)) / (e * e),
                _ => {
                    (of(x + 2.0 * e) - 2.0 * of(x + e) + 2.0 * of(x - e) - of(x - 2.0 * e))
                        / (2.0 * e * e * e)
                }
            };
            stencil / h.powi(d as i32)
        };
        // First variation: ∫ s⁽ᵒ⁾ bump⁽ᵒ⁾ dt = 0 by the midpoint rule on a fine grid.
        for p in 0..TIMES.len() - 1 {
            let (a, b) = (TIMES[p], TIMES[p + 1]);
            let n = 4000;
            let h = (b - a) / n as f64;
            let (mut first, mut size) = (0.0, 0.0);
            for i in 0..n {
                let t = a + (i as f64 + 0.5) * h;
                let term = value(&s, t, order)[0] * bump(p, t, order) * h;
                first += term;
                size += term.abs();
            }
            assert!(first.abs() < 1e-4 * size, "{degree} {p}: {first} of {size}");
        }
    }
}

#[test]
fn approximations_begin_and_end_at_keys_and_stay_in_their_hull() {
    for degree in [3, 5] {
        let s = BSpline::approximating(degree, &TIMES, &keys()).unwrap();
        assert_eq!(value(&s, 0.0, 0), keys()[0]);
        assert_eq!(value(&s, 2.2, 0), keys()[6]);
        let most = keys().iter().fold(f64::MIN, |a, k| a.max(k[0]));
        let least = keys().iter().fold(f64::MAX, |a, k| a.min(k[0]));
        for i in 0..=200 {
            let x = value(&s, 2.2 * f64::from(i) / 200.0, 0)[0];
            assert!(x <= most + 1e-15 && x >= least - 1e-15);
        }
    }
}

#[test]
fn before_and_after_a_curve_rests() {
    let e = end(Some(1.0), None);
    let s = BSpline::interpolating(3, &TIMES, &keys(), [&e, &e]).unwrap();
    assert_eq!(value(&s, -1.0, 0), value(&s, 0.0, 0));
    assert_eq!(value(&s, 9.0, 0), value(&s, 2.2, 0));
    assert_eq!(value(&s, -1.0, 1), [0.0, 0.0]);
    assert_eq!(value(&s, 9.0, 2), [0.0, 0.0]);
}

#[test]
fn two_keys_are_enough_and_quintic_ends_without_rates_take_three() {
    let two = [vec![1.0], vec![3.0]];
    let rest = End::rest(1, 3);
    let s = BSpline::interpolating(3, &[0.0, 2.0], &two, [&rest, &rest]).unwrap();
    // 1 + 2 (3 s² − 2 s³)
    assert!((value(&s, 0.5, 0)[0] - 1.3125).abs() < 1e-14);
    let open = End::default();
    let error = BSpline::interpolating(5, &[0.0, 2.0], &two, [&open, &open]).unwrap_err();
    assert_eq!(error, SplineError::Open);
}

#[test]
fn long_curves_are_solved_for_in_linear_time_and_hit_their_keys() {
    let times: Vec<f64> = (0..20_000).map(|k| 0.01 * f64::from(k)).collect();
    let keys: Vec<Vec<f64>> = times.iter().map(|t| vec![(7.0 * t).sin()]).collect();
    let rest = End::rest(1, 5);
    let s = BSpline::interpolating(5, &times, &keys, [&rest, &rest]).unwrap();
    for (t, k) in times.iter().zip(&keys).step_by(7) {
        assert!((value(&s, *t, 0)[0] - k[0]).abs() <= 1e-14);
    }
    // Far from its ends the curve is the sine to sixth order.
    assert!((value(&s, 100.005, 0)[0] - (7.0f64 * 100.005).sin()).abs() < 1e-8);
}

#[test]
fn monotone_curves_stay_between_neighbouring_keys() {
    let open = End::default();
    let s = Monotone::new(&TIMES, &keys(), [&open, &open]).unwrap();
    let mut x = [0.0; 2];
    for p in 0..6 {
        for i in 0..=50 {
            let t = TIMES[p] + (TIMES[p + 1] - TIMES[p]) * f64::from(i) / 50.0;
            s.evaluate(t.min(TIMES[p + 1]), 0, &mut x);
            for c in 0..2 {
                let (a, b) = (keys()[p][c], keys()[p + 1][c]);
                assert!(x[c] >= a.min(b) - 1e-14 && x[c] <= a.max(b) + 1e-14, "{t} {c}");
            }
        }
        s.evaluate(TIMES[p], 0, &mut x);
        assert_eq!(x.to_vec(), keys()[p]);
    }
    s.evaluate(2.2, 0, &mut x);
    assert_eq!(x.to_vec(), keys()[6]);
}

/// A cubic spline goes beyond a step between level keys, the monotone one does not.
#[test]
fn splines_overshoot_where_monotone_curves_do_not() {
    let times = [0.0, 1.0, 2.0, 3.0];
    let keys = [vec![0.0], vec![0.0], vec![1.0], vec![1.0]];
    let rest = End::rest(1, 3);
    let spline = BSpline::interpolating(3, &times, &keys, [&rest, &rest]).unwrap();
    let monotone = Monotone::new(&times, &keys, [&rest, &rest]).unwrap();
    let (mut a, mut b) = ([0.0], [0.0]);
    let (mut least, mut flat) = (0.0f64, 0.0f64);
    for i in 0..=100 {
        spline.evaluate(0.01 * f64::from(i), 0, &mut a);
        monotone.evaluate(0.01 * f64::from(i), 0, &mut b);
        least = least.min(a[0]);
        flat = flat.min(b[0]);
    }
    assert!(least < -0.05, "{least}");
    assert_eq!(flat, 0.0);
}

#[test]
fn derivatives_of_monotone_curves_are_those_of_differences() {
    let mut closed = keys();
    closed[6] = closed[0].clone();
    let open = End::default();
    for s in [
        Monotone::new(&TIMES, &keys(), [&open, &open]).unwrap(),
        Monotone::periodic(&TIMES, &closed).unwrap(),
    ] {
        let (mut a, mut b, mut x) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for t in [0.1, 0.35, 0.8, 1.3, 1.9, 2.1] {
            for d in 1..=3 {
                s.evaluate(t - 1e-5, d - 1, &mut a);
                s.evaluate(t + 1e-5, d - 1, &mut b);
                s.evaluate(t, d, &mut x);
                assert!((x[0] - (b[0] - a[0]) / 2e-5).abs() < 1e-6 * (1.0 + x[0].abs()), "{t} {d}");
            }
        }
    }
}

#[test]
fn what_is_no_curve_is_refused_with_its_numbers() {
    let open = End::default();
    let ends = [&open, &open];
    let spline = |times: &[f64], keys: &[Vec<f64>]| {
        BSpline::interpolating(3, times, keys, ends).unwrap_err().to_string()
    };
    let k = [vec![0.0], vec![1.0], vec![2.0]];
    assert_eq!(spline(&[0.0, 0.5, 0.5], &k), "key 2 at 0.5 s comes after the one at 0.5 s");
    assert_eq!(spline(&[0.0, f64::NAN, 0.5], &k), "the time of key 1 is NaN");
    assert_eq!(
        spline(&[0.0, 1.0, 2.0], &[vec![0.0], vec![f64::INFINITY], vec![0.0]]),
        "the value of key 1 is inf"
    );
    assert_eq!(spline(&[0.0, 1.0], &k), "2 times and 3 keys");
    assert_eq!(spline(&[0.0], &k[..1]), "1 keys; the curve takes at least 2");
    let ragged = [vec![0.0], vec![1.0, 2.0], vec![2.0]];
    assert_eq!(spline(&[0.0, 1.0, 2.0], &ragged), "key 1 has 2 numbers, expected 1");
    let error = BSpline::interpolating(4, &[0.0, 1.0], &k[..2], ends).unwrap_err();
    assert_eq!(error, SplineError::Degree { degree: 4 });
    let both = End { velocity: Some(vec![0.0]), acceleration: Some(vec![0.0]) };
    let error = BSpline::interpolating(3, &[0.0, 1.0], &k[..2], [&both, &open]).unwrap_err();
    assert_eq!(error, SplineError::TwoEnds);
    let error = BSpline::periodic(3, &[0.0, 1.0, 2.0], &k).unwrap_err();
    assert_eq!(error, SplineError::NotClosed { first: 0.0, last: 2.0 });
    let fast = End { velocity: Some(vec![4.0]), acceleration: None };
    let error = Monotone::new(&[0.0, 1.0, 2.0], &k, [&fast, &open]).unwrap_err();
    assert_eq!(error, SplineError::TurnsBack { velocity: 4.0, limit: 3.0 });
    let huge = [vec![1e308], vec![-1e308]];
    let error = BSpline::interpolating(3, &[0.0, 1e-300], &huge, ends).unwrap_err();
    assert!(matches!(error, SplineError::Open | SplineError::Overflow), "{error}");
}
