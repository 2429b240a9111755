//! A problem prepared for solving: A⁻¹Jᵀ per side, diagonal blocks of W = J A⁻¹ Jᵀ + R, impulses and velocities.

use alloc::vec::Vec;
use core::ops::Range;

use forks_lie::{axpy, dot};

use crate::{
    Problem,
    block::LocalSystem,
    dense::reset,
    law::{Law, NormalRow, inner_impulse},
    problem::Kind,
    scalar::hypot,
};

/// Share of a block's mean diagonal that ties its impulse to the last one: ½η‖λ − λ_old‖². It has no influence on where
/// Gauss–Seidel rests, but a contact on a body with fewer than three freedoms has a singular block.
const PROXIMAL: f64 = 1e-9;

/// A constraint, ready.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) law: Law,
    /// First row.
    pub(crate) row: usize,
    /// Its sides in [`System::sides`].
    pub(crate) sides: Range<usize>,
    /// Diagonal block of W, R and a proximal term included.
    pub(crate) local: LocalSystem,
    /// Diagonal block of W.
    own: [[f64; 3]; 3],
    /// Diagonal of R.
    pub(crate) regularisation: [f64; 3],
    /// ρ: impulse per velocity, one over the mean of the block's diagonal; 0 where nothing can move.
    pub(crate) rho: f64,
    pub(crate) normal: NormalRow,
    /// True if the constraint is hit within the step, so that restitution acts.
    pub(crate) hit: bool,
}

impl Block {
    pub(crate) fn rows(&self) -> usize {
        self.law.rows()
    }
}

/// A side, ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadySide {
    pub(crate) body: usize,
    pub(crate) dof: usize,
    /// First velocity of the body.
    pub(crate) velocity: usize,
    /// First entry of J, and of A⁻¹Jᵀ stored by columns.
    pub(crate) jacobian: usize,
}

/// Everything the iterations read and write.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub(crate) blocks: Vec<Block>,
    pub(crate) sides: Vec<ReadySide>,
    /// J of all sides.
    pub(crate) jacobians: Vec<f64>,
    /// (A⁻¹Jᵀ)ᵀ of all sides: row r is the change of velocity by a unit impulse of row r.
    pub(crate) responses: Vec<f64>,
    pub(crate) rows: usize,
    /// λ, three or one per constraint.
    pub(crate) lambda: Vec<f64>,
    /// v of all bodies for the present λ.
    pub(crate) velocity: Vec<f64>,
    /// v for λ = 0.
    pub(crate) free: Vec<f64>,
    /// −target of the normal rows, 0 elsewhere: u = J v + R λ + bias.
    pub(crate) bias: Vec<f64>,
    /// Largest speed that matters: free constraint velocities, rebounds, corrections.
    pub(crate) speed: f64,
    /// J v_free of all rows.
    free_rates: Vec<f64>,
    /// W without R, where the iterations go over rows instead of bodies: fewer rows than coordinates that they touch.
    coupled: Option<Coupled>,
    /// Memory for it.
    spare: Coupled,
}

/// W = J A⁻¹ Jᵀ, and J v for the present λ: then `velocity` is not kept up to date.
#[derive(Clone, Debug, Default)]
struct Coupled {
    w: Vec<f64>,
    rates: Vec<f64>,
}

impl System {
    /// Takes over a problem; impulses start warm.
    pub(crate) fn prepare(&mut self, problem: &Problem, threshold: f64) {
        self.blocks.clear();
        self.sides.clear();
        self.jacobians.clear();
        self.jacobians.extend_from_slice(problem.jacobians());
        reset(&mut self.responses, self.jacobians.len());
        self.free.clear();
        self.free.extend_from_slice(problem.free());
        self.lambda.clear();
        if let Some(coupled) = self.coupled.take() {
            self.spare = coupled;
        }
        for c in problem.constraints() {
            self.respond(problem, c.sides.clone(), c.rows());
            self.push_block(problem, c.kind, c.sides.clone(), threshold);
        }
        self.rows = self.lambda.len();
        reset(&mut self.bias, self.rows);
        self.measure();
        self.couple();
        self.set_rebound(1.0);
        self.recompute_velocity();
    }

    /// A⁻¹Jᵀ of a constraint's sides.
    fn respond(&mut self, problem: &Problem, sides: Range<usize>, rows: usize) {
        for side in &problem.sides()[sides] {
            let body = &problem.bodies()[side.body];
            let n = body.dof;
            let inverse = &problem.inverses()[body.inverse..body.inverse + n * n];
            for r in 0..rows {
                let at = side.jacobian + r * n;
                let j = &self.jacobians[at..at + n];
                // A⁻¹ is symmetric: its columns are its rows.
                for (x, row) in j.iter().zip(inverse.chunks_exact(n.max(1))) {
                    axpy(*x, row, &mut self.responses[at..at + n]);
                }
            }
            self.sides.push(ReadySide {
                body: side.body,
                dof: n,
                velocity: body.velocity,
                jacobian: side.jacobian,
            });
        }
    }

    fn push_block(&mut self, problem: &Problem, kind: Kind, sides: Range<usize>, threshold: f64) {
        let h = problem.step();
        let row = self.lambda.len();
        let (law, normal, regularisation) = match kind {
            Kind::Contact(c) => {
                let law = Law::of_contact(&c);
                let normal = NormalRow::of_contact(&c, h, threshold);
                let creep = c.creep / h;
                let warm = law.clip(inner_impulse(&c.friction, c.warm));
                self.lambda.extend_from_slice(&warm);
                (law, normal, [normal.regularisation, creep, creep])
            }
            Kind::Row(r) => {
                let law = Law::of_row(&r);
                let normal = NormalRow::of_row(&r, h, threshold);
                self.lambda.push(r.warm.clamp(r.lower, r.upper));
                (law, normal, [normal.regularisation, 0.0, 0.0])
            }
        };
        let rows = law.rows();
        let mut w = [[0.0; 3]; 3];
        for i in 0..rows {
            for j in 0..=i {
                w[i][j] = self.coupling(sides.clone(), i, sides.clone(), j);
                w[j][i] = w[i][j];
            }
        }
        let own = w;
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
            row,
            sides,
            local,
            own,
            regularisation,
            rho,
            normal,
            hit: false,
        });
    }

    /// Row i of one constraint times A⁻¹ times row j of another.
    fn coupling(&self, a: Range<usize>, i: usize, b: Range<usize>, j: usize) -> f64 {
        let mut sum = 0.0;
        for p in &self.sides[a] {
            for q in self.sides[b.clone()].iter().filter(|q| q.body == p.body) {
                let (p, q, n) = (p.jacobian + i * p.dof, q.jacobian + j * q.dof, p.dof);
                sum += dot(&self.jacobians[p..p + n], &self.responses[q..q + n]);
            }
        }
        sum
    }

    /// Goes over to W if a sweep over its rows costs less than one over J and A⁻¹Jᵀ.
    fn couple(&mut self) {
        let n = self.rows;
        let touched = |b: &Block| -> usize {
            let dofs: usize = self.sides[b.sides.clone()].iter().map(|s| s.dof).sum();
            b.rows() * dofs
        };
        if n * n > self.blocks.iter().map(touched).sum() {
            return;
        }
        let mut c = core::mem::take(&mut self.spare);
        reset(&mut c.w, n * n);
        reset(&mut c.rates, n);
        for (k, a) in self.blocks.iter().enumerate() {
            for (i, w) in (a.row..).zip(&a.own[..a.rows()]) {
                c.w[i * n + a.row..][..a.rows()].copy_from_slice(&w[..a.rows()]);
            }
            for b in &self.blocks[..k] {
                for p in &self.sides[a.sides.clone()] {
                    for q in self.sides[b.sides.clone()].iter().filter(|q| q.body == p.body) {
                        let j = &self.jacobians[p.jacobian..][..a.rows() * p.dof];
                        let r = &self.responses[q.jacobian..][..b.rows() * p.dof];
                        for (j, i) in j.chunks_exact(p.dof.max(1)).zip(a.row..) {
                            let w = &mut c.w[i * n + b.row..][..b.rows()];
                            w.iter_mut()
                                .zip(r.chunks_exact(p.dof.max(1)))
                                .for_each(|(w, r)| *w += dot(j, r));
                        }
                    }
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                c.w[j * n + i] = c.w[i * n + j];
            }
        }
        self.coupled = Some(c);
    }

    /// J v of a constraint for given velocities.
    fn constraint_velocity(&self, block: &Block, velocity: &[f64]) -> [f64; 3] {
        let mut u = [0.0; 3];
        for side in &self.sides[block.sides.clone()] {
            let v = &velocity[side.velocity..side.velocity + side.dof];
            for (r, u) in u.iter_mut().enumerate().take(block.rows()) {
                let at = side.jacobian + r * side.dof;
                *u += dot(&self.jacobians[at..at + side.dof], v);
            }
        }
        u
    }

    /// Which constraints are hit, and the speed that residuals are compared with.
    fn measure(&mut self) {
        let mut speed = 0.0_f64;
        let mut blocks = core::mem::take(&mut self.blocks);
        self.free_rates.clear();
        for b in &mut blocks {
            let u = self.constraint_velocity(b, &self.free);
            self.free_rates.extend_from_slice(&u[..b.rows()]);
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

    /// Sets the targets with restitution scaled by `s`.
    pub(crate) fn set_rebound(&mut self, s: f64) {
        for b in &self.blocks {
            let rebound = if b.hit { s * b.normal.rebound } else { f64::NEG_INFINITY };
            self.bias[b.row] = -b.normal.gap_target.max(rebound);
        }
    }

    /// True if restitution acts anywhere.
    pub(crate) fn has_rebound(&self) -> bool {
        self.blocks.iter().any(|b| b.hit)
    }

    /// λ of a constraint.
    #[inline]
    pub(crate) fn impulse(&self, block: &Block) -> [f64; 3] {
        read(&self.lambda, block)
    }

    /// J v of a constraint.
    #[inline]
    fn rates(&self, block: &Block) -> [f64; 3] {
        match &self.coupled {
            Some(c) => read(&c.rates, block),
            None => self.constraint_velocity(block, &self.velocity),
        }
    }

    /// u = J v + R λ + bias of a constraint.
    #[inline]
    pub(crate) fn law_velocity(&self, block: &Block) -> [f64; 3] {
        let mut u = self.rates(block);
        for r in 0..block.rows() {
            u[r] += block.regularisation[r] * self.lambda[block.row + r] + self.bias[block.row + r];
        }
        u
    }

    /// Takes a constraint's next impulse, to the last bit so that it stays admissible, and moves its bodies.
    #[inline]
    pub(crate) fn change_impulse(&mut self, i: usize, next: [f64; 3]) {
        let block = &self.blocks[i];
        for (row, x) in (block.row..block.row + block.rows()).zip(next) {
            let change = x - self.lambda[row];
            self.lambda[row] = x;
            if let Some(c) = &mut self.coupled {
                axpy(change, &c.w[row * self.rows..][..self.rows], &mut c.rates);
                continue;
            }
            for side in &self.sides[block.sides.clone()] {
                let at = side.jacobian + (row - block.row) * side.dof;
                let v = &mut self.velocity[side.velocity..side.velocity + side.dof];
                axpy(change, &self.responses[at..at + side.dof], v);
            }
        }
    }

    /// v = v_free + Σ A⁻¹Jᵀ λ, or J v alone, free of what rounding left behind.
    pub(crate) fn recompute_velocity(&mut self) {
        let Some(c) = &mut self.coupled else {
            return self.complete_velocity();
        };
        c.rates.copy_from_slice(&self.free_rates);
        for (row, x) in c.w.chunks_exact(self.rows.max(1)).zip(&self.lambda) {
            axpy(*x, row, &mut c.rates);
        }
    }

    /// v, and J v from it.
    pub(crate) fn finish(&mut self) {
        self.complete_velocity();
        if let Some(mut c) = self.coupled.take() {
            for block in &self.blocks {
                let u = self.constraint_velocity(block, &self.velocity);
                c.rates[block.row..block.row + block.rows()].copy_from_slice(&u[..block.rows()]);
            }
            self.coupled = Some(c);
        }
    }

    fn complete_velocity(&mut self) {
        self.velocity.clear();
        self.velocity.extend_from_slice(&self.free);
        for block in &self.blocks {
            for side in &self.sides[block.sides.clone()] {
                let v = &mut self.velocity[side.velocity..side.velocity + side.dof];
                for r in 0..block.rows() {
                    let at = side.jacobian + r * side.dof;
                    axpy(self.lambda[block.row + r], &self.responses[at..at + side.dof], v);
                }
            }
        }
    }

    /// Takes other impulses, made exactly admissible.
    pub(crate) fn set_impulses(&mut self, lambda: &[f64]) {
        for block in &self.blocks {
            let x = block.law.clip(read(lambda, block));
            self.lambda[block.row..block.row + block.rows()].copy_from_slice(&x[..block.rows()]);
        }
        self.recompute_velocity();
    }

    /// Natural map residual of a constraint, m/s. Where nothing can move: the velocity that is missing.
    pub(crate) fn residual(&self, block: &Block) -> f64 {
        let u = self.law_velocity(block);
        if block.rho > 0.0 {
            return block.law.residual(self.impulse(block), u, block.rho);
        }
        match block.law {
            Law::Interval { lower, .. } if lower != 0.0 => u[0].abs(),
            _ => (-u[0]).max(0.0),
        }
    }

    /// Largest residual of all constraints; NaN if one is.
    pub(crate) fn worst_residual(&self) -> f64 {
        self.blocks.iter().fold(0.0, |worst, b| {
            let r = self.residual(b);
            if r.is_nan() || r > worst { r } else { worst }
        })
    }

    /// Energy that the impulses put in: T(v) − T(v_free) = ½ λᵀ J (v + v_free), J.
    pub(crate) fn energy_gain(&self) -> f64 {
        self.sum_over_rows(|b, u, free, lambda| {
            (0..b.rows()).map(|r| 0.5 * lambda[r] * (u[r] + free[r])).sum()
        })
    }

    /// Energy that corrections of gaps may put in: Σ λ target over the normal rows, J.
    pub(crate) fn correction_work(&self) -> f64 {
        self.sum_over_rows(|b, _, _, lambda| match b.law {
            Law::Interval { lower, .. } if lower != 0.0 => lambda[0] * b.normal.gap_target,
            _ => lambda[0] * b.normal.gap_target.max(0.0),
        })
    }

    fn sum_over_rows(&self, f: impl Fn(&Block, [f64; 3], [f64; 3], [f64; 3]) -> f64) -> f64 {
        let of = |b: &Block| f(b, self.rates(b), read(&self.free_rates, b), self.impulse(b));
        self.blocks.iter().map(of).sum()
    }

    /// What [`System::energy_gain`] may be off by rounding and by the residuals, J.
    pub(crate) fn energy_rounding(&self) -> f64 {
        self.sum_over_rows(|b, after, free, lambda| {
            let loose = 2.0 * self.residual(b);
            let moved = |r: usize| 1e-13 * (after[r].abs() + free[r].abs()) + loose;
            (0..b.rows()).map(|r| lambda[r].abs() * moved(r)).sum()
        })
    }

    /// Scales all impulses to where T is smallest along them: T(αλ) = T_free + α λᵀJv_free + ½α² λᵀJA⁻¹Jᵀλ.
    pub(crate) fn shorten_impulses(&mut self) {
        let (slope, curvature) = (
            self.sum_over_rows(|_, _, free, lambda| dot(&lambda, &free)),
            self.sum_over_rows(|_, after, free, lambda| dot(&lambda, &after) - dot(&lambda, &free)),
        );
        let share = -slope / curvature;
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.lambda.iter_mut().for_each(|x| *x *= share);
        self.recompute_velocity();
    }

    /// No impulses.
    pub(crate) fn clear_impulses(&mut self) {
        self.lambda.fill(0.0);
        self.recompute_velocity();
    }
}

/// The entries of a constraint.
#[inline]
pub(crate) fn read(x: &[f64], block: &Block) -> [f64; 3] {
    match block.rows() {
        1 => [x[block.row], 0.0, 0.0],
        _ => [x[block.row], x[block.row + 1], x[block.row + 2]],
    }
}
