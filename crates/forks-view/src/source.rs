//! What can be shown.

use std::{fmt, sync::Arc};

use forks_direct::Direct;
use forks_mechanism::Mechanism;
use forks_soft::{LoadedModel, tissue::TissueScene};

/// What is shown.
#[derive(Debug)]
pub enum Source {
    /// A mechanism with all its joints.
    Mechanism(Box<MechanismSource>),
    /// A reduced model or a blend, perhaps with skins.
    Reduced {
        /// What it is called.
        title: String,
        /// The model.
        model: Box<LoadedModel>,
    },
    /// A world in contact, with what drives its mechanisms.
    Scene(Box<Direct>),
    /// Tissue on skeletons.
    Tissue(Box<TissueScene>),
    /// Nothing yet: the page says what is wrong until there is something to show.
    Awaited(Awaited),
}

/// Looks whether there is something to show; `None` if nothing has changed, else what there is or
/// what is still wrong.
pub type Again = Box<dyn FnMut() -> Option<Result<Source, String>> + Send>;

/// Something that cannot be shown yet, such as a file with a mistake that is being mended.
pub struct Awaited {
    /// What it is called.
    pub title: String,
    /// What is wrong, in a sentence.
    pub problem: String,
    /// Asked twice a second.
    pub again: Again,
}

impl fmt::Debug for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { title, problem, .. } = self;
        f.debug_struct("Awaited").field("title", title).field("problem", problem).finish()
    }
}

/// A mechanism and where it starts.
#[derive(Clone, Debug)]
pub struct MechanismSource {
    /// Joints, springs and servos.
    pub mechanism: Arc<Mechanism>,
    /// Positions of the tree joints; those of the others follow.
    pub positions: Vec<f64>,
    /// Velocities of the tree joints.
    pub velocities: Vec<f64>,
    /// True: a tree that nothing holds falls. Otherwise its root stays where it is.
    pub falls: bool,
    /// What is not exactly as in the file, for the page.
    pub notes: Vec<String>,
}
