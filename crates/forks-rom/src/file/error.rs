//! Why bytes are no reduced model.

use forks_lie::Digits;
use thiserror::Error;

use crate::ModelError;

/// Why a reduced model cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The first bytes are not those of a reduced model.
    #[error("this is not a reduced model (it starts with bytes {found:02x?})")]
    NotAReducedModel {
        /// The first bytes, eight at most.
        found: alloc::vec::Vec<u8>,
    },
    /// The first bytes are not those of a blend.
    #[error("this is not a blended model (it starts with bytes {found:02x?})")]
    NotABlend {
        /// The first bytes, eight at most.
        found: alloc::vec::Vec<u8>,
    },
    /// The format has another version.
    #[error("the file has version {found} of the format, this program reads version {supported}")]
    Version {
        /// Version of the file.
        found: u32,
        /// Version that can be read.
        supported: u32,
    },
    /// The numbers are of another kind.
    #[error("the file's numbers have {found} bits, this program reads {supported}")]
    Scalar {
        /// Bits of the file's numbers.
        found: u32,
        /// Bits that can be read.
        supported: u32,
    },
    /// There are fewer or more bytes than the file says of itself.
    #[error("the file has {found} bytes, but should have {declared}")]
    Length {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        declared: u64,
    },
    /// The bytes are not those that were written.
    #[error("the file is damaged: its checksum is {computed:08x}, but should be {stored:08x}")]
    Checksum {
        /// Checksum in the file.
        stored: u32,
        /// Checksum of the bytes.
        computed: u32,
    },
    /// Another section stands where one is expected.
    #[error("section '{found}' stands where '{expected}' should be")]
    Section {
        /// The section found, unprintable characters replaced.
        found: alloc::string::String,
        /// The section expected.
        expected: &'static str,
    },
    /// A section is shorter than what it should hold.
    #[error("section {section}: {field} needs {needed} bytes, {left} are left")]
    TooShort {
        /// The section.
        section: &'static str,
        /// What was read.
        field: &'static str,
        /// Bytes needed; `u64::MAX` if that is not enough to tell.
        needed: u64,
        /// Bytes left in the section.
        left: u64,
    },
    /// A section holds more than it should.
    #[error("section {section} has {left} bytes too many")]
    TooLong {
        /// The section.
        section: &'static str,
        /// Bytes too many.
        left: u64,
    },
    /// A flag, kind or index has an impossible value.
    #[error("section {section}: {field} is {value}")]
    Value {
        /// The section.
        section: &'static str,
        /// What was read.
        field: &'static str,
        /// The value.
        value: u64,
    },
    /// A number is NaN or infinite.
    #[error("section {section}: {field} has the number {value}", value = Digits(*.value))]
    NotFinite {
        /// The section.
        section: &'static str,
        /// What was read.
        field: &'static str,
        /// The number.
        value: f64,
    },
    /// A name is not UTF-8.
    #[error("section {section}: {field} is not UTF-8 text")]
    Text {
        /// The section.
        section: &'static str,
        /// What was read.
        field: &'static str,
    },
    /// The numbers are whole, but make no model.
    #[error("the numbers in the file make no model: {0}")]
    Model(#[from] ModelError),
    /// The system cannot read the file.
    #[cfg(feature = "std")]
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system cannot write the file.
    #[cfg(feature = "std")]
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
