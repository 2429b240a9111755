//! Patch test, rotations, sums, differences.

use forks_deform::{Curvature, Elastic, StressDerivative};
use forks_mechanism::lie::glam::{DMat3, DVec3};
use forks_testkit::Rng;

use super::samples::{distorted, largest, laws, matrix, on_surface, product, rotation, vector};
use crate::validate::record::{Recorder, larger};

const SIZE: DVec3 = DVec3::new(1.0, 0.6, 0.5);

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    patch(out)?;
    turned(out)?;
    differences(out)
}

fn forces(e: &Elastic, x: &[DVec3]) -> Vec<DVec3> {
    let mut f = x.to_vec();
    e.forces(x, &mut f);
    f
}

/// Homogeneous deformations leave no forces inside.
fn patch(out: &mut Recorder) -> Result<(), String> {
    let linear = distorted([4, 3, 3], SIZE, 0.25)?;
    for (order, mesh) in [("Tet4", linear.clone()), ("Tet10", linear.quadratic())] {
        let mut worst: f64 = 0.0;
        for (_, law) in laws()? {
            let e = Elastic::new(&mesh, law);
            let f = DMat3::IDENTITY + matrix(&mut Rng::new(6)) * 0.2;
            let x: Vec<DVec3> = mesh.nodes().iter().map(|x| f * *x).collect();
            let force = forces(&e, &x);
            let of = |outer: bool| {
                let all = force.iter().zip(mesh.nodes());
                largest(all.filter(|(_, x)| on_surface(**x, SIZE) == outer).map(|(f, _)| *f))
            };
            worst = larger(worst, of(false) / of(true));
        }
        out.at_most(&format!("patch test, {order}, five laws: forces inside"), worst, 1e-12);
    }
    Ok(())
}

/// Forces of a turned body, of a turned body at rest, their sum and moment.
fn turned(out: &mut Recorder) -> Result<(), String> {
    let linear = distorted([3, 2, 2], SIZE, 0.2)?;
    let (mut objective, mut rest, mut sums) = (0.0f64, 0.0f64, 0.0f64);
    let mut rng = Rng::new(12);
    for mesh in [linear.clone(), linear.quadratic()] {
        for (_, law) in laws()? {
            let e = Elastic::new(&mesh, law);
            for amplitude in [0.02, 0.1, 0.3] {
                let (r, shift) = (rotation(&mut rng), vector(&mut rng));
                let x: Vec<DVec3> =
                    mesh.nodes().iter().map(|x| *x + vector(&mut rng) * amplitude).collect();
                let y: Vec<DVec3> = x.iter().map(|x| r * *x + shift).collect();
                let (f, g) = (forces(&e, &x), forces(&e, &y));
                let size = largest(f.iter().copied());
                let left = f.iter().zip(&g).map(|(f, g)| r * *f - *g);
                objective = larger(objective, largest(left) / size);
                let z: Vec<DVec3> = mesh.nodes().iter().map(|x| r * *x + shift).collect();
                rest = larger(rest, largest(forces(&e, &z)) / size);
                let force: DVec3 = f.iter().sum();
                let moment: DVec3 = x.iter().zip(&f).map(|(x, f)| x.cross(*f)).sum();
                // Sums of so many forces round by their sizes, not by the largest alone.
                let all: f64 = f.iter().map(|f| f.length()).sum();
                sums = larger(sums, force.length().max(moment.length()) / all);
            }
        }
    }
    out.at_most("forces of a turned body against turned forces", objective, 1e-13);
    out.at_most("forces of a turned body at rest", rest, 1e-13);
    out.at_most("sum of forces and of their moments", sums, 1e-13);
    Ok(())
}

/// Stress against differences of energy, its derivative against differences of stress.
fn differences(out: &mut Recorder) -> Result<(), String> {
    let states = [
        ("inside", DVec3::new(1.05, 0.98, 0.93)),
        ("outside", DVec3::new(1.9, 1.1, 0.4)),
        ("inverted", DVec3::new(1.4, 0.7, -0.6)),
        ("equal stretches", DVec3::new(1.5, 0.6, 0.6)),
    ];
    for (name, s) in states {
        let mut rng = Rng::new(7);
        let (mut gradient, mut hessian) = (0.0f64, 0.0f64);
        for (_, law) in laws()? {
            for _ in 0..50 {
                let f = rotation(&mut rng) * DMat3::from_diagonal(s) * rotation(&mut rng);
                let (d, h) = (matrix(&mut rng), 1e-4);
                // Richardson's difference of fourth order.
                let fourth = |at: &dyn Fn(f64) -> DMat3| {
                    ((at(h) - at(-h)) * 8.0 - (at(2.0 * h) - at(-2.0 * h))) * (1.0 / (12.0 * h))
                };
                let stress = |t: f64| law.stress(Default::default(), &(f + d * t)).0;
                let energy = |t: f64| DMat3::IDENTITY * law.energy(&(f + d * t));
                let p = stress(0.0);
                let size = product(&p, &p).sqrt() * product(&d, &d).sqrt();
                let slope = fourth(&energy).x_axis.x;
                gradient = larger(gradient, (slope - product(&p, &d)).abs() / size);
                let exact = StressDerivative::new(&law, Curvature::Exact, &f).apply(&d);
                let left = exact - fourth(&stress);
                let size = product(&exact, &exact).sqrt();
                hessian = larger(hessian, product(&left, &left).sqrt() / size);
            }
        }
        out.at_most(&format!("stress against differences of energy, {name}"), gradient, 1e-7);
        out.at_most(&format!("its derivative against differences, {name}"), hessian, 1e-7);
    }
    Ok(())
}
