//! Reduced compliance at loaded poses against finite differences of the full equilibrium.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    statics::{EquilibriumOptions, continue_equilibrium, solve_equilibrium},
};
use forks_mechanism::{
    LinkId, Mechanism, MechanismBuilder,
    lie::{Pose, Wrench, glam::DVec3},
};
use forks_models::{HelixJoints, Parametric};
use forks_reduce::{Effector, Linearisation, Problem};
use forks_testkit::{
    RandomMechanismOptions, Rng,
    differences::{relative_difference, response_by_differences},
    random_effectors, random_mechanism,
};

/// Dead wrenches on effectors, components in the axes of given poses.
pub(crate) fn loads(
    gravity: bool,
    effectors: &[LinkId],
    poses: &[Pose],
    wrenches: &[Wrench],
) -> Loads {
    let wrenches = effectors
        .iter()
        .zip(wrenches)
        .map(|(&link, w)| {
            let r = poses[link.index()].rotation;
            AppliedWrench {
                link,
                link_from_point: Pose::IDENTITY,
                wrench: Wrench::new(r * w.force, r * w.torque),
                frame: WrenchFrame::World,
            }
        })
        .collect();
    Loads { gravity, wrenches }
}

pub(crate) fn check(
    name: &str,
    m: &Mechanism,
    effectors: &[LinkId],
    wrenches: &[Wrench],
    gravity: bool,
) -> Option<f64> {
    let q = m.start_positions();
    let rest = m.link_poses(&q);
    let first = loads(gravity, effectors, &rest, wrenches);
    let e = solve_equilibrium(m, &q, &first, &EquilibriumOptions::default());
    assert!(e.status.is_equilibrium(), "{name}: {:?}", e.status);
    let named = effectors.iter().map(|&l| Effector::of_link(m, l)).collect();
    let problem = Problem::unprepared(m.clone(), named);
    let at = Linearisation::equilibrium(&e, &first);
    let r = problem.response(at).unwrap_or_else(|e| panic!("{name}: {e}"));
    if r.compliance.max_abs() < 1e-9 {
        return None;
    }
    let compliance = r.world_fixed_compliance().unwrap();
    let radius = r.radius;
    let further = |k: usize, wrench| {
        let all = first.clone().with(problem.effectors[k].applied(wrench, WrenchFrame::World));
        let there = continue_equilibrium(m, &e, &all, &EquilibriumOptions::default());
        there.status.is_equilibrium().then_some(there.world_from_link)
    };
    let frames: Vec<_> = effectors.iter().map(|&l| (l, Pose::IDENTITY)).collect();
    let poses = &e.world_from_link;
    let fd = response_by_differences(&frames, poses, &compliance, radius, 2e-4, further)
        .expect("displaced equilibria")
        .compliance;
    let error = relative_difference(&compliance, &fd, radius);
    let ignoring = relative_difference(&r.compliance, &fd, radius);
    println!("{name}: {error:.2e} (without Q {ignoring:.2e}), consistency {:.1e}", r.consistency);
    Some(error)
}

fn force(x: f64, y: f64, z: f64) -> Wrench {
    Wrench::new(DVec3::new(x, y, z), DVec3::ZERO)
}

#[test]
fn parametric_mechanisms_under_load() {
    let cases: Vec<(&str, Parametric, Vec<Wrench>)> = vec![
        (
            "helix 20, hinge3",
            forks_models::helix(20, HelixJoints::Hinge3),
            vec![force(3.0, 2.0, -100.0)],
        ),
        (
            "helix 20, alternating",
            forks_models::helix(20, HelixJoints::Alternating),
            vec![force(60.0, 0.0, 0.0)],
        ),
        ("ladder", forks_models::ladder(5), vec![force(80.0, 10.0, 20.0)]),
        ("irregular ladder", forks_models::irregular_ladder(5), vec![force(80.0, 5.0, 30.0)]),
        ("Y", forks_models::y_mechanism(), vec![force(30.0, 20.0, 0.0), force(-10.0, 0.0, 30.0)]),
        ("arm", forks_models::arm20(), vec![force(3.0, 0.0, 1.0); 3]),
        (
            "helix with moment",
            forks_models::helix(20, HelixJoints::Hinge3),
            vec![Wrench::new(DVec3::new(0.0, 20.0, -30.0), DVec3::new(20.0, 10.0, -30.0))],
        ),
    ];
    for (name, p, w) in cases {
        let mut heavy = MechanismBuilder::from_mechanism(&p.mechanism);
        heavy.set_gravity(DVec3::new(1.0, 2.0, -9.0));
        let heavy = heavy.build().unwrap();
        for gravity in [false, true] {
            let error = check(name, &heavy, &p.effectors, &w, gravity).unwrap();
            assert!(error < 1e-7, "{name}, gravity {gravity}: {error:e}");
        }
    }
}

#[test]
fn random_graphs_under_load_and_gravity() {
    let mut worst: f64 = 0.0;
    let mut checked = 0;
    for seed in 0..120 {
        let options = RandomMechanismOptions {
            links: 7,
            preload: 0.1,
            stiffness_decades: 0.5,
            conditioning: 1e-3,
            stiffness: 300.0,
            ..RandomMechanismOptions::mixed(seed)
        };
        let m = random_mechanism(seed, &options);
        let effectors = random_effectors(seed, &m, 2);
        let mut rng = Rng::new(seed);
        let w: Vec<Wrench> = effectors
            .iter()
            .map(|_| {
                let (f, t) = (rng.vector(), rng.vector());
                Wrench::new(DVec3::from_array(f) * 20.0, DVec3::from_array(t) * 5.0)
            })
            .collect();
        let q = m.start_positions();
        let first = loads(true, &effectors, &m.link_poses(&q), &w);
        let e = solve_equilibrium(&m, &q, &first, &EquilibriumOptions::default());
        if e.status != forks_dynamics::statics::EquilibriumStatus::Converged {
            println!("seed {seed}: {:?}", e.status);
            continue;
        }
        let Some(error) = check(&format!("seed {seed}"), &m, &effectors, &w, true) else {
            continue;
        };
        checked += 1;
        worst = worst.max(error);
        assert!(error < 1e-5, "seed {seed}: {error:e}");
    }
    println!("worst {worst:e} of {checked}");
    assert!(checked > 60);
}
