//! One or more divide-and-conquer solutions of a chain, for instruction counts and threads:
//! `dca_once LINKS CALLS [THREADS]`. Prints nanoseconds per joint of the fastest call.

use std::time::Instant;

use forks_dynamics::{
    dca::{DcaPlan, DcaWorkspace, dca},
    mechanism::lie::SplitMix64,
};

fn main() {
    let argument = |i: usize| std::env::args().nth(i).and_then(|a| a.parse::<usize>().ok());
    let (n, calls) = (argument(1).unwrap_or(4000), argument(2).unwrap_or(1));
    let m = forks_models::molecules::chain(n, 1).mechanism;
    let mut random = SplitMix64::new(2);
    let v: Vec<f64> = (0..m.velocity_count()).map(|_| random.range(-0.5, 0.5)).collect();
    let (q, tau) = (m.start_positions(), vec![0.1; m.velocity_count()]);
    let plan = DcaPlan::new(&m).expect("a chain has no massless links");
    let threads = argument(3);
    let mut work = DcaWorkspace::new(&plan).parallel(threads.is_some());
    let mut fastest = f64::INFINITY;
    let mut run = || {
        for _ in 0..calls {
            let start = Instant::now();
            dca(&plan, &mut work, &q, &v, &tau, &[]).expect("slices of the right lengths");
            fastest = fastest.min(start.elapsed().as_nanos() as f64 / n as f64);
        }
        fastest
    };
    let ns = in_pool(threads, &mut run);
    println!("{n} joints: {ns:.1} ns per joint, first acceleration {}", work.accelerations()[0]);
}

#[cfg(feature = "rayon")]
fn in_pool(threads: Option<usize>, run: &mut (impl FnMut() -> f64 + Send)) -> f64 {
    match threads {
        None => run(),
        Some(t) => {
            rayon::ThreadPoolBuilder::new().num_threads(t).build().expect("threads").install(run)
        }
    }
}

#[cfg(not(feature = "rayon"))]
fn in_pool(_: Option<usize>, run: &mut impl FnMut() -> f64) -> f64 {
    run()
}
