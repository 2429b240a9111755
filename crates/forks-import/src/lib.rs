//! MJCF and URDF files to [`forks_mechanism::Mechanism`], and mechanisms to MJCF.
//!
//! The MJCF reader follows MuJoCo 4.0.0 in what a file means: default classes, includes, frames,
//! inertia from geometry and mesh files, reference and spring positions, equalities, fixed tendons
//! and servos. Whatever a mechanism cannot hold is refused, or returned as a [`Note`] where it
//! changes neither kinematics nor inertia nor springs; [`features::mjcf_features`] lists the
//! treatment of every element and attribute, [`features::urdf_features`] that of URDF.
//!
//! # Conventions
//! - SI units, radians; links in MuJoCo's body order, tree joints in MuJoCo's joint order, so that
//!   the tree positions of the mechanism are MuJoCo's `qpos`. Unnamed bodies are `#i` with MuJoCo's
//!   body index i.
//! - Several joints on one body are a chain through massless links named `body/joint` that are
//!   marked [`forks_mechanism::Link::auxiliary`]. A body without joints hangs on an implicit fixed
//!   joint.
//! - `connect` and `weld` are loop-closing joints (spherical, fixed) after all tree joints; `joint`
//!   and `tendon` equalities are couplings.
//! - URDF: one coordinate per revolute, continuous or prismatic joint, depth first, the joints of a
//!   link sorted by name, or as in the file ([`UrdfOrder`]); `floating` and `spherical` as MuJoCo's
//!   free joint and ball, `planar` as (x, y, angle); `mimic` is a coupling. The root link is fixed
//!   to the world; one that is called `world` is the world. Links behind fixed joints stay links.
//!
//! # Side files
//! `MODEL.forks.toml` beside a model ([`SideFile`]) adds what URDF cannot say: stiffness, damping,
//! rest and start positions of joints, loops closed between frames of two links, end effectors.
//!
//! # Why readers of their own
//! Both formats are read from the XML tree (`roxmltree`). The reader crates that exist were tried
//! first: `mjcf-rs` loses joints inside `<frame>`, included files, equalities between sites and
//! polynomial stiffness, each without a word; `urdf-rs` 0.9 takes `nan`, unknown links, cycles and
//! several roots, drops unknown elements without a word, does not tell a missing limit from one of
//! zero, and refuses files with `--` in a comment or the same axis twice.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod inertia;
mod note;
mod plausible;
mod read;
mod redundant;
mod schema;
mod side;
mod text_file;
mod urdf;
pub mod write;
mod xml;

use std::path::Path;

use forks_mechanism::Mechanism;

pub use error::{ImportError, Location};
pub use forks_mechanism as mechanism;
pub use note::{Effect, NAMES, Note, group_notes};
pub use side::{SideFile, SideSource};

/// How every element and attribute of MJCF and of URDF is treated.
pub mod features {
    pub use crate::schema::{Feature, Treatment, mjcf_features, urdf_features};
}

/// How to read a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Leave out what cannot be represented and note it, instead of refusing the file: springs in
    /// spatial tendons, flexible bodies, plugins, replicas, unknown elements and attributes, moving
    /// bodies without mass. Default: `false`.
    pub lenient: bool,
    /// Replace principal moments of a link that violate A + B ≥ C, or are negative, by their mean
    /// with a note, as MJCF's `balanceinertia` does, instead of refusing the file. Default:
    /// `false`.
    pub balance_inertia: bool,
    /// Collision meshes become shapes: the convex hull of each, with a note. Their files are read.
    /// Without, collision meshes are dropped with a note. Default: `false`.
    pub hulls: bool,
    /// The side file with springs and loops that the model file cannot express; see [`SideFile`].
    /// Text that comes from no file has none beside it. Default: the one beside the model, if there
    /// is one.
    pub side: SideSource,
    /// In which order the joints of one link come in URDF. Default: [`UrdfOrder::Name`]. MJCF is
    /// always in MuJoCo's order; asking for another one is noted.
    pub urdf_order: Option<UrdfOrder>,
}

/// The order of the joints of one link of a URDF file, and so that of the coordinates, which go
/// depth first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UrdfOrder {
    /// By name, as Pinocchio has them.
    #[default]
    Name,
    /// As they stand in the file, as MuJoCo has them.
    Mujoco,
}

/// The order of a mechanism's tree coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoordinateOrder {
    /// That of MuJoCo's `qpos` and `qvel`.
    Mujoco,
    /// Depth first, the joints of a link by name.
    Name,
}

impl CoordinateOrder {
    /// Lower-case name, as in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mujoco => "mujoco",
            Self::Name => "name",
        }
    }
}

/// What a file became.
#[derive(Clone, Debug)]
pub struct Import {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Everything in the file that the mechanism does not hold exactly, in reading order.
    pub notes: Vec<Note>,
    /// End effectors that a side file names: links, or `site:NAME`.
    pub effectors: Vec<String>,
    /// The order of the tree coordinates.
    pub order: CoordinateOrder,
}

/// Reads an MJCF or URDF file; the root element decides which (`mujoco` or `robot`), never the
/// file's name.
///
/// # Errors
/// As [`load_mjcf`] and [`load_urdf`].
pub fn load_model(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    let tree = xml::load(path)?;
    let root = &tree.elements[tree.root];
    if root.tag == urdf::ROOT {
        return finish(urdf::read, tree, Some(path), options);
    }
    if root.tag != read::ROOT {
        let read = "MJCF files are read (outermost element 'mujoco') and URDF files ('robot')";
        return Err(xml::wrong_root(&tree, read));
    }
    finish(read::read, xml::with_includes(tree, Some(path))?, Some(path), options)
}

/// Reads a tree of elements, adds the side file, and looks for what is hardly meant.
fn finish(
    read: fn(&xml::Tree, &ImportOptions) -> Result<Import, ImportError>,
    tree: xml::Tree,
    model: Option<&Path>,
    options: &ImportOptions,
) -> Result<Import, ImportError> {
    let import = read(&tree, options)?;
    let path = match (&options.side, model) {
        (SideSource::File(path), _) => Some(path.clone()),
        (SideSource::Beside, Some(model)) => SideFile::beside(model)?,
        (SideSource::Beside, None) | (SideSource::None, _) => None,
    };
    let mut import = match path {
        Some(path) => SideFile::load(&path)?.apply(import)?,
        None => import,
    };
    redundant::release(&mut import, tree.location(&tree.elements[tree.root]).file.as_deref())?;
    plausible::check(&tree, &mut import);
    Ok(import)
}

/// Reads an MJCF file; `<include>` files are found relative to its directory.
///
/// # Errors
/// The first thing that is wrong or cannot be represented, with file, line, element, attribute and
/// value.
pub fn load_mjcf(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    finish(read::read, xml::with_includes(xml::load(path)?, Some(path))?, Some(path), options)
}

/// Reads MJCF text; `<include>` is an error.
///
/// # Errors
/// As [`load_mjcf`].
pub fn parse_mjcf(text: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    finish(read::read, xml::with_includes(xml::parse(text)?, None)?, None, options)
}

/// Reads a URDF file; mesh files are opened where [`ImportOptions::hulls`] asks for it.
///
/// # Errors
/// The first thing that is wrong or cannot be represented, with file, line, element, attribute and
/// value.
pub fn load_urdf(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    finish(urdf::read, xml::load(path)?, Some(path), options)
}

/// Reads URDF text.
///
/// # Errors
/// As [`load_urdf`].
pub fn parse_urdf(text: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    finish(urdf::read, xml::parse(text)?, None, options)
}
