//! Models with skins as files.
//!
//! Header and checksum are those of [`forks_rom::file`], with the magic `89 46 4F 52 4B 53 53 0D`
//! and version 1. Two sections follow:
//!
//! | section | content |
//! |---|---|
//! | `MODL` | a file of a reduced model, whole |
//! | `SKIN` | count of skins; each: text name, counts vertices, faces, columns, byte following (0 twist, 1 link), numbers of the places, indices of the faces, of links where they are followed, matrix map |

use std::path::Path;

use forks_rom::{
    ReducedModel,
    internal::files::{Reader, SCALAR, Writer, content, header, load, save},
    lie::glam::DVec3,
};

use crate::{Following, Skin, SkinError, SkinnedModel};

/// First bytes.
const MAGIC: [u8; 8] = *b"\x89FORKSS\r";
/// Version of the format.
const VERSION: u32 = 1;
const MODEL: &str = "MODL";
const SKIN: &str = "SKIN";

impl SkinnedModel {
    /// True for the first bytes of such a file.
    pub fn is_file(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(MAGIC, VERSION, SCALAR);
        out.section(MODEL, |out| out.block(&self.model.to_bytes()));
        out.section(SKIN, |out| {
            out.count(self.skins.len());
            self.skins.iter().for_each(|s| write_skin(out, s));
        });
        out.finish()
    }

    /// The model of a file's bytes, equal in every bit to the one that was written.
    ///
    /// # Errors
    /// Bytes that are no such file, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SkinError> {
        if !Self::is_file(bytes) {
            return Err(SkinError::NotSkinned);
        }
        let declared = header(bytes, MAGIC, VERSION)?;
        let mut file = Reader::new(content(bytes, declared)?, "after the last");
        let mut section = file.section(MODEL)?;
        let model = ReducedModel::from_bytes(section.block("model")?)?;
        section.end()?;
        let mut section = file.section(SKIN)?;
        let count = section.index("skins")?;
        let mut skins = Vec::new();
        for _ in 0..count {
            skins.push(read_skin(&mut section, &model)?);
        }
        section.end()?;
        file.end()?;
        Self::new(model, skins)
    }

    /// Writes a file as [`ReducedModel::save`] does.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SkinError> {
        Ok(save(path.as_ref(), &self.to_bytes())?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`SkinnedModel::from_bytes`]; a file that cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SkinError> {
        Self::from_bytes(&load(path.as_ref(), |bytes| header(bytes, MAGIC, VERSION))?)
    }
}

fn write_skin(out: &mut Writer, s: &Skin) {
    out.block(s.name().as_bytes());
    [s.len(), s.faces().len(), s.map().columns()].into_iter().for_each(|n| out.count(n));
    out.byte(u8::from(*s.following() != Following::Twist));
    out.numbers(s.rest().iter().flat_map(|x| x.to_array()));
    s.faces().iter().flatten().for_each(|v| out.count(*v as usize));
    if let Following::Link(parents) = s.following() {
        parents.iter().for_each(|l| out.count(*l));
    }
    out.matrix(s.map());
}

fn read_skin(r: &mut Reader<'_>, model: &ReducedModel) -> Result<Skin, SkinError> {
    let name = r.text("name")?;
    let (vertices, faces) = (r.index("vertices")?, r.index("faces")?);
    let columns = r.index("columns")?;
    let in_links = r.flag("following")?;
    let rest: Vec<DVec3> = r.list("places", vertices, 24, |r| r.vector("places"))?;
    let corner = |r: &mut Reader<'_>| {
        let mut face = [0; 3];
        for v in &mut face {
            *v = r.small("faces")?;
        }
        Ok(face)
    };
    let faces = r.list("faces", faces, 24, corner)?;
    let following = match in_links {
        false => Following::Twist,
        true => Following::Link(r.list("links", vertices, 8, |r| r.index("links"))?),
    };
    let rows = if in_links { 3 } else { 6 };
    let map = r.matrix("map", vertices.saturating_mul(rows), columns)?;
    Skin::new(name, model, rest, faces, following, map)
}
