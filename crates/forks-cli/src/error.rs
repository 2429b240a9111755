//! Everything that ends the program with exit code 1.

use std::path::PathBuf;

use forks_direct::DirectError;
use forks_import::ImportError;
use forks_io::IoError;
use forks_mechanism::{BuildError, lie::Digits};
use forks_reduce::ReduceError;
use forks_rom::{ModelError, file::FileError};
use forks_sim::{SimError, scene::SceneError};
use forks_tissue::TissueError;
use forks_view::ViewError;
use thiserror::Error;

/// Why a command cannot give its result; every message is one sentence.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The model cannot be read.
    #[error(transparent)]
    Import(Box<ImportError>),
    /// The result cannot be written.
    #[error(transparent)]
    Output(#[from] IoError),
    /// Inverse kinematics are refused.
    #[error("{}: {source}", path.display())]
    Pose {
        /// The model.
        path: PathBuf,
        /// Why.
        source: forks_control::ik::IkError,
    },
    /// Keyframes, or a playback of them, that fail.
    #[error("{}: {problem}", path.display())]
    Keys {
        /// The keys, or the model.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A pose that is not the one asked for; it is printed all the same.
    #[error("{}: {problem}", path.display())]
    NotReached {
        /// The model.
        path: PathBuf,
        /// What is missing.
        problem: String,
    },
    /// A name that no link or site has.
    #[error("{}: there is no '{name}'; its {kind} are {known}", path.display())]
    UnknownLink {
        /// The model.
        path: PathBuf,
        /// What was given.
        name: String,
        /// Links or sites.
        kind: &'static str,
        /// What is there.
        known: String,
    },
    /// A scene cannot be read; the message names the file.
    #[error(transparent)]
    SceneFile(Box<SceneError>),
    /// A scene cannot be built or exported.
    #[error("{}: {source}", path.display())]
    Scene {
        /// The scene, or the mechanism that it is about.
        path: PathBuf,
        /// Why.
        source: Box<SceneError>,
    },
    /// A scene with tissue cannot be read; the message names the file.
    #[error(transparent)]
    TissueFile(Box<TissueError>),
    /// A scene with tissue cannot be built.
    #[error("{}: {source}", path.display())]
    Tissue {
        /// The scene.
        path: PathBuf,
        /// Why.
        source: Box<TissueError>,
    },
    /// Tissue cannot be reduced, or a model with a skin not be read.
    #[error("{}: {source}", path.display())]
    Soft {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<forks_soft::SoftModelError>,
    },
    /// A scene cannot be driven.
    #[error("{}: {source}", path.display())]
    Direct {
        /// The scene.
        path: PathBuf,
        /// Why.
        source: Box<DirectError>,
    },
    /// A name that does not tell what to write; an error of usage.
    #[error("{}: the name does not tell what to write; it has to end in .csv, .json, .html or \
        .glb", path.display())]
    OutputName {
        /// The file.
        path: PathBuf,
    },
    /// The model cannot be reduced or prepared.
    #[error("{}: {source}", path.display())]
    Reduce {
        /// The model.
        path: PathBuf,
        /// Why.
        source: Box<ReduceError>,
    },
    /// A file that holds no superelement of the model.
    #[error("{problem}")]
    Superelement {
        /// File and reason.
        problem: String,
    },
    /// No blend can be built.
    #[error("{}: {source}", path.display())]
    Blend {
        /// The model.
        path: PathBuf,
        /// Why.
        source: Box<forks_place::BlendError>,
    },
    /// The system cannot read the file of a reduced model.
    #[error(transparent)]
    Unreadable(FileError),
    /// A file is no sound reduced model.
    #[error("{}: {problem}{hint}", path.display())]
    ReducedFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Box<FileError>,
        /// What to do instead, where that is known.
        hint: &'static str,
    },
    /// A model cannot be shown.
    #[error("{}: {source}", path.display())]
    View {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ViewError,
    },
    /// A mechanism whose joints shall stop or rub cannot be stepped.
    #[error("{}: {source}", path.display())]
    World {
        /// The file.
        path: PathBuf,
        /// Why.
        source: SimError,
    },
    /// A reduced model cannot be stepped as asked for.
    #[error("{}: {source}", path.display())]
    Step {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ModelError,
    },
    /// A kind of model does not have what an option asks for.
    #[error("{}: {kind} cannot be stepped with {option}; {instead}", path.display())]
    NotForModel {
        /// The file.
        path: PathBuf,
        /// The kind.
        kind: &'static str,
        /// The option.
        option: &'static str,
        /// What there is.
        instead: &'static str,
    },
    /// A reduced model has no effector or servo of that name.
    #[error("{}: the reduced model has no {what} '{name}' (it has {known})", path.display())]
    UnknownName {
        /// The file.
        path: PathBuf,
        /// Effector or servo.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// It is not said which effector a wrench acts on.
    #[error("{}: --wrench needs --effector, the reduced model has {known}", path.display())]
    WhichEffector {
        /// The file.
        path: PathBuf,
        /// The effectors there are.
        known: String,
    },
    /// Motions that nothing resists; the sentence names them.
    #[error("{}: {problem}", path.display())]
    Unresisted {
        /// The model.
        path: PathBuf,
        /// Joints, links, what helps.
        problem: String,
    },
    /// The effectors cannot move.
    #[error("{}: {problem}", path.display())]
    Immobile {
        /// The model.
        path: PathBuf,
        /// Effectors and what holds them.
        problem: String,
    },
    /// The result is of no use for what was asked; what there is is printed all the same.
    #[error("{}: {problem}", path.display())]
    Unusable {
        /// The model.
        path: PathBuf,
        /// What happened, and what to do.
        problem: String,
    },
    /// The algorithm of a command does not do what the model needs.
    #[error("{}: not for `forks {command}`: {problem}", path.display())]
    NotSupported {
        /// The model.
        path: PathBuf,
        /// The command.
        command: &'static str,
        /// Which joint, link or spring, and why.
        problem: String,
    },
    /// There is no equilibrium to linearise at.
    #[error("{}: no equilibrium under gravity and spring preloads to linearise at: \
        {problem}", path.display())]
    NoEquilibrium {
        /// The model.
        path: PathBuf,
        /// Status and what it means.
        problem: String,
    },
    /// Servos cannot become springs.
    #[error("{}: cannot turn servos into springs: {source}", path.display())]
    Servos {
        /// The model.
        path: PathBuf,
        /// Why.
        source: BuildError,
    },
    /// Tasks, limits or joints that a model does not have, or a state that cannot be stepped.
    #[error("{}: {problem}", path.display())]
    Control {
        /// The model.
        path: PathBuf,
        /// What is wrong, with names and values.
        problem: String,
    },
    /// There are no accelerations in the given state.
    #[error("{}: no accelerations: {problem}", path.display())]
    NoAccelerations {
        /// The model.
        path: PathBuf,
        /// Status and joints.
        problem: String,
    },
    /// The loads could not be balanced; what was reached is printed all the same.
    #[error("{}: no equilibrium under these loads: {problem}", path.display())]
    NotBalanced {
        /// The model.
        path: PathBuf,
        /// Status and what it means.
        problem: String,
    },
    /// A run did not come to its end, or not within what can be vouched for; what was reached is
    /// printed all the same.
    #[error("{}: {problem}", path.display())]
    Stopped {
        /// The model.
        path: PathBuf,
        /// What happened, when, and what to do about it.
        problem: String,
    },
    /// No end effector to work with; an error of usage.
    #[error("no end effector: {problem}; use --effector LINK, or name it in a side file")]
    NoEffector {
        /// Why.
        problem: &'static str,
    },
    /// The state is wrong; says where it comes from.
    #[error("{place}: {problem}")]
    State {
        /// The state file, or the model for a keyframe.
        place: String,
        /// What is wrong.
        problem: Box<CliError>,
    },
    /// The state puts a link out of reach of the numbers.
    #[error("{}: the state puts link '{link}' at a position that is not a number", path.display())]
    FarAway {
        /// The model.
        path: PathBuf,
        /// The link.
        link: String,
    },
    /// Stdout is gone.
    #[error("cannot write to standard output: {0}")]
    Stdout(std::io::Error),
    /// The state file cannot be opened.
    #[error("{}: cannot read the state: {source}", path.display())]
    StateFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The state file is not what it should be.
    #[error("{}: not a state: {problem}", path.display())]
    StateSyntax {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        problem: String,
    },
    /// The model has no keyframe of that name.
    #[error("the model has no keyframe '{name}' (it has {known})")]
    UnknownKeyframe {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The state does not fit the model.
    #[error("the state's {field} has {found} numbers, the model has {expected} coordinates")]
    StateLength {
        /// `qpos` or `qvel`.
        field: &'static str,
        /// Numbers found.
        found: usize,
        /// Numbers needed.
        expected: usize,
    },
    /// A number of the state is impossible.
    #[error("the state's {field}[{index}] is {value}, {problem}", value = Digits(*.value))]
    StateValue {
        /// `qpos` or `qvel`.
        field: &'static str,
        /// Index of the number.
        index: usize,
        /// The number.
        value: f64,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl From<ImportError> for CliError {
    fn from(e: ImportError) -> Self {
        Self::Import(Box::new(e))
    }
}
