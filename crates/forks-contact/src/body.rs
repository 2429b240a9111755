//! A body's inverse system matrix, between its coordinates and all its ports.

use alloc::{vec, vec::Vec};

use forks_lie::{Matrix, dot};

use crate::quad::add_row;

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
    /// The same turned round, n × width port after port.
    turned: Vec<f64>,
    /// What an impulse in one port does to the rates of another: (1; P) A⁻¹ (1, Pᵀ), n + m rows.
    pub(crate) inverse: Vec<f64>,
}

impl Body {
    /// A body whose coordinates are the port of a number.
    pub(crate) fn new(dof: usize, velocity: usize, port: usize, inverse: &Matrix) -> Self {
        Self {
            dof,
            velocity,
            ports: vec![port],
            map: Vec::new(),
            turned: Vec::new(),
            inverse: inverse.as_slice().to_vec(),
        }
    }

    /// Adds a port by its number. Returns the first of its rates among those of the body.
    pub(crate) fn add_port(&mut self, port: usize, map: &Matrix) -> usize {
        let (n, first) = (self.dof, self.stride());
        let inverse: Vec<f64> =
            (0..n).flat_map(|i| &self.inverse[i * first..][..n]).copied().collect();
        self.map.extend_from_slice(map.as_slice());
        self.turned.extend_from_slice(map.transpose().as_slice());
        self.set_inverse(&inverse);
        self.ports.push(port);
        first
    }

    /// Length of a row of the inverse: the rates of all ports.
    pub(crate) fn stride(&self) -> usize {
        self.dof + self.map.len() / self.dof.max(1)
    }

    /// Adds the rates w = P v of a port.
    #[inline(always)]
    pub(crate) fn add_rates(&self, port: &Port, v: &[f64], out: &mut [f64]) {
        let Some(first) = port.first.checked_sub(self.dof) else {
            return add_row(1.0, v, out);
        };
        let columns = self.turned[first * self.dof..].chunks(port.width.max(1));
        if let Ok(out) = <&mut [f64; 6]>::try_from(&mut *out) {
            // Six at a time stay in registers.
            let mut sum = *out;
            for (x, column) in v.iter().zip(columns) {
                if let Some(column) = column.first_chunk::<6>() {
                    sum.iter_mut().zip(column).for_each(|(sum, c)| *sum += x * c);
                }
            }
            *out = sum;
            return;
        }
        for (x, column) in v.iter().zip(columns) {
            add_row(*x, column, out);
        }
    }

    /// Takes over A⁻¹.
    pub(crate) fn set_inverse(&mut self, inverse: &[f64]) {
        let (n, stride) = (self.dof, self.stride());
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
    }
}

/// Rates in which constraints of a body are written: w = P v.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    pub(crate) body: usize,
    /// First of its rates among those of the body.
    pub(crate) first: usize,
    /// Number of its rates.
    pub(crate) width: usize,
}
