//! What is least of all commands that tasks leave, as data.
//!
//! A sum of terms, each weight · ‖y‖² in a metric, with y the commands or what coordinates do at
//! the end of the step. Torque, acceleration and velocity are those of \[K08\]; with the mass as
//! metric the velocity is twice the kinetic energy, and the acceleration Gauss's constraint.

use forks_dynamics::mechanism::linalg::{Matrix, Pivots, dense::symmetric_eigen, dot};

use crate::plant::{Kinematics, Response};

/// What shall be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Commands z.
    Command,
    /// Accelerations of the plant's coordinates over the step, (v⁺ − v)/h.
    Acceleration,
    /// Velocities of the plant's coordinates at its end, v⁺.
    Velocity,
    /// Change of the acceleration since the step before, over h; of the first step from none.
    Jerk,
}

/// How numbers of different units are compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// Σ y².
    Unit,
    /// Σ w y², a weight w ≥ 0 per command or coordinate; what weighs nothing does not count.
    Diagonal(Vec<f64>),
    /// yᵀ M y with the mass at the pose; not of commands.
    Mass,
}

/// A part of an objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What shall be small.
    pub quantity: Quantity,
    /// How it is measured.
    pub metric: Metric,
    /// Factor of ‖y‖², above 0.
    pub weight: f64,
}

/// A sum of terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// Its terms.
    pub terms: Vec<Term>,
}

/// Why an objective is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// A weight that is not above 0, or a metric's that is below 0, or not finite.
    #[error("term {term} of the objective: {what} is {value}")]
    Weight {
        /// Which term, from zero.
        term: usize,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A metric of another size.
    #[error("term {term} of the objective has {found} weights, expected {expected}")]
    Count {
        /// Which term, from zero.
        term: usize,
        /// Its weights.
        found: usize,
        /// Commands or coordinates.
        expected: usize,
    },
    /// The mass as metric of commands.
    #[error("term {term} of the objective: commands are not measured by the mass")]
    MassOfCommands {
        /// Which term, from zero.
        term: usize,
    },
    /// A mass that is not finite or negative along some motion.
    #[error("term {term} of the objective: the mass at this pose is not positive")]
    Mass {
        /// Which term, from zero.
        term: usize,
    },
}

impl Default for Objective {
    fn default() -> Self {
        Self::torque()
    }
}

impl Objective {
    fn of(quantity: Quantity, metric: Metric) -> Self {
        Self { terms: vec![Term { quantity, metric, weight: 1.0 }] }
    }

    /// The least forces: the sum of squares of the commands.
    pub fn torque() -> Self {
        Self::of(Quantity::Command, Metric::Unit)
    }

    /// The least accelerations of all coordinates.
    pub fn acceleration() -> Self {
        Self::of(Quantity::Acceleration, Metric::Unit)
    }

    /// The least velocities of all coordinates at the step's end.
    pub fn velocity() -> Self {
        Self::of(Quantity::Velocity, Metric::Unit)
    }

    /// The least kinetic energy at the step's end.
    pub fn kinetic_energy() -> Self {
        Self::of(Quantity::Velocity, Metric::Mass)
    }

    /// The least change of accelerations.
    pub fn jerk() -> Self {
        Self::of(Quantity::Jerk, Metric::Unit)
    }

    /// With another term.
    #[must_use]
    pub fn and(mut self, quantity: Quantity, metric: Metric, weight: f64) -> Self {
        self.terms.push(Term { quantity, metric, weight });
        self
    }

    /// True if no commands but the least ones are the least of the objective: every command has a
    /// weight of its own.
    pub(crate) fn decides_commands(&self) -> bool {
        self.terms.iter().any(|t| {
            t.quantity == Quantity::Command
                && match &t.metric {
                    Metric::Unit => true,
                    Metric::Diagonal(w) => w.iter().all(|w| *w > 0.0),
                    Metric::Mass => false,
                }
        })
    }

    pub(crate) fn check(&self, commands: usize, coordinates: usize) -> Result<(), ObjectiveError> {
        for (term, t) in self.terms.iter().enumerate() {
            let wrong = |what, value| Err(ObjectiveError::Weight { term, what, value });
            if !(t.weight.is_finite() && t.weight > 0.0) {
                return wrong("its weight", t.weight);
            }
            let of_commands = t.quantity == Quantity::Command;
            let expected = if of_commands { commands } else { coordinates };
            match &t.metric {
                Metric::Unit => {}
                Metric::Mass if of_commands => return Err(ObjectiveError::MassOfCommands { term }),
                Metric::Mass => {}
                Metric::Diagonal(w) if w.len() != expected => {
                    return Err(ObjectiveError::Count { term, found: w.len(), expected });
                }
                Metric::Diagonal(w) => {
                    if let Some(w) = w.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
                        return wrong("a weight of its metric", *w);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Memory for the rows of an objective, and what it remembers of the step before.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectiveRows {
    /// Velocities of coordinates when commands were asked for the last time, and now.
    before: Vec<f64>,
    now: Vec<f64>,
    /// Accelerations of the step before.
    last: Vec<f64>,
    over: Vec<f64>,
    row: Vec<f64>,
}

impl ObjectiveRows {
    /// Takes note of the plant's velocities; what it did since the last time is its last step.
    pub(crate) fn observe<K: Kinematics>(&mut self, plant: &K) {
        let (count, h) = (plant.coordinate_count(), plant.step_length());
        std::mem::swap(&mut self.before, &mut self.now);
        self.over.resize(plant.rates().len(), 0.0);
        self.now.clear();
        for c in 0..count {
            plant.coordinate(c, &mut self.over);
            self.now.push(dot(&self.over, plant.rates()));
        }
        self.last.clear();
        match self.before.len() == count {
            true => {
                let rates = self.now.iter().zip(&self.before).map(|(n, b)| (n - b) / h);
                self.last.extend(rates);
            }
            false => self.last.resize(count, 0.0),
        }
    }

    /// Forgets the step before.
    pub(crate) fn restart(&mut self) {
        self.now.clear();
    }

    /// Rows over the commands, what they shall sum up to, and their weights, into `push`. Of the
    /// columns of the response only the first `commands` are commands.
    ///
    /// # Errors
    /// Those of `push`; a mass that is not positive.
    pub(crate) fn rows<K: Kinematics, E: From<ObjectiveError>>(
        &mut self,
        objective: &Objective,
        plant: &K,
        response: &Response,
        commands: usize,
        mut push: impl FnMut(&[f64], f64, f64) -> Result<(), E>,
    ) -> Result<(), E> {
        for (at, term) in objective.terms.iter().enumerate() {
            match (&term.metric, term.quantity) {
                (Metric::Mass, _) => self.by_mass(at, term, plant, response, &mut push)?,
                (metric, Quantity::Command) => {
                    self.row.clear();
                    self.row.resize(response.gain.columns(), 0.0);
                    for i in 0..commands {
                        if let Some(weight) = weight(metric, i, term.weight) {
                            self.row[i] = 1.0;
                            push(&self.row, 0.0, weight)?;
                            self.row[i] = 0.0;
                        }
                    }
                }
                (metric, quantity) => {
                    for c in 0..plant.coordinate_count() {
                        let Some(weight) = weight(metric, c, term.weight) else { continue };
                        plant.coordinate(c, &mut self.over);
                        let free = dot(&self.over, &response.free);
                        response.over_commands(&self.over, 0, &mut self.row);
                        let h = plant.step_length();
                        let (target, size) = asked(quantity, h, self.now[c], self.last[c]);
                        push(&self.row, target - free, weight / size)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Rows of a term that the mass measures: rates by a root of it.
    fn by_mass<K: Kinematics, E: From<ObjectiveError>>(
        &mut self,
        at: usize,
        term: &Term,
        plant: &K,
        response: &Response,
        push: &mut impl FnMut(&[f64], f64, f64) -> Result<(), E>,
    ) -> Result<(), E> {
        let (n, h) = (plant.rates().len(), plant.step_length());
        let mass = plant.mass().symmetric_part();
        let root = root(&mass).ok_or(ObjectiveError::Mass { term: at })?;
        let last = match term.quantity {
            Quantity::Jerk => self.last_of_rates(plant),
            _ => vec![0.0; n],
        };
        let mut targets = vec![0.0; n];
        let mut size = 1.0;
        for (i, target) in targets.iter_mut().enumerate() {
            (*target, size) = asked(term.quantity, h, plant.rates()[i], last[i]);
        }
        for i in 0..n {
            let open: Vec<f64> = targets.iter().zip(&response.free).map(|(t, f)| t - f).collect();
            response.over_commands(root.row(i), 0, &mut self.row);
            push(&self.row, dot(root.row(i), &open), term.weight.sqrt() / size)?;
        }
        Ok(())
    }

    /// Accelerations of the step before as the rates of this pose have them, by least squares.
    fn last_of_rates<K: Kinematics>(&self, plant: &K) -> Vec<f64> {
        let n = plant.rates().len();
        let mut rows = Matrix::zeros(self.last.len(), n);
        (0..self.last.len()).for_each(|c| plant.coordinate(c, rows.row_mut(c)));
        let right = rows.transpose_mul_vec(&self.last);
        let normal = rows.transpose_mul(&rows);
        normal.solve_vec(&right, Pivots::ROUNDING).unwrap_or_else(|| vec![0.0; n])
    }
}

/// What a rate shall be at the end of the step, and what a unit of the quantity is in rates.
fn asked(quantity: Quantity, h: f64, now: f64, last: f64) -> (f64, f64) {
    match quantity {
        Quantity::Velocity | Quantity::Command => (0.0, 1.0),
        Quantity::Acceleration => (now, h),
        Quantity::Jerk => (now + h * last, h * h),
    }
}

/// The weight of a row, whose square counts; none where it is zero.
fn weight(metric: &Metric, i: usize, factor: f64) -> Option<f64> {
    let own = match metric {
        Metric::Diagonal(w) => w[i],
        Metric::Unit | Metric::Mass => 1.0,
    };
    (own > 0.0).then(|| (own * factor).sqrt())
}

/// R with RᵀR = A, for A ≥ 0.
fn root(a: &Matrix) -> Option<Matrix> {
    if let Some(l) = a.cholesky(Pivots::ROUNDING) {
        return Some(l.transpose());
    }
    let (values, vectors) = symmetric_eigen(a)?;
    let largest = values.last().copied().unwrap_or(0.0);
    if values.iter().any(|v| *v < -1e-9 * largest) {
        return None;
    }
    let n = a.rows();
    Some(Matrix::from_fn(n, n, |i, j| values[i].max(0.0).sqrt() * vectors[(j, i)]))
}
