//! Little-endian numbers at places of a file.

use forks_geometry::lie::glam::DVec3;

/// A number of four bytes.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at + 4)?.try_into().ok()
}

/// Three numbers of single precision.
pub(crate) fn point(bytes: &[u8], at: usize) -> Option<DVec3> {
    let x = |i: usize| Some(f64::from(f32::from_le_bytes(word(bytes, at + 4 * i)?)));
    Some(DVec3::new(x(0)?, x(1)?, x(2)?))
}
