//! The random generator: its reference sequence, directions, indices.

use forks_lie::{SplitMix64, glam::DVec3};

/// First outputs for seed 1234567, as published with the reference implementation in C.
#[test]
fn reference_sequence() {
    let mut r = SplitMix64::new(1_234_567);
    let expected = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    for e in expected {
        assert_eq!(r.next_u64(), e);
    }
}

/// Mean 0 and covariance 1/3 of uniform directions, within five standard errors of 20,000
/// samples.
#[test]
fn directions_are_uniform_and_of_unit_length() {
    let mut r = SplitMix64::new(5);
    let n = 20_000;
    let (mut mean, mut squares) = (DVec3::ZERO, DVec3::ZERO);
    for _ in 0..n {
        let d = r.direction();
        assert!((d.length() - 1.0).abs() < 4.0 * f64::EPSILON);
        mean += d / n as f64;
        squares += d * d / n as f64;
    }
    let n = n as f64;
    assert!(mean.abs().max_element() < 5.0 * (1.0 / 3.0 / n).sqrt());
    assert!((squares - 1.0 / 3.0).abs().max_element() < 5.0 * (4.0 / 45.0 / n).sqrt());
}

#[test]
fn indices_stay_below() {
    let mut r = SplitMix64::new(9);
    let mut seen = [0; 7];
    for _ in 0..700 {
        seen[r.below(7)] += 1;
    }
    assert!(seen.iter().all(|&c| c > 50), "{seen:?}");
    assert_eq!(r.below(0), 0);
}
