//! Adaptive quasi-statics against the full solver: joints computed, time per step and per joint.
//!
//! `adaptive_once MECHANISM LINKS FORCES EXPONENT STEPS [scattered] [nodca] [springs]`, the error
//! being 2^-EXPONENT in the relative joint measure: `adaptive_once chain 50000 1 19 200`. With
//! `springs` every hinge has one of 100 N·m/rad, the error is absolute, as a part of the first
//! norm, and joints below it rest. Times are those of the thread where Linux tells them, else of
//! the wall.

use std::time::Instant;

use forks_dynamics::{
    WrenchFrame,
    adaptive::{AdaptiveOptions, AdaptivePlan, AdaptiveState, ErrorMeasure, Springs, Target},
    dca::{DcaPlan, DcaWorkspace, dca},
    mechanism::{
        LinkId, Mechanism, MechanismBuilder,
        lie::{SplitMix64, Wrench, glam::DVec3},
    },
};
use forks_models::molecules::{neighbouring_links, scattered_links};

/// Nanoseconds that this thread has computed.
fn thread_ns(start: &Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = stat.and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    ns.unwrap_or_else(|| start.elapsed().as_nanos() as f64)
}

fn mechanism(name: &str, n: usize) -> Mechanism {
    match name {
        "chain" => forks_models::molecules::chain(n, 1),
        "polymer" => forks_models::molecules::polymer(n, 1),
        "bushy" => forks_models::molecules::bushy(n, 1),
        "millipede" => forks_models::millipede(n / 13, 1),
        _ => forks_models::bicycle_chain(n),
    }
    .mechanism
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, default: usize| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let name = args.first().map_or("chain", String::as_str);
    let m = mechanism(name, number(1, 50_000));
    let (forces, exponent, steps) = (number(2, 1), number(3, 19), number(4, 100));
    let links = if args.iter().any(|a| a == "scattered") {
        scattered_links(&m, forces, 1)
    } else {
        neighbouring_links(&m, forces)
    };
    let clock = Instant::now();
    let springs = args.iter().any(|a| a == "springs");
    let m = if springs { sprung(&m) } else { m };
    let mut options = AdaptiveOptions { time_step: 1e-2, ..AdaptiveOptions::default() };
    if springs {
        options.springs = Springs::Implicit;
        options.rest_below = rest(&m, &options, &links, exponent);
    }
    let plan = AdaptivePlan::new(&m, &options).expect("all links have mass");
    let mut state = AdaptiveState::new(&plan);
    // 1 N in seeded random directions.
    let mut random = SplitMix64::new(7);
    for &l in &links {
        let force = Wrench::new(random.direction(), DVec3::ZERO);
        state.set_force(l, force, WrenchFrame::World).expect("a link of the mechanism");
    }
    let target = if springs {
        Target::new(ErrorMeasure::AbsoluteJoint, options.rest_below)
    } else {
        Target::new(ErrorMeasure::RelativeJoint, 0.5f64.powi(exponent as i32))
    };
    for _ in 0..3 {
        state.step(&target);
    }
    let start = thread_ns(&clock);
    let (mut sums, mut moved) = ([0usize; 3], 0);
    for _ in 0..steps {
        let step = state.step(&target);
        moved = step.joints_moved;
        let c = step.result.counters;
        sums[0] += c.joints_computed;
        sums[1] += c.nodes_visited;
        sums[2] += c.nodes_updated;
    }
    let per_step = (thread_ns(&clock) - start) / steps as f64;
    let mean = sums.map(|s| s as f64 / steps as f64);
    println!(
        "{name} {} links, {forces} forces, 2^-{exponent}: joints {:.1}, visited {:.1}, updated \
        {:.1}; {:.1} µs per step, {:.0} ns per joint; depth {}, handles {}, {} bytes per joint",
        m.links().len() - 1,
        mean[0],
        mean[1],
        mean[2],
        per_step / 1e3,
        per_step / mean[0],
        plan.depth(),
        plan.max_handles(),
        plan.state_bytes() / m.joints().len(),
    );
    println!("joints moved in the last step: {moved}");
    if !args.iter().any(|a| a == "nodca") {
        compare(&m, &links, per_step, mean[0]);
    }
}

/// The full solver with the same forces at the start pose.
fn compare(m: &Mechanism, links: &[LinkId], adaptive: f64, joints: f64) {
    let clock = Instant::now();
    let plan = DcaPlan::new(m).expect("all links have mass");
    let mut work = DcaWorkspace::new(&plan);
    let mut external = vec![Wrench::ZERO; m.links().len()];
    links.iter().for_each(|l| external[l.index()] = Wrench::new(DVec3::X, DVec3::ZERO));
    let q = &m.start_positions()[..m.tree_position_count()];
    let zero = vec![0.0; m.tree_velocity_count()];
    let mut times: Vec<f64> = (0..7)
        .map(|_| {
            let start = thread_ns(&clock);
            dca(&plan, &mut work, q, &zero, &zero, &external).expect("right lengths");
            thread_ns(&clock) - start
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (full, n) = (times[3], m.joints().len() as f64);
    println!(
        "full solver {:.1} µs, {:.0} ns per joint: {:.1} times slower; per computed joint {:.2} of \
        the adaptive one per one of the full",
        full / 1e3,
        full / n,
        full / adaptive,
        (adaptive / joints) / (full / n),
    );
}

/// The same mechanism with a spring in every joint.
fn sprung(bare: &Mechanism) -> Mechanism {
    let mut out = MechanismBuilder::new("sprung");
    out.set_gravity(DVec3::ZERO);
    for link in bare.links().iter().skip(1) {
        out.add_link(link.clone());
    }
    for joint in bare.joints() {
        out.add_joint(joint.clone().with_stiffness(100.0).with_damping(0.1));
    }
    out.build().expect("as valid as the mechanism without springs")
}

/// 2^-`exponent` of the norm of all accelerations at the start.
fn rest(m: &Mechanism, options: &AdaptiveOptions, links: &[LinkId], exponent: usize) -> f64 {
    let plan = AdaptivePlan::new(m, options).expect("all links have mass");
    let mut state = AdaptiveState::new(&plan);
    for &l in links {
        let force = Wrench::new(DVec3::X, DVec3::ZERO);
        state.set_force(l, force, WrenchFrame::World).expect("a link of the mechanism");
    }
    let target = Target::new(ErrorMeasure::RelativeLinkage, 1.0);
    state.solve(&target).linkage_norm * 0.5f64.powi(exponent as i32)
}
