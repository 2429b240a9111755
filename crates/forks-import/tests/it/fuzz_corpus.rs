//! The inputs that fuzzing starts from, and those that it once failed on: each is read or refused
//! by an error of one sentence, and what is written of a mechanism can be read again.

use std::path::{Path, PathBuf};

use forks_import::{
    Import, ImportError, ImportOptions, SideFile, parse_mjcf, parse_urdf, write::write_mjcf,
};

fn corpus(kind: &str) -> Vec<(PathBuf, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz").join(kind);
    let mut out = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // The targets take text; other bytes do not reach the readers.
        if let Ok(text) = String::from_utf8(std::fs::read(&path).unwrap()) {
            out.push((path, text));
        }
    }
    assert!(out.len() >= 3, "{kind}");
    out
}

fn checked(path: &Path, result: Result<Import, ImportError>) -> Option<Import> {
    match result {
        Ok(i) => Some(i),
        Err(e) => {
            assert!(!e.to_string().is_empty(), "{}", path.display());
            None
        }
    }
}

fn options() -> [ImportOptions; 3] {
    [(false, false), (true, false), (false, true)].map(|(lenient, balance_inertia)| ImportOptions {
        lenient,
        balance_inertia,
        ..ImportOptions::default()
    })
}

#[test]
fn mjcf_is_read_or_refused() {
    let mut read = 0;
    for (path, text) in corpus("mjcf") {
        for o in options() {
            let Some(i) = checked(&path, parse_mjcf(&text, &o)) else { continue };
            read += 1;
            let Ok((again, _)) = write_mjcf(&i.mechanism) else { continue };
            parse_mjcf(&again, &o).unwrap_or_else(|e| panic!("{}: {e}\n{again}", path.display()));
        }
    }
    assert!(read >= 5, "{read}");
}

#[test]
fn urdf_is_read_or_refused() {
    let mut read = 0;
    for (path, text) in corpus("urdf") {
        for o in options() {
            let Some(i) = checked(&path, parse_urdf(&text, &o)) else { continue };
            read += 1;
            let _ = write_mjcf(&i.mechanism);
        }
    }
    assert!(read >= 3, "{read}");
}

#[test]
fn side_files_are_applied_or_refused() {
    let robot = include_str!("../../../../fixtures/fuzz/urdf/kinds.urdf");
    let robot = parse_urdf(robot, &ImportOptions::default()).unwrap();
    for (path, text) in corpus("side") {
        let applied = SideFile::parse(&text).and_then(|s| s.apply(robot.clone()));
        checked(&path, applied);
    }
}
