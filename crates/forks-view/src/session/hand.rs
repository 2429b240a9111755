//! What hands do: pull a body by a spring, by commands or by its pose; hold bodies in place.

use forks_mechanism::lie::glam::DVec3;

use super::{PIN, Session, grip::Grip};
use crate::{
    command::By,
    subject::{Aim, Push},
};

/// What a hand holds.
pub(super) enum Hand {
    /// Nothing.
    Open,
    /// A spring.
    Spring(Grip),
    /// A point that commands bring to its place.
    Commands(Aim),
    /// A point that poses bring to its place, until it is there.
    Pose {
        /// Which, and where to.
        aim: Aim,
        /// True if the pose is of an earlier place.
        due: bool,
    },
}

impl Hand {
    pub(super) fn commanded(&self) -> Option<&Aim> {
        match self {
            Self::Commands(aim) => Some(aim),
            _ => None,
        }
    }

    pub(super) fn spring(&mut self) -> Option<&mut Grip> {
        match self {
            Self::Spring(grip) => Some(grip),
            _ => None,
        }
    }
}

impl Session<'_> {
    pub(super) fn is_pulling(&self) -> bool {
        !matches!(self.hand, Hand::Open)
    }

    pub(super) fn release(&mut self) {
        self.hand = Hand::Open;
    }

    /// All springs, the hand's last.
    pub(super) fn grips(&mut self) -> impl Iterator<Item = &mut Grip> {
        self.pins.iter_mut().chain(self.hand.spring())
    }

    /// What the springs exert on the `k`-th of what moves: each has its own force.
    pub(super) fn pushes(&mut self, k: usize) -> Vec<Push> {
        let mut out: Vec<Push> = Vec::new();
        let Self { all, pins, hand, .. } = self;
        let subject = &*all[k];
        for grip in pins.iter_mut().chain(hand.spring()) {
            if !subject.feels(grip.body) {
                continue;
            }
            let push = match k {
                0 => grip.push(subject, &out),
                // The same force on both shows what the reduction changes.
                _ => Some(Push { body: grip.body, point: grip.point, force: grip.force }),
            };
            out.extend(push);
        }
        out
    }

    fn feeling(&self, body: usize) -> Result<(), String> {
        if self.all[0].feels(body) {
            return Ok(());
        }
        let name = self.all[0].picture().bodies.get(body).map(|b| b.name.clone());
        Err(match name {
            Some(name) => format!("'{name}' feels no forces: it is no effector"),
            None => format!("there is no body {body} that feels forces"),
        })
    }

    pub(super) fn pull(&mut self, aim: Aim, by: By) -> Result<(), String> {
        self.feeling(aim.body)?;
        if by != By::Spring {
            if !self.all[0].is_commanded() {
                return Err("there are no joints to command or to pose here: pull by the spring \
                            (\"spring\")"
                    .into());
            }
            if !self.twins.is_empty() {
                return Err("models beside the mechanism have no joints to command or to pose: \
                            pull by the spring, or take them away (\"full alone\")"
                    .into());
            }
        }
        match (by, &mut self.hand) {
            (By::Spring, Hand::Spring(p)) if p.asked == (aim.body, aim.point) => {
                p.target = aim.target;
            }
            (By::Spring, hand) => {
                *hand = Hand::Spring(Grip::new(&*self.all[0], aim, self.stiffness));
            }
            (By::Commands, hand) => *hand = Hand::Commands(aim),
            (By::Pose, hand) => {
                self.moving = false;
                self.single = 0;
                *hand = Hand::Pose { aim, due: true };
            }
        }
        Ok(())
    }

    /// Brings the mechanism into the pose that the hand asks for, if it has not got it.
    pub(super) fn pose(&mut self) {
        let Hand::Pose { aim, due: due @ true } = &mut self.hand else { return };
        *due = false;
        let aim = *aim;
        let pin = |p: &Grip| Aim { body: p.body, point: p.point, target: p.target };
        let pins: Vec<Aim> = self.pins.iter().map(pin).collect();
        match self.all[0].pose_by(&aim, &pins) {
            Ok(()) => self.tell(),
            Err(text) => self.hub.complain(&text),
        }
    }

    pub(super) fn pin(&mut self, body: usize) -> Result<(), String> {
        self.feeling(body)?;
        if let Some(at) = self.pins.iter().position(|p| p.asked.0 == body) {
            self.pins.remove(at);
            return Ok(());
        }
        let target = self.all[0].pose(body).translation;
        let aim = Aim { body, point: DVec3::ZERO, target };
        let mut grip = Grip::new(&*self.all[0], aim, PIN * self.stiffness);
        grip.target = grip.place(&*self.all[0]);
        self.pins.push(grip);
        Ok(())
    }
}
