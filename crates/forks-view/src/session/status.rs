//! How things are, for pages.

use serde::Serialize;

use super::Session;
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
    pinned: Vec<usize>,
    /// Bodies that feel forces.
    feels: Vec<usize>,
    can_reduce: bool,
    reduced: Option<String>,
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
            pinned: self.pins.iter().map(|p| p.body).collect(),
            feels: (0..bodies).filter(|b| self.all[0].feels(*b)).collect(),
            can_reduce: self.source.is_some(),
            reduced: self.twin.as_ref().map(|t| t.said.clone()),
        };
        let text = serde_json::to_string(&status).unwrap_or_default();
        self.hub.set_greeting(text.clone());
        self.hub.say(text);
        self.changed = true;
    }
}
