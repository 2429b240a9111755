//! What a page may ask for: one JSON object per message.

use serde::Deserialize;

/// Largest message that is read, bytes.
pub(crate) const LARGEST: usize = 1 << 16;

/// How a body that is pulled comes to its place.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum By {
    /// A spring from the hand to the body.
    #[default]
    Spring,
    /// Commands of the mechanism's own servos or joints.
    Commands,
    /// Its pose is changed while it rests.
    Pose,
}

/// A command.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Go on.
    Play {},
    /// Stop.
    Pause {},
    /// Make this many steps and stop.
    Step {
        /// 1 to 10,000.
        count: u32,
    },
    /// Simulated time over time on the clock.
    Speed {
        /// 0.001 to 100.
        factor: f64,
    },
    /// Pull a point of a body towards a place in the world.
    Pull {
        /// Number of the body in the picture.
        body: usize,
        /// In the body, m.
        point: [f64; 3],
        /// In the world, m.
        target: [f64; 3],
        /// How.
        #[serde(default)]
        by: By,
    },
    /// Let go of what is pulled.
    Release {},
    /// Stiffness of the spring that pulls, N/m.
    Stiffness {
        /// 1e-6 to 1e5.
        value: f64,
    },
    /// Hold the origin of a body where it is, or let it go.
    Pin {
        /// Number of the body in the picture.
        body: usize,
    },
    /// Move a servo's target by this much from the start pose.
    Servo {
        /// Its number.
        index: usize,
        /// m or rad.
        target: f64,
    },
    /// Back to a moment.
    Rewind {
        /// s.
        time: f64,
    },
    /// Back to the start.
    Reset {},
    /// Keep the present as a keyframe.
    Keep {},
    /// Go to a keyframe; what was before cannot be gone back to.
    Recall {
        /// Its number.
        id: u64,
    },
    /// Forget a moment that was kept.
    Forget {
        /// Its number.
        id: u64,
    },
    /// Reduce the mechanism to these links, and move the reduced model beside it.
    Reduce {
        /// Numbers of bodies in the picture.
        bodies: Vec<usize>,
        /// Modes besides the static shapes, 0 to 64.
        #[serde(default)]
        modes: u32,
    },
    /// Place a blend for these links, and move it beside the mechanism.
    Place {
        /// Numbers of bodies in the picture.
        bodies: Vec<usize>,
        /// Relative displacement up to which forces move an effector, 0.001 to 2.
        range: f64,
        /// Most linearisation points, 1 to 32.
        samples: u32,
    },
    /// Add a linearisation point to the blend where the mechanism is.
    Extend {
        /// Numbers of bodies in the picture that are the effectors, where there is no model yet.
        #[serde(default)]
        bodies: Vec<usize>,
    },
    /// Give up what is being worked at.
    Cancel {},
    /// Take the models away.
    Unreduce {},
}

impl Command {
    /// Reads a message.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let command: Self =
            serde_json::from_str(text).map_err(|e| format!("not a command: {e}"))?;
        command.check()?;
        Ok(command)
    }

    fn check(&self) -> Result<(), String> {
        let range = |what: &str, x: f64, low: f64, high: f64| {
            if (low..=high).contains(&x) {
                return Ok(());
            }
            Err(format!("{what} is {x}, but has to be {low} to {high}"))
        };
        match self {
            Self::Step { count } => range("the number of steps", f64::from(*count), 1.0, 1e4),
            Self::Speed { factor } => range("the speed", *factor, 1e-3, 100.0),
            Self::Stiffness { value } => range("the stiffness", *value, 1e-6, 1e5),
            Self::Pull { point, target, .. } => {
                let mut all = point.iter().chain(target);
                all.try_for_each(|x| range("a coordinate", *x, -1e12, 1e12))
            }
            Self::Servo { target, .. } => range("the target", *target, -1e12, 1e12),
            Self::Reduce { modes, .. } => {
                range("the number of modes", f64::from(*modes), 0.0, 64.0)
            }
            Self::Place { range: r, samples, .. } => {
                range("the range", *r, 1e-3, 2.0)?;
                range("the number of samples", f64::from(*samples), 1.0, 32.0)
            }
            Self::Rewind { time } => range("the time", *time, -1e12, 1e12),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        assert_eq!(Command::read(r#"{"type":"play"}"#), Ok(Command::Play {}));
        let pull = r#"{"type":"pull","body":2,"point":[0,0,1],"target":[1,2,3]}"#;
        let (point, target) = ([0.0, 0.0, 1.0], [1.0, 2.0, 3.0]);
        let expected = Command::Pull { body: 2, point, target, by: By::Spring };
        assert_eq!(Command::read(pull), Ok(expected));
        let by = pull.replace('}', r#","by":"commands"}"#);
        let expected = Command::Pull { body: 2, point, target, by: By::Commands };
        assert_eq!(Command::read(&by), Ok(expected));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "play",
            "[]",
            r#"{"type":"fly"}"#,
            r#"{"type":"play","now":true}"#,
            r#"{"type":"step","count":0}"#,
            r#"{"type":"step","count":-1}"#,
            r#"{"type":"speed","factor":1e300}"#,
            r#"{"type":"pull","body":0,"point":[0,0],"target":[0,0,0]}"#,
            r#"{"type":"pull","body":0,"point":[0,0,1e999],"target":[0,0,0]}"#,
            r#"{"type":"pull","body":0,"point":[0,0,0],"target":[0,0,0],"by":"magic"}"#,
            r#"{"type":"reduce","bodies":[0],"modes":65}"#,
            r#"{"type":"place","bodies":[0],"range":0,"samples":8}"#,
            r#"{"type":"place","bodies":[0],"range":1,"samples":0}"#,
            r#"{"type":"pull","body":-1,"point":[0,0,0],"target":[0,0,0]}"#,
        ] {
            assert!(Command::read(text).is_err(), "{text}");
        }
    }
}
