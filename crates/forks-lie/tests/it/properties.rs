//! Identities of the group, its Lie algebra and the 6×6 kernels on random arguments.
//!
//! Tolerances are c·ε times the size of the numbers involved, with c the depth of the computation.

use crate::oracle;

use forks_lie::{
    Adjoint, Mat6, Pose, PoseError, SpatialInertia, SymMat6, Twist, Vec6, Wrench,
    glam::{DMat3, DVec3},
    se3::{
        left_jacobian, left_jacobian_inverse, right_jacobian, right_jacobian_derivative,
        right_jacobian_inverse, right_jacobian_inverse_derivative,
    },
    skew,
    so3::log_rotation,
};
use proptest::prelude::*;

const EPS: f64 = f64::EPSILON;

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-1.0..1.0).prop_map(move |v| DVec3::from_array(v) * size)
}

/// Rotation vectors up to `angle`, evenly spread over the angles.
fn rotation_vector(angle: f64) -> impl Strategy<Value = DVec3> {
    (vector(1.0), 0.0..angle).prop_map(|(axis, t)| axis.try_normalize().unwrap_or(DVec3::X) * t)
}

fn twist(angle: f64) -> impl Strategy<Value = Twist> {
    (vector(3.0), rotation_vector(angle)).prop_map(|(v, w)| Twist::new(v, w))
}

fn pose() -> impl Strategy<Value = Pose> {
    (vector(3.0), rotation_vector(3.13))
        .prop_map(|(p, w)| Pose::new(forks_lie::so3::exp_rotation(w), p))
}

fn wrench() -> impl Strategy<Value = Wrench> {
    (vector(2.0), vector(2.0)).prop_map(|(f, t)| Wrench::new(f, t))
}

fn mat6() -> impl Strategy<Value = Mat6> {
    prop::array::uniform6(prop::array::uniform6(-1.0..1.0)).prop_map(Mat6::from_rows)
}

fn positive_definite() -> impl Strategy<Value = SymMat6> {
    mat6().prop_map(|b| SymMat6::symmetric_part(&(b * b.transpose() + Mat6::IDENTITY)))
}

fn inertia() -> impl Strategy<Value = SpatialInertia> {
    (0.1..5.0, vector(1.0), vector(1.0), vector(0.3)).prop_map(|(m, c, d, e)| {
        // Point masses at ±d, ±e make a tensor that a body can have.
        let tensor = |d: DVec3| skew(d) * skew(d) * -1.0;
        SpatialInertia::new(m, c, tensor(d) + tensor(e))
    })
}

/// Largest distance of two matrices' entries.
fn distance(a: Mat6, b: Mat6) -> f64 {
    (a - b).max_abs()
}

fn pose_distance(a: &Pose, b: &Pose) -> (f64, f64) {
    let turn = log_rotation((a.rotation.conjugate() * b.rotation).normalize()).length();
    (turn, (a.translation - b.translation).length())
}

proptest! {
    #[test]
    fn exp_of_log(p in pose()) {
        let (turn, shift) = pose_distance(&Pose::exp(p.log()), &p);
        prop_assert!(turn <= 16.0 * EPS, "{turn}");
        prop_assert!(shift <= 32.0 * EPS * (1.0 + p.translation.length()), "{shift}");
    }

    /// Rounding of the quaternion by ε turns ω by up to 4ε near π.
    #[test]
    fn log_of_exp(xi in twist(3.13)) {
        let log = Pose::exp(xi).log();
        prop_assert!((log.angular - xi.angular).length() <= 8.0 * EPS);
        prop_assert!((log - xi).norm() <= 32.0 * EPS * (1.0 + xi.linear.length()));
    }

    #[test]
    fn twist_between_poses(a in pose(), xi in twist(3.1)) {
        let b = a.displaced(xi);
        let size = 1.0 + a.translation.length() + xi.linear.length();
        prop_assert!((a.twist_to(&b) - xi).norm() <= 64.0 * EPS * size);
    }

    #[test]
    fn adjoint_is_a_homomorphism(a in pose(), b in pose()) {
        let size = 1.0 + a.translation.length() + b.translation.length();
        let product = a.adjoint().matrix() * b.adjoint().matrix();
        prop_assert!(distance((a * b).adjoint().matrix(), product) <= 32.0 * EPS * size);
        let inverse = a.inverse().adjoint().matrix() * a.adjoint().matrix();
        prop_assert!(distance(inverse, Mat6::IDENTITY) <= 32.0 * EPS * size);
    }

    /// `Ad exp(ξ) = exp(ad ξ)`, the right side by its power series.
    #[test]
    fn adjoint_of_exponential(xi in twist(3.1)) {
        let exact = oracle::series(oracle::ad(xi), 0);
        let found = Adjoint::from(Pose::exp(xi)).matrix();
        for i in 0..6 {
            for j in 0..6 {
                let e = exact.0[i][j].error_of(found[(i, j)]);
                prop_assert!(e <= 16.0 * EPS * (1.0 + xi.linear.length()), "({i}, {j}): {e}");
            }
        }
    }

    #[test]
    fn adjoint_maps_agree_with_the_matrix(a in pose(), t in twist(3.0), w in wrench()) {
        let (ad, m) = (a.adjoint(), a.adjoint().matrix());
        let tolerance = 32.0 * EPS * (1.0 + a.translation.length()) * (t.norm() + 6.0);
        let close = |x: Vec6, y: Vec6| x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= tolerance);
        prop_assert!(close(ad.apply(t).into(), m.mul_vec(&t.into())));
        prop_assert!(close(ad.apply_inverse(ad.apply(t)).into(), t.into()));
        prop_assert!(close(ad.transpose_apply(w).into(), m.transpose_mul_vec(&w.into())));
        prop_assert!(close(ad.transpose_apply(ad.apply_to_wrench(w)).into(), w.into()));
        // Duality: w · (Ad ξ) = (Adᵀ w) · ξ, and power does not depend on the frame.
        prop_assert!((w.dot(ad.apply(t)) - ad.transpose_apply(w).dot(t)).abs() <= 8.0 * tolerance);
        prop_assert!((ad.apply_to_wrench(w).dot(ad.apply(t)) - w.dot(t)).abs() <= 8.0 * tolerance);
    }

    #[test]
    fn bracket(a in twist(3.0), b in twist(3.0), c in twist(3.0), w in wrench()) {
        let size = a.norm() * b.norm() * (1.0 + c.norm());
        let tolerance = 32.0 * EPS * (1.0 + size);
        // ad = [[ω×, v×], [0, ω×]].
        let (turning, moving) = (skew(a.angular), skew(a.linear));
        let ad = Mat6::from_blocks(turning, moving, DMat3::ZERO, turning);
        let m = Twist::from(ad.mul_vec(&b.into()));
        prop_assert!((m - a.ad(b)).norm() <= tolerance);
        let dual = Wrench::from(ad.transpose_mul_vec(&w.into()));
        let off = dual - a.ad_transpose(w);
        prop_assert!(off.to_array().iter().all(|x| x.abs() <= 8.0 * tolerance));
        prop_assert!((w.dot(a.ad(b)) - a.ad_transpose(w).dot(b)).abs() <= 8.0 * tolerance);
        // Jacobi's identity.
        let sum = a.ad(b.ad(c)) + b.ad(c.ad(a)) + c.ad(a.ad(b));
        prop_assert!(sum.norm() <= tolerance);
    }

    #[test]
    fn jacobians_of_both_sides(xi in twist(3.1)) {
        let tolerance = 32.0 * EPS * (1.0 + xi.linear.length());
        let carried = Pose::exp(xi).adjoint().matrix() * right_jacobian(xi);
        prop_assert!(distance(left_jacobian(xi), carried) <= tolerance);
        let one = left_jacobian(xi) * left_jacobian_inverse(xi);
        prop_assert!(distance(one, Mat6::IDENTITY) <= tolerance);
        let one = right_jacobian_inverse(xi) * right_jacobian(xi);
        prop_assert!(distance(one, Mat6::IDENTITY) <= tolerance);
    }

    /// Central differences: h²/6 third derivatives and ε/h rounding, h = 1e-5.
    #[test]
    fn right_jacobian_by_differences(xi in twist(3.0), eta in twist(1.0)) {
        let h = 1e-5;
        let size = (1.0 + xi.linear.length()) * (1.0 + eta.norm()).powi(3);
        let tolerance = (h * h + 8.0 * EPS / h) * size;
        let (plus, minus) = (xi + eta * h, xi - eta * h);
        let body = Pose::exp(minus).twist_to(&Pose::exp(plus)) * (0.5 / h);
        let found = Twist::from(right_jacobian(xi).mul_vec(&eta.into()));
        prop_assert!((found - body).norm() <= tolerance, "{}", (found - body).norm());

        let slope = (right_jacobian(plus) - right_jacobian(minus)).scale(0.5 / h);
        prop_assert!(distance(slope, right_jacobian_derivative(xi, eta)) <= tolerance);
        let slope = (right_jacobian_inverse(plus) - right_jacobian_inverse(minus)).scale(0.5 / h);
        prop_assert!(distance(slope, right_jacobian_inverse_derivative(xi, eta)) <= tolerance);
    }

    #[test]
    fn inertia_transforms_like_its_matrix(
        a in inertia(),
        b in inertia(),
        p in pose(),
        t in twist(3.0),
    ) {
        let reach = 2.0 + p.translation.length();
        let tolerance = 64.0 * EPS * (a.mass + b.mass + 8.0) * reach * reach;
        let m = a.matrix();
        let momentum: Vec6 = a.apply(t).into();
        let product = m.mul_vec(&t.into());
        prop_assert!(
            momentum
                .iter()
                .zip(&product)
                .all(|(x, y)| (x - y).abs() <= tolerance * (1.0 + t.norm()))
        );
        let energy = 0.5 * t.dot(Wrench::from(product));
        let scale = (1.0 + t.norm()).powi(2);
        prop_assert!((a.kinetic_energy(t) - energy).abs() <= 4.0 * tolerance * scale);
        // M' = Ad⁻ᵀ M Ad⁻¹ with the adjoint of the pose.
        let inverse = p.inverse().adjoint();
        let moved = m.congruence(&inverse.matrix().transpose()).to_mat6();
        prop_assert!(distance(a.transformed(&p).matrix().to_mat6(), moved) <= tolerance);
        let sum = (m + b.matrix()).to_mat6();
        prop_assert!(distance(a.combined(&b).matrix().to_mat6(), sum) <= tolerance);
        prop_assert!(a.combined(&b).transformed(&p).validate(1e-12).is_ok());
        prop_assert_eq!(SpatialInertia::from(a.to_array()), a);
    }

    #[test]
    fn symmetric_kernels(
        s in positive_definite(),
        a in mat6(),
        b in prop::array::uniform6(-1.0..1.0),
    ) {
        let (full, size) = (s.to_mat6(), s.to_mat6().max_abs());
        let mut x = b;
        s.ldl().unwrap().solve(&mut x);
        let length = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        // LDLᵀ of a positive definite matrix is backward stable.
        let product = full.mul_vec(&x);
        let off = product.iter().zip(&b).map(|(p, q)| (p - q).abs());
        let residual = off.fold(0.0, f64::max);
        prop_assert!(residual <= 36.0 * EPS * (size * length + 1.0), "{residual}");
        // Smallest eigenvalue ≥ 1, so the condition number is at most 6 · size.
        let inverse = s.inverse_positive_definite().unwrap();
        let one = full * inverse.to_mat6();
        prop_assert!(distance(one, Mat6::IDENTITY) <= 36.0 * EPS * 6.0 * size);
        prop_assert_eq!(s.mul_vec(&b), full.mul_vec(&b));

        let congruent = a * full * a.transpose();
        prop_assert!(distance(s.congruence(&a).to_mat6(), congruent) <= 36.0 * EPS * 36.0 * size);
        let mut updated = s;
        updated.add_outer(0.5, &b);
        for i in 0..6 {
            for j in 0..6 {
                let e = updated.get(i, j) - (s.get(i, j) + 0.5 * b[i] * b[j]);
                prop_assert!(e.abs() <= 4.0 * EPS * (size + 1.0));
            }
        }
        let sum = (s + s * 2.0 - s).to_mat6();
        prop_assert!(distance(sum, full * 2.0) <= 4.0 * EPS * size);
        // One pivot turned negative.
        let indefinite = s - SymMat6::from_diagonal([0.0, 0.0, 0.0, 0.0, 0.0, 100.0]);
        prop_assert!(indefinite.ldl().is_none());
        prop_assert_eq!(SymMat6::from(<[f64; 21]>::from(s)), s);
        prop_assert_eq!(SymMat6::symmetric_part(&full), s);
    }

    #[test]
    fn arrays(p in pose(), t in twist(3.0), w in wrench(), m in mat6()) {
        prop_assert_eq!(Pose::from(p.to_array()), p);
        prop_assert_eq!(Twist::from(t.to_array()), t);
        prop_assert_eq!(Wrench::from(w.to_array()), w);
        prop_assert_eq!(Mat6::from(m.to_rows()), m);
        let rows = p.to_rows();
        let (turn, shift) = pose_distance(&Pose::from_rows(rows).unwrap(), &p);
        prop_assert!(turn <= 16.0 * EPS && shift == 0.0, "{turn}");
        let point = DVec3::new(0.3, -0.7, 2.0);
        let image = p.transform_point(point);
        for i in 0..3 {
            let x = rows[i][0] * point.x + rows[i][1] * point.y + rows[i][2] * point.z + rows[i][3];
            prop_assert!((x - image[i]).abs() <= 32.0 * EPS * (1.0 + image.length()));
        }
    }
}

#[test]
fn rows_that_are_no_pose() {
    let good = Pose::exp(Twist::new(DVec3::X, DVec3::Y)).to_rows();
    let mut rows = good;
    rows[1][2] = f64::NAN;
    let error = Pose::from_rows(rows).unwrap_err();
    assert!(matches!(error, PoseError::NotFinite { row: 1, column: 2, .. }));
    let mut rows = good;
    rows[3][0] = 0.5;
    assert_eq!(Pose::from_rows(rows), Err(PoseError::LastRow([0.5, 0.0, 0.0, 1.0])));
    let mut rows = good;
    rows[0] = rows[0].map(|x| -x);
    let error = Pose::from_rows(rows).unwrap_err();
    assert!(matches!(error, PoseError::NotARotation { determinant, .. } if determinant < 0.0));
    let mut rows = good;
    rows[0][0] += 1e-3;
    assert!(matches!(Pose::from_rows(rows), Err(PoseError::NotARotation { .. })));
}

/// Masses and tensors that no body has, named in the message.
#[test]
fn impossible_inertias() {
    let with = |mass: f64, d: [f64; 3]| {
        let tensor = DMat3::from_diagonal(DVec3::from_array(d));
        SpatialInertia::new(mass, DVec3::ZERO, tensor).validate(1e-9)
    };
    assert_eq!(with(1.0, [1.0, 1.0, 2.0]), Ok(()));
    assert!(with(-2.0, [1.0; 3]).unwrap_err().to_string().contains("-2"));
    assert!(with(1.0, [1.0, 1.0, 2.1]).unwrap_err().to_string().contains("2.1"));
    assert!(with(1.0, [-0.5, 1.0, 1.0]).unwrap_err().to_string().contains("-0.5"));
    assert!(with(f64::NAN, [1.0; 3]).is_err());
}
