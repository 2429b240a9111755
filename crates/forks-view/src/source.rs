//! What can be shown.

use std::sync::Arc;

use forks_blend::Model;
use forks_mechanism::Mechanism;
use forks_sim::scene::Scene;

/// What is shown.
#[derive(Debug)]
pub enum Source {
    /// A mechanism with all its joints.
    Mechanism(Box<MechanismSource>),
    /// A reduced model or a blend.
    Reduced {
        /// What it is called.
        title: String,
        /// The model.
        model: Box<Model>,
    },
    /// A world in contact.
    Scene(Box<Scene>),
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
