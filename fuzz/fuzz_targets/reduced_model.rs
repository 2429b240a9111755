//! Files of reduced models and of blends: as they are, and with the length and checksum put right,
//! so that altered bytes get past them to the checks behind.
#![no_main]

use forks_blend::BlendedModel;
use forks_rom::ReducedModel;
use libfuzzer_sys::fuzz_target;

/// CRC-32 as in PNG and zip, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for b in bytes {
        crc ^= u32::from(*b);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fuzz_target!(|bytes: &[u8]| {
    let _ = ReducedModel::from_bytes(bytes);
    let _ = BlendedModel::from_bytes(bytes);
    if bytes.len() < 28 {
        return;
    }
    let mut sound = bytes.to_vec();
    let end = sound.len() - 4;
    let length = sound.len() as u64;
    sound[16..24].copy_from_slice(&length.to_le_bytes());
    let crc = checksum(&sound[..end]);
    sound[end..].copy_from_slice(&crc.to_le_bytes());
    // What is accepted is written to the same bytes.
    if let Ok(model) = ReducedModel::from_bytes(&sound) {
        assert_eq!(model.to_bytes(), sound);
    }
    let _ = BlendedModel::from_bytes(&sound);
});
