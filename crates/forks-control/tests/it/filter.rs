//! Filters: bounds of commands, exactness, continuity through singular poses.

use forks_control::filter::{Filter, FilterError};
use forks_dynamics::mechanism::linalg::{Matrix, norm};
use forks_testkit::Rng;

fn matrix(rng: &mut Rng, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| rng.symmetric())
}

fn vector(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.symmetric()).collect()
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// Positions of the tip and the middle of a flat arm of four links of 1 m, by joint.
fn arm(q: [f64; 4]) -> (Matrix, Matrix) {
    let angle = |k: usize| q[..=k].iter().sum::<f64>();
    let rows = |links: usize| {
        Matrix::from_fn(2, 4, |i, j| {
            let part = |k| if i == 0 { -f64::sin(angle(k)) } else { f64::cos(angle(k)) };
            (j..links.max(j)).map(part).sum()
        })
    };
    (rows(4), rows(2))
}

#[test]
fn commands_are_bounded_by_the_filters_parameter() {
    let mut rng = Rng::new(1);
    for _ in 0..500 {
        let (rows, columns) = (1 + rng.index(6), 1 + rng.index(10));
        // Nearly singular ones: rows that repeat others but for 1e-7.
        let (a, e) = (matrix(&mut rng, rows, columns), matrix(&mut rng, rows, columns));
        let near = Matrix::from_fn(rows, columns, |i, j| a[(0, j)] + 1e-7 * e[(i, j)]);
        let d = vector(&mut rng, rows);
        for a in [&a, &near] {
            for p in [1e-4, 1e-2, 1.0] {
                let robust = norm(&Filter::Constant(p).solve(&[(a, &d)]).unwrap());
                assert!(robust <= norm(&d) / (2.0 * p.sqrt()) * (1.0 + 1e-12), "{robust}");
                let selective = norm(&Filter::Selective(p).solve(&[(a, &d)]).unwrap());
                assert!(selective <= norm(&d) / p * (1.0 + 1e-12), "{selective}");
            }
        }
    }
}

#[test]
fn selective_is_exact_where_singular_values_are_large_enough() {
    let mut rng = Rng::new(2);
    let mut exact = 0;
    for _ in 0..300 {
        let a = matrix(&mut rng, 3, 8);
        let least = forks_dynamics::mechanism::linalg::dense::svd(&a).unwrap().s[2];
        let d = vector(&mut rng, 3);
        let x = Filter::Selective(least * 0.999).solve(&[(&a, &d)]).unwrap();
        assert!(difference(&a.mul_vec(&x), &d) < 1e-13);
        // The robust inverse leaves α/(σ² + α) of every direction.
        let y = Filter::Constant(1e-3).solve(&[(&a, &d)]).unwrap();
        exact += usize::from(difference(&a.mul_vec(&y), &d) < 1e-6);
    }
    assert_eq!(exact, 0);
}

#[test]
fn priorities_are_exact_where_singular_values_are_large_enough() {
    let mut rng = Rng::new(3);
    for _ in 0..300 {
        let (a, b) = (matrix(&mut rng, 3, 9), matrix(&mut rng, 4, 9));
        let (d, e) = (vector(&mut rng, 3), vector(&mut rng, 4));
        for filter in [Filter::Selective(0.05), Filter::None] {
            let alone = filter.solve(&[(&a, &d)]).unwrap();
            let both = filter.solve(&[(&a, &d), (&b, &e)]).unwrap();
            let least = forks_dynamics::mechanism::linalg::dense::svd(&a).unwrap().s[2];
            if least > 0.05 {
                assert!(difference(&a.mul_vec(&both), &a.mul_vec(&alone)) < 1e-12);
            }
        }
    }
}

#[test]
fn changes_shrink_with_the_spacing_of_poses_through_singular_ones() {
    let largest = |filter: Filter, count: usize| {
        let path = |i: usize| {
            // Through the stretched pose of the whole arm at s = 0.
            let s = (i as f64 / count as f64 - 0.5) * 0.4;
            let (tip, middle) = arm([0.3, s, 0.7 * s, -0.5 * s]);
            let levels = [(&tip, &[0.3, 1.0][..]), (&middle, &[1.0, -0.2][..])];
            filter.solve(&levels).unwrap()
        };
        let all: Vec<Vec<f64>> = (0..=count).map(path).collect();
        all.windows(2).map(|w| difference(&w[0], &w[1])).fold(0.0, f64::max)
    };
    let smooth = [4000, 8000, 16000].map(|n| largest(Filter::Selective(0.3), n));
    for w in smooth.windows(2) {
        assert!((w[0] / w[1] - 2.0).abs() < 0.1, "{smooth:?}");
    }
    // Strict priorities jump, whatever the spacing.
    let strict = [4000, 8000, 16000].map(|n| largest(Filter::None, n));
    assert!(strict[2] > 0.9 * strict[0] && strict[2] > 100.0 * smooth[2], "{strict:?}");
}

#[test]
fn wrong_input_is_refused_with_its_values() {
    let a = Matrix::identity(2);
    let refused = |f: Filter, d: &[f64]| f.solve(&[(&a, d)]).unwrap_err();
    assert_eq!(
        refused(Filter::Constant(-1.0), &[0.0; 2]).to_string(),
        "the filter's parameter is -1; it has to be finite and above 0"
    );
    assert!(matches!(
        refused(Filter::Selective(f64::NAN), &[0.0; 2]),
        FilterError::Parameter { .. }
    ));
    assert_eq!(
        refused(Filter::None, &[0.0, f64::NAN]).to_string(),
        "level 0 has a coefficient or right side that is not finite"
    );
    assert_eq!(
        refused(Filter::None, &[0.0; 3]).to_string(),
        "level 0: 2 rows of 2 columns with 3 right sides; 2 unknowns"
    );
    assert!(Filter::None.solve(&[]).unwrap().is_empty());
}
