//! Reduced compliance at loaded poses against finite differences of the full equilibrium.

use forks_dynamics::{
    AppliedWrench, Equilibrium, EquilibriumOptions, Loads, WrenchFrame, continue_equilibrium,
    solve_equilibrium,
};
use forks_mechanism::{
    LinkId, Mechanism, MechanismBuilder,
    dense::Matrix,
    lie::{Pose, Wrench, glam::DVec3},
    parametric::{self, HelixJoints, Parametric},
};
use forks_reduce::{Effector, Linearisation, response, static_wrenches, world_fixed_compliance};
use forks_testkit::{RandomMechanismOptions, Rng, random_effectors, random_mechanism};

/// Dead wrenches on effectors, components in the axes of given poses.
fn loads(gravity: bool, effectors: &[LinkId], poses: &[Pose], wrenches: &[Wrench]) -> Loads {
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

/// Twists of the effectors per unit wrench by central differences of equilibria, 6E × 6E, with one
/// Richardson step.
fn differences(
    m: &Mechanism,
    effectors: &[LinkId],
    at: &Equilibrium,
    held: &[Wrench],
    gravity: bool,
    r: f64,
    step: f64,
) -> Matrix {
    let options = EquilibriumOptions::default();
    let n = 6 * effectors.len();
    let mut out = Matrix::zeros(n, n);
    for k in 0..n {
        let unit = if k % 6 < 3 { 1.0 / r } else { 1.0 };
        let solve = |h: f64| {
            let mut w = held.to_vec();
            w[k / 6] += Wrench::unit(k % 6) * (h * unit);
            let l = loads(gravity, effectors, &at.world_from_link, &w);
            let e = continue_equilibrium(m, at, &l, &options);
            assert!(e.status.is_equilibrium(), "{:?} at step {h}", e.status);
            e.world_from_link
        };
        let slope = |h: f64| -> Vec<f64> {
            let (plus, minus) = (solve(h), solve(-h));
            effectors
                .iter()
                .flat_map(|l| {
                    let rest = &at.world_from_link[l.index()];
                    let d = rest.twist_to(&plus[l.index()]) - rest.twist_to(&minus[l.index()]);
                    d.to_array().map(|x| x / (2.0 * h * unit))
                })
                .collect()
        };
        let (coarse, fine) = (slope(step), slope(0.5 * step));
        for i in 0..n {
            out[(i, k)] = (4.0 * fine[i] - coarse[i]) / 3.0;
        }
    }
    out
}

/// Difference of two compliances over the larger norm, lengths over r.
fn difference(a: &Matrix, b: &Matrix, r: f64) -> f64 {
    let s = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let scaled = |m: &Matrix| Matrix::from_fn(m.rows(), m.columns(), |i, j| s(i) * m[(i, j)] * s(j));
    scaled(a).sub(&scaled(b)).norm() / scaled(b).norm()
}

fn check(
    name: &str,
    m: &Mechanism,
    effectors: &[LinkId],
    wrenches: &[Wrench],
    gravity: bool,
    step: f64,
) -> Option<f64> {
    let q = m.start_positions();
    let rest = m.link_poses(&q);
    let first = loads(gravity, effectors, &rest, wrenches);
    let e = solve_equilibrium(m, &q, &first, &EquilibriumOptions::default());
    assert!(e.status.is_equilibrium(), "{name}: {:?}", e.status);
    let named: Vec<Effector> = effectors.iter().map(|&l| Effector::of_link(m, l)).collect();
    let at = Linearisation::Loaded { q: &e.q, loads: &first, multipliers: &e.multipliers };
    let r = response(m, &named, at, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
    if r.compliance.max_abs() < 1e-9 {
        return None;
    }
    let statics = static_wrenches(&named, &r.world_from_link, &at);
    let compliance = world_fixed_compliance(&r.compliance, &statics).unwrap();
    // The loads in the axes of the loaded pose.
    let held: Vec<Wrench> = effectors
        .iter()
        .zip(&first.wrenches)
        .map(|(l, w)| {
            let back = e.world_from_link[l.index()].rotation.conjugate();
            Wrench::new(back * w.wrench.force, back * w.wrench.torque)
        })
        .collect();
    let radius = r.radius;
    let fd = differences(m, effectors, &e, &held, gravity, radius, step);
    let error = difference(&compliance, &fd, radius);
    let ignoring = difference(&r.compliance, &fd, radius);
    println!("{name}: {error:.2e} (without Q {ignoring:.2e}), consistency {:.1e}", r.consistency);
    Some(error)
}

fn force(x: f64, y: f64, z: f64) -> Wrench {
    Wrench::new(DVec3::new(x, y, z), DVec3::ZERO)
}

#[test]
fn parametric_mechanisms_under_load() {
    let cases: Vec<(&str, Parametric, Vec<Wrench>, f64)> = vec![
        ("helix 20, hinge3", parametric::helix(20, HelixJoints::Hinge3), vec![force(3.0, 2.0, -100.0)], 0.05),
        ("helix 20, alternating", parametric::helix(20, HelixJoints::Alternating), vec![force(60.0, 0.0, 0.0)], 0.05),
        ("ladder", parametric::ladder(5), vec![force(80.0, 10.0, 20.0)], 0.05),
        ("irregular ladder", parametric::irregular_ladder(5), vec![force(80.0, 5.0, 30.0)], 0.05),
        ("Y", parametric::y_mechanism(), vec![force(30.0, 20.0, 0.0), force(-10.0, 0.0, 30.0)], 0.05),
        ("arm", parametric::arm20(), vec![force(3.0, 0.0, 1.0); 3], 0.01),
        ("helix with moment", parametric::helix(20, HelixJoints::Hinge3), vec![Wrench::new(DVec3::new(0.0, 20.0, -30.0), DVec3::new(20.0, 10.0, -30.0))], 0.05),
    ];
    for (name, p, w, step) in cases {
        let mut heavy = MechanismBuilder::from_mechanism(&p.mechanism);
        heavy.set_gravity(DVec3::new(1.0, 2.0, -9.0));
        let heavy = heavy.build().unwrap();
        for gravity in [false, true] {
            let error = check(name, &heavy, &p.effectors, &w, gravity, step).unwrap();
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
        if e.status != forks_dynamics::EquilibriumStatus::Converged {
            println!("seed {seed}: {:?}", e.status);
            continue;
        }
        let Some(error) = check(&format!("seed {seed}"), &m, &effectors, &w, true, 0.01) else {
            continue;
        };
        checked += 1;
        worst = worst.max(error);
        assert!(error < 1e-5, "seed {seed}: {error:e}");
    }
    println!("worst {worst:e} of {checked}");
    assert!(checked > 60);
}
