//! Energy, balance and statuses of small models, and numbers that make no model.

use forks_rom::{
    EffectorLoad, LoadFrame, ModelError, ReducedModel, StaticStatus,
    data::{DEFAULT_RANGE, EffectorRest, JointPath, JointRest, LinkRest, ModelData},
    lie::{Pose, Twist, Wrench, glam::DVec3, so3::exp_rotation},
    linalg::Matrix,
};
use forks_testkit::Rng;

fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from_array(rng.vector())
}

/// `effectors` bodies with `n` coordinates, one servo, static wrenches, 𝓗 with eigenvalues above
/// 20.
fn data(rng: &mut Rng, effectors: usize, n: usize) -> ModelData {
    let random = |rng: &mut Rng, r, c| Matrix::from_fn(r, c, |_, _| rng.symmetric());
    let links: Vec<LinkRest> = (0..effectors)
        .map(|i| LinkRest {
            name: format!("link{i}"),
            auxiliary: false,
            rest: Pose::new(exp_rotation(vector(rng)), vector(rng)),
            map: random(rng, 6, n),
            servo_map: random(rng, 6, 1),
        })
        .collect();
    let a = random(rng, n, n);
    let product = a.transpose_mul(&a);
    ModelData {
        radius: 1.0,
        range: DEFAULT_RANGE,
        effectors: links
            .iter()
            .enumerate()
            .map(|(i, l)| EffectorRest {
                name: l.name.clone(),
                link: i,
                link_from_effector: Pose::IDENTITY,
                rest: l.rest,
                static_wrench: Wrench::new(vector(rng), vector(rng) * 0.3),
            })
            .collect(),
        basis: random(rng, 6 * effectors, n),
        hessian: Matrix::from_fn(n, n, |i, j| {
            10.0 * product[(i, j)] + if i == j { 20.0 } else { 0.0 }
        }),
        mass: Matrix::identity(n),
        damping: Matrix::zeros(n, n),
        servo_rest: random(rng, n, 1),
        servos: vec!["servo".into()],
        links,
        joints: vec![],
        base: None,
    }
}

/// Derivative of `f` by central differences with one Richardson step.
fn derivative(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    (4.0 * central(0.5 * h) - central(h)) / 3.0
}

fn moved(x: &[f64], k: usize, h: f64) -> Vec<f64> {
    let mut x = x.to_vec();
    x[k] += h;
    x
}

#[test]
fn the_elastic_force_is_the_gradient_of_the_energy() {
    let mut rng = Rng::new(1);
    for _ in 0..20 {
        let m = ReducedModel::new(data(&mut rng, 2, 5)).unwrap();
        let eta: Vec<f64> = (0..5).map(|_| rng.symmetric()).collect();
        let target = [rng.symmetric()];
        let force = m.elastic_force(&eta, &target);
        for k in 0..5 {
            let slope = derivative(|h| m.elastic_energy(&moved(&eta, k, h), &target), 1e-2);
            // The energy is quadratic: rounding only, ε U / h.
            assert!((force[k] - slope).abs() < 1e-11 * (1.0 + force[k].abs()), "{k}");
        }
        // At rest for its targets, but for the static force.
        let rest = m.rest_coordinates(&target);
        let gap = m.elastic_force(&rest, &target);
        assert!(gap.iter().zip(m.static_force()).all(|(a, b)| (a - b).abs() < 1e-13));
    }
}

#[test]
fn a_hinge_under_a_dead_force_balances_its_torque() {
    // A bar of length l about z from the origin along x; K θ = l (F_y cos θ − F_x sin θ).
    let (k, l) = (30.0, 0.8);
    let column = |v: [f64; 6]| Matrix::from_fn(6, 1, |i, _| v[i]);
    let at = Pose::from_translation(DVec3::new(l, 0.0, 0.0));
    let m = ReducedModel::new(ModelData {
        radius: l,
        range: DEFAULT_RANGE,
        effectors: vec![EffectorRest {
            name: "end".into(),
            link: 0,
            link_from_effector: Pose::IDENTITY,
            rest: at,
            static_wrench: Wrench::ZERO,
        }],
        basis: column([0.0, l, 0.0, 0.0, 0.0, 1.0]),
        hessian: Matrix::from_fn(1, 1, |_, _| k),
        mass: Matrix::identity(1),
        damping: Matrix::zeros(1, 1),
        servo_rest: Matrix::from_fn(1, 1, |_, _| 1.0),
        servos: vec!["angle".into()],
        links: vec![LinkRest {
            name: "bar".into(),
            auxiliary: false,
            rest: at,
            map: column([0.0, l, 0.0, 0.0, 0.0, 1.0]),
            servo_map: Matrix::zeros(6, 1),
        }],
        joints: vec![],
        base: None,
    })
    .unwrap();
    let solve = |force: DVec3, torque: f64, frame, target: f64| {
        let wrench = Wrench::new(force, DVec3::Z * torque);
        m.solve_static(&[EffectorLoad { effector: 0, wrench, frame }], &[target]).unwrap()
    };
    for f in
        [DVec3::new(0.0, 40.0, 3.0), DVec3::new(-60.0, 25.0, 0.0), DVec3::new(20.0, -90.0, 0.0)]
    {
        for target in [0.0, 0.3] {
            let s = solve(f, 0.0, LoadFrame::World, target);
            assert_eq!(s.status, StaticStatus::Converged);
            let t = s.coordinates[0];
            let gap = k * (t - target) - l * (f.y * t.cos() - f.x * t.sin());
            // Stated tolerance of the balance: 1e-12 of the forces.
            assert!(gap.abs() < 2e-12 * l * f.length(), "{gap:e}");
            assert!(s.residual <= 1e-12);
        }
        // A follower keeps its arm: K θ = l F_y.
        let s = solve(f * 0.5, 0.0, LoadFrame::Body, 0.0);
        assert!((s.coordinates[0] - 0.5 * l * f.y / k).abs() < 1e-12);
    }
    // Quadratic convergence: one load step, few iterations.
    assert!(solve(DVec3::Y * 10.0, 0.0, LoadFrame::World, 0.0).iterations <= 5);
    // A torque that turns the bar by more than half a turn.
    let s = solve(DVec3::ZERO, 1.1 * std::f64::consts::PI * k, LoadFrame::World, 0.0);
    assert_eq!(s.status, StaticStatus::OutOfRange);
    let s = solve(DVec3::ZERO, 0.9 * std::f64::consts::PI * k, LoadFrame::World, 0.0);
    assert_eq!(s.status, StaticStatus::Converged);
}

/// Potential of dead forces at the effectors' origins and of the elastic energy.
fn potential(m: &ReducedModel, forces: &[DVec3], eta: &[f64], target: &[f64]) -> f64 {
    let work: f64 =
        forces.iter().enumerate().map(|(e, f)| f.dot(m.effector_pose(e, eta).translation)).sum();
    m.elastic_energy(eta, target) - work
}

/// Minimises with derivatives by differences alone; `None` where it does not get there.
fn minimise(f: &dyn Fn(&[f64]) -> f64, n: usize) -> Option<Vec<f64>> {
    let mut x = vec![0.0; n];
    for _ in 0..100 {
        let g = |x: &[f64], k: usize| derivative(|h| f(&moved(x, k, h)), 2e-3);
        let gradient = Matrix::from_fn(n, 1, |k, _| g(&x, k));
        let hessian = Matrix::from_fn(n, n, |i, j| derivative(|h| g(&moved(&x, j, h), i), 2e-2));
        let step = forks_testkit::linear::solve(&hessian.symmetric_part(), &gradient);
        let mut scale = 1.0;
        let at = |s: f64| -> Vec<f64> { (0..n).map(|k| x[k] - s * step[(k, 0)]).collect() };
        if step.max_abs() < 1e-10 {
            return Some(x);
        }
        while scale > 1e-6 && f(&at(scale)) > f(&x) + 1e-12 {
            scale *= 0.5;
        }
        x = at(scale);
    }
    None
}

#[test]
fn static_solutions_minimise_the_potential() {
    let mut rng = Rng::new(2);
    let mut compared = 0;
    for seed in 0..20 {
        let m = ReducedModel::new(data(&mut rng, 2, 4)).unwrap();
        let forces = [vector(&mut rng) * 8.0, vector(&mut rng) * 8.0];
        let target = [0.1];
        let loads: Vec<EffectorLoad> = forces
            .iter()
            .enumerate()
            .map(|(effector, &f)| EffectorLoad {
                effector,
                wrench: Wrench::new(f, DVec3::ZERO),
                frame: LoadFrame::World,
            })
            .collect();
        let found = m.solve_static(&loads, &target).unwrap();
        assert_eq!(found.status, StaticStatus::Converged, "seed {seed}");
        let best = minimise(&|eta| potential(&m, &forces, eta, &target), 4).expect("a minimum");
        let error =
            found.coordinates.iter().zip(&best).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Gradients by differences are good to ε V / h ≈ 1e-12, stiffness is above 20.
        assert!(error < 1e-9, "seed {seed}: {error:e}");
        compared += 1;
    }
    assert_eq!(compared, 20);
}

#[test]
fn no_load_but_the_static_wrenches_keeps_the_pose() {
    let mut rng = Rng::new(3);
    let d = data(&mut rng, 2, 4);
    let loads: Vec<EffectorLoad> = d
        .effectors
        .iter()
        .enumerate()
        .map(|(effector, e)| EffectorLoad {
            effector,
            wrench: Wrench::new(
                e.rest.rotation * e.static_wrench.force,
                e.rest.rotation * e.static_wrench.torque,
            ),
            frame: LoadFrame::World,
        })
        .collect();
    let s = ReducedModel::new(d).unwrap().solve_static(&loads, &[]).unwrap();
    assert_eq!(s.status, StaticStatus::Converged);
    assert!(s.coordinates.iter().all(|x| x.abs() < 1e-13), "{:?}", s.coordinates);
}

/// Without loads nothing is left of the elastic force at rest; servo targets alone move the model
/// there.
#[test]
fn servo_targets_without_loads_are_solved() {
    let mut rng = Rng::new(6);
    let mut d = data(&mut rng, 2, 4);
    d.effectors.iter_mut().for_each(|e| e.static_wrench = Wrench::ZERO);
    let m = ReducedModel::new(d).unwrap();
    let s = m.solve_static(&[], &[0.2]).unwrap();
    assert_eq!(s.status, StaticStatus::Converged);
    let expected = m.rest_coordinates(&[0.2]);
    let error = s.coordinates.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // The stated tolerance, 1e-12 of forces below 20, over a stiffness above 20.
    assert!(error < 1e-12, "{error:e}");
}

#[test]
fn solutions_that_are_not_found_say_so() {
    let mut rng = Rng::new(4);
    let mut counts = [0usize; 3];
    for _ in 0..400 {
        let m = ReducedModel::new(data(&mut rng, 2, 6)).unwrap();
        let size = 10f64.powf(rng.range(0.0, 3.0));
        let load = |effector, rng: &mut Rng| EffectorLoad {
            effector,
            wrench: Wrench::new(vector(rng) * size, vector(rng) * size),
            frame: if rng.chance(0.5) { LoadFrame::World } else { LoadFrame::Body },
        };
        let loads = [load(0, &mut rng), load(1, &mut rng)];
        let s = m.solve_static(&loads, &[]).unwrap();
        counts[s.status as usize] += 1;
        match s.status {
            StaticStatus::Converged => assert!(s.residual <= 1e-12),
            StaticStatus::Stalled | StaticStatus::OutOfRange => assert!(s.residual > 1e-12),
        }
        assert!(s.coordinates.iter().all(|x| x.is_finite()));
    }
    println!("converged, stalled, out of range: {counts:?}");
    assert!(counts.iter().all(|&c| c > 0), "{counts:?}");
}

#[test]
fn numbers_that_make_no_model_are_refused_by_name() {
    let mut rng = Rng::new(5);
    let good = data(&mut rng, 2, 4);
    let refused = |change: &dyn Fn(&mut ModelData)| {
        let mut d = good.clone();
        change(&mut d);
        ReducedModel::new(d).unwrap_err()
    };
    let size = |quantity, found, expected| ModelError::WrongSize { quantity, found, expected };
    let infinite = |quantity| ModelError::NotFinite { quantity };
    let nan = f64::NAN;
    assert_eq!(refused(&|d| d.radius = 0.0), infinite("radius"));
    assert_eq!(refused(&|d| d.basis = Matrix::zeros(11, 4)), size("basis", 11, 12));
    assert_eq!(refused(&|d| d.basis[(0, 0)] = nan), infinite("basis"));
    assert_eq!(refused(&|d| d.hessian = Matrix::identity(3)), size("hessian", 3, 4));
    assert_eq!(refused(&|d| d.servos.clear()), size("servo rest", 1, 0));
    assert_eq!(refused(&|d| d.links[1].map = Matrix::zeros(6, 5)), size("link map", 5, 4));
    assert_eq!(refused(&|d| d.links[1].servo_map[(2, 0)] = nan), infinite("link servo map"));
    assert_eq!(refused(&|d| d.links[0].rest.translation.x = nan), infinite("link pose"));
    assert_eq!(refused(&|d| d.effectors[1].link = 2), size("effector link", 2, 2));
    assert_eq!(refused(&|d| d.effectors[1].static_wrench.force.z = nan), infinite("effector"));
    let indefinite = |d: &mut ModelData| d.hessian[(3, 3)] = -1.0;
    assert_eq!(refused(&indefinite), ModelError::NotPositiveDefinite);

    let with_path = |path: JointPath, outer| {
        refused(&|d| {
            let (map, servo_map) = (Matrix::zeros(2, 4), Matrix::zeros(2, 1));
            let (inner, inner_from_outer, path) = (0, Pose::IDENTITY, path.clone());
            d.joints.push(JointRest {
                name: "joint".into(),
                closes_loop: false,
                inner,
                outer,
                inner_from_outer,
                reversed: false,
                parent_from_joint: Pose::IDENTITY,
                child_from_joint: Pose::IDENTITY,
                path,
                map,
                servo_map,
                static_load: Wrench::ZERO,
                load_map: Matrix::zeros(0, 0),
            });
        })
    };
    let columns = vec![Twist::unit(0); 2];
    let exponential = JointPath::Exponential { columns: columns.clone() };
    assert_eq!(with_path(exponential, 9), size("joint link", 9, 2));
    let short = JointPath::Exponential { columns: vec![] };
    assert_eq!(with_path(short, 1), size("joint columns", 0, 2));
    let factors = vec![(0, Twist::unit(0)), (2, Twist::unit(1))];
    assert_eq!(with_path(JointPath::Product { factors }, 1), size("joint factor", 2, 2));
    let (before, after) = (Pose::IDENTITY, Pose::IDENTITY);
    let (subspace, start) = (columns, vec![0.0]);
    let path = JointPath::Subspace { before, subspace, start, after, inverted: false };
    assert_eq!(with_path(path, 1), size("joint start", 1, 2));

    let m = ReducedModel::new(good).unwrap();
    let load = |effector, x| EffectorLoad {
        effector,
        wrench: Wrench::new(DVec3::splat(x), DVec3::ZERO),
        frame: LoadFrame::World,
    };
    let solve = |load| m.solve_static(&[load], &[]).unwrap_err();
    assert_eq!(solve(load(2, 1.0)), size("effector index", 2, 2));
    assert_eq!(solve(load(0, nan)), infinite("load"));
    assert_eq!(m.solve_static(&[], &[nan]).unwrap_err(), infinite("servo target"));
}
