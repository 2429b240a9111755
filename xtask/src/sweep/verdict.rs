//! What the comparison of a file ends with.

use serde::Serialize;

/// How a file fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Agrees,
    Noted,
    /// Read by us, and by no other program.
    Alone,
    Refused,
    Differs,
    Skipped,
}

impl Verdict {
    pub(super) const ALL: [Self; 6] =
        [Self::Agrees, Self::Noted, Self::Alone, Self::Refused, Self::Differs, Self::Skipped];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Noted => "noted",
            Self::Alone => "alone",
            Self::Refused => "refused",
            Self::Differs => "differs",
            Self::Skipped => "skipped",
        }
    }
}
