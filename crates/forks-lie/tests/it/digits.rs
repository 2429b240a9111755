//! Numbers in messages.

use forks_lie::{Digits, DigitsOf};

#[test]
fn messages_have_six_digits() {
    for (x, expected) in [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (33.312_000_4, "33.312"),
        (0.1 + 0.2, "0.3"),
        (-1_234.567_89, "-1234.57"),
        (6.5e-6, "6.5e-6"),
        (654_498.123, "654498"),
        (1e300, "1e300"),
        (0.000_123_456, "0.000123456"),
        (-1.222_586_750_274_381_4e-22, "-1.22259e-22"),
        (-f64::MIN_POSITIVE, "-2.22507e-308"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.79769e308"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_eq!(Digits(x).to_string(), expected);
    }
    assert_eq!(DigitsOf(&[1.0, 2.5e-35]).to_string(), "1, 2.5e-35");
    assert_eq!(DigitsOf(&[]).to_string(), "");
}
