//! The loaded oracle: limit cases, derivatives, and the finite difference of full equilibria.

use forks_testkit::{
    EffectorLoad, Loads, Matrix, PointForce, Potential, RandomMechanismOptions, Rng, equilibrium,
    kinematics::{displace, link_poses},
    linear::product,
    random_effectors, random_mechanism, reduce, reduce_loaded,
    rigid::Rigid,
};

fn relative(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).max_abs() / b.max_abs().max(f64::MIN_POSITIVE)
}

fn options(seed: u64) -> RandomMechanismOptions {
    RandomMechanismOptions {
        links: 5,
        extra_loops: 1,
        preload: 0.1,
        singular_spring_fraction: 0.0,
        conditioning: 1e-3,
        ..RandomMechanismOptions::mixed(seed)
    }
}

#[test]
fn without_loads_the_loaded_reduction_is_the_plain_one() {
    for seed in 0..20 {
        let options = RandomMechanismOptions { preload: 0.0, ..options(seed) };
        let m = random_mechanism(seed, &options);
        let q = m.start_positions();
        let e = random_effectors(seed, &m, 2);
        let plain = reduce(&m, &q, &e).expect("resisted");
        let loaded = reduce_loaded(&m, &q, &Loads::default(), &e).expect("resisted");
        if plain.rank == 0 {
            continue;
        }
        // What rounding leaves of spring forces bends the tangent by ε; conditioning is at most
        // 1e3.
        let error = relative(&loaded.reduction.compliance, &plain.compliance);
        assert!(error < 1e-10, "seed {seed}: {error:e}");
    }
}

fn some_loads(seed: u64, m: &forks_mechanism::Mechanism) -> Loads {
    let mut rng = Rng::new(seed + 1000);
    let link = random_effectors(seed + 7, m, 1)[0];
    let force = rng.direction().map(|x| 5.0 * x);
    Loads {
        gravity: true,
        forces: vec![PointForce { link, point: rng.vector().map(|x| 0.1 * x), force }],
        wrenches: vec![],
    }
}

#[test]
fn hessian_is_the_difference_of_gradients() {
    let h = 1e-5;
    for seed in 0..6 {
        let m = random_mechanism(seed, &options(seed));
        let q = m.start_positions();
        let loads = some_loads(seed, &m);
        let p = Potential::new(&m, &loads);
        let none = vec![0.0; 6 * m.forest().closures().len() + m.couplings().len()];
        let hessian = p.lagrangian_hessian(&q, &none);
        let nv = m.velocity_count();
        let g0 = p.gradient(&q);
        // Only for joints with plain coordinates is the gradient of local coordinates at a moved
        // position the derivative along fixed ones; elsewhere compare the symmetric part of both.
        let at = |k: usize, h: f64| {
            let mut d = vec![0.0; nv];
            d[k] = h;
            p.gradient(&displace(&m, &q, &d))
        };
        let differences: Vec<Vec<f64>> = (0..nv)
            .map(|k| {
                let (a, b) = (at(k, h), at(k, -h));
                a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect()
            })
            .collect();
        let scale = hessian.max_abs() + g0.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        for i in 0..nv {
            for j in 0..nv {
                let d = 0.5 * (differences[i][j] + differences[j][i]);
                assert!((d - hessian[(i, j)]).abs() < 1e-7 * scale, "seed {seed} ({i}, {j})");
            }
        }
    }
}

#[test]
fn loaded_compliance_is_the_difference_of_full_equilibria() {
    let mut checked = 0;
    let mut effect: f64 = 0.0;
    for seed in 0..12 {
        let m = random_mechanism(seed, &options(seed));
        let e = random_effectors(seed, &m, 1);
        let mut rng = Rng::new(seed);
        let mut loads = some_loads(seed, &m);
        let wrench: [f64; 6] =
            std::array::from_fn(|k| rng.symmetric() * if k < 3 { 5.0 } else { 1.0 });
        loads.wrenches = vec![EffectorLoad { link: e[0], wrench, reference: None }];
        let Some(rest) = equilibrium(&m, &m.start_positions(), &loads) else { continue };
        let still = vec![0.0; m.velocity_count()];
        let h0 = link_poses(&m, &rest.positions, &still);
        loads.wrenches[0].reference = Some(h0[e[0].index()]);
        let Ok(r) = reduce_loaded(&m, &rest.positions, &loads, &e) else { continue };
        if r.reduction.rank == 0 {
            continue;
        }
        assert!(r.imbalance < 1e-10, "seed {seed}: {:e}", r.imbalance);
        let c = &r.reduction.compliance;
        // A change of 1e-4 of the motion: differences are good to 1e-8 and rounding over 1e-4.
        let step = 1e-4 / (c.max_abs() * 10.0);
        for k in 0..6 {
            let moved = |s: f64| {
                let mut l = loads.clone();
                l.wrenches[0].wrench[k] += s;
                let q = settle(&m, &rest.positions, &l);
                link_poses(&m, &q, &still)
            };
            let (plus, minus) = (moved(step), moved(-step));
            for l in 1..plus.len() {
                let xi = |p: &[Rigid<f64>]| h0[l].inverse().times(&p[l]).log();
                let (a, b) = (xi(&plus), xi(&minus));
                let map = &r.reduction.twist_maps[l];
                for i in 0..6 {
                    let d = (a[i] - b[i]) / (2.0 * step);
                    let error = (d - map[(i, k)]).abs() / map.max_abs().max(c.max_abs());
                    assert!(error < 1e-6, "seed {seed} link {l} ({i}, {k}): {error:e}");
                }
            }
        }
        let plain = reduce(&m, &rest.positions, &e).expect("resisted");
        effect = effect.max(relative(&plain.compliance, c));
        checked += 1;
    }
    assert!(checked >= 8, "only {checked} mechanisms could be loaded");
    assert!(effect > 0.05, "loads change the compliance by {effect} only");
    println!("{checked} mechanisms, largest effect of the loads {effect}");
}

#[test]
fn a_dead_force_differs_from_an_exponential_one_by_the_known_term() {
    // K = H - Q with Q = [[0, [f]x / 2], [-[f]x / 2, 0]] for a force f (body axes) at the origin.
    let mut checked = 0;
    for seed in 0..20 {
        let options = RandomMechanismOptions {
            links: 6,
            extra_loops: 0,
            conditioning: 1e-3,
            ..RandomMechanismOptions::sprung(seed)
        };
        let m = random_mechanism(seed, &options);
        let e = random_effectors(seed, &m, 1);
        let force = Rng::new(seed).direction().map(|x| 10.0 * x);
        let dead = Loads {
            gravity: true,
            forces: vec![PointForce { link: e[0], point: [0.0; 3], force }],
            wrenches: vec![],
        };
        let Some(rest) = equilibrium(&m, &m.start_positions(), &dead) else { continue };
        let still = vec![0.0; m.velocity_count()];
        let h = link_poses(&m, &rest.positions, &still)[e[0].index()];
        let f: [f64; 3] = std::array::from_fn(|i| (0..3).map(|k| h.a[k][i] * force[k]).sum());
        let wrench = [f[0], f[1], f[2], 0.0, 0.0, 0.0];
        let load = EffectorLoad { link: e[0], wrench, reference: None };
        let exponential = Loads { gravity: true, forces: vec![], wrenches: vec![load] };
        let a = reduce_loaded(&m, &rest.positions, &dead, &e);
        let b = reduce_loaded(&m, &rest.positions, &exponential, &e);
        let (Ok(a), Ok(b)) = (a, b) else { continue };
        if a.reduction.rank < 6 {
            continue;
        }
        let (c, inverse_h) = (&a.reduction.compliance, &b.reduction.compliance);
        let cross = [[0.0, -f[2], f[1]], [f[2], 0.0, -f[0]], [-f[1], f[0], 0.0]];
        let q = Matrix::from_fn(6, 6, |i, j| match (i < 3, j < 3) {
            (true, false) => 0.5 * cross[i][j - 3],
            (false, true) => -0.5 * cross[i - 3][j],
            _ => 0.0,
        });
        // C (H - Q) H^-1 = H^-1.
        let qh = product(&q, inverse_h);
        let left = c.sub(&product(c, &qh));
        assert!(relative(&left, inverse_h) < 1e-9, "seed {seed}");
        let effect = relative(c, inverse_h);
        checked += usize::from(effect > 1e-3);
    }
    assert!(checked >= 5, "only {checked}");
}

/// The equilibrium near `q` under full loads: the mechanism's springs keep their rests.
fn settle(m: &forks_mechanism::Mechanism, q: &[f64], loads: &Loads) -> Vec<f64> {
    forks_testkit::equilibrium::settle(m, q, loads).expect("a nearby equilibrium").positions
}
