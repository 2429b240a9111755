//! Moments to go back to.

use std::collections::VecDeque;

use crate::subject::Subject;

/// Bytes that copies may take.
const MEMORY: usize = 256 << 20;

/// Most moments.
const MOST: usize = 1800;

/// Time between moments at first, s; doubles whenever there are too many.
const SPACING: f64 = 1.0 / 30.0;

/// Copies of what moves, evenly spaced in time.
pub(crate) struct Timeline<'m> {
    moments: VecDeque<(f64, Moment<'m>)>,
    spacing: f64,
    most: usize,
}

/// All that moves, at one time.
pub(crate) type Moment<'m> = Vec<Box<dyn Subject<'m> + 'm>>;

/// A copy of each.
pub(crate) fn copy<'m>(all: &[Box<dyn Subject<'m> + 'm>]) -> Moment<'m> {
    all.iter().map(|s| s.duplicate()).collect()
}

impl<'m> Timeline<'m> {
    pub(crate) fn new(all: &[Box<dyn Subject<'m> + 'm>]) -> Self {
        let size: usize = all.iter().map(|s| s.size()).sum();
        let most = (MEMORY / size.max(1)).clamp(2, MOST);
        let mut out = Self { moments: VecDeque::new(), spacing: SPACING, most };
        out.keep(all);
        out
    }

    /// Keeps the present if it is far enough from the last moment that was kept.
    pub(crate) fn keep(&mut self, all: &[Box<dyn Subject<'m> + 'm>]) {
        let Some(now) = all.first().map(|s| s.time()) else { return };
        if self.moments.back().is_none_or(|(t, _)| now >= t + self.spacing) {
            self.mark(all);
        }
    }

    /// Keeps the present, unless it is kept already: a hand is about to do something.
    pub(crate) fn mark(&mut self, all: &[Box<dyn Subject<'m> + 'm>]) {
        let Some(now) = all.first().map(|s| s.time()) else { return };
        if self.moments.back().is_some_and(|(t, _)| *t >= now) {
            self.moments.pop_back();
        }
        if self.moments.len() == self.most {
            self.spacing *= 2.0;
            let mut index = 0;
            // The first stays, then every other one.
            self.moments.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
        self.moments.push_back((now, copy(all)));
    }

    /// The last moment that is not after a time; what was after it is forgotten.
    pub(crate) fn rewind(&mut self, time: f64) -> Moment<'m> {
        while self.moments.len() > 1 && self.moments.back().is_some_and(|(t, _)| *t > time) {
            self.moments.pop_back();
        }
        self.moments.back().map_or_else(Vec::new, |(_, all)| copy(all))
    }
}
