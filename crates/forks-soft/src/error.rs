//! Why a soft mechanism is not reduced.

use forks_condense::CondenseError;
use forks_deform::SoftError;
use forks_reduce::ReduceError;
use forks_rom::ModelError;
use forks_skin::SkinError;
use forks_tissue::TissueError;

/// Why there is no problem, model or skin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SoftModelError {
    /// A file of tissue that cannot be read or built.
    #[error(transparent)]
    Tissue(#[from] TissueError),
    /// Tissue that cannot be condensed.
    #[error("tissue '{tissue}': {source}")]
    Condense {
        /// Which.
        tissue: String,
        /// Why.
        source: CondenseError,
    },
    /// A mechanism that cannot be reduced.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// Coordinates or targets that are not a model's.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A surface that cannot follow.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// A search for equilibrium that fails.
    #[error("the search for equilibrium: {0}")]
    Search(SoftError),
    /// No equilibrium was found.
    #[error("no equilibrium: {left} N are left after {newton} steps ({status})")]
    NoEquilibrium {
        /// Largest force that is not balanced, N.
        left: f64,
        /// Newton steps.
        newton: usize,
        /// How the search ended.
        status: &'static str,
    },
    /// A force on what is no pad.
    #[error("effector {effector} is no pad: forces are spread over pads alone")]
    NoPad {
        /// Number of the effector.
        effector: usize,
    },
    /// A scene without pads.
    #[error("the scene has no [[pad]]: there is nothing to reduce its tissue to")]
    NoPads,
    /// A pad without a face of the tissue's surface.
    #[error("pad '{pad}' has no whole face of the tissue's surface: it cannot touch anything")]
    NoSurface {
        /// The pad.
        pad: String,
    },
    /// A body whose form has no volume.
    #[error("body '{body}' has a form without inertia")]
    NoInertia {
        /// The body.
        body: String,
    },
    /// A place that is none.
    #[error(transparent)]
    Place(#[from] forks_sim::scene::SceneError),
    /// A world that refuses something.
    #[error(transparent)]
    World(Box<forks_sim::SimError>),
    /// Samples of a blend, their skins or coordinates that do not belong together.
    #[error("{found} {quantity} instead of {expected}")]
    Samples {
        /// What they are.
        quantity: &'static str,
        /// How many came.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A displacement that no force brings about.
    #[error("no force along the axis moves the pad by {by}")]
    Still {
        /// The relative displacement.
        by: f64,
    },
    /// A servo, which blends of tissue do not know.
    #[error("servo '{name}': blends of tissue have none; leave servos out")]
    Servo {
        /// The servo.
        name: String,
    },
    /// A start in which tissue is stressed.
    #[error(
        "mechanism '{mechanism}' starts with '{joint}' at {value}, where its tissue is not at \
         rest: linearise at the equilibrium, or leave the pose out"
    )]
    Stressed {
        /// The skeleton.
        mechanism: String,
        /// A joint that is not where the tissue has no stress.
        joint: String,
        /// Where it is, rad or m.
        value: f64,
    },
    /// An effector that is neither a pad nor a link.
    #[error("there is no pad or link '{name}'; pads: {pads}; links: {links}")]
    UnknownEffector {
        /// The name.
        name: String,
        /// Names of pads.
        pads: String,
        /// Names of links.
        links: String,
    },
}

impl SoftModelError {
    pub(crate) fn condense(tissue: &str, source: CondenseError) -> Self {
        Self::Condense { tissue: tissue.to_owned(), source }
    }
}
