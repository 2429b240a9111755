//! `dca/…`: divide and conquer on one and two threads, against the articulated-body algorithm.

use forks_dynamics::dca::{DcaPlan, DcaStatus, DcaWorkspace, dca};

use super::{
    case::{Case, Context},
    forward::Setup,
    measure::{Timing, time},
};

const THREADS: [usize; 2] = [1, 2];

/// `dca/chain-4000`, once per number of threads.
pub(super) fn chain(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let m = forks_models::molecules::chain(4000, 1).mechanism;
    let setup = Setup::new(&m);
    let expected = setup.accelerations()?;
    let plan = DcaPlan::new(&m).map_err(|e| e.to_string())?;
    let rival = setup.time(context.batch);
    let mut cases: Vec<Case> = Vec::new();
    let mut first: Option<Vec<f64>> = None;
    for threads in THREADS {
        let (ours, acceleration) = on_threads(&setup, &plan, threads, context.batch)?;
        let settings = format!("gravity, random state, two poses in turn, {threads} rayon threads");
        let mut case = Case::new(name, m.links().len() - 1, threads, ours, &settings);
        case.rival("forks-aba", rival, "same states, one thread");
        case.figure("ns per joint", ours.ns / setup.v.len() as f64);
        let difference = difference(&acceleration, &expected[1]);
        case.figure("largest relative difference from forks-aba", difference);
        match (&first, cases.first()) {
            (Some(a), Some(one)) => {
                if *a != acceleration {
                    return Err("accelerations depend on the number of threads".into());
                }
                case.figure("speedup over one thread", one.ours_ns / ours.ns);
            }
            _ => first = Some(acceleration),
        }
        cases.push(case);
    }
    Ok(cases)
}

/// Time per call on a pool of its own, and the accelerations in the second pose.
fn on_threads(
    setup: &Setup<'_>,
    plan: &DcaPlan,
    threads: usize,
    batch: f64,
) -> Result<(Timing, Vec<f64>), String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| format!("cannot start {threads} threads: {e}"))?;
    pool.install(|| {
        let mut ws = DcaWorkspace::new(plan).parallel(threads > 1);
        let mut turn = 0;
        let timing = time(batch, || {
            turn ^= 1;
            dca(plan, &mut ws, &setup.q[turn], &setup.v, &setup.tau, &[])
        });
        let status = dca(plan, &mut ws, &setup.q[1], &setup.v, &setup.tau, &[]);
        match status.map_err(|e| e.to_string())? {
            DcaStatus::Solved { .. } => Ok((timing, ws.acceleration(plan).to_vec())),
            other => Err(format!("not solved: {other:?}")),
        }
    })
}

/// Largest difference over the largest of `b`.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let scale = b.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}
