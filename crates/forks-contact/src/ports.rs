//! The ports that the constraints of a problem act through, and what impulses in one do to the rates of others.
//!
//! Iterations see no more of a body than the rates of its ports in use: a contact on one of many effectors of a mechanism
//! costs as much as one on a rigid body.

use alloc::vec::Vec;
use core::ops::Range;

use forks_lie::dot;

use crate::{
    Problem,
    problem::Port,
    products::{Columns, add_scaled, multiply},
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
                let port = problem.ports()[p];
                self.slots.push(Slot { port, velocity: free.len() });
                match body.map_of(&port) {
                    Some(map) => free.extend(map.chunks_exact(body.dof).map(|row| dot(row, v))),
                    None => free.extend_from_slice(v),
                }
            }
            let slots = first..self.slots.len();
            self.spans.push(Span { slots, velocity: start, len: free.len() - start });
        }
    }

    /// The slot of a port in use.
    pub(crate) fn slot(&self, port: usize) -> &Slot {
        &self.slots[self.of_port[port]]
    }

    /// The rates in use of a body.
    pub(crate) fn span(&self, body: usize) -> &Span {
        &self.spans[body]
    }

    /// What unit impulses of the rows of a Jacobian do to the rates in use of its body, row after row.
    pub(crate) fn respond(
        &self,
        problem: &Problem,
        port: &Port,
        jacobian: &[f64],
        responses: &mut [f64],
    ) {
        let (body, span) = (&problem.bodies()[port.body], &self.spans[port.body]);
        let stride = body.stride();
        let rows = &body.inverse[port.first * stride..][..port.width * stride];
        for slot in &self.slots[span.slots.clone()] {
            let entries = rows.get(slot.port.first..).unwrap_or_default();
            let block = Columns { entries, stride, count: slot.port.width };
            let out = &mut responses[slot.velocity - span.velocity..];
            multiply(jacobian, port.width, block, out, span.len);
        }
    }

    /// Velocities of all bodies: v = v_free + A⁻¹ Σ Pᵀ p, p the impulses in the rates of the ports in use.
    pub(crate) fn velocities(&self, problem: &Problem, impulses: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(problem.free());
        for (body, span) in problem.bodies().iter().zip(&self.spans) {
            let v = &mut out[body.velocity..][..body.dof];
            let stride = body.stride();
            for slot in &self.slots[span.slots.clone()] {
                let p = &impulses[slot.velocity..][..slot.port.width];
                let rows = body.inverse.chunks_exact(stride).skip(slot.port.first);
                for (p, row) in p.iter().zip(rows) {
                    add_scaled(*p, &row[..body.dof], v);
                }
            }
        }
    }
}
