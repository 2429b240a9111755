//! A goal with its importance.

use super::goal::{Axes, Goal};

/// A goal with its importance.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// How reports call it.
    pub name: String,
    /// What it asks for.
    pub goal: Goal,
    /// The axes of its rows.
    pub axes: Axes,
    /// Which of the goal's rows count, in their order; of a joint and of a posture all do.
    pub mask: [bool; 6],
    /// Level, 0 the most important; limits of commands stand above all.
    pub level: usize,
    /// Weight of its rows within the level; squared in the sum of squares. Above 0.
    pub weight: f64,
    /// k, 1/s².
    pub stiffness: f64,
    /// d, 1/s.
    pub damping: f64,
    /// How what it asks for moves.
    pub moving: Moving,
}

/// Rates of a target and their rates: of a position, an orientation, a pose or the centre of mass
/// a twist in world axes, linear part first (m/s, rad/s; /s²); of a joint the first number; nothing
/// of other goals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moving {
    /// Velocity.
    pub velocity: [f64; 6],
    /// Acceleration.
    pub acceleration: [f64; 6],
}

impl Task {
    /// All rows of a goal in its own axes, on level 0, of weight 1, critically damped with
    /// k = 100/s² and d = 20/s.
    pub fn new(name: impl Into<String>, goal: Goal) -> Self {
        Self {
            name: name.into(),
            goal,
            axes: Axes::Own,
            mask: [true; 6],
            level: 0,
            weight: 1.0,
            stiffness: 100.0,
            damping: 20.0,
            moving: Moving::default(),
        }
    }

    /// The same for a target that moves.
    #[must_use]
    pub fn moving(self, moving: Moving) -> Self {
        Self { moving, ..self }
    }

    /// The same on another level.
    #[must_use]
    pub fn on_level(self, level: usize) -> Self {
        Self { level, ..self }
    }

    /// The same with another weight.
    #[must_use]
    pub fn weighing(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The same with only some rows.
    #[must_use]
    pub fn masked(self, mask: [bool; 6]) -> Self {
        Self { mask, ..self }
    }

    /// The same with rows in other axes.
    #[must_use]
    pub fn in_axes(self, axes: Axes) -> Self {
        Self { axes, ..self }
    }
}
