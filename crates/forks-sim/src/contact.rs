//! Contacts as users see them, and the impulses that the next step starts from.

use forks_lie::glam::DVec3;

use crate::{
    handles::{Owner, ShapeHandle},
    manifold::{Found, Key},
};

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
    /// Impulse on the second shape's owner within the substep, world axes, N·s; the first has its
    /// opposite.
    pub impulse: DVec3,
    /// Natural map residual of the contact law, m/s.
    pub residual: f64,
}

impl ContactPoint {
    /// Room for one.
    pub(crate) const NONE: Self = Self {
        shapes: [ShapeHandle(0); 2],
        owners: [Owner::World; 2],
        position: DVec3::ZERO,
        normal: DVec3::ZERO,
        gap: 0.0,
        impulse: DVec3::ZERO,
        residual: 0.0,
    };

    /// True if the shapes pushed each other.
    pub fn is_touching(&self) -> bool {
        self.impulse != DVec3::ZERO
    }
}

/// Impulses of the last substep by the names and places of their contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cache {
    /// In the order in which they were found: pair after pair of shapes in order, but not the
    /// contacts of a pair.
    entries: Vec<Entry>,
    /// Impulses of every force in a joint, at the lower and the upper side of limits, N·m·s or N·s.
    pub(crate) joint_forces: Vec<[f64; 2]>,
}

/// A contact that pushed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    /// World.
    pub(crate) point: DVec3,
    /// World axes, N·s.
    pub(crate) impulse: DVec3,
    /// What it was the substep before, or the same where nothing is known or the two have little in
    /// common.
    before: DVec3,
}

/// Which entries of a cache went to which contacts; memory of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matches {
    taken: Vec<bool>,
    /// Entry of every contact found, if there is one.
    of: Vec<Option<usize>>,
    /// Memory for the next entries.
    next: Vec<Entry>,
}

/// Change from one substep to the next, of the impulse, from which on the one before says nothing
/// about the next.
const SUDDEN: f64 = 0.5;
/// The same, below which it may be what the tolerance of the solver lets through.
const NOISE: f64 = 1e-4;
/// Share of a change that is expected again. Less than all of it: where several contacts share a
/// load the solver does not mind how, and nothing else would stop the shares from drifting.
const GOING_ON: f64 = 0.95;

impl Cache {
    /// Finds an entry for each contact: the one of its name, or else the nearest of its two shapes
    /// within `near` that no name claims. Where faces meet, the geometry library names a corner now
    /// by one face's feature and now by the other's.
    #[inline(always)]
    pub(crate) fn find(&self, found: &[Found], near: f64, matches: &mut Matches) {
        matches.of.clear();
        let (mut next, mut all_named) = (0, true);
        for (k, f) in found.iter().enumerate() {
            // As a rule contacts come in the order of the step before.
            let at = match self.entries.get(next) {
                Some(e) if e.key == f.key => Some(next),
                _ => self.named(found, k),
            };
            matches.of.push(at);
            all_named &= at.is_some();
            next = at.map_or(next, |at| at + 1);
        }
        if !all_named && !self.entries.is_empty() {
            self.find_by_place(found, near, matches);
        }
    }

    /// Entries for the contacts that have none by their name.
    #[cold]
    fn find_by_place(&self, found: &[Found], near: f64, matches: &mut Matches) {
        let Matches { of, taken, .. } = matches;
        taken.clear();
        taken.resize(self.entries.len(), false);
        of.iter().flatten().for_each(|at| taken[*at] = true);
        for (f, of) in found.iter().zip(of).filter(|(_, of)| of.is_none()) {
            *of = self.nearest(f, near, taken);
            of.iter().for_each(|at| taken[*at] = true);
        }
    }

    /// The entry of a contact's name; of equal names the first for the first contact, and so on.
    #[inline(never)]
    fn named(&self, found: &[Found], k: usize) -> Option<usize> {
        let key = found[k].key;
        let before = found[..k].iter().rev().take_while(|f| pair(&f.key) == pair(&key));
        let occurrence = before.filter(|f| f.key == key).count();
        let mut same = self.of_pair(&key).filter(|(_, e)| e.key == key);
        same.nth(occurrence).map(|(at, _)| at)
    }

    /// The nearest entry of the same two shapes that is not taken.
    fn nearest(&self, f: &Found, near: f64, taken: &[bool]) -> Option<usize> {
        let mut best = (None, near * near);
        for (at, e) in self.of_pair(&f.key) {
            let distance = e.point.distance_squared(f.point);
            if !taken[at] && distance < best.1 {
                best = (Some(at), distance);
            }
        }
        best.0
    }

    /// All entries of two shapes, with their places.
    fn of_pair(&self, key: &Key) -> impl Iterator<Item = (usize, &Entry)> {
        let wanted = pair(key);
        let first = self.entries.partition_point(|e| pair(&e.key) < wanted);
        let rest = self.entries[first..].iter().take_while(move |e| pair(&e.key) == wanted);
        (first..).zip(rest)
    }

    /// Where the impulse of the `k`-th contact is expected to be, from the last two substeps: it
    /// goes on much as it did. Zero for a new contact.
    #[inline(always)]
    pub(crate) fn expected(&self, k: usize, matches: &Matches) -> DVec3 {
        let entry = matches.of[k].map(|at| &self.entries[at]);
        entry.map_or(DVec3::ZERO, |e| e.impulse + (e.impulse - e.before) * GOING_ON)
    }

    /// Replaces all entries by the contacts that pushed, each with its impulse: as many as were
    /// matched, in the same order.
    #[inline(always)]
    pub(crate) fn replace<'a>(
        &mut self,
        contacts: impl Iterator<Item = (&'a Found, DVec3)>,
        matches: &mut Matches,
    ) {
        // Written in place, field by field: copies of what was just put together wait for it.
        matches.next.resize(matches.of.len(), Entry::default());
        let mut slots = matches.next.iter_mut();
        let mut count = 0;
        for ((found, impulse), of) in contacts.zip(&matches.of) {
            if impulse == DVec3::ZERO {
                continue;
            }
            let old = of.map_or(impulse, |at| self.entries[at].impulse);
            let (change, whole) = (impulse.distance_squared(old), impulse.length_squared());
            let steady = change >= NOISE * NOISE * whole && change < SUDDEN * SUDDEN * whole;
            if let Some(entry) = slots.next() {
                entry.key = found.key;
                entry.point = found.point;
                entry.impulse = impulse;
                entry.before = if steady { old } else { impulse };
                count += 1;
            }
        }
        matches.next.truncate(count);
        std::mem::swap(&mut self.entries, &mut matches.next);
    }

    /// Copies another cache into this one's memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
        self.joint_forces.clone_from(&other.joint_forces);
    }
}

/// The shapes that a name is about.
#[inline(always)]
fn pair(key: &Key) -> [u32; 2] {
    [key[0], key[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: Key, x: f64) -> Found {
        Found { key, point: DVec3::new(x, 0.0, 0.0), normal: DVec3::Z, gap: 0.0 }
    }

    /// A cache of contacts that pushed upwards, none of them known before.
    fn cache(contacts: &[(Found, f64)]) -> Cache {
        let mut matches = Matches { of: vec![None; contacts.len()], ..Matches::default() };
        let mut cache = Cache::default();
        let pushed = contacts.iter().map(|(f, z)| (f, DVec3::new(0.0, 0.0, *z)));
        cache.replace(pushed, &mut matches);
        cache
    }

    fn expected(cache: &Cache, contacts: &[Found], matches: &mut Matches) -> Vec<f64> {
        cache.find(contacts, 0.1, matches);
        (0..contacts.len()).map(|k| cache.expected(k, matches).z).collect()
    }

    #[test]
    fn impulses_are_found_by_name_first_and_then_by_place() {
        let (a, b, c) = ([0, 1, 0, 0, 7, 7], [0, 1, 0, 0, 8, 8], [0, 2, 0, 0, 7, 7]);
        let entry = |key: Key, x: f64| (found(key, x), x);
        let cache = cache(&[entry(b, 2.0), entry(a, 1.0), entry(a, 1.5), entry(c, 3.0)]);
        let new = [0, 1, 0, 0, 9, 9];
        let mut matches = Matches::default();
        let contacts =
            [found(a, 1.6), found(new, 1.51), found(new, 2.001), found(new, 3.0), found(c, 9.0)];
        // The second of a name goes to the nearest place; shapes that are others share nothing.
        assert_eq!(expected(&cache, &contacts, &mut matches), [1.0, 1.5, 2.0, 0.0, 3.0]);
        assert_eq!(expected(&cache, &contacts[1..3], &mut matches), [1.5, 2.0]);
    }

    #[test]
    fn impulses_are_expected_to_go_on_as_they_did_but_not_after_a_blow() {
        let name = |k: u32| [0, 1, 0, 0, k, k];
        let contacts: Vec<Found> = (0..4).map(|k| found(name(k), f64::from(k))).collect();
        let mut cache = cache(&[(contacts[0], 1.0), (contacts[1], 1.0), (contacts[2], 1.0)]);
        let mut matches = Matches::default();
        assert_eq!(expected(&cache, &contacts, &mut matches), [1.0, 1.0, 1.0, 0.0]);
        // Slowly, suddenly, to nothing, from nothing.
        let pushes = [1.25, 3.0, 0.0, 2.0].map(|z| DVec3::new(0.0, 0.0, z));
        cache.replace(contacts.iter().zip(pushes), &mut matches);
        let onwards = 1.25 + 0.25 * GOING_ON;
        assert_eq!(expected(&cache, &contacts, &mut matches), [onwards, 3.0, 0.0, 2.0]);
        // Hardly at all: noise.
        let pushes = [1.25 * (1.0 + 0.5 * NOISE), 3.0, 0.0, 2.0].map(|z| DVec3::new(0.0, 0.0, z));
        cache.replace(contacts.iter().zip(pushes), &mut matches);
        let expected = expected(&cache, &contacts, &mut matches);
        assert_eq!(expected, pushes.map(|p| p.z));
    }
}
