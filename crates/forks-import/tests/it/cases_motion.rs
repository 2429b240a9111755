//! Failures that users reported in public and that show only in forces and motion: small models as
//! files, read here, solved and reduced by the crates above. The case's number stands in the test's
//! name.

use crate::support;

use std::sync::Arc;

use forks_dynamics::{
    Loads,
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    modes::effective_inverse_mass,
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_import::mechanism::{
    Mechanism, MechanismBuilder,
    kinematics::{link_jacobian, loops},
    lie::{
        SpatialInertia,
        glam::{DMat3, DVec3},
    },
    linalg::Matrix,
};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions, Reduction};
use forks_rom::{State, Stepper, System};
use support::{about, link, load, model, passive_forces};

/// A problem with springs and servos at rest in the start pose.
fn problem(m: &Mechanism, effectors: &[&str]) -> Problem {
    Problem::new(m, effectors, &ProblemOptions::default()).unwrap()
}

fn reduced(problem: &Problem) -> Reduction<'_> {
    problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap()
}

/// A stiff spring on almost no inertia: explicit steps of 2 ms blow up (MuJoCo resets). The
/// reduction names the frequency, and its steps stay where they are.
#[test]
fn b07_stiff_modes_are_reported_and_stepped() {
    let body = |joint: &str| {
        format!(
            r#"<body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1e-9 1e-9 1e-9"/><joint name="j" {joint}/></body>"#
        )
    };
    let servo = r#"<actuator><position joint="j" kp="50"/></actuator>"#;
    for (joint, around) in [(r#"stiffness="50""#, ""), ("", servo)] {
        let m = model(&body(joint), around).mechanism;
        let problem = problem(&m, &["b"]);
        let r = reduced(&problem);
        let own = r.frequencies();
        // ω = √(50/10⁻⁹) = 2.2e5 rad/s.
        let omega = (50.0f64 / 1e-9).sqrt();
        assert_eq!(own.len(), 1);
        about(own[0], omega, 1e-9 * omega);
        about(r.linear.full_frequencies()[0], omega, 1e-9 * omega);
        let stepper = Stepper::new(Arc::new(r.model), 2e-3).unwrap();
        let mut state = State::new(stepper.model());
        let mut work = stepper.workspace();
        state.set(&[0.1], &[0.0]).unwrap();
        let mut before = stepper.model().elastic_energy(state.coordinates(), &[]);
        for _ in 0..100 {
            assert_eq!(stepper.step(&mut state, &mut work, &[]), forks_rom::StepStatus::Completed);
            let energy = stepper.model().elastic_energy(state.coordinates(), &[]);
            assert!(energy <= before, "{energy} after {before}");
            before = energy;
        }
        assert!(state.coordinates()[0].abs() < 1e-6);
    }
}

/// Six four-bars, each on the coupler of the one before.
fn four_bars() -> String {
    let angle = 60f64.to_radians();
    let (bx, bz) = (0.4 * angle.cos(), 0.4 * angle.sin());
    let d = ((1.0 - bx) * (1.0 - bx) + bz * bz).sqrt();
    let (along, tilt) = ((0.81 + d * d - 0.49) / (2.0 * d), (-bz).atan2(1.0 - bx));
    let up = (along / 0.9).acos() + tilt;
    let (cx, cz) = (0.9 * up.cos(), 0.9 * up.sin());
    let mut world = String::new();
    let mut loops = String::new();
    let geom = r#"<geom size=".05" mass=".2" pos=".2 0 .1"/>"#;
    for i in 0..6 {
        let joint = |spring: &str| format!(r#"<joint axis="0 1 0" damping="0.02" {spring}/>"#);
        world += &format!(
            r#"<body name="rocker{i}" pos="1 0 0">{}{geom}</body>
            <body name="crank{i}">{}{geom}<body name="coupler{i}" pos="{bx} 0 {bz}">{}{geom}"#,
            joint(""),
            joint(r#"stiffness="8""#),
            joint("")
        );
        loops +=
            &format!(r#"<connect body1="coupler{i}" body2="rocker{i}" anchor="{cx} 0 {cz}"/>"#);
    }
    let end = "</body></body>".repeat(6);
    format!("<mujoco><worldbody>{world}{end}</worldbody><equality>{loops}</equality></mujoco>")
}

/// Loops far from the base drift open in other programs, some within seconds.
#[test]
fn b11_many_loops_stay_closed_for_a_minute() {
    let m = support::read(&four_bars()).mechanism;
    let q = m.start_positions();
    let size = m.bounding_radius(&m.link_poses(&q));
    let v = vec![0.0; m.tree_velocity_count()];
    let tree = &q[..m.tree_position_count()];
    let mut s = Simulation::new(&m, tree, &v, SimulationOptions::default());
    assert!(s.start_gap() < 1e-14 * size, "{}", s.start_gap());
    let mut moved = 0.0f64;
    for step in 0..6000 {
        assert_eq!(s.step(0.01), SimulationStatus::Completed, "step {step}");
        // Closed to rounding after every step: a few units per link.
        let gap = s.loop_gap();
        assert!(gap < 64.0 * f64::EPSILON * size, "step {step}: {gap}");
        moved = moved.max((s.state().q[0] - q[0]).abs());
    }
    assert!(moved > 0.05, "it moved by {moved} only");
}

/// 800 kg on one connect: what gives way is the spring, not the closure.
#[test]
fn b12_a_heavy_load_on_a_closure() {
    let m = model(
        r#"<body name="bar"><joint axis="0 1 0" stiffness="20000"/><geom size=".05" pos=".5 0 0" mass="1e-6"/></body>
           <body name="load" pos="1 0 0"><joint type="slide" axis="1 0 0"/><joint type="slide"/><geom size=".2" mass="800"/></body>"#,
        r#"<equality><connect body1="bar" body2="load" anchor="1 0 0" solref="0.5 1"/></equality>"#,
    )
    .mechanism;
    let options = EquilibriumOptions::default();
    let e = solve_equilibrium(&m, &m.start_positions(), &Loads::gravity(), &options);
    assert_eq!(e.status, EquilibriumStatus::Converged);
    let gap = loops::constraint_residual(&m, &e.q, &m.link_poses(&e.q));
    assert!(gap.iter().all(|g| g.abs() < 1e-14), "{gap:?}");
    // k θ = m g cos θ, the bar's own milligram on half the arm; J: 2e4 N·m/rad, rounding of 8e3
    // N·m.
    let t = e.q[0];
    about(20000.0 * t, (800.0 + 0.5e-6) * 9.81 * t.cos(), 1e-8);
}

/// PD on the two motors of a five-bar, nothing on its passive joints.
#[test]
fn b16_five_bar_with_servos_on_two_joints() {
    let (inner, outer, half) = (0.2, 0.25, 0.1);
    let knee = |side: f64, angle: f64| {
        DVec3::new(side * half + inner * angle.cos(), inner * angle.sin(), 0.0)
    };
    let (qa, qb) = (120f64.to_radians(), 60f64.to_radians());
    let (a, b) = (knee(-1.0, qa), knee(1.0, qb));
    let up = (outer * outer - 0.25 * a.distance_squared(b)).sqrt();
    let tip = (a + b) * 0.5 + DVec3::Y * up;
    let (ra, rb) = (tip - a, tip - b);
    let text = |k: DVec3, x: f64| {
        (k - DVec3::new(x, 0.0, 0.0)).to_array().map(|c| c.to_string()).join(" ")
    };
    let geom = r#"<geom size=".02"/>"#;
    let m = model(
        &format!(
            r#"<body pos="-0.1 0 0"><joint name="a"/>{geom}<body name="left" pos="{}"><joint/>{geom}<site name="tip" pos="{}"/></body></body>
               <body pos="0.1 0 0"><joint name="b"/>{geom}<body name="right" pos="{}"><joint/>{geom}</body></body>"#,
            text(a, -half),
            ra.to_array().map(|c| c.to_string()).join(" "),
            text(b, half)
        ),
        &format!(
            r#"<equality><connect body1="left" body2="right" anchor="{}"/></equality>
               <actuator><position joint="a" kp="30" kv="1"/><position joint="b" kp="50" kv="1"/></actuator>"#,
            ra.to_array().map(|c| c.to_string()).join(" ")
        ),
    )
    .mechanism;
    let problem = problem(&m, &["site:tip"]);
    let r = reduced(&problem);
    // (tip − knee)·(δtip − δknee) = 0 on both sides gives δtip = D δq; C = Σ D D ᵀ/k.
    let (da, db) = (DVec3::Z.cross(a + DVec3::X * half), DVec3::Z.cross(b - DVec3::X * half));
    let det = ra.x * rb.y - ra.y * rb.x;
    let by =
        |x: f64, y: f64| DVec3::new((x * rb.y - y * ra.y) / det, (ra.x * y - rb.x * x) / det, 0.0);
    let (ca, cb) = (by(ra.dot(da), 0.0), by(0.0, rb.dot(db)));
    for i in 0..2 {
        for k in 0..2 {
            let expected = ca[i] * ca[k] / 30.0 + cb[i] * cb[k] / 50.0;
            about(r.linear.compliance[(i, k)], expected, 1e-14);
        }
    }
    // Two motors move the tip's two coordinates; its rotation follows.
    assert_eq!(r.model.dof(), 2);
}

/// Inverse mass of a link along world axes at its origin, loops included.
fn inverse_mass(m: &Mechanism, name: &str) -> Matrix {
    let q = m.start_positions();
    let poses = m.link_poses(&q);
    let id = link(m, name);
    let j = link_jacobian(m, &q, &poses, id);
    let r = DMat3::from_quat(poses[id.index()].rotation);
    let world =
        Matrix::from_fn(3, j.columns(), |row, c| (0..3).map(|k| r.col(k)[row] * j[(k, c)]).sum());
    effective_inverse_mass(m, &q, &poses, &world).unwrap()
}

/// Variants of Cassie leave out the rods of 0.157 kg beside its heel springs: the foot gets 64 g
/// lighter.
#[test]
fn b17_what_cassies_rods_weigh_at_the_foot() {
    let m = load("agility_cassie/cassie.nomesh.xml").mechanism;
    let mut b = MechanismBuilder::from_mechanism(&m);
    let mut rods = 0;
    for l in b.links_mut().iter_mut().filter(|l| l.name.ends_with("achilles-rod")) {
        about(l.inertia.mass, 0.1567, 1e-12);
        let i = l.inertia;
        l.inertia = SpatialInertia::new(i.mass * 1e-3, i.center_of_mass, i.inertia * 1e-3);
        rods += 1;
    }
    assert_eq!(rods, 2);
    let light = b.build().unwrap();
    let (with, without) = (inverse_mass(&m, "left-foot"), inverse_mass(&light, "left-foot"));
    // Kinematics and inertia of MuJoCo 4.0.0 with its twelve closure rows (rank 10) held exactly.
    let expected = [
        (&with, [2.77169484, 0.957267821, 0.574642795, 0.489489667]),
        (&without, [2.78212935, 0.965206534, 0.596597036, 0.474722254]),
    ];
    for (a, [xx, yy, zz, xz]) in expected {
        // Nine digits were printed; the closure rows have singular values in a ratio of 10³.
        for (x, e) in [(a[(0, 0)], xx), (a[(1, 1)], yy), (a[(2, 2)], zz), (a[(0, 2)], xz)] {
            about(x, e, 2e-8);
        }
    }
    about(1.0 / with[(2, 2)] - 1.0 / without[(2, 2)], 0.0640382387, 2e-8);
}

/// A gram that carries a ton: the springs still balance the weight.
#[test]
fn b26_forces_balance_over_a_light_link() {
    let m = model(
        r#"<body><joint axis="0 1 0" stiffness="50000"/><geom type="capsule" fromto="0 0 0 1 0 0" size=".02" mass=".001"/>
           <body pos="1 0 0"><joint axis="0 1 0" stiffness="10"/><geom size=".02" mass="1000"/></body></body>"#,
        "",
    )
    .mechanism;
    let options = EquilibriumOptions::default();
    let e = solve_equilibrium(&m, &m.start_positions(), &Loads::gravity(), &options);
    assert_eq!(e.status, EquilibriumStatus::Converged);
    let weight = (1000.0 + 0.5e-3) * 9.81;
    // Forces of 1e4 N·m to their rounding; the ton hangs in the middle of its hinge.
    about(50000.0 * e.q[0], weight * e.q[0].cos(), 1e-9 * weight);
    about(10.0 * e.q[1], 0.0, 1e-9);
}

/// The stiffness of one spring has no effect on another one's force, in joints, tendons and servos.
#[test]
fn b47_springs_do_not_share_their_stiffness() {
    let force = |second: f64, tendon: f64| {
        let i = model(
            &format!(
                r#"<body><joint name="a" axis="0 1 0" stiffness="3" springref="20"/><geom size=".1"/>
                   <body pos="1 0 0"><joint name="b" axis="0 1 0" stiffness="{second}"/><geom size=".1"/>
                   <body pos="1 0 0"><joint name="c" axis="0 1 0"/><geom size=".1"/></body></body></body>"#
            ),
            &format!(
                r#"<tendon><fixed stiffness="{tendon}"><joint joint="b" coef="1"/><joint joint="c" coef="1"/></fixed></tendon>"#
            ),
        );
        passive_forces(&i.mechanism, &[0.5, 0.25, -0.125], true)
    };
    let soft = force(1.0, 1.0);
    about(soft[0], -3.0 * (0.5 - 20f64.to_radians()), 1e-15);
    about(soft[1], -0.25 - 0.125, 1e-15);
    about(soft[2], -0.125, 1e-15);
    assert_eq!(force(1e9, 1e9)[0], soft[0]);
    assert_eq!(force(1e9, 1.0)[2], soft[2]);
}

/// A tail that carries no end effector loads the base all the same.
#[test]
fn b48_branches_without_effector_load_the_base() {
    let tail = r#"<body pos="0 0 1"><joint axis="0 1 0" stiffness="5"/><geom size=".1" mass=".5" pos="0 0 .3"/></body>"#;
    let m = |tail: &str| {
        let base = r#"<joint type="slide" stiffness="200"/><geom size=".2" mass="2"/>"#;
        model(&format!(r#"<body name="base">{base}{tail}</body>"#), "").mechanism
    };
    for (tail, mass) in [("", 2.0), (tail, 2.5)] {
        let problem = problem(&m(tail), &["base"]);
        let own = reduced(&problem).frequencies();
        let mode = (200.0f64 / mass).sqrt();
        about(own[0], mode, 1e-12 * mode);
    }
}
