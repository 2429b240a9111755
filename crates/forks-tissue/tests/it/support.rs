//! Scenes from text.

use forks_tissue::{TissueError, TissueScene, spec::TissueSpec};

pub(crate) fn built(text: &str) -> Result<TissueScene, TissueError> {
    built_in(text, std::path::Path::new("."))
}

pub(crate) fn built_in(text: &str, folder: &std::path::Path) -> Result<TissueScene, TissueError> {
    TissueScene::build(TissueSpec::parse(text, "scene.toml")?, folder)
}

/// A folder for files of one test.
pub(crate) fn folder(name: &str) -> std::path::PathBuf {
    let out = std::env::temp_dir().join(format!("forks-tissue-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&out).unwrap();
    out
}
