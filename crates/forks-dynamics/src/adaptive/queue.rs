//! The queue of nodes that are still to be opened, and the sum of their total accelerations.

use std::{cmp::Ordering, collections::BinaryHeap};

/// A node with the norm √A of what is below it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    norm: f64,
    node: u32,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The larger norm first, then the node nearer to the root; a total order, so that runs repeat.
    fn cmp(&self, other: &Self) -> Ordering {
        self.norm.total_cmp(&other.norm).then(self.node.cmp(&other.node))
    }
}

/// Priority queue with the sum of (√A / scale)².
///
/// Subtracting what leaves the queue loses the bound (EQUATIONS 1.3), so the running sum has twice
/// the usual precision and only terms that are in the queue are ever reported: [`Queue::residual`]
/// adds them afresh.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Entry>,
    inverse_scale: f64,
    high: f64,
    low: f64,
}

impl Queue {
    pub(super) fn with_capacity(n: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(n), ..Self::default() }
    }

    /// Empties the queue; norms are counted in units of `scale`.
    pub(super) fn start(&mut self, scale: f64) {
        self.heap.clear();
        self.inverse_scale = if scale > 0.0 { (1.0 / scale).min(f64::MAX) } else { 0.0 };
        (self.high, self.low) = (0.0, 0.0);
    }

    pub(super) fn push(&mut self, norm: f64, node: u32) {
        self.heap.push(Entry { norm, node });
        let x = norm * self.inverse_scale;
        self.add(x * x);
    }

    /// The node with the largest total acceleration.
    pub(super) fn pop(&mut self) -> Option<u32> {
        let e = self.heap.pop()?;
        let x = e.norm * self.inverse_scale;
        self.add(-(x * x));
        Some(e.node)
    }

    /// The largest √A in the queue, 0 if it is empty.
    pub(super) fn top(&self) -> f64 {
        self.heap.peek().map_or(0.0, |e| e.norm)
    }

    /// √(Σ A) over the scale, by the running sum.
    pub(super) fn running(&self) -> f64 {
        let sum = self.high + self.low;
        // NaN stays NaN.
        if self.heap.is_empty() || sum < 0.0 { 0.0 } else { sum.sqrt() }
    }

    /// √(Σ A) over the scale, added afresh.
    pub(super) fn residual(&self) -> f64 {
        let square = |e: &Entry| (e.norm * self.inverse_scale) * (e.norm * self.inverse_scale);
        self.heap.iter().map(square).fold(0.0, |sum, x| sum + x).sqrt()
    }

    /// Exact sum of two numbers, and the rest carried along.
    fn add(&mut self, x: f64) {
        let sum = self.high + x;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (x - part);
        self.high = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_comes_first_and_the_sum_does_not_drift() {
        let mut q = Queue::with_capacity(8);
        q.start(1.0);
        for (i, x) in [1.0, 1e-9, 3e-9, 0.5].into_iter().enumerate() {
            q.push(x, i as u32);
        }
        assert_eq!(q.pop(), Some(0));
        assert_eq!(q.top(), 0.5);
        assert_eq!(q.pop(), Some(3));
        // (1 + 0.25 + 10e-18) − 1 − 0.25 in plain numbers is 0.
        let expected = 10e-18f64.sqrt();
        assert!((q.running() - expected).abs() < 1e-12 * expected);
        assert!((q.residual() - expected).abs() < 4.0 * f64::EPSILON * expected);
        assert_eq!([q.pop(), q.pop(), q.pop()], [Some(2), Some(1), None]);
        assert_eq!((q.running(), q.top()), (0.0, 0.0));
    }

    #[test]
    fn not_a_number_comes_before_everything() {
        let mut q = Queue::with_capacity(2);
        q.start(1.0);
        q.push(1.0, 0);
        q.push(f64::NAN, 1);
        assert_eq!(q.pop(), Some(1));
    }
}
