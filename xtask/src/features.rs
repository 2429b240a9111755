//! `cargo xtask features`: every published crate is checked alone, without its default features,
//! with them, and with each feature alone; crates that need no `std` also for a target without it.
//!
//! A build of the whole workspace joins the features that all crates ask for, and so hides what one
//! crate alone forgets.

use std::{
    path::Path,
    process::{Command, ExitCode},
    time::Instant,
};

use crate::tidy::metadata::{Metadata, Package};

/// Targets other than most machines that develop `forks`: one without an operating system, and
/// another processor.
const BARE: &str = "thumbv7em-none-eabihf";
const OTHER: &str = "aarch64-unknown-linux-gnu";

/// Runs all checks; exit code 1 if one fails.
pub(crate) fn run(root: &Path) -> ExitCode {
    match all(root) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn all(root: &Path) -> Result<(), String> {
    let metadata = Metadata::of(root)?;
    for p in metadata.members().filter(|p| p.is_published()) {
        for flags in combinations(p) {
            check(root, &p.name, &flags)?;
        }
    }
    if has_target(BARE)? {
        for p in metadata.members().filter(|p| needs_no_std(p)) {
            check(root, &p.name, &words(&["--no-default-features", "--target", BARE]))?;
        }
    } else {
        skipped(BARE);
    }
    if has_target(OTHER)? {
        check(root, "forks", &words(&["--target", OTHER]))?;
    } else {
        skipped(OTHER);
    }
    Ok(())
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|&w| w.to_owned()).collect()
}

/// Flags for a crate's features: none, the default ones, each alone.
fn combinations(p: &Package) -> Vec<Vec<String>> {
    let mut out = vec![vec![]];
    if p.features.contains_key("default") {
        out.push(words(&["--no-default-features"]));
    }
    for feature in p.features.keys().filter(|f| *f != "default") {
        out.push(words(&["--no-default-features", "--features", feature]));
    }
    out
}

/// True if the library can be built without the standard library.
fn needs_no_std(p: &Package) -> bool {
    let library = std::fs::read_to_string(p.directory().join("src/lib.rs")).unwrap_or_default();
    library.contains("no_std")
}

fn check(root: &Path, package: &str, flags: &[String]) -> Result<(), String> {
    let begin = Instant::now();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["check", "--quiet", "--locked", "-p", package]).args(flags).current_dir(root);
    let what = format!("cargo check -p {package} {}", flags.join(" "));
    let status = command.status().map_err(|e| format!("cannot start cargo: {e}"))?;
    if !status.success() {
        return Err(format!("failed: {what}"));
    }
    println!("{:>6.1} s  {what}", begin.elapsed().as_secs_f64());
    Ok(())
}

/// True if the toolchain has the target's standard or core library.
fn has_target(target: &str) -> Result<bool, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "sysroot"])
        .output()
        .map_err(|e| format!("cannot start the compiler: {e}"))?;
    let root = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(Path::new(&root).join("lib/rustlib").join(target).join("lib").is_dir())
}

fn skipped(target: &str) {
    println!("skipped: this toolchain has no {target} (rustup target add {target})");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::metadata::sample;

    #[test]
    fn every_feature_is_tried_alone() {
        let mut p = sample(&[("a", &[])], &[]).packages.remove(0);
        assert_eq!(combinations(&p), [Vec::<String>::new()]);
        for feature in ["default", "std", "simd"] {
            p.features.insert(feature.into(), vec![]);
        }
        let found: Vec<String> = combinations(&p).iter().map(|c| c.join(" ")).collect();
        let alone = |f: &str| format!("--no-default-features --features {f}");
        let expected = [String::new(), "--no-default-features".into(), alone("simd"), alone("std")];
        assert_eq!(found, expected);
    }
}
