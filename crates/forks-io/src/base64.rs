//! Numbers as text: little-endian bytes in base 64 (RFC 4648, standard alphabet, padded).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base 64: four characters for every three bytes begun.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let six = (word >> (18 - 6 * i)) & 63;
            // A chunk of n bytes fills n + 1 characters.
            out.push(if i <= chunk.len() { char::from(ALPHABET[six as usize]) } else { '=' });
        }
    }
    out
}

/// Single-precision numbers.
pub(crate) fn f32s(numbers: impl IntoIterator<Item = f32>) -> String {
    encode(&numbers.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
}

/// Double-precision numbers.
pub(crate) fn f64s(numbers: impl IntoIterator<Item = f64>) -> String {
    encode(&numbers.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}

/// Unsigned integers of 32 bits.
pub(crate) fn u32s(numbers: impl IntoIterator<Item = u32>) -> String {
    encode(&numbers.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4648, section 10.
    #[test]
    fn the_standards_examples() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xbf]), "+/+/", "the last two letters of the alphabet");
    }

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(u32s([1]), encode(&[1, 0, 0, 0]));
        assert_eq!(f32s([1.0]), encode(&[0, 0, 0x80, 0x3f]));
        assert_eq!(f64s([1.0]), encode(&[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]));
    }
}
