//! Linear expressions in a few live variables.

use forks_mechanism::dense::Matrix;

use super::Variable;

/// Rows of a linear expression in a few variables.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// The variables.
    pub(crate) variables: Vec<Variable>,
    /// One row per expression, one column per variable.
    pub(crate) matrix: Matrix,
}

impl Rows {
    /// `count` expressions of nothing yet.
    pub(crate) fn zero(count: usize) -> Self {
        Self { variables: Vec::new(), matrix: Matrix::zeros(count, 0) }
    }

    /// The variables themselves.
    pub(crate) fn of(variables: Vec<Variable>) -> Self {
        Self { matrix: Matrix::identity(variables.len()), variables }
    }

    /// Plus `sign` × `matrix` × further variables.
    pub(crate) fn plus(mut self, sign: f64, matrix: &Matrix, variables: &[Variable]) -> Self {
        let old = self.variables.len();
        self.variables.extend(variables);
        self.matrix = Matrix::from_fn(matrix.rows(), self.variables.len(), |i, j| {
            if j < old { self.matrix[(i, j)] } else { sign * matrix[(i, j - old)] }
        });
        self
    }
}
