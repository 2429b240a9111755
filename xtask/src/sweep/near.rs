//! When two numbers agree.

pub(super) const EXACT: f64 = 1e-9;

/// |a − b| ≤ tolerance · (larger magnitude + floor).
pub(super) fn near(a: f64, b: f64, tolerance: f64, floor: f64) -> bool {
    // Numbers that are not finite are near nothing.
    (a - b).abs() <= tolerance * (a.abs().max(b.abs()) + floor)
}
