//! Equilibria against closed forms.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    mechanism::{
        Joint, JointId, JointKind, JointMatrix, Link, LinkId, Mechanism, MechanismBuilder,
        kinematics::{link_jacobian, loops},
        lie::{
            Pose, SpatialInertia, Wrench,
            glam::{DMat3, DVec3},
        },
        linalg::{Matrix, dense},
    },
    statics::{
        EquilibriumOptions, EquilibriumStatus, PathEventKind, continue_equilibrium,
        solve_equilibrium,
    },
    tangent_stiffness,
};

const TIGHT: f64 = 1e-11;

fn revolute(
    name: &str,
    axis: DVec3,
    parent: LinkId,
    child: LinkId,
    at: DVec3,
    in_child: DVec3,
) -> Joint {
    Joint::new(name, JointKind::Revolute { axis }, parent, child)
        .at(Pose::from_translation(at))
        .child_at(Pose::from_translation(in_child))
}

/// A rigid bar of length 1 along x on a sprung hinge about y at the origin.
fn bar(stiffness: f64, mass: f64) -> (Mechanism, LinkId) {
    let mut b = MechanismBuilder::new("bar");
    let inertia =
        SpatialInertia::new(mass, DVec3::new(1.0, 0.0, 0.0), DMat3::IDENTITY * (1e-3 * mass));
    let link = b.add_link(Link::new("bar").with_inertia(inertia));
    b.add_joint(
        revolute("hinge", DVec3::Y, LinkId::WORLD, link, DVec3::ZERO, DVec3::ZERO)
            .with_stiffness(stiffness),
    );
    (b.build().unwrap(), link)
}

fn solve(m: &Mechanism, loads: &Loads) -> forks_dynamics::statics::Equilibrium {
    solve_equilibrium(m, &m.start_positions(), loads, &EquilibriumOptions::default())
}

#[test]
fn sprung_bar_under_its_weight() {
    // Rotation by θ about y lowers the tip (x → −z): k θ = m g l cos θ.
    let (m, _) = bar(10.0, 2.0);
    let e = solve(&m, &Loads::gravity());
    assert_eq!(e.status, EquilibriumStatus::Converged);
    let t = e.q[0];
    assert!((10.0 * t - 2.0 * 9.81 * t.cos()).abs() < 20.0 * TIGHT, "{t}");
    assert!(e.iterations < 40, "{}", e.iterations);
}

#[test]
fn hanging_pendulum_without_spring_is_found_from_the_horizontal() {
    let (m, _) = bar(0.0, 1.0);
    let e = solve(&m, &Loads::gravity());
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    assert!((e.q[0] - std::f64::consts::FRAC_PI_2).abs() < TIGHT, "{}", e.q[0]);
}

#[test]
fn free_hinge_is_singular_and_named() {
    let (m, link) = bar(0.0, 1.0);
    let e = solve(&m, &Loads::none());
    assert_eq!(e.status, EquilibriumStatus::Singular);
    assert_eq!(e.free_motion.len(), 1);
    let follower = Loads::none().with_body_wrench(link, Wrench::new(DVec3::ZERO, DVec3::Y));
    let e = solve(&m, &follower);
    assert_eq!(e.status, EquilibriumStatus::Singular);
}

/// The parallelogram of REDUCTION 1.
fn parallelogram() -> (Mechanism, LinkId) {
    let mut b = MechanismBuilder::new("parallelogram");
    let left = b.add_link(Link::new("left"));
    let right = b.add_link(Link::new("right"));
    let coupler = b.add_link(Link::new("coupler"));
    let z = DVec3::Z;
    let p = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let k = 1e3;
    b.add_joint(revolute("a", z, LinkId::WORLD, left, p(-0.5, 0.0), DVec3::ZERO).with_stiffness(k));
    b.add_joint(revolute("b", z, LinkId::WORLD, right, p(0.5, 0.0), DVec3::ZERO).with_stiffness(k));
    b.add_joint(revolute("c", z, left, coupler, p(0.0, -1.0), p(-0.5, 0.0)).with_stiffness(k));
    b.add_joint(revolute("d", z, right, coupler, p(0.0, -1.0), p(0.5, 0.0)).with_stiffness(k));
    (b.build().unwrap(), coupler)
}

#[test]
fn parallelogram_compliance() {
    let (m, coupler) = parallelogram();
    let q = m.start_positions();
    let poses = m.link_poses(&q);
    let rows = loops::constraint_rows(&m);
    let k = tangent_stiffness(&m, &q, &poses, &Loads::none(), &vec![0.0; rows]);
    let g = loops::constraint_jacobian(&m, &q, &poses);
    let (_, n) = dense::nullspace(&g, 1e-10).unwrap();
    let j = link_jacobian(&m, &q, &poses, coupler).mul(&n);
    let kn = n.transpose_mul(&k.mul(&n));
    let c = j.mul(&dense::cholesky_solve(&kn, &j.transpose()).unwrap());
    let exact = Matrix::from_fn(6, 6, |i, k| if i == 0 && k == 0 { 2.5e-4 } else { 0.0 });
    assert!(c.sub(&exact).max_abs() < 1e-15, "{c:?}");
    // The nonlinear solver agrees for a small force.
    let f = 1e-3;
    let e = solve(
        &m,
        &Loads::none().with_world_wrench(coupler, Wrench::new(DVec3::X * f, DVec3::ZERO)),
    );
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    let x = e.world_from_link[coupler.index()].translation.x;
    assert!((x / f / 2.5e-4 - 1.0).abs() < 1e-6, "{}", x / f);
}

#[test]
fn parallelogram_at_large_angle() {
    // All hinges turn by ±θ: 4 k θ = F cos θ.
    let (m, coupler) = parallelogram();
    let f = 4000.0;
    let e = solve(
        &m,
        &Loads::none().with_world_wrench(coupler, Wrench::new(DVec3::X * f, DVec3::ZERO)),
    );
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    let t = e.q[0];
    assert!((4e3 * t - f * t.cos()).abs() < f * TIGHT, "{t}");
    let next = continue_equilibrium(
        &m,
        &e,
        &Loads::none().with_world_wrench(coupler, Wrench::new(DVec3::X * (f + 1.0), DVec3::ZERO)),
        &EquilibriumOptions::default(),
    );
    let t = next.q[0];
    assert!((4e3 * t - (f + 1.0) * t.cos()).abs() < f * TIGHT);
}

/// A bar standing along x on a spring of 10 N·m/rad, pushed with P along −x: stable for P l < k.
fn column(p: f64) -> (Mechanism, Loads) {
    let (m, link) = bar(10.0, 1.0);
    let push = AppliedWrench {
        link,
        link_from_point: Pose::from_translation(DVec3::X),
        wrench: Wrench::new(-DVec3::X * p, DVec3::ZERO),
        frame: WrenchFrame::World,
    };
    (m, Loads::none().with(push))
}

#[test]
fn column_over_its_critical_load_leaves_the_straight_pose() {
    let (m, loads) = column(9.9);
    let e = solve(&m, &loads);
    assert_eq!((e.status, e.q[0]), (EquilibriumStatus::Converged, 0.0));
    assert!(e.events.is_empty() && e.on_path);
    for p in [10.001, 10.1, 15.0, 40.0] {
        let (m, loads) = column(p);
        let e = solve(&m, &loads);
        assert_eq!(e.status, EquilibriumStatus::Converged, "{p}");
        // k θ = P l sin θ on the side where θ grows.
        let t = e.q[0];
        assert!((10.0 * t - p * t.sin()).abs() < p * TIGHT && t > 0.01, "{p}: {t}");
        assert_eq!(e.events.len(), 1, "{p}: {:?}", e.events);
        let event = e.events[0];
        assert_eq!((event.kind, event.joint), (PathEventKind::Branching, JointId::new(0)), "{p}");
        assert!((event.load_scale * p - 10.0).abs() < p / 300.0, "{p}: {event:?}");
        // Equal steps stay at the saddle and say so.
        let plain =
            solve_equilibrium(&m, &m.start_positions(), &loads, &EquilibriumOptions::equal_steps());
        assert_eq!((plain.status, plain.q[0]), (EquilibriumStatus::Unstable, 0.0));
        assert!(!plain.on_path);
    }
}

/// A mass on a massless rod of 1 m along z, held by a joint at its foot.
fn upright(joint: Joint, mass: f64) -> Mechanism {
    let mut b = MechanismBuilder::new("upright");
    let inertia = SpatialInertia::new(mass, DVec3::Z, DMat3::IDENTITY * 1e-3);
    let link = b.add_link(Link::new("rod").with_inertia(inertia));
    b.add_joint(Joint { parent: LinkId::WORLD, child: link, ..joint });
    b.build().unwrap()
}

#[test]
fn a_column_that_may_fall_two_ways_falls_the_softer_one() {
    // Both turns are unstable at the end; k θ = m g l sin θ about the softer axis.
    let ball = |k: [f64; 3]| {
        let joint = Joint::new("ball", JointKind::Spherical, LinkId::WORLD, LinkId::new(1));
        upright(joint.with_spring(JointMatrix::diagonal(&k)), 0.5)
    };
    let m = ball([3.2, 3.0, 3.0]);
    let e = solve(&m, &Loads::gravity());
    assert_eq!(e.status, EquilibriumStatus::Converged);
    let turn = m.joints()[0].kind.difference(&m.start_positions(), &e.q);
    let t = turn[1];
    assert!((3.0 * t - 0.5 * 9.81 * t.sin()).abs() < TIGHT && t > 1.0, "{turn:?}");
    assert!(turn[0].abs() < 1e-9 && turn[2].abs() < 1e-9, "{turn:?}");
    // Where both are alike it may fall anywhere: nothing resists a turn about the vertical.
    let e = solve(&ball([3.0, 3.0, 3.0]), &Loads::gravity());
    assert_eq!((e.status, e.free_motion), (EquilibriumStatus::Singular, vec![JointId::new(0)]));
}

#[test]
fn a_pendulum_upside_down_falls() {
    let m = upright(
        Joint::new("h", JointKind::Revolute { axis: DVec3::Y }, LinkId::WORLD, LinkId::new(1)),
        1.0,
    );
    let e = solve(&m, &Loads::gravity());
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    assert!((e.q[0].abs() - std::f64::consts::PI).abs() < TIGHT, "{}", e.q[0]);
    assert_eq!(e.events[0].kind, PathEventKind::SnapThrough);
}

#[test]
fn a_frame_with_loops_sways_to_one_side() {
    // Two columns of 1 m under one beam, four hinges of 1000 N·m/rad: 4 k θ = P l sin θ.
    let mut b = MechanismBuilder::from_mechanism(&parallelogram().0);
    b.set_gravity(DVec3::ZERO);
    let m = b.build().unwrap();
    let beam = m.find_link("coupler").unwrap();
    // The parallelogram hangs down: pushing up is what presses its columns.
    let push =
        |p: f64| Loads::none().with_world_wrench(beam, Wrench::new(DVec3::Y * p, DVec3::ZERO));
    let e = solve(&m, &push(3990.0));
    assert_eq!(e.status, EquilibriumStatus::Converged);
    assert!(e.q[0].abs() < 1e-9);
    let e = solve(&m, &push(5000.0));
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    let t = e.q[0];
    assert!((4000.0 * t - 5000.0 * t.sin()).abs() < 5000.0 * TIGHT && t.abs() > 0.5, "{t}");
    assert_eq!(e.events.len(), 1);
    assert_eq!(e.events[0].kind, PathEventKind::Branching);
    // The same end every time.
    assert_eq!(solve(&m, &push(5000.0)).q, e.q);
}

#[test]
fn gravity_comes_first_and_then_the_wrench() {
    // A bar on a spring rests to one side or the other of a dead centre; gravity alone takes it to
    // one side, and the wrench that comes later is too small to bring it back over. Together they
    // would hold it upright on the other.
    let m = upright(
        Joint::new("h", JointKind::Revolute { axis: DVec3::Y }, LinkId::WORLD, LinkId::new(1))
            .with_stiffness(3.0),
        1.0,
    );
    let link = LinkId::new(1);
    let torque =
        |t: f64| Loads::gravity().with_world_wrench(link, Wrench::new(DVec3::ZERO, DVec3::Y * t));
    let alone = solve(&m, &Loads::gravity()).q[0];
    assert!(alone > 1.0);
    // −0.5 N·m leaves an equilibrium on either side: 3 θ = m g l sin θ − 0.5.
    let e = solve(&m, &torque(-0.5));
    assert_eq!(e.status, EquilibriumStatus::Converged);
    let t = e.q[0];
    assert!((3.0 * t - 9.81 * t.sin() + 0.5).abs() < 10.0 * TIGHT && t > 1.0, "{t}");
    let next = continue_equilibrium(
        &m,
        &solve(&m, &Loads::gravity()),
        &torque(-0.5),
        &EquilibriumOptions::default(),
    );
    assert!((next.q[0] - t).abs() < 1e-9);
}
