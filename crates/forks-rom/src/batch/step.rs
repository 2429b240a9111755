//! A step of four instances: the operations of a single [`Stepper`]'s step in the same order,
//! instances in the lanes.

use forks_linalg::simd::{Arithmetic, LANES, Lanes, Wide, WideVectors};

use forks_lie::glam::DVec3;

use super::{
    loads::Loads,
    pull_back::{dot, pull_back},
};
use crate::{
    Elasticity, Scheme, StepStatus, Stepper,
    effectors::{WorldTwist, WorldWrench},
    kernel::MAX_QUARTER_ANGLE_SQUARED,
    step::generalise,
};

/// Four instances, a lane group per coordinate, with room for a step's numbers.
pub(super) struct Group<'a> {
    pub(super) eta: &'a mut [Lanes],
    pub(super) velocity: &'a mut [Lanes],
    /// η_s.
    pub(super) rest: &'a [Lanes],
    pub(super) status: &'a mut [StepStatus],
    /// η − η_s.
    pub(super) stretch: &'a mut [Lanes],
    /// g.
    pub(super) force: &'a mut [Lanes],
    /// Rates, then positions.
    pub(super) result: &'a mut [Lanes],
}

/// Steps the instances of a group; those beyond the end of `loads` have none.
#[inline(always)]
pub(super) fn step_group<L: Arithmetic>(
    l: L,
    stepper: &Stepper,
    group: &mut Group<'_>,
    loads: impl Loads,
) {
    for (s, (x, r)) in group.stretch.iter_mut().zip(group.eta.iter().zip(group.rest)) {
        *s = (l.load(x) - l.load(r)).store();
    }
    let transition = stepper.transition();
    transition.of_states(l, group.velocity, group.stretch, group.result);
    let found = generalised_force(l, stepper, group, loads);
    if found.loaded == [true; LANES] {
        transition.add_forces(l, group.force, [true; LANES], group.result);
    } else if found.loaded != [false; LANES] {
        transition.add_forces(l, group.force, found.loaded, group.result);
    }
    let finite = accept(l, stepper, group);
    for (lane, status) in group.status.iter_mut().enumerate() {
        *status = match found.outside[lane] {
            _ if !finite[lane] => StepStatus::NotFinite,
            None => StepStatus::Completed,
            Some(effector) => StepStatus::OutOfRange { effector },
        };
    }
}

/// Takes over the results of those instances whose results are finite; says which.
#[inline(always)]
fn accept<L: Arithmetic>(l: L, stepper: &Stepper, group: &mut Group<'_>) -> [bool; LANES] {
    let (rates, positions) = group.result.split_at_mut(group.eta.len());
    let (h, zero) = (l.splat(stepper.step_size()), l.splat(0.0));
    // 0 × x is 0 unless x is NaN or infinite.
    let mut check = zero;
    for (i, (eta, rest)) in group.eta.iter().zip(group.rest).enumerate() {
        let rate = l.load(&rates[i]);
        let position = match stepper.scheme() {
            Scheme::ImplicitEuler => h * rate + l.load(eta),
            Scheme::Exponential => l.load(rest) + l.load(&positions[i]),
        };
        check += position * zero;
        check += rate * zero;
        positions[i] = position.store();
    }
    let finite = check.store().0.map(|x| x == 0.0);
    for (i, (eta, velocity)) in group.eta.iter_mut().zip(group.velocity.iter_mut()).enumerate() {
        replace(eta, positions[i], finite);
        replace(velocity, rates[i], finite);
    }
    finite
}

/// Takes over the new numbers of some lanes.
#[inline(always)]
pub(super) fn replace(old: &mut Lanes, new: Lanes, lanes: [bool; LANES]) {
    if lanes == [true; LANES] {
        *old = new;
        return;
    }
    for lane in (0..LANES).filter(|&lane| lanes[lane]) {
        old.0[lane] = new.0[lane];
    }
}

/// What was found on the way over the effectors, per instance.
struct Found {
    /// True if a load acts.
    loaded: [bool; LANES],
    /// The first effector that is out of range.
    outside: [Option<usize>; LANES],
}

/// g = Σ_e B_eᵀ J_r(ξ_e)ᵀ w_e.
#[inline(always)]
fn generalised_force<L: Arithmetic>(
    l: L,
    stepper: &Stepper,
    group: &mut Group<'_>,
    loads: impl Loads,
) -> Found {
    let mut all = Found { loaded: [false; LANES], outside: [None; LANES] };
    group.force.fill(Lanes::default());
    for e in 0..stepper.model().effector_count() {
        let columns = stepper.model().effector_blocks().columns(e);
        let twist = twist(l, columns, group.eta);
        first_outside(l, stepper, e, twist, &mut all.outside);
        let (wrench, loaded) = wrenches(l, stepper, e, twist, loads);
        if loaded != [false; LANES] {
            let g = generalised(l, stepper, twist, wrench, loaded);
            add_force(l, columns, g, group.force);
        }
        (0..LANES).for_each(|lane| all.loaded[lane] |= loaded[lane]);
    }
    all
}

/// ξ' = B' η: linear and angular part.
#[inline(always)]
fn twist<L: Arithmetic>(l: L, columns: &[Lanes], eta: &[Lanes]) -> [WideVectors<L>; 2] {
    let mut t = [[l.splat(0.0); 3]; 2];
    for (x, c) in eta.iter().zip(columns.chunks_exact(2)) {
        let x = l.load(x);
        for (t, c) in t.iter_mut().zip(c) {
            for (t, c) in t.iter_mut().zip(c.0) {
                *t += c * x;
            }
        }
    }
    t.map(WideVectors)
}

/// out += B'ᵀ g.
#[inline(always)]
fn add_force<L: Arithmetic>(l: L, columns: &[Lanes], g: [WideVectors<L>; 2], out: &mut [Lanes]) {
    for (o, c) in out.iter_mut().zip(columns.chunks_exact(2)) {
        let mut sum = l.load(o);
        for (c, g) in c.iter().zip(g) {
            for (c, g) in c.0.into_iter().zip(g.0) {
                sum += c * g;
            }
        }
        *o = sum.store();
    }
}

/// Marks the lanes in which effector `e` is the first outside of the model's range, or has turned
/// by π or more.
#[inline(always)]
fn first_outside<L: Arithmetic>(
    l: L,
    stepper: &Stepper,
    e: usize,
    [v, o]: [WideVectors<L>; 2],
    outside: &mut [Option<usize>; LANES],
) {
    use core::f64::consts::{FRAC_1_PI, PI};
    let (range_squared, inverse_radius) = stepper.model().effector_blocks().range();
    let inverse_radius = l.splat(inverse_radius);
    let turned = dot(o, o);
    let v = v.scaled(inverse_radius);
    let relative = dot(v, v) + (turned * (FRAC_1_PI * FRAC_1_PI)).rounded();
    let (Lanes(turned), Lanes(relative)) = (turned.store(), relative.store());
    for lane in 0..LANES {
        // Written so that NaN is outside.
        let inside = turned[lane] < PI * PI && relative[lane] <= range_squared;
        if !inside {
            outside[lane] = outside[lane].or(Some(e));
        }
    }
}

/// Sums of each instance's loads on effector `e`, and which instances have some.
#[inline(always)]
fn wrenches<L: Arithmetic>(
    l: L,
    stepper: &Stepper,
    e: usize,
    twist: [WideVectors<L>; 2],
    loads: impl Loads,
) -> ([WideVectors<L>; 2], [bool; LANES]) {
    let mut sums = [[Lanes::default(); 3]; 2];
    let mut found = [false; LANES];
    for lane in 0..LANES {
        let sum = loads.on(l, stepper, (lane, e), || twist_of_lane(twist, lane));
        let Some(sum) = sum else { continue };
        found[lane] = true;
        for i in 0..3 {
            sums[0][i].0[lane] = sum.force[i];
            sums[1][i].0[lane] = sum.torque[i];
        }
    }
    (sums.map(|s| WideVectors(s.map(|s| l.load(&s)))), found)
}

#[inline(always)]
fn twist_of_lane<L: Arithmetic>(twist: [WideVectors<L>; 2], lane: usize) -> WorldTwist {
    let [linear, angular] = twist.map(|t| DVec3::from_array(t.0.map(|t| t.store().0[lane])));
    WorldTwist { linear, angular }
}

/// Generalised forces on the twists; 0 for instances without a load.
#[inline(always)]
fn generalised<L: Arithmetic>(
    l: L,
    stepper: &Stepper,
    twist: [WideVectors<L>; 2],
    wrench: [WideVectors<L>; 2],
    found: [bool; LANES],
) -> [WideVectors<L>; 2] {
    let linear = stepper.elasticity() == Elasticity::Linear;
    let Lanes(y) = (0.25 * dot(twist[1], twist[1])).store();
    let far = |lane: usize| linear || y[lane] > MAX_QUARTER_ANGLE_SQUARED;
    let g = pull_back(l, twist, wrench);
    if found == [true; LANES] && !(0..LANES).any(far) {
        return g;
    }
    // Lanes that need what a single instance does, or nothing.
    let mut out = g.map(|g| g.0.map(Wide::store));
    for lane in 0..LANES {
        if found[lane] && !far(lane) {
            continue;
        }
        let mut one = WorldWrench::default();
        if found[lane] {
            let [force, torque] = wrench.map(|w| DVec3::from_array(w.0.map(|w| w.store().0[lane])));
            let w = WorldWrench { force, torque };
            one = generalise(l, stepper, &twist_of_lane(twist, lane), &w);
        }
        for i in 0..3 {
            out[0][i].0[lane] = one.force[i];
            out[1][i].0[lane] = one.torque[i];
        }
    }
    out.map(|o| WideVectors(o.map(|o| l.load(&o))))
}
