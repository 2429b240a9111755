//! CRC-32 as in PNG and zip: finds every error within 32 consecutive bits.

/// x³² + x²⁶ + … + 1, bits reflected.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// Remainders of all bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut r = i as u32;
        let mut bit = 0;
        while bit < 8 {
            r = if r & 1 == 1 { r >> 1 ^ POLYNOMIAL } else { r >> 1 };
            bit += 1;
        }
        table[i] = r;
        i += 1;
    }
    table
};

/// CRC-32 of bytes.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |r, b| TABLE[(r as u8 ^ b) as usize] ^ r >> 8)
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn published_check_values() {
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(&[0; 32]), 0x190A_55AD);
        assert_eq!(crc32(&[0xFF; 32]), 0xFF6C_AB0B);
    }
}
