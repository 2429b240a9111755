//! The linear response of a step to impulses: A⁻¹, free velocities, impulses behind a change.

use alloc::{vec, vec::Vec};

use forks_lie::{
    glam::{DQuat, DVec3},
    skew,
};
use forks_linalg::{
    Matrix,
    simd::{
        Arithmetic, LANES, Lanes, Rows, all_lanes_finite, cholesky_of_rows, dot_lanes,
        inverse_of_rows,
    },
};

use super::{
    inertia::{contract, entry},
    newton::{Equations, FIRST_RATE, FloatingWork, angular, fill},
    start::Start,
};

/// The linear response of one step from one state.
#[derive(Clone, Debug)]
pub struct Response {
    /// True if there is one.
    pub responds: bool,
    /// A⁻¹, (6 + n)².
    pub inverse: Matrix,
    /// Velocities without impulses.
    pub free: Vec<f64>,
    /// [[J, Σ], [Σᵀ, M̃ + hD + h²𝓗]], with a row and a column before it: see the equations.
    pub matrix: Rows,
    /// Its inverse.
    pub response: Rows,
    /// Its Cholesky factor U, and U⁻ᵀ.
    factors: [Rows; 2],
    /// ([c]×, −G), with a zero before each row: its v = V + these times (ω, η̇).
    lever: Rows,
    /// The same times the inverse.
    carried: Rows,
    /// What does not change during the step.
    pub start: Start,
    /// Constant part of the equations of η, padded.
    pub force: Vec<Lanes>,
    /// Field of G.
    pub slope: Vec<Lanes>,
    /// 0, ω, η̇: changes, then trial; padded.
    pub change: Vec<f64>,
    /// What they are conjugate to.
    pub impulse: Vec<Lanes>,
}

impl Response {
    /// Of n coordinates.
    pub fn new(n: usize) -> Self {
        let (groups, size) = (n.div_ceil(LANES), FIRST_RATE + n);
        let square = || Rows::zeros(size, size);
        Self {
            responds: false,
            inverse: Matrix::zeros(6 + n, 6 + n),
            free: vec![0.0; 6 + n],
            matrix: square(),
            response: square(),
            factors: [square(), square()],
            lever: Rows::zeros(3, size),
            carried: Rows::zeros(3, size),
            start: Start::default(),
            force: vec![Lanes::default(); groups],
            slope: vec![Lanes::default(); 3 * groups],
            change: vec![0.0; LANES * (1 + groups)],
            impulse: vec![Lanes::default(); 1 + groups],
        }
    }

    /// [[J, Σ], [Σᵀ, step]] and its inverse; false if it is not positive definite.
    #[inline(always)]
    pub fn respond<L: Arithmetic>(&mut self, l: L, coupling: &[Lanes], step: &Rows) -> bool {
        fill(&mut self.matrix, &self.start.rotation, coupling, step);
        let size = self.change_size();
        let [factor, work] = &mut self.factors;
        factor.as_mut_slice().copy_from_slice(self.matrix.as_slice());
        let responds = cholesky_of_rows(l, size, factor).is_ok();
        if responds {
            inverse_of_rows(l, size, factor, work, &mut self.response);
        }
        responds
    }

    /// The response of a step that starts so, and its free velocities by one step of Newton's
    /// method, which leaves what rests at rest; from what the start left in `work`. Velocities in
    /// world axes.
    #[inline(always)]
    pub fn begin<L: Arithmetic>(
        &mut self,
        l: L,
        equations: &Equations<'_>,
        start: &Start,
        (rotation, center_velocity): (DQuat, DVec3),
        work: &mut FloatingWork,
    ) {
        let inertia = equations.inertia;
        self.start = *start;
        self.force.copy_from_slice(&work.force);
        self.slope.copy_from_slice(&work.slope);
        let responds = self.respond(l, &work.coupling, equations.matrix);
        self.responds = responds && self.assemble(l, inertia.mass);
        equations.residual(l, work);
        numbers(&work.residual, &mut work.correction);
        self.impulse.fill(Lanes::default());
        self.response.add_to(l, &work.correction[..FIRST_RATE + inertia.n], &mut self.impulse);
        let pairs = work.trial.as_chunks::<LANES>().0.iter().zip(&self.impulse);
        for (x, (old, d)) in self.change.as_chunks_mut::<LANES>().0.iter_mut().zip(pairs) {
            *x = (l.read(old) - l.load(d)).store().0;
        }
        let center = center_velocity + start.acceleration * equations.h;
        self.take_free(l, rotation.conjugate() * center);
    }

    /// Rows of the equations.
    fn change_size(&self) -> usize {
        self.inverse.rows() - 6 + FIRST_RATE
    }

    /// A⁻¹ = T diag(1/m, N) Tᵀ, N the inverse for (ω, η̇); T has v = V + c×ω − Gη̇. False if it is
    /// not finite.
    #[inline(always)]
    pub fn assemble<L: Arithmetic>(&mut self, l: L, mass: f64) -> bool {
        let (size, turn) = (self.change_size(), skew(self.start.center));
        for i in 0..3 {
            let lever = self.lever.row_mut(i);
            lever[0] = Lanes([0.0, entry(&turn, i, 0), entry(&turn, i, 1), entry(&turn, i, 2)]);
            for (out, vectors) in lever[1..].iter_mut().zip(self.slope.as_chunks::<3>().0) {
                *out = (0.0 - l.load(&vectors[i])).store();
            }
            let carried = self.carried.row_mut(i);
            carried.fill(Lanes::default());
            numbers(lever, &mut self.change);
            self.response.add_to(l, &self.change[..size], carried);
        }
        for i in 0..3 {
            for j in 0..=i {
                let x = dot_lanes(l, self.carried.row(i), self.lever.row(j));
                let x = if i == j { x + 1.0 / mass } else { x };
                self.inverse[(i, j)] = x;
                self.inverse[(j, i)] = x;
            }
            behind(self.carried.row(i), &mut self.inverse.row_mut(i)[3..]);
        }
        for i in 1..size {
            let row = self.inverse.row_mut(2 + i);
            (0..3).for_each(|k| row[k] = self.carried.get(k, i));
            behind(self.response.row(i), &mut row[3..]);
        }
        // What is in v's own block is in the rows too.
        let own = (0..3).fold(0.0, |sum, i| sum + self.inverse[(i, i)]);
        own.is_finite()
            && all_lanes_finite(l, self.response.as_slice())
            && all_lanes_finite(l, self.carried.as_slice())
    }

    /// Velocities (v, ω, η̇) from the centre's, base axes, and what is in `change`.
    #[inline(always)]
    pub fn take_free<L: Arithmetic>(&mut self, l: L, center: DVec3) {
        let omega = angular(&self.change);
        let moved = contract(l, &self.slope, &self.change[FIRST_RATE..]);
        let v = center - omega.cross(self.start.center) - moved;
        self.free[..3].copy_from_slice(&v.to_array());
        let n = self.free.len() - 3;
        self.free[3..].copy_from_slice(&self.change[1..][..n]);
    }
}

/// What follows the zero of a padded vector of the equations.
#[inline(always)]
fn behind(x: &[Lanes], out: &mut [f64]) {
    let (omega, rates) = out.split_at_mut(3);
    omega.copy_from_slice(&x[0][1..]);
    let (fours, rest) = rates.as_chunks_mut::<LANES>();
    for (out, x) in fours.iter_mut().zip(&x[1..]) {
        *out = x.0;
    }
    if let Some(last) = x.last() {
        rest.iter_mut().zip(last.iter()).for_each(|(out, x)| *out = *x);
    }
}

/// Lane groups as numbers.
#[inline(always)]
fn numbers(x: &[Lanes], out: &mut [f64]) {
    out.as_chunks_mut::<LANES>().0.iter_mut().zip(x).for_each(|(out, x)| *out = x.0);
}

impl Response {
    /// The impulses behind a change of velocities, into what the step starts from; and the change
    /// of the centre's velocity, world axes.
    #[inline(always)]
    pub fn take_impulses<L: Arithmetic>(
        &mut self,
        l: L,
        rotation: DQuat,
        work: &mut FloatingWork,
        change: &[f64],
    ) -> (Start, DVec3) {
        let (linear, rest) = change.split_at(3);
        self.change[1..][..rest.len()].copy_from_slice(rest);
        self.change[0] = 0.0;
        self.change[1 + rest.len()..].fill(0.0);
        let omega = angular(&self.change);
        let moved = contract(l, &self.slope, &self.change[FIRST_RATE..]);
        let center =
            DVec3::new(linear[0], linear[1], linear[2]) + omega.cross(self.start.center) + moved;
        self.impulse.fill(Lanes::default());
        let size = self.change_size();
        self.matrix.add_to(l, &self.change[..size], &mut self.impulse);
        let [_, x, y, z] = self.impulse[0].0;
        let spin = self.start.spin + rotation * DVec3::new(x, y, z);
        let pairs = self.force.iter().zip(&self.impulse[1..]);
        for (force, (old, p)) in work.force.iter_mut().zip(pairs) {
            *force = (l.load(old) + l.load(p)).store();
        }
        let free = self.free[3..].iter().zip(rest);
        for (x, (free, d)) in work.trial[1..].iter_mut().zip(free) {
            *x = free + d;
        }
        (Start { spin, ..self.start }, rotation * center)
    }
}
