//! The linear algebra of equilibria in time linear in the number of links: \[K, Gᵀ; G, 0\] is never
//! formed, but put together and eliminated link by link, from the outermost ones inwards.
//!
//! K of a chain is full in joint coordinates, since a load far out acts on every joint. With the
//! links' twists as unknowns it is a sum of forms in neighbours only, and ξ_outer = A ξ_inner + C x
//! takes a link away without a pivot: what is left is a joint's coordinates to be eliminated from a
//! front of twelve or so. Loops close inside a front as soon as all their links are behind it.
//! Pivots that are not sound (a compressed chain at its buckling load, a hinge without a spring, a
//! multiplier) wait for the next front, where they find a partner; nothing is regularised. By
//! Sylvester's law the pivots' signs count the negative eigenvalues of K on the motions that the
//! loops admit.

mod front;
mod geometry;
mod plan;
mod stiffness;
mod system;

use forks_mechanism::{JointId, Mechanism, lie::SplitMix64, linalg::Matrix};

pub(crate) use plan::Plan;

use crate::{branches::Branches, moving_joints::moving_joints, scaling::Scaling, stage::Stage};
use front::Nothing;
use geometry::Geometry;
use stiffness::Stiffness;
use system::{Factors, System};

/// Loop equations whose part outward of the others is below this, relative to the largest row, are
/// redundant. Its square is told from rounding.
const REDUNDANT: f64 = 1e-6;
/// Free motions are found by shifts of this part of the stiffness.
const FREE_SHIFT: f64 = 1e-9;
/// Vectors in which free motions are looked for.
const PROBES: usize = 3;

/// Joints and loops linearised at a pose.
#[derive(Clone, Debug)]
pub(crate) struct FrontalSpace {
    geometry: Geometry,
    branches: Branches,
    /// Independent equations, by their multipliers.
    rows: Vec<bool>,
    /// \[1, Gᵀ; G, 0\], where there are loop equations.
    metric: Option<Factors>,
    rank: usize,
    coordinates: usize,
}

/// K at a pose.
#[derive(Clone, Debug)]
pub(crate) struct FrontalTangent {
    stiffness: Stiffness,
}

/// Eigenvalues of K on the admissible motions beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Below {
    pub(crate) count: usize,
    /// Some pivot was zero.
    pub(crate) singular: bool,
}

impl FrontalSpace {
    pub(crate) fn new(
        m: &Mechanism,
        plan: &Plan,
        q: &[f64],
        branches: Branches,
        scaling: &Scaling,
    ) -> Option<Self> {
        let geometry = Geometry::new(m, q, &branches, scaling);
        let (count, first) = (plan.layout.rows, plan.layout.row(0));
        if !geometry.largest_row.is_finite() {
            return None;
        }
        let mut out = Self {
            geometry,
            branches,
            rows: vec![true; plan.layout.count() - first],
            metric: None,
            rank: 0,
            coordinates: m.velocity_count(),
        };
        if count > 0 {
            let factors = out.metric_system(m, plan, &out.rows).factorize();
            let dropped = factors.store.idle.iter().filter(|v| **v >= first);
            out.rank = count - dropped.clone().count();
            dropped.for_each(|v| out.rows[v - first] = false);
            out.metric = Some(factors);
        }
        Some(out)
    }

    fn metric_system<'a>(
        &'a self,
        m: &'a Mechanism,
        plan: &'a Plan,
        rows: &'a [bool],
    ) -> System<'a> {
        let small = REDUNDANT * self.geometry.largest_row.max(f64::MIN_POSITIVE);
        System {
            m,
            plan,
            geometry: &self.geometry,
            stiffness: None,
            per_size: 1.0,
            shift: 0.0,
            symmetric: false,
            rows,
            nothing: Nothing {
                pivot: small * small,
                row: small,
                dependent: true,
                last: plan.layout.row(0)..plan.layout.edge(0),
            },
        }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// (u, y) of u + Gᵀ y = f, G u = g.
    fn split(&self, m: &Mechanism, plan: &Plan, f: &[f64], g: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let Some(factors) = &self.metric else { return (f.to_vec(), vec![]) };
        let all = vec![true; self.rows.len()];
        let system = self.metric_system(m, plan, &all);
        let first = plan.layout.row(0);
        let mut b = vec![0.0; plan.layout.count()];
        b[..f.len()].copy_from_slice(f);
        let units = &self.geometry.units;
        for (b, (g, unit)) in b[first..].iter_mut().zip(g.iter().zip(units)) {
            *b = g * unit;
        }
        system.solve(factors, &mut b);
        let y = b[first..].iter().zip(units).map(|(y, unit)| y * unit).collect();
        (b[..f.len()].to_vec(), y)
    }

    /// The part of forces that the loops do not carry, and λ that minimises |f + Gᵀλ|.
    pub(crate) fn balance(&self, m: &Mechanism, plan: &Plan, f: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let zero = vec![0.0; plan.layout.rows];
        let (once, mut y) = self.split(m, plan, f, &zero);
        // Twice: the first pass leaves rounding of the size of the constraint forces.
        let (twice, more) = self.split(m, plan, &once, &zero);
        y.iter_mut().zip(more).for_each(|(y, d)| *y = -(*y + d));
        (twice, y)
    }

    /// The shortest x with G x = −g.
    pub(crate) fn closing_motion(&self, m: &Mechanism, plan: &Plan, g: &[f64]) -> Vec<f64> {
        let back: Vec<f64> = g.iter().map(|x| -x).collect();
        self.split(m, plan, &vec![0.0; self.coordinates], &back).0
    }
}

impl FrontalTangent {
    pub(crate) fn new(
        stage: &Stage<'_>,
        q: &[f64],
        space: &FrontalSpace,
        multipliers: &[f64],
        scaling: &Scaling,
    ) -> Self {
        let (branches, geometry) = (&space.branches, &space.geometry);
        let stiffness = Stiffness::new(stage, q, branches, geometry, multipliers, scaling);
        Self { stiffness }
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.stiffness.is_finite()
    }

    pub(crate) fn size(&self) -> f64 {
        self.stiffness.size
    }

    pub(crate) fn is_symmetric(&self) -> bool {
        self.stiffness.symmetric
    }

    fn system<'a>(
        &'a self,
        m: &'a Mechanism,
        plan: &'a Plan,
        space: &'a FrontalSpace,
        size: f64,
        shift: f64,
    ) -> System<'a> {
        System {
            m,
            plan,
            geometry: &space.geometry,
            stiffness: Some(&self.stiffness),
            per_size: 1.0 / size,
            shift,
            symmetric: false,
            rows: &space.rows,
            nothing: Nothing {
                pivot: f64::MIN_POSITIVE,
                row: f64::MIN_POSITIVE,
                dependent: false,
                last: 0..0,
            },
        }
    }

    /// x of \[K/size + shift, Gᵀ; G, 0\] (x; y) = (f; −g).
    pub(crate) fn step(
        &self,
        m: &Mechanism,
        plan: &Plan,
        space: &FrontalSpace,
        (size, shift): (f64, f64),
        f: &[f64],
        g: &[f64],
    ) -> Option<Vec<f64>> {
        let system = self.system(m, plan, space, size, shift);
        let factors = system.factorize();
        if !factors.store.idle.is_empty() {
            return None;
        }
        let first = plan.layout.row(0);
        let mut b = vec![0.0; plan.layout.count()];
        b[..f.len()].copy_from_slice(f);
        for (i, (g, on)) in g.iter().zip(&space.rows).enumerate() {
            b[first + i] = if *on { -g * space.geometry.units[i] } else { 0.0 };
        }
        system.solve(&factors, &mut b);
        b.truncate(f.len());
        Some(b)
    }

    /// Eigenvalues of K's symmetric part on the admissible motions below −shift · size.
    pub(crate) fn below(
        &self,
        m: &Mechanism,
        plan: &Plan,
        space: &FrontalSpace,
        size: f64,
        shift: f64,
    ) -> Below {
        let factors = self.symmetric(m, plan, space, size, shift).factorize();
        let count = factors.store.negative.saturating_sub(factors.multipliers);
        Below { count, singular: !factors.store.idle.is_empty() }
    }

    fn symmetric<'a>(
        &'a self,
        m: &'a Mechanism,
        plan: &'a Plan,
        space: &'a FrontalSpace,
        size: f64,
        shift: f64,
    ) -> System<'a> {
        System { symmetric: true, ..self.system(m, plan, space, size, shift) }
    }

    /// The lowest eigenvector of K's symmetric part on the admissible motions, given that the
    /// lowest eigenvalue lies below −`from` · size. Its largest entry is positive, and it is the
    /// nearest to that coordinate where several eigenvalues are lowest.
    pub(crate) fn lowest(
        &self,
        m: &Mechanism,
        plan: &Plan,
        space: &FrontalSpace,
        size: f64,
        from: f64,
    ) -> Option<Vec<f64>> {
        let (mut low, mut high) = (from, 4.0 * from);
        while self.below(m, plan, space, size, high).count > 0 {
            (low, high) = (high, 4.0 * high);
            if high > 1e6 {
                return None;
            }
        }
        while high > 1.001 * low {
            let middle = (low * high).sqrt();
            match self.below(m, plan, space, size, middle).count {
                0 => high = middle,
                _ => low = middle,
            }
        }
        let system = self.symmetric(m, plan, space, size, high);
        let factors = system.factorize();
        let mut x = self.iterate(&system, &factors, probe(space.coordinates, 0))?;
        let mut largest = 0;
        for i in 1..x.len() {
            if x[i].abs() > (1.0 + 1e-6) * x[largest].abs() {
                largest = i;
            }
        }
        let mut unit = vec![0.0; x.len()];
        unit[largest] = 1.0;
        x = self.iterate(&system, &factors, unit)?;
        (x[largest] > 0.0).then_some(x)
    }

    /// Inverse iteration.
    fn iterate(&self, system: &System<'_>, factors: &Factors, mut x: Vec<f64>) -> Option<Vec<f64>> {
        let n = x.len();
        for _ in 0..6 {
            let mut b = vec![0.0; system.plan.layout.count()];
            b[..n].copy_from_slice(&x);
            system.solve(factors, &mut b);
            let length = b[..n].iter().map(|x| x * x).sum::<f64>().sqrt();
            if !(length > 0.0 && length.is_finite()) {
                return None;
            }
            x = b[..n].iter().map(|x| x / length).collect();
        }
        Some(x)
    }

    /// Joints that move where nothing resists, given that there are such motions.
    pub(crate) fn free_joints(
        &self,
        m: &Mechanism,
        plan: &Plan,
        space: &FrontalSpace,
        size: f64,
        part: f64,
    ) -> Vec<JointId> {
        let system = self.symmetric(m, plan, space, size, FREE_SHIFT);
        let factors = system.factorize();
        let probes = (0..PROBES)
            .filter_map(|k| self.iterate(&system, &factors, probe(space.coordinates, k)));
        let motions: Vec<Vec<f64>> = probes.collect();
        let n = space.coordinates;
        moving_joints(m, &Matrix::from_fn(n, motions.len(), |i, j| motions[j][i]), part)
    }
}

/// Numbers without a pattern.
fn probe(n: usize, seed: usize) -> Vec<f64> {
    let mut random = SplitMix64::new(seed as u64);
    (0..n).map(|_| random.range(-1.0, 1.0)).collect()
}
