//! All levels, one after the other.

use super::{
    level::Search,
    problem::Problem,
    reflectors::norm,
    report::{Certificate, Status},
};

/// Excess above this share of a row's terms is one that the levels after it must not change.
const VIOLATED: f64 = 1e-11;

/// Solver with its memory and the last solution, from which the next one starts.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    search: Search,
    x: Vec<f64>,
    certificates: Vec<Certificate>,
    limit: Option<usize>,
}

impl Solver {
    /// A solver that starts at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The most changes of the active set per level; by itself 50 + 10 (unknowns + rows before and
    /// of the level).
    pub fn set_iteration_limit(&mut self, limit: Option<usize>) {
        self.limit = limit;
    }

    /// Forgets the last solution: the next one starts at zero.
    pub fn restart(&mut self) {
        self.x.clear();
    }

    /// x, optimal for every level in turn. What no level decides stays as near to the start as the
    /// steps leave it; a last level x = 0 makes x unique.
    ///
    /// Starts at the last solution if that has as many unknowns, else at zero. A row counts as
    /// relaxed where it is beyond its bounds by more than 1e-9 of the sizes of its terms.
    pub fn solve(&mut self, problem: &Problem) -> Status {
        let n = problem.unknowns();
        if self.x.len() != n {
            self.x.clear();
            self.x.resize(n, 0.0);
        }
        self.search.start(n);
        self.certificates.clear();
        let mut rows = 0;
        for (level, of) in problem.levels().iter().enumerate() {
            rows += of.len();
            let most = self.limit.unwrap_or(50 + 10 * (n + rows));
            let mut certificate = Certificate::default();
            let done = self.search.run(problem, level, &mut self.x, most, &mut certificate);
            certificate.primal = self.search.leak(problem, &self.x);
            self.certificates.push(certificate);
            if !done {
                return Status::IterationLimit { level };
            }
            if level + 1 < problem.levels().len() {
                self.search.keep(problem, level, &self.x, VIOLATED);
            }
        }
        relaxed(problem, &self.x)
    }

    /// The last solution.
    pub fn solution(&self) -> &[f64] {
        &self.x
    }

    /// One certificate per level that was worked on.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }
}

/// The first level with a row beyond its bounds, and its worst row.
fn relaxed(problem: &Problem, x: &[f64]) -> Status {
    let length = norm(x);
    for (level, rows) in problem.levels().iter().enumerate() {
        let mut worst = (0.0, None);
        for row in 0..rows.len() {
            let Some(by) = rows.relaxed(row, rows.value(row, x), length) else { continue };
            let weighted = by.abs() * rows.weight[row];
            if weighted > worst.0 {
                worst = (weighted, Some((row, by)));
            }
        }
        if let Some((row, by)) = worst.1 {
            return Status::Relaxed { level, row, by };
        }
    }
    Status::Solved
}

#[cfg(test)]
mod tests {
    use super::{Problem, Solver, Status};

    /// Places and capacities of everything that a solution stores numbers in: another one means
    /// that memory was asked for. (A counting allocator needs unsafe code.)
    fn memory(s: &Solver) -> Vec<(usize, usize)> {
        let own = (s.x.as_ptr() as usize, s.x.capacity());
        let certificates = (s.certificates.as_ptr() as usize, s.certificates.capacity());
        s.search.memory().into_iter().chain([own, certificates]).collect()
    }

    #[test]
    fn problems_of_a_known_size_allocate_nothing() {
        let mut problem = Problem::new(6, 3);
        let mut solver = Solver::new();
        let mut known = Vec::new();
        for turn in 0..100 {
            problem.reset(6, 3);
            // Moving targets beyond limits, so that rows come and go.
            for i in 0..6 {
                let unit = core::array::from_fn::<f64, 6, _>(|j| f64::from(u8::from(i == j)));
                let wave = |k: usize| f64::sin(0.3 * f64::from(turn) + (i * k) as f64);
                let other: [f64; 6] = core::array::from_fn(|j| f64::sin((i * 7 + j * j) as f64));
                problem.level_mut(0).push(&unit, -1.0, 1.0, 1.0).unwrap();
                problem.level_mut(1).push(&other, wave(1), wave(1) + 0.5, 1.0).unwrap();
                problem.level_mut(2).push(&unit, 2.0 * wave(2), 2.0 * wave(2), 1.0).unwrap();
            }
            let status = solver.solve(&problem);
            assert!(!matches!(status, Status::IterationLimit { .. }));
            match turn {
                // One period of the targets has seen every size.
                0..50 => known = memory(&solver),
                _ => assert_eq!(memory(&solver), known, "turn {turn}"),
            }
        }
    }
}
