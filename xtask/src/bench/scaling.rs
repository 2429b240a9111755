//! `reduced/scaling`: cost of a step with the poses of all links, against links, effectors and
//! threads.

use std::{hint::black_box, sync::Arc};

use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_rom::{
    EffectorLoad, LoadFrame, State, Stepper,
    batch::{Batch, BatchPoses},
};

use super::{
    case::{Case, Context},
    kernel::helix,
    measure::time,
    reduced::step_and_poses,
};

const LINKS: [usize; 7] = [20, 50, 100, 200, 400, 800, 1600];
const EFFECTORS: [usize; 4] = [1, 2, 3, 6];
const THREADS: [usize; 4] = [1, 2, 4, 8];
/// Instances of a batch: threads step and pose them side by side.
const INSTANCES: usize = 64;
/// Time step, s.
const DT: f64 = 1e-3;

/// One case per number of links and effectors on one thread, then one per number of links and
/// threads.
pub(super) fn scaling(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for effectors in EFFECTORS {
        for links in LINKS {
            let name = format!("{name}/effectors-{effectors}/links-{links}");
            cases.push(single(&name, links, effectors, context)?);
        }
    }
    for threads in THREADS {
        for links in LINKS {
            let name = format!("{name}/batch-{INSTANCES}/links-{links}");
            cases.push(batch(&name, links, threads, context)?);
        }
    }
    Ok(cases)
}

/// A load that moves the helix a little.
fn load() -> EffectorLoad {
    let wrench = Wrench::new(DVec3::X * 0.01, DVec3::ZERO);
    EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }
}

fn stepper(links: usize, effectors: usize) -> Result<Stepper, String> {
    Stepper::new(Arc::new(helix(links, effectors)?), DT).map_err(|e| e.to_string())
}

fn single(
    name: &str,
    links: usize,
    effectors: usize,
    context: &Context<'_>,
) -> Result<Case, String> {
    let stepper = stepper(links, effectors)?;
    let mut state = State::new(stepper.model());
    let ours = step_and_poses(&stepper, &mut state, &[load()], context.batch)?;
    let settings = format!("one instance, step and poses, {}", stepper.model().isa().name());
    let mut case = Case::new(name, links, 1, ours, &settings);
    case.dt = Some(DT);
    case.figure("effectors", effectors as f64);
    case.figure("reduced coordinates", stepper.model().dof() as f64);
    case.figure("ns per link", ours.ns / links as f64);
    Ok(case)
}

fn batch(name: &str, links: usize, threads: usize, context: &Context<'_>) -> Result<Case, String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| format!("cannot start {threads} threads: {e}"))?;
    let stepper = stepper(links, 1)?;
    let mut poses = BatchPoses::new(stepper.model(), INSTANCES);
    let mut batch = Batch::new(stepper, INSTANCES);
    let loads = vec![[load()]; INSTANCES];
    let ours = pool.install(|| {
        time(context.batch, || {
            let status = batch.step(&loads);
            batch.poses(black_box(&mut poses));
            status
        })
    });
    if !(0..INSTANCES).all(|i| poses.iter(i).all(|(_, p)| p.is_finite())) {
        return Err("a pose is not finite".into());
    }
    let settings = format!("{INSTANCES} instances, one effector, step and poses");
    let mut case = Case::new(name, links, threads, ours, &settings);
    case.dt = Some(DT);
    case.figure("ns per link and instance", ours.ns / (links * INSTANCES) as f64);
    Ok(case)
}
