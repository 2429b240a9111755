//! Springs, bushings, couplings and servos: everything that resists or restricts motion.

use forks_lie::{Pose, SymMat6};

use crate::{CableId, JointId, LinkId};

/// A symmetric d×d matrix of a joint, d ≤ 6, stored by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMatrix {
    dof: usize,
    data: Vec<f64>,
}

impl JointMatrix {
    /// A matrix from its rows.
    ///
    /// # Panics
    /// If `data` does not hold `dof²` numbers.
    pub fn new(dof: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), dof * dof, "size of a joint matrix");
        Self { dof, data }
    }

    /// `s` times the identity.
    pub fn isotropic(dof: usize, s: f64) -> Self {
        Self::diagonal(&vec![s; dof])
    }

    /// A diagonal matrix.
    pub fn diagonal(d: &[f64]) -> Self {
        let n = d.len();
        let mut data = vec![0.0; n * n];
        for i in 0..n {
            data[i * n + i] = d[i];
        }
        Self { dof: n, data }
    }

    /// The zero matrix.
    pub fn zeros(dof: usize) -> Self {
        Self { dof, data: vec![0.0; dof * dof] }
    }

    /// Number of rows.
    pub fn dof(&self) -> usize {
        self.dof
    }

    /// Entry (i, j).
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.dof + j]
    }

    /// Sets entries (i, j) and (j, i).
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.data[i * self.dof + j] = value;
        self.data[j * self.dof + i] = value;
    }

    /// All entries by rows.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All entries by rows, to be written; the caller keeps the matrix symmetric.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// True if all entries are zero.
    pub fn is_zero(&self) -> bool {
        self.data.iter().all(|&x| x == 0.0)
    }

    /// True if row `i` is zero: that coordinate is not resisted.
    pub fn is_zero_row(&self, i: usize) -> bool {
        (0..self.dof).all(|j| self.get(i, j) == 0.0)
    }
}

/// A spring in a joint: energy ½ Δᵀ K Δ.
///
/// Δ is the displacement from the rest coordinates: the plain difference for joints whose
/// coordinates are numbers, the logarithm of the relative motion for spherical, planar and free
/// joints.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpring {
    /// K, symmetric, positive semi-definite; N/m, N or N·m/rad by coordinate.
    pub stiffness: JointMatrix,
    /// Position coordinates at which the spring is unstressed.
    pub rest: Vec<f64>,
}

/// A coordinate of a joint whose coordinates are plain numbers (not spherical, planar or free).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// The joint.
    pub joint: JointId,
    /// Which of its coordinates.
    pub index: usize,
}

impl Coordinate {
    /// The first coordinate of a joint.
    pub fn of(joint: JointId) -> Self {
        Self { joint, index: 0 }
    }
}

/// A linear combination of joint coordinates: ℓ(q) = offset + Σ aᵢ qᵢ.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Coordinates and their coefficients.
    pub terms: Vec<(Coordinate, f64)>,
    /// Constant part.
    pub offset: f64,
}

impl Combination {
    /// The first coordinate of a joint by itself.
    pub fn of(joint: JointId) -> Self {
        Self { terms: vec![(Coordinate::of(joint), 1.0)], offset: 0.0 }
    }
}

/// One summand of a coupling: a polynomial of a linear combination of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct CouplingTerm {
    /// The argument ℓ of the polynomial.
    pub combination: Combination,
    /// p(ℓ) = c₀ + c₁ ℓ + c₂ ℓ² + …
    pub polynomial: Vec<f64>,
}

impl CouplingTerm {
    /// p(ℓ), p′(ℓ) and p″(ℓ).
    pub fn evaluate(&self, l: f64) -> (f64, f64, f64) {
        let (mut p, mut d, mut dd) = (0.0, 0.0, 0.0);
        for &c in self.polynomial.iter().rev() {
            dd = dd * l + 2.0 * d;
            d = d * l + p;
            p = p * l + c;
        }
        (p, d, dd)
    }
}

/// An exact relation between joint coordinates: Σ pₖ(ℓₖ(q)) = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// Name, may be empty.
    pub name: String,
    /// The summands.
    pub terms: Vec<CouplingTerm>,
}

impl Coupling {
    /// The linear coupling Σ aᵢ qᵢ + constant = 0.
    pub fn linear(name: impl Into<String>, terms: Vec<(Coordinate, f64)>, constant: f64) -> Self {
        Self {
            name: name.into(),
            terms: vec![CouplingTerm {
                combination: Combination { terms, offset: 0.0 },
                polynomial: vec![constant, 1.0],
            }],
        }
    }

    /// The coupling y = p(x), the usual form of a polynomial joint equality.
    pub fn polynomial(
        name: impl Into<String>,
        y: Coordinate,
        x: Coordinate,
        coefficients: Vec<f64>,
    ) -> Self {
        let term = |c, polynomial| CouplingTerm {
            combination: Combination { terms: vec![(c, 1.0)], offset: 0.0 },
            polynomial,
        };
        Self {
            name: name.into(),
            terms: vec![
                term(y, vec![0.0, 1.0]),
                term(x, coefficients.into_iter().map(|c| -c).collect()),
            ],
        }
    }
}

/// A spring on a linear combination of joint coordinates: energy ½ k (ℓ(q) − rest)².
#[derive(Clone, Debug, PartialEq)]
pub struct CombinationSpring {
    /// Name, may be empty.
    pub name: String,
    /// ℓ(q).
    pub combination: Combination,
    /// k ≥ 0.
    pub stiffness: f64,
    /// Damping ≥ 0 along ℓ.
    pub damping: f64,
    /// ℓ at which the spring is unstressed.
    pub rest: f64,
}

/// How a servo acts on the joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// On one joint's coordinate.
    Joint,
    /// Along a fixed tendon.
    Tendon,
    /// Along a cable; the servo's combination is empty.
    Cable(CableId),
}

/// A servo: a spring and damper with a movable rest value, kept apart from the mechanism's springs.
#[derive(Clone, Debug, PartialEq)]
pub struct Servo {
    /// Name, may be empty.
    pub name: String,
    /// What is driven: a joint, a tendon over several joints, or a cable.
    pub transmission: Transmission,
    /// ℓ(q), the coordinate that is driven.
    pub combination: Combination,
    /// Position gain (stiffness) along ℓ.
    pub stiffness: f64,
    /// Velocity gain (damping) along ℓ.
    pub damping: f64,
}

/// A six-dimensional spring between two links: energy ½ Δᵀ K Δ, Δ = log(a_from_bushing⁻¹
/// b_from_bushing).
#[derive(Clone, Debug, PartialEq)]
pub struct Bushing {
    /// Name, may be empty.
    pub name: String,
    /// First link.
    pub link_a: LinkId,
    /// Frame of the bushing in the first link.
    pub a_from_bushing: Pose,
    /// Second link.
    pub link_b: LinkId,
    /// Frame of the bushing in the second link; the two coincide at rest.
    pub b_from_bushing: Pose,
    /// K, positive semi-definite.
    pub stiffness: SymMat6,
    /// Damping, positive semi-definite.
    pub damping: SymMat6,
}
