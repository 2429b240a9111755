//! A problem ready for solving: A⁻¹Jᵀ per side, diagonal blocks of W = J A⁻¹ Jᵀ + R, impulses and
//! velocities.

use alloc::vec::Vec;
use core::ops::Range;

use forks_linalg::{
    dot,
    simd::{Arithmetic, Isa, Kernel, Portable, Wide, all_finite, all_lanes_finite},
};

use crate::{
    ContactProblem,
    block::LocalSystem,
    body::Port,
    dense::reset,
    law::{Law, NormalRow},
    ports::Ports,
    quad::{Coupling, Quad, add_product, add_rows, add_transposed, product},
};

/// Share of a block's mean diagonal that ties its impulse to the last one: ½η‖λ − λ_old‖². It has
/// no influence on where Gauss–Seidel rests, but a contact on a body with fewer than three freedoms
/// has a singular block.
pub(crate) const PROXIMAL: f64 = 1e-9;

/// A constraint, ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) law: Law,
    /// Its place among the constraints.
    pub(crate) index: usize,
    /// First of its rows where rows are packed, one or three per constraint.
    pub(crate) row: usize,
    /// Its sides in [`System::sides`].
    pub(crate) sides: Range<usize>,
    /// Diagonal block of W, R and a proximal term included.
    pub(crate) local: LocalSystem,
    /// Diagonal of R.
    pub(crate) regularisation: Quad,
    /// ρ: impulse per velocity, one over the mean of the block's diagonal; 0 where nothing can
    /// move.
    pub(crate) rho: f64,
    /// 1/ρ.
    pub(crate) per_rho: f64,
    pub(crate) normal: NormalRow,
    /// True if the constraint is hit within the step, so that restitution acts.
    pub(crate) hit: bool,
}

impl Block {
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        self.law.rows()
    }
}

/// A side, ready.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadySide {
    /// What J belongs to.
    pub(crate) port: Port,
    /// The constraint that it is a side of.
    pub(crate) constraint: usize,
    /// First block of W in its constraint's row.
    pub(crate) row: usize,
    /// The side of the same body before it, or [`NO_SIDE`](crate::ports::NO_SIDE).
    pub(crate) before: usize,
    /// First of its rates.
    pub(crate) velocity: usize,
    /// First entry of J, one per rate of the port.
    pub(crate) jacobian: usize,
    /// First entry of the responses, one per rate in use of the body.
    pub(crate) response: usize,
    /// First of the body's rates in use.
    pub(crate) first: usize,
    /// Number of them.
    pub(crate) span: usize,
}

/// Everything the iterations read and write.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub(crate) isa: Isa,
    pub(crate) blocks: Vec<Block>,
    pub(crate) sides: Vec<ReadySide>,
    /// J of all sides.
    pub(crate) jacobians: Vec<Quad>,
    /// A⁻¹Jᵀ of all sides: what unit impulses of the rows add to the rates in use of the body.
    /// Scratch where W is there.
    pub(crate) responses: Vec<Quad>,
    /// Room for the response of one side.
    pub(crate) probe: Vec<Quad>,
    pub(crate) ports: Ports,
    /// Number of constraints.
    pub(crate) count: usize,
    /// Number of packed rows.
    pub(crate) rows: usize,
    /// λ of every constraint.
    pub(crate) lambda: Vec<Quad>,
    /// Rates of all ports in use for the present λ.
    pub(crate) velocity: Vec<f64>,
    /// The same for λ = 0.
    pub(crate) free: Vec<f64>,
    /// −target of the normal rows, 0 elsewhere: u = J v + R λ + bias.
    pub(crate) bias: Vec<Quad>,
    /// Largest speed that matters: free constraint velocities, rebounds, corrections.
    pub(crate) speed: f64,
    /// J v_free of every constraint.
    pub(crate) free_rates: Vec<Quad>,
    /// True if the iterations go over constraints instead of bodies: fewer rows than rates that
    /// they touch. Then `rates` is kept up to date, and `velocity` is not.
    pub(crate) is_coupled: bool,
    /// W = J A⁻¹ Jᵀ, without R: one row of couplings per constraint.
    pub(crate) w: Vec<Coupling>,
    /// J v for the present λ.
    pub(crate) rates: Vec<Quad>,
    /// Jᵀ λ in the rates of all ports in use.
    impulses: Vec<f64>,
    /// Residuals of all constraints, m/s, when they were last asked for.
    pub(crate) residuals: Vec<f64>,
    /// v of all bodies, in the end.
    pub(crate) outcome: Vec<f64>,
    /// [`System::energy_gain`] in the end.
    pub(crate) gain: f64,
}

impl System {
    /// The block of W of two constraints.
    #[inline(always)]
    pub(crate) fn coupling<L: Arithmetic>(&self, l: L, i: usize, j: usize) -> Coupling {
        if self.is_coupled {
            return self.w[i * self.count + j];
        }
        let (a, b) = (&self.blocks[i].sides, &self.blocks[j].sides);
        let mut out = Coupling::default();
        for p in &self.sides[a.clone()] {
            for q in self.sides[b.clone()].iter().filter(|q| q.port.body == p.port.body) {
                let jacobian = &self.jacobians[p.jacobian..][..p.port.width];
                let seen = &self.responses[q.response + p.velocity - p.first..];
                add_product(l, jacobian, &seen[..p.port.width], &mut out);
            }
        }
        out
    }

    /// J v of a constraint for given velocities.
    #[inline(always)]
    pub(crate) fn constraint_velocity<L: Arithmetic>(
        &self,
        l: L,
        block: &Block,
        velocity: &[f64],
    ) -> Wide<L> {
        let mut u = l.splat(0.0);
        for side in &self.sides[block.sides.clone()] {
            let j = &self.jacobians[side.jacobian..][..side.port.width];
            u += product(l, j, &velocity[side.velocity..][..side.port.width]);
        }
        u
    }

    /// Sets the targets with restitution scaled by `s`.
    #[inline(always)]
    pub(crate) fn set_rebound(&mut self, s: f64) {
        for b in &self.blocks {
            let rebound = if b.hit { s * b.normal.rebound } else { f64::NEG_INFINITY };
            self.bias[b.index][0] = -b.normal.gap_target.max(rebound);
        }
    }

    /// True if restitution acts anywhere.
    #[inline(always)]
    pub(crate) fn has_rebound(&self) -> bool {
        self.blocks.iter().any(|b| b.hit)
    }

    /// λ of a constraint.
    #[inline(always)]
    pub(crate) fn impulse(&self, block: &Block) -> [f64; 3] {
        rows_of(self.lambda[block.index])
    }

    /// J v of a constraint.
    #[inline(always)]
    fn rates<L: Arithmetic>(&self, l: L, block: &Block) -> Wide<L> {
        match self.is_coupled {
            true => l.load(&self.rates[block.index]),
            false => self.constraint_velocity(l, block, &self.velocity),
        }
    }

    /// u = J v + R λ + bias of a constraint.
    #[inline(always)]
    pub(crate) fn law_velocity<L: Arithmetic>(&self, l: L, block: &Block) -> Quad {
        let (lambda, bias) = (&self.lambda[block.index], &self.bias[block.index]);
        let own = l.load(&block.regularisation) * l.load(lambda) + l.load(bias);
        (self.rates(l, block) + own).store()
    }

    /// Adds what a change of a constraint's impulse does to the rates of its bodies.
    #[inline(always)]
    pub(crate) fn move_bodies<L: Arithmetic>(&mut self, l: L, i: usize, change: &Quad) {
        for side in &self.sides[self.blocks[i].sides.clone()] {
            let v = &mut self.velocity[side.first..][..side.span];
            add_transposed(l, &self.responses[side.response..][..side.span], change, v);
        }
    }

    /// J v for the present λ, or the rates that it follows from, free of what rounding left behind.
    #[inline(always)]
    pub(crate) fn recompute_velocity<L: Arithmetic>(&mut self, l: L) {
        if self.is_coupled {
            let count = self.count;
            self.rates.resize(count, Quad::default());
            let rates = &mut self.rates[..count];
            rates.copy_from_slice(&self.free_rates[..count]);
            for (i, lambda) in self.lambda[..count].iter().enumerate() {
                for (u, w) in rates.iter_mut().zip(&self.w[i * count..][..count]) {
                    *u = add_rows(l, l.load(u), lambda, w).store();
                }
            }
            return;
        }
        self.velocity.clear();
        self.velocity.extend_from_slice(&self.free);
        for (block, lambda) in self.blocks.iter().zip(&self.lambda) {
            for side in &self.sides[block.sides.clone()] {
                let v = &mut self.velocity[side.first..][..side.span];
                add_transposed(l, &self.responses[side.response..][..side.span], lambda, v);
            }
        }
    }

    /// Velocities of all bodies and the energy that the impulses put in. True if velocities and
    /// impulses are finite.
    pub(crate) fn finish(&mut self, problem: &ContactProblem) -> bool {
        self.isa.run(Finish { system: self, problem })
    }

    #[inline(always)]
    fn finish_here<L: Arithmetic>(&mut self, l: L, problem: &ContactProblem) -> bool {
        reset(&mut self.impulses, self.free.len());
        for (block, lambda) in self.blocks.iter().zip(&self.lambda) {
            for side in &self.sides[block.sides.clone()] {
                let p = &mut self.impulses[side.velocity..][..side.port.width];
                add_transposed(l, &self.jacobians[side.jacobian..][..side.port.width], lambda, p);
            }
        }
        self.ports.velocities(l, problem, &self.impulses, &mut self.outcome);
        self.gain = self.energy_gain(l);
        all_finite(l, &self.outcome) && all_lanes_finite(l, &self.lambda)
    }

    /// All impulses, packed.
    #[inline(always)]
    pub(crate) fn pack_impulses(&self, out: &mut Vec<f64>) {
        out.clear();
        for (block, lambda) in self.blocks.iter().zip(&self.lambda) {
            out.extend_from_slice(&lambda[..block.rows()]);
        }
    }

    /// True if something pushes.
    #[inline(always)]
    pub(crate) fn has_impulses(&self) -> bool {
        self.lambda.iter().any(|x| *x != Quad::default())
    }

    /// Takes other impulses, packed, made exactly admissible.
    #[inline(always)]
    pub(crate) fn set_impulses(&mut self, packed: &[f64]) {
        for (block, lambda) in self.blocks.iter().zip(&mut self.lambda) {
            let [n, s, t] = block.law.clip(read(packed, block));
            *lambda = Quad([n, s, t, 0.0]);
        }
        self.recompute_velocity(Portable);
    }

    /// Natural map residual of a constraint, m/s. Where nothing can move: the velocity that is
    /// missing.
    #[inline(always)]
    pub(crate) fn residual<L: Arithmetic>(&self, l: L, block: &Block) -> f64 {
        let u = rows_of(self.law_velocity(l, block));
        if block.rho > 0.0 {
            return block.law.residual(self.impulse(block), u, block.rho, block.per_rho);
        }
        match block.law {
            Law::Interval { lower, .. } if lower != 0.0 => u[0].abs(),
            _ => (-u[0]).max(0.0),
        }
    }

    /// Residuals of all constraints into `residuals`, and the largest of them; NaN if one is.
    #[inline(always)]
    pub(crate) fn worst_residual<L: Arithmetic>(&mut self, l: L) -> f64 {
        let (mut worst, mut residuals) = (0.0, core::mem::take(&mut self.residuals));
        residuals.clear();
        for block in &self.blocks {
            let r = self.residual(l, block);
            if r.is_nan() || r > worst {
                worst = r;
            }
            residuals.push(r);
        }
        self.residuals = residuals;
        worst
    }

    /// Energy that the impulses put in: T(v) − T(v_free) = ½ λᵀ J (v + v_free), J.
    #[inline(always)]
    pub(crate) fn energy_gain<L: Arithmetic>(&self, l: L) -> f64 {
        let mut sum = l.splat(0.0);
        for (block, (lambda, free)) in
            self.blocks.iter().zip(self.lambda.iter().zip(&self.free_rates))
        {
            sum = l.load(lambda) * (self.rates(l, block) + l.load(free)) + sum;
        }
        let Quad([n, s, t, _]) = sum.store();
        0.5 * (n + s + t)
    }

    /// Energy that corrections of gaps may put in: Σ λ target over the normal rows, J.
    #[inline(always)]
    pub(crate) fn correction_work(&self) -> f64 {
        self.sum_over_rows(|b, _, _, lambda| match b.law {
            Law::Interval { lower, .. } if lower != 0.0 => lambda[0] * b.normal.gap_target,
            _ => lambda[0] * b.normal.gap_target.max(0.0),
        })
    }

    fn sum_over_rows(&self, f: impl Fn(&Block, [f64; 3], [f64; 3], [f64; 3]) -> f64) -> f64 {
        let free = |b: &Block| rows_of(self.free_rates[b.index]);
        let of =
            |b: &Block| f(b, rows_of(self.rates(Portable, b).store()), free(b), self.impulse(b));
        self.blocks.iter().map(of).sum()
    }

    /// What [`System::energy_gain`] may be off by rounding and by the residuals, J.
    #[inline(always)]
    pub(crate) fn energy_rounding(&self) -> f64 {
        self.sum_over_rows(|b, after, free, lambda| {
            let loose = 2.0 * self.residual(Portable, b);
            let moved = |r: usize| 1e-13 * (after[r].abs() + free[r].abs()) + loose;
            (0..b.rows()).map(|r| lambda[r].abs() * moved(r)).sum()
        })
    }

    /// Scales all impulses to where T is smallest along them: T(αλ) = T_free + α λᵀJv_free + ½α²
    /// λᵀJA⁻¹Jᵀλ.
    #[inline(always)]
    pub(crate) fn shorten_impulses(&mut self) {
        let (slope, curvature) = (
            self.sum_over_rows(|_, _, free, lambda| dot(&lambda, &free)),
            self.sum_over_rows(|_, after, free, lambda| dot(&lambda, &after) - dot(&lambda, &free)),
        );
        let share = -slope / curvature;
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.lambda.iter_mut().flat_map(|x| &mut x.0).for_each(|x| *x *= share);
        self.recompute_velocity(Portable);
    }

    /// No impulses.
    #[inline(always)]
    pub(crate) fn clear_impulses(&mut self) {
        self.lambda.fill(Quad::default());
        self.recompute_velocity(Portable);
    }
}

/// Arguments of [`System::finish`].
struct Finish<'a> {
    system: &'a mut System,
    problem: &'a ContactProblem,
}

impl Kernel for Finish<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        self.system.finish_here(l, self.problem)
    }
}

/// Without the place that is always 0.
#[inline]
fn rows_of(Quad([n, s, t, _]): Quad) -> [f64; 3] {
    [n, s, t]
}

/// The entries of a constraint where rows are packed.
#[inline]
pub(crate) fn read(x: &[f64], block: &Block) -> [f64; 3] {
    match block.rows() {
        1 => [x[block.row], 0.0, 0.0],
        _ => [x[block.row], x[block.row + 1], x[block.row + 2]],
    }
}
