//! Models of files of any kind, with their skins where they have some.

use std::path::Path;

use forks_blend::Model;
use forks_rom::file::FileError;
use forks_skin::{Skin, SkinnedModel};

use crate::{SkinnedBlend, SoftModelError};

/// Surfaces of a model.
#[derive(Clone, Debug)]
pub enum Skins {
    /// None.
    None,
    /// Of one linearisation.
    One(Vec<Skin>),
    /// Of a blend.
    Blend(Box<SkinnedBlend>),
}

/// What a file of a reduced model holds.
#[derive(Clone, Debug)]
pub struct LoadedModel {
    /// One linearisation, or a blend.
    pub model: Model,
    /// Surfaces that follow; none of most files.
    pub skins: Skins,
}

impl From<Model> for LoadedModel {
    /// A model without skins.
    fn from(model: Model) -> Self {
        Self { model, skins: Skins::None }
    }
}

impl LoadedModel {
    /// Reads a file of a reduced model, of a blend, or of either with skins; its first bytes say
    /// which.
    ///
    /// # Errors
    /// A file that cannot be read, or that is no sound model.
    pub fn load(path: &Path) -> Result<Self, SoftModelError> {
        match Model::load(path) {
            Err(FileError::NotAReducedModel { found }) if SkinnedModel::is_file(&found) => {
                let SkinnedModel { model, skins } = SkinnedModel::load(path)?;
                Ok(Self { model: Model::Reduced(model), skins: Skins::One(skins) })
            }
            Err(FileError::NotAReducedModel { found }) if SkinnedBlend::is_file(&found) => {
                let blend = Box::new(SkinnedBlend::load(path)?);
                let model = Model::Blended(blend.blend().clone());
                Ok(Self { model, skins: Skins::Blend(blend) })
            }
            read => {
                let model = read.map_err(|e| SoftModelError::Skin(e.into()))?;
                Ok(model.into())
            }
        }
    }
}
