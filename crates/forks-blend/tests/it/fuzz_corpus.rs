//! The files that fuzzing starts from, and those that it once failed on: each is read to a blend,
//! or refused with a reason.

use std::path::Path;

use forks_blend::BlendedModel;

#[test]
fn files_are_read_or_refused() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz/reduced_model");
    let mut files = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        files += 1;
        if let Err(e) = BlendedModel::from_bytes(&bytes) {
            assert!(!e.to_string().is_empty(), "{}", path.display());
        }
    }
    assert!(files >= 3, "{files}");
}
