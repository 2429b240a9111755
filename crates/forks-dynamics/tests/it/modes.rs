//! Mass matrix and modes: kinetic energy, published frequencies, a loop's effective mass.

use crate::common;

use common::Random;
use forks_dynamics::{
    mass_matrix,
    mechanism::kinematics::{link_jacobian, link_twists},
    modes::{effective_inverse_mass, unloaded_modes},
};
use forks_models::{HelixJoints, Parametric};

#[test]
fn mass_matrix_gives_the_kinetic_energy() {
    for seed in 0..100 {
        let mut r = Random::new(300 + seed);
        let (links, loops) = (1 + r.below(8), r.below(3));
        let m = r.mechanism(links, loops);
        let q = r.positions(&m);
        let mass = mass_matrix(&m, &q);
        assert!(mass.sub(&mass.transpose()).max_abs() < 1e-13 * mass.max_abs());
        let v: Vec<f64> = (0..m.velocity_count()).map(|_| r.number()).collect();
        let twists = link_twists(&m, &q, &v);
        let bodies: f64 =
            m.links().iter().zip(&twists).map(|(l, t)| 0.5 * l.inertia.apply(*t).dot(*t)).sum();
        let mut rotors = 0.0;
        for (i, j) in m.joints().iter().enumerate() {
            let range = m.velocity_range(forks_dynamics::mechanism::JointId::new(i));
            for (v, a) in v[range].iter().zip(&j.armature) {
                rotors += 0.5 * a * v * v;
            }
        }
        let energy: f64 = 0.5 * mass.mul_vec(&v).iter().zip(&v).map(|(p, v)| p * v).sum::<f64>();
        assert!((energy - bodies - rotors).abs() < 1e-12 * (1.0 + energy), "seed {seed}");
    }
}

fn lowest(p: &Parametric, n: usize) -> Vec<f64> {
    let q = p.mechanism.start_positions();
    let poses = p.mechanism.link_poses(&q);
    unloaded_modes(&p.mechanism, &q, &poses).unwrap().frequencies()[..n].to_vec()
}

#[test]
fn published_frequencies() {
    // Rounded to the digits printed.
    let cases = [
        (forks_models::helix(20, HelixJoints::Hinge3), vec![11.65, 11.94, 18.91], 0.005),
        (forks_models::helix(50, HelixJoints::HingeZ), vec![6.19, 8.34, 8.85], 0.005),
        (forks_models::ladder(5), vec![72.5], 0.05),
    ];
    for (p, expected, rounding) in cases {
        let found = lowest(&p, expected.len());
        for (f, e) in found.iter().zip(&expected) {
            assert!((f - e).abs() <= 1.01 * rounding, "{}: {found:?}", p.mechanism.name());
        }
    }
}

#[test]
fn effective_mass_of_a_tree_is_the_plain_one_and_shapes_are_normal() {
    let p = forks_models::helix(6, HelixJoints::Hinge3);
    let m = &p.mechanism;
    let q = m.start_positions();
    let poses = m.link_poses(&q);
    let j = link_jacobian(m, &q, &poses, p.effectors[0]);
    let mass = mass_matrix(m, &q);
    let plain = j.mul(&forks_dynamics::mechanism::linalg::dense::lu_solve(&mass, &j.transpose()));
    let found = effective_inverse_mass(m, &q, &poses, &j).unwrap();
    assert!(found.sub(&plain).max_abs() < 1e-10 * plain.max_abs());
    let modes = unloaded_modes(m, &q, &poses).unwrap();
    let unit = modes.shapes.transpose_mul(&mass.mul(&modes.shapes));
    for i in 0..unit.rows() {
        for k in 0..unit.rows() {
            let e = if i == k { 1.0 } else { 0.0 };
            assert!((unit[(i, k)] - e).abs() < 1e-9);
        }
    }
}
