//! In which order loads are brought up: gravity and spring preloads together, then the wrenches.

use forks_mechanism::{Mechanism, lie::Wrench};

use crate::{energy::force_parts, loads::Loads, springs::StartRest, stage::Stage};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// All loads at once.
    Together,
    /// Nothing but wrenches does anything.
    WrenchesOnly,
    InTurn,
}

/// The loads as functions of the path's parameter, which runs from 0 to [`Phases::end`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phases<'a> {
    m: &'a Mechanism,
    loads: &'a Loads,
    rest: &'a StartRest,
    order: Order,
}

impl<'a> Phases<'a> {
    pub(crate) fn new(m: &'a Mechanism, loads: &'a Loads, rest: &'a StartRest) -> Self {
        let alone = Loads { gravity: loads.gravity, wrenches: vec![] };
        let parts = force_parts(&Stage::full(m, &alone), &rest.q, &m.link_poses(&rest.q));
        let idle = parts.elastic.iter().chain(&parts.external).all(|f| *f == 0.0);
        let acting = loads.wrenches.iter().any(|w| w.wrench != Wrench::ZERO);
        let order = match !acting {
            true => Order::Together,
            // Without weight and preload there is nothing to bring up first, unless they begin to
            // act later.
            false if idle && !loads.gravity => Order::WrenchesOnly,
            false => Order::InTurn,
        };
        Self { m, loads, rest, order }
    }

    /// The same loads, all at once.
    pub(crate) fn together(self) -> Self {
        Self { order: Order::Together, ..self }
    }

    /// The start of the path.
    pub(crate) fn start(&self) -> &'a [f64] {
        &self.rest.q
    }

    /// Number of phases: the parameter at the full loads.
    pub(crate) fn end(&self) -> f64 {
        if self.order == Order::InTurn { 2.0 } else { 1.0 }
    }

    /// The end of the phase that begins at or contains `at`.
    pub(crate) fn end_of_phase(&self, at: f64) -> f64 {
        if at < 1.0 { 1.0 } else { self.end() }
    }

    /// True if a search that got to this part of the path never saw all wrenches' phase.
    pub(crate) fn stopped_early(&self, part: f64) -> bool {
        self.order == Order::InTurn && part < 0.5
    }

    pub(crate) fn stage(&self, at: f64) -> Stage<'a> {
        let (scale, wrench_scale) = match self.order {
            Order::Together => (at, at),
            Order::WrenchesOnly => (1.0, at),
            Order::InTurn => (at.min(1.0), (at - 1.0).max(0.0)),
        };
        Stage { m: self.m, loads: self.loads, scale, wrench_scale, rest: Some(self.rest) }
    }
}
