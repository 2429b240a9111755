//! Keyframes: states of the model's file and moments that were kept, to go to at any time.

use forks_mechanism::{Preparation, lie::Pose};
use serde::Serialize;

use super::{Session, set_servo, timeline::Timeline};
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
    mechanism: Box<dyn Subject<'m> + 'm>,
    /// The models that were beside it, by their numbers.
    models: Vec<(u64, Box<dyn Subject<'m> + 'm>)>,
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
    fn add(
        &mut self,
        name: String,
        given: bool,
        mechanism: Box<dyn Subject<'m> + 'm>,
        models: Vec<(u64, Box<dyn Subject<'m> + 'm>)>,
    ) {
        let label = Label { id: self.next, name, time: mechanism.time(), given };
        self.next += 1;
        self.all.push(Key { label, mechanism, models });
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
        self.keys.add("start".into(), true, self.all[0].duplicate(), Vec::new());
        for (name, state) in states.into_iter().take(MOST - 1) {
            self.keys.add(name, true, state, Vec::new());
        }
        self.tell();
    }

    /// Keeps the present.
    pub(super) fn keep_key(&mut self) {
        let name = format!("{:.3} s", self.all[0].time());
        let models = self.twins.iter().zip(&self.all[1..]).map(|(t, s)| (t.id, s.duplicate()));
        self.keys.add(name, false, self.all[0].duplicate(), models.collect());
    }

    /// Goes to a keyframe; the timeline begins there. Models that have come since stand where the
    /// mechanism is, at rest.
    pub(super) fn go_to_key(&mut self, id: u64) -> Result<(), String> {
        let key = self.keys.all.iter().find(|k| k.label.id == id);
        let key = key.ok_or_else(|| format!("there is no keyframe {id}"))?;
        self.all[0] = key.mechanism.duplicate();
        for (k, twin) in self.twins.iter().enumerate() {
            if let Some((_, model)) = key.models.iter().find(|(id, _)| *id == twin.id) {
                self.all[k + 1] = model.duplicate();
                continue;
            }
            let there: Vec<Pose> = twin.effectors.iter().map(|b| self.all[0].pose(*b)).collect();
            self.all[k + 1].stand(&twin.effectors, &there)?;
            for s in self.all[0].servos().to_vec() {
                set_servo(&mut *self.all[k + 1], &s.name, s.target)?;
            }
        }
        self.timeline = Timeline::new(&self.all);
        self.moving = false;
        self.single = 0;
        self.release();
        Ok(())
    }

    /// Goes to where the program began.
    pub(super) fn go_to_start(&mut self) -> Result<(), String> {
        let start = self.keys.all.first().map_or(0, |k| k.label.id);
        self.go_to_key(start)
    }

    /// Forgets a moment that was kept.
    pub(super) fn drop_key(&mut self, id: u64) -> Result<(), String> {
        let at = self.keys.all.iter().position(|k| k.label.id == id && !k.label.given);
        let at = at.ok_or_else(|| format!("there is no moment {id} that was kept"))?;
        self.keys.all.remove(at);
        Ok(())
    }
}
