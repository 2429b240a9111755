//! Bent samples are exact to third order: against full equilibria with the effectors held along
//! rays from the sample.

use forks_blend::{BlendedModel, Weights};
use forks_dynamics::{
    Loads, WrenchFrame, potential_energy,
    statics::{Equilibrium, EquilibriumOptions, continue_equilibrium, solve_equilibrium},
};
use forks_mechanism::{
    lie::{Pose, Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_models::{HelixJoints, Parametric};
use forks_place::{
    Sample, blend_data,
    live::{LiveOptions, extended},
};
use forks_reduce::{Problem, ProblemOptions};
use forks_testkit::{RandomMechanismOptions, random_effectors, random_mechanism};

fn problem(p: &Parametric) -> Problem {
    let names: Vec<&str> = p.effectors.iter().map(|&l| p.mechanism.link(l).name.as_str()).collect();
    Problem::new(&p.mechanism, &names, &ProblemOptions::default()).unwrap()
}

fn options() -> EquilibriumOptions {
    EquilibriumOptions::default()
}

fn loads(problem: &Problem, forces: &[DVec3]) -> Loads {
    let pairs = problem.effectors.iter().zip(forces);
    let wrench = |(e, f): (&forks_reduce::Effector, &DVec3)| {
        e.applied(Wrench::new(*f, DVec3::ZERO), WrenchFrame::World)
    };
    Loads { gravity: false, wrenches: pairs.map(wrench).collect() }
}

fn at_rest(problem: &Problem, forces: &[DVec3]) -> (Equilibrium, Loads) {
    let loads = loads(problem, forces);
    let e = solve_equilibrium(problem.mechanism(), &problem.start, &loads, &options());
    assert!(e.status.is_equilibrium(), "{:?}", e.status);
    (e, loads)
}

fn alone(sample: &Sample) -> BlendedModel {
    let weights = Weights::Shepard { exponent: 6 };
    let samples = [sample.clone()];
    BlendedModel::new(blend_data(&sample.effector_poses(), &samples, weights).unwrap()).unwrap()
}

/// Errors of energy and force (straight, bent) at one distance.
#[derive(Clone, Copy, Debug)]
struct Off {
    energy: [f64; 2],
    force: [f64; 2],
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Orders between neighbouring distances, each twice the last.
fn orders(all: &[f64]) -> Vec<f64> {
    all.windows(2).map(|w| (w[1] / w[0]).log2()).collect()
}

/// Straight samples are exact to second order in the energy, bent ones to third, forces to one
/// order less.
fn check(name: &str, offs: &[Off]) {
    let of = |f: &dyn Fn(&Off) -> f64| orders(&offs.iter().map(f).collect::<Vec<_>>());
    let energy = [0, 1].map(|k| of(&|o| o.energy[k]));
    let force = [0, 1].map(|k| of(&|o| o.force[k]));
    println!("{name}: energy {energy:.2?}, force {force:.2?}");
    for k in 0..2 {
        let (e, f) = (3.0 + k as f64, 2.0 + k as f64);
        // The nearest places: farther out higher orders show.
        let mean = |all: &[f64]| 0.5 * (all[0] + all[1]);
        assert!((mean(&energy[k]) - e).abs() < 0.3, "{name}: {:?}", energy[k]);
        assert!((mean(&force[k]) - f).abs() < 0.3, "{name}: {:?}", force[k]);
    }
    // Nearby, it is worth it.
    assert!(offs[0].energy[1] < 0.2 * offs[0].energy[0], "{name}: {:?}", offs[0]);
    assert!(offs[0].force[1] < 0.2 * offs[0].force[0], "{name}: {:?}", offs[0]);
}

/// Effectors that may be anywhere: held along a ray of the chart.
fn along_ray(problem: &Problem, forces: &[DVec3], ray: &[f64], distances: &[f64]) -> Vec<Off> {
    let (at, loads) = at_rest(problem, forces);
    let straight = Sample::new(problem, &at, &loads).unwrap();
    let bent = Sample::bent(problem, &at, &loads, &options()).unwrap();
    assert!(bent.curvature.rows() > 0);
    let models = [alone(&straight), alone(&bent)];
    let n = models[0].dof();
    assert_eq!(n, models[0].data().basis.rows(), "every motion");
    let size = ray.iter().map(|x| x * x).sum::<f64>().sqrt();
    let off = |&t: &f64| {
        let x: Vec<f64> = (0..n).map(|i| t * ray[i % ray.len()] / size).collect();
        let poses: Vec<Pose> =
            (0..problem.effectors.len()).map(|e| models[0].effector_pose(e, &x)).collect();
        let held =
            extended(problem, &models[0], &poses, &LiveOptions::default(), &|| true).unwrap();
        assert!(held.distance < 1e-8, "{:e}", held.distance);
        let m = held.model;
        let new = &m.data().samples[1];
        let (there, _, _) =
            m.coordinates_of(&poses, &vec![Default::default(); poses.len()]).unwrap();
        let force = m.elastic_force(&there);
        Off {
            energy: [0, 1].map(|k| (models[k].potential_energy(&x) - new.potential).abs()),
            force: [0, 1].map(|k| distance(&models[k].elastic_force(&x), &force)),
        }
    };
    distances.iter().map(off).collect()
}

const DISTANCES: [f64; 4] = [0.02, 0.04, 0.08, 0.16];

#[test]
fn helices() {
    let mut seed = 1.0;
    for links in [6, 8, 10] {
        let problem = problem(&forks_models::helix(links, HelixJoints::Hinge3));
        for force in [DVec3::ZERO, DVec3::new(20.0, -10.0, -30.0)] {
            seed += 1.0;
            let ray: Vec<f64> = (0..6).map(|i| (seed * f64::from(i + 1)).sin()).collect();
            let offs = along_ray(&problem, &[force], &ray, &DISTANCES);
            check(&format!("helix {links} {force}"), &offs);
        }
    }
}

/// The energy of a sample by its definition, where its effectors are at `poses`: they need not be
/// where the directions in which the sample moves lead to.
fn energy(s: &Sample, poses: &[Pose]) -> f64 {
    let d = &s.data;
    let pairs = d.effectors.iter().zip(poses);
    let mut xi: Vec<f64> = pairs.flat_map(|(e, p)| e.rest.twist_to(p).to_array()).collect();
    let coordinates = |xi: &[f64]| {
        let scale = |i: usize| if i % 6 < 3 { 1.0 / (d.radius * d.radius) } else { 1.0 };
        let scaled: Vec<f64> = xi.iter().enumerate().map(|(i, x)| scale(i) * x).collect();
        d.basis.transpose_mul_vec(&scaled)
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let wrench: Vec<f64> = d.effectors.iter().flat_map(|e| e.static_wrench.to_array()).collect();
    let mut more = 0.0;
    if s.curvature.rows() > 0 {
        let q = quadratic(&s.curvature, &coordinates(&xi));
        xi.iter_mut().zip(d.basis.mul_vec(&q)).for_each(|(x, b)| *x -= 0.5 * b);
        // ½ b_η · q(η̂): what makes the second derivative 𝓗.
        let bent = quadratic(&s.curvature, &coordinates(&xi));
        more = 0.5 * dot(&d.basis.transpose_mul_vec(&wrench), &bent);
    }
    let eta = coordinates(&xi);
    s.potential + dot(&wrench, &xi) + 0.5 * dot(&eta, &d.hessian.mul_vec(&eta)) + more
}

/// q(η).
fn quadratic(c: &Matrix, eta: &[f64]) -> Vec<f64> {
    let pairs = (0..eta.len()).flat_map(|i| (i..eta.len()).map(move |j| eta[i] * eta[j]));
    c.mul_vec(&pairs.collect::<Vec<_>>())
}

/// Equilibria under growing loads: also of mechanisms whose effectors can move in some ways only.
/// Distances from the sample and errors; of forces where every motion is possible, 1 elsewhere.
fn along_load(
    problem: &Problem,
    forces: &[DVec3],
    more: &[DVec3],
    parts: &[f64],
) -> Vec<(f64, Off)> {
    let (at, loads_here) = at_rest(problem, forces);
    let straight = Sample::new(problem, &at, &loads_here).unwrap();
    let bent = Sample::bent(problem, &at, &loads_here, &options()).unwrap();
    assert!(bent.curvature.rows() > 0);
    let models = [alone(&straight), alone(&bent)];
    let every = straight.data.basis.rows() == straight.rank();
    let there = |t: &f64| {
        let all: Vec<DVec3> = forces.iter().zip(more).map(|(a, b)| *a + *b * *t).collect();
        let loads = loads(problem, &all);
        let m = problem.mechanism();
        let e = continue_equilibrium(m, &at, &loads, &options());
        assert!(e.status.is_equilibrium());
        let potential = potential_energy(m, &e.q, &e.world_from_link, &Loads::none());
        let poses = Sample::new(problem, &e, &loads).unwrap().effector_poses();
        let still = vec![Default::default(); poses.len()];
        let (x, _, _) = models[0].coordinates_of(&poses, &still).unwrap();
        let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let wrench = |k: usize| {
            let pairs = models[k].effector_wrenches(&x).into_iter().zip(poses.iter().zip(&all));
            let off = |(w, (p, f)): (Wrench, (&Pose, &DVec3))| {
                (w - Wrench::new(p.rotation.conjugate() * *f, DVec3::ZERO)).to_array()
            };
            distance(&pairs.flat_map(off).collect::<Vec<_>>(), &vec![0.0; 6 * poses.len()])
        };
        let off = Off {
            energy: [&straight, &bent].map(|s| (energy(s, &poses) - potential).abs()),
            force: [0, 1].map(|k| if every { wrench(k) } else { 1.0 }),
        };
        (size, off)
    };
    parts.iter().map(there).collect()
}

#[test]
fn two_effectors_at_a_loaded_pose() {
    let problem = problem(&forks_models::y_mechanism());
    let forces = [DVec3::new(8.0, -5.0, -15.0), DVec3::new(4.0, 6.0, -10.0)];
    let more = [DVec3::new(3.0, 5.0, 4.0), DVec3::new(2.0, -3.0, 3.0)];
    let offs = along_load(&problem, &forces, &more, &[0.0625, 0.125, 0.25, 0.5]);
    let of = |f: &dyn Fn(&Off) -> f64| orders(&offs.iter().map(|o| f(&o.1)).collect::<Vec<_>>());
    let (energy, force) =
        ([0, 1].map(|k| of(&|o| o.energy[k])), [0, 1].map(|k| of(&|o| o.force[k])));
    println!("y: energy {energy:.2?}, force {force:.2?}");
    // On the way that equal loads lead cubic terms cancel: energies are better there than forces.
    assert!(energy[1].iter().all(|e| *e > 5.5) && energy[0].iter().all(|e| *e > 3.8));
    assert!(force[0].iter().all(|f| (f - 2.0).abs() < 0.1));
    assert!(force[1].iter().all(|f| (f - 3.0).abs() < 0.3));
    assert!(offs.iter().all(|o| o.1.energy[1] < 0.1 * o.1.energy[0]));
}

/// Between rungs nearly parallel, one direction is a million times as stiff as the other and bends
/// for it.
#[test]
fn ladders() {
    let (here, more) = (DVec3::new(30.0, 0.0, -8.0), DVec3::new(-10.0, 0.0, 15.0));
    let problem = problem(&forks_models::ladder(6));
    let offs = along_load(&problem, &[here], &[more], &[0.125, 0.25, 0.5, 1.0, 2.0]);
    for (t, Off { energy: [straight, bent], .. }) in &offs {
        println!("ladder, {t:.2e}: {straight:.2e} {bent:.2e}");
        assert!(bent < straight);
    }
    for (_, Off { energy: [straight, bent], .. }) in &offs[..3] {
        assert!(*bent < 0.05 * straight, "{bent:e} {straight:e}");
    }
    let bent: Vec<f64> = offs.iter().map(|o| o.1.energy[1]).collect();
    // Fourth order at least; that of the stiff direction's bending shows farther out.
    assert!(orders(&bent)[0] > 3.7, "{:?}", orders(&bent));
}

#[test]
fn random_mechanisms_with_loops() {
    let settings = RandomMechanismOptions {
        links: 6,
        extra_loops: 1,
        resisted: Some(true),
        conditioning: 1e-3,
        ..RandomMechanismOptions::default()
    };
    let mut seen = 0;
    for seed in 0..12 {
        let m = random_mechanism(seed, &settings);
        let tip = m.link(random_effectors(seed, &m, 1)[0]).name.clone();
        let Ok(problem) = Problem::new(&m, &[&tip], &ProblemOptions::default()) else { continue };
        let (here, more) = (DVec3::new(20.0, -10.0, 30.0), DVec3::new(16.0, 12.0, -10.0));
        let offs = along_load(&problem, &[here], &[more], &[0.0625, 0.125, 0.25]);
        let of = |k: usize| offs.iter().map(|o| o.1.energy[k]).collect::<Vec<_>>();
        let (straight, bent) = (of(0), of(1));
        println!("{seed}: {:.2e}, {straight:?}, {bent:?}", offs[2].0);
        // Motions along one screw bend nowhere.
        if straight[2] < 1e-11 {
            assert!(bent[2] < 1e-11);
            continue;
        }
        // Above the rounding of energies of 1 J.
        if bent[0] > 1e-12 {
            let mean = 0.5 * (bent[2] / bent[0]).log2();
            assert!((mean - 4.0).abs() < 0.3, "{mean}");
        }
        assert!(bent[2] < 0.2 * straight[2]);
        seen += 1;
    }
    assert!(seen > 7, "{seen}");
}
