//! Equilibria against closed forms.

use forks_dynamics::{
    EquilibriumOptions, EquilibriumStatus, Loads, continue_equilibrium,
    mechanism::{
        Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder, dense,
        lie::{
            Matrix, Pose, SpatialInertia, Wrench,
            glam::{DMat3, DVec3},
        },
        link_jacobian, loops,
    },
    solve_equilibrium, tangent_stiffness,
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

fn solve(m: &Mechanism, loads: &Loads) -> forks_dynamics::Equilibrium {
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

/// [A16] Fig. of the parallelogram: DESIGN 3.1.
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

#[test]
fn column_over_its_critical_load_is_unstable() {
    // A bar standing along x, pushed with P along −x: stable for P l < k.
    let (m, link) = bar(10.0, 1.0);
    let push = |p: f64| {
        let w = forks_dynamics::AppliedWrench {
            link,
            link_from_point: Pose::from_translation(DVec3::X),
            wrench: Wrench::new(-DVec3::X * p, DVec3::ZERO),
            frame: forks_dynamics::WrenchFrame::World,
        };
        solve(&m, &Loads::none().with(w))
    };
    assert_eq!(push(9.9).status, EquilibriumStatus::Converged);
    assert_eq!(push(10.1).status, EquilibriumStatus::Unstable);
}
