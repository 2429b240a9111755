//! How steps are made.

/// How steps are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// v⁺ = v + h a, q⁺ = q ⊞ h v⁺: trees.
    Explicit,
    /// Linearly implicit in springs and dampers: any mechanism.
    #[default]
    Implicit,
}
