//! What plants refuse.

use forks_dynamics::{integrate::SimulationStatus, tree::DynamicsError};
use forks_rom::{ModelError, StepStatus};

/// Why a plant cannot be made or moved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlantError {
    /// A mechanism that is not a tree.
    #[error(
        "{mechanism} has {loops} coordinates of joints that close loops and {couplings} couplings; \
         explicit steps are those of trees: use the implicit plant"
    )]
    NotATree {
        /// Its name.
        mechanism: String,
        /// Velocity coordinates of loop-closing joints.
        loops: usize,
        /// Couplings.
        couplings: usize,
    },
    /// A commanded coordinate that is not there.
    #[error("coordinate {coordinate} is commanded; there are {count}")]
    Coordinate {
        /// Its number.
        coordinate: usize,
        /// How many there are.
        count: usize,
    },
    /// Two commands of one coordinate.
    #[error("coordinate {coordinate} is commanded twice")]
    Twice {
        /// Its number.
        coordinate: usize,
    },
    /// A step that is not positive and finite.
    #[error("the step is {h} s; it has to be finite and above 0")]
    Step {
        /// Its length, s.
        h: f64,
    },
    /// A wrong number of positions, velocities or commands.
    #[error("{found} {what}, expected {expected}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// A position, velocity or command that is not finite.
    #[error("{what} {index} is {value}")]
    NotFinite {
        /// Of what, in the singular.
        what: &'static str,
        /// Which one, from zero.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A motion that no mass resists.
    #[error("no mass resists some motion at this pose")]
    Massless,
    /// Accelerations that do not exist.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// A step of a reduced model that fails.
    #[error("the step of the reduced model ended as {0:?}")]
    Reduced(StepStatus),
    /// A reduced model whose steps do not answer to impulses.
    #[error(
        "the reduced model's scheme does not answer to impulses: use implicit Euler and energy"
    )]
    NoResponse,
    /// What a reduced model refuses.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A step that fails.
    #[error("the step ended as {}", .0.name())]
    Failed(SimulationStatus),
    /// What a plant of another crate says.
    #[error("{0}")]
    Other(String),
}

/// Numbers as many as expected and finite; `what` they are, one and several.
///
/// # Errors
/// Others.
pub fn check(what: [&'static str; 2], values: &[f64], expected: usize) -> Result<(), PlantError> {
    if values.len() != expected {
        return Err(PlantError::Count { what: what[1], found: values.len(), expected });
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(PlantError::NotFinite { what: what[0], index, value: values[index] }),
        None => Ok(()),
    }
}

/// A step of positive length, coordinates that exist and are commanded once.
///
/// # Errors
/// Others.
pub fn check_commands(
    h: f64,
    coordinates: impl Iterator<Item = usize>,
    count: usize,
) -> Result<(), PlantError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(PlantError::Step { h });
    }
    let mut seen = vec![false; count];
    for coordinate in coordinates {
        match seen.get_mut(coordinate) {
            None => return Err(PlantError::Coordinate { coordinate, count }),
            Some(true) => return Err(PlantError::Twice { coordinate }),
            Some(s) => *s = true,
        }
    }
    Ok(())
}
