//! Poses on joints' limits, their progressive springs on: reduced compliance against finite
//! differences of the full equilibrium.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    statics::{EquilibriumOptions, continue_equilibrium},
};
use forks_mechanism::{
    Limit, Mechanism, MechanismBuilder,
    lie::{Pose, Twist, Wrench, glam::DVec3},
};
use forks_models::{HelixJoints, Parametric};
use forks_reduce::{Linearisation, Problem, ProblemOptions, ReduceOptions};

fn problem(p: &Parametric, half: f64, k: f64) -> Problem {
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        if j.dof() == 1 && i % 2 == 0 {
            j.limits[0] = Some(Limit { lower: -half, upper: half });
        }
    }
    let m = b.build().unwrap().with_limit_springs(k).unwrap();
    let tip = p.mechanism.link(p.effectors[0]).name.clone();
    Problem::new(&m, &[&tip], &ProblemOptions::default()).unwrap()
}

fn wrench(problem: &Problem, w: Wrench) -> AppliedWrench {
    let e = &problem.effectors[0];
    e.applied(w, WrenchFrame::World)
}

fn effector(problem: &Problem, world_from_link: &[Pose]) -> Pose {
    let e = &problem.effectors[0];
    world_from_link[e.link.index()] * e.link_from_effector
}

#[test]
fn compliance_on_limits_is_that_of_the_full_equilibrium() {
    let cases = [
        (
            "helix",
            forks_models::helix(8, HelixJoints::Hinge3),
            DVec3::new(20.0, -10.0, -60.0),
            0.01,
        ),
        ("ladder", forks_models::irregular_ladder(4), DVec3::new(150.0, 0.0, -20.0), 0.02),
    ];
    for (name, p, force, half) in cases {
        let problem = problem(&p, half, 4000.0);
        let m: &Mechanism = problem.mechanism();
        let loads = Loads::none().with(wrench(&problem, Wrench::new(force, DVec3::ZERO)));
        let options = EquilibriumOptions::default();
        let e = problem.equilibrium(&loads, &options);
        assert!(e.status.is_equilibrium(), "{name}: {:?}", e.status);
        let passed = (0..m.joints().len()).filter(|&i| {
            let id = forks_mechanism::JointId::new(i);
            let j = m.joint(id);
            j.dof() == 1 && j.limit_term(0, e.q[m.position_range(id).start], None).hessian > 100.0
        });
        assert!(passed.count() >= 2, "{name}: no joint is far enough beyond its limits");
        let at = Linearisation::equilibrium(&e, &loads);
        let held = ReduceOptions { held_by_loads: true, ..ReduceOptions::default() };
        let reduced = problem.reduce(at, &held).unwrap().linear;
        let rest = effector(&problem, &e.world_from_link);
        let radius = reduced.response.radius;
        let scale = |i: usize| if i < 3 { 1.0 / radius } else { 1.0 };
        let largest = (0..36)
            .map(|k| reduced.compliance[(k / 6, k % 6)] * scale(k / 6) * scale(k % 6))
            .fold(0.0f64, |m, x| m.max(x.abs()));
        let mut worst: f64 = 0.0;
        for k in 0..6 {
            let unit = Wrench::from_array(core::array::from_fn(|i| f64::from(i == k)));
            let moved = |h: f64| -> Twist {
                let w = Wrench::new(rest.rotation * unit.force, rest.rotation * unit.torque) * h;
                let all = loads.clone().with(wrench(&problem, w));
                let there = continue_equilibrium(m, &e, &all, &options);
                assert!(there.status.is_equilibrium(), "{name}");
                rest.twist_to(&effector(&problem, &there.world_from_link))
            };
            // Richardson: h⁴ and ε/h.
            let h = 0.02;
            let central = |h: f64| (moved(h) - moved(-h)) * (0.5 / h);
            let slope = (central(0.5 * h) * 4.0 - central(h)) * (1.0 / 3.0);
            for (i, x) in slope.to_array().iter().enumerate() {
                let error = (x - reduced.compliance[(i, k)]).abs() * scale(i) * scale(k) / largest;
                worst = worst.max(error);
            }
        }
        println!("{name}: worst {worst:e}");
        assert!(worst < 1e-5, "{name}: {worst:e}");
        // Without the springs the same pose is much softer.
        let soft = m.with_limit_springs(0.0).unwrap();
        let soft = Problem::unprepared(soft, problem.effectors.clone());
        let loose = soft.linearise(at).unwrap();
        let change = reduced.compliance.sub(&loose.compliance).max_abs();
        assert!(change > 1e-2 * loose.compliance.max_abs(), "{name}: {change}");
        // Modes of the loaded pose know the springs as well.
        assert!(problem.reduce(at, &ReduceOptions::default()).is_ok(), "{name}");
    }
}

#[test]
fn at_rest_springs_are_unstressed_wherever_the_limits_are() {
    let p = forks_models::helix(5, HelixJoints::Hinge3);
    let on = problem(&p, 0.1, 1e4);
    let off = problem(&p, 0.1, 0.0);
    let [on, off] = [&on, &off].map(|p| p.reduce(p.at_rest(), &ReduceOptions::default()).unwrap());
    assert!(on.model == off.model);
}
