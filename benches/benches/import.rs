//! Reading and writing of MJCF files: Cassie, and a chain of ten thousand nested bodies.

use std::{fs, path::Path};

use criterion::{Criterion, criterion_group, criterion_main};
use forks_benches::fixture;
use forks_import::{ImportOptions, load_mjcf, write::write_mjcf};

/// A chain of hinges, each body inside the one before.
fn chain(n: usize) -> String {
    let body = r#"<body pos="0 0 .1"><joint axis="0 1 0" stiffness="1" damping=".1"/>
        <geom type="capsule" size=".02 .05"/><site/>"#;
    let (bodies, ends) = (body.repeat(n), "</body>".repeat(n));
    format!("<mujoco><worldbody>{bodies}{ends}</worldbody></mujoco>")
}

fn measure(c: &mut Criterion, name: &str, file: &Path) {
    let options = ImportOptions::default();
    let load = || load_mjcf(file, &options).expect("the model is valid");
    c.bench_function(&format!("import/read {name}"), |b| b.iter(load));
    let mechanism = load().mechanism;
    c.bench_function(&format!("import/write {name}"), |b| b.iter(|| write_mjcf(&mechanism)));
}

fn all(c: &mut Criterion) {
    measure(c, "Cassie", &fixture("models/agility_cassie/cassie.nomesh.xml"));
    let file = std::env::temp_dir().join(format!("forks-chain-{}.xml", std::process::id()));
    fs::write(&file, chain(10_000)).expect("room for a temporary file");
    measure(c, "chain-10000", &file);
    fs::remove_file(&file).expect("it was written");
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = all
}
criterion_main!(benches);
