//! Times of reading, in milliseconds, the median of seven: Cassie, a chain of 10,000 bodies, and
//! 5,000 nested bodies from a file on a stack of 2 MB.
//! `cargo run --release -p forks-import --example speed`

use std::{path::Path, time::Instant};

use forks_import::{ImportOptions, load_mjcf, write_mjcf};

/// Median of seven after two warm-ups.
fn milliseconds(mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    once();
    once();
    let mut times: Vec<f64> = (0..7).map(|_| once()).collect();
    times.sort_by(f64::total_cmp);
    times[3]
}

/// A chain of hinges, each body inside the one before.
fn chain(n: usize) -> String {
    let body = r#"<body pos="0 0 .1"><joint axis="0 1 0" stiffness="1" damping=".1"/><geom type="capsule" size=".02 .05"/><site/>"#;
    let (bodies, ends) = (body.repeat(n), "</body>".repeat(n));
    format!("<mujoco><worldbody>{bodies}{ends}</worldbody></mujoco>")
}

fn report(what: &str, path: &Path) {
    let options = ImportOptions::default();
    let read = milliseconds(|| drop(load_mjcf(path, &options).expect("the model is valid")));
    let m = load_mjcf(path, &options).expect("the model is valid").mechanism;
    let write = milliseconds(|| drop(write_mjcf(&m).expect("it came from MJCF")));
    println!("{what}: {} links read in {read:.2} ms, written in {write:.2} ms", m.links().len());
}

fn main() -> std::io::Result<()> {
    let cassie = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/models/agility_cassie/cassie.nomesh.xml");
    report("Cassie", &cassie);
    let path = std::env::temp_dir().join(format!("forks-speed-{}.xml", std::process::id()));
    std::fs::write(&path, chain(10_000))?;
    report("chain of 10,000", &path);
    std::fs::write(&path, chain(5_000))?;
    let nested = path.clone();
    let work = move || report("5,000 nested on 2 MB", &nested);
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work)?;
    thread.join().expect("the stack is enough");
    std::fs::remove_file(&path)
}
