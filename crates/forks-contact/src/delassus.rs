//! The dense matrix W = J A⁻¹ Jᵀ + R of all constraints, scaled block by block.

use alloc::vec::Vec;

use forks_linalg::{dot, simd::Portable, sqrt};

use crate::{
    dense::reset,
    system::{System, read},
};

/// M = D W D and p = D (J v_free + bias), D = √ρ per block: every diagonal block has mean 1. A
/// positive factor per block keeps cones what they are, whatever the masses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delassus {
    pub(crate) n: usize,
    pub(crate) m: Vec<f64>,
    pub(crate) p: Vec<f64>,
    /// d of every row; 0 where nothing can move.
    pub(crate) d: Vec<f64>,
}

impl Delassus {
    /// Assembles W from the sides that share a body.
    pub(crate) fn assemble(&mut self, system: &System) {
        let n = system.rows;
        self.n = n;
        reset(&mut self.m, n * n);
        reset(&mut self.d, n);
        for block in &system.blocks {
            let rows = block.row..block.row + block.rows();
            self.d[rows].fill(sqrt(block.rho));
        }
        for (i, a) in system.blocks.iter().enumerate() {
            for b in &system.blocks[..=i] {
                let w = system.coupling(Portable, a.index, b.index);
                for (r, w) in w[..a.rows()].iter().enumerate() {
                    self.m[(a.row + r) * n + b.row..][..b.rows()].copy_from_slice(&w[..b.rows()]);
                }
            }
            for r in 0..a.rows() {
                self.m[(a.row + r) * n + a.row + r] += a.regularisation[r];
            }
        }
        for i in 0..n {
            for j in 0..=i {
                let x = self.m[i * n + j] * self.d[i] * self.d[j];
                self.m[i * n + j] = x;
                self.m[j * n + i] = x;
            }
        }
    }

    /// p, once the targets are set; clears the system's impulses.
    pub(crate) fn offsets(&mut self, system: &mut System) {
        reset(&mut self.p, self.n);
        system.clear_impulses();
        for block in &system.blocks {
            let u = system.law_velocity(Portable, block);
            for r in 0..block.rows() {
                self.p[block.row + r] = self.d[block.row + r] * u[r];
            }
        }
    }

    /// u = M y + p.
    pub(crate) fn velocity(&self, y: &[f64], u: &mut [f64]) {
        for (i, u) in u.iter_mut().enumerate() {
            *u = dot(&self.m[i * self.n..(i + 1) * self.n], y) + self.p[i];
        }
    }

    /// y = D⁻¹ λ; 0 where nothing can move.
    pub(crate) fn scale(&self, lambda: &[f64], y: &mut [f64]) {
        for (y, (x, d)) in y.iter_mut().zip(lambda.iter().zip(&self.d)) {
            *y = if *d > 0.0 { x / d } else { 0.0 };
        }
    }

    /// λ = D y, in place.
    pub(crate) fn unscale(&self, y: &mut [f64]) {
        y.iter_mut().zip(&self.d).for_each(|(y, d)| *y *= d);
    }

    /// Largest natural map residual, m/s.
    pub(crate) fn residual(&self, system: &System, y: &[f64], u: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        for block in system.blocks.iter().filter(|b| b.rho > 0.0) {
            let d = self.d[block.row];
            let r = block.law.scaled(d).residual(read(y, block), read(u, block), 1.0, 1.0) / d;
            if r.is_nan() || r > worst {
                worst = r;
            }
        }
        worst
    }
}
