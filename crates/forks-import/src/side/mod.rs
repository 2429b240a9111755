//! Side files `MODEL.forks.toml`: what a model file cannot say. Springs, damping, rest and start
//! positions of joints, closures of loops between frames of two links, end effectors.

mod apply;
mod close;
mod read;
mod table;

use std::path::{Path, PathBuf};

use forks_mechanism::{JointKind, lie::Pose};

use crate::{ImportError, Location, text_file};

/// What the names of side files end with.
const ENDING: &str = "forks.toml";

/// Where the side file of a model comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SideSource {
    /// `MODEL.forks.toml` beside the model, with or without the ending of the model's name, if
    /// there is one.
    #[default]
    Beside,
    /// This file.
    File(PathBuf),
    /// None.
    None,
}

/// What a side file says; [`SideFile::parse`] shows the form.
#[derive(Clone, Debug, Default)]
pub struct SideFile {
    file: Option<String>,
    effectors: Vec<(Location, String)>,
    joints: Vec<JointEntry>,
    loops: Vec<LoopEntry>,
}

/// Numbers with the place that they stand at.
#[derive(Clone, Debug)]
struct Numbers {
    at: Location,
    /// The key.
    key: &'static str,
    list: Vec<f64>,
}

/// What is said about one joint.
#[derive(Clone, Debug)]
struct JointEntry {
    at: Location,
    name: String,
    stiffness: Option<Numbers>,
    damping: Option<Numbers>,
    armature: Option<Numbers>,
    friction: Option<Numbers>,
    rest: Option<Numbers>,
    start: Option<Numbers>,
}

/// One closure: the frames on both sides coincide up to the motion of the joint.
#[derive(Clone, Debug)]
struct LoopEntry {
    at: Location,
    name: String,
    kind: JointKind,
    a: LoopEnd,
    b: LoopEnd,
    stiffness: Option<Numbers>,
    damping: Option<Numbers>,
}

/// A frame on a link.
#[derive(Clone, Debug)]
struct LoopEnd {
    at: Location,
    /// Link, or `site:NAME` for a named frame of the model.
    link: String,
    /// Pose of the frame in the link (in the named frame).
    frame: Pose,
}

impl SideFile {
    /// Reads a side file.
    ///
    /// # Errors
    /// As [`SideFile::parse`]; a file that cannot be read.
    pub fn load(path: &Path) -> Result<Self, ImportError> {
        read::parse(&text_file::read(path)?, Some(path.display().to_string()))
    }

    /// Reads the text of a side file.
    ///
    /// ```
    /// let side = forks_import::SideFile::parse(r#"
    ///     effectors = ["tip"]
    ///
    ///     [joints.knee]
    ///     stiffness = 40     # N/m or N·m/rad; also one number per coordinate
    ///     damping = 0.2
    ///     rest = 0.1         # default: the start pose
    ///     start = 0.3        # default: the model's own
    ///
    ///     [[loops]]
    ///     type = "hinge"     # also weld, ball, slide, cylindrical, planar
    ///     axis = [0, 1, 0]
    ///     a = { link = "rod", xyz = [0, 0, -0.4], rpy = [0, 0, 0] }
    ///     b = "crank"        # the frame of the link itself
    /// "#)?;
    /// assert_eq!(side.effectors().collect::<Vec<_>>(), ["tip"]);
    /// # Ok::<(), forks_import::ImportError>(())
    /// ```
    ///
    /// # Errors
    /// Text that is no TOML; unknown keys, values of a wrong kind, numbers that are not finite,
    /// stiffness and damping that are negative: with line, key and value.
    pub fn parse(text: &str) -> Result<Self, ImportError> {
        read::parse(text, None)
    }

    /// The side file beside a model: `a.urdf.forks.toml` or `a.forks.toml` for `a.urdf`.
    ///
    /// # Errors
    /// Both exist.
    pub fn beside(model: &Path) -> Result<Option<PathBuf>, ImportError> {
        let full = PathBuf::from(format!("{}.{ENDING}", model.display()));
        let short = model.with_extension(ENDING);
        match (full.is_file(), short.is_file() && short != full) {
            (true, true) => Err(ImportError::Element {
                at: Box::new(Location { file: Some(model.display().to_string()), line: 0 }),
                element: "side file".into(),
                problem: format!(
                    "both '{}' and '{}' exist; only one can count",
                    full.display(),
                    short.display()
                ),
            }),
            (true, false) => Ok(Some(full)),
            (false, true) => Ok(Some(short)),
            (false, false) => Ok(None),
        }
    }

    /// Names of the end effectors.
    pub fn effectors(&self) -> impl Iterator<Item = &str> {
        self.effectors.iter().map(|(_, name)| name.as_str())
    }

    /// Gives every coordinate of a joint this stiffness; `origin` is what messages call the source
    /// of the number.
    pub fn set_stiffness(&mut self, joint: &str, stiffness: f64, origin: &str) {
        let value = numbers("stiffness", stiffness, origin);
        self.entry(joint, origin).stiffness = Some(value);
    }

    /// Gives every coordinate of a joint this damping.
    pub fn set_damping(&mut self, joint: &str, damping: f64, origin: &str) {
        let value = numbers("damping", damping, origin);
        self.entry(joint, origin).damping = Some(value);
    }

    /// Adds a closure between the frames of two links (or `site:NAME`); kinds that need an axis
    /// turn about or slide along the frames' z axes.
    ///
    /// # Errors
    /// A kind that is not one of those of [`SideFile::parse`].
    pub fn add_loop(
        &mut self,
        kind: &str,
        link_a: &str,
        link_b: &str,
        origin: &str,
    ) -> Result<(), ImportError> {
        let at = place(origin);
        let end = |link: &str| LoopEnd { at: at.clone(), link: link.into(), frame: Pose::IDENTITY };
        let kind = read::loop_kind(kind, None).ok_or_else(|| ImportError::Value {
            at: Box::new(at.clone()),
            element: "loop".into(),
            attribute: "type".into(),
            value: kind.into(),
            problem: read::one_of_kinds(),
        })?;
        let (a, b) = (end(link_a), end(link_b));
        let name = String::new();
        self.loops.push(LoopEntry { at, name, kind, a, b, stiffness: None, damping: None });
        Ok(())
    }

    /// The entry of a joint, made where there is none.
    fn entry(&mut self, joint: &str, origin: &str) -> &mut JointEntry {
        let i = self.joints.iter().position(|j| j.name == joint).unwrap_or_else(|| {
            self.joints.push(JointEntry {
                at: place(origin),
                name: joint.into(),
                stiffness: None,
                damping: None,
                armature: None,
                friction: None,
                rest: None,
                start: None,
            });
            self.joints.len() - 1
        });
        &mut self.joints[i]
    }
}

fn place(origin: &str) -> Location {
    Location { file: Some(origin.into()), line: 0 }
}

fn numbers(key: &'static str, x: f64, origin: &str) -> Numbers {
    Numbers { at: place(origin), key, list: vec![x] }
}
