//! Linear expressions in a few live variables.

use forks_mechanism::linalg::Matrix;

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

/// A link's twist as a linear expression in at most twelve live variables: its inner link's twist
/// and its joint's coordinates. Lives on the stack, because every tree joint makes one.
#[derive(Default)]
pub(crate) struct TwistExpression {
    sources: [Variable; 12],
    weights: [[f64; 12]; 6],
    count: usize,
}

impl TwistExpression {
    /// Adds `weight(i, j)` times variable j to component i.
    pub(crate) fn add(&mut self, variables: &[Variable], weight: impl Fn(usize, usize) -> f64) {
        for (j, &v) in variables.iter().enumerate() {
            self.sources[self.count + j] = v;
            for i in 0..6 {
                self.weights[i][self.count + j] = weight(i, j);
            }
        }
        self.count += variables.len();
    }

    /// The variables.
    pub(crate) fn sources(&self) -> &[Variable] {
        &self.sources[..self.count]
    }

    /// The weights of component `i`.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.weights[i][..self.count]
    }
}
