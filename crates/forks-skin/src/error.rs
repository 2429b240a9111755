//! Why there is no such skin.

use forks_rom::file::FileError;

/// Why numbers make no skin, or bytes no file of one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// A list or map of another size.
    #[error("skin '{name}': {quantity} has {found} entries, expected {expected}")]
    Size {
        /// The skin.
        name: String,
        /// What has the size.
        quantity: &'static str,
        /// Size found.
        found: usize,
        /// Size needed.
        expected: usize,
    },
    /// A number that is not finite.
    #[error("skin '{name}': vertex {vertex} has a number that is not finite")]
    NotFinite {
        /// The skin.
        name: String,
        /// The vertex.
        vertex: usize,
    },
    /// A vertex or link that is not there.
    #[error("skin '{name}': {quantity} {found} of {count}")]
    Index {
        /// The skin.
        name: String,
        /// What it is.
        quantity: &'static str,
        /// Its index.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// Bytes that are no file of a model with skins.
    #[error("the first bytes are no reduced model with skins")]
    NotSkinned,
    /// A damaged file, or one that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}
