//! The ports through which constraints act on bodies, and the Delassus operator restricted to them:
//! the change of one port's rates by impulses in another.
//!
//! Iterations see no more of a body than the rates of its ports in use: a contact on one of many
//! effectors of a mechanism costs as much as one on a rigid body.

use alloc::vec::Vec;
use core::ops::Range;

use forks_linalg::simd::Arithmetic;

use crate::{ContactProblem, body::Port};

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
    /// The first of its rates in use among all those of the body, if they follow each other there
    /// too.
    contiguous_from: Option<usize>,
    /// The last of its sides that was listed, or [`NO_SIDE`].
    pub(crate) last_side: usize,
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
/// No side.
pub(crate) const NO_SIDE: usize = usize::MAX;

impl Ports {
    /// Finds the ports in use, and their rates at the free velocities.
    #[inline(always)]
    pub(crate) fn find<L: Arithmetic>(
        &mut self,
        l: L,
        problem: &ContactProblem,
        free: &mut Vec<f64>,
    ) {
        self.of_port.clear();
        self.of_port.resize(problem.ports().len(), UNUSED);
        problem.sides().iter().for_each(|s| self.of_port[s.port] = 0);
        self.slots.clear();
        self.spans.clear();
        free.clear();
        for body in problem.bodies() {
            let (first, start) = (self.slots.len(), free.len());
            let v = &problem.free()[body.velocity..][..body.dof];
            let (mut contiguous_from, mut end) = (None, 0);
            for &p in &body.ports {
                if self.of_port[p] == UNUSED {
                    continue;
                }
                self.of_port[p] = self.slots.len();
                let port = problem.ports()[p];
                match self.slots.len() == first {
                    true => contiguous_from = Some(port.first),
                    false => contiguous_from = contiguous_from.filter(|_| end == port.first),
                }
                end = port.first + port.width;
                self.slots.push(Slot { port, velocity: free.len() });
                body.push_rates(l, &port, v, free);
            }
            let (slots, len) = (first..self.slots.len(), free.len() - start);
            self.spans.push(Span {
                slots,
                velocity: start,
                len,
                contiguous_from,
                last_side: NO_SIDE,
            });
        }
    }

    /// The slot of a port in use.
    #[inline(always)]
    pub(crate) fn slot(&self, port: usize) -> &Slot {
        &self.slots[self.of_port[port]]
    }

    /// The rates in use of a body.
    #[inline(always)]
    pub(crate) fn span(&mut self, body: usize) -> &mut Span {
        &mut self.spans[body]
    }

    /// The slots of a body.
    #[inline(always)]
    pub(crate) fn slots_of(&self, body: usize) -> &[Slot] {
        &self.slots[self.spans[body].slots.clone()]
    }

    /// Velocities of all bodies: v = v_free + A⁻¹ Σ Pᵀ p, p the impulses in the rates of the ports
    /// in use.
    #[inline(always)]
    pub(crate) fn velocities<L: Arithmetic>(
        &self,
        l: L,
        problem: &ContactProblem,
        impulses: &[f64],
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.extend_from_slice(problem.free());
        for (body, span) in problem.bodies().iter().zip(&self.spans) {
            let v = &mut out[body.velocity..][..body.dof];
            if let Some(first) = span.contiguous_from {
                body.add_impulses(l, first, &impulses[span.velocity..][..span.len], v);
                continue;
            }
            for slot in &self.slots[span.slots.clone()] {
                let p = &impulses[slot.velocity..][..slot.port.width];
                body.add_impulses(l, slot.port.first, p, v);
            }
        }
    }
}
