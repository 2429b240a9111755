//! Blends with skins: several linearisations, each with its own surfaces.
//!
//! A vertex is the mean of where the samples have it, with the blend's weights: x = Σ α_i x_i(η_i).
//! At a sample it is where the sample has it.
//!
//! A file has the header and checksum of [`forks_rom::file`], with the magic
//! `89 46 4F 52 4B 53 42 0D` and version 1, and two sections:
//!
//! | section | content |
//! |---|---|
//! | `BLND` | a file of a blend, whole |
//! | `SKNS` | count of samples; of each a file of its model with skins, whole |

use std::path::Path;

use forks_blend::BlendedModel;
use forks_rom::{
    State,
    internal::files::{Reader, SCALAR, Writer, content, header, load, save},
    lie::glam::DVec3,
};
use forks_skin::{Skin, SkinBuffer, SkinError, SkinnedModel};

use crate::SoftModelError;

/// First bytes.
const MAGIC: [u8; 8] = *b"\x89FORKSB\r";
/// Version of the format.
const VERSION: u32 = 1;
const BLEND: &str = "BLND";
const SKINS: &str = "SKNS";

/// A blend and the surfaces that follow it.
#[derive(Clone, Debug)]
pub struct SkinnedBlend {
    blend: BlendedModel,
    /// Of every sample one for each surface.
    samples: Vec<SkinnedModel>,
}

/// Room for the vertices of all surfaces of a blend.
#[derive(Clone, Debug)]
pub struct BlendedPlaces {
    /// Of every sample: its state, and room for each of its surfaces.
    samples: Vec<(State, Vec<SkinBuffer>)>,
    places: Vec<Vec<DVec3>>,
}

impl SkinnedBlend {
    /// A blend with the skins of its samples, in their order.
    ///
    /// # Errors
    /// Another number of samples, samples with other models or surfaces.
    pub fn new(blend: BlendedModel, samples: Vec<SkinnedModel>) -> Result<Self, SoftModelError> {
        let expected = blend.data().samples.len();
        let size = |quantity, found, expected| match found == expected {
            true => Ok(()),
            false => Err(SoftModelError::Samples { quantity, found, expected }),
        };
        size("samples with skins", samples.len(), expected)?;
        for (of, own) in samples.iter().zip(&blend.data().samples) {
            size("skins of a sample", of.skins.len(), samples[0].skins.len())?;
            size("coordinates of a sample", of.model.dof(), own.model.dof())?;
            for (a, b) in of.skins.iter().zip(&samples[0].skins) {
                size("vertices of a skin", a.len(), b.len())?;
                size("triangles of a skin", a.faces().len(), b.faces().len())?;
            }
        }
        Ok(Self { blend, samples })
    }

    /// The blend.
    pub fn blend(&self) -> &BlendedModel {
        &self.blend
    }

    /// Its surfaces, as the first sample has them.
    pub fn skins(&self) -> &[Skin] {
        self.samples.first().map_or(&[], |s| &s.skins)
    }

    /// Room for all vertices.
    pub fn room(&self) -> BlendedPlaces {
        let rooms = |s: &SkinnedModel| {
            let own = s.skins.iter().map(|k| SkinBuffer::new(k, &s.model)).collect();
            (State::new(&s.model), own)
        };
        let places = self.skins().iter().map(|k| vec![DVec3::ZERO; k.len()]).collect();
        BlendedPlaces { samples: self.samples.iter().map(rooms).collect(), places }
    }

    /// Places all vertices at chart coordinates, world, m: surface by surface.
    ///
    /// # Errors
    /// Another number of coordinates, numbers that are not finite.
    pub fn place<'a>(
        &self,
        x: &[f64],
        room: &'a mut BlendedPlaces,
    ) -> Result<&'a [Vec<DVec3>], SoftModelError> {
        let (found, expected) = (x.len(), self.blend.dof());
        if found != expected {
            let quantity = "coordinates of the blend";
            return Err(SoftModelError::Samples { quantity, found, expected });
        }
        room.places.iter_mut().for_each(|p| p.fill(DVec3::ZERO));
        let weights = self.blend.weights(x);
        for (i, weight) in weights.into_iter().enumerate().filter(|(_, w)| *w > 0.0) {
            let (sample, (state, own)) = (&self.samples[i], &mut room.samples[i]);
            let eta = self.blend.to_sample(x, &sample.model);
            state.set(&eta, &vec![0.0; eta.len()])?;
            for ((skin, buffer), places) in sample.skins.iter().zip(own).zip(&mut room.places) {
                skin.place(&sample.model, state, buffer);
                places.iter_mut().zip(buffer.iter()).for_each(|(p, x)| *p += x * weight);
            }
        }
        Ok(&room.places)
    }

    /// True for the first bytes of such a file.
    pub fn is_file(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(MAGIC, VERSION, SCALAR);
        out.section(BLEND, |out| out.block(&self.blend.to_bytes()));
        out.section(SKINS, |out| {
            out.count(self.samples.len());
            self.samples.iter().for_each(|s| out.block(&s.to_bytes()));
        });
        out.finish()
    }

    /// The blend of a file's bytes, equal in every bit to the one that was written.
    ///
    /// # Errors
    /// Bytes that are no such file, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SoftModelError> {
        let file = |e| SoftModelError::Skin(SkinError::File(e));
        let declared = header(bytes, MAGIC, VERSION).map_err(file)?;
        let body = content(bytes, declared).map_err(file)?;
        let mut all = Reader::new(body, "after the last");
        let mut section = all.section(BLEND).map_err(file)?;
        let blend = section.block("blend").and_then(BlendedModel::from_bytes).map_err(file)?;
        section.end().map_err(file)?;
        let mut section = all.section(SKINS).map_err(file)?;
        let count = section.index("samples").map_err(file)?;
        let mut samples = Vec::new();
        for _ in 0..count {
            samples.push(SkinnedModel::from_bytes(section.block("sample").map_err(file)?)?);
        }
        section.end().map_err(file)?;
        all.end().map_err(file)?;
        Self::new(blend, samples)
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SoftModelError> {
        Ok(save(path.as_ref(), &self.to_bytes()).map_err(SkinError::File)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`SkinnedBlend::from_bytes`]; a file that cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SoftModelError> {
        let check = |bytes: &[u8]| header(bytes, MAGIC, VERSION);
        Self::from_bytes(&load(path.as_ref(), check).map_err(SkinError::File)?)
    }
}
