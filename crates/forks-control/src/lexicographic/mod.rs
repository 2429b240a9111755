//! Lexicographic least squares with bounds at every level: numbers only.
//!
//! Level k asks for lower ≤ A_k x ≤ upper and minimises Σ w² (excess)², where the excess of a row
//! is what it is beyond its bounds, among all x that are optimal for the levels before it
//! (Escande, Mansard and Wieber, IJRR 2014). The excess of an optimum is unique, so a level is kept
//! by rows: one that is beyond a bound stays where it is, one that is not stays within its bounds.
//!
//! Every level is a primal active set by reflections of the directions that the levels before it
//! leave free; the levels start where the last solution ended. Memory is reused: a problem of a
//! size that was seen before allocates nothing.

mod directions;
mod level;
mod problem;
mod reflectors;
mod report;
mod search;
mod solver;
mod triangle;

pub use problem::{Level, Problem, RowError};
pub use report::{Certificate, Status};
pub use solver::Solver;
