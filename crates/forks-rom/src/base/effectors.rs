//! Effectors of a floating model: J_e = (Ad⁻¹ of the base, J_r(ξ_e) B_e).

use forks_lie::{Mat6, Pose, Twist, se3::right_jacobian};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel, LANES, Lanes, Wide},
};

use super::{model::FloatingModel, state::FloatingState};
use crate::EffectorState;

/// Poses, Jacobians and twists of all effectors; `own` is the base link's body twist.
pub(super) struct Effectors<'a> {
    pub(super) model: &'a FloatingModel,
    pub(super) state: &'a FloatingState,
    pub(super) own: Twist,
    pub(super) out: &'a mut [EffectorState],
}

impl Kernel for Effectors<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { model, state, own, out } = self;
        let base_from_world = state.world_from_base().inverse();
        let world_from_rest = model.world_from_rest(state);
        let rests = &model.reduced().data().effectors;
        let (eta, rate) = (&state.shape.eta, &state.shape.velocity);
        let maps = model.basis.as_slice().chunks_exact((6 * model.basis.width()).max(1));
        for ((effector, rest), map) in out.iter_mut().zip(rests).zip(maps) {
            let twist = Twist::from_array(times(l, map, eta));
            effector.pose = world_from_rest * (rest.rest * Pose::exp(twist));
            let carry = (base_from_world * effector.pose).adjoint();
            for j in 0..6 {
                let unit = core::array::from_fn(|i| f64::from(i == j));
                let column = carry.apply_inverse(Twist::from_array(unit)).to_array();
                (0..6).for_each(|i| effector.jacobian[(i, j)] = column[i]);
            }
            let right = right_jacobian(twist);
            turn(l, &right, map, &mut effector.jacobian);
            let relative = right.mul_vec(&times(l, map, rate));
            effector.twist = carry.apply_inverse(own) + Twist::from_array(relative);
        }
    }
}

/// Six rows times a padded vector.
#[inline(always)]
fn times<L: Arithmetic>(l: L, rows: &[Lanes], x: &[f64]) -> [f64; 6] {
    let x = x.as_chunks::<LANES>().0;
    let mut sums = [l.splat(0.0); 6];
    for (sum, row) in sums.iter_mut().zip(rows.chunks_exact(x.len().max(1))) {
        for (row, x) in row.iter().zip(x) {
            *sum += l.load(row) * l.read(x);
        }
    }
    let [a, b, c, d, e, f] = sums;
    let ([a, b, c, d], [e, f, ..]) =
        (l.sums([a, b, c, d]).store().0, l.sums([e, f, e, f]).store().0);
    [a, b, c, d, e, f]
}

/// J_r B_e into the columns of a Jacobian behind the base's six.
#[inline(always)]
fn turn<L: Arithmetic>(l: L, right: &Mat6, map: &[Lanes], out: &mut Matrix) {
    let width = map.len() / 6;
    for group in 0..width {
        let rows: [Wide<L>; 6] = core::array::from_fn(|k| l.load(&map[k * width + group]));
        for (i, coefficients) in right.rows.iter().enumerate() {
            // The angular rows have no linear part.
            let from = if i < 3 { 0 } else { 3 };
            let mut sum = (coefficients[from] * rows[from]).rounded();
            for k in from + 1..6 {
                sum += coefficients[k] * rows[k];
            }
            let four = sum.store().0;
            let out = &mut out.row_mut(i)[6 + 4 * group..];
            match out.first_chunk_mut::<4>() {
                Some(out) => *out = four,
                None => out.iter_mut().zip(four).for_each(|(out, x)| *out = x),
            }
        }
    }
}
