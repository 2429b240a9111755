//! Charts of joint displacements.
//!
//! A chain that is pulled straight resists what the effectors' poses say, not what its joints do:
//! in coordinates x that are linear in the joints' displacements its energy is nearly quadratic,
//! and what saturates is where the effectors go. Here a sample at x_i knows, with y = x − x_i, the
//! energy U₀ + b_ηᵀR y + ½ yᵀU₂ y + U₃(y) and the effectors' poses H_i exp(B R y + ξ₂(y) + ξ₃(y)),
//! R = ∂η/∂x; the blend has U = Σ α_i U_i, and its effectors are at the averages of the samples'
//! poses ([`crate::LinkBlend::Average`]), with α_i ∝ |y|^{−p}. Statics and steps are those of any
//! energy U(x).

use alloc::vec::Vec;

use forks_lie::Pose;
use forks_linalg::{Matrix, dot};
use forks_rom::{ModelError, data::ModelData, internal::LinkBlocks};

use crate::{chart_polynomials::Polynomials, curvature::pairs, energy_form::EnergyForm};

/// One sample's numbers in a chart of joint displacements; E effectors, N coordinates.
///
/// Polynomials have coefficients of the products y_i y_j, i ≤ j, and y_i y_j y_k, i ≤ j ≤ k, each
/// in lexicographic order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartSample {
    /// x_i.
    pub place: Vec<f64>,
    /// R = ∂η/∂x, N × N.
    pub rate: Matrix,
    /// U₂, N × N, the energy's second derivative.
    pub stiffness: Matrix,
    /// U₃: coefficients of the products of three.
    pub cubic: Vec<f64>,
    /// ξ₂ and ξ₃, 6E × (products of two, then of three).
    pub twists: Matrix,
    /// Second order of the links' twists, 6 × products of two each.
    pub links: Vec<Matrix>,
    /// Second order of the joints' displacements, d × products of two each.
    pub joints: Vec<Matrix>,
    /// How ∂U/∂s changes with the place, s the servos' targets: servos × (y, then products of
    /// two). No rows: targets other than 0 are refused.
    pub servos: Matrix,
}

/// Where a chart of joint displacements is trusted: inside an ellipsoid about x = 0.
///
/// With s = √(xᵀGx) and t = s − 1, polynomials outside are taken at c = x ρ(s)/s, ρ = 1 + t/√(1 +
/// 16t²), and the energy grows by ½ κ t³/(1 + t): it is continuous with its first two derivatives,
/// forces stay restoring, and polynomials are never asked for more than 5/4 of what they are made
/// for.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// G, N × N, symmetric and positive definite.
    pub metric: Matrix,
    /// κ, J.
    pub stiffness: f64,
}

/// How effectors and links follow from the coordinates of a chart of joint displacements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kinematics {
    /// By polynomials of each sample's own, whose poses are averaged.
    #[default]
    Polynomials,
    /// By the joints of the tree, whose displacements are polynomials: they never open. Of one
    /// sample alone.
    Joints,
}

/// Number of products of three of n coordinates.
pub(crate) fn triples(n: usize) -> usize {
    // Numbers of files need not make sense.
    n.saturating_mul(n + 1).saturating_mul(n + 2) / 6
}

/// Products of one, two and three coordinates.
pub(crate) fn products(n: usize) -> usize {
    n + pairs(n) + triples(n)
}

/// y, then its products of two.
#[inline(always)]
pub(crate) fn fill_products(y: &[f64], out: &mut [f64]) {
    let (first, mut second) = out.split_at_mut(y.len());
    first.copy_from_slice(y);
    for (i, own) in y.iter().enumerate() {
        let (row, rest) = second.split_at_mut(y.len() - i);
        row.iter_mut().zip(&y[i..]).for_each(|(p, y)| *p = own * y);
        second = rest;
    }
}

/// A sample as the evaluation needs it.
#[derive(Clone, Debug)]
pub(crate) struct Curved {
    pub(crate) place: Vec<f64>,
    /// U − U₀ where links follow the joints; else empty.
    pub(crate) energy: EnergyForm,
    /// Else coefficients of all products: the effectors' twists, then U − U₀; (6E + 1) × products.
    pub(crate) polynomials: Polynomials,
    pub(crate) rests: Vec<Pose>,
    /// The links' twists and servo columns, of products of one and two.
    pub(crate) blocks: LinkBlocks,
    pub(crate) links: Vec<Matrix>,
    pub(crate) joints: Vec<Matrix>,
    pub(crate) servos: Matrix,
    /// Where links follow the joints: nothing asks for products of two coordinates.
    pub(crate) straight: bool,
}

impl Curved {
    pub(crate) fn new(
        c: &ChartSample,
        m: &ModelData,
        static_force: &[f64],
        kinematics: Kinematics,
    ) -> Self {
        let n = c.place.len();
        let slope = c.rate.transpose_mul_vec(static_force);
        let mut energy = slope;
        for i in 0..n {
            for k in i..n {
                energy.push(c.stiffness[(i, k)] * if i == k { 0.5 } else { 1.0 });
            }
        }
        energy.extend(&c.cubic);
        let beside = |first: &Matrix, more: &Matrix| {
            Matrix::from_fn(first.rows(), n + more.columns(), |i, j| {
                if j < n { first[(i, j)] } else { more[(i, j - n)] }
            })
        };
        let wider = |maps: Vec<&Matrix>, more: &[Matrix]| -> Vec<Matrix> {
            let pair = |(map, more): (&Matrix, &Matrix)| match map.rows() {
                0 => Matrix::zeros(0, n + pairs(n)),
                _ => beside(&map.mul(&c.rate), more),
            };
            maps.into_iter().zip(more).map(pair).collect()
        };
        let links = wider(m.links.iter().map(|l| &l.map).collect(), &c.links);
        let joints = wider(m.joints.iter().map(|j| &j.map).collect(), &c.joints);
        let shown = (1..m.links.len()).filter(|&l| !m.links[l].auxiliary);
        let of = |l: usize| (m.links[l].rest, &links[l], &m.links[l].servo_map);
        let shown: Vec<usize> = shown.collect();
        let (mut form, mut polynomials) = (EnergyForm::default(), Polynomials::default());
        match kinematics {
            Kinematics::Polynomials => {
                let twists = beside(&m.basis.mul(&c.rate), &c.twists);
                let all = Matrix::from_fn(twists.rows() + 1, products(n), |i, j| {
                    if i < twists.rows() { twists[(i, j)] } else { energy[j] }
                });
                polynomials = Polynomials::new(n, &all);
            }
            Kinematics::Joints => {
                let mut third = energy.split_off(n + pairs(n));
                if third.iter().all(|c| *c == 0.0) {
                    third.clear();
                }
                let second = energy.split_off(n);
                form = EnergyForm::new(energy, second, third);
            }
        }
        let straight = form.third.is_empty()
            && kinematics == Kinematics::Joints
            && c.joints.iter().all(|w| w.as_slice().iter().all(|x| *x == 0.0));
        Self {
            straight,
            place: c.place.clone(),
            energy: form,
            polynomials,
            rests: m.effectors.iter().map(|e| e.rest).collect(),
            blocks: LinkBlocks::new(n + pairs(n) + m.servos.len(), shown.into_iter().map(of)),
            links,
            joints,
            servos: c.servos.clone(),
        }
    }
}

/// Value of Σ a_i y_i + Σ b_ij y_i y_j, i ≤ j; its slope times `part` goes to `slope`.
pub(crate) fn add_quadratic(
    coefficients: &[f64],
    y: &[f64],
    products: &[f64],
    part: f64,
    slope: &mut [f64],
) -> f64 {
    let (linear, second) = coefficients.split_at(y.len());
    let mut pair = second.iter();
    for i in 0..y.len() {
        slope[i] += part * linear[i];
        for (k, c) in (i..y.len()).zip(&mut pair) {
            slope[i] += part * c * y[k];
            slope[k] += part * c * y[i];
        }
    }
    dot(linear, y) + dot(second, products)
}

pub(crate) fn check(c: &ChartSample, m: &ModelData) -> Result<(), ModelError> {
    let n = m.basis.columns();
    let (two, three) = (pairs(n), triples(n));
    let size = |quantity, found, expected| match found == expected {
        true => Ok(()),
        false => Err(ModelError::WrongSize { quantity, found, expected }),
    };
    size("place of a sample", c.place.len(), n)?;
    size("rows of a sample's rate", c.rate.rows(), n)?;
    size("columns of a sample's rate", c.rate.columns(), n)?;
    size("rows of a sample's stiffness", c.stiffness.rows(), n)?;
    size("columns of a sample's stiffness", c.stiffness.columns(), n)?;
    size("third order of a sample's energy", c.cubic.len(), three)?;
    size("rows of the effectors' higher orders", c.twists.rows(), m.basis.rows())?;
    size("columns of the effectors' higher orders", c.twists.columns(), two + three)?;
    size("second orders of links", c.links.len(), m.links.len())?;
    size("second orders of joints", c.joints.len(), m.joints.len())?;
    for more in &c.links {
        size("rows of a link's second order", more.rows(), 6)?;
        size("columns of a link's second order", more.columns(), two)?;
    }
    for (more, j) in c.joints.iter().zip(&m.joints) {
        size("rows of a joint's second order", more.rows(), j.map.rows())?;
        size("columns of a joint's second order", more.columns(), two)?;
    }
    if c.servos.rows() > 0 {
        size("servos of a sample's chart", c.servos.rows(), m.servos.len())?;
        size("columns of a sample's servos", c.servos.columns(), n + two)?;
    }
    let lists = [&c.place, &c.cubic].into_iter().all(|l| l.iter().all(|x| x.is_finite()));
    let matrices =
        [&c.rate, &c.stiffness, &c.twists, &c.servos].into_iter().chain(&c.links).chain(&c.joints);
    match lists && matrices.into_iter().all(Matrix::is_finite) {
        true => Ok(()),
        false => Err(ModelError::NotFinite { quantity: "a sample's chart" }),
    }
}
