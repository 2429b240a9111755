//! The files that fuzzing starts from, and those that it once failed on: each is read to a model
//! that is written to the same bytes, or refused.

use std::path::Path;

use forks_rom::ReducedModel;

#[test]
fn files_are_read_or_refused() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz/reduced_model");
    let (mut read, mut files) = (0, 0);
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        files += 1;
        match ReducedModel::from_bytes(&bytes) {
            Ok(model) => {
                assert_eq!(model.to_bytes(), bytes, "{}", path.display());
                read += 1;
            }
            Err(e) => assert!(!e.to_string().is_empty(), "{}", path.display()),
        }
    }
    assert!(files >= 3 && read >= 2, "{read} of {files}");
}
