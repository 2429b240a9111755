//! XML files as one tree of elements; includes are resolved where the format has them.

mod include;
mod text;
mod tree;

pub(crate) use include::{load, parse, with_includes};
pub(crate) use tree::{Element, Tree, XACRO};

use crate::ImportError;

/// What an outermost element of other programs says about its file.
const FORMATS: [(&str, &str); 9] = [
    ("robot", ", so this is a URDF file"),
    ("mujoco", ", so this is an MJCF file"),
    ("mujocoinclude", ", so this is a part of an MJCF file, for others to include"),
    ("sdf", ", so this is an SDF file of Gazebo"),
    ("gazebo", ", so this is an old SDF file of Gazebo"),
    ("world", ", so this is a part of an SDF file"),
    ("model", ", so this is a part of an SDF file"),
    ("COLLADA", ", so this is a mesh file in COLLADA"),
    ("OpenSimDocument", ", so this is a model of OpenSim"),
];

/// The error for a file of another format.
pub(crate) fn wrong_root(tree: &Tree, read: &'static str) -> ImportError {
    let root = &tree.elements[tree.root];
    let xacro = root.tag.starts_with(XACRO);
    let known = FORMATS.iter().find(|(tag, _)| *tag == root.tag).map(|(_, guess)| *guess);
    ImportError::WrongRoot {
        at: Box::new(tree.location(root)),
        found: root.tag.clone(),
        guess: match known {
            Some(guess) => guess,
            None if xacro => ", which the program xacro has to expand first",
            None => "",
        },
        read,
    }
}
