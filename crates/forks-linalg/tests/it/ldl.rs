//! LDLᵀ of small matrices.

use forks_linalg::{Ldl6, Pivots};

/// The Hilbert matrix of six rows has condition 1.5e7; the residual stays at rounding.
#[test]
fn solves_and_refuses() {
    let m: [[f64; 6]; 6] =
        core::array::from_fn(|i| core::array::from_fn(|j| 1.0 / (i + j + 1) as f64));
    let f = Ldl6::new(&m, 6, Pivots::AboveZero).expect("positive definite");
    let b = [1.0, -2.0, 3.0, 0.5, 0.25, -1.0];
    let mut x = b;
    f.solve(&mut x);
    let size = x.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    for i in 0..6 {
        let r: f64 = (0..6).map(|j| m[i][j] * x[j]).sum::<f64>() - b[i];
        assert!(r.abs() < 36.0 * f64::EPSILON * size, "{r}");
    }
    let mut singular = m;
    singular[3] = singular[2];
    for i in 0..6 {
        singular[i][3] = singular[i][2];
    }
    let least = Pivots::AboveEach(&[1e-14; 6]);
    assert_eq!(Ldl6::new(&singular, 6, least).unwrap_err().row, 3);
    singular[0][0] = f64::NAN;
    let error = Ldl6::new(&singular, 6, Pivots::AboveZero).unwrap_err();
    assert!(error.row == 0 && error.pivot.is_nan());
}
