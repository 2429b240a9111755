//! How things are, for pages.

use serde::Serialize;

use super::{Session, keys::Label};
use crate::subject::Servo;

/// What pages know beside frames.
#[derive(Serialize)]
struct Status<'a> {
    r#type: &'static str,
    /// Increases with every change of what is drawn: a page that knows another one loads anew.
    picture: u64,
    moving: bool,
    speed: f64,
    stiffness: f64,
    servos: &'a [Servo],
    keys: Vec<&'a Label>,
    pinned: Vec<usize>,
    /// Bodies that feel forces.
    feels: Vec<usize>,
    /// True if a body can be pulled by commands, and by its pose.
    commanded: bool,
    can_reduce: bool,
    /// What is said of each model beside the mechanism: its name, and how it was made.
    models: Vec<[String; 2]>,
    /// What is being worked at, and how far it is.
    working: Option<String>,
}

impl Session<'_> {
    /// Says how things are.
    pub(super) fn tell(&mut self) {
        let bodies = self.all[0].picture().bodies.len();
        let status = Status {
            r#type: "status",
            picture: self.picture,
            moving: self.moving,
            speed: self.speed,
            stiffness: self.stiffness,
            servos: self.all[0].servos(),
            keys: self.keys.labels(),
            pinned: self.pins.iter().map(|p| p.asked.0).collect(),
            feels: (0..bodies).filter(|b| self.all[0].feels(*b)).collect(),
            commanded: self.all[0].is_commanded() && self.twins.is_empty(),
            can_reduce: self.source.is_some(),
            models: self.twins.iter().map(|t| [t.kind.name().into(), t.said.clone()]).collect(),
            working: self.work.as_ref().map(|w| w.progress()),
        };
        let text = serde_json::to_string(&status).unwrap_or_default();
        self.hub.set_greeting(text.clone());
        self.hub.say(text);
        self.changed = true;
    }
}
