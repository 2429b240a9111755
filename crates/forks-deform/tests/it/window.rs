//! The window test against the decomposition as judge.

use forks_deform::{
    Range, Stretched,
    dynamics::mechanism::lie::{SplitMix64, glam::DMat3, glam::DVec3},
    within, within_by_polynomial,
};

use crate::support::{matrix, rotation};

/// F near rest, gaussian-like, with equal stretches, with reflections, and its judged answer;
/// `None` within 1e-12 of a limit.
fn sample(rng: &mut SplitMix64, case: usize) -> (DMat3, Option<bool>) {
    let mut s = DVec3::from_array([0; 3].map(|_| rng.range(0.5, 1.6)));
    match case % 6 {
        0 => return judged(matrix(rng) * 1.5),
        1 => return judged(DMat3::IDENTITY + matrix(rng) * 0.2),
        2 => s.y = s.x,
        3 => s = DVec3::splat(s.x),
        4 => s.z = -s.z,
        _ => s = DVec3::ONE,
    }
    judged(rotation(rng) * DMat3::from_diagonal(s) * rotation(rng).transpose())
}

fn judged(f: DMat3) -> (DMat3, Option<bool>) {
    let Range { lower, upper } = Range::PAPER;
    let s = Stretched::new(f).sigma;
    let squares = (s * s).to_array();
    let near = squares.iter().any(|l| (l - lower).abs() < 1e-12 || (l - upper).abs() < 1e-12);
    let inside = squares.iter().all(|&l| l > lower && l < upper) && s.z > 0.0;
    (f, (!near).then_some(inside))
}

#[test]
fn pivots_are_never_wrong_and_the_polynomial_only_where_roots_are_multiple() {
    let mut rng = SplitMix64::new(17);
    let (mut wrong, mut accepted, mut polynomial_wrong) = (0, 0, [0; 6]);
    for case in 0..120_000 {
        let (f, Some(inside)) = sample(&mut rng, case) else { continue };
        wrong += usize::from(within(Range::PAPER, &f) != inside);
        let by_polynomial = within_by_polynomial(Range::PAPER, &f);
        polynomial_wrong[case % 6] += usize::from(by_polynomial != inside);
        accepted += usize::from(inside);
    }
    assert_eq!(wrong, 0);
    assert!(accepted > 10_000, "{accepted}");
    let [gauss, near, double, triple, turned, rotations] = polynomial_wrong;
    assert_eq!([gauss, near, double, turned], [0; 4]);
    assert!(triple > 0 && rotations > 0, "{polynomial_wrong:?}");
}

#[test]
fn what_is_not_finite_is_never_inside() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
        for k in 0..9 {
            let mut f = DMat3::IDENTITY.to_cols_array();
            f[k] = bad;
            let f = DMat3::from_cols_array(&f);
            assert!(!within(Range::PAPER, &f) && !within_by_polynomial(Range::PAPER, &f));
        }
    }
}
