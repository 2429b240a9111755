//! A sample on a manifold whose coordinates are all motions of a tree: every configuration is known
//! without an equilibrium, joints' displacements are linear in the coordinates, and the energy's
//! derivative there is that of the whole mechanism.

use forks_blend::ChartSample;
use forks_dynamics::{Loads, generalized_forces};
use forks_mechanism::{
    Mechanism,
    linalg::{Matrix, dense::lu_solve},
};
use forks_rom::data::ModelData;

use crate::jets::{Jets, triples};

/// A tree and coordinates z = D⁻ᵀ x of its joints' displacements from a pose.
pub(crate) struct TreeChart<'a> {
    m: &'a Mechanism,
    start: &'a [f64],
    /// D⁻¹.
    inverse: Matrix,
    loads: Loads,
}

impl<'a> TreeChart<'a> {
    /// `directions`: D of x = Dᵀz, square; `None` for mechanisms with loops or couplings.
    pub(crate) fn new(
        m: &'a Mechanism,
        start: &'a [f64],
        directions: &Matrix,
        loads: Loads,
    ) -> Option<Self> {
        let n = m.velocity_count();
        let square = (directions.rows(), directions.columns()) == (n, n);
        let free = m.forest().closures().is_empty() && m.couplings().is_empty();
        let inverse = || lu_solve(directions, &Matrix::identity(n));
        (square && free).then(|| Self { m, start, inverse: inverse(), loads })
    }

    /// ∂U/∂x at x.
    fn slope(&self, x: &[f64]) -> Vec<f64> {
        let m = self.m;
        let z = self.inverse.transpose_mul_vec(x);
        let mut q = self.start.to_vec();
        m.integrate(&mut q, &z);
        let poses = m.link_poses(&q);
        let mut force = generalized_forces(m, &q, &poses, &self.loads);
        // Forces per velocity become those per displacement, joint by joint.
        for edge in m.forest().edges() {
            let kind = &m.joint(edge.joint).kind;
            if kind.has_scalar_coordinates() {
                continue;
            }
            let (at, v) = (m.position_range(edge.joint), m.velocity_range(edge.joint));
            let rate = kind.difference_rate(&self.start[at.clone()], &q[at]);
            let own = Matrix::from_fn(v.len(), 1, |i, _| force[v.start + i]);
            let own = lu_solve(&rate.transpose(), &own);
            v.enumerate().for_each(|(i, k)| force[k] = own[(i, 0)]);
        }
        self.inverse.mul_vec(&force).into_iter().map(|f| -f).collect()
    }

    /// The numbers at the pose for `effectors` effectors, with the differences that they are of;
    /// `steps` as in [`Jets`], `rate` is ∂η/∂x, and servos act as at the pose.
    pub(crate) fn sample(
        &self,
        d: &ModelData,
        effectors: usize,
        rate: Matrix,
        steps: &[f64],
    ) -> Option<(ChartSample, Jets)> {
        let n = steps.len();
        let jets = Jets::new(steps, self.slope(&vec![0.0; n]), |y| Some(self.slope(&y)))?;
        let two = n * (n + 1) / 2;
        let pull = rate.transpose_mul(&d.hessian.mul(&d.servo_rest));
        let width = if d.servos.is_empty() { 0 } else { n + two };
        let out =
            ChartSample {
                place: vec![0.0; n],
                stiffness: jets.second(),
                cubic: jets.third(),
                twists: Matrix::zeros(6 * effectors, two + triples(n).count()),
                links: d.links.iter().map(|_| Matrix::zeros(6, two)).collect(),
                joints: d.joints.iter().map(|j| Matrix::zeros(j.map.rows(), two)).collect(),
                servos: Matrix::from_fn(d.servos.len(), width, |s, p| {
                    if p < n { -pull[(p, s)] } else { 0.0 }
                }),
                rate,
            };
        let finite = out.cubic.iter().all(|x| x.is_finite()) && out.rate.is_finite();
        (finite && out.stiffness.is_finite()).then_some((out, jets))
    }
}
