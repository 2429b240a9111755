//! A reduced model with its skins.

use forks_rom::ReducedModel;

use crate::{Skin, SkinError};

/// A reduced model and the surfaces that follow it.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinnedModel {
    /// The model.
    pub model: ReducedModel,
    /// Its skins.
    pub skins: Vec<Skin>,
}

impl SkinnedModel {
    /// A model with skins that were made for it.
    ///
    /// # Errors
    /// A skin of another number of columns.
    pub fn new(model: ReducedModel, skins: Vec<Skin>) -> Result<Self, SkinError> {
        let expected = model.dof() + model.data().servos.len();
        for s in &skins {
            let found = s.blocks.columns;
            if found != expected {
                let quantity = "columns of the map";
                return Err(SkinError::Size {
                    name: s.name().to_owned(),
                    quantity,
                    found,
                    expected,
                });
            }
        }
        Ok(Self { model, skins })
    }
}
