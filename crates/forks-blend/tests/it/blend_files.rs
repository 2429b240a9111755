//! Files of blends: whole, damaged, of another version.

use blend_support::{
    Sizes,
    bent::{bend, drive, narrow},
    blend,
};
use forks_blend::{Blend, BlendedModel, Weights};
use forks_rom::file::FileError;
use forks_testkit::Rng;

use crate::blend_support;

fn model(seed: u64) -> BlendedModel {
    let mut rng = Rng::new(seed);
    let sizes = Sizes { effectors: 1 + rng.index(2), samples: 3, links: 2, spread: 0.3 };
    let mut data = blend(&mut rng, sizes);
    data.weights = match seed % 3 {
        0 => Weights::Shepard { exponent: 6 },
        1 => Weights::Printed,
        _ => Weights::Neighbours { exponent: 4, count: 2 },
    };
    data.range = if seed < 5 { f64::INFINITY } else { 1.5 };
    let ways = [Blend::Energy, Blend::Eigenvectors, Blend::SpdManifold];
    BlendedModel::new(data).unwrap().with_blend(ways[seed as usize / 3 % 3])
}

#[test]
fn what_is_read_is_what_was_written() {
    for seed in 0..9 {
        let m = model(seed);
        let bytes = m.to_bytes();
        let read = BlendedModel::from_bytes(&bytes).unwrap();
        assert!(m.data() == read.data() && m.blend() == read.blend());
        assert_eq!(read.to_bytes(), bytes);
        let x = vec![0.1; m.dof()];
        assert_eq!(m.elastic_force(&x), read.elastic_force(&x));
    }
}

#[test]
fn files_on_disk() {
    let path = std::env::temp_dir().join(format!("blend-{}.forkb", std::process::id()));
    let m = model(2);
    m.save(&path).unwrap();
    assert!(BlendedModel::load(&path).unwrap().data() == m.data());
    assert!(matches!(
        forks_rom::ReducedModel::load(&path),
        Err(FileError::NotAReducedModel { .. })
    ));
    m.data().samples[0].model.save(&path).unwrap();
    assert!(matches!(BlendedModel::load(&path), Err(FileError::NotABlend { .. })));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(BlendedModel::load(&path), Err(FileError::Read { .. })));
}

#[test]
fn every_truncation_is_refused() {
    let bytes = model(0).to_bytes();
    for n in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        assert!(BlendedModel::from_bytes(&bytes[..n]).is_err(), "{n}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(BlendedModel::from_bytes(&longer), Err(FileError::Length { .. })));
}

#[test]
fn altered_bytes_are_refused() {
    let bytes = model(5).to_bytes();
    let mut rng = Rng::new(41);
    for _ in 0..2000 {
        let mut b = bytes.clone();
        let at = rng.index(b.len());
        b[at] ^= 1 << rng.index(8);
        assert!(BlendedModel::from_bytes(&b).is_err(), "{at}");
    }
}

/// CRC-32 by its definition, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |r, b| {
        (0..8).fold(r ^ u32::from(*b), |r, _| r >> 1 ^ if r & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}

/// Altered bytes with the right checksum end in an error or a model, and in no panic.
#[test]
fn forged_bytes_do_not_panic() {
    let bytes = model(2).to_bytes();
    let mut rng = Rng::new(42);
    let mut refused = 0;
    for _ in 0..1000 {
        let mut b = bytes.clone();
        // Half of them where sizes and kinds stand.
        let end = if rng.chance(0.5) { 120 } else { b.len() - 4 };
        let at = 8 + rng.index(end - 8);
        b[at] = rng.index(256) as u8;
        let n = b.len() - 4;
        let sum = crc(&b[..n]);
        b[n..].copy_from_slice(&sum.to_le_bytes());
        refused += usize::from(BlendedModel::from_bytes(&b).is_err());
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn garbage_and_versions() {
    let mut rng = Rng::new(43);
    for n in 0..200 {
        let garbage: Vec<u8> = (0..n).map(|_| rng.index(256) as u8).collect();
        assert!(matches!(
            BlendedModel::from_bytes(&garbage),
            Err(FileError::NotABlend { .. } | FileError::Length { .. })
        ));
    }
    let mut bytes = model(0).to_bytes();
    bytes[8] = 2;
    let found = BlendedModel::from_bytes(&bytes);
    assert!(matches!(found, Err(FileError::Version { found: 2, supported: 1 })));
}

#[test]
fn json_names_every_field() {
    let m = model(2);
    let v: serde_json::Value = serde_json::from_str(&m.to_json()).unwrap();
    assert_eq!(v["samples"].as_array().unwrap().len(), 3);
    assert_eq!(v["weights"]["kind"], "neighbours");
    assert_eq!(v["weights"]["count"], 2);
    assert_eq!(v["blend"], "energy");
    assert_eq!(v["samples"][1]["potential"].as_f64(), Some(m.data().samples[1].potential));
    let rows = m.data().samples[1].model.dof();
    assert_eq!(v["samples"][1]["model"]["hessian"].as_array().unwrap().len(), rows);
    assert!(v["range"].is_null());
}

/// A small blend with everything that may be in a file: servos, samples that bend and one that does
/// not, a metric.
fn bent(each: usize) -> BlendedModel {
    let mut rng = Rng::new(44);
    let mut data = blend(&mut rng, Sizes { effectors: 1, samples: 2, links: 0, spread: 0.3 });
    narrow(&mut data, 3);
    drive(&mut rng, &mut data);
    bend(&mut rng, &mut data, each, 0.7);
    data.weights = Weights::Metric { exponent: 8, energy: 0.123_456_789 };
    BlendedModel::new(data).unwrap()
}

#[test]
fn bent_samples_and_metrics_are_read_bit_by_bit() {
    for each in [1, 2] {
        let m = bent(each);
        let bytes = m.to_bytes();
        let read = BlendedModel::from_bytes(&bytes).unwrap();
        assert_eq!(read.data().weights, m.data().weights);
        for (a, b) in m.data().samples.iter().zip(&read.data().samples) {
            let bits = |s: &forks_blend::SampleData| {
                s.curvature.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(a), bits(b));
            assert_eq!(a.curvature.rows(), b.curvature.rows());
        }
        assert!(m.data() == read.data());
        assert_eq!(read.to_bytes(), bytes);
        let x = [0.1, -0.2, 0.05];
        assert_eq!(m.elastic_force(&x), read.elastic_force(&x));
        let straight = m.data().samples[0].curvature.rows() == 0;
        assert_eq!(straight, each == 2);
    }
}

/// Each byte, in two ways.
#[test]
fn every_damaged_byte_of_a_bent_blend_is_refused() {
    let bytes = bent(2).to_bytes();
    println!("{} bytes", bytes.len());
    for at in 0..bytes.len() {
        for flip in [1, 0xff] {
            let mut b = bytes.clone();
            b[at] ^= flip;
            assert!(BlendedModel::from_bytes(&b).is_err(), "{at}");
        }
        assert!(BlendedModel::from_bytes(&bytes[..at]).is_err(), "{at}");
    }
}

/// With the right checksum: wrong kinds, sizes and numbers of curvature and metric end in errors or
/// models that say so.
#[test]
fn forged_bytes_of_a_bent_blend_do_not_panic() {
    let bytes = bent(1).to_bytes();
    let refused = (8..bytes.len() - 4).filter(|&at| {
        [0u8, 2, 0x7f, 0xff].into_iter().all(|value| {
            let mut b = bytes.clone();
            b[at] = value;
            let n = b.len() - 4;
            let sum = crc(&b[..n]);
            b[n..].copy_from_slice(&sum.to_le_bytes());
            match BlendedModel::from_bytes(&b) {
                Ok(m) => m.elastic_force(&[0.1, -0.2, 0.05]).is_empty(),
                Err(_) => true,
            }
        })
    });
    let refused = refused.count();
    println!("{refused} of {}", bytes.len());
    assert!(refused > 50, "{refused}");
}

#[test]
fn curvature_of_another_size_is_refused() {
    use forks_rom::linalg::Matrix;
    let whole = bent(1).data().clone();
    let refused = |c: Matrix| {
        let mut data = whole.clone();
        data.samples[1].curvature = c;
        BlendedModel::new(data).unwrap_err()
    };
    for (rows, columns) in [(3, 5), (2, 6), (6, 3), (0, 6), (3, 0), (4, 10)] {
        let error = refused(Matrix::zeros(rows, columns));
        assert!(matches!(error, forks_rom::ModelError::WrongSize { .. }), "{rows} {columns}");
    }
    let mut c = Matrix::zeros(3, 6);
    c[(2, 5)] = f64::NAN;
    assert!(matches!(refused(c), forks_rom::ModelError::NotFinite { .. }));
    for energy in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut data = whole.clone();
        data.weights = Weights::Metric { exponent: 4, energy };
        assert!(BlendedModel::new(data).is_err(), "{energy}");
    }
    for exponent in [0, 2, 5, 66] {
        let mut data = whole.clone();
        data.weights = Weights::Metric { exponent, energy: 1.0 };
        assert!(BlendedModel::new(data).is_err(), "{exponent}");
    }
}

#[test]
fn json_shows_curvature_and_metric() {
    let m = bent(2);
    let v: serde_json::Value = serde_json::from_str(&m.to_json()).unwrap();
    assert_eq!(v["weights"]["kind"], "metric");
    assert_eq!(v["weights"]["exponent"], 8);
    assert_eq!(v["weights"]["energy"].as_f64(), Some(0.123_456_789));
    let rows = v["samples"][1]["curvature"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (i, row) in rows.iter().enumerate() {
        let row: Vec<f64> = row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        assert_eq!(row, m.data().samples[1].curvature.row(i));
    }
    assert_eq!(v["samples"][0]["curvature"].as_array().map(Vec::len), Some(0));
}
