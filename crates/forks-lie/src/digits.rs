//! Numbers for people: six significant digits, as `%g` of C prints them.

use core::fmt::{self, Write};

/// A number of a message: six significant digits, an exponent only for very small and very large
/// ones, no zeros at the end. For messages alone; what is computed with is written in full.
///
/// ```
/// use forks_lie::Digits;
/// assert_eq!(Digits(0.1 + 0.2).to_string(), "0.3");
/// assert_eq!(Digits(-2.399999999e-35).to_string(), "-2.4e-35");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digits(pub f64);

/// The longest text is `-1.23457e-308`.
struct Text {
    bytes: [u8; 24],
    length: usize,
}

impl Text {
    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let end = self.length + s.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(s.as_bytes());
        self.length = end;
        Ok(())
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text { bytes: [0; 24], length: 0 };
        write!(text, "{:.5e}", self.0)?;
        let rounded: f64 = text.as_str().parse().unwrap_or(self.0);
        let size = if rounded < 0.0 { -rounded } else { rounded };
        if rounded == 0.0 {
            f.write_str("0")
        } else if (1e-4..1e7).contains(&size) || !self.0.is_finite() {
            write!(f, "{rounded}")
        } else {
            write!(f, "{rounded:e}")
        }
    }
}

/// Several numbers of a message, with commas between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DigitsOf<'a>(pub &'a [f64]);

impl fmt::Display for DigitsOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, x) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}", Digits(*x))?;
        }
        Ok(())
    }
}
