//! Mass models: frequencies known beforehand, all modes give back the full mechanism.

use forks_dynamics::mass_matrix;
use forks_mechanism::{
    lie::{Twist, Wrench},
    linalg::Matrix,
};
use forks_models::{HelixJoints, Parametric, helix, ladder};
use forks_reduce::{
    Damping, Effector, JointDamping, MassModel, Problem, ReduceError, ReduceOptions, Reduction,
};
use forks_testkit::{RandomMechanismOptions, random_effectors, random_mechanism};

fn of(p: &Parametric) -> Problem {
    let effectors = p.effectors.iter().map(|&l| Effector::of_link(&p.mechanism, l)).collect();
    Problem::unprepared(p.mechanism.clone(), effectors)
}

fn reduced(problem: &Problem, mass: MassModel) -> Result<Reduction<'_>, ReduceError> {
    problem.reduce(problem.at_rest(), &ReduceOptions { mass, ..ReduceOptions::default() })
}

/// Lowest frequencies printed beforehand: true, accelerability, condensed; and half a unit of the
/// last digit.
type Row = (Parametric, Vec<(f64, f64, f64)>, f64);

fn table() -> Vec<Row> {
    vec![
        (
            helix(20, HelixJoints::Hinge3),
            vec![(11.65, 16.72, 11.89), (11.94, 27.74, 12.32), (18.91, 52.75, 20.13)],
            0.005,
        ),
        (
            helix(50, HelixJoints::HingeZ),
            vec![(6.19, 11.10, 6.79), (8.34, 34.51, 9.10), (8.85, 401.4, 10.14)],
            0.005,
        ),
        (ladder(5), vec![(72.5, 131.0, 75.7)], 0.05),
    ]
}

#[test]
fn frequencies_to_the_digits_printed() {
    for (p, rows, half) in table() {
        let problem = of(&p);
        let full = reduced(&problem, MassModel::Condensed).unwrap().linear.full_frequencies();
        let of = |mass| reduced(&problem, mass).unwrap().frequencies();
        let (a, c) = (of(MassModel::Accelerability), of(MassModel::Condensed));
        let modes = of(MassModel::CraigBampton { modes: 12 });
        for (i, &(printed, accelerability, condensed)) in rows.iter().enumerate() {
            let near = |x: f64, y: f64| {
                // 401.4 is printed with one digit less.
                let half = if y > 100.0 { 0.05 } else { half };
                assert!((x - y).abs() <= 1.0001 * half, "{x} {y}");
            };
            near(full[i], printed);
            near(a[i], accelerability);
            near(c[i], condensed);
            let off = modes[i] / full[i] - 1.0;
            println!("{} mode {i}: Craig-Bampton off by {off:.2e}", p.mechanism.name());
            assert!((-1e-9..1e-3).contains(&off));
        }
    }
}

#[test]
fn all_modes_give_back_the_full_mechanism() {
    let (mut compared, mut worst, mut with_loops): (usize, f64, usize) = (0, 0.0, 0);
    for seed in 0..60 {
        let m = random_mechanism(seed, &RandomMechanismOptions::sprung(seed));
        let q = m.start_positions();
        let effectors =
            random_effectors(seed, &m, 1).into_iter().map(|l| Effector::of_link(&m, l)).collect();
        let problem = Problem::unprepared(m.clone(), effectors);
        let Ok(r) = reduced(&problem, MassModel::CraigBampton { modes: 1000 }) else { continue };
        let d = r.model.data();
        assert!(d.mass.sub(&d.mass.transpose()).max_abs() <= 1e-14 * d.mass.max_abs());
        let (own, full) = (r.frequencies(), r.linear.full_frequencies());
        let n = full.len().min(own.len());
        assert!(own.len() >= n && n > 0, "seed {seed}");
        // XᵀMX with the dense mass matrix of all coordinates.
        let condensed = reduced(&problem, MassModel::Condensed).unwrap();
        let condensed = condensed.model.data();
        let mut x = Matrix::zeros(m.velocity_count(), r.linear.basis.rank);
        let ids = m.forest().edges().iter().map(|e| e.joint);
        for (j, id) in condensed.joints.iter().zip(ids.chain(m.forest().closures().iter().copied()))
        {
            for (i, v) in m.velocity_range(id).enumerate() {
                x.row_mut(v).copy_from_slice(j.map.row(i));
            }
        }
        let dense = x.transpose_mul(&mass_matrix(&m, &q).mul(&x));
        let scale = dense.max_abs();
        assert!(dense.sub(&condensed.mass).max_abs() < 1e-11 * scale, "seed {seed}");
        for (a, b) in own.iter().zip(&full) {
            worst = worst.max((a / b - 1.0).abs());
        }
        with_loops += usize::from(!m.forest().closures().is_empty());
        compared += 1;
    }
    println!("{compared} mechanisms, {with_loops} with loops, worst {worst:.1e}");
    assert!(compared >= 20 && with_loops >= 3 && worst < 1e-8);
}

/// Sums of wrenches on every link from the loads of a column of the model.
fn unbalanced(p: &Parametric, r: &forks_rom::ReducedModel, column: usize) -> Vec<Wrench> {
    let d = r.data();
    let mut sum = vec![Wrench::ZERO; d.links.len()];
    for j in &d.joints {
        let load = Wrench::from_array(core::array::from_fn(|i| j.load_map[(i, column)]));
        sum[j.outer] -= load;
        let outer_from_inner = d.links[j.outer].rest.inverse() * d.links[j.inner].rest;
        sum[j.inner] += outer_from_inner.adjoint().transpose_apply(load);
    }
    assert_eq!(sum.len(), p.mechanism.links().len());
    sum
}

#[test]
fn joint_loads_balance_every_link_and_stretch_the_springs() {
    // A ladder of five rungs has five motions, one of them the effector's: fewer modes than asked
    // for.
    for (p, modes) in [(helix(8, HelixJoints::Hinge3), 6), (ladder(5), 4)] {
        let m = &p.mechanism;
        let (problem, q) = (of(&p), m.start_positions());
        let r = reduced(&problem, MassModel::CraigBampton { modes: 6 }).unwrap();
        let (model, rank) = (&r.model, r.linear.basis.rank);
        let d = model.data();
        assert_eq!(r.modes(), modes);
        let held = r.linear.basis.dual.mul(&r.linear.hessian);
        let effector = problem.effectors[0].link.index();
        for k in 0..model.dof() {
            let mut sum = unbalanced(&p, model, k);
            let scale = d
                .joints
                .iter()
                .flat_map(|j| j.load_map.column(k))
                .fold(0.0f64, |m, x| m.max(x.abs()));
            if k < rank {
                sum[effector] += Wrench::from_array(core::array::from_fn(|i| held[(i, k)]));
            } else {
                let mode = d.hessian[(k, k)] / d.mass[(k, k)];
                for (l, link) in m.links().iter().enumerate() {
                    let t = Twist::from_array(core::array::from_fn(|i| d.links[l].map[(i, k)]));
                    sum[l] += link.inertia.apply(t) * mode;
                }
                // The effector's reaction is what is left on its link.
                sum[effector] = Wrench::ZERO;
            }
            for (l, w) in sum.iter().enumerate().skip(1) {
                let off = w.to_array().into_iter().fold(0.0f64, |m, x| m.max(x.abs()));
                assert!(off < 1e-8 * scale, "{} link {l} column {k}: {off:e} {scale:e}", m.name());
            }
            // Along a joint's freedoms its load is its spring's force.
            let ids = m.forest().edges().iter().map(|e| (e.joint, Some(e)));
            let closing = m.forest().closures().iter().map(|&id| (id, None));
            for ((id, edge), j) in ids.chain(closing).zip(&d.joints) {
                let columns = match edge {
                    Some(e) => forks_mechanism::kinematics::tree_joint_motion(m, e, &q).columns,
                    None => m.joint(id).columns(&q[m.position_range(id)]),
                };
                let load = Wrench::from_array(core::array::from_fn(|i| j.load_map[(i, k)]));
                let stiffness = m.joint(id).spring.as_ref().map_or(0.0, |s| s.stiffness.get(0, 0));
                for (i, c) in columns.as_slice().iter().enumerate() {
                    let off = (c.dot(load) - stiffness * j.map[(i, k)]).abs();
                    assert!(off < 1e-8 * scale, "{} {id:?} {k}: {off:e} {scale:e}", m.name());
                }
            }
        }
        // Modes hold the effectors.
        assert_eq!(d.basis.block(0, rank, d.basis.rows(), modes).max_abs(), 0.0);
    }
}

#[test]
fn damping_terms_add_up_and_are_checked() {
    let p = helix(5, HelixJoints::Hinge3);
    let problem = of(&p);
    let damped = |problem: &Problem, damping: Damping| {
        let options = ReduceOptions { damping, ..ReduceOptions::default() };
        problem.reduce(problem.at_rest(), &options).map(|r| r.model)
    };
    let with = |damping: Damping| damped(&problem, damping);
    let d = with(Damping::modal(0.03)).unwrap();
    let (k, mass) = (&d.data().hessian, &d.data().mass);
    let (values, x) = forks_mechanism::linalg::dense::generalized_symmetric_eigen(k, mass).unwrap();
    let c = x.transpose_mul(&d.data().damping.mul(&x));
    for i in 0..values.len() {
        for j in 0..values.len() {
            let expected = if i == j { 0.06 * values[i].sqrt() } else { 0.0 };
            assert!((c[(i, j)] - expected).abs() < 1e-9 * values[values.len() - 1].sqrt());
        }
    }
    let plain = with(Damping::default()).unwrap();
    let plain = plain.data();
    let rayleigh = Damping { rayleigh_mass: 0.5, rayleigh_stiffness: 0.01, ..Damping::default() };
    let d = with(rayleigh).unwrap();
    let expected = Matrix::from_fn(6, 6, |i, j| {
        plain.damping[(i, j)] + 0.5 * plain.mass[(i, j)] + 0.01 * plain.hessian[(i, j)]
    });
    assert!(d.data().damping.sub(&expected).max_abs() < 1e-13 * expected.max_abs());
    // D is K times a number here, so both projections are the same.
    let inverse = with(Damping { joints: JointDamping::Inverse, ..Damping::default() }).unwrap();
    let off = inverse.data().damping.sub(&plain.damping).max_abs();
    assert!(off < 1e-9 * plain.damping.max_abs(), "{off:e}");
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        for damping in [
            Damping { rayleigh_mass: bad, ..Damping::default() },
            Damping { rayleigh_stiffness: bad, ..Damping::default() },
            Damping::modal(bad),
        ] {
            assert!(matches!(with(damping), Err(ReduceError::Damping { .. })));
        }
    }
    let l = ladder(3);
    let damping = Damping { joints: JointDamping::Inverse, ..Damping::default() };
    assert!(matches!(damped(&of(&l), damping), Err(ReduceError::Undamped { .. })));
}
