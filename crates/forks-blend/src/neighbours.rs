//! Weights of the nearest samples only, found by walking a graph of samples.
//!
//! α_i ∝ d_i^{−p} ψ(d_i²/R²) with ψ(t) = (1 − t⁴)³ below t = 1 and 0 beyond. R is where Σ_i
//! ψ(d_i²/R²) is the number of neighbours wanted: a smooth count of the samples within R. So R
//! depends smoothly on the place and on nothing but the samples within R; a sample enters and
//! leaves with weight 0, slope 0 and curvature 0, and there are always neighbours.

use alloc::{vec, vec::Vec};

use crate::{data::BlendData, relative::Logarithm};

/// Samples with their neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// None: every sample is everyone's neighbour.
    pub(crate) edges: Vec<Vec<usize>>,
}

/// Up to so many samples all are looked at.
const FEW: usize = 24;

impl Graph {
    /// Each sample with the nearest ones, four times as many as are wanted and two dozen at least,
    /// in both directions; parts that are not connected are joined by the shortest edge between
    /// them.
    pub(crate) fn new(data: &BlendData, wanted: usize) -> Self {
        let n = data.samples.len();
        if n <= FEW {
            return Self::default();
        }
        let rests = |i: usize| data.samples[i].model.data().effectors.iter().map(|e| e.rest);
        let distance = |i: usize, j: usize| -> f64 {
            let share = |(a, b): (forks_lie::Pose, forks_lie::Pose)| {
                let xi = Logarithm::of(&(a.inverse() * b)).xi;
                (xi.linear / data.radius).length_squared() + xi.angular.length_squared()
            };
            rests(i).zip(rests(j)).map(share).sum()
        };
        let all: Vec<f64> = (0..n * n).map(|k| distance(k / n, k % n)).collect();
        let count = (4 * wanted).max(FEW).min(n - 1);
        let mut edges = vec![Vec::new(); n];
        for i in 0..n {
            let mut order: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            order.sort_by(|&a, &b| all[i * n + a].total_cmp(&all[i * n + b]));
            for &j in &order[..count] {
                edges[i].push(j);
                edges[j].push(i);
            }
        }
        join(&mut edges, &all, n);
        for list in &mut edges {
            list.sort_unstable();
            list.dedup();
        }
        Self { edges }
    }
}

/// Joins parts that are not connected.
fn join(edges: &mut [Vec<usize>], distances: &[f64], n: usize) {
    loop {
        let mut reached = vec![false; n];
        let mut open = vec![0];
        reached[0] = true;
        while let Some(i) = open.pop() {
            for &j in &edges[i] {
                if !core::mem::replace(&mut reached[j], true) {
                    open.push(j);
                }
            }
        }
        let pairs = (0..n * n).filter(|k| reached[k / n] && !reached[k % n]);
        let shortest = pairs.min_by(|a, b| distances[*a].total_cmp(&distances[*b]));
        let Some(k) = shortest else { return };
        edges[k / n].push(k % n);
        edges[k % n].push(k / n);
    }
}
