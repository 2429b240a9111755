//! exp, log and their Jacobians against power series summed in double-double arithmetic, from
//! `θ = 1e-300` to beyond `π`. Errors are in units of ε = 2⁻⁵² of the block's scale.
//!
//! `cargo test -p forks-lie --test it accuracy -- --nocapture` prints the largest error of every
//! function.

use crate::oracle;

use std::f64::consts::PI;

use forks_lie::{
    Mat6, Pose, Twist,
    glam::{DMat3, DVec3},
    se3::{
        left_jacobian, left_jacobian_inverse, right_jacobian, right_jacobian_derivative,
        right_jacobian_inverse, right_jacobian_inverse_derivative,
    },
    so3::{
        exp_rotation, log_rotation, rotation_left_jacobian, rotation_left_jacobian_inverse,
        rotation_right_jacobian, rotation_right_jacobian_inverse, wxyz_from_quaternion,
    },
};
use oracle::{
    Dd, Square, ad, cross, hat, quaternion_exp, quaternion_log, series, series_derivative, vector,
};

/// Every error stays below this many ε. The kernels are some ten rounded operations deep and lose
/// no digits to cancellation; the largest error measured is 1.9 ε.
const BOUND: f64 = 2.5;

/// Rotation angles: the whole range, both sides of every switch point, and the neighbourhood of π.
fn angles() -> Vec<f64> {
    let mut angles = vec![0.0, 1e-300, 1e-200, 1e-160, 1e-100, 1e-30, 1e-16, 1e-15, 1e-12];
    angles.extend([1e-8, 1e-6, 1e-4, 1e-3, 3e-3, 0.01, 0.03]);
    angles.extend((1..64).map(|i| 0.05 * f64::from(i)));
    for switch in [0.1, 2.0, 10f64.sqrt()] {
        angles.extend([switch * (1.0 - 1e-14), switch, switch * (1.0 + 1e-14)]);
    }
    angles.extend([1e-3, 1e-6, 1e-9, 1e-12, 0.0].map(|d| PI - d));
    angles
}

/// Unit vectors: axes, near-axes and three in general position.
fn axes() -> Vec<DVec3> {
    [
        [1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0],
        [1.0, 1e-9, 0.0],
        [0.3, -0.8, 0.5],
        [-0.6, 0.1, 0.9],
        [1.0, 1.0, 1.0],
    ]
    .map(|a| DVec3::from_array(a).normalize())
    .to_vec()
}

/// Twists with every angle and axis, and linear parts of very different sizes.
fn twists() -> Vec<Twist> {
    let mut twists = vec![];
    for angle in angles() {
        for (i, axis) in axes().into_iter().enumerate() {
            for (j, size) in [0.0, 1e-150, 1e-9, 1.0, 1e9, 1e150].into_iter().enumerate() {
                let linear = axes()[(i + j) % 6] * size;
                twists.push(Twist::new(linear, axis * angle));
            }
        }
    }
    twists
}

/// Largest error of a 3×3 block over ε `scale`.
fn block_error<const N: usize>(
    found: DMat3,
    exact: &Square<N>,
    (row, column): (usize, usize),
    scale: f64,
) -> f64 {
    let mut worst = 0.0f64;
    for i in 0..3 {
        for j in 0..3 {
            let e = exact.0[row + i][column + j].error_of(found.col(j)[i]);
            // A block of scale zero must be exact.
            let e = if e == 0.0 { 0.0 } else { e / (f64::EPSILON * scale) };
            assert!(!e.is_nan());
            worst = worst.max(e);
        }
    }
    worst
}

/// Errors of the four blocks of a 6×6 matrix, the diagonal ones relative to `scale`, the upper one
/// to `upper`; the lower one must be zero.
fn matrix_error(found: Mat6, exact: &Square<6>, scale: f64, upper: f64) -> f64 {
    assert_eq!(found.block(3, 0), DMat3::ZERO);
    assert_eq!(found.block(0, 0), found.block(3, 3));
    block_error(found.block(0, 0), exact, (0, 0), scale).max(block_error(
        found.block(0, 3),
        exact,
        (0, 3),
        upper,
    ))
}

fn vector_error(found: DVec3, exact: [Dd; 3], scale: f64) -> f64 {
    (0..3).fold(0.0, |worst: f64, i| {
        let e = exact[i].error_of(found[i]);
        worst.max(if e == 0.0 { 0.0 } else { e / (f64::EPSILON * scale) })
    })
}

/// Runs `error` on every item, prints the largest result and where, and checks it.
fn worst_of<T: std::fmt::Debug>(
    name: &str,
    bound: f64,
    items: impl IntoIterator<Item = T>,
    mut error: impl FnMut(&T) -> f64,
) {
    let mut worst = (0.0, None);
    for item in items {
        let e = error(&item);
        assert!(e.is_finite(), "{name}: {e} at {item:?}");
        if e > worst.0 {
            worst = (e, Some(item));
        }
    }
    println!("{name:40} {:5.2} ε  at {:?}", worst.0, worst.1);
    assert!(worst.0 <= bound, "{name}: {} ε > {bound} ε at {:?}", worst.0, worst.1);
}

fn rotation_vectors() -> Vec<DVec3> {
    angles().into_iter().flat_map(|t| axes().into_iter().map(move |a| a * t)).collect()
}

#[test]
fn rotation_exponential() {
    // Vector part relative to its own length: tiny rotations keep all their digits.
    worst_of("exp_rotation, vector part", BOUND, rotation_vectors(), |w| {
        let [_, x, y, z] = quaternion_exp(*w);
        let scale = 0.5 * w.length() * (w.length() / PI).min(1.0).mul_add(-0.4, 1.0);
        let q = exp_rotation(*w);
        vector_error(DVec3::new(q.x, q.y, q.z), [x, y, z], scale.max(f64::MIN_POSITIVE))
    });
    worst_of("exp_rotation, scalar part", BOUND, rotation_vectors(), |w| {
        quaternion_exp(*w)[0].error_of(exp_rotation(*w).w) / f64::EPSILON
    });
}

#[test]
fn rotation_logarithm() {
    worst_of("log_rotation", BOUND, rotation_vectors(), |w| {
        let q = exp_rotation(*w);
        if q.w < 0.0 || w.length() == 0.0 {
            return 0.0;
        }
        vector_error(log_rotation(q), quaternion_log(wxyz_from_quaternion(q)), w.length())
    });
}

#[test]
fn rotation_jacobians() {
    type Function = fn(DVec3) -> DMat3;
    let cases: [(&str, Function, f64, bool); 4] = [
        ("rotation_left_jacobian", rotation_left_jacobian, 1.0, false),
        ("rotation_right_jacobian", rotation_right_jacobian, -1.0, false),
        ("rotation_left_jacobian_inverse", rotation_left_jacobian_inverse, 1.0, true),
        ("rotation_right_jacobian_inverse", rotation_right_jacobian_inverse, -1.0, true),
    ];
    for (name, f, sign, inverse) in cases {
        worst_of(name, BOUND, rotation_vectors(), |w| {
            let j = series(cross(vector(*w * sign)), 1);
            let exact = if inverse { j.inverse() } else { j };
            block_error(f(*w), &exact, (0, 0), 1.0)
        });
    }
}

#[test]
fn pose_exponential() {
    worst_of("Pose::exp, translation", BOUND, twists(), |xi| {
        let exact = series(hat(*xi), 0);
        let p = Pose::exp(*xi).translation;
        vector_error(p, std::array::from_fn(|i| exact.0[i][3]), xi.linear.length())
    });
}

#[test]
fn pose_logarithm() {
    // The exact logarithm of the rounded pose, so that rounding the pose is not blamed on `log`.
    worst_of("Pose::log, linear part", BOUND, twists(), |xi| {
        let pose = Pose::new(exp_rotation(xi.angular), xi.linear);
        if pose.rotation.w < 0.0 || xi.angular == DVec3::ZERO {
            return 0.0;
        }
        let omega = quaternion_log(wxyz_from_quaternion(pose.rotation));
        let exact = series(cross(omega), 1).inverse().times(&vector(xi.linear));
        vector_error(pose.log().linear, exact, xi.linear.length())
    });
}

#[test]
fn pose_jacobians() {
    type Function = fn(Twist) -> Mat6;
    let cases: [(&str, Function, f64, bool); 4] = [
        ("left_jacobian", left_jacobian, 1.0, false),
        ("right_jacobian", right_jacobian, -1.0, false),
        ("left_jacobian_inverse", left_jacobian_inverse, 1.0, true),
        ("right_jacobian_inverse", right_jacobian_inverse, -1.0, true),
    ];
    for (name, f, sign, inverse) in cases {
        worst_of(name, BOUND, twists(), |xi| {
            let j = series(ad(*xi * sign), 1);
            let exact = if inverse { j.inverse() } else { j };
            matrix_error(f(*xi), &exact, 1.0, xi.linear.length())
        });
    }
}

/// Pairs of a twist and a direction.
fn pairs() -> Vec<(Twist, Twist)> {
    let sizes = [(1.0, 1.0), (1e6, 1e-6), (0.0, 1.0), (1.0, 0.0)];
    let mut pairs = vec![];
    for (i, xi) in twists().into_iter().enumerate().filter(|(i, _)| i % 5 != 1) {
        let (linear, angular) = sizes[i % 4];
        let axes = axes();
        let direction = Twist::new(axes[(i / 4) % 6] * linear, axes[(i / 24) % 6] * angular);
        pairs.push((xi, direction));
    }
    pairs
}

#[test]
fn jacobian_derivatives() {
    // Scales: ½ω̇× in the diagonal block, ½v̇× and b (v× ω̇× + ω̇× v×) in the upper one.
    let scales = |(xi, d): &(Twist, Twist)| {
        let diagonal = d.angular.length();
        (diagonal, d.linear.length() + diagonal * xi.linear.length())
    };
    worst_of("right_jacobian_derivative", BOUND, pairs(), |pair| {
        let (scale, upper) = scales(pair);
        let exact = series_derivative(ad(-pair.0), ad(-pair.1), 1).1;
        matrix_error(right_jacobian_derivative(pair.0, pair.1), &exact, scale, upper)
    });
    worst_of("right_jacobian_inverse_derivative", BOUND, pairs(), |pair| {
        let (scale, upper) = scales(pair);
        let (j, dj) = series_derivative(ad(-pair.0), ad(-pair.1), 1);
        let inverse = j.inverse();
        let exact = (inverse * dj * inverse).scaled(-Dd::ONE);
        matrix_error(right_jacobian_inverse_derivative(pair.0, pair.1), &exact, scale, upper)
    });
}

/// Between π and 2π the Jacobian stays as accurate; its inverse loses what its own condition costs:
/// near the pole `c = 2/(4π² − x)`, so the ε that rounding moves `x = θ²` by moves `c x` by
/// `ε 2x²/(4π² − x)²`, and the upper block's `2 c′ (ω·v) x` by `ε 8x²θ |v|/(4π² − x)³`.
#[test]
fn beyond_pi() {
    let angles = [3.2, 3.5, 4.0, 5.0, 6.0, 6.2, 6.28125];
    let twists = || {
        let sizes = [0.0, 1.0, 1e9];
        let pair = move |t: f64| sizes.map(|size| (t, size));
        let twist = |(t, size): (f64, f64)| {
            let n = axes().len();
            (0..n).map(move |i| Twist::new(axes()[(i + 1) % n] * size, axes()[i] * t))
        };
        angles.into_iter().flat_map(pair).flat_map(twist)
    };
    worst_of("left_jacobian, π < θ < 2π", BOUND, twists(), |xi| {
        matrix_error(left_jacobian(*xi), &series(ad(*xi), 1), 1.0, xi.linear.length())
    });
    worst_of("left_jacobian_inverse, π < θ < 2π", BOUND, twists(), |xi| {
        let x = xi.angular.length_squared();
        let pole = 4.0 * PI * PI - x;
        let scale = 1.0 + 2.0 * (x / pole).powi(2);
        let upper = 1.0 + 8.0 * x * x * x.sqrt() / pole.powi(3);
        let exact = series(ad(*xi), 1).inverse();
        matrix_error(left_jacobian_inverse(*xi), &exact, scale, upper * xi.linear.length())
    });
}

/// At θ → π the logarithm inverts the exponential to 1e-9 and better, whichever of ±ω it returns.
#[test]
fn logarithm_near_pi() {
    for d in [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0, -1e-15, -1e-9] {
        for axis in axes() {
            let xi = Twist::new(DVec3::new(0.4, -2.0, 1.1), axis * (PI - d));
            let pose = Pose::exp(xi);
            let log = pose.log();
            assert!(log.angular.length() <= PI + 1e-15, "{d} {}", log.angular.length());
            let back = Pose::exp(log);
            let dot = back.rotation.dot(pose.rotation).abs();
            assert!((1.0 - dot).abs() <= 4.0 * f64::EPSILON);
            // Rounding q moves the axis by ε, hence the rotation by 2ε; p/|p| follows.
            let gap = (back.translation - pose.translation).length();
            assert!(gap <= 32.0 * f64::EPSILON * xi.linear.length(), "{d}: {gap}");
            if d >= 1e-15 {
                assert!((log - xi).norm() <= 1e-13, "{d}: {}", (log - xi).norm());
            }
            let product = right_jacobian(log) * right_jacobian_inverse(log);
            assert!((product - Mat6::IDENTITY).max_abs() <= 1e-14, "{d}");
        }
    }
}
