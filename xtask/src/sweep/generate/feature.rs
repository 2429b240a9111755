//! What can be put into a generated file.

use forks_testkit::Rng;

use super::document::Document;

/// When a feature does its work: content before defaults, defaults before frames, then the order,
/// then the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Content,
    Defaults,
    Frames,
    Order,
    Files,
}

/// One feature.
#[derive(Clone, Copy)]
pub(super) struct Feature {
    pub(super) name: &'static str,
    pub(super) stage: Stage,
    pub(super) apply: fn(&mut Rng, &mut Document),
    /// We refuse files with it, and say why.
    pub(super) refused: bool,
}

pub(super) const fn feature(
    name: &'static str,
    stage: Stage,
    apply: fn(&mut Rng, &mut Document),
) -> Feature {
    Feature { name, stage, apply, refused: false }
}

pub(super) const fn refused(name: &'static str, apply: fn(&mut Rng, &mut Document)) -> Feature {
    Feature { name, stage: Stage::Content, apply, refused: true }
}
