//! Joint limits as springs.

use forks_mechanism::{Limit, LimitTerm};

#[test]
fn the_energy_is_smooth_and_has_the_stated_stiffness() {
    let limit = Limit { lower: -0.4, upper: 0.6 };
    let w = limit.width();
    assert_eq!(w, 0.05);
    let at = |x: f64| limit.spring(300.0, w, x);
    for inside in [-0.4, 0.0, 0.6] {
        assert_eq!(at(inside), LimitTerm::default());
    }
    assert!((at(0.6 + w).hessian - 300.0).abs() < 1e-9);
    assert!((at(-0.4 - w).hessian - 300.0).abs() < 1e-9);
    assert!(at(-0.5).gradient < 0.0 && at(0.7).gradient > 0.0);
    for x in [-0.55, -0.41, 0.2, 0.603, 0.75] {
        // Cubics: central differences are exact to h².
        let h = 1e-4;
        let (a, b) = (at(x - h), at(x + h));
        let slope = (b.energy - a.energy) / (2.0 * h);
        assert!((slope - at(x).gradient).abs() < 300.0 / w * h * h);
        let slope = (b.gradient - a.gradient) / (2.0 * h);
        assert!((slope - at(x).hessian).abs() < 1e-8 * 300.0, "{x}");
    }
    let open = Limit { lower: f64::NEG_INFINITY, upper: 1.0 };
    assert_eq!(open.spring(10.0, open.width(), -1e9), LimitTerm::default());
    assert!(open.spring(10.0, open.width(), 1.1).gradient > 0.0);
}
