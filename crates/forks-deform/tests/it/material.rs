//! Laws: derivatives against differences, symmetry, what is refused, work round closed paths.

use forks_deform::{
    Curvature, Elastic, Material, MaterialError, Model, Range, Selection, StressDerivative, Window,
    dynamics::mechanism::{
        lie::{SplitMix64, glam::DMat3, glam::DVec3},
        linalg::dense::symmetric_eigen,
    },
};

use crate::support::{distorted, entries, largest, materials, matrix, rotation, vector};

fn stress(material: &Material, f: &DMat3) -> DMat3 {
    material.stress(Selection::Pivots, f).0
}

/// A deformation gradient inside the window, outside, inverted, or with equal stretches.
fn sample(rng: &mut SplitMix64, case: usize) -> DMat3 {
    let s = match case % 5 {
        0 => DVec3::new(1.05, 0.98, 0.93),
        1 => DVec3::new(1.9, 1.1, 0.4),
        2 => DVec3::new(1.4, 0.7, -0.6),
        3 => DVec3::new(1.1, 1.1, 1.1),
        _ => DVec3::new(1.5, 0.6, 0.6),
    };
    rotation(rng) * DMat3::from_diagonal(s) * rotation(rng)
}

#[test]
fn stress_is_the_gradient_of_energy_and_its_derivative_that_of_stress() {
    for (name, material) in materials() {
        let mut rng = SplitMix64::new(7);
        for case in 0..200 {
            let (f, d) = (sample(&mut rng, case), matrix(&mut rng));
            let h = 1e-5;
            let (up, down) = (f + d * h, f - d * h);
            let slope = (material.energy(&up) - material.energy(&down)) / (2.0 * h);
            let p = stress(&material, &f);
            let work: f64 =
                p.to_cols_array().iter().zip(d.to_cols_array()).map(|(p, d)| p * d).sum();
            let scale = 1e5;
            assert!((slope - work).abs() < 1e-7 * scale, "{name} {case}: {slope} {work}");
            // Second differences of a law with a kink in its slope are taken off the kink.
            let difference = (stress(&material, &up) - stress(&material, &down)) * (0.5 / h);
            let exact = StressDerivative::new(&material, Curvature::Exact, &f).apply(&d);
            let size = entries(&exact).max(scale);
            assert!(entries(&(difference - exact)) < 1e-7 * size, "{name} {case}");
        }
    }
}

#[test]
fn projected_derivatives_have_no_negative_direction() {
    let mut rng = SplitMix64::new(9);
    for (name, material) in materials() {
        for case in 0..200 {
            let f = sample(&mut rng, case);
            let h = StressDerivative::new(&material, Curvature::Projected, &f);
            let unit = |k: usize| {
                let mut e = [0.0; 9];
                e[k] = 1.0;
                h.apply(&DMat3::from_cols_array(&e)).to_cols_array()
            };
            let columns: [[f64; 9]; 9] = std::array::from_fn(unit);
            let mut m = forks_deform::dynamics::mechanism::linalg::Matrix::zeros(9, 9);
            for (j, c) in columns.iter().enumerate() {
                (0..9).for_each(|i| m[(i, j)] = c[i]);
            }
            assert!(m.sub(&m.transpose()).max_abs() <= 1e-14 * m.max_abs(), "{name}");
            let (values, _) = symmetric_eigen(&m).unwrap();
            assert!(values[0] >= -1e-14 * values[8], "{name} {case}: {values:?}");
        }
    }
}

#[test]
fn small_strains_are_hookes() {
    for (name, material) in materials() {
        let [mu, lambda] = material.lame();
        let mut rng = SplitMix64::new(3);
        let d = matrix(&mut rng);
        let h = StressDerivative::new(&material, Curvature::Exact, &DMat3::IDENTITY);
        let strain = (d + d.transpose()) * 0.5;
        let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
        let hooke = strain * (2.0 * mu) + DMat3::IDENTITY * (lambda * trace);
        assert!(entries(&(h.apply(&d) - hooke)) < 1e-13 * mu, "{name}");
    }
}

#[test]
fn uniaxial_stress_of_the_window_is_the_papers_line() {
    let of = |w| Material::new(Model::StVenantKirchhoff(w), 1e5, 0.3, 1.0).unwrap();
    let material = of(Window::LinearStress(Range::PAPER));
    let [mu, lambda] = material.lame();
    let k0 = lambda + 2.0 * mu;
    for s in [-0.5f64, 0.0, 0.3, 0.7, 0.8, 0.9, 1.2, 1.29, 1.3, 1.5, 2.0] {
        let c = s.clamp((2.0f64 / 3.0).sqrt(), (5.0f64 / 3.0).sqrt());
        let line = 0.5 * (c * c - 1.0) * c + 0.5 * (3.0 * c * c - 1.0) * (s - c);
        let p = material.principal([s, 1.0, 1.0]).stress[0];
        assert!((p / k0 - line).abs() < 1e-14, "{s}: {} {line}", p / k0);
    }
    // Twice differentiable at the limits; the linear strain measure is not.
    for limit in [2.0f64 / 3.0, 5.0 / 3.0] {
        for others in [[1.0, 1.0], [1.05, 0.95], [0.6, 1.5], [1.4, 1.4]] {
            let at =
                |m: &Material, d: f64| m.principal([limit.sqrt() + d, others[0], others[1]]).slope;
            let jump = |m: &Material| {
                let (a, b) = (at(m, -1e-9), at(m, 1e-9));
                let mut most: f64 = 0.0;
                (0..9).for_each(|k| most = most.max((a[k / 3][k % 3] - b[k / 3][k % 3]).abs()));
                most / k0
            };
            assert!(jump(&material) < 1e-7);
            // In uniaxial stretch from ½ to ⅔ of the stiffness at rest, and from 2 to 5/3.
            let jumps = jump(&of(Window::LinearStrain(Range::PAPER))) > 0.1;
            assert!(jumps || others != [1.0, 1.0]);
        }
    }
}

#[test]
fn work_round_closed_paths_is_nothing_but_for_the_papers_form() {
    let of = |w| Material::new(Model::StVenantKirchhoff(w), 1e5, 0.3, 1.0).unwrap();
    for (window, conservative) in [
        (Window::LinearStress(Range::PAPER), true),
        (Window::LinearStrain(Range::PAPER), true),
        (Window::PerStretch(Range::PAPER), false),
    ] {
        let material = of(window);
        assert_eq!(material.is_conservative(), conservative);
        let mut rng = SplitMix64::new(11);
        let mut worst: f64 = 0.0;
        for _ in 0..10 {
            // An ellipse in the space of F through both limits; P is smooth but for jumps of its
            // derivative, so the midpoint rule on 4,000 arcs leaves their square.
            let (a, b) = (matrix(&mut rng) * 0.5, matrix(&mut rng) * 0.5);
            let n = 4000;
            let (mut work, mut path) = (0.0f64, 0.0);
            for k in 0..n {
                let t = (k as f64 + 0.5) / n as f64 * std::f64::consts::TAU;
                let f = DMat3::IDENTITY + a * t.cos() + b * t.sin();
                let df = (b * t.cos() - a * t.sin()) * (std::f64::consts::TAU / n as f64);
                let p = stress(&material, &f).to_cols_array();
                let dw: f64 = p.iter().zip(df.to_cols_array()).map(|(p, d)| p * d).sum();
                (work, path) = (work + dw, path + dw.abs());
            }
            worst = worst.max(work.abs() / path);
        }
        if conservative {
            assert!(worst < 1e-5, "{window:?}: {worst}");
        } else {
            assert!(worst > 1e-3, "{window:?}: {worst}");
        }
    }
}

#[test]
fn constants_out_of_range_are_refused_by_name() {
    let plain = Model::StVenantKirchhoff(Window::None);
    let new = |e, nu, rho| Material::new(plain, e, nu, rho).unwrap_err();
    assert_eq!(new(-1.0, 0.3, 1.0), MaterialError::Young(-1.0));
    assert_eq!(new(1.0, 0.5, 1.0), MaterialError::Poisson(0.5));
    assert_eq!(new(1.0, -1.0, 1.0), MaterialError::Poisson(-1.0));
    assert!(matches!(new(1.0, f64::NAN, 1.0), MaterialError::Poisson(_)));
    assert_eq!(new(1.0, 0.3, 0.0), MaterialError::Density(0.0));
    let low = Window::LinearStress(Range { lower: 0.3, upper: 1.5 });
    let refused = Material::new(Model::StVenantKirchhoff(low), 1.0, 0.3, 1.0).unwrap_err();
    assert!(refused.to_string().contains("0.3 to 1.5"), "{refused}");
}

#[test]
fn forces_are_gradients_and_keep_momentum() {
    let mesh = distorted([3, 2, 2], 0.1, 2);
    for mesh in [mesh.clone(), mesh.quadratic()] {
        for (name, material) in materials() {
            let elastic = Elastic::new(&mesh, material);
            let mut rng = SplitMix64::new(4);
            for amplitude in [0.02, 0.15, 0.4] {
                let n = mesh.nodes().len();
                let move_ = |rng: &mut SplitMix64, a: f64| -> Vec<DVec3> {
                    mesh.nodes().iter().map(|x| *x + vector(rng) * a).collect()
                };
                let x = move_(&mut rng, amplitude);
                let d: Vec<DVec3> = (0..n).map(|_| vector(&mut rng)).collect();
                let at =
                    |h: f64| -> Vec<DVec3> { x.iter().zip(&d).map(|(x, d)| *x + *d * h).collect() };
                let force = |x: &[DVec3]| {
                    let mut f = vec![DVec3::ZERO; n];
                    elastic.forces(x, &mut f);
                    f
                };
                let (h, f) = (1e-6, force(&x));
                let work: f64 = f.iter().zip(&d).map(|(f, d)| f.dot(*d)).sum();
                let slope = (elastic.energy(&at(h)) - elastic.energy(&at(-h))) / (2.0 * h);
                let size = largest(&f);
                assert!((slope + work).abs() < 1e-7 * size * n as f64, "{name} {amplitude}");

                let mut k = elastic.matrix();
                elastic.stiffness(&x, Curvature::Exact, &mut k);
                let mut kd = vec![DVec3::ZERO; n];
                k.multiply(&d, &mut kd);
                let (up, down) = (force(&at(h)), force(&at(-h)));
                let left: Vec<DVec3> =
                    (0..n).map(|i| kd[i] + (up[i] - down[i]) / (2.0 * h)).collect();
                assert!(largest(&left) < 1e-6 * largest(&kd), "{name} {amplitude}");

                let total: DVec3 = f.iter().sum();
                let moment: DVec3 = x.iter().zip(&f).map(|(x, f)| x.cross(*f)).sum();
                assert!(total.length().max(moment.length()) < 1e-13 * size, "{name}");
            }
        }
    }
}
