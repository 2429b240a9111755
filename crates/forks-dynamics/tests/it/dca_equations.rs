//! The lines of EQUATIONS 1 that the solver uses, one by one: springs, gravity, loops in motion,
//! conditioning.

use crate::dca_support;

use dca_support::{Case, options};
use forks_dynamics::{
    dca::{DcaError, DcaInput, DcaPlan, DcaSettings, DcaStatus, DcaWorkspace, dca, dca_with},
    mechanism::{
        Coordinate, Coupling, Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia, Wrench,
            glam::{DMat3, DVec3},
        },
        linalg::{Matrix, dense},
    },
    tree::{CrbaWorkspace, LinkLoads, RneaWorkspace, Tree, bias, crba},
};
use forks_testkit::{
    RandomMechanismOptions, Rng,
    dynamics::{State, StateOptions, random_state},
    random_mechanism,
};

fn solve(m: &Mechanism, input: &DcaInput<'_>) -> Vec<f64> {
    let plan = DcaPlan::new(m).unwrap();
    let mut work = DcaWorkspace::new(&plan);
    let status = dca_with(&plan, &mut work, input).unwrap();
    assert!(matches!(status, DcaStatus::Solved { .. }), "{status:?}");
    work.accelerations().to_vec()
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// EQUATIONS 1.6 (b): (SᵀVS + K̃)⁻¹ in every place; K̃ from 1e-3 to 1e3 and not diagonal, against
/// (M + K̃) q̈ = τ − bias.
#[test]
fn implicit_stiffness_adds_to_the_mass_matrix() {
    for seed in 0..60 {
        let o = RandomMechanismOptions { extra_loops: 0, ..options(4 * seed + seed % 2) };
        let m = random_mechanism(seed, &o);
        let s = random_state(seed, &m, &StateOptions::default());
        let plan = DcaPlan::new(&m).unwrap();
        let mut rng = Rng::new(seed);
        let size = 10f64.powf(rng.range(-3.0, 3.0));
        let n = m.tree_velocity_count();
        let tree = Tree::new(&m);
        let mut mass = Matrix::zeros(n, n);
        crba(&tree, &mut CrbaWorkspace::new(&tree), s.tree_q(&m), &mut mass);
        let mut implicit = vec![0.0; plan.implicit_len()];
        for (i, j) in m.joints().iter().enumerate() {
            let id = JointId::new(i);
            let d = j.dof();
            let k = rng.positive_definite(d, 0.1 * size, size);
            implicit[plan.implicit_range(id)].copy_from_slice(&k);
            let at = m.velocity_range(id).start;
            for a in 0..d {
                for b in 0..d {
                    mass[(at + a, at + b)] += k[a * d + b];
                }
            }
        }
        let mut c = vec![0.0; n];
        let (q, v) = (s.tree_q(&m), s.tree_v(&m));
        bias(&tree, &mut RneaWorkspace::new(&tree), q, v, &LinkLoads::GRAVITY, &mut c);
        let right = Matrix::from_fn(n, 1, |i, _| s.tau[i] - c[i]);
        let x = dense::cholesky_solve(&mass, &right).unwrap();
        let input = DcaInput { q, v, tau: &s.tau, implicit: &implicit, ..DcaInput::default() };
        let found = solve(&m, &input);
        let exact: Vec<f64> = (0..n).map(|i| x[(i, 0)]).collect();
        let gap: Vec<f64> = found.iter().zip(&exact).map(|(a, b)| a - b).collect();
        // Condition of the scaled mass matrix of a dozen links: below 1e5.
        let bound = 64.0 * 1e5 * f64::EPSILON * largest(&exact);
        assert!(largest(&gap) < bound, "seed {seed}, K̃ {size:.1e}: {:e}", largest(&gap));
    }
}

/// Armature and K̃ are the same thing, on loop-closing joints too (the oracle has checked the
/// armature).
#[test]
fn implicit_stiffness_of_closing_joints_is_armature() {
    for seed in (2..80).filter(|s| s % 4 > 1) {
        let o = RandomMechanismOptions { armature: true, ..options(seed) };
        let m = random_mechanism(seed, &o);
        let s = random_state(seed, &m, &StateOptions::default());
        let mut b = MechanismBuilder::from_mechanism(&m);
        b.joints_mut().iter_mut().for_each(|j| j.armature.fill(0.0));
        let without = b.build().unwrap();
        let plan = DcaPlan::new(&without).unwrap();
        let mut implicit = vec![0.0; plan.implicit_len()];
        for (i, j) in m.joints().iter().enumerate() {
            let d = j.dof();
            let range = plan.implicit_range(JointId::new(i));
            j.armature.iter().enumerate().for_each(|(k, a)| implicit[range.start + k * d + k] = *a);
        }
        let base = DcaInput { q: s.tree_q(&m), v: s.tree_v(&m), tau: &s.tau, ..Default::default() };
        let (a, b) = (solve(&m, &base), solve(&without, &DcaInput { implicit: &implicit, ..base }));
        assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()), "seed {seed}");
    }
}

/// Gravity: a floating mechanism falls with g and its joints do not notice; compensated links do
/// not fall (EQUATIONS 1.2, the sentence after Eq. 7).
#[test]
fn gravity_is_the_acceleration_of_free_fall() {
    for seed in 0..20 {
        let m = random_mechanism(seed, &options(4 * seed + 1));
        let s = random_state(seed, &m, &StateOptions::default());
        let input =
            DcaInput { q: s.tree_q(&m), v: s.tree_v(&m), tau: &s.tau, ..Default::default() };
        let fall = solve(&m, &input);
        let weightless = solve(&m, &DcaInput { no_gravity: true, ..input });
        let poses = m.link_poses(&s.q);
        let free = m.forest().edges().iter().filter(|e| e.inner == LinkId::WORLD).copied();
        let roots: Vec<_> = free.collect();
        let mut expected = weightless.clone();
        for e in &roots {
            let j = m.joint(e.joint);
            if !matches!(j.kind, JointKind::Free) || e.reversed {
                continue;
            }
            // The joint's child-side frame falls with g, in its own axes.
            let axes = (poses[j.child.index()] * j.child_from_joint).rotation.inverse();
            let g = axes * m.gravity();
            let at = m.velocity_range(e.joint).start;
            (0..3).for_each(|k| expected[at + k] += g[k]);
        }
        let all_free =
            roots.iter().all(|e| !e.reversed && matches!(m.joint(e.joint).kind, JointKind::Free));
        // Armature of the free joint would resist.
        let no_armature = roots.iter().all(|e| m.joint(e.joint).armature.iter().all(|a| *a == 0.0));
        if !all_free || !no_armature {
            continue;
        }
        let gap: Vec<f64> = fall.iter().zip(&expected).map(|(a, b)| a - b).collect();
        let bound = 1e4 * f64::EPSILON * (largest(&fall) + largest(&weightless));
        assert!(largest(&gap) < bound, "seed {seed}: {:e}", largest(&gap));
    }
}

fn rod(mass: f64) -> SpatialInertia {
    SpatialInertia::new(
        mass,
        DVec3::X * 0.5,
        DMat3::from_diagonal(DVec3::new(0.02, 0.1, 0.1)) * mass,
    )
}

/// A pendulum held out level: q̈ = m g l/(I + m l²), and with gravity compensated nothing.
#[test]
fn a_pendulum_falls_as_in_the_book() {
    for (compensation, expected) in [(0.0, 9.81 * 0.5 / (0.1 + 0.25)), (1.0, 0.0)] {
        let mut b = MechanismBuilder::new("pendulum");
        b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
        let mut link = Link::new("rod").with_inertia(rod(2.0));
        link.gravity_compensation = compensation;
        let link = b.add_link(link);
        b.add_joint(Joint::new("", JointKind::Revolute { axis: DVec3::Y }, LinkId::WORLD, link));
        let m = b.build().unwrap();
        let a = solve(&m, &DcaInput { q: &[0.0], v: &[0.7], tau: &[0.0], ..Default::default() });
        assert!((a[0] - expected).abs() < 8.0 * f64::EPSILON * 15.0, "{} {expected}", a[0]);
    }
}

/// EQUATIONS 1.6 (a): velocity terms of loops. With the right q̈ the gap after a step q + h q̇ +
/// ½h² q̈ is of order h³.
#[test]
fn loops_in_motion_stay_closed_to_third_order() {
    let m = forks_models::four_bar().mechanism;
    let s = random_state(3, &m, &StateOptions::default());
    let input = DcaInput { q: s.tree_q(&m), v: s.tree_v(&m), tau: &s.tau, ..Default::default() };
    let a = solve(&m, &input);
    let gap = |h: f64, second: f64| {
        let mut q = s.q.clone();
        let step: Vec<f64> =
            s.v.iter().zip(&a).map(|(v, a)| h * v + second * 0.5 * h * h * a).collect();
        m.integrate(&mut q, &step);
        m.fit_closures(&mut q);
        let poses = m.link_poses(&q);
        let gaps = forks_dynamics::mechanism::kinematics::loops::closure_gaps(&m, &q, &poses);
        gaps.iter().map(|g| g.position + g.angle).fold(0.0, f64::max)
    };
    let order = (gap(1e-3, 1.0) / gap(5e-4, 1.0)).log2();
    assert!((order - 3.0).abs() < 0.05, "order {order}");
    // Without the accelerations it is of order 2: the test can fail.
    let order = (gap(1e-3, 0.0) / gap(5e-4, 0.0)).log2();
    assert!((order - 2.0).abs() < 0.05, "order {order} without q̈");
}

/// A linkage that is locked completely does not move (EQUATIONS 1.4: the rank decision must not
/// turn rounding into motion).
#[test]
fn locked_linkages_stay() {
    let mut locked = 0;
    for seed in 0..400 {
        let o = RandomMechanismOptions { extra_loops: 4, links: 3, ..options(4 * seed + 2) };
        let case = Case::of(seed, random_mechanism(seed, &o), &StateOptions::default());
        if largest(&case.exact.joints) > 0.0 && case.exact.joints.iter().any(|a| a.abs() > 1e-20) {
            continue;
        }
        let (work, status) = case.solve(&DcaSettings::default()).unwrap();
        let DcaStatus::Solved { weakest, .. } = status else { panic!("{status:?}") };
        // Five loops in four bodies: the error of one closing passes through a second.
        let e = case.error(work.accelerations()) * weakest * weakest;
        assert!(e < 64.0, "seed {seed}: {e} sensitivity·ε/weakest², {status:?}");
        locked += 1;
    }
    assert!(locked > 20, "{locked} locked linkages");
}

/// Links by mass, in a row on hinges that are not parallel.
fn row(masses: &[f64]) -> Mechanism {
    let mut b = MechanismBuilder::new("row");
    let mut inner = LinkId::WORLD;
    for (i, &mass) in masses.iter().enumerate() {
        let inertia = if mass == 0.0 { SpatialInertia::ZERO } else { rod(mass) };
        let link = b.add_link(Link::new(format!("link{i}")).with_inertia(inertia));
        let axis = [DVec3::Y, DVec3::Z, DVec3::new(0.0, 0.6, 0.8)][i % 3];
        let at = if i == 0 { Pose::IDENTITY } else { Pose::from_translation(DVec3::X) };
        let kind = JointKind::Revolute { axis };
        b.add_joint(Joint::new(format!("joint{i}"), kind, inner, link).at(at));
        inner = link;
    }
    b.build().unwrap()
}

/// EQUATIONS 1.7: errors grow with the mass ratio and stay below 1e5 ratio ε up to the limit;
/// beyond, the plan names the links.
#[test]
fn mass_ratios_beyond_the_limit_are_refused() {
    for ratio in [1e-2, 1e-4, 1e-5] {
        let masses: Vec<f64> = (0..60).map(|i| if i % 3 == 1 { ratio } else { 1.0 }).collect();
        let m = row(&masses);
        let s = random_state(1, &m, &StateOptions { velocity: 0.1, ..StateOptions::default() });
        let exact = forks_testkit::dynamics::tree_forward_dynamics(&m, &s).joints;
        let wrenches: Vec<Wrench> = s.wrenches.iter().map(|w| Wrench::from_array(*w)).collect();
        let (q, v) = (s.tree_q(&m), s.tree_v(&m));
        let input = DcaInput { q, v, tau: &s.tau, external: &wrenches, ..Default::default() };
        let found = solve(&m, &input);
        let gap: Vec<f64> = found.iter().zip(&exact).map(|(a, b)| a - b).collect();
        let error = largest(&gap) / largest(&exact);
        println!("mass ratio {ratio:e}: error {error:.1e}");
        assert!(error < 1e5 / ratio * f64::EPSILON);
    }
    let m = row(&[1.0, 1e-7, 1.0]);
    match DcaPlan::new(&m) {
        Err(DcaError::MassRatio { light, heavy, ratio, .. }) => {
            assert_eq!((light.as_str(), heavy.as_str()), ("link1", "link0"));
            assert!((ratio / 1e7 - 1.0).abs() < 1e-9, "{ratio}");
        }
        other => panic!("{other:?}"),
    }
    let settings = DcaSettings { largest_mass_ratio: 1e8, ..DcaSettings::default() };
    assert!(DcaPlan::with_handles(&m, &[], &settings).is_ok());
}

#[test]
fn what_cannot_be_solved_is_named() {
    let leaf = DcaPlan::new(&row(&[1.0, 0.0]));
    assert_eq!(leaf.unwrap_err(), DcaError::MasslessLeaf { link: "link1".into() });
    assert!(DcaPlan::new(&row(&[0.0, 0.0, 1.0])).is_ok());
    let mut b = MechanismBuilder::from_mechanism(&row(&[1.0, 0.0, 1.0]));
    let extra = b.add_link(Link::new("extra").with_inertia(rod(1.0)));
    let kind = JointKind::Revolute { axis: DVec3::Z };
    b.add_joint(Joint::new("", kind, LinkId::new(2), extra));
    let branch = DcaPlan::new(&b.build().unwrap());
    assert_eq!(branch.unwrap_err(), DcaError::MasslessBranch { link: "link1".into() });
    let mut b = MechanismBuilder::from_mechanism(&row(&[1.0, 1.0]));
    let terms = [0, 1].map(|j| (Coordinate::of(JointId::new(j)), 1.0)).to_vec();
    b.add_coupling(Coupling::linear("gear", terms, 0.0));
    let coupled = DcaPlan::new(&b.build().unwrap());
    assert_eq!(coupled.unwrap_err(), DcaError::Coupling { coupling: "gear".into() });
    let m = row(&[1.0, 1.0]);
    let plan = DcaPlan::new(&m).unwrap();
    let mut work = DcaWorkspace::new(&plan);
    let short = dca(&plan, &mut work, &[0.0], &[0.0; 2], &[0.0; 2], &[]);
    assert_eq!(short, Err(DcaError::WrongLength { quantity: "q", found: 1, expected: 2 }));
    let nan = dca(&plan, &mut work, &[f64::NAN, 0.0], &[0.0; 2], &[0.0; 2], &[]);
    assert_eq!(nan, Ok(DcaStatus::NotFinite));
    let chosen = DcaPlan::with_handles(&m, &[LinkId::new(9)], &DcaSettings::default());
    assert_eq!(chosen.unwrap_err(), DcaError::NoHandle { link: 9 });
}

/// A massless link welded to another is part of it: the same accelerations as without, its wrench
/// included.
#[test]
fn welded_massless_links_are_part_of_their_neighbour() {
    let plain = row(&[1.0, 1.0]);
    let mut b = MechanismBuilder::from_mechanism(&plain);
    let flange = b.add_link(Link::new("flange"));
    let pose = Pose::from_translation(DVec3::new(0.1, -0.2, 0.3));
    b.add_joint(Joint::new("weld", JointKind::Fixed, LinkId::new(1), flange).at(pose));
    let with = b.build().unwrap();
    let force = Wrench::new(DVec3::new(1.0, 2.0, -3.0), DVec3::new(0.5, 0.0, 1.0));
    let s = State { q: vec![0.3, -0.4], v: vec![1.0, -2.0], ..State::rest(&plain) };
    let run = |m: &Mechanism, external: &[Wrench]| {
        solve(m, &DcaInput { q: &s.q, v: &s.v, tau: &s.tau, external, ..Default::default() })
    };
    let on_link = pose.adjoint().apply_to_wrench(force);
    let a = run(&plain, &[Wrench::ZERO, on_link, Wrench::ZERO]);
    let b = run(&with, &[Wrench::ZERO, Wrench::ZERO, Wrench::ZERO, force]);
    let gap = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
    assert!(gap < 64.0 * f64::EPSILON * largest(&a), "{gap:e}");
}
