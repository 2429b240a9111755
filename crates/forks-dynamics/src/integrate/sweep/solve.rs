//! Right-hand sides taken inward through fronts, and solutions outward.

use forks_mechanism::{
    lie::{Twist, Wrench},
    linalg::simd::{Arithmetic, Kernel, LANES, Lanes},
};

use super::{
    front::Front, inward::Factor, motion::Motion, plan::SweepPlan, space::Space, spatial::Spatial,
};
use crate::tree::{
    block::{add, power},
    compile::Carrier,
};

const ZERO: Lanes = Lanes([0.0; LANES]);

/// A right-hand side taken inward.
pub(super) struct Forward<'a, A> {
    pub(super) plan: &'a SweepPlan,
    pub(super) motion: &'a Motion,
    pub(super) fronts: &'a [Front],
    pub(super) factor: &'a mut Factor<A>,
    pub(super) space: &'a mut Space,
}

impl<A: Spatial> Kernel for Forward<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { plan, motion, fronts, factor, space } = self;
        for front in fronts {
            match front.tree {
                true => factor.forward(plan, motion, &space.right, front.slot),
                false => forward(l, plan, motion, front, factor, space),
            }
        }
    }
}

/// Coordinates, multipliers and twists, outward.
pub(super) struct Backward<'a, A> {
    pub(super) plan: &'a SweepPlan,
    pub(super) motion: &'a Motion,
    pub(super) fronts: &'a [Front],
    pub(super) factor: &'a mut Factor<A>,
    pub(super) space: &'a mut Space,
    pub(super) x: &'a mut [f64],
}

impl<A: Spatial> Kernel for Backward<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { plan, motion, fronts, factor, space, x } = self;
        factor.twists[0] = Twist::ZERO;
        for front in fronts.iter().rev() {
            match front.tree {
                true => factor.backward(plan, motion, x, front.slot),
                false => backward(l, plan, motion, front, factor, space, x),
            }
        }
    }
}

/// Six numbers in two chunks.
#[inline(always)]
pub(super) fn chunks(x: &[f64; 6]) -> [Lanes; 2] {
    [Lanes([x[0], x[1], x[2], x[3]]), Lanes([x[4], x[5], 0.0, 0.0])]
}

/// Takes a right-hand side through a front.
#[inline(always)]
pub(super) fn forward<A: Spatial, L: Arithmetic>(
    l: L,
    plan: &SweepPlan,
    motion: &Motion,
    front: &Front,
    factor: &mut Factor<A>,
    space: &mut Space,
) {
    let (width, k, d) = (front.width(), front.eliminated(), front.dof);
    let (s, place) = (&plan.tree.slots[front.slot], &motion.places[front.slot]);
    let drive = factor.drives[front.slot];
    let b = &mut space.vector[..width];
    b.fill(ZERO);
    let at = s.velocity as usize;
    match s.carrier {
        Carrier::Fixed => {}
        Carrier::Revolute => b[0][0] = space.right[at] + place.axis().dot(drive.torque),
        Carrier::Prismatic => b[0][0] = space.right[at] + place.axis().dot(drive.force),
        Carrier::Multi(i) => {
            let columns = &motion.multi[i as usize].world;
            for (y, c) in columns.as_slice().iter().enumerate() {
                b[y / LANES][y % LANES] = space.right[at + y] + power(&drive, c);
            }
        }
    }
    for (i, &row) in front.rows.iter().enumerate() {
        b[(d + i) / LANES][(d + i) % LANES] = space.multipliers[row];
    }
    for p in 0..k {
        let x = b[p / LANES][p % LANES];
        space.solutions[front.solution + p] = x;
        if x != 0.0 {
            let one = space.sides * width;
            let factors = &space.kept[front.kept + p * one..][..one];
            // Lᵀ is U over the pivots. What is eliminated may change: it is noted.
            let (lower, x) = match A::SYMMETRIC {
                true => (factors, x * factors[p / LANES][p % LANES]),
                false => (&factors[width..], x),
            };
            let x = l.splat(x);
            for (b, c) in b.iter_mut().zip(lower) {
                *b = (l.load(b) - x * l.load(c)).store();
            }
        }
    }
    for (i, &row) in front.waiting().iter().enumerate() {
        space.multipliers[row] = b[(k + i) / LANES][(k + i) % LANES];
    }
    for (w, &slot) in b[front.head()..].chunks_exact(2).zip(&front.around) {
        let w = Wrench::from_array([w[0][0], w[0][1], w[0][2], w[0][3], w[1][0], w[1][1]]);
        add(&mut factor.drives[slot as usize], &w);
    }
    let carried = place.offset.wrench_inward(&drive);
    add(&mut factor.drives[s.inner as usize], &carried);
}

/// Coordinates, multipliers and the twist of a front's slot.
#[inline(always)]
fn backward<A: Spatial, L: Arithmetic>(
    l: L,
    plan: &SweepPlan,
    motion: &Motion,
    front: &Front,
    factor: &mut Factor<A>,
    space: &mut Space,
    x: &mut [f64],
) {
    let (width, head, k, d) = (front.width(), front.head(), front.eliminated(), front.dof);
    let (s, place) = (&plan.tree.slots[front.slot], &motion.places[front.slot]);
    let b = &mut space.vector[..width];
    b[..head].fill(ZERO);
    for (i, &row) in front.waiting().iter().enumerate() {
        b[(k + i) / LANES][(k + i) % LANES] = space.multipliers[row];
    }
    for (b, &slot) in b[head..].chunks_exact_mut(2).zip(&front.around) {
        let [c, e] = chunks(&factor.twists[slot as usize].to_array());
        (b[0], b[1]) = (c, e);
    }
    for p in (0..k).rev() {
        let upper = &space.kept[front.kept + space.sides * p * width..][..width];
        let mut known = l.splat(0.0);
        for (u, y) in upper.iter().zip(b.iter()) {
            known += l.load(u) * l.load(y);
        }
        let known = known.total();
        let (chunk, lane) = (p / LANES, p % LANES);
        b[chunk][lane] = (space.solutions[front.solution + p] - known) * upper[chunk][lane];
    }
    for (i, &row) in front.rows[..front.pivots].iter().enumerate() {
        space.multipliers[row] = b[(d + i) / LANES][(d + i) % LANES];
    }
    let inner = &factor.twists[s.inner as usize];
    let mut t = place.offset.twist_outward(inner);
    let at = s.velocity as usize;
    match s.carrier {
        Carrier::Fixed => {}
        Carrier::Revolute => {
            x[at] = b[0][0];
            t.angular += place.axis() * x[at];
        }
        Carrier::Prismatic => {
            x[at] = b[0][0];
            t.linear += place.axis() * x[at];
        }
        Carrier::Multi(i) => {
            let columns = &motion.multi[i as usize].world;
            for (y, c) in columns.as_slice().iter().enumerate() {
                x[at + y] = b[y / LANES][y % LANES];
                t += *c * x[at + y];
            }
        }
    }
    factor.twists[front.slot] = t;
}
