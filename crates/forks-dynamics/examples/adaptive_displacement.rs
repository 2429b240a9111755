//! Relative displacement error of adaptive steps (\[R06\] §6.4, Figure 9): max |d(ε) − d| / max |d|
//! over the centres of mass of all links.
//!
//! `adaptive_displacement MECHANISM LINKS FORCES STEPS TIME_STEP CATCH_UP RATIO_EXPONENT [dca]`:
//! the exact displacements d are those at 2^-50, or with `dca` those of the full solver, at every
//! step.

use forks_dynamics::{
    WrenchFrame,
    adaptive::{AdaptiveOptions, AdaptivePlan, AdaptiveState, ErrorMeasure, Target},
    dca::{DcaPlan, DcaWorkspace, dca},
    mechanism::{
        LinkId, Mechanism,
        lie::{Wrench, glam::DVec3},
    },
};
use forks_models::molecules::neighbouring_links;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, default: f64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let n = number(1, 50_000.0) as usize;
    let m = match args.first().map_or("chain", String::as_str) {
        "polymer" => forks_models::molecules::polymer(n, 1),
        "millipede" => forks_models::millipede(n / 13, 1),
        _ => forks_models::molecules::chain(n, 1),
    }
    .mechanism;
    let (forces, steps) = (number(2, 1.0) as usize, number(3, 4000.0) as usize);
    let options = AdaptiveOptions {
        time_step: number(4, 0.01),
        catch_up: number(5, 0.0) as usize,
        catch_up_error: 0.5f64.powi(number(6, 12.0) as i32),
        ..AdaptiveOptions::default()
    };
    let links = neighbouring_links(&m, forces);
    let plan = AdaptivePlan::new(&m, &options).expect("all links have mass");
    let run = |exponent: i32| {
        let mut state = AdaptiveState::new(&plan);
        for &l in &links {
            let force = Wrench::new(DVec3::X, DVec3::ZERO);
            state.set_force(l, force, WrenchFrame::World).expect("a link of the mechanism");
        }
        let target = Target::new(ErrorMeasure::RelativeJoint, 0.5f64.powi(exponent));
        let joints: usize =
            (0..steps).map(|_| state.step(&target).result.counters.joints_computed).sum();
        (centers(&m, state.positions()), joints as f64 / steps as f64)
    };
    let start = centers(&m, &m.start_positions());
    let exact = if args.iter().any(|a| a == "dca") {
        full_run(&m, &links, steps, options.time_step)
    } else {
        run(50).0
    };
    let distance =
        |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let largest = distance(&start, &exact);
    println!("largest displacement {largest:.4} m");
    for exponent in [3, 7, 11, 15, 19, 23, 27] {
        let (found, joints) = run(exponent);
        let error = distance(&found, &exact) / largest;
        println!(
            "2^-{exponent}: {joints:.1} joints per step, relative displacement error {error:.1e}"
        );
    }
}

fn centers(m: &Mechanism, q: &[f64]) -> Vec<DVec3> {
    let poses = m.link_poses(q);
    let links = m.links().iter().zip(&poses).skip(1);
    links.map(|(l, p)| p.transform_point(l.inertia.center_of_mass)).collect()
}

fn full_run(m: &Mechanism, links: &[LinkId], steps: usize, h: f64) -> Vec<DVec3> {
    let plan = DcaPlan::new(m).expect("all links have mass");
    let mut work = DcaWorkspace::new(&plan);
    let mut external = vec![Wrench::ZERO; m.links().len()];
    let mut q = m.start_positions();
    let zero = vec![0.0; m.tree_velocity_count()];
    for _ in 0..steps {
        let poses = m.link_poses(&q);
        for l in links {
            let force = poses[l.index()].rotation.conjugate() * DVec3::X;
            external[l.index()] = Wrench::new(force, DVec3::ZERO);
        }
        dca(&plan, &mut work, &q, &zero, &zero, &external).expect("right lengths");
        q.iter_mut().zip(work.accelerations()).for_each(|(q, a)| *q += h * h * a);
    }
    centers(m, &q)
}
