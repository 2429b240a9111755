//! Reduced models as files.
//!
//! # Layout
//! Little endian throughout. *number*: IEEE 754 binary64, finite; *count* and *index*: unsigned, 8
//! bytes; *flag*: one byte, 0 or 1; *text*: a count of bytes, then UTF-8; *pose*: position x, y, z,
//! then quaternion w, x, y, z; *twist* and *wrench*: six numbers, linear part first; *matrix*: its
//! numbers row by row, its size follows from the counts.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `89 46 4F 52 4B 53 0D 0A` (`.FORKS..`) |
//! | 8 | 4 | version of the format, 1 |
//! | 12 | 4 | scalar: bits of a number, 64 |
//! | 16 | 8 | length of the whole file |
//! | 24 | … | sections |
//! | length − 4 | 4 | CRC-32 (polynomial 0x04C11DB7, reflected, as in PNG and zip) of all bytes before it |
//!
//! A section is a name of 4 bytes, a count of bytes and so many bytes. All seven are there, in this
//! order; E, n, s are the numbers of effectors, reduced coordinates and servos.
//!
//! | section | content |
//! |---|---|
//! | `SIZE` | counts n, E, s, links, joints; flag: has a base; numbers radius, range (alone may be infinite) |
//! | `SERV` | s texts: names of the servos |
//! | `EFFE` | per effector: text name, index link, pose link_from_effector, pose rest, wrench static_wrench |
//! | `DYNA` | matrices basis 6E × n, hessian, mass, damping n × n, servo_rest n × s |
//! | `LINK` | per link: text name, flag auxiliary, pose rest, matrices map 6 × n, servo_map 6 × s |
//! | `JOIN` | per joint: text name, flag closes_loop, indices inner, outer, pose inner_from_outer, flag reversed, poses parent_from_joint, child_from_joint, count d, path, matrices map d × n, servo_map d × s, wrench static_load, flag: has a load map, matrix load_map 6 × n if it has |
//! | `BASE` | nothing, or: index link, matrices inertia 6 × 6, coupling 6 × n, n slopes 6 × 6, n slopes 6 × n of the coupling, own_inertia 6 × 6, three numbers gravity |
//!
//! A path starts with one byte: 0 exponential, then d twists; 1 product, then d times index and
//! twist; 2 subspace, then pose before, d twists, d numbers start, pose after, flag inverted.
//!
//! # Versions
//! A reader accepts exactly the versions it knows, and refuses any other by its number. Every
//! change of what is stored, an added field too, is a new version; a later release reads the older
//! versions that it lists here. There is one so far: 1.
//!
//! # Damage
//! Nothing is allocated for a declared size before that many bytes are known to be there. The
//! checksum finds every altered byte; beyond it all numbers, sizes, indices and names are checked,
//! and [`ReducedModel::new`] has the last word. The checksum guards against damage, not against
//! forgery.

#[cfg(feature = "std")]
pub(crate) mod disk;
mod error;
pub(crate) mod json;
pub(crate) mod read;
pub(crate) mod reader;
pub(crate) mod write;

use alloc::vec::Vec;

pub use error::FileError;

use crate::ReducedModel;

/// First bytes of a file: not ASCII, and with a line end, so that text modes and 7-bit channels
/// show.
const MAGIC: [u8; 8] = *b"\x89FORKS\r\n";
/// Version of the format.
const VERSION: u32 = 1;
/// Bits of a number.
pub const SCALAR: u32 = 64;
/// Bytes before the first section.
const HEADER: usize = 24;
/// Bytes of the checksum.
const CHECKSUM: usize = 4;

/// Names of the sections.
mod section {
    pub(super) const SIZE: &str = "SIZE";
    pub(super) const SERV: &str = "SERV";
    pub(super) const EFFE: &str = "EFFE";
    pub(super) const DYNA: &str = "DYNA";
    pub(super) const LINK: &str = "LINK";
    pub(super) const JOIN: &str = "JOIN";
    pub(super) const BASE: &str = "BASE";
}

/// Bytes that stand for the kinds of joint paths.
mod path_kind {
    pub(super) const EXPONENTIAL: u8 = 0;
    pub(super) const PRODUCT: u8 = 1;
    pub(super) const SUBSPACE: u8 = 2;
}

impl ReducedModel {
    /// The model as the bytes of a file; see the [format](crate::file).
    pub fn to_bytes(&self) -> Vec<u8> {
        write::write(self.data())
    }

    /// The model of a file's bytes: equal in every bit to the one that was written.
    ///
    /// # Errors
    /// [`FileError`] where the bytes are no such file, are damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        Ok(Self::new(read::read(bytes)?)?)
    }

    /// The numbers as JSON, for other programs; see [`ModelData`](crate::data::ModelData) for what
    /// they are.
    ///
    /// Fields are named as there; matrices are arrays of rows, twists and wrenches arrays of six
    /// numbers with the linear part first, poses
    /// `{"position": [x, y, z], "quaternion_wxyz": [w, x, y, z]}`. Numbers have the fewest digits
    /// that read back as the same `f64`; a range without limit is `null`.
    pub fn to_json(&self) -> alloc::string::String {
        json::text(self.data())
    }
}
