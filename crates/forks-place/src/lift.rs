//! One chart for all samples, and the same number of coordinates in each of them (\[A16\] §7.5
//! leaves samples of different rank open).
//!
//! The chart spans what the effectors can do at any sample, carried to the reference pose, and the
//! samples' poses themselves. A sample that admits fewer directions than the chart gets the others
//! with stiffness, mass, damping and maps of the nearest sample that has them.

use std::sync::Arc;

use forks_blend::{BlendData, SampleData, Weights};
use forks_mechanism::{
    lie::{
        Pose, Twist,
        se3::{right_jacobian, right_jacobian_inverse},
    },
    linalg::{Matrix, dense},
};
use forks_reduce::relative_displacement;
use forks_rom::{ReducedModel, ServoTerms, data::ModelData};

use crate::{error::BlendError, sample::Sample};

/// Directions below this part of the largest do not count as new.
const NEW_DIRECTION: f64 = 1e-6;

/// Makes samples fit one chart about `reference` and puts them together.
///
/// # Errors
/// No samples, or numbers that do not make a blend.
pub fn blend_data(
    reference: &[Pose],
    samples: &[Sample],
    weights: Weights,
) -> Result<BlendData, BlendError> {
    continued_data(reference, None, samples, weights)
}

/// The same, where a chart may be given: its columns stay as they are, further ones are added where
/// a sample needs them.
pub(crate) fn continued_data(
    reference: &[Pose],
    start: Option<&Matrix>,
    samples: &[Sample],
    weights: Weights,
) -> Result<BlendData, BlendError> {
    // The mechanism's size depends on its pose; a blend has one: that of the chart, or of the
    // sample nearest to the reference, whatever the samples' order.
    let far = |s: &&Sample| {
        let pairs = reference.iter().zip(&s.data.effectors);
        pairs.map(|(r, e)| relative_displacement(r, &e.rest, s.data.radius)).fold(0.0, f64::max)
    };
    let sized = match start {
        Some(_) => samples.first(),
        None => samples.iter().min_by(|a, b| far(a).total_cmp(&far(b))),
    };
    let radius = sized.ok_or(BlendError::NoSample)?.data.radius;
    let all: Vec<Sized> =
        samples.iter().map(|s| Sized::new(s, radius)).collect::<Result<_, _>>()?;
    assemble(reference, start, &all.iter().collect::<Vec<_>>(), weights)
}

/// A sample in coordinates of a blend's common size.
#[derive(Clone, Debug)]
pub(crate) struct Sized {
    model: Arc<ReducedModel>,
    potential: f64,
    servos: ServoTerms,
    curvature: Matrix,
}

impl Sized {
    pub(crate) fn new(s: &Sample, radius: f64) -> Result<Self, BlendError> {
        let (data, curvature) = of_size(s, radius)
            .ok_or(BlendError::NotFinite { quantity: "the directions of a sample" })?;
        let model = Arc::new(ReducedModel::held_by_loads(data)?);
        Ok(Self { model, potential: s.potential, servos: s.servos.clone(), curvature })
    }

    pub(crate) fn data(&self) -> &ModelData {
        self.model.data()
    }

    /// The sample in its own coordinates.
    pub(crate) fn alone(&self) -> SampleData {
        SampleData {
            model: self.model.clone(),
            potential: self.potential,
            servos: self.servos.clone(),
            curvature: self.curvature.clone(),
        }
    }

    fn rank(&self) -> usize {
        self.data().basis.columns()
    }
}

/// A blend of samples of one size.
pub(crate) fn assemble(
    reference: &[Pose],
    start: Option<&Matrix>,
    samples: &[&Sized],
    weights: Weights,
) -> Result<BlendData, BlendError> {
    let radius = samples.first().ok_or(BlendError::NoSample)?.data().radius;
    let places: Vec<Place> = samples.iter().map(|s| Place::new(reference, s)).collect();
    let basis = chart(start, samples, &places, radius)
        .ok_or(BlendError::NotFinite { quantity: "the samples' directions" })?;
    let lift = Lift { samples, places: &places, chart: &basis, radius };
    let lifted = |i: usize| {
        let s = samples[i];
        let (potential, servos) = (s.potential, s.servos.clone());
        let curvature = widened_curvature(&s.curvature, basis.columns());
        Ok(SampleData { model: lift.sample(i)?, potential, servos, curvature })
    };
    let lifted: Vec<SampleData> =
        (0..samples.len()).map(lifted).collect::<Result<_, BlendError>>()?;
    let range = samples.iter().fold(0.0, |m: f64, s| m.max(s.data().range));
    Ok(BlendData {
        reference: reference.to_vec(),
        basis,
        radius,
        range,
        weights,
        samples: lifted,
        chart: vec![],
        guard: None,
        kinematics: Default::default(),
        link_forces: vec![],
    })
}

/// The sample in coordinates that are orthonormal with lengths over `radius`.
fn of_size(s: &Sample, radius: f64) -> Option<(ModelData, Matrix)> {
    let own = &s.data;
    if own.radius == radius {
        return Some((own.clone(), s.curvature.clone()));
    }
    let basis = orthonormal(&own.basis, radius, 0.0, own.basis.columns())?;
    // η = T η′
    let t = inner(&own.basis, &basis, own.radius);
    let congruence = |m: &Matrix| t.transpose_mul(&m.mul(&t)).symmetric_part();
    let mut data = own.clone();
    data.radius = radius;
    data.hessian = congruence(&own.hessian);
    data.mass = congruence(&own.mass);
    data.damping = congruence(&own.damping);
    // η′ = B′⁺ B η
    data.servo_rest = inner(&basis, &own.basis, radius).mul(&own.servo_rest);
    data.links.iter_mut().for_each(|l| l.map = l.map.mul(&t));
    for j in &mut data.joints {
        j.map = if j.map.rows() == 0 { Matrix::zeros(0, t.columns()) } else { j.map.mul(&t) };
        if j.load_map.rows() > 0 {
            j.load_map = j.load_map.mul(&t);
        }
    }
    // q′(η′) = T⁻¹ q(T η′)
    let curvature = match s.curvature.rows() {
        0 => s.curvature.clone(),
        _ => dense::lu_solve(&t, &in_other_coordinates(&s.curvature, &t)),
    };
    data.basis = basis;
    Some((data, curvature))
}

/// Coefficients of η′ ↦ q(T η′), T square.
pub(crate) fn in_other_coordinates(c: &Matrix, t: &Matrix) -> Matrix {
    let n = t.columns();
    let pair: Vec<(usize, usize)> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
    Matrix::from_fn(c.rows(), pair.len(), |k, at| {
        let (a, b) = pair[at];
        let terms = pair.iter().enumerate().map(|(p, &(i, j))| {
            let straight = t[(i, a)] * t[(j, b)];
            let crossed = if a == b { 0.0 } else { t[(i, b)] * t[(j, a)] };
            c[(k, p)] * (straight + crossed)
        });
        terms.sum()
    })
}

/// Coefficients for `n` coordinates of a map of the first of them.
fn widened_curvature(c: &Matrix, n: usize) -> Matrix {
    let own = c.rows();
    if own == 0 || own == n {
        return c.clone();
    }
    let pair = |n: usize| (0..n).flat_map(move |i| (i..n).map(move |j| (i, j)));
    let mut out = Matrix::zeros(n, pair(n).count());
    let mut at = 0;
    for (column, (_, j)) in pair(n).enumerate() {
        if j < own {
            (0..own).for_each(|k| out[(k, column)] = c[(k, at)]);
            at += 1;
        }
    }
    out
}

/// Where a sample lies in the chart.
struct Place {
    /// log(H_ref⁻¹ H), effector after effector.
    twists: Vec<Twist>,
}

impl Place {
    fn new(reference: &[Pose], s: &Sized) -> Self {
        let twist = |(r, e): (&Pose, &forks_rom::data::EffectorRest)| r.twist_to(&e.rest);
        Self { twists: reference.iter().zip(&s.data().effectors).map(twist).collect() }
    }

    /// Body twists at the sample → rates in the chart: J_r(x)⁻¹ per effector.
    fn to_chart(&self, b: &Matrix) -> Matrix {
        self.per_effector(b, |x, t| right_jacobian_inverse(x).mul_vec(&t))
    }

    /// Rates in the chart → body twists at the sample: J_r(x) per effector.
    fn chart_to_sample(&self, b: &Matrix) -> Matrix {
        self.per_effector(b, |x, t| right_jacobian(x).mul_vec(&t))
    }

    fn per_effector(&self, b: &Matrix, f: impl Fn(Twist, [f64; 6]) -> [f64; 6]) -> Matrix {
        let mut out = Matrix::zeros(b.rows(), b.columns());
        for (e, &x) in self.twists.iter().enumerate() {
            for j in 0..b.columns() {
                let t = f(x, std::array::from_fn(|i| b[(6 * e + i, j)]));
                (0..6).for_each(|i| out[(6 * e + i, j)] = t[i]);
            }
        }
        out
    }

    fn distance(&self, other: &Self, radius: f64) -> f64 {
        let pairs = self.twists.iter().zip(&other.twists);
        pairs
            .map(|(a, b)| {
                let d = *a - *b;
                (d.linear / radius).length_squared() + d.angular.length_squared()
            })
            .sum::<f64>()
            .sqrt()
    }
}

/// Rows over r or times r where they are lengths.
pub(crate) fn scaled(b: &Matrix, length: f64) -> Matrix {
    let scale = |i: usize| if i % 6 < 3 { length } else { 1.0 };
    Matrix::from_fn(b.rows(), b.columns(), |i, j| scale(i) * b[(i, j)])
}

/// BᵀS² C.
fn inner(b: &Matrix, c: &Matrix, radius: f64) -> Matrix {
    scaled(b, 1.0 / (radius * radius)).transpose_mul(c)
}

/// Matrices side by side.
fn beside(parts: &[&Matrix]) -> Matrix {
    let rows = parts.first().map_or(0, |m| m.rows());
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for m in parts {
        columns.extend((0..m.columns()).map(|j| m.column(j)));
    }
    Matrix::from_fn(rows, columns.len(), |i, j| columns[j][i])
}

/// The chart's basis: an S-orthonormal basis of all samples' directions and places, its first
/// columns those of `start`.
fn chart(
    start: Option<&Matrix>,
    samples: &[&Sized],
    places: &[Place],
    radius: f64,
) -> Option<Matrix> {
    let mut parts: Vec<Matrix> = Vec::new();
    for (s, p) in samples.iter().zip(places) {
        parts.push(p.to_chart(&s.data().basis));
        let x: Vec<f64> = p.twists.iter().flat_map(|t| t.to_array()).collect();
        parts.push(Matrix::from_fn(x.len(), 1, |i, _| x[i]));
    }
    let all = beside(&parts.iter().collect::<Vec<_>>());
    let Some(start) = start else {
        return orthonormal(&all, radius, NEW_DIRECTION, usize::MAX);
    };
    let largest = dense::svd(&scaled(&all, 1.0 / radius))?.s.first().copied().unwrap_or(0.0);
    let rest = all.sub(&start.mul(&inner(start, &all, radius)));
    let left = dense::svd(&scaled(&rest, 1.0 / radius))?.s.first().copied().unwrap_or(0.0);
    if left <= NEW_DIRECTION * largest {
        return Some(start.clone());
    }
    let further = orthonormal(&rest, radius, NEW_DIRECTION * largest / left, usize::MAX)?;
    Some(beside(&[start, &further]))
}

/// An S-orthonormal basis of the columns' span.
fn orthonormal(b: &Matrix, radius: f64, tolerance: f64, most: usize) -> Option<Matrix> {
    let d = dense::svd(&scaled(b, 1.0 / radius))?;
    let largest = d.s.first().copied().unwrap_or(0.0);
    let rank = d.s.iter().filter(|&&s| s > tolerance * largest).count().min(most);
    Some(scaled(&d.u.block(0, 0, b.rows(), rank), radius))
}

struct Lift<'a> {
    samples: &'a [&'a Sized],
    places: &'a [Place],
    chart: &'a Matrix,
    radius: f64,
}

impl Lift<'_> {
    /// The sample's numbers with the chart's number of coordinates.
    fn sample(&self, i: usize) -> Result<Arc<ReducedModel>, BlendError> {
        let own = self.samples[i].data();
        let missing = self.chart.columns().saturating_sub(own.basis.columns());
        if missing == 0 {
            return Ok(self.samples[i].model.clone());
        }
        let across = self
            .missing_directions(i, missing)
            .ok_or(BlendError::NotFinite { quantity: "the missing directions of a sample" })?;
        let lender = self.lender(i);
        let other = self.samples[lender].data();
        // The same motion seen from the lender's pose, in its coordinates.
        let there = self.places[lender].chart_to_sample(&self.places[i].to_chart(&across));
        let p = inner(&other.basis, &there, self.radius);
        Ok(Arc::new(ReducedModel::held_by_loads(extended(own, &across, other, &p))?))
    }

    /// S-orthonormal directions of the chart that the sample does not admit.
    fn missing_directions(&self, i: usize, count: usize) -> Option<Matrix> {
        let own = &self.samples[i].data().basis;
        let all = self.places[i].chart_to_sample(self.chart);
        let rest = all.sub(&own.mul(&inner(own, &all, self.radius)));
        orthonormal(&rest, self.radius, 0.0, count)
    }

    /// The nearest of the samples of highest rank.
    fn lender(&self, i: usize) -> usize {
        let rank = |j: usize| self.samples[j].rank();
        let highest = (0..self.samples.len()).map(rank).max().unwrap_or(0);
        let far = |j: usize| self.places[i].distance(&self.places[j], self.radius);
        (0..self.samples.len())
            .filter(|&j| rank(j) == highest)
            .min_by(|&a, &b| far(a).total_cmp(&far(b)))
            .unwrap_or(i)
    }
}

/// diag(A, Pᵀ B P), with the stiffness `floor` where P loses a direction.
fn block_diagonal(a: &Matrix, b: &Matrix, p: &Matrix, floor: f64) -> Matrix {
    let n = a.rows();
    let lent = p.transpose_mul(&b.mul(p)).symmetric_part();
    let kept = p.transpose_mul(p).symmetric_part();
    Matrix::from_fn(n + p.columns(), n + p.columns(), |i, j| match (i < n, j < n) {
        (true, true) => a[(i, j)],
        (false, false) => {
            let lost = if i == j { (1.0 - kept[(i - n, j - n)]).max(0.0) } else { 0.0 };
            lent[(i - n, j - n)] + floor * lost
        }
        _ => 0.0,
    })
}

fn extended(own: &ModelData, across: &Matrix, other: &ModelData, p: &Matrix) -> ModelData {
    let widened = |a: &Matrix, b: &Matrix| match (a.rows(), b.rows()) {
        (0, _) => Matrix::zeros(0, if a.columns() == 0 { 0 } else { a.columns() + p.columns() }),
        (_, 0) => beside(&[a, &Matrix::zeros(a.rows(), p.columns())]),
        _ => beside(&[a, &b.mul(p)]),
    };
    let mut out = own.clone();
    out.basis = beside(&[&own.basis, across]);
    out.hessian = block_diagonal(&own.hessian, &other.hessian, p, own.hessian.max_abs());
    out.mass = block_diagonal(&own.mass, &other.mass, p, own.mass.max_abs());
    out.damping = block_diagonal(&own.damping, &other.damping, p, own.damping.max_abs());
    let servos = own.servos.len();
    let n = own.basis.columns();
    out.servo_rest =
        Matrix::from_fn(
            n + p.columns(),
            servos,
            |i, j| {
                if i < n { own.servo_rest[(i, j)] } else { 0.0 }
            },
        );
    for (l, o) in out.links.iter_mut().zip(&other.links) {
        l.map = widened(&l.map, &o.map);
    }
    for (j, o) in out.joints.iter_mut().zip(&other.joints) {
        j.map = widened(&j.map, &o.map);
        j.load_map = widened(&j.load_map, &o.load_map);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, bent_sample, problems, quadratic};
    use forks_testkit::Rng;

    fn random(rng: &mut Rng, rows: usize, columns: usize) -> Matrix {
        Matrix::from_fn(rows, columns, |_, _| rng.symmetric())
    }

    fn numbers(rng: &mut Rng, n: usize) -> Vec<f64> {
        (0..n).map(|_| rng.symmetric()).collect()
    }

    fn close(a: &[f64], b: &[f64], bound: f64) {
        let size = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < bound * size, "{a} {b}");
        }
    }

    #[test]
    fn maps_in_other_coordinates() {
        let mut rng = Rng::new(1);
        for n in 1..7 {
            let (c, t) = (random(&mut rng, n, n * (n + 1) / 2), random(&mut rng, n, n));
            let x = numbers(&mut rng, n);
            let found = quadratic(&in_other_coordinates(&c, &t), &x);
            close(&found, &quadratic(&c, &t.mul_vec(&x)), 1e-13);
        }
    }

    #[test]
    fn maps_of_the_first_coordinates() {
        let mut rng = Rng::new(2);
        for (own, n) in [(1, 1), (1, 3), (2, 3), (2, 5), (5, 6), (6, 6)] {
            let c = random(&mut rng, own, own * (own + 1) / 2);
            let x = numbers(&mut rng, n);
            let mut expected = quadratic(&c, &x[..own]);
            expected.resize(n, 0.0);
            close(&quadratic(&widened_curvature(&c, n), &x), &expected, 1e-15);
        }
        assert_eq!(widened_curvature(&Matrix::zeros(0, 0), 4).rows(), 0);
    }

    /// The same energy and wrenches, whatever lengths are counted in.
    #[test]
    fn samples_of_another_size_are_the_same() {
        let mut rng = Rng::new(3);
        for problem in problems() {
            let sample = bent_sample(&problem);
            assert!(sample.curvature.rows() > 0);
            for factor in [0.4, 1.3, 3.0] {
                let (data, curvature) = of_size(&sample, factor * sample.data.radius).unwrap();
                let resized = Sample { data, curvature, ..sample.clone() };
                let (a, b) = (alone(&sample), alone(&resized));
                for _ in 0..5 {
                    let x: Vec<f64> = numbers(&mut rng, a.dof()).iter().map(|x| 0.2 * x).collect();
                    let pose = a.effector_pose(0, &x);
                    let (y, _, lost) = b.coordinates_of(&[pose], &[Twist::ZERO]).unwrap();
                    assert!(lost < 1e-12, "{lost:e}");
                    let (u, v) = (a.potential_energy(&x), b.potential_energy(&y));
                    // Stiffnesses of the ladder are 10⁹ and 10³.
                    assert!((u - v).abs() < 1e-10 * u.abs(), "{u} {v}");
                    // Along the motions that the sample admits.
                    let along = |m: &forks_blend::BlendedModel, x: &[f64]| {
                        let w = m.effector_wrenches(x)[0].to_array();
                        sample.data.basis.transpose_mul_vec(&w)
                    };
                    close(&along(&b, &y), &along(&a, &x), 1e-9);
                }
            }
        }
    }
}
