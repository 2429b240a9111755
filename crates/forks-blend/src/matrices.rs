//! Matrices between samples: \[A16\] Alg. 3 made robust, and on the manifold of positive definite
//! matrices.
//!
//! Alg. 3 interpolates eigenvectors and eigenvalues: A = Σ_j λ̄_j q̄_j q̄_jᵀ with q̄_j = Σ α_i
//! q_j⁽ⁱ⁾ scaled to length 1. Which eigenvectors belong together is found once, by the one-to-one
//! assignment to those of the most central sample that has the largest sum of overlaps; signs are
//! those of positive overlap, and near-equal eigenvalues are one subspace, in which the basis
//! nearest to the paired vectors is taken.

use alloc::{vec, vec::Vec};

use forks_linalg::{Accuracy, Matrix, dot, jacobi, sqrt};

use crate::assignment::assignment;

/// How force and matrices between samples follow from those at the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Blend {
    /// The energies are blended and the force is the gradient: conservative.
    #[default]
    Energy,
    /// \[A16\] Alg. 3 and 5: w = b̄ + K̄ ξ̄ from a blended reference pose, matrices by their
    /// eigenvectors. Not the gradient of any energy.
    Eigenvectors,
    /// As [`Blend::Eigenvectors`], matrices as exp Σ α_i log A_i (log-Euclidean).
    SpdManifold,
}

/// Relative distance of eigenvalues that count as equal.
const EQUAL: f64 = 1e-10;
/// Eigenvalues below this fraction of the largest are no part of a matrix.
const ZERO: f64 = 1e-13;

/// A symmetric positive semidefinite matrix at every sample.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// Rows.
    n: usize,
    /// Eigenvectors or columns of frames that are interpolated, per sample.
    count: usize,
    /// Sample after sample `count` vectors of `n`.
    vectors: Vec<f64>,
    /// Sample after sample `count` eigenvalues; or `count` × `count` logarithms in the frames.
    values: Vec<f64>,
    logarithmic: bool,
}

struct Spectrum {
    /// Rows are eigenvectors.
    vectors: Vec<f64>,
    values: Vec<f64>,
}

impl Spectrum {
    fn new(m: &Matrix) -> Self {
        let n = m.rows();
        let (mut a, mut v) = (m.as_slice().to_vec(), vec![0.0; n * n]);
        jacobi(n, &mut a, &mut v, Accuracy::Entries);
        Self { vectors: v, values: (0..n).map(|i| a[i * n + i]).collect() }
    }

    /// Eigenvectors whose eigenvalues are not 0.
    fn kept(&self) -> Vec<usize> {
        let largest = self.values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        (0..self.values.len()).filter(|&i| self.values[i].abs() > ZERO * largest).collect()
    }
}

impl Family {
    /// From the matrices at the samples; `reference` is the sample that eigenvectors are paired
    /// with.
    pub(crate) fn new(matrices: &[Matrix], reference: usize, blend: Blend) -> Self {
        let n = matrices[0].rows();
        let spectra: Vec<Spectrum> = matrices.iter().map(Spectrum::new).collect();
        let kept: Vec<Vec<usize>> = spectra.iter().map(Spectrum::kept).collect();
        // Where ranks differ, all vectors take part, those of eigenvalue 0 too.
        let rank = kept[reference].len();
        let all = kept.iter().any(|k| k.len() != rank);
        let chosen = |i: usize| if all { (0..n).collect() } else { kept[i].clone() };
        let row = |i: usize, k: usize| &spectra[i].vectors[k * n..(k + 1) * n];
        let tracks: Vec<&[f64]> = chosen(reference).iter().map(|&k| row(reference, k)).collect();
        let count = tracks.len();
        let logarithmic = blend == Blend::SpdManifold;
        let mut out = Self { n, count, vectors: vec![], values: vec![], logarithmic };
        for i in 0..matrices.len() {
            let own = chosen(i);
            let rows: Vec<&[f64]> = own.iter().map(|&k| row(i, k)).collect();
            let values: Vec<f64> = own.iter().map(|&k| spectra[i].values[k]).collect();
            match logarithmic {
                true => out.push_logarithm(&rows, &values, &tracks),
                false => out.push_tracks(&rows, &values, &tracks),
            }
        }
        out
    }

    /// Eigenvectors in the order and with the signs of the tracks.
    fn push_tracks(&mut self, rows: &[&[f64]], values: &[f64], tracks: &[&[f64]]) {
        let count = self.count;
        let clusters = clusters(values);
        let mut gain = vec![0.0; count * count];
        for cluster in &clusters {
            for (t, track) in tracks.iter().enumerate() {
                let part: f64 = cluster.iter().map(|&k| dot(rows[k], track)).map(|x| x * x).sum();
                cluster.iter().for_each(|&k| gain[k * count + t] = sqrt(part));
            }
        }
        let track_of = assignment(&gain, count);
        let mut ordered: Vec<(f64, Vec<f64>)> = vec![(0.0, vec![]); count];
        for cluster in &clusters {
            let own: Vec<&[f64]> = cluster.iter().map(|&k| rows[k]).collect();
            let mut wanted: Vec<usize> = cluster.iter().map(|&k| track_of[k]).collect();
            wanted.sort_unstable();
            let targets: Vec<&[f64]> = wanted.iter().map(|&t| tracks[t]).collect();
            // Within a cluster the eigenvalues are equal to rounding or nearly: each vector keeps
            // its own share.
            let turn = polar(&overlap(&own, &targets), cluster.len());
            for (c, &t) in wanted.iter().enumerate() {
                let mut vector = vec![0.0; self.n];
                for (k, row) in own.iter().enumerate() {
                    let x = turn[k * cluster.len() + c];
                    vector.iter_mut().zip(*row).for_each(|(v, r)| *v += x * r);
                }
                let mean = |k: &usize| values[*k];
                let value = cluster.iter().map(mean).sum::<f64>() / cluster.len() as f64;
                ordered[t] = (value, vector);
            }
        }
        for (value, vector) in ordered {
            self.values.push(value);
            self.vectors.extend(vector);
        }
    }

    /// The logarithm in the frame of the matrix's range that is nearest to the tracks.
    fn push_logarithm(&mut self, rows: &[&[f64]], values: &[f64], tracks: &[&[f64]]) {
        let count = self.count;
        let largest = values.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let turn = match count == self.n {
            // The whole space: its own axes are the frame.
            true => (0..count * count).map(|k| rows[k / count][k % count]).collect(),
            false => polar(&overlap(rows, tracks), count),
        };
        for c in 0..count {
            for j in 0..self.n {
                let along = rows.iter().enumerate().map(|(k, r)| turn[k * count + c] * r[j]);
                self.vectors.push(match count == self.n {
                    true => f64::from(c == j),
                    false => along.sum(),
                });
            }
        }
        for a in 0..count {
            for b in 0..count {
                let share = |k: usize| {
                    let log = libm::log(values[k].max(ZERO * largest));
                    turn[k * count + a] * turn[k * count + b] * log
                };
                self.values.push((0..count).map(share).sum());
            }
        }
    }

    /// Numbers that [`Family::blend`] needs.
    pub(crate) fn scratch(&self) -> usize {
        2 * self.count * self.count + self.count * self.n + self.n
    }

    /// The matrix between samples, n × n; symmetric and positive semidefinite where the samples'
    /// are.
    pub(crate) fn blend(&self, weights: &[f64], scratch: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        let (vectors, rest) = scratch.split_at_mut(self.count * self.n);
        weighted_sum(weights, &self.vectors, vectors);
        if self.logarithmic {
            self.exponential(weights, vectors, rest, out);
            return;
        }
        for (j, q) in vectors.chunks_exact(self.n).enumerate() {
            let values = self.values.iter().skip(j).step_by(self.count);
            let value: f64 = weights.iter().zip(values).map(|(w, x)| w * x).sum();
            let square = dot(q, q);
            if square > 0.0 {
                add_outer(value / square, q, out);
            }
        }
    }

    /// Σ_k e^{λ_k} (Σ_c v_kc w_c)(…)ᵀ for the eigenvectors v_k of the mean logarithm and the
    /// frame's vectors w_c.
    fn exponential(
        &self,
        weights: &[f64],
        frame: &mut [f64],
        scratch: &mut [f64],
        out: &mut [f64],
    ) {
        let (n, count) = (self.n, self.count);
        orthonormalise(frame, n);
        let (log, rest) = scratch.split_at_mut(count * count);
        let (turn, rest) = rest.split_at_mut(count * count);
        weighted_sum(weights, &self.values, log);
        jacobi(count, log, turn, Accuracy::Entries);
        let vector = &mut rest[..n];
        for k in 0..count {
            vector.fill(0.0);
            for (x, w) in turn[k * count..(k + 1) * count].iter().zip(frame.chunks_exact(n)) {
                vector.iter_mut().zip(w).for_each(|(v, w)| *v += x * w);
            }
            add_outer(libm::exp(log[k * count + k]), vector, out);
        }
    }
}

/// The sample that has the smallest sum of squared distances to the others.
pub(crate) fn most_central(places: &[&[f64]]) -> usize {
    let distance =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
    let sum = |i: usize| places.iter().map(|p| distance(places[i], p)).sum::<f64>();
    (0..places.len()).min_by(|&a, &b| sum(a).total_cmp(&sum(b))).unwrap_or(0)
}

/// Groups of eigenvalues that are nearly equal.
fn clusters(values: &[f64]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut out: Vec<Vec<usize>> = vec![];
    for k in order {
        match out.last_mut() {
            Some(c) => {
                let before = values[c[c.len() - 1]];
                let near = EQUAL * before.abs().max(values[k].abs()) + ZERO * largest;
                match (before - values[k]).abs() <= near {
                    true => c.push(k),
                    false => out.push(vec![k]),
                }
            }
            None => out.push(vec![k]),
        }
    }
    out
}

/// Dot products of rows (down) and targets (across).
fn overlap(rows: &[&[f64]], targets: &[&[f64]]) -> Vec<f64> {
    rows.iter().flat_map(|r| targets.iter().map(|t| dot(r, t))).collect()
}

/// The orthogonal matrix nearest to an n × n matrix: A (AᵀA)^{−1/2}.
fn polar(a: &[f64], n: usize) -> Vec<f64> {
    let mut gram = vec![0.0; n * n];
    a.chunks_exact(n).for_each(|row| add_outer(1.0, row, &mut gram));
    let mut v = vec![0.0; n * n];
    jacobi(n, &mut gram, &mut v, Accuracy::Entries);
    let largest = (0..n).fold(0.0f64, |m, k| m.max(gram[k * n + k]));
    let mut root = vec![0.0; n * n];
    for k in 0..n {
        let value = gram[k * n + k].max(ZERO * largest).max(f64::MIN_POSITIVE);
        add_outer(1.0 / sqrt(value), &v[k * n..(k + 1) * n], &mut root);
    }
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] = (0..n).map(|k| a[i * n + k] * root[k * n + j]).sum();
        }
    }
    // Directions without overlap leave columns that are short.
    let mut columns: Vec<f64> = (0..n * n).map(|k| out[(k % n) * n + k / n]).collect();
    orthonormalise(&mut columns, n);
    (0..n * n).map(|k| columns[(k % n) * n + k / n]).collect()
}

/// Gram's and Schmidt's method on rows of length n, twice; a row that vanishes becomes a unit
/// vector that is left.
fn orthonormalise(rows: &mut [f64], n: usize) {
    for i in 0..rows.len() / n {
        let (before, row) = rows.split_at_mut(i * n);
        let row = &mut row[..n];
        for axis in 0..=n {
            for _ in 0..2 {
                for b in before.chunks_exact(n) {
                    let x = dot(b, row);
                    row.iter_mut().zip(b).for_each(|(r, b)| *r -= x * b);
                }
            }
            let length = sqrt(dot(row, row));
            if length > 1e-9 || axis == n {
                row.iter_mut().for_each(|x| *x /= length.max(f64::MIN_POSITIVE));
                break;
            }
            row.fill(0.0);
            row[axis] = 1.0;
        }
    }
}

fn weighted_sum(weights: &[f64], parts: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    if out.is_empty() {
        return;
    }
    for (w, part) in weights.iter().zip(parts.chunks_exact(out.len())) {
        if *w != 0.0 {
            out.iter_mut().zip(part).for_each(|(o, x)| *o += w * x);
        }
    }
}

/// out += s x xᵀ, symmetric to the last bit.
fn add_outer(s: f64, x: &[f64], out: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] += s * (x[i] * x[j]);
        }
    }
}
