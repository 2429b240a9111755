//! Colours of shapes.

use serde::Serialize;

/// A colour as screens have it (sRGB, not linear), with opacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Colour {
    /// Red, green, blue.
    pub rgb: [u8; 3],
    /// Opacity: 255 hides what is behind, 0 is invisible.
    pub alpha: u8,
}

/// Okabe and Ito's colours without black, which colour-blind readers can tell apart.
const PALETTE: [[u8; 3]; 7] = [
    [0x00, 0x72, 0xb2],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xd5, 0x5e, 0x00],
    [0xcc, 0x79, 0xa7],
    [0x56, 0xb4, 0xe9],
    [0xb8, 0xad, 0x28],
];

impl Colour {
    /// The colour of scenery that has none.
    pub const SCENERY: Self = Self::rgb(0x9a, 0x9d, 0xa3);

    /// An opaque colour.
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: [red, green, blue], alpha: 255 }
    }

    /// The same with another opacity: 255 hides what is behind.
    #[must_use]
    pub const fn with_alpha(self, alpha: u8) -> Self {
        Self { alpha, ..self }
    }

    /// The `i`-th colour of a palette that repeats after seven.
    pub const fn palette(i: usize) -> Self {
        let [red, green, blue] = PALETTE[i % PALETTE.len()];
        Self::rgb(red, green, blue)
    }

    /// Red, green, blue, opacity.
    pub(crate) fn to_array(self) -> [u8; 4] {
        let [red, green, blue] = self.rgb;
        [red, green, blue, self.alpha]
    }
}
