//! Follower loads, bushings, couplings, redundant loops and very long chains against closed forms.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame, generalized_forces,
    mechanism::{
        Bushing, Coordinate, Coupling, Joint, JointId, JointKind, JointMatrix, Link, LinkId,
        Mechanism, MechanismBuilder,
        lie::{
            Pose, SpatialInertia, SymMat6, Wrench,
            glam::{DMat3, DVec3},
        },
    },
    statics::{Equilibrium, EquilibriumOptions, EquilibriumStatus, LoadPath, solve_equilibrium},
};

/// The solver's tolerance with a margin for the conditioning of these small systems.
const TIGHT: f64 = 1e-11;

fn solve(m: &Mechanism, loads: &Loads) -> Equilibrium {
    let e = solve_equilibrium(m, &m.start_positions(), loads, &EquilibriumOptions::default());
    assert!(e.q.iter().chain(&e.multipliers).all(|x| x.is_finite()));
    e
}

fn hinge(name: &str, axis: DVec3, parent: LinkId, child: LinkId, at: DVec3) -> Joint {
    Joint::new(name, JointKind::Revolute { axis }, parent, child).at(Pose::from_translation(at))
}

fn at_tip(link: LinkId, tip: DVec3, wrench: Wrench, frame: WrenchFrame) -> Loads {
    Loads::none().with(AppliedWrench {
        link,
        link_from_point: Pose::from_translation(tip),
        wrench,
        frame,
    })
}

/// A chain of `n` bars of 1 m along x, hinges about z.
fn chain(n: usize, stiffness: f64) -> (Mechanism, Vec<LinkId>) {
    let mut b = MechanismBuilder::new("chain");
    b.set_gravity(-DVec3::Y * 10.0);
    let inertia = SpatialInertia::new(0.5, DVec3::X * 0.5, DMat3::IDENTITY * 0.01);
    let mut links = vec![LinkId::WORLD];
    for i in 0..n {
        let link = b.add_link(Link::new(format!("l{i}")).with_inertia(inertia));
        let at = if i == 0 { DVec3::ZERO } else { DVec3::X };
        b.add_joint(
            hinge(&format!("j{i}"), DVec3::Z, links[i], link, at).with_stiffness(stiffness),
        );
        links.push(link);
    }
    (b.build().unwrap(), links)
}

#[test]
fn dead_and_follower_force_on_one_bar() {
    let (m, links) = chain(1, 40.0);
    let force = Wrench::new(DVec3::new(0.0, 30.0, 0.0), DVec3::ZERO);
    // Dead: k θ = F l cos θ. Follower: k θ = F l.
    let dead = solve(&m, &at_tip(links[1], DVec3::X, force, WrenchFrame::World)).q[0];
    assert!((40.0 * dead - 30.0 * dead.cos()).abs() < 30.0 * TIGHT);
    let follower = solve(&m, &at_tip(links[1], DVec3::X, force, WrenchFrame::Body)).q[0];
    assert!((follower - 0.75).abs() < TIGHT);
}

#[test]
fn follower_force_on_two_bars() {
    // F normal to the last bar at its tip: k θ₂ = F l, k θ₁ = F l (1 + cos θ₂).
    let (m, links) = chain(2, 40.0);
    let force = Wrench::new(DVec3::new(0.0, 30.0, 0.0), DVec3::ZERO);
    let e = solve(&m, &at_tip(links[2], DVec3::X, force, WrenchFrame::Body));
    assert!((e.q[1] - 0.75).abs() < TIGHT);
    assert!((e.q[0] - 0.75 * (1.0 + 0.75f64.cos())).abs() < TIGHT);
}

#[test]
fn torque_on_a_cantilever_bends_it_to_an_arc() {
    // The same torque passes every hinge: each turns by T/k, whatever the size.
    let (m, links) = chain(30, 50.0);
    let torque = Wrench::new(DVec3::ZERO, DVec3::Z * 10.0);
    let e = solve(&m, &Loads::none().with_world_wrench(links[30], torque));
    assert_eq!(e.status, EquilibriumStatus::Converged);
    assert!(e.q.iter().all(|q| (q - 0.2).abs() < TIGHT), "{:?}", e.q);
}

#[test]
fn spring_preload_turns_the_bar_to_its_rest() {
    let (m, _) = chain(1, 40.0);
    let mut b = MechanismBuilder::from_mechanism(&m);
    b.joints_mut()[0].spring.as_mut().unwrap().rest = vec![2.5];
    let m = b.build().unwrap();
    assert!((solve(&m, &Loads::none()).q[0] - 2.5).abs() < TIGHT);
}

#[test]
fn ball_spring_turns_to_a_rest_across_the_axes() {
    let mut b = MechanismBuilder::new("ball");
    let link = b.add_link(Link::new("l"));
    let mut ball = Joint::new("ball", JointKind::Spherical, LinkId::WORLD, link)
        .with_spring(JointMatrix::diagonal(&[1.0, 20.0, 300.0]));
    let kind = ball.kind.clone();
    kind.integrate(&mut ball.spring.as_mut().unwrap().rest, &[1.0, -1.2, 0.7]);
    let rest = ball.spring.clone().unwrap().rest;
    b.add_joint(ball);
    let m = b.build().unwrap();
    let e = solve(&m, &Loads::none());
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    let left = kind.difference(&rest, &e.q);
    assert!(left.iter().all(|x| x.abs() < 1e-9), "{left:?}");
}

#[test]
fn two_bushings_in_series_share_the_load() {
    // A free body between two coaxial bushings of k and 2k along x: displacement F/(3k).
    let mut b = MechanismBuilder::new("bushings");
    let body = b.add_link(Link::new("body"));
    for (i, k) in [100.0, 200.0].into_iter().enumerate() {
        b.add_bushing(Bushing {
            name: format!("b{i}"),
            link_a: LinkId::WORLD,
            a_from_bushing: Pose::IDENTITY,
            link_b: body,
            b_from_bushing: Pose::IDENTITY,
            stiffness: SymMat6::from_diagonal([k; 6]),
            damping: SymMat6::ZERO,
        });
    }
    let m = b.build().unwrap();
    let f = DVec3::new(30.0, -60.0, 9.0);
    let e = solve(&m, &Loads::none().with_world_wrench(body, Wrench::new(f, DVec3::ZERO)));
    assert_eq!(e.status, EquilibriumStatus::Converged);
    let p = e.world_from_link[body.index()].translation;
    assert!(p.distance(f / 300.0) < TIGHT, "{p}");
}

#[test]
fn polynomial_coupling_carries_the_load() {
    // y = x²: energy ½ k x² + ½ k x⁴ − T x² = 0 on the second bar's torque T; x ≠ 0 where 2T > k.
    let mut b = MechanismBuilder::new("coupled");
    let links = [b.add_link(Link::new("a")), b.add_link(Link::new("b"))];
    for (i, &l) in links.iter().enumerate() {
        b.add_joint(
            hinge(&format!("j{i}"), DVec3::Z, LinkId::WORLD, l, DVec3::ZERO).with_stiffness(3.0),
        );
    }
    let [x, y] = [0, 1].map(|i| Coordinate::of(JointId::new(i)));
    b.add_coupling(Coupling::polynomial("parabola", y, x, vec![0.0, 0.0, 1.0]));
    b.joints_mut()[0].start = vec![0.3];
    b.joints_mut()[1].start = vec![0.09];
    let m = b.build().unwrap();
    let torque =
        |t: f64| Loads::none().with_world_wrench(links[1], Wrench::new(DVec3::ZERO, DVec3::Z * t));
    // d/dx: k x + 2 k x³ − 2 T x = 0, x² = (2T/k − 1)/2.
    let e = solve(&m, &torque(2.4));
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    assert!((e.q[0] - 0.3f64.sqrt()).abs() < 1e-9, "{}", e.q[0]);
    assert!((e.q[1] - 0.3).abs() < 1e-9);
    // λ balances the second bar: −k y + T + λ = 0.
    assert!((e.multipliers[0] - (3.0 * 0.3 - 2.4)).abs() < 1e-8, "{:?}", e.multipliers);
}

#[test]
fn redundant_loops_carry_the_load_once() {
    // Four parallel cranks under one coupler: three planar loops, each with redundant rows, and two
    // cranks more than the coupler needs.
    let mut b = MechanismBuilder::new("cranks");
    let coupler = b.add_link(Link::new("coupler"));
    for i in 0..4 {
        let crank = b.add_link(Link::new(format!("crank{i}")));
        let at = DVec3::X * i as f64;
        b.add_joint(
            hinge(&format!("g{i}"), DVec3::Z, LinkId::WORLD, crank, at).with_stiffness(25.0),
        );
        let pin = hinge(&format!("c{i}"), DVec3::Z, crank, coupler, DVec3::Y);
        b.add_joint(pin.child_at(Pose::from_translation(at)));
    }
    let m = b.build().unwrap();
    assert_eq!(m.forest().closures().len(), 3);
    // All cranks stand along y and turn by θ: 4 k θ = F cos θ.
    let f = 60.0;
    let e = solve(
        &m,
        &Loads::none().with_world_wrench(coupler, Wrench::new(-DVec3::X * f, DVec3::ZERO)),
    );
    assert_eq!(e.status, EquilibriumStatus::Converged, "{e:?}");
    let t = e.q[0];
    assert!((100.0 * t - f * t.cos()).abs() < 100.0 * TIGHT, "{t}");
    assert!(e.residual < 1e-12);
}

#[test]
fn equal_steps_reach_the_same_pose_where_the_path_is_simple() {
    let (m, links) = chain(5, 400.0);
    let loads =
        Loads::gravity().with_world_wrench(links[5], Wrench::new(DVec3::X * 3.0, DVec3::ZERO));
    let plain = EquilibriumOptions { path: LoadPath::EqualSteps, ..Default::default() };
    let a = solve(&m, &loads);
    let b = solve_equilibrium(&m, &m.start_positions(), &loads, &plain);
    assert_eq!((a.status, b.status), (EquilibriumStatus::Converged, EquilibriumStatus::Converged));
    assert!(a.q.iter().zip(&b.q).all(|(a, b)| (a - b).abs() < TIGHT));
}

#[test]
fn the_continuous_path_stays_on_its_branch() {
    // A bar standing along x on k, pushed with P = 3 k/l and a little aside: it bends over. Near
    // the straight pose there is a saddle, which a single load step finds.
    let (m, links) = chain(1, 10.0);
    let push = Wrench::new(DVec3::new(-30.0, 0.3, 0.0), DVec3::ZERO);
    let loads = at_tip(links[1], DVec3::X, push, WrenchFrame::World);
    let e = solve(&m, &loads);
    let t = e.q[0];
    assert_eq!((e.status, e.relaxations), (EquilibriumStatus::Converged, 0));
    assert!((10.0 * t - 30.0 * t.sin() - 0.3 * t.cos()).abs() < 30.0 * TIGHT && t > 2.0, "{t}");
    let jump =
        EquilibriumOptions { path: LoadPath::EqualSteps, load_steps: 1, ..Default::default() };
    let e = solve_equilibrium(&m, &m.start_positions(), &loads, &jump);
    assert_eq!(e.status, EquilibriumStatus::Unstable);
    assert!(e.q[0].abs() < 0.1);
}

#[test]
fn a_follower_does_not_buckle_where_a_dead_load_does() {
    // Ziegler's column, P = p k/l along the last bar: det K_t = k² for every p. In absolute angles
    // K_t/k = [[2 − p, p − 1], [−1, 1]] and M = [[0.635, 0.25], [0.25, 0.135]], so that M⁻¹K_t has
    // real positive eigenvalues for p < 2.86, a complex pair (flutter, no matter of statics) up to
    // 4.44, then negative ones. A dead load buckles the column at p = (3 − √5)/2: beyond, it is
    // stable on one side.
    let (m, links) = chain(2, 10.0);
    let end = |p: f64, frame| {
        let push = Wrench::new(-DVec3::X * (10.0 * p), DVec3::ZERO);
        solve(&m, &at_tip(links[2], DVec3::X, push, frame))
    };
    let status = |p: f64, frame| end(p, frame).status;
    let straight = end(0.38, WrenchFrame::World);
    assert_eq!(straight.status, EquilibriumStatus::Converged);
    assert!(straight.q.iter().all(|q| *q == 0.0) && straight.events.is_empty());
    let buckled = end(0.39, WrenchFrame::World);
    assert_eq!(buckled.status, EquilibriumStatus::Converged);
    // Moments about both hinges: k q₁ = k q₂ + F l sin q₁ and k q₂ = F l sin(q₁ + q₂).
    let [a, b] = [buckled.q[0], buckled.q[1]];
    assert!((a - b - 0.39 * a.sin()).abs() < TIGHT && (b - 0.39 * (a + b).sin()).abs() < TIGHT);
    assert!(a > 0.1, "{a}");
    assert_eq!(status(0.9, WrenchFrame::Body), EquilibriumStatus::Converged);
    assert_eq!(status(2.0, WrenchFrame::Body), EquilibriumStatus::Converged);
    assert_eq!(status(3.0, WrenchFrame::Body), EquilibriumStatus::Converged);
    assert_eq!(status(4.4, WrenchFrame::Body), EquilibriumStatus::Converged);
    assert_eq!(status(4.5, WrenchFrame::Body), EquilibriumStatus::Unstable);
    assert_eq!(status(6.0, WrenchFrame::Body), EquilibriumStatus::Unstable);
}

#[test]
fn a_truss_snaps_through() {
    // A strut of stiffness k from the ground to a slider one metre aside, 0.3 m up; pushed down by
    // more than the 5 N that it bears: k (ℓ − ℓ₀) y/ℓ + F = 0 on the other side.
    let mut b = MechanismBuilder::new("truss");
    let [lower, upper, slider] = ["lower", "upper", "slider"].map(|n| b.add_link(Link::new(n)));
    let rest = 1.09f64.sqrt();
    let (k, f, tilt) = (1000.0, 8.0, 0.3f64.atan());
    let mut foot = hinge("foot", DVec3::Z, LinkId::WORLD, lower, DVec3::ZERO);
    foot.start = vec![tilt];
    b.add_joint(foot);
    let mut strut = Joint::new("strut", JointKind::Prismatic { axis: DVec3::X }, lower, upper);
    strut.start = vec![rest];
    b.add_joint(strut.with_stiffness(k));
    let mut rail =
        Joint::new("rail", JointKind::Prismatic { axis: DVec3::Y }, LinkId::WORLD, slider)
            .at(Pose::from_translation(DVec3::X));
    rail.start = vec![0.3];
    b.add_joint(rail);
    b.add_joint(hinge("pin", DVec3::Z, upper, slider, DVec3::ZERO));
    let m = b.build().unwrap();
    let e = solve(
        &m,
        &Loads::none().with_world_wrench(slider, Wrench::new(-DVec3::Y * f, DVec3::ZERO)),
    );
    assert_eq!((e.status, e.relaxations), (EquilibriumStatus::Converged, 1), "{e:?}");
    let (length, y) = (e.q[1], e.q[2]);
    assert!((length - (1.0 + y * y).sqrt()).abs() < TIGHT && y < -0.3, "{y}");
    assert!((k * (length - rest) * y / length + f).abs() < 1e3 * TIGHT, "{y}");
}

#[test]
fn loads_without_bound_end_with_a_status() {
    let (m, links) = chain(3, 1.0);
    for size in [1e3, 1e9, 1e200, f64::INFINITY, f64::NAN] {
        let e = solve(
            &m,
            &Loads::none().with_world_wrench(links[3], Wrench::new(DVec3::Y * size, DVec3::ZERO)),
        );
        assert!(size < 1e10 || !e.status.is_equilibrium(), "{size}: {:?}", e.status);
        assert!(e.residual.is_finite());
    }
    // A free body that nothing holds runs away or is named.
    let mut b = MechanismBuilder::new("free");
    let body = b.add_link(Link::new("body").with_inertia(SpatialInertia::new(
        1.0,
        DVec3::ZERO,
        DMat3::IDENTITY,
    )));
    let m = b.build().unwrap();
    let e = solve(&m, &Loads::gravity());
    assert_eq!(e.status, EquilibriumStatus::Singular, "{e:?}");
    assert_eq!(e.free_motion, vec![JointId::new(0)]);
    let _ = body;
}

#[test]
fn thousands_of_nested_links_fit_a_small_stack() {
    let work = || {
        let n = 3000;
        let (m, _) = chain(n, 1.0);
        let q = m.start_positions();
        let f = generalized_forces(&m, &q, &m.link_poses(&q), &Loads::gravity());
        // Hinge i carries m g Σ (k + ½) over the bars outward of it.
        for (i, f) in f.iter().enumerate() {
            let outward = (n - i) as f64;
            let exact = -0.5 * 10.0 * outward * outward * 0.5;
            assert!((f - exact).abs() < 1e-12 * exact.abs() + 1e-9, "{i}: {f} {exact}");
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}
