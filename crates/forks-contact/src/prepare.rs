//! From a problem to a system: responses, blocks, W, where to start.

use core::ops::Range;

use crate::{
    Problem,
    block::LocalSystem,
    law::{Law, NormalRow, inner_impulse},
    problem::Kind,
    products::{Coupling, Quad, transposed},
    scalar::hypot,
    system::{Block, PROXIMAL, ReadySide, System},
};

impl System {
    /// Takes over a problem; impulses start warm.
    pub(crate) fn prepare(&mut self, problem: &Problem, threshold: f64) {
        self.ports.find(problem, &mut self.free);
        self.jacobians.clear();
        self.jacobians.extend_from_slice(problem.jacobians());
        self.respond(problem);
        self.blocks.clear();
        self.lambda.clear();
        self.rows = 0;
        for c in problem.constraints() {
            self.push_block(problem.step(), c.kind, c.sides.clone(), threshold);
        }
        self.bias.clear();
        self.bias.resize(self.blocks.len(), Quad::default());
        self.measure();
        self.couple();
        self.set_rebound(1.0);
        self.recompute_velocity();
    }

    /// A⁻¹Jᵀ of all sides.
    fn respond(&mut self, problem: &Problem) {
        self.sides.clear();
        let mut response = 0;
        for c in problem.constraints() {
            let rows = c.rows();
            for side in &problem.sides()[c.sides.clone()] {
                let slot = self.ports.slot(side.port);
                let span = self.ports.span(slot.port.body);
                self.sides.push(ReadySide {
                    body: slot.port.body,
                    width: slot.port.width,
                    velocity: slot.velocity,
                    jacobian: side.jacobian,
                    response,
                    first: span.velocity,
                    span: span.len,
                });
                let (count, len) = (rows * slot.port.width, rows * span.len);
                // Every entry is written below.
                self.responses.resize(self.responses.len().max(response + len), 0.0);
                let jacobian = &self.jacobians[side.jacobian..][..count];
                let out = &mut self.responses[response..response + len];
                self.ports.respond(problem, &slot.port, jacobian, out);
                response += len;
            }
        }
    }

    fn push_block(&mut self, h: f64, kind: Kind, sides: Range<usize>, threshold: f64) {
        let (law, normal, warm, creep) = match kind {
            Kind::Contact(c) => {
                let law = Law::of_contact(&c);
                let normal = NormalRow::of_contact(&c, h, threshold);
                (law, normal, law.clip(inner_impulse(&c.friction, c.warm)), c.creep / h)
            }
            Kind::Row(r) => {
                let law = Law::of_row(&r);
                let normal = NormalRow::of_row(&r, h, threshold);
                (law, normal, [r.warm.clamp(r.lower, r.upper), 0.0, 0.0], 0.0)
            }
        };
        let regularisation = [normal.regularisation, creep, creep, 0.0];
        let rows = law.rows();
        let own = self.coupling((&sides, rows), (&sides, rows));
        // Equal to the last bit on both sides of the diagonal.
        let mut w = core::array::from_fn(|i| core::array::from_fn(|j| own[i.max(j)][i.min(j)]));
        (0..rows).for_each(|i| w[i][i] += regularisation[i]);
        let trace = w[0][0] + w[1][1] + w[2][2];
        let rho = if trace > 0.0 { rows as f64 / trace } else { 0.0 };
        let rho = if rho.is_finite() { rho } else { 0.0 };
        if rho > 0.0 {
            (0..3).for_each(|r| w[r][r] += PROXIMAL / rho);
        }
        let local = LocalSystem::new(w);
        self.blocks.push(Block {
            law,
            index: self.blocks.len(),
            row: self.rows,
            sides,
            local,
            regularisation,
            rho,
            normal,
            hit: false,
        });
        self.lambda.push([warm[0], warm[1], warm[2], 0.0]);
        self.rows += rows;
    }

    /// Goes over to W if a sweep over its rows costs less than one over J and A⁻¹Jᵀ.
    fn couple(&mut self) {
        let n = self.rows;
        let touched = |b: &Block| -> usize {
            let sides = &self.sides[b.sides.clone()];
            b.rows() * sides.iter().map(|s| s.width + s.span).sum::<usize>()
        };
        self.is_coupled = n * n <= self.blocks.iter().map(touched).sum();
        if !self.is_coupled {
            return;
        }
        let (count, mut w) = (self.blocks.len(), core::mem::take(&mut self.w));
        w.clear();
        w.resize(count * count, Coupling::default());
        for (i, a) in self.blocks.iter().enumerate() {
            for (j, b) in self.blocks[..=i].iter().enumerate() {
                let coupling = self.coupling((&a.sides, a.rows()), (&b.sides, b.rows()));
                w[i * count + j] = coupling;
                w[j * count + i] = transposed(&coupling);
            }
        }
        self.w = w;
    }

    /// Which constraints are hit, and the speed that residuals are compared with.
    fn measure(&mut self) {
        let mut speed = 0.0_f64;
        let mut blocks = core::mem::take(&mut self.blocks);
        self.free_rates.clear();
        for b in &mut blocks {
            let u = self.constraint_velocity(b, &self.free);
            self.free_rates.push(u);
            b.hit = b.normal.rebound > 0.0 && u[0] < b.normal.gap_target;
            speed = speed.max(hypot(u[0], hypot(u[1], u[2])));
            speed = speed.max(b.normal.gap_target);
            if b.hit {
                speed = speed.max(b.normal.rebound);
            }
            if matches!(b.law, Law::Interval { lower, .. } if lower != 0.0) {
                speed = speed.max(b.normal.gap_target.abs());
            }
        }
        self.blocks = blocks;
        self.speed = speed;
    }
}
