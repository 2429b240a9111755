//! Units of coordinates and equations: everything is made dimensionless or an energy before it is
//! compared.

use std::sync::Arc;

use forks_mechanism::{JointId, Mechanism, linalg::Matrix};

use crate::{equilibrium::Algebra, frontal::Plan};

/// Lengths are divided by the mechanism's size r; coordinates that only translate are multiplied by
/// it.
#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    /// One factor per velocity coordinate: v = factor · (dimensionless v).
    pub(crate) coordinates: Vec<f64>,
    /// One factor per loop equation: (dimensionless g) = factor · g.
    pub(crate) rows: Vec<f64>,
    /// r.
    pub(crate) radius: f64,
    /// Length of a usual link: unit of twists and of loop equations while they are eliminated, so
    /// that what a loop of a few links does is not small beside the whole mechanism.
    pub(crate) link_length: f64,
    /// How systems are eliminated; `None` for dense ones.
    pub(crate) plan: Option<Arc<Plan>>,
}

/// Coordinates from which on systems are eliminated front by front.
const MANY: usize = 128;

/// The median distance that joints lie from their links' origins, of those that do; `None` if none
/// does.
fn usual_length(m: &Mechanism) -> Option<f64> {
    let frames = m.joints().iter().map(|j| {
        j.parent_from_joint.translation.length() + j.child_from_joint.translation.length()
    });
    let mut lengths: Vec<f64> = frames.filter(|x| *x > 0.0).collect();
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied()
}

impl Scaling {
    pub(crate) fn new(m: &Mechanism, q: &[f64]) -> Self {
        let radius = m.bounding_radius(&m.link_poses(q));
        let mut coordinates = vec![1.0; m.velocity_count()];
        for (i, j) in m.joints().iter().enumerate() {
            let id = JointId::new(i);
            let columns = j.columns(&q[m.position_range(id)]);
            for (c, k) in columns.as_slice().iter().zip(m.velocity_range(id)) {
                if c.angular.length_squared() < 1e-24 {
                    coordinates[k] = radius;
                }
            }
        }
        let r = 1.0 / radius;
        let mut rows = [r, r, r, 1.0, 1.0, 1.0].repeat(m.forest().closures().len());
        for c in m.couplings() {
            // A relation between angles alone is dimensionless; lengths enter as lengths over r.
            let size = c
                .terms
                .iter()
                .flat_map(|t| {
                    let slope = t.polynomial.get(1).map_or(1.0, |s| s.abs());
                    t.combination.terms.iter().map(move |(c, a)| (c, slope * a.abs()))
                })
                .map(|(c, a)| a * coordinates[m.velocity_index(*c)])
                .fold(0.0, f64::max);
            rows.push(if size > 0.0 { 1.0 / size } else { 1.0 });
        }
        Self { coordinates, rows, radius, link_length: radius, plan: None }
    }

    /// With the linear algebra asked for.
    pub(crate) fn with_algebra(mut self, m: &Mechanism, algebra: Algebra) -> Self {
        let frontal = match algebra {
            Algebra::Automatic => m.velocity_count() >= MANY,
            Algebra::Dense => false,
            Algebra::Frontal => true,
        };
        if frontal {
            self.plan = Some(Arc::new(Plan::new(m)));
            self.link_length = usual_length(m).unwrap_or(self.radius);
        }
        self
    }

    /// The order of elimination.
    ///
    /// # Panics
    /// If systems are dense.
    pub(crate) fn plan(&self) -> &Plan {
        self.plan.as_ref().expect("spaces and tangents are made with the scaling's own algebra")
    }

    /// Generalised forces as energies.
    pub(crate) fn forces(&self, f: &[f64]) -> Vec<f64> {
        f.iter().zip(&self.coordinates).map(|(f, d)| f * d).collect()
    }

    /// A step in dimensionless coordinates as velocities.
    pub(crate) fn velocities(&self, x: &[f64]) -> Vec<f64> {
        self.forces(x)
    }

    pub(crate) fn residuals(&self, g: &[f64]) -> Vec<f64> {
        g.iter().zip(&self.rows).map(|(g, s)| g * s).collect()
    }

    pub(crate) fn stiffness(&self, k: &mut Matrix) {
        for i in 0..k.rows() {
            let di = self.coordinates[i];
            for (x, dj) in k.row_mut(i).iter_mut().zip(&self.coordinates) {
                *x *= di * dj;
            }
        }
    }

    pub(crate) fn jacobian(&self, g: &mut Matrix) {
        for i in 0..g.rows() {
            let si = self.rows[i];
            for (x, d) in g.row_mut(i).iter_mut().zip(&self.coordinates) {
                *x *= si * d;
            }
        }
    }
}
