//! A model's numbers as JSON: matrices as rows, twists and wrenches as six numbers each.

use alloc::{string::String, vec::Vec};

use forks_lie::{Twist, Wrench};
use forks_linalg::Matrix;
use serde::{Serialize, Serializer};

/// The value on one line. A checked model has finite numbers only; an infinite range is `null`.
pub fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain numbers and names have a form in JSON")
}

/// The rows of a matrix.
pub(crate) fn rows<S: Serializer>(m: &Matrix, out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq((0..m.rows()).map(|i| m.row(i)))
}

/// The rows of every matrix.
pub(crate) fn all_rows<S: Serializer>(matrices: &[Matrix], out: S) -> Result<S::Ok, S::Error> {
    let rows = |m: &Matrix| (0..m.rows()).map(|i| m.row(i).to_vec()).collect::<Vec<_>>();
    out.collect_seq(matrices.iter().map(rows))
}

pub(crate) fn wrench<S: Serializer>(w: &Wrench, out: S) -> Result<S::Ok, S::Error> {
    w.to_array().serialize(out)
}

pub(crate) fn twists<S: Serializer>(twists: &[Twist], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(twists.iter().map(|t| t.to_array()))
}

/// Coordinate and column of every factor, by name.
pub(crate) fn factors<S: Serializer>(
    factors: &[(usize, Twist)],
    out: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Factor {
        coordinate: usize,
        column: [f64; 6],
    }
    let named =
        |&(coordinate, column): &(usize, Twist)| Factor { coordinate, column: column.to_array() };
    out.collect_seq(factors.iter().map(named))
}
