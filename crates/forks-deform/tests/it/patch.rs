//! Patch test, rotations, rest: a homogeneous deformation is in equilibrium on any mesh.

use forks_deform::{
    Elastic,
    dynamics::mechanism::lie::{SplitMix64, glam::DMat3, glam::DVec3},
};

use crate::support::{distorted, largest, materials, matrix, on_surface, rotation, vector};

#[test]
fn homogeneous_deformations_need_no_forces_inside() {
    let mesh = distorted([4, 3, 3], 0.25, 3);
    for mesh in [mesh.clone(), mesh.quadratic()] {
        for (name, material) in materials() {
            let elastic = Elastic::new(&mesh, material);
            let f = DMat3::IDENTITY + matrix(&mut SplitMix64::new(6)) * 0.2;
            let x: Vec<DVec3> = mesh.nodes().iter().map(|x| f * *x).collect();
            let mut force = x.clone();
            elastic.forces(&x, &mut force);
            let inside = |want: bool| -> Vec<DVec3> {
                let all = force.iter().zip(mesh.nodes());
                all.filter(|(_, x)| on_surface(**x) != want).map(|(f, _)| *f).collect()
            };
            assert!(!inside(true).is_empty());
            let error = largest(&inside(true)) / largest(&inside(false));
            assert!(error < 1e-12, "{name} {:?}: {error}", mesh.order());
        }
    }
}

#[test]
fn forces_turn_with_the_body_and_rest_has_none() {
    let mesh = distorted([3, 2, 2], 0.2, 8);
    for mesh in [mesh.clone(), mesh.quadratic()] {
        for (name, material) in materials() {
            let elastic = Elastic::new(&mesh, material);
            let mut rng = SplitMix64::new(12);
            let (r, shift) = (rotation(&mut rng), vector(&mut rng));
            let force = |x: &[DVec3]| {
                let mut f = x.to_vec();
                elastic.forces(x, &mut f);
                f
            };
            let x: Vec<DVec3> = mesh.nodes().iter().map(|x| *x + vector(&mut rng) * 0.1).collect();
            let turned: Vec<DVec3> = x.iter().map(|x| r * *x + shift).collect();
            let (f, g) = (force(&x), force(&turned));
            let left: Vec<DVec3> = f.iter().zip(&g).map(|(f, g)| r * *f - *g).collect();
            assert!(largest(&left) < 1e-13 * largest(&f), "{name}: {}", largest(&left));
            let rest: Vec<DVec3> = mesh.nodes().iter().map(|x| r * *x + shift).collect();
            assert!(largest(&force(&rest)) < 1e-13 * largest(&f), "{name}");
        }
    }
}
