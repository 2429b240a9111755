//! MJCF files to [`forks_mechanism::Mechanism`] and back.
//!
//! The reader follows MuJoCo 4.0.0 in what a file means: default classes, includes, frames, inertia from
//! geometry, reference and spring positions, equalities, fixed tendons and servos. Whatever a mechanism cannot
//! hold is refused, or returned as a [`Note`] where it changes neither kinematics nor inertia nor springs;
//! [`FEATURES`] lists the treatment of every element and attribute.
//!
//! # Conventions
//! - SI units, radians; links in MuJoCo's body order, tree joints in MuJoCo's joint order, so that the tree
//!   positions of the mechanism are MuJoCo's `qpos`. Unnamed bodies are `#i` with MuJoCo's body index i.
//! - Several joints on one body are a chain through massless links named `body/joint` that are marked
//!   [`forks_mechanism::Link::auxiliary`]. A body without joints hangs on an implicit fixed joint.
//! - `connect` and `weld` are loop-closing joints (spherical, fixed) after all tree joints; `joint` and `tendon`
//!   equalities are couplings.
//!
//! # Why a reader of its own
//! MJCF is read from the XML tree (`roxmltree`). The reader crates that exist were tried first: `mjcf-rs` loses
//! joints inside `<frame>`, included files, equalities between sites and polynomial stiffness, each without a word.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod note;
mod read;
mod schema;
mod write;
mod xml;

use std::path::Path;

use forks_mechanism::Mechanism;

pub use error::{ImportError, Location};
pub use forks_mechanism as mechanism;
pub use note::{Effect, Note};
pub use schema::{FEATURES, Feature, Treatment, feature_matrix};
pub use write::{WriteError, save_mjcf, write_mjcf};

/// How to read a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Leave out what cannot be represented and note it, instead of refusing the file: springs in spatial
    /// tendons, flexible bodies, plugins, replicas, unknown elements and attributes, moving bodies without mass.
    /// Default: `false`.
    pub lenient: bool,
}

/// What a file became.
#[derive(Clone, Debug)]
pub struct Import {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Everything in the file that the mechanism does not hold exactly, in reading order.
    pub notes: Vec<Note>,
}

/// Reads an MJCF file; `<include>` files are found relative to its directory.
///
/// # Errors
/// The first thing that is wrong or cannot be represented, with file, line, element, attribute and value.
pub fn load_mjcf(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    read::read(xml::load(path)?, options)
}

/// Reads MJCF text; `<include>` is an error.
///
/// # Errors
/// As [`load_mjcf`].
pub fn parse_mjcf(text: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    read::read(xml::parse(text)?, options)
}
