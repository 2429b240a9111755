//! Bits that say which kinds of shapes may touch each other.

/// Bits that tell kinds of shapes apart: two shapes may touch if the bits of one meet those that
/// the other touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactMask {
    /// What the shape is (MuJoCo's `contype`).
    pub own: u32,
    /// What it touches (`conaffinity`).
    pub touches: u32,
}

impl Default for ContactMask {
    fn default() -> Self {
        Self { own: 1, touches: 1 }
    }
}

impl ContactMask {
    /// True if shapes of two masks may touch.
    pub fn meets(self, other: Self) -> bool {
        self.own & other.touches != 0 || other.own & self.touches != 0
    }
}
