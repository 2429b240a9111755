//! Keyframes: states of the model's file and moments that were kept, to go to at any time.

use forks_mechanism::Preparation;
use serde::Serialize;

use super::{
    Session,
    timeline::{Moment, Timeline, copy},
};
use crate::{
    source::MechanismSource,
    subject::{Full, Subject},
};

/// Most keyframes; a moment more drops the oldest that is not the file's.
const MOST: usize = 64;

/// The mechanism at the keyframes of its file, at rest. A root that is held stays where it is; a
/// keyframe that the mechanism cannot take is left out.
pub(super) fn keyframes<'m>(
    full: &Full<'m>,
    s: &MechanismSource,
    preparation: &Preparation,
) -> impl Iterator<Item = (String, Box<dyn Subject<'m> + 'm>)> {
    s.mechanism.keyframes().iter().enumerate().filter_map(|(i, k)| {
        let preparation = Preparation { start: Some(k.positions.clone()), ..preparation.clone() };
        let there = preparation.apply(&s.mechanism).ok()?;
        let state = full.at(&there.mechanism.start_positions());
        let name = if k.name.is_empty() { format!("keyframe {i}") } else { k.name.clone() };
        Some((name, Box::new(state) as Box<dyn Subject<'m> + 'm>))
    })
}

/// A keyframe.
pub(crate) struct Key<'m> {
    label: Label,
    all: Moment<'m>,
}

/// What pages know of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Label {
    /// Never given twice.
    id: u64,
    name: String,
    /// s.
    time: f64,
    /// True for those of the model's file, and the start.
    given: bool,
}

/// All keyframes, the given ones first.
#[derive(Default)]
pub(crate) struct Keys<'m> {
    all: Vec<Key<'m>>,
    next: u64,
}

impl<'m> Keys<'m> {
    fn add(&mut self, name: String, given: bool, all: Moment<'m>) {
        let time = all.first().map_or(0.0, |s| s.time());
        let label = Label { id: self.next, name, time, given };
        self.next += 1;
        self.all.push(Key { label, all });
        let oldest = self.all.iter().position(|k| !k.label.given);
        if let Some(at) = oldest.filter(|_| self.all.len() > MOST) {
            self.all.remove(at);
        }
    }

    pub(super) fn labels(&self) -> Vec<&Label> {
        self.all.iter().map(|k| &k.label).collect()
    }
}

impl<'m> Session<'m> {
    /// Adds the start and the states of the file, no more of them than there is room for.
    pub(super) fn give_keys(
        &mut self,
        states: impl IntoIterator<Item = (String, Box<dyn Subject<'m> + 'm>)>,
    ) {
        self.keys.add("start".into(), true, copy(&self.all));
        for (name, state) in states.into_iter().take(MOST - 1) {
            self.keys.add(name, true, vec![state]);
        }
        self.tell();
    }

    /// Keeps the present.
    pub(super) fn keep_key(&mut self) {
        let name = format!("{:.3} s", self.all[0].time());
        self.keys.add(name, false, copy(&self.all));
    }

    /// Goes to a keyframe; the timeline begins there.
    pub(super) fn go_to_key(&mut self, id: u64) -> Result<(), String> {
        let key = self.keys.all.iter().find(|k| k.label.id == id);
        let key = key.ok_or_else(|| format!("there is no keyframe {id}"))?;
        if key.all.len() != self.all.len() {
            return Err(format!(
                "keyframe '{}' is of another picture: models have come or gone since",
                key.label.name
            ));
        }
        self.all = copy(&key.all);
        self.timeline = Timeline::new(&self.all);
        self.moving = false;
        self.single = 0;
        self.release();
        Ok(())
    }

    /// Goes to where the program began; false if models have come since.
    pub(super) fn go_to_start(&mut self) -> bool {
        let start = self.keys.all.first().map(|k| k.label.id);
        start.is_some_and(|id| self.go_to_key(id).is_ok())
    }

    /// Forgets a moment that was kept.
    pub(super) fn drop_key(&mut self, id: u64) -> Result<(), String> {
        let at = self.keys.all.iter().position(|k| k.label.id == id && !k.label.given);
        let at = at.ok_or_else(|| format!("there is no moment {id} that was kept"))?;
        self.keys.all.remove(at);
        Ok(())
    }
}
