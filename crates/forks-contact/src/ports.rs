//! The ports that the constraints of a problem act through, and what impulses in one do to the rates of others.
//!
//! Iterations see no more of a body than the rates of its ports in use: a contact on one of many effectors of a mechanism
//! costs as much as one on a rigid body.

use alloc::vec::Vec;
use core::ops::Range;

use crate::{
    Problem,
    body::Port,
    quad::{Quad, add_row, product, product_of_six},
};

/// A port in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) port: Port,
    /// First of its rates in the system's velocities.
    pub(crate) velocity: usize,
}

/// A body's rates in use: those of its slots, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    slots: Range<usize>,
    /// First of its rates in the system's velocities.
    pub(crate) velocity: usize,
    /// Number of its rates.
    pub(crate) len: usize,
}

/// All ports in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    slots: Vec<Slot>,
    /// One per body.
    spans: Vec<Span>,
    /// Slot of every port; [`UNUSED`] for those without constraints.
    of_port: Vec<usize>,
}

/// No slot.
const UNUSED: usize = usize::MAX;

impl Ports {
    /// Finds the ports in use, and their rates at the free velocities.
    #[inline(always)]
    pub(crate) fn find(&mut self, problem: &Problem, free: &mut Vec<f64>) {
        self.of_port.clear();
        self.of_port.resize(problem.ports().len(), UNUSED);
        problem.sides().iter().for_each(|s| self.of_port[s.port] = 0);
        self.slots.clear();
        self.spans.clear();
        free.clear();
        for body in problem.bodies() {
            let (first, start) = (self.slots.len(), free.len());
            let v = &problem.free()[body.velocity..][..body.dof];
            for &p in &body.ports {
                if self.of_port[p] == UNUSED {
                    continue;
                }
                self.of_port[p] = self.slots.len();
                let (port, start) = (problem.ports()[p], free.len());
                self.slots.push(Slot { port, velocity: start });
                free.resize(start + port.width, 0.0);
                body.add_rates(&port, v, &mut free[start..]);
            }
            let slots = first..self.slots.len();
            self.spans.push(Span { slots, velocity: start, len: free.len() - start });
        }
    }

    /// The slot of a port in use.
    #[inline(always)]
    pub(crate) fn slot(&self, port: usize) -> &Slot {
        &self.slots[self.of_port[port]]
    }

    /// The rates in use of a body.
    #[inline(always)]
    pub(crate) fn span(&self, body: usize) -> &Span {
        &self.spans[body]
    }

    /// What unit impulses of a constraint's rows, acting through one port, do to the rates of another of the same body.
    #[inline(always)]
    pub(crate) fn respond(
        problem: &Problem,
        (jacobian, from): (&[Quad], &Port),
        to: &Port,
        out: &mut [Quad],
    ) {
        if from.width == 0 || out.is_empty() {
            return out.fill(Quad::default());
        }
        let body = &problem.bodies()[from.body];
        let (stride, first) = (body.stride(), to.first * body.stride() + from.first);
        let rows = body.inverse[first..].chunks(stride);
        if let Ok(jacobian) = jacobian.try_into() {
            for (row, out) in rows.zip(out) {
                if let Some(row) = row.first_chunk() {
                    *out = product_of_six(jacobian, row);
                }
            }
            return;
        }
        for (row, out) in rows.zip(out) {
            *out = product(jacobian, &row[..from.width]);
        }
    }

    /// The slots of a body.
    #[inline(always)]
    pub(crate) fn slots(&self, span: &Span) -> &[Slot] {
        &self.slots[span.slots.clone()]
    }

    /// Velocities of all bodies: v = v_free + A⁻¹ Σ Pᵀ p, p the impulses in the rates of the ports in use.
    #[inline(always)]
    pub(crate) fn velocities(&self, problem: &Problem, impulses: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(problem.free());
        for (body, span) in problem.bodies().iter().zip(&self.spans) {
            let v = &mut out[body.velocity..][..body.dof];
            let stride = body.stride();
            for slot in self.slots(span) {
                let p = &impulses[slot.velocity..][..slot.port.width];
                for (k, p) in p.iter().enumerate() {
                    add_row(*p, &body.inverse[(slot.port.first + k) * stride..][..body.dof], v);
                }
            }
        }
    }
}
