//! Displacements of joints.

use crate::data::JointRest;

/// Change of coordinate `i` of a joint.
pub fn displacement(j: &JointRest, i: usize, eta: &[f64], servo_targets: &[f64]) -> f64 {
    let sum = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    sum(j.map.row(i), eta) + sum(j.servo_map.row(i), servo_targets)
}
