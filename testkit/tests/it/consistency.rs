//! The oracles against themselves: independent routes to the same numbers.

use forks_testkit::{
    JointChoice, Matrix, RandomMechanismOptions, System,
    kinematics::{constraints, displace, first_order, link_poses},
    linear::{product, solve, symmetric_eigen, transposed_product},
    random_effectors, random_mechanism, reduce,
    rigid::Rigid,
};

fn relative(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).norm() / b.norm().max(f64::MIN_POSITIVE)
}

/// P = N (NᵀKN)⁻¹ Nᵀ applied to forces, and the condition number of NᵀKN.
fn by_nullspace(s: &System, forces: &Matrix) -> (Matrix, f64) {
    let n = &s.scaled_nullspace;
    let k = transposed_product(n, &product(&s.scaled(&s.stiffness), n));
    let (e, _) = symmetric_eigen(&k);
    let condition = e.first().map_or(1.0, |x| e[e.len() - 1] / x);
    let right = transposed_product(&s.nullspace(), forces);
    (product(&s.nullspace(), &solve(&k, &right)), condition)
}

#[test]
fn dense_solve_and_nullspace_agree_on_400_mechanisms() {
    let mut worst: f64 = 0.0;
    for seed in 0..400 {
        let options = if seed % 2 == 0 {
            RandomMechanismOptions { resisted: Some(true), ..RandomMechanismOptions::sprung(seed) }
        } else {
            RandomMechanismOptions::mixed(seed)
        };
        let m = random_mechanism(seed, &options);
        let s = System::new(&m, &m.start_positions());
        let effectors = random_effectors(seed, &m, 2);
        let r = s.reduce(&s.stiffness, &effectors).expect("resisted");
        let (z, condition) = by_nullspace(&s, &s.effector_jacobian(&effectors).transpose());
        let c = product(&s.effector_jacobian(&effectors), &z);
        let condition = condition / s.constraint_conditioning();
        if r.rank == 0 {
            continue;
        }
        let error = relative(&r.compliance, &c) / condition;
        worst = worst.max(error);
        assert!(error < 1e3 * f64::EPSILON, "seed {seed}: {error:e}, condition {condition:e}");
        assert!(relative(&r.displacements, &z) < 1e3 * f64::EPSILON * condition, "seed {seed}");
        let asymmetry = relative(&r.compliance.transpose(), &r.compliance);
        assert!(asymmetry < 1e3 * f64::EPSILON * condition, "seed {seed}: {asymmetry:e}");
        let significant = r.compliance_singular_values.iter();
        let significant =
            significant.filter(|x| **x > 1e-12 * r.compliance_singular_values[0]).count();
        assert!(significant <= r.rank, "seed {seed}: {significant} of {}", r.rank);
        let mass = r.inverse_mass.expect("every link has mass");
        let (e, _) = symmetric_eigen(&mass);
        assert!(e[0] > -1e-12 * e[e.len() - 1], "seed {seed}: inverse mass {e:?}");
    }
    println!("worst error over condition: {worst:e}");
}

#[test]
fn jacobians_are_differences_of_poses_and_residuals() {
    // Central differences of step h are off by h² ∂³/6 and ε/h: 1e-10 and 1e-11 of the sizes here.
    let h = 1e-5;
    for seed in 0..40 {
        let mut kinds = JointChoice::USUAL.to_vec();
        kinds.extend([JointChoice::Free, JointChoice::Fixed]);
        let options = RandomMechanismOptions {
            joint_kinds: kinds,
            couplings: 2,
            bushings: 1,
            ..RandomMechanismOptions::sprung(seed)
        };
        let m = random_mechanism(seed, &options);
        let q = m.start_positions();
        let f = first_order(&m, &q);
        let still = vec![0.0; m.velocity_count()];
        let at = |k: usize, h: f64| {
            let mut d = still.clone();
            d[k] = h;
            let q = displace(&m, &q, &d);
            let poses = link_poses(&m, &q, &still);
            let g = constraints(&m, &q, &still, &poses);
            (poses, g)
        };
        for k in 0..still.len() {
            let ((pp, gp), (pm, gm)) = (at(k, h), at(k, -h));
            for l in 0..pp.len() {
                let t: [f64; 6] = Rigid::log(&pm[l].inverse().times(&pp[l]));
                for i in 0..6 {
                    let d = (t[i] / (2.0 * h) - f.links[l][(i, k)]).abs();
                    assert!(d < 2e-8, "seed {seed} link {l} ({i}, {k}): {d:e}");
                }
            }
            for i in 0..gp.len() {
                let d = ((gp[i] - gm[i]) / (2.0 * h) - f.constraints[(i, k)]).abs();
                assert!(d < 2e-8, "seed {seed} constraint ({i}, {k}): {d:e}");
            }
        }
    }
}

#[test]
fn unresisted_motions_are_admissible_and_cost_no_energy() {
    for seed in 0..60 {
        let options = RandomMechanismOptions {
            springless_fraction: 0.5,
            resisted: Some(false),
            ..RandomMechanismOptions::mixed(seed)
        };
        let m = random_mechanism(seed, &options);
        let s = System::new(&m, &m.start_positions());
        let u = s.reduce(&s.stiffness, &random_effectors(seed, &m, 1)).expect_err("unresisted");
        assert!(u.motions.columns() > 0 && !u.joints.is_empty());
        let gap = product(&s.first.constraints, &u.motions).max_abs();
        // Redundant rows are zero to the row tolerance 1e-9.
        assert!(gap < 1e-8, "seed {seed}: loops open by {gap:e}");
        let energy = transposed_product(&u.motions, &product(&s.stiffness, &u.motions)).max_abs();
        assert!(energy < 1e-10 * s.stiffness.max_abs(), "seed {seed}: {energy:e}");
    }
}

#[test]
fn planar_loops_have_three_redundant_rows_each() {
    for seed in 0..30 {
        let options = RandomMechanismOptions {
            planar: true,
            extra_loops: 1,
            resisted: Some(true),
            ..RandomMechanismOptions::sprung(seed)
        };
        let options = RandomMechanismOptions { links: options.links.max(3), ..options };
        let m = random_mechanism(seed, &options);
        let s = System::new(&m, &m.start_positions());
        assert!(s.constraint_rank() <= 3, "seed {seed}: rank {}", s.constraint_rank());
    }
}

#[test]
fn results_scale_with_the_size_of_the_mechanism() {
    // The same mechanism 100 times smaller: stiffness per radian unchanged, so that turns per
    // torque stay, displacements per torque shrink by 100, displacements per force by 100².
    for seed in 0..40 {
        let large = RandomMechanismOptions { length: 1.0, ..RandomMechanismOptions::mixed(seed) };
        let small = RandomMechanismOptions { length: 0.01, ..large.clone() };
        let (a, b) = (random_mechanism(seed, &large), random_mechanism(seed, &small));
        let e = random_effectors(seed, &a, 2);
        let ra = reduce(&a, &a.start_positions(), &e).expect("resisted");
        let rb = reduce(&b, &b.start_positions(), &e).expect("resisted");
        assert_eq!(ra.rank, rb.rank, "seed {seed}");
        assert!((ra.size / rb.size - 100.0).abs() < 1e-10, "seed {seed}");
        let unit = |i: usize| if i % 6 < 3 { 100.0 } else { 1.0 };
        let c = Matrix::from_fn(ra.compliance.rows(), ra.compliance.columns(), |i, j| {
            unit(i) * unit(j) * rb.compliance[(i, j)]
        });
        if ra.rank > 0 {
            // Loops and stiffness are conditioned to 1e-5 each.
            let error = relative(&c, &ra.compliance);
            assert!(error < 1e-8, "seed {seed}: {error:e}");
        }
    }
}
