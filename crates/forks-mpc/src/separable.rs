//! Box problems that fall apart: servos that no goal feels have no part in the others' problem, and
//! what is solved with n³ gains by every one that is left out.

use forks_rom::linalg::Matrix;

use crate::box_qp::{BoxQp, QpError, QpStatus, Side};

/// The least ½ xᵀHx + gᵀx within bounds, for an H whose variables may belong to several problems.
#[derive(Clone, Debug)]
pub(crate) struct SeparableQp {
    parts: Vec<Part>,
    sides: Vec<Side>,
    x: Vec<f64>,
}

/// One of the problems; vectors in the order of its variables.
#[derive(Clone, Debug)]
struct Part {
    /// Its variables in the whole problem, increasing.
    members: Vec<usize>,
    qp: BoxQp,
    g: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Part {
    fn new(members: Vec<usize>, h: &Matrix) -> Result<Self, QpError> {
        let n = members.len();
        let own = Matrix::from_fn(n, n, |i, j| h[(members[i], members[j])]);
        let (g, lower, upper) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        Ok(Self { members, qp: BoxQp::new(own)?, g, lower, upper })
    }
}

impl SeparableQp {
    /// Takes H, n × n, apart: |H_ij| ≤ n ε √(H_ii H_jj), which rounding of its factors may change
    /// as much, couples nothing.
    ///
    /// # Errors
    /// H is not positive definite.
    pub(crate) fn new(h: &Matrix) -> Result<Self, QpError> {
        Self::with(components(h), h)
    }

    /// Takes H as one problem, which another H may replace.
    ///
    /// # Errors
    /// H is not positive definite.
    pub(crate) fn whole(h: &Matrix) -> Result<Self, QpError> {
        Self::with(vec![(0..h.rows()).collect()], h)
    }

    fn with(parts: Vec<Vec<usize>>, h: &Matrix) -> Result<Self, QpError> {
        let n = h.rows();
        let parts =
            parts.into_iter().map(|members| Part::new(members, h)).collect::<Result<_, _>>();
        Ok(Self { parts: parts?, sides: vec![Side::Free; n], x: vec![0.0; n] })
    }

    /// See [`BoxQp::replace`]; of [`SeparableQp::whole`] only.
    ///
    /// # Errors
    /// H is not positive definite.
    pub(crate) fn replace(&mut self, h: &Matrix) -> Result<(), QpError> {
        assert_eq!(self.parts.len(), 1, "one problem");
        self.parts[0].qp.replace(h)
    }

    /// The solution.
    pub(crate) fn solution(&self) -> &[f64] {
        &self.x
    }

    /// How many variables are at bounds.
    pub(crate) fn active_count(&self) -> usize {
        self.parts.iter().map(|p| p.qp.active_count()).sum()
    }

    /// Guesses of the problem that needed most.
    pub(crate) fn pivots(&self) -> usize {
        self.parts.iter().map(|p| p.qp.pivots()).max().unwrap_or(0)
    }

    /// See [`BoxQp::shift`].
    pub(crate) fn shift(&mut self, count: usize) {
        let Self { parts, sides, .. } = self;
        for p in parts.iter() {
            p.members.iter().zip(p.qp.sides()).for_each(|(i, side)| sides[*i] = *side);
        }
        if count < sides.len() {
            sides.copy_within(count.., 0);
        }
        for p in parts.iter_mut() {
            p.members.iter().zip(p.qp.sides_mut()).for_each(|(i, side)| *side = sides[*i]);
        }
    }

    /// See [`BoxQp::solve`]; at most so many guesses of each problem. Allocates nothing.
    pub(crate) fn solve(
        &mut self,
        g: &[f64],
        lower: &[f64],
        upper: &[f64],
        most: usize,
        mut go_on: impl FnMut() -> bool,
    ) -> QpStatus {
        let mut status = QpStatus::Solved;
        for p in &mut self.parts {
            for (own, all) in [(&mut p.g, g), (&mut p.lower, lower), (&mut p.upper, upper)] {
                own.iter_mut().zip(&p.members).for_each(|(x, i)| *x = all[*i]);
            }
            match p.qp.solve(&p.g, &p.lower, &p.upper, most, &mut go_on) {
                QpStatus::Refused => return QpStatus::Refused,
                QpStatus::Cut => status = QpStatus::Cut,
                QpStatus::Solved => {}
            }
            p.members.iter().zip(p.qp.solution()).for_each(|(i, x)| self.x[*i] = *x);
        }
        status
    }
}

/// Variables that are coupled, each set increasing, sets by their first ones.
fn components(h: &Matrix) -> Vec<Vec<usize>> {
    let n = h.rows();
    let bound = n as f64 * f64::EPSILON;
    // Of what is no number everything is coupled: the factors refuse it.
    let coupled = |i: usize, j: usize| {
        let free = h[(i, j)].abs() <= bound * (h[(i, i)] * h[(j, j)]).sqrt();
        !free
    };
    let mut found = Vec::new();
    let mut seen = vec![false; n];
    for first in 0..n {
        if core::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut set = vec![first];
        let mut next = 0;
        while next < set.len() {
            let i = set[next];
            next += 1;
            for j in 0..n {
                if !seen[j] && (coupled(i, j) || coupled(j, i)) {
                    seen[j] = true;
                    set.push(j);
                }
            }
        }
        set.sort_unstable();
        found.push(set);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two problems whose variables alternate, and one alone: 0, 2, 4 | 1, 3 | 5.
    fn apart() -> Matrix {
        let mut h = Matrix::from_fn(6, 6, |i, j| match (i == j, (i + j) % 2 == 0) {
            (true, _) => 2.0 + i as f64,
            (false, true) if i.max(j) < 5 => 0.5 / (1.0 + i.abs_diff(j) as f64),
            _ => 0.0,
        });
        // Rounding couples nothing.
        (h[(0, 1)], h[(1, 0)]) = (1e-16, 1e-16);
        h
    }

    #[test]
    fn problems_are_found_and_solved_like_the_whole() {
        let h = apart();
        assert_eq!(components(&h), [vec![0, 2, 4], vec![1, 3], vec![5]]);
        let (mut parts, mut whole) =
            (SeparableQp::new(&h).unwrap(), SeparableQp::whole(&h).unwrap());
        for turn in 0..40 {
            let g: Vec<f64> = (0..6).map(|i| (1.7 * (turn * 6 + i) as f64).sin() * 4.0).collect();
            let (lower, upper) = ([-0.6; 6], [0.4; 6]);
            for qp in [&mut parts, &mut whole] {
                assert_eq!(qp.solve(&g, &lower, &upper, 50, || true), QpStatus::Solved);
            }
            for (a, b) in parts.solution().iter().zip(whole.solution()) {
                assert!((a - b).abs() < 1e-13, "{a} {b}");
            }
            assert_eq!(parts.active_count(), whole.active_count());
            parts.shift(2);
            whole.shift(2);
        }
    }

    #[test]
    fn what_is_refused_or_cut_as_a_whole_is_so_in_parts() {
        let mut qp = SeparableQp::new(&apart()).unwrap();
        let (g, low) = ([9.0, -9.0, 9.0, -9.0, 9.0, -9.0], [-0.1; 6]);
        assert_eq!(qp.solve(&g, &low, &[0.1; 6], 1, || false), QpStatus::Cut);
        assert!(qp.solution().iter().all(|x| x.abs() <= 0.1));
        assert_eq!(qp.solve(&[f64::NAN; 6], &low, &[0.1; 6], 9, || true), QpStatus::Refused);
        let mut h = apart();
        h[(5, 5)] = -1.0;
        assert!(SeparableQp::new(&h).is_err());
        h[(5, 5)] = f64::NAN;
        assert!(SeparableQp::new(&h).is_err());
    }
}
