//! Errors of reading.

use forks_mechanism::BuildError;
use thiserror::Error;

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Location {
    /// File name as the user gave it; `None` for text that came from no file.
    pub file: Option<String>,
    /// Line, counted from 1; 0 where unknown.
    pub line: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line) {
            (Some(file), 0) => write!(f, "{file}"),
            (Some(file), line) => write!(f, "{file}:{line}"),
            (None, 0) => write!(f, "text"),
            (None, line) => write!(f, "line {line}"),
        }
    }
}

/// Why a file cannot be read; each message is one sentence with file, line, element, attribute and
/// value.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot read the file: {source}")]
    Io {
        /// The file.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is not UTF-8 text.
    #[error("{file}: the file is not UTF-8 text (byte {offset})")]
    NotText {
        /// The file.
        file: String,
        /// The first byte that is not.
        offset: usize,
    },
    /// The file is larger than any model.
    #[error("{file}: the file is larger than {} MiB, the limit for model files", limit >> 20)]
    TooLarge {
        /// The file.
        file: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The text of a side file is no TOML.
    #[error("{at}: not valid TOML: {problem}")]
    Toml {
        /// Where.
        at: Box<Location>,
        /// What the parser found.
        problem: String,
    },
    /// A loop of a side file cannot be closed.
    #[error(
        "{at}: loop '{name}' cannot be closed: its frames on links '{link_a}' and '{link_b}' stay \
        {position:.4e} m and {angle:.4e} rad apart"
    )]
    OpenLoop {
        /// Where the loop is written.
        at: Box<Location>,
        /// Its name, `#index (link - link)` where it has none.
        name: String,
        /// The link on side a.
        link_a: String,
        /// The link on side b.
        link_b: String,
        /// Smallest distance that was reached, m.
        position: f64,
        /// Angle there, rad.
        angle: f64,
    },
    /// The text is not well-formed XML, or has a document type definition.
    #[error("{at}: not valid XML: {problem}")]
    Xml {
        /// Where.
        at: Box<Location>,
        /// What the parser found.
        problem: String,
    },
    /// An `<include>` that cannot be followed.
    #[error("{at}: include of '{file}': {problem}")]
    Include {
        /// Where the include is.
        at: Box<Location>,
        /// The file to include.
        file: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// The outermost element is that of another format.
    #[error("{at}: the outermost element is '{found}'{guess}; {read}")]
    WrongRoot {
        /// Where.
        at: Box<Location>,
        /// The element.
        found: String,
        /// Which format that is, after a comma; empty where unknown.
        guess: &'static str,
        /// What can be read, with the outermost elements.
        read: &'static str,
    },
    /// An attribute whose value cannot be right.
    #[error("{at}: {element}: {attribute}=\"{value}\" {problem}")]
    Value {
        /// Where.
        at: Box<Location>,
        /// The element, with its name.
        element: String,
        /// The attribute.
        attribute: String,
        /// Its text.
        value: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Attributes that are missing or contradict each other, elements that cannot stand together.
    #[error("{at}: {element}: {problem}")]
    Element {
        /// Where.
        at: Box<Location>,
        /// The element, with its name.
        element: String,
        /// What is wrong.
        problem: String,
    },
    /// A reference to something that does not exist.
    #[error("{at}: {element}: {attribute}=\"{value}\" names no {kind} of this model")]
    UnknownReference {
        /// Where.
        at: Box<Location>,
        /// The element, with its name.
        element: String,
        /// The attribute.
        attribute: String,
        /// The name that was not found.
        value: String,
        /// body, link, joint, site, tendon, default class.
        kind: &'static str,
    },
    /// Two elements of one kind share a name.
    #[error("{at}: {kind} name '{name}' is used twice")]
    DuplicateName {
        /// Where the second one is.
        at: Box<Location>,
        /// body, joint, site, …
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// An element that the format does not have, or not at this place.
    #[error("{at}: element '{element}' is not known inside '{parent}'")]
    UnknownElement {
        /// Where.
        at: Box<Location>,
        /// The element.
        element: String,
        /// The element around it.
        parent: String,
    },
    /// An attribute that the format does not have.
    #[error("{at}: {element}: attribute {attribute}=\"{value}\" is not known")]
    UnknownAttribute {
        /// Where.
        at: Box<Location>,
        /// The element, with its name.
        element: String,
        /// The attribute.
        attribute: String,
        /// Its text.
        value: String,
    },
    /// Valid input that changes kinematics, inertia, springs or loops and cannot be represented.
    #[error("{at}: {element} is not supported: {reason}")]
    Unsupported {
        /// Where.
        at: Box<Location>,
        /// The element, with its name, and the attribute if only that is meant.
        element: String,
        /// Why.
        reason: String,
    },
    /// The parts are readable, but the mechanism is not valid.
    #[error("{file}: {source}")]
    Mechanism {
        /// The main file, or `text`.
        file: String,
        /// What is wrong.
        source: BuildError,
    },
}
