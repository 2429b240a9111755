//! Limits: next to no tissue, tissue that is rigid.

use forks_condense::{
    deform::dynamics::mechanism::linalg::Matrix,
    finger::SoftFinger,
    reduce::{Problem, ProblemOptions},
};

use crate::support::*;

fn tip_compliance(young: f64) -> Matrix {
    let f = SoftFinger { young, ..small() }.build().unwrap();
    let c = at_rest(&f, &[], 0);
    let problem = problem(&f, vec![&c], &["bone2"]);
    problem.response(problem.at_rest()).unwrap().compliance
}

/// Soft tissue leaves the skeleton alone; what is left falls as E.
#[test]
fn soft_tissue_gives_the_bare_skeleton() {
    let f = small().build().unwrap();
    let bare = Problem::new(&f.mechanism, &["bone2"], &ProblemOptions::default()).unwrap();
    let bare = bare.response(bare.at_rest()).unwrap().compliance;
    let (a, b) =
        (difference(&tip_compliance(1e-5), &bare), difference(&tip_compliance(1e-6), &bare));
    assert!(b < 1e-9, "{b:e}");
    assert!((a / b / 10.0 - 1.0).abs() < 0.01, "{a:e} {b:e}");
}

/// Hard tissue holds the bones: compliance falls as 1/E.
#[test]
fn hard_tissue_welds_the_bones() {
    let (a, b) = (tip_compliance(1e9).max_abs(), tip_compliance(1e10).max_abs());
    assert!((a / b / 10.0 - 1.0).abs() < 1e-3, "{a:e} {b:e}");
}
