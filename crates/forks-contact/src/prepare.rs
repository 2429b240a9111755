//! From a problem to a system: responses, blocks, W, where to start.

use forks_linalg::{
    simd::{Arithmetic, Kernel},
    sqrt,
};

use crate::{
    ContactProblem,
    block::LocalSystem,
    body::OTHER_SIZE,
    law::{Law, NormalRow, inner_impulse},
    ports::NO_SIDE,
    problem::Kind,
    quad::{Coupling, Quad, SIX, add_product, dot, product, transposed},
    system::{Block, PROXIMAL, ReadySide, System},
};

impl System {
    /// Takes over a problem; impulses start warm.
    pub(crate) fn prepare(&mut self, problem: &ContactProblem, threshold: f64) {
        self.isa.run(Prepare { system: self, problem, threshold });
    }

    #[inline(always)]
    fn prepare_here<L: Arithmetic>(&mut self, l: L, problem: &ContactProblem, threshold: f64) {
        self.ports.find(l, problem, &mut self.free);
        self.jacobians.clear();
        self.jacobians.extend_from_slice(problem.jacobians());
        self.list_sides(problem);
        self.free_rates.clear();
        self.free_rates.resize(self.count, Quad::default());
        if self.is_coupled {
            self.couple(l, problem);
        } else {
            self.respond(l, problem);
        }
        self.list_blocks(problem, threshold);
        for i in 0..self.count {
            let own = self.coupling(l, i, i);
            self.blocks[i].set_own(&own);
            if !self.responds(l, problem, i, own[0][0]) {
                self.blocks[i].rho = 0.0;
                self.lambda[i] = Quad::default();
            }
        }
        self.measure();
        self.set_rebound(1.0);
        self.recompute_velocity(l);
    }

    /// All sides; and goes over to W if a sweep over its blocks costs less than one over J and
    /// A⁻¹Jᵀ.
    #[inline(always)]
    fn list_sides(&mut self, problem: &ContactProblem) {
        self.count = problem.constraints().len();
        self.sides.resize(problem.sides().len(), ReadySide::default());
        let (mut response, mut touched, mut at) = (0, 0, 0);
        for (constraint, c) in problem.constraints().iter().enumerate() {
            let sides = &problem.sides()[c.sides.clone()];
            for (side, ready) in sides.iter().zip(&mut self.sides[at..]) {
                let slot = self.ports.slot(side.port);
                ready.port = slot.port;
                ready.velocity = slot.velocity;
                let (body, width) = (slot.port.body, slot.port.width);
                let span = self.ports.span(body);
                (ready.constraint, ready.row) = (constraint, constraint * self.count);
                ready.before = core::mem::replace(&mut span.last_side, at);
                ready.jacobian = side.jacobian;
                ready.response = response;
                (ready.first, ready.span) = (span.velocity, span.len);
                response += span.len;
                touched += width + span.len;
                at += 1;
            }
        }
        // A block of W has three quads, read at once; an entry of J or A⁻¹Jᵀ is one, read one after
        // the other.
        self.is_coupled = 3 * self.count * self.count <= 2 * touched;
    }

    /// A⁻¹Jᵀ of all sides, and J v_free.
    #[inline(always)]
    fn respond<L: Arithmetic>(&mut self, l: L, problem: &ContactProblem) {
        let length = self.sides.last().map_or(0, |s| s.response + s.span);
        self.responses.clear();
        self.responses.resize(length, Quad::default());
        for side in &self.sides {
            let jacobian = &self.jacobians[side.jacobian..][..side.port.width];
            add_free_rates(l, side, jacobian, &self.free, &mut self.free_rates);
            for slot in self.ports.slots_of(side.port.body) {
                let at = side.response + slot.velocity - side.first;
                let out = &mut self.responses[at..][..slot.port.width];
                let body = &problem.bodies()[side.port.body];
                body.respond(l, (jacobian, &side.port), &slot.port, out);
            }
        }
    }

    /// W from the pairs of sides on one body, and J v_free.
    #[inline(always)]
    fn couple<L: Arithmetic>(&mut self, l: L, problem: &ContactProblem) {
        self.w.clear();
        self.w.resize(self.count * self.count, Coupling::default());
        if self.sides.iter().all(|s| s.port.six != OTHER_SIZE) {
            self.couple_sixes(l, problem);
        } else {
            self.couple_any(l, problem);
        }
        self.mirror(l);
    }

    /// On and above the diagonal, where all sides have six rates: the compiler knows all loops.
    #[inline(always)]
    fn couple_sixes<L: Arithmetic>(&mut self, l: L, problem: &ContactProblem) {
        self.responses.resize(SIX, Quad::default());
        let (jacobians, _) = self.jacobians.as_chunks::<SIX>();
        let Some(response) = self.responses.first_chunk_mut::<SIX>() else { return };
        for (at, (q, jacobian)) in self.sides.iter().zip(jacobians).enumerate() {
            add_free_rates(l, q, jacobian, &self.free, &mut self.free_rates);
            let body = &problem.bodies()[q.port.body];
            let (mut seen, mut next) = (usize::MAX, at);
            while next != NO_SIDE {
                let (p, own) = (&self.sides[next], &jacobians[next]);
                if seen != p.velocity {
                    // Another port than the side before.
                    seen = p.velocity;
                    body.respond_in_sixes(l, (jacobian, &q.port), &p.port, response);
                }
                p.add_coupling(l, (q, next != at), (own, response), &mut self.w);
                next = p.before;
            }
        }
    }

    /// On and above the diagonal.
    #[inline(always)]
    fn couple_any<L: Arithmetic>(&mut self, l: L, problem: &ContactProblem) {
        for (at, q) in self.sides.iter().enumerate() {
            let jacobian = &self.jacobians[q.jacobian..][..q.port.width];
            add_free_rates(l, q, jacobian, &self.free, &mut self.free_rates);
            let body = &problem.bodies()[q.port.body];
            let (mut seen, mut next) = (usize::MAX, at);
            while next != NO_SIDE {
                let p = &self.sides[next];
                if seen != p.velocity {
                    seen = p.velocity;
                    self.responses.resize(p.port.width, Quad::default());
                    body.respond(l, (jacobian, &q.port), &p.port, &mut self.responses);
                }
                let own = &self.jacobians[p.jacobian..][..p.port.width];
                p.add_coupling(l, (q, next != at), (own, &self.responses), &mut self.w);
                next = p.before;
            }
        }
    }

    /// The blocks of W below the diagonal.
    #[inline(always)]
    fn mirror<L: Arithmetic>(&mut self, l: L) {
        for b in 0..self.count {
            for a in 0..b {
                self.w[b * self.count + a] = transposed(l, &self.w[a * self.count + b]);
            }
        }
    }

    /// All constraints, and the impulses that they start from.
    #[inline(always)]
    fn list_blocks(&mut self, problem: &ContactProblem, threshold: f64) {
        self.blocks.resize(self.count, Block::default());
        self.lambda.resize(self.count, Quad::default());
        self.bias.clear();
        self.bias.resize(self.count, Quad::default());
        self.rows = 0;
        let places = self.blocks.iter_mut().zip(&mut self.lambda).enumerate();
        for (constraint, (index, (block, lambda))) in problem.constraints().iter().zip(places) {
            let [n, s, t] = block.set_law(&constraint.kind, problem.step(), threshold);
            *lambda = Quad([n, s, t, 0.0]);
            block.index = index;
            block.sides = constraint.sides.clone();
            block.row = self.rows;
            self.rows += block.rows();
        }
    }

    /// False if all that the normal row of a constraint between two sides of one body moves is what
    /// rounding leaves of their difference: an impulse that moves nothing would be found by
    /// dividing by it.
    #[inline(always)]
    fn responds<L: Arithmetic>(
        &mut self,
        l: L,
        problem: &ContactProblem,
        i: usize,
        together: f64,
    ) -> bool {
        let [one, two] = &self.sides[self.blocks[i].sides.clone()] else { return true };
        if one.port.body != two.port.body {
            return true;
        }
        let mut alone = 0.0;
        for side in [one, two] {
            let jacobian = &self.jacobians[side.jacobian..][..side.port.width];
            self.probe.resize(side.port.width, Quad::default());
            let body = &problem.bodies()[side.port.body];
            body.respond(l, (jacobian, &side.port), &side.port, &mut self.probe);
            alone += jacobian.iter().zip(&self.probe).map(|(j, r)| j[0] * r[0]).sum::<f64>();
        }
        together + self.blocks[i].regularisation[0] > ROUNDING * alone
    }

    /// Which constraints are hit, and the speed that residuals are compared with.
    #[inline(always)]
    fn measure(&mut self) {
        let (mut speed, mut fastest) = (0.0_f64, 0.0_f64);
        for (b, &u) in self.blocks.iter_mut().zip(&self.free_rates) {
            b.hit = b.normal.rebound > 0.0 && u[0] < b.normal.gap_target;
            fastest = fastest.max(dot(u, u));
            speed = speed.max(b.normal.gap_target);
            if b.hit {
                speed = speed.max(b.normal.rebound);
            }
            if matches!(b.law, Law::Interval { lower, .. } if lower != 0.0) {
                speed = speed.max(b.normal.gap_target.abs());
            }
        }
        self.speed = speed.max(sqrt(fastest));
    }
}

impl Block {
    /// Takes over the law of a constraint. Returns the impulse that it starts from.
    #[inline(always)]
    fn set_law(&mut self, kind: &Kind, h: f64, threshold: f64) -> [f64; 3] {
        let (slip_compliance, warm);
        match kind {
            Kind::Contact(c) => {
                self.law = Law::of_contact(c);
                self.normal = NormalRow::of_contact(c, h, threshold);
                slip_compliance =
                    if c.slip_compliance == 0.0 { 0.0 } else { c.slip_compliance / h };
                warm = self.law.clip(inner_impulse(&c.friction, c.warm));
            }
            Kind::Row(r) => {
                self.law = Law::of_row(r);
                self.normal = NormalRow::of_row(r, h, threshold);
                slip_compliance = 0.0;
                warm = [r.warm.clamp(r.lower, r.upper), 0.0, 0.0];
            }
        }
        self.regularisation =
            Quad([self.normal.regularisation, slip_compliance, slip_compliance, 0.0]);
        warm
    }

    /// Takes over its own block of W, without R.
    #[inline(always)]
    fn set_own(&mut self, own: &Coupling) {
        // Equal to the last bit on both sides of the diagonal.
        let mut w = [
            own[0],
            Quad([own[0][1], own[1][1], own[1][2], 0.0]),
            Quad([own[0][2], own[1][2], own[2][2], 0.0]),
        ];
        let rows = self.rows();
        (0..rows).for_each(|i| w[i][i] += self.regularisation[i]);
        let trace = w[0][0] + w[1][1] + w[2][2];
        let rho = if trace > 0.0 { rows as f64 / trace } else { 0.0 };
        self.rho = if rho.is_finite() { rho } else { 0.0 };
        self.per_rho = trace * if rows == 3 { 1.0 / 3.0 } else { 1.0 };
        if self.rho > 0.0 {
            (0..3).for_each(|r| w[r][r] += PROXIMAL * self.per_rho);
        }
        self.local = LocalSystem::new(w);
        self.hit = false;
    }
}

impl ReadySide {
    /// Adds J Rᵀ, R the response of this port to a later side q, to W; the other way round too if
    /// these are two sides of one constraint.
    #[inline(always)]
    fn add_coupling<L: Arithmetic>(
        &self,
        l: L,
        (q, is_other): (&Self, bool),
        (own, response): (&[Quad], &[Quad]),
        w: &mut [Coupling],
    ) {
        let w = &mut w[self.row + q.constraint];
        add_product(l, own, response, w);
        if self.constraint == q.constraint && is_other {
            add_product(l, response, own, w);
        }
    }
}

/// Adds a side's part of J v_free to its constraint's.
#[inline(always)]
fn add_free_rates<L: Arithmetic>(
    l: L,
    side: &ReadySide,
    jacobian: &[Quad],
    free: &[f64],
    out: &mut [Quad],
) {
    let u = &mut out[side.constraint];
    let own = product(l, jacobian, &free[side.velocity..][..side.port.width]);
    *u = (l.load(u) + own).store();
}

/// Part of what two sides of a body answer alone that rounding may leave where they cancel: sums of
/// some hundred products, each of which is off by a rounding, and as much in A⁻¹.
const ROUNDING: f64 = 4096.0 * f64::EPSILON;

/// Arguments of [`System::prepare`].
struct Prepare<'a> {
    system: &'a mut System,
    problem: &'a ContactProblem,
    threshold: f64,
}

impl Kernel for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        self.system.prepare_here(l, self.problem, self.threshold);
    }
}
