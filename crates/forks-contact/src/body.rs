//! A body's inverse system matrix, between its coordinates and all its ports, in the order in which
//! a solve reads it.

use alloc::{vec, vec::Vec};

use forks_linalg::{
    Matrix, dot,
    simd::{Arithmetic, Wide},
};

use crate::quad::{Quad, SIX, product};

/// What unit impulses in six rates do to six others: row after row.
pub(crate) type Response = [[f64; SIX]; SIX];

/// Place of a port that does not have six rates.
pub(crate) const OTHER_SIZE: usize = usize::MAX;

/// A body's numbers.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Coordinates n.
    pub(crate) dof: usize,
    /// First of its velocities.
    pub(crate) velocity: usize,
    /// Its coordinates as a port, then the ports that were added.
    pub(crate) ports: Vec<usize>,
    /// P of all ports but the first, m × n.
    map: Vec<f64>,
    /// The columns of P of ports of six rates, padded to eight, n per port; none for other ports.
    columns: Vec<[Quad; 2]>,
    /// Rates of all ports: n + m.
    stride: usize,
    /// What an impulse in one port does to the rates of another: (1; P) A⁻¹ (1, Pᵀ), n + m rows.
    inverse: Vec<f64>,
    /// First rates of the ports of six.
    sixes: Vec<usize>,
    /// The inverse between any two of them.
    responses: Vec<Response>,
    /// The inverse between rates and coordinates: for every four coordinates one quad per rate.
    reach: Vec<Quad>,
}

impl Body {
    /// A body whose coordinates are the port of a number.
    pub(crate) fn new(dof: usize, velocity: usize, port: usize, inverse: &Matrix) -> Self {
        let mut body = Self {
            dof,
            velocity,
            ports: vec![port],
            map: Vec::new(),
            columns: Vec::new(),
            stride: dof,
            inverse: Vec::new(),
            sixes: if dof == SIX { vec![0] } else { Vec::new() },
            responses: Vec::new(),
            reach: Vec::new(),
        };
        body.set_inverse(inverse.as_slice());
        body
    }

    /// The port of its coordinates.
    pub(crate) fn own_port(&self, body: usize) -> Port {
        Port { body, first: 0, width: self.dof, six: if self.dof == SIX { 0 } else { OTHER_SIZE } }
    }

    /// Adds a port by its number.
    pub(crate) fn add_port(&mut self, body: usize, port: usize, map: &Matrix) -> Port {
        let (n, first, width) = (self.dof, self.stride, map.rows());
        let inverse: Vec<f64> =
            (0..n).flat_map(|i| &self.inverse[i * first..][..n]).copied().collect();
        self.map.extend_from_slice(map.as_slice());
        self.stride += width;
        let mut six = OTHER_SIZE;
        if width == SIX {
            six = self.sixes.len();
            self.sixes.push(first);
            let entry = |i: usize, j: usize| if i < SIX { map[(i, j)] } else { 0.0 };
            let four = |i: usize, j: usize| Quad(core::array::from_fn(|k| entry(i + k, j)));
            self.columns.extend((0..n).map(|j| [four(0, j), four(4, j)]));
        }
        self.set_inverse(&inverse);
        self.ports.push(port);
        Port { body, first, width, six }
    }

    /// The rates w = P v of a port, appended to `out`.
    #[inline(always)]
    pub(crate) fn push_rates<L: Arithmetic>(
        &self,
        l: L,
        port: &Port,
        v: &[f64],
        out: &mut Vec<f64>,
    ) {
        let Some(first) = port.first.checked_sub(self.dof) else {
            return out.extend_from_slice(v);
        };
        let n = self.dof;
        if port.six == OTHER_SIZE {
            let rows = self.map[first * n..].chunks_exact(n.max(1));
            return out.extend(rows.take(port.width).map(|row| dot(row, v)));
        }
        // The coordinates, where they are a port of six, have no columns.
        let columns = &self.columns[(port.six - usize::from(n == SIX)) * n..][..n];
        // Sums of even and odd coordinates side by side: one alone waits for every addition.
        let zero = [l.splat(0.0); 2];
        let (mut even, mut odd) = (zero, zero);
        let add = |[a, b]: [Wide<L>; 2], x: f64, column: &[Quad; 2]| {
            let x = l.splat(x);
            [l.load(&column[0]) * x + a, l.load(&column[1]) * x + b]
        };
        let ((x, x_end), (columns, end)) = (v.as_chunks::<2>(), columns.as_chunks::<2>());
        for (x, columns) in x.iter().zip(columns) {
            even = add(even, x[0], &columns[0]);
            odd = add(odd, x[1], &columns[1]);
        }
        if let ([x], [column]) = (x_end, end) {
            even = add(even, *x, column);
        }
        let Quad([a, b, c, d]) = (even[0] + odd[0]).store();
        let Quad([e, f, ..]) = (even[1] + odd[1]).store();
        out.extend_from_slice(&[a, b, c, d, e, f]);
    }

    /// What the rows of a constraint, acting through one port, do to the rates of another: one quad
    /// per rate.
    #[inline(always)]
    pub(crate) fn respond<L: Arithmetic>(
        &self,
        l: L,
        (jacobian, from): (&[Quad], &Port),
        to: &Port,
        out: &mut [Quad],
    ) {
        let rows = self.inverse[to.first * self.stride..].chunks_exact(self.stride.max(1));
        // Not by an iterator that is told what to do: such a call is not always compiled for the
        // wide registers.
        for (row, out) in rows.zip(&mut out[..to.width]) {
            *out = product(l, jacobian, &row[from.first..][..from.width]).store();
        }
    }

    /// [`Body::respond`] between ports of six rates.
    #[inline(always)]
    pub(crate) fn respond_in_sixes<L: Arithmetic>(
        &self,
        l: L,
        (jacobian, from): (&[Quad; SIX], &Port),
        to: &Port,
        out: &mut [Quad; SIX],
    ) {
        let rows = &self.responses[to.six * self.sixes.len() + from.six];
        for (out, row) in out.iter_mut().zip(rows) {
            *out = product(l, jacobian, row).store();
        }
    }

    /// v += A⁻¹ Pᵀ p for impulses in rates of the body, from a first one on.
    #[inline(always)]
    pub(crate) fn add_impulses<L: Arithmetic>(&self, l: L, first: usize, p: &[f64], v: &mut [f64]) {
        let (fours, rest) = v.as_chunks_mut::<4>();
        let mut at = first;
        for four in fours {
            let change = product(l, &self.reach[at..][..p.len()], p);
            *four = (l.read(four) + change).store().0;
            at += self.stride;
        }
        if !rest.is_empty() {
            let change = product(l, &self.reach[at..][..p.len()], p).store();
            rest.iter_mut().zip(change.0).for_each(|(v, x)| *v += x);
        }
    }

    /// Takes over A⁻¹.
    pub(crate) fn set_inverse(&mut self, inverse: &[f64]) {
        let (n, stride) = (self.dof, self.stride);
        self.inverse.resize(stride * stride, 0.0);
        for i in 0..n {
            self.inverse[i * stride..][..n].copy_from_slice(&inverse[i * n..][..n]);
        }
        for (i, row) in (n..).zip(self.map.chunks_exact(n.max(1))) {
            for j in 0..n {
                let x = dot(row, &inverse[j * n..][..n]);
                self.inverse[i * stride + j] = x;
                self.inverse[j * stride + i] = x;
            }
            for (j, other) in (n..=i).zip(self.map.chunks_exact(n)) {
                let x = dot(&self.inverse[i * stride..][..n], other);
                self.inverse[i * stride + j] = x;
                self.inverse[j * stride + i] = x;
            }
        }
        self.rearrange();
    }

    /// The inverse once more, in the order in which a solve reads it.
    fn rearrange(&mut self) {
        let (n, stride, inverse) = (self.dof, self.stride, &self.inverse);
        let entry = |i: usize, j: usize| inverse[i * stride + j];
        self.responses.clear();
        for &to in &self.sixes {
            let rows = |from: usize| {
                core::array::from_fn(|i| core::array::from_fn(|j| entry(to + i, from + j)))
            };
            self.responses.extend(self.sixes.iter().map(|&from| rows(from)));
        }
        self.reach.resize(n.div_ceil(4) * stride, Quad::default());
        let mut groups = self.reach.chunks_exact_mut(stride.max(1));
        let (whole, rest) = (n / 4, n % 4);
        for (group, out) in groups.by_ref().take(whole).enumerate() {
            for (out, row) in out.iter_mut().zip(inverse.chunks_exact(stride)) {
                *out = Quad(core::array::from_fn(|k| row[4 * group..][..4][k]));
            }
        }
        for (out, row) in groups.flatten().zip(inverse.chunks_exact(stride.max(1))) {
            let entry = |k: usize| if k < rest { row[4 * whole + k] } else { 0.0 };
            *out = Quad(core::array::from_fn(entry));
        }
    }
}

/// Rates in which constraints of a body are written: w = P v.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Port {
    pub(crate) body: usize,
    /// First of its rates among those of the body.
    pub(crate) first: usize,
    /// Number of its rates.
    pub(crate) width: usize,
    /// Its place among the body's ports of six rates, or [`OTHER_SIZE`].
    pub(crate) six: usize,
}
