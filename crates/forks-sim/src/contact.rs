//! Contacts as users see them, and the impulses that the next step starts from.

use forks_lie::glam::DVec3;

use crate::{Owner, ShapeHandle, detect::Key};

/// A point where two shapes touch or may touch within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The two shapes.
    pub shapes: [ShapeHandle; 2],
    /// Their owners.
    pub owners: [Owner; 2],
    /// Middle between the surfaces at the start of the substep, world, m.
    pub position: DVec3,
    /// From the first shape to the second, world, unit length.
    pub normal: DVec3,
    /// Distance at the start of the substep, m; negative where the shapes penetrate.
    pub gap: f64,
    /// Impulse on the second shape's owner within the substep, world axes, N·s; the first has its opposite.
    pub impulse: DVec3,
    /// Natural map residual of the contact law, m/s.
    pub residual: f64,
}

impl ContactPoint {
    /// True if the shapes pushed each other.
    pub fn is_touching(&self) -> bool {
        self.impulse != DVec3::ZERO
    }
}

/// Impulses of the last substep by the names of their contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cache {
    /// In the order of keys; equal keys in the order in which they were found.
    entries: Vec<(Key, DVec3)>,
    /// Impulses at the lower and upper side of every joint limit, N·m·s or N·s.
    pub(crate) limits: Vec<[f64; 2]>,
}

impl Cache {
    /// The impulse of the `occurrence`-th contact with this key, world axes, zero for a new one.
    pub(crate) fn impulse(&self, key: &Key, occurrence: usize) -> DVec3 {
        let first = self.entries.partition_point(|(k, _)| k < key);
        match self.entries.get(first + occurrence) {
            Some((k, impulse)) if k == key => *impulse,
            _ => DVec3::ZERO,
        }
    }

    /// Replaces all entries.
    pub(crate) fn replace(&mut self, entries: impl Iterator<Item = (Key, DVec3)>) {
        self.entries.clear();
        self.entries.extend(entries);
        // A stable sort: equal keys keep their order.
        self.entries.sort_by_key(|entry| entry.0);
    }

    /// Copies another cache into this one's memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
        self.limits.clone_from(&other.limits);
    }
}
