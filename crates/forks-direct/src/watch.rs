//! What is watched while a scene is driven.

use forks_mechanism::lie::glam::DVec3;

/// A number over a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// What, for people.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Now.
    pub now: f64,
    /// Largest so far.
    pub largest: f64,
    /// Sum of squares so far, and of how many.
    squares: f64,
    count: usize,
}

impl Watched {
    pub(crate) fn new(name: impl Into<String>, unit: &'static str) -> Self {
        Self { name: name.into(), unit, now: 0.0, largest: 0.0, squares: 0.0, count: 0 }
    }

    pub(crate) fn see(&mut self, x: f64) {
        self.now = x;
        self.largest = self.largest.max(x);
        self.squares += x * x;
        self.count += 1;
    }

    /// Root of the mean square so far; 0 without a step.
    pub fn rms(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }
}

/// A place that something shall be at.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Of what.
    pub name: String,
    /// Where now, world, m.
    pub place: DVec3,
}

/// The length of numbers.
pub(crate) fn norm(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}
