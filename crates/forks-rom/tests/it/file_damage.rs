//! Files that are cut, altered, foreign, newer or hostile: a clear error, no panic, no memory for
//! what is not there.

use crate::file_support;

use file_support::{CHECKSUM, HEADER, crc32, one_of_everything, reseal, seal, small};
use forks_rom::{ModelError, ReducedModel, data::ModelData, file::FileError};
use proptest::prelude::*;

fn error(bytes: &[u8]) -> FileError {
    ReducedModel::from_bytes(bytes).expect_err("an error")
}

#[test]
fn every_altered_byte_is_found() {
    // Every single bit, then all of them.
    altered_bytes_are_found([1, 2, 4, 8, 16, 32, 64, 128, 255]);
}

/// Half a minute without optimisation.
#[test]
#[ignore = "slow without optimisation"]
fn every_alteration_of_every_byte_is_found() {
    altered_bytes_are_found(1..=255);
}

fn altered_bytes_are_found(changes: impl IntoIterator<Item = u8> + Clone) {
    let sound = small().to_bytes();
    let mut bytes = sound.clone();
    for i in 0..bytes.len() {
        for change in changes.clone() {
            bytes[i] = sound[i] ^ change;
            let e = error(&bytes);
            let as_expected = match i {
                0..8 => matches!(e, FileError::NotAReducedModel { .. }),
                8..12 => matches!(e, FileError::Version { supported: 1, .. }),
                12..16 => matches!(e, FileError::Scalar { supported: 64, .. }),
                16..24 => matches!(e, FileError::Length { .. }),
                _ => matches!(e, FileError::Checksum { .. }),
            };
            assert!(as_expected, "byte {i}: {e}");
        }
        bytes[i] = sound[i];
    }
}

#[test]
fn every_cut_is_found() {
    let bytes = small().to_bytes();
    for n in 0..bytes.len() {
        let e = error(&bytes[..n]);
        let as_expected = match n {
            0 => matches!(e, FileError::NotAReducedModel { .. }),
            _ => {
                matches!(
                    e,
                    FileError::Length { found, declared }
                        if found == n as u64 && declared > found
                )
            }
        };
        assert!(as_expected, "{n} bytes: {e}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(matches!(error(&longer), FileError::Length { .. }));
}

/// Cuts behind which length and checksum fit again: the sections themselves show them.
#[test]
fn every_sealed_cut_is_found() {
    let bytes = small().to_bytes();
    let end = bytes.len() - CHECKSUM;
    for n in HEADER..end {
        let cut = seal([&bytes[..n], &[0; CHECKSUM]].concat());
        let e = error(&cut);
        assert!(matches!(e, FileError::TooShort { .. }), "{n} bytes: {e}");
    }
    let longer = seal([&bytes[..end], &[0; CHECKSUM + 1]].concat());
    assert!(matches!(error(&longer), FileError::TooLong { left: 1, .. }));
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    let xml = error(b"<mujoco model=\"arm\">");
    assert_eq!(
        xml.to_string(),
        "this is not a reduced model (it starts with bytes [3c, 6d, 75, 6a, 6f, 63, 6f, 20])"
    );
    let mut newer = small().to_bytes();
    newer[8] = 2;
    let e = error(&reseal(newer));
    assert_eq!(e.to_string(), "the file has version 2 of the format, this program reads version 1");
    let mut single = small().to_bytes();
    single[12] = 32;
    let e = error(&reseal(single));
    assert_eq!(e.to_string(), "the file's numbers have 32 bits, this program reads 64");
}

/// Where a value of the small model stands: found by its bytes, which occur once.
fn at(bytes: &[u8], value: &[u8]) -> usize {
    let mut places = bytes.windows(value.len()).enumerate().filter(|(_, w)| *w == value);
    let (place, _) = places.next().expect("the value is in the file");
    assert!(places.next().is_none(), "the value occurs once");
    place
}

fn altered(value: &[u8], new: &[u8]) -> FileError {
    let mut bytes = small().to_bytes();
    let place = at(&bytes, value);
    bytes[place..place + new.len()].copy_from_slice(new);
    error(&reseal(bytes))
}

#[test]
fn impossible_values_are_named() {
    let data = one_of_everything();
    let nan = altered(&data.basis[(0, 0)].to_le_bytes(), &f64::NAN.to_le_bytes());
    assert_eq!(nan.to_string(), "section DYNA: basis has the number NaN");
    let infinite = altered(&data.radius.to_le_bytes(), &f64::INFINITY.to_le_bytes());
    assert_eq!(infinite.to_string(), "section SIZE: radius has the number inf");
    let name = altered("β".as_bytes(), &[0xCE, 0x20]);
    assert_eq!(name.to_string(), "section LINK: name is not UTF-8 text");
    let section = altered(b"LINK", b"LI\x00K");
    assert_eq!(section.to_string(), r"section 'LI\u{0}K' stands where 'LINK' should be");
    let joint = altered(b"\x06\0\0\0\0\0\0\0closes\x01", b"\x06\0\0\0\0\0\0\0closes\x02");
    assert_eq!(joint.to_string(), "section JOIN: closes_loop is 2");
    // What the reader cannot know, the model's own check finds.
    let negative = altered(&data.range.to_le_bytes(), &(-1f64).to_le_bytes());
    assert!(matches!(negative, FileError::Model(ModelError::NotFinite { quantity: "range" })));
    let link = altered(b"tip\x01", b"tip\x09");
    let FileError::Model(ModelError::WrongSize { found: 9, expected: 3, .. }) = link else {
        panic!("{link}");
    };
}

/// Most memory that this process ever asked for, kB; none where the system does not say.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmPeak"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Any eight bytes may be a size: huge ones (a fifth of the address space and more would abort the
/// program if asked for, four gigabytes show in the peak) are refused, wherever they stand.
#[test]
fn declared_sizes_allocate_nothing() {
    let sound = small().to_bytes();
    let before = peak_memory();
    let sizes = [1u64 << 29, 1 << 32, 1 << 46, (1 << 61) + 1, 1 << 63, u64::MAX];
    for place in HEADER..sound.len() - CHECKSUM - 8 {
        for size in sizes {
            let mut bytes = sound.clone();
            bytes[place..place + 8].copy_from_slice(&size.to_le_bytes());
            // A number may have become another number; nothing else can be right.
            let _ = ReducedModel::from_bytes(&reseal(bytes));
        }
    }
    // The counts of the first section, each for certain a size.
    for place in (HEADER + 12..HEADER + 52).step_by(8) {
        for size in sizes {
            let mut bytes = sound.clone();
            bytes[place..place + 8].copy_from_slice(&size.to_le_bytes());
            let e = error(&reseal(bytes));
            assert!(matches!(e, FileError::TooShort { .. }), "{place}, {size}: {e}");
        }
    }
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < 1 << 20, "{} kB more", after - before);
    }
}

/// A model without effectors and with as many coordinates as the header likes: matrices without
/// rows or columns.
#[test]
fn empty_matrices_of_huge_width_cost_nothing() {
    let data =
        ModelData { effectors: vec![], links: vec![], joints: vec![], base: None, ..empty() };
    let sound = ReducedModel::new(data).unwrap().to_bytes();
    for place in (HEADER + 12..HEADER + 52).step_by(8) {
        let mut bytes = sound.clone();
        bytes[place..place + 8].copy_from_slice(&(1u64 << 62).to_le_bytes());
        let e = error(&reseal(bytes));
        assert!(matches!(e, FileError::TooShort { .. }), "{place}: {e}");
    }
}

fn empty() -> ModelData {
    let zero = || forks_rom::linalg::Matrix::zeros(0, 0);
    ModelData {
        basis: zero(),
        hessian: zero(),
        mass: zero(),
        damping: zero(),
        servo_rest: zero(),
        servos: vec![],
        ..one_of_everything()
    }
}

/// The test's own checksum, which the library's is compared with.
#[test]
fn published_check_values_of_the_checksum() {
    assert_eq!(crc32(b""), 0);
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    assert_eq!(crc32(&[0; 32]), 0x190A_55AD);
    assert_eq!(crc32(&[0xFF; 32]), 0xFF6C_AB0B);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(ReducedModel::from_bytes(&bytes).is_err());
    }

    /// Behind a sound header and checksum.
    #[test]
    fn sealed_garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let header = small().to_bytes()[..HEADER].to_vec();
        let bytes = seal([header, bytes, vec![0; CHECKSUM]].concat());
        prop_assert!(ReducedModel::from_bytes(&bytes).is_err());
    }

    /// Some bytes of a sound file altered, checksum and length made to fit: a model or an error.
    #[test]
    fn sealed_alterations_do_not_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)
    ) {
        let mut bytes = small().to_bytes();
        let content = bytes.len() - HEADER - CHECKSUM;
        for (place, value) in changes {
            bytes[HEADER + place.index(content)] = value;
        }
        if let Ok(model) = ReducedModel::from_bytes(&reseal(bytes.clone())) {
            let again = ReducedModel::from_bytes(&model.to_bytes()).unwrap();
            prop_assert_eq!(format!("{:?}", model.data()), format!("{:?}", again.data()));
        }
    }

    /// The table's remainders against the definition, bit by bit.
    #[test]
    fn checksums_follow_the_definition(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let header = small().to_bytes()[..HEADER].to_vec();
        let bytes = [header, bytes, vec![0; CHECKSUM]].concat();
        let mut bytes = seal(bytes);
        let end = bytes.len() - CHECKSUM;
        bytes[end] ^= 1;
        let computed = crc32(&bytes[..end]);
        let e = error(&bytes);
        let is_it = matches!(e, FileError::Checksum { computed: c, .. } if c == computed);
        prop_assert!(is_it, "{}", e);
    }
}
