//! Numbers as text: little-endian bytes in base 64 (RFC 4648, standard alphabet, padded).

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// Single-precision numbers.
pub(crate) fn f32s(numbers: impl IntoIterator<Item = f32>) -> String {
    encode(numbers.into_iter().flat_map(f32::to_le_bytes))
}

/// Double-precision numbers.
pub(crate) fn f64s(numbers: impl IntoIterator<Item = f64>) -> String {
    encode(numbers.into_iter().flat_map(f64::to_le_bytes))
}

/// Unsigned integers of 16 bits.
pub(crate) fn u16s(numbers: impl IntoIterator<Item = u16>) -> String {
    encode(numbers.into_iter().flat_map(u16::to_le_bytes))
}

/// Unsigned integers of 32 bits.
pub(crate) fn u32s(numbers: impl IntoIterator<Item = u32>) -> String {
    encode(numbers.into_iter().flat_map(u32::to_le_bytes))
}

fn encode(bytes: impl Iterator<Item = u8>) -> String {
    BASE64_STANDARD.encode(bytes.collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(u32s([1]), "AQAAAA==");
        assert_eq!(f32s([1.0]), "AACAPw==");
        assert_eq!(f64s([1.0]), "AAAAAAAA8D8=");
    }
}
