//! Forces, gravity, springs, weights and massless links of adaptive quasi-statics against the full
//! solver.

use crate::adaptive_support;

use adaptive_support::{
    Case, case_of, joint_norms, load, options, plain_options, random_wrench, resting_case,
    set_forces,
};
use forks_dynamics::{
    WrenchFrame,
    adaptive::{
        AdaptiveError, AdaptiveOptions, AdaptivePlan, AdaptiveState, AdaptiveStatus, ErrorMeasure,
        Springs, Target,
    },
    dca::{DcaInput, DcaPlan, DcaSettings, DcaStatus, DcaWorkspace, dca_with},
    mechanism::{
        Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia, Wrench,
            glam::{DMat3, DVec3},
        },
    },
};
use forks_testkit::{RandomMechanismOptions, Rng, random_mechanism};

/// Roundings of an elimination on 6×6 blocks over a few levels, as for the full solver.
const C: f64 = 64.0;

fn everything() -> Target {
    Target::new(ErrorMeasure::AbsoluteLinkage, 0.0)
}

/// Forces on massless links between joints are carried by their neighbours (EQUATIONS 1.7).
#[test]
fn massless_links_carry_forces() {
    let mut folded = 0;
    for seed in 0..120 {
        let o = RandomMechanismOptions {
            shuffle_joints: false,
            massless_fraction: 0.3,
            extra_loops: usize::from(seed % 2 == 1),
            planar: false,
            ..options(seed)
        };
        let case = case_of(seed, random_mechanism(seed, &o));
        let Ok(plan) = AdaptivePlan::new(&case.mechanism, &plain_options()) else { continue };
        let Ok((_, DcaStatus::Solved { weakest, .. })) = case.solve(&DcaSettings::default()) else {
            continue;
        };
        let mut state = AdaptiveState::new(&plan);
        load(&mut state, &case);
        // Twice, so that what is carried is not added up.
        state.solve(&everything());
        load(&mut state, &case);
        let result = state.solve(&everything());
        assert_eq!(result.status, AdaptiveStatus::Converged, "seed {seed}");
        let weakest = weakest.min(state.loop_ranks().1);
        let error = case.error(state.accelerations()) * weakest;
        // Rows of joints with nearly dependent directions cost the full solver digits as well.
        let (full, _) = adaptive_support::full(&case);
        let full = case.error(&full) * weakest;
        assert!(error < C + 4.0 * full, "seed {seed}: {error:.2}, full solver {full:.2}");
        let massless = case.mechanism.moving_links().any(|(_, l)| l.inertia.is_zero());
        folded += usize::from(massless);
    }
    assert!(folded > 20, "{folded}");
}

/// A force fixed in the world is the same as its components in the link's frame, on folded links
/// too.
#[test]
fn world_forces_are_turned_into_the_links() {
    for seed in 0..60 {
        let o = RandomMechanismOptions {
            shuffle_joints: false,
            massless_fraction: 0.3 * (seed % 2) as f64,
            ..options(seed)
        };
        let case = case_of(seed, random_mechanism(seed, &o));
        let m = &case.mechanism;
        let Ok(plan) = AdaptivePlan::new(m, &plain_options()) else { continue };
        let poses = m.link_poses(&case.state.q);
        let mut in_body = AdaptiveState::new(&plan);
        let mut in_world = AdaptiveState::new(&plan);
        load(&mut in_body, &case);
        set_forces(&mut in_world, m, &case.forces);
        for (l, w) in case.wrenches.iter().enumerate().skip(1) {
            let r = poses[l].rotation;
            let turned = Wrench::new(r * w.force, r * w.torque);
            in_world.set_force(LinkId::new(l), turned, WrenchFrame::World).unwrap();
        }
        let norm = in_body.solve(&everything()).linkage_norm;
        in_world.solve(&everything());
        let weakest = in_body.loop_ranks().1;
        for (k, (a, b)) in in_body.accelerations().iter().zip(in_world.accelerations()).enumerate()
        {
            let bound = C * f64::EPSILON * (case.sensitivity[k] + norm) / weakest;
            assert!((a - b).abs() <= bound, "seed {seed}: {a} {b}");
        }
    }
}

/// Springs: explicit ones are their force, implicit ones also h²K + hD on the diagonal.
#[test]
fn springs_act_as_in_the_full_solver() {
    let h = 0.02;
    for seed in 0..100 {
        let o = RandomMechanismOptions { combination_springs: 0, bushings: 0, ..options(seed) };
        let case = case_of(seed, random_mechanism(seed, &o));
        let m = &case.mechanism;
        for springs in [Springs::Explicit, Springs::Implicit] {
            let options = AdaptiveOptions { time_step: h, springs, ..plain_options() };
            let plan = AdaptivePlan::new(m, &options).unwrap();
            let mut state = AdaptiveState::new(&plan);
            load(&mut state, &case);
            // The case's forces hold those of the springs already.
            let mut tau = vec![0.0; m.velocity_count()];
            tau[..m.tree_velocity_count()].copy_from_slice(&case.state.tau);
            set_forces(&mut state, m, &tau);
            let result = state.solve(&everything());
            let (full, weakest) = with_stiffness(&case, h, springs);
            let weakest = weakest.min(state.loop_ranks().1);
            for (k, (a, b)) in state.accelerations().iter().zip(&full).enumerate() {
                let bound =
                    C * f64::EPSILON * (case.sensitivity[k] + result.linkage_norm) / weakest;
                assert!((a - b).abs() <= bound, "seed {seed} {springs:?}: {a} {b} {bound:e}");
            }
        }
    }
}

fn with_stiffness(case: &Case, h: f64, springs: Springs) -> (Vec<f64>, f64) {
    let m = &case.mechanism;
    let plan = DcaPlan::new(m).unwrap();
    let mut work = DcaWorkspace::new(&plan);
    let mut implicit = vec![0.0; plan.implicit_len()];
    for (i, j) in m.joints().iter().enumerate().filter(|_| springs == Springs::Implicit) {
        let d = j.dof();
        let block = &mut implicit[plan.implicit_range(JointId::new(i))];
        for k in 0..d * d {
            let spring = j.spring.as_ref().map_or(0.0, |s| s.stiffness.as_slice()[k]);
            block[k] = h * h * spring + h * j.damping.as_slice()[k];
        }
    }
    let input = DcaInput { implicit: &implicit, ..case.input() };
    let DcaStatus::Solved { weakest, .. } = dca_with(&plan, &mut work, &input).unwrap() else {
        panic!("seed {}", case.seed)
    };
    (work.accelerations().to_vec(), weakest)
}

/// Norms count w q̈, and coordinates of weight 0 not at all.
#[test]
fn weights_scale_coordinates() {
    for seed in 0..60 {
        let case = resting_case(seed);
        let m = &case.mechanism;
        let mut rng = Rng::new(seed);
        let weights: Vec<f64> = (0..m.velocity_count())
            .map(|i| if i % 5 == 3 { 0.0 } else { 10f64.powf(3.0 * rng.symmetric()) })
            .collect();
        let options = AdaptiveOptions { weights: weights.clone(), ..plain_options() };
        let plan = AdaptivePlan::new(m, &options).unwrap();
        let mut state = AdaptiveState::new(&plan);
        load(&mut state, &case);
        let (full, weakest) = adaptive_support::full(&case);
        let weakest = weakest.min(state.loop_ranks().1);
        let weighted: Vec<f64> = full.iter().zip(&weights).map(|(a, w)| a * w).collect();
        let norms = joint_norms(m, &weighted);
        let norm = norms.iter().map(|x| x * x).sum::<f64>().sqrt();
        let of = |(s, w): (&f64, &f64)| (s * w) * (s * w);
        let spread = case.sensitivity.iter().zip(&weights).map(of).sum::<f64>().sqrt();
        let rounding = C * f64::EPSILON * spread / weakest;
        for i in [1, 4, 8] {
            let error = 0.5f64.powi(i) * norm;
            let result = state.solve(&Target::new(ErrorMeasure::AbsoluteJoint, error));
            assert!((result.linkage_norm - norm).abs() <= rounding, "seed {seed}: {result:?}");
            let left = state.accelerations().iter().zip(&full).zip(&weights);
            let gap: Vec<f64> = left.map(|((a, b), w)| (a - b) * w).collect();
            let worst = joint_norms(m, &gap).into_iter().fold(0.0, f64::max);
            assert!(worst <= error + rounding, "seed {seed}: {worst} {error}");
        }
    }
}

/// A pendulum of two links whose gravity is cancelled in part: the closed form of the first link
/// alone.
#[test]
fn gravity_compensation_is_a_force_on_the_link() {
    for seed in 0..40 {
        let mut m = MechanismBuilder::new("compensated");
        let mut rng = Rng::new(seed);
        let mut parent = LinkId::WORLD;
        for i in 0..6 {
            let center = DVec3::new(rng.symmetric(), rng.symmetric(), rng.symmetric());
            let inertia = SpatialInertia::new(1.0, center, DMat3::from_diagonal(DVec3::splat(0.3)));
            let mut link = Link::new(format!("l{i}")).with_inertia(inertia);
            link.gravity_compensation = if i % 2 == 0 { 0.0 } else { rng.unit() };
            let link = m.add_link(link);
            let axis = DVec3::new(rng.symmetric(), rng.symmetric(), 1.0).normalize();
            let at = Pose::from_translation(DVec3::new(1.0, rng.symmetric(), 0.0));
            let kind = JointKind::Revolute { axis };
            m.add_joint(Joint::new(format!("j{i}"), kind, parent, link).at(at));
            parent = link;
        }
        let m = m.build().unwrap();
        let q: Vec<f64> = (0..6).map(|_| rng.symmetric()).collect();
        let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
        let mut state = AdaptiveState::new(&plan);
        state.set_positions(&q).unwrap();
        let norm = state.solve(&everything()).linkage_norm;
        let full = DcaPlan::new(&m).unwrap();
        let mut work = DcaWorkspace::new(&full);
        let zero = [0.0; 6];
        let input = DcaInput { q: &q, v: &zero, tau: &zero, ..DcaInput::default() };
        dca_with(&full, &mut work, &input).unwrap();
        for (a, b) in state.accelerations().iter().zip(work.accelerations()) {
            assert!(
                (a - b).abs() <= C * 6.0 * f64::EPSILON * (norm + 9.81),
                "seed {seed}: {a} {b}"
            );
        }
    }
}

/// A hub with many arms is cut into welded pieces, one of which carries all forces on it.
#[test]
fn hubs_are_cut_into_pieces() {
    for arms in [4, 5, 40] {
        let mut m = MechanismBuilder::new("hub");
        let mut rng = Rng::new(arms);
        let mut body = |name: String, rng: &mut Rng| {
            let center = DVec3::new(rng.symmetric(), rng.symmetric(), rng.symmetric()) * 0.3;
            let inertia = SpatialInertia::new(1.0, center, DMat3::from_diagonal(DVec3::splat(0.1)));
            m.add_link(Link::new(name).with_inertia(inertia))
        };
        let hub = body("hub".into(), &mut rng);
        let links: Vec<LinkId> = (0..arms).map(|i| body(format!("arm{i}"), &mut rng)).collect();
        m.add_joint(Joint::new("base", JointKind::Spherical, LinkId::WORLD, hub));
        for (i, &l) in links.iter().enumerate() {
            let axis = DVec3::new(rng.symmetric(), rng.symmetric(), 1.0).normalize();
            let at = Pose::from_translation(DVec3::new(rng.symmetric(), rng.symmetric(), 0.0));
            let kind = JointKind::Revolute { axis };
            m.add_joint(Joint::new(format!("j{i}"), kind, hub, l).at(at));
        }
        let case = case_of(arms, m.build().unwrap());
        let plan = AdaptivePlan::new(&case.mechanism, &plain_options()).unwrap();
        assert_eq!(plan.max_handles(), 3);
        let mut state = AdaptiveState::new(&plan);
        load(&mut state, &case);
        let result = state.solve(&everything());
        assert_eq!(result.counters.joints_computed, arms as usize + 1, "welds are not counted");
        // Pieces have inertias of 1/(arms − 1) of the hub's, and as many of them are joined.
        let error = case.error(state.accelerations());
        assert!(error < C * arms as f64, "{arms}: {error:.2}");
    }
}

/// Cleared forces leave nothing behind; forces replace each other.
#[test]
fn forces_are_replaced_and_cleared() {
    let m = forks_models::molecules::polymer(200, 3).mechanism;
    let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
    let mut state = AdaptiveState::new(&plan);
    let mut rng = Rng::new(9);
    let wrench = random_wrench(&mut rng);
    state.set_force(LinkId::new(70), wrench, WrenchFrame::World).unwrap();
    let first = state.solve(&everything());
    let once = state.accelerations().to_vec();
    for _ in 0..3 {
        let other = random_wrench(&mut rng);
        state.set_force(LinkId::new(70), other, WrenchFrame::Body).unwrap();
        state.set_force(LinkId::new(71), other, WrenchFrame::World).unwrap();
        assert_ne!(state.solve(&everything()).linkage_norm, first.linkage_norm);
        state.clear_forces();
        let nothing = state.solve(&everything());
        assert_eq!((nothing.linkage_norm, nothing.counters.joints_computed), (0.0, 0));
        state.set_force(LinkId::new(70), wrench, WrenchFrame::World).unwrap();
        state.solve(&everything());
        assert_eq!(state.accelerations(), once);
    }
}

/// Numbers that are not finite are refused; numbers too large to compute with end with a status, an
/// infinite certificate and no motion, in every measure: the loop never stops silently.
#[test]
fn not_finite_is_never_converged() {
    let m = forks_models::molecules::polymer(100, 1).mechanism;
    let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
    let mut state = AdaptiveState::new(&plan);
    let link = LinkId::new(40);
    for bad in [f64::NAN, f64::INFINITY] {
        let wrench = Wrench::new(DVec3::new(0.0, bad, 0.0), DVec3::ZERO);
        let error = state.set_force(link, wrench, WrenchFrame::World).unwrap_err();
        assert!(matches!(error, AdaptiveError::NotFinite { index: 1, .. }), "{error}");
        assert!(state.set_joint_force(JointId::new(3), &[bad]).is_err());
        assert!(state.set_joint_positions(JointId::new(3), &[bad]).is_err());
        let mut q = m.start_positions();
        q[5] = bad;
        assert!(matches!(state.set_positions(&q), Err(AdaptiveError::NotFinite { index: 5, .. })));
    }
    for huge in [1e200, 1e308] {
        let wrench = Wrench::new(DVec3::splat(huge), DVec3::ZERO);
        state.set_force(link, wrench, WrenchFrame::World).unwrap();
        for measure in [
            ErrorMeasure::AbsoluteLinkage,
            ErrorMeasure::RelativeLinkage,
            ErrorMeasure::AbsoluteJoint,
            ErrorMeasure::RelativeJoint,
        ] {
            for error in [0.0, 0.5, f64::NAN, -1.0] {
                let before = state.positions().to_vec();
                let step = state.step(&Target::new(measure, error));
                assert_eq!(step.result.status, AdaptiveStatus::NotFinite, "{measure:?} {error}");
                assert_eq!(step.result.certified_error, f64::INFINITY);
                assert_eq!(state.positions(), before);
            }
        }
    }
    // And back.
    state.set_force(link, Wrench::new(DVec3::X, DVec3::ZERO), WrenchFrame::World).unwrap();
    assert_eq!(state.solve(&everything()).status, AdaptiveStatus::Converged);
}

/// Elements and settings that are refused are named.
#[test]
fn refusals_name_what_they_refuse() {
    let m: Mechanism = forks_models::molecules::chain(5, 1).mechanism;
    let new = |o: AdaptiveOptions| AdaptivePlan::new(&m, &o).map(|_| ()).unwrap_err();
    let error = new(AdaptiveOptions { time_step: -1.0, ..plain_options() });
    assert!(error.to_string().contains("time_step is -1"), "{error}");
    let error = new(AdaptiveOptions { weights: vec![1.0; 4], ..plain_options() });
    assert_eq!(error, AdaptiveError::WrongLength { quantity: "weights", found: 4, expected: 5 });
    let error = new(AdaptiveOptions { weights: vec![f64::NAN; 5], ..plain_options() });
    assert!(matches!(error, AdaptiveError::Setting { setting: "weight", .. }));
    let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
    let mut state = AdaptiveState::new(&plan);
    for link in [0, 6] {
        let error = state.set_force(LinkId::new(link), Wrench::ZERO, WrenchFrame::Body);
        assert_eq!(error, Err(AdaptiveError::NoLink { link }));
    }
    assert!(state.link_pose(LinkId::new(6)).is_err());
    assert_eq!(
        state.set_joint_force(JointId::new(9), &[]),
        Err(AdaptiveError::NoJoint { joint: 9 })
    );
}
