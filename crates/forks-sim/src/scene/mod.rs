//! Scenes: worlds from TOML files, with what servos and forces do over time (feature `scene`).
//!
//! ```toml
//! title = "A helix pressed on the ground"
//! [[mechanism]]
//! name = "helix"
//! parametric = "helix20"
//! effectors = ["link19"]
//! shape = [{ form = { sphere = { radius = 0.02 } } }]
//! [[ground]]
//! form = { plane = {} }
//! position = [0, 0, -0.3]
//! [[action]]
//! mechanism = "helix"
//! effector = "link19"
//! direction = [0, 0, -1]
//! times = [0, 1]
//! values = [0, 20]
//! ```

mod action;
mod build;
mod combine;
mod error;
mod export;
mod form;
mod form_spec;
#[cfg(feature = "twin")]
mod full;
mod mechanism;
mod reach;
mod script;
pub mod spec;

use std::path::Path;

use forks_lie::Pose;

pub use action::Script;
pub use error::SceneError;
pub use export::{Control, ExportedOwner, ExportedScene};
pub use mechanism::{SceneMechanism, meant};
pub use script::Schedule;

use crate::{BodyHandle, CollisionShape, MechanismHandle, Owner, RigidBody, StepReport, World};
use spec::SceneSpec;

/// Which solver steps the mechanisms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// Reduced models (single, blended or floating).
    #[default]
    Reduced,
    /// The full reference solver with the same contacts.
    #[cfg(feature = "twin")]
    Full,
}

/// A world with what happens in it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// As the file says.
    pub spec: SceneSpec,
    /// The world.
    pub world: World,
    /// Its mechanisms as they were before they were reduced, in the order of their handles.
    pub mechanisms: Vec<SceneMechanism>,
    /// Its free bodies as they start, in the order of their handles.
    pub bodies: Vec<RigidBody>,
    /// What is not exactly as the files say.
    pub notes: Vec<String>,
    /// Every shape with its owner.
    shapes: Vec<(Owner, CollisionShape)>,
    /// What happens.
    pub script: Script,
}

impl SceneSpec {
    /// Paragraphs of what the file says about the scene, each in one line.
    pub fn paragraphs(&self) -> impl Iterator<Item = String> + '_ {
        let line = |p: &str| p.split_whitespace().collect::<Vec<_>>().join(" ");
        self.about.split("\n\n").map(line).filter(|p| !p.is_empty())
    }

    /// Reads a scene file.
    ///
    /// # Errors
    /// A file that cannot be read, text that is no scene, with the line.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| SceneError::Read { file: file.clone(), source })?;
        Self::parse(&text, &file)
    }

    /// Reads a scene from text; `file` is its name in messages.
    ///
    /// # Errors
    /// Text that is no scene, with the line.
    pub fn parse(text: &str, file: &str) -> Result<Self, SceneError> {
        toml::from_str(text).map_err(|e| SceneError::Syntax {
            file: file.into(),
            message: e.to_string().trim_end().to_owned(),
        })
    }
}

impl Scene {
    /// Loads and builds a scene file; the files that it names are looked for from its folder.
    ///
    /// # Errors
    /// What is wrong with the scene, its models or its world.
    pub fn load(path: &Path, fidelity: Fidelity) -> Result<Self, SceneError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::build(SceneSpec::load(path)?, folder, fidelity)
    }

    /// Applies what happens now and makes a step.
    pub fn step(&mut self) -> StepReport {
        self.script.act(&mut self.world).expect("the script of this world");
        self.world.step()
    }

    /// Steps until the scene's end.
    pub fn step_count(&self) -> u64 {
        (self.spec.world.duration / self.spec.world.step).round() as u64
    }

    /// A body by its name.
    pub fn body(&self, name: &str) -> Option<BodyHandle> {
        self.spec.bodies.iter().position(|b| b.name == name).map(BodyHandle)
    }

    /// A mechanism by its name.
    pub fn mechanism(&self, name: &str) -> Option<MechanismHandle> {
        self.mechanisms.iter().position(|m| m.name == name).map(MechanismHandle)
    }

    /// Every shape with its owner, as they were added to the world.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = (Owner, &CollisionShape)> {
        self.shapes.iter().map(|(o, s)| (*o, s))
    }

    /// World from an owner of shapes.
    ///
    /// # Panics
    /// If the owner is of another world.
    pub fn owner_pose(&self, owner: Owner) -> Pose {
        let found = match owner {
            Owner::World => return Pose::IDENTITY,
            Owner::Body(b) => self.world.body_pose(b),
            Owner::Effector { mechanism, effector } => {
                self.world.effector_pose(mechanism, effector)
            }
        };
        found.expect("an owner of this scene")
    }

    /// What an owner of shapes is called: a body's name, `MECHANISM/EFFECTOR`, `world`.
    pub fn owner_name(&self, owner: Owner) -> String {
        match owner {
            Owner::World => "world".into(),
            Owner::Body(b) => self.spec.bodies[b.0].name.clone(),
            Owner::Effector { mechanism, effector } => {
                let m = &self.mechanisms[mechanism.0];
                format!("{}/{}", m.name, m.effectors[effector])
            }
        }
    }
}
