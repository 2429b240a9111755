//! Third derivatives of the energy at a sample, and the bending that has them.
//!
//! The energy's second derivative 𝓗 is known at any equilibrium. At equilibria next to the sample,
//! two displaced along each of its directions, its change is the third derivative T. Of the
//! quadratic maps q with ηᵀK q(η) = −T(η, η, η)/3 the smallest is taken: in the eigenvectors of K,
//! q_{k,ij} = −T_ijk κ_k / (κ_i² + κ_j² + κ_k²), so that stiff directions bend for soft ones. K =
//! 𝓗 + b_η·q″ depends on q: the two are found in turn.
//!
//! Effectors that cannot move in every way follow ξ = Bη + ½ c(η, η) with BᵀS²c = 0. The model's
//! energy has bᵀξ, and with it bᵀc: T is the third derivative of what is left, and c comes from the
//! directions of motion at the same equilibria.

use forks_blend::stiffness_of_bending;
use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions, EquilibriumStatus, continue_equilibrium},
};
use forks_mechanism::{
    lie::{Pose, Twist, se3},
    linalg::{
        Matrix,
        dense::{lu_solve, symmetric_eigen},
    },
};
use forks_reduce::Problem;
use forks_rom::data::ModelData;

use crate::{dead_loads::dead_at_rest, lift::scaled, sample::Sample, truth::effector_poses};

/// Displacement along the softest direction; stiffer ones are displaced by equal energies.
const DISPLACEMENT: f64 = 1e-4;
/// Directions that are so many times as stiff as the softest get no third derivatives of their own.
/// Forces that do work along them buckle the soft ones before anything has moved: what the
/// derivatives say holds no farther than that, and a soft motion goes farther.
const STIFF: f64 = 1e4;
/// Corrections of the loads that displace the effectors.
const CORRECTIONS: usize = 6;
/// A displacement is as meant up to this part of it, energies compared.
const NEAR: f64 = 1e-4;
/// Turns of q and K.
const TURNS: usize = 40;

/// Coefficients c of q, N × N(N+1)/2 (see [`forks_blend::SampleData::curvature`]); `None` where an
/// equilibrium next to the sample is not found, the sample's pose is singular, so that more motions
/// are possible next to it, or q and K do not settle.
pub(crate) fn curvature(
    problem: &Problem,
    at: &Equilibrium,
    loads: &Loads,
    sample: &Sample,
    options: &EquilibriumOptions,
) -> Option<Matrix> {
    let d = &sample.data;
    let n = d.basis.columns();
    let (values, vectors) = symmetric_eigen(&d.hessian)?;
    let size: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    let softest = size.iter().fold(f64::INFINITY, |m, v| m.min(*v)).max(f64::MIN_POSITIVE);
    let energy = Matrix::from_fn(n, n, |i, j| {
        (0..n).map(|k| vectors[(i, k)] * size[k] * vectors[(j, k)]).sum()
    });
    // From both sides: where a stiff direction bends for a soft one fourth derivatives are as large
    // as its stiffness.
    let mut pairs: Vec<Option<Pair>> = Vec::with_capacity(n);
    for k in 0..n {
        if size[k] > STIFF * softest {
            pairs.push(None);
            continue;
        }
        let step = DISPLACEMENT * (softest / size[k]).sqrt();
        let eta: Vec<f64> = vectors.column(k).iter().map(|v| step * v).collect();
        let back: Vec<f64> = eta.iter().map(|x| -x).collect();
        let side = |eta: &[f64]| displaced(problem, at, loads, d, eta, &energy, options);
        pairs.push(Some(Pair { step, sides: [side(&eta)?, side(&back)?], eta: [eta, back] }));
    }
    let paths = Paths::new(d, &pairs, &vectors, &size)?;
    let change = |pair: &Option<Pair>| {
        let Some(Pair { step, sides, eta }) = pair else { return Matrix::zeros(n, n) };
        let [plus, minus] = [0, 1].map(|i| second_derivative(d, &paths, &sides[i].data, &eta[i]));
        let change = vectors.transpose_mul(&plus.sub(&minus).mul(&vectors));
        Matrix::from_fn(n, n, |i, j| change[(i, j)] / (2.0 * step))
    };
    let changes: Vec<Matrix> = pairs.iter().map(change).collect();
    // Of three directions the softest is displaced: the others' stiffness would drown what it says.
    let third = |i: usize, j: usize, k: usize| {
        let mut order = [i, j, k];
        order.sort_by(|&a, &b| size[a].total_cmp(&size[b]));
        let t = &changes[order[0]];
        0.5 * (t[(order[1], order[2])] + t[(order[2], order[1])])
    };
    let tensor = Tensor::from_fn(n, third).turned(&vectors.transpose());
    let force = static_force(d);
    settled(&d.hessian, &force, &tensor)
}

/// The sample with the effectors displaced by Bη; `energy` is |𝓗|.
fn displaced(
    problem: &Problem,
    at: &Equilibrium,
    loads: &Loads,
    d: &ModelData,
    eta: &[f64],
    energy: &Matrix,
    options: &EquilibriumOptions,
) -> Option<Sample> {
    // 𝓗 − BᵀQB: what world-fixed wrenches work against.
    let tangent = d.hessian.sub(&d.basis.transpose_mul(&load_stiffness(d).mul(&d.basis)));
    let norm = |x: &[f64]| {
        x.iter().zip(energy.mul_vec(x)).map(|(x, y)| x * y).sum::<f64>().max(0.0).sqrt()
    };
    let (mut wrench, mut here) = (vec![0.0; eta.len()], at.clone());
    let mut missing = eta.to_vec();
    for _ in 0..CORRECTIONS {
        let more = tangent.mul_vec(&missing);
        wrench.iter_mut().zip(more).for_each(|(w, m)| *w += m);
        let mut all = loads.clone();
        let flat = dual(d).mul_vec(&wrench);
        all.wrenches.extend(dead_at_rest(problem, d, &flat));
        here = continue_equilibrium(problem.mechanism(), &here, &all, options);
        if !matches!(here.status, EquilibriumStatus::Converged | EquilibriumStatus::Unstable) {
            return None;
        }
        let poses = effector_poses(problem, &here.world_from_link);
        let twists: Vec<f64> = d
            .effectors
            .iter()
            .zip(&poses)
            .flat_map(|(e, p)| e.rest.twist_to(p).to_array())
            .collect();
        let reached = dual(d).transpose_mul_vec(&twists);
        missing = eta.iter().zip(reached).map(|(a, b)| a - b).collect();
        if norm(&missing) <= NEAR * norm(eta) {
            return Sample::new(problem, &here, &all).ok();
        }
    }
    None
}

/// Q of the static wrenches.
pub(crate) fn load_stiffness(d: &ModelData) -> Matrix {
    let wrenches: Vec<_> = d.effectors.iter().map(|e| e.static_wrench).collect();
    forks_reduce::load_stiffness(&wrenches)
}

/// S²B.
pub(crate) fn dual(d: &ModelData) -> Matrix {
    scaled(&d.basis, 1.0 / (d.radius * d.radius))
}

/// b, effector after effector.
fn static_wrenches(d: &ModelData) -> Vec<f64> {
    d.effectors.iter().flat_map(|e| e.static_wrench.to_array()).collect()
}

/// b_η = Bᵀb.
fn static_force(d: &ModelData) -> Vec<f64> {
    d.basis.transpose_mul_vec(&static_wrenches(d))
}

/// Samples displaced along one direction, forth and back.
struct Pair {
    step: f64,
    sides: [Sample; 2],
    eta: [Vec<f64>; 2],
}

/// Where effectors that cannot move in every way go: ξ = Bη + ½ c(η, η), c in the directions that
/// are closed to them.
struct Paths {
    /// c of an eigenvector of 𝓗 with all of them, 6E × N; none where every motion is possible.
    second: Vec<Matrix>,
    vectors: Matrix,
}

impl Paths {
    fn new(d: &ModelData, pairs: &[Option<Pair>], vectors: &Matrix, size: &[f64]) -> Option<Self> {
        let (rows, n) = (d.basis.rows(), d.basis.columns());
        if rows == n {
            return Some(Self { second: vec![], vectors: vectors.clone() });
        }
        let mut changes = Vec::with_capacity(n);
        for pair in pairs {
            let Some(Pair { step, sides, .. }) = pair else {
                changes.push(Matrix::zeros(rows, n));
                continue;
            };
            let [plus, minus] = [0, 1].map(|i| tangents(d, &sides[i].data));
            let change = plus?.sub(&minus?).mul(vectors);
            changes.push(Matrix::from_fn(rows, n, |i, j| change[(i, j)] / (2.0 * step)));
        }
        // Of two directions the softer is displaced.
        let second = |i: usize| {
            Matrix::from_fn(rows, n, |row, j| {
                if size[i] <= size[j] { changes[i][(row, j)] } else { changes[j][(row, i)] }
            })
        };
        Some(Self { second: (0..n).map(second).collect(), vectors: vectors.clone() })
    }

    /// c(η, ·), 6E × N.
    fn turned(&self, rows: usize, eta: &[f64]) -> Matrix {
        let n = eta.len();
        let along = self.vectors.transpose_mul_vec(eta);
        let sum = Matrix::from_fn(rows, n, |i, j| {
            self.second.iter().zip(&along).map(|(c, x)| x * c[(i, j)]).sum()
        });
        sum.mul(&self.vectors.transpose())
    }

    /// b · c, N × N.
    fn work(&self, wrench: &[f64]) -> Matrix {
        let n = self.vectors.rows();
        let rows: Vec<Vec<f64>> = self.second.iter().map(|c| c.transpose_mul_vec(wrench)).collect();
        let all = Matrix::from_fn(n, n, |i, j| rows.get(i).map_or(0.0, |r| r[j]));
        self.vectors.mul(&all.mul(&self.vectors.transpose()))
    }
}

/// ∂ξ/∂η at a sample next to this one, from the directions in which it moves; `None` if these are
/// more or fewer.
fn tangents(here: &ModelData, there: &ModelData) -> Option<Matrix> {
    let n = here.basis.columns();
    if there.basis.columns() != n {
        return None;
    }
    let mut moved = Matrix::zeros(here.basis.rows(), n);
    for (e, (f, g)) in here.effectors.iter().zip(&there.effectors).enumerate() {
        let inverse = se3::right_jacobian_inverse(f.rest.twist_to(&g.rest));
        for j in 0..n {
            let column = std::array::from_fn(|i| there.basis[(6 * e + i, j)]);
            let rate = inverse.mul_vec(&column);
            (0..6).for_each(|i| moved[(6 * e + i, j)] = rate[i]);
        }
    }
    let own = dual(here).transpose_mul(&moved);
    Some(lu_solve(&own.transpose(), &moved.transpose()).transpose())
}

/// ∂²(U′ − b·c/2)/∂η² of the energy of a sample `there`, at the coordinates η of `here` that lead
/// to it, b the wrench here: what is left to the quadratic and cubic terms in η.
fn second_derivative(here: &ModelData, paths: &Paths, there: &ModelData, eta: &[f64]) -> Matrix {
    const STEP: f64 = 1e-5;
    let (rows, n) = (here.basis.rows(), eta.len());
    // ∂ξ′/∂η, effector after effector.
    let rate = |eta: &[f64]| {
        let mut out = Matrix::zeros(rows, n);
        let turned = paths.turned(rows, eta);
        let all = Matrix::from_fn(rows, n, |i, j| here.basis[(i, j)] + turned[(i, j)]);
        let half = Matrix::from_fn(rows, n, |i, j| here.basis[(i, j)] + 0.5 * turned[(i, j)]);
        let place = half.mul_vec(eta);
        for (e, (f, g)) in here.effectors.iter().zip(&there.effectors).enumerate() {
            let xi = Twist::from_array(std::array::from_fn(|i| place[6 * e + i]));
            let pose: Pose = f.rest.displaced(xi);
            let relative = se3::right_jacobian_inverse(g.rest.twist_to(&pose));
            let own = se3::right_jacobian(xi);
            for j in 0..n {
                let column = std::array::from_fn(|i| all[(6 * e + i, j)]);
                let moved = relative.mul_vec(&own.mul_vec(&column));
                (0..6).for_each(|i| out[(6 * e + i, j)] = moved[i]);
            }
        }
        out
    };
    let wrench = static_wrenches(there);
    let dual = dual(there);
    let own = dual.transpose_mul(&rate(eta));
    let mut out = own.transpose_mul(&there.hessian.mul(&own));
    let mut y = eta.to_vec();
    for j in 0..n {
        y[j] = eta[j] + STEP;
        let plus = rate(&y).transpose_mul_vec(&wrench);
        y[j] = eta[j] - STEP;
        let minus = rate(&y).transpose_mul_vec(&wrench);
        y[j] = eta[j];
        for i in 0..n {
            out[(i, j)] += (plus[i] - minus[i]) / (2.0 * STEP);
        }
    }
    out.sub(&paths.work(&static_wrenches(here))).symmetric_part()
}

/// Limits the stiffness K of a sample: a direction that gives way next to nothing need not give way
/// as little as that, and energies of directions that are some 10¹⁰ times as stiff as others drown
/// them. Next to a singular pose mass, damping and the maps to links and joints are as large as the
/// stiffness. Mass and damping follow it, so that such a direction keeps its frequency. The maps
/// do, so that loads move links and joints as before: these would dash about where an effector is
/// led a hair's breadth off what the mechanism can do.
pub(crate) fn limited(sample: &mut Sample, most: f64) {
    let d = &sample.data;
    let n = d.basis.columns();
    let bent = stiffness_of_bending(&sample.curvature, &static_force(d));
    let k = Matrix::from_fn(n, n, |i, j| d.hessian[(i, j)] + bent[(i, j)]);
    let Some((values, vectors)) = symmetric_eigen(&k) else { return };
    if values.iter().all(|v| *v <= most) {
        return;
    }
    let softened = Matrix::from_fn(n, n, |i, j| {
        (0..n).map(|a| vectors[(i, a)] * values[a].min(most) * vectors[(j, a)]).sum()
    });
    let shrunk = |power: f64| {
        let part = |a: usize| if values[a] > most { (most / values[a]).powf(power) } else { 1.0 };
        Matrix::from_fn(n, n, |i, j| {
            (0..n).map(|a| vectors[(i, a)] * part(a) * vectors[(j, a)]).sum()
        })
    };
    let (root, whole) = (shrunk(0.5), shrunk(1.0));
    let congruent = |m: &Matrix| root.mul(&m.mul(&root)).symmetric_part();
    let d = &mut sample.data;
    (d.mass, d.damping) = (congruent(&d.mass), congruent(&d.damping));
    // Y changes so that servos move links and joints as before, too: X η + Y s at the rest
    // coordinates η = R s.
    let less = whole.sub(&Matrix::identity(n)).mul(&d.servo_rest);
    let links = d.links.iter_mut().map(|l| (&mut l.map, &mut l.servo_map));
    let joints = d.joints.iter_mut().map(|j| (&mut j.map, &mut j.servo_map));
    for (map, servos) in links.chain(joints).filter(|(map, _)| map.rows() > 0) {
        if servos.rows() > 0 {
            *servos = servos.sub(&map.mul(&less));
        }
        *map = map.mul(&whole);
    }
    for map in d.joints.iter_mut().map(|j| &mut j.load_map).filter(|m| m.rows() > 0) {
        *map = map.mul(&whole);
    }
    d.hessian = softened.sub(&bent).symmetric_part();
}

/// Numbers with three indices.
#[derive(Clone, Debug)]
struct Tensor {
    n: usize,
    data: Vec<f64>,
}

impl Tensor {
    fn from_fn(n: usize, f: impl Fn(usize, usize, usize) -> f64) -> Self {
        let data = (0..n * n * n).map(|a| f(a / (n * n), a / n % n, a % n)).collect();
        Self { n, data }
    }

    fn at(&self, i: usize, j: usize, k: usize) -> f64 {
        self.data[(i * self.n + j) * self.n + k]
    }

    /// Σ M_ai M_bj M_ck t_abc: in coordinates x with η = M x.
    fn turned(&self, m: &Matrix) -> Self {
        let n = self.n;
        let mut out = self.clone();
        // One index after the other; each turn moves the last to the front.
        for _ in 0..3 {
            let old = out.clone();
            out = Self::from_fn(n, |k, i, j| (0..n).map(|c| m[(c, k)] * old.at(i, j, c)).sum());
        }
        out
    }
}

/// q and K = 𝓗 + b_η·q″ in turn.
fn settled(hessian: &Matrix, force: &[f64], third: &Tensor) -> Option<Matrix> {
    let n = hessian.rows();
    let largest = hessian.max_abs();
    let mut k = hessian.clone();
    let mut last: Option<Tensor> = None;
    for _ in 0..TURNS {
        let (values, vectors) = symmetric_eigen(&k)?;
        let size: Vec<f64> = values.iter().map(|v| v.abs().max(1e-14 * largest)).collect();
        let t = third.turned(&vectors);
        let q = Tensor::from_fn(n, |k, i, j| {
            let squares = size[i] * size[i] + size[j] * size[j] + size[k] * size[k];
            -t.at(i, j, k) * size[k] * values[k].signum() / squares
        });
        let q = q.turned(&vectors.transpose());
        let change = last.as_ref().map_or(f64::INFINITY, |l| {
            let pairs = l.data.iter().zip(&q.data);
            pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
        });
        k = Matrix::from_fn(n, n, |i, j| {
            hessian[(i, j)] + (0..n).map(|a| force[a] * q.at(a, i, j)).sum::<f64>()
        })
        .symmetric_part();
        let size = q.data.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        if !size.is_finite() {
            return None;
        }
        last = Some(q);
        if change <= 1e-9 * size.max(1.0) {
            break;
        }
    }
    let q = last?;
    let pair: Vec<(usize, usize)> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
    Some(Matrix::from_fn(n, pair.len(), |k, at| {
        let (i, j) = pair[at];
        if i == j { q.at(k, i, i) } else { q.at(k, i, j) + q.at(k, j, i) }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, bent_sample, problems, quadratic};

    /// ½ b·q″ by differences, which are exact for a quadratic map.
    fn along(s: &Sample) -> Matrix {
        let d = &s.data;
        let n = d.basis.columns();
        let wrench: Vec<f64> =
            d.effectors.iter().flat_map(|e| e.static_wrench.to_array()).collect();
        let force = d.basis.transpose_mul_vec(&wrench);
        Matrix::from_fn(n, n, |i, j| {
            let at = |sign: f64| {
                let mut x = vec![0.0; n];
                x[i] += 1.0;
                x[j] += sign;
                let q = quadratic(&s.curvature, &x);
                q.iter().zip(&force).map(|(q, f)| q * f).sum::<f64>()
            };
            0.25 * (at(1.0) - at(-1.0))
        })
    }

    #[test]
    fn stiffness_is_limited_where_it_is_too_large_and_nowhere_else() {
        for problem in problems() {
            let sample = bent_sample(&problem);
            let bending = along(&sample);
            let n = bending.rows();
            let own =
                |s: &Sample| Matrix::from_fn(n, n, |i, j| s.data.hessian[(i, j)] + bending[(i, j)]);
            let (values, vectors) = symmetric_eigen(&own(&sample)).unwrap();
            let largest = values.iter().copied().fold(0.0, f64::max);
            let mut same = sample.clone();
            limited(&mut same, 1.01 * largest);
            assert_eq!(same.data.hessian, sample.data.hessian);
            let most = 0.3 * largest;
            let mut softer = sample.clone();
            limited(&mut softer, most);
            let expected = Matrix::from_fn(n, n, |i, j| {
                let part = |k: usize| vectors[(i, k)] * values[k].min(most) * vectors[(j, k)];
                (0..n).map(part).sum()
            });
            let off = own(&softer).sub(&expected).max_abs();
            assert!(off < 1e-12 * largest, "{off:e}");
            assert_eq!(softer.curvature, sample.curvature);
            // That is the second derivative of the energy in bent coordinates, and 𝓗 still that of
            // the energy.
            let m = alone(&softer);
            let h = 1e-4;
            for j in 0..n {
                let side = |h: f64| {
                    let mut x = vec![0.0; n];
                    x[j] = h;
                    m.elastic_force(&x)
                };
                let (plus, minus) = (side(h), side(-h));
                for i in 0..n {
                    let second = (plus[i] - minus[i]) / (2.0 * h);
                    let off = (second - softer.data.hessian[(i, j)]).abs();
                    // Differences of h² and third powers of the bending.
                    assert!(off < 1e-5 * most, "{off:e} {most:e}");
                }
            }
        }
    }

    /// T(η, η, η) of the energy that the sample has is what q was made of: in the eigenvectors of
    /// K, −Σ over the three places of k of q_{k,ij} κ_k gives T_ijk back.
    #[test]
    fn q_and_k_settle() {
        let n = 4;
        let number = |i: usize| ((7 * i + 3) as f64).sin();
        let hessian = Matrix::from_fn(n, n, |i, j| {
            number(i + j) + if i == j { 10f64.powi(i as i32) * 3.0 } else { 0.0 }
        });
        let third = Tensor::from_fn(n, |i, j, k| number(i * j * k + i + j + k));
        let force: Vec<f64> = (0..n).map(|i| 0.2 * number(i)).collect();
        let c = settled(&hessian, &force, &third).unwrap();
        let k = |i: usize, j: usize| {
            let at = |sign: f64| {
                let mut x = vec![0.0; n];
                x[i] += 1.0;
                x[j] += sign;
                quadratic(&c, &x).iter().zip(&force).map(|(q, f)| q * f).sum::<f64>()
            };
            hessian[(i, j)] + 0.25 * (at(1.0) - at(-1.0))
        };
        let k = Matrix::from_fn(n, n, k);
        for round in 0..10 {
            let eta: Vec<f64> = (0..n).map(|i| number(11 * round + 5 * i + 1)).collect();
            let q = quadratic(&c, &eta);
            // ½ (η − q/2)ᵀ K (η − q/2) has the cubic part −½ ηᵀ K q.
            let cubic: f64 = eta.iter().zip(k.mul_vec(&q)).map(|(e, x)| -0.5 * e * x).sum();
            let all = (0..n * n * n).map(|a| (a / (n * n), a / n % n, a % n));
            let meant: f64 =
                all.map(|(i, j, l)| third.at(i, j, l) * eta[i] * eta[j] * eta[l]).sum::<f64>()
                    / 6.0;
            assert!((cubic - meant).abs() < 1e-9 * (1.0 + meant.abs()), "{cubic} {meant}");
        }
    }
}
