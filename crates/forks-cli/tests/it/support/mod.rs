//! The program as a user calls it, for the tests of its commands.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// A file of one test's folder.
pub(crate) fn path_in(folder: &str, name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&directory).unwrap();
    directory.join(name)
}

/// A file of the repository.
pub(crate) fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(crate) fn forks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forks")).args(arguments).output().expect("the program starts")
}

pub(crate) fn json(arguments: &[&str]) -> Value {
    let out = forks(&[arguments, &["--json"]].concat());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// All numbers of an array, of arrays of numbers too.
pub(crate) fn numbers(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(a) => a.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// One error sentence with every word, nothing on stdout.
pub(crate) fn refuses(arguments: &[&str], words: &[&str]) {
    let out = forks(arguments);
    let message = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{message}");
    assert!(out.stdout.is_empty());
    assert!(message.starts_with("error: ") && message.lines().count() == 1, "{message}");
    for w in words {
        assert!(message.contains(w), "'{w}' in: {message}");
    }
}
