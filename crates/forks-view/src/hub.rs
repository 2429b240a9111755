//! Where the session leaves what it has, and pages find it.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tungstenite::{Bytes, Utf8Bytes};

/// Files of models by their names.
type Models = Vec<(&'static str, Arc<[u8]>)>;

/// Messages that are kept for pages that lag behind.
const KEPT: usize = 64;

/// The newest frame, and what was said.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The page as of the last change of what is drawn.
    page: Arc<str>,
    frame: Bytes,
    frames: u64,
    said: VecDeque<Utf8Bytes>,
    /// How many messages there were before the first that is kept.
    forgotten: u64,
    /// What a page that just opened needs to know.
    greeting: Utf8Bytes,
    /// Files that can be saved.
    models: Models,
    closed: bool,
}

/// How far a page has got.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    frames: u64,
    said: u64,
    greeted: bool,
}

/// What is new for a page.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) said: Vec<Utf8Bytes>,
    pub(crate) frame: Option<Bytes>,
    pub(crate) closed: bool,
}

impl Hub {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change leaves a sound state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn page(&self) -> Arc<str> {
        Arc::clone(&self.state().page)
    }

    pub(crate) fn set_page(&self, page: String) {
        self.state().page = page.into();
    }

    /// The file of a model that stands beside the mechanism.
    pub(crate) fn model(&self, name: &str) -> Option<Arc<[u8]>> {
        let state = self.state();
        state.models.iter().find(|(n, _)| *n == name).map(|(_, bytes)| Arc::clone(bytes))
    }

    pub(crate) fn set_model(&self, name: &'static str, bytes: Vec<u8>) {
        let mut state = self.state();
        state.models.retain(|(n, _)| *n != name);
        state.models.push((name, bytes.into()));
    }

    pub(crate) fn forget_models(&self) {
        self.state().models.clear();
    }

    pub(crate) fn set_greeting(&self, text: String) {
        self.state().greeting = text.into();
    }

    pub(crate) fn show(&self, frame: Vec<u8>) {
        let mut state = self.state();
        state.frame = frame.into();
        state.frames += 1;
        self.changed.notify_all();
    }

    pub(crate) fn say(&self, text: String) {
        let mut state = self.state();
        if state.said.len() == KEPT {
            state.said.pop_front();
            state.forgotten += 1;
        }
        state.said.push_back(text.into());
        self.changed.notify_all();
    }

    /// Says what went wrong.
    pub(crate) fn complain(&self, text: &str) {
        self.say(serde_json::json!({ "type": "problem", "text": text }).to_string());
    }

    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Where a page that opens now begins: with the greeting and the newest frame.
    pub(crate) fn begin(&self) -> Seen {
        let state = self.state();
        Seen { said: state.forgotten + state.said.len() as u64, ..Seen::default() }
    }

    /// Waits for something new, at most `patience`.
    pub(crate) fn news(&self, seen: &mut Seen, patience: Duration) -> News {
        let state = self.state();
        let nothing = |s: &mut State| {
            let said = s.forgotten + s.said.len() as u64;
            seen.greeted && s.frames == seen.frames && said == seen.said && !s.closed
        };
        let waited = self.changed.wait_timeout_while(state, patience, nothing);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let mut news = News { closed: state.closed, ..News::default() };
        if !seen.greeted {
            news.said.push(state.greeting.clone());
            seen.greeted = true;
        }
        let skip = seen.said.saturating_sub(state.forgotten) as usize;
        news.said.extend(state.said.iter().skip(skip).cloned());
        seen.said = state.forgotten + state.said.len() as u64;
        if state.frames != seen.frames {
            news.frame = Some(state.frame.clone());
            seen.frames = state.frames;
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_page_gets_the_newest_frame_and_every_word() {
        let hub = Hub::default();
        hub.set_greeting("hello".into());
        let mut seen = hub.begin();
        for k in 0..5u8 {
            hub.show(vec![k]);
            hub.say(k.to_string());
        }
        let news = hub.news(&mut seen, Duration::ZERO);
        assert_eq!(news.frame.as_deref(), Some(&[4u8][..]));
        let said: Vec<&str> = news.said.iter().map(Utf8Bytes::as_str).collect();
        assert_eq!(said, ["hello", "0", "1", "2", "3", "4"]);
        let news = hub.news(&mut seen, Duration::ZERO);
        assert!(news.frame.is_none() && news.said.is_empty() && !news.closed);
        (0..2 * KEPT).for_each(|k| hub.say(k.to_string()));
        assert_eq!(hub.news(&mut seen, Duration::ZERO).said.len(), KEPT);
        hub.close();
        assert!(hub.news(&mut seen, Duration::from_secs(60)).closed);
    }
}
