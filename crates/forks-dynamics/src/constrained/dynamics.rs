//! Forward dynamics with loops and couplings: Gauss's principle over mass-weighted rows.
//!
//! With M⁻¹ = WᵀW ([`super::articulated`]) and z = W M v̇, the loops ask for (G Wᵀ) z = −γ, and of
//! all such z the motion takes the one nearest to that of the open tree. Where M is singular but
//! not on the motions that the loops admit, M + GᵀΣG takes its place ([`super::mass_factor`]). The
//! rows G Wᵀ = C Y are reduced to an orthonormal basis Y by pivoted Gram–Schmidt, so redundant rows
//! do no harm and nothing is squared.

use forks_mechanism::{
    Mechanism,
    lie::{SymMat6, Wrench},
    linalg::{Matrix, dense},
};

use super::{
    inverse::{carry_loads, inverse_dynamics, weight},
    mass_factor::MassFactor,
    motion::TreeMotion,
    rows::LoopRows,
    solution::{DynamicsStatus, Solution},
};
use crate::{
    constraint_space::ConstraintSpace,
    passive::{PassiveWorkspace, passive_forces},
};

/// Left-over acceleration of the loop equations, relative to their terms, above which velocities
/// and loops contradict each other.
const CONSISTENT: f64 = 1e-8;

/// Loop-constrained forward dynamics of a mechanism.
#[derive(Clone, Debug)]
pub struct ConstrainedDynamics<'m> {
    pub(crate) m: &'m Mechanism,
    gravity: bool,
    multipliers: bool,
    /// r at the start pose: unit of length of the loop equations.
    pub(crate) size: f64,
    pub(crate) inertia: Vec<SymMat6>,
    pub(crate) armature: Vec<f64>,
    /// Coordinates of closing joints with rotor inertia, counted from the first closing one.
    rotors: Vec<usize>,
}

/// Space for evaluations; holds no state that a later call depends on, except that angles of
/// closing joints stay within half a turn of where the last call found them.
#[derive(Clone, Debug, Default)]
pub struct ConstrainedWorkspace {
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) motion: TreeMotion,
    pub(crate) factor: MassFactor,
    /// What acts on every link, as the last [`ConstrainedDynamics::load`] left it.
    wrenches: Vec<Wrench>,
    /// The wrench through the joint of every link: scratch, or what [`ConstrainedDynamics::carry`]
    /// left.
    pub(crate) carried: Vec<Wrench>,
    passive: PassiveWorkspace,
}

/// What [`ConstrainedDynamics`] keeps beside its mechanism, for owners of both.
#[derive(Clone, Debug, Default)]
pub(crate) struct DynamicsParts {
    gravity: bool,
    multipliers: bool,
    size: f64,
    inertia: Vec<SymMat6>,
    armature: Vec<f64>,
    rotors: Vec<usize>,
}

impl DynamicsParts {
    /// True if gravity acts.
    pub(crate) fn has_gravity(&self) -> bool {
        self.gravity
    }

    /// Rotor inertia of all velocity coordinates.
    pub(crate) fn armature(&self) -> &[f64] {
        &self.armature
    }
}

impl<'m> ConstrainedDynamics<'m> {
    /// `parts` of a mechanism with the same links and joints.
    pub(crate) fn from_parts(m: &'m Mechanism, parts: DynamicsParts) -> Self {
        let DynamicsParts { gravity, multipliers, size, inertia, armature, rotors } = parts;
        Self { m, gravity, multipliers, size, inertia, armature, rotors }
    }

    /// Everything but the mechanism.
    pub(crate) fn into_parts(self) -> DynamicsParts {
        let Self { m: _, gravity, multipliers, size, inertia, armature, rotors } = self;
        DynamicsParts { gravity, multipliers, size, inertia, armature, rotors }
    }

    /// The dynamics of a mechanism under its gravity, springs and dampers. Servos are not looked
    /// at.
    pub fn new(m: &'m Mechanism) -> Self {
        let armature: Vec<f64> = {
            let mut all = vec![0.0; m.velocity_count()];
            for (i, j) in m.joints().iter().enumerate() {
                let range = m.velocity_range(forks_mechanism::JointId::new(i));
                all[range].copy_from_slice(&j.armature);
            }
            all
        };
        let n = m.tree_velocity_count();
        Self {
            m,
            gravity: true,
            multipliers: true,
            size: m.bounding_radius(&m.link_poses(&m.start_positions())),
            inertia: m.links().iter().map(|l| l.inertia.matrix()).collect(),
            rotors: (n..armature.len()).filter(|&k| armature[k] != 0.0).map(|k| k - n).collect(),
            armature,
        }
    }

    /// The same without gravity.
    pub fn without_gravity(mut self) -> Self {
        self.gravity = false;
        self
    }

    /// Whether multipliers are computed; they cost a little more. Default true.
    pub fn with_multipliers(mut self, on: bool) -> Self {
        self.multipliers = on;
        self
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &'m Mechanism {
        self.m
    }

    /// True if gravity acts.
    pub fn has_gravity(&self) -> bool {
        self.gravity
    }

    /// Space for evaluations.
    pub fn workspace(&self) -> ConstrainedWorkspace {
        ConstrainedWorkspace {
            q: self.m.start_positions(),
            v: vec![0.0; self.m.velocity_count()],
            motion: TreeMotion::default(),
            factor: MassFactor::default(),
            wrenches: Vec::new(),
            carried: Vec::new(),
            passive: PassiveWorkspace::new(self.m),
        }
    }

    /// Takes over the tree coordinates and computes motion and loop equations.
    ///
    /// # Panics
    /// If `q` or `v` has not the length of the tree coordinates.
    pub(crate) fn prepare(
        &self,
        q: &[f64],
        v: &[f64],
        work: &mut ConstrainedWorkspace,
    ) -> LoopRows {
        let m = self.m;
        assert_eq!(q.len(), m.tree_position_count(), "number of tree positions");
        assert_eq!(v.len(), m.tree_velocity_count(), "number of tree velocities");
        work.q[..q.len()].copy_from_slice(q);
        work.v[..v.len()].copy_from_slice(v);
        work.motion.update(m, &work.q, &work.v);
        LoopRows::new(m, &work.motion, self.size, &mut work.q, &mut work.v)
    }

    /// Springs on all coordinates.
    pub(crate) fn elastic(&self, work: &mut ConstrainedWorkspace) -> Vec<f64> {
        let (mut f, still) = (vec![0.0; work.v.len()], vec![0.0; work.v.len()]);
        passive_forces(self.m, &mut work.passive, &work.q, &still, &mut f);
        f
    }

    /// Springs and dampers on all coordinates.
    fn passive(&self, work: &mut ConstrainedWorkspace) -> Vec<f64> {
        let mut f = vec![0.0; work.v.len()];
        passive_forces(self.m, &mut work.passive, &work.q, &work.v, &mut f);
        f
    }

    /// Coriolis forces, weights and external wrenches as forces on the tree coordinates, with sign
    /// reversed: what inverse dynamics asks for at v̇ = 0.
    pub(crate) fn load(&self, external: &[Wrench], work: &mut ConstrainedWorkspace) -> Vec<f64> {
        let m = self.m;
        assert!(
            external.is_empty() || external.len() == m.links().len(),
            "{} wrenches for {} links",
            external.len(),
            m.links().len()
        );
        let motion = &work.motion;
        let wrenches = &mut work.wrenches;
        wrenches.clear();
        wrenches.resize(m.links().len(), Wrench::ZERO);
        wrenches.iter_mut().zip(external).for_each(|(w, e)| *w = *e);
        if self.gravity {
            for i in 1..wrenches.len() {
                wrenches[i] += weight(m, i, &motion.world_from_link[i], true);
            }
        }
        let mut f = vec![0.0; m.tree_velocity_count()];
        inverse_dynamics(
            m,
            motion,
            &motion.bias_accelerations,
            wrenches,
            &mut work.carried,
            &mut f,
        );
        f
    }

    /// What the loads of the last [`load`](Self::load) pass through the joints, into
    /// `work.carried`.
    pub(crate) fn carry(work: &mut ConstrainedWorkspace) {
        carry_loads(&work.motion, &work.wrenches, &mut work.carried);
    }

    /// Accelerations at `q`, `v` under torques `tau` (tree coordinates) and wrenches on the links
    /// (body frames, ground first; may be empty), beside gravity, springs and dampers.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn accelerations(
        &self,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        external: &[Wrench],
        work: &mut ConstrainedWorkspace,
    ) -> Solution {
        let n = self.m.tree_velocity_count();
        assert_eq!(tau.len(), n, "number of torques");
        let rows = self.prepare(q, v, work);
        let passive = self.passive(work);
        let bias = self.load(external, work);
        let mut force = rows.fold(&self.without_rotors(&passive, n));
        for k in 0..n {
            force[k] += tau[k] - bias[k];
        }
        if !force.iter().chain(&rows.bias).all(|x| x.is_finite()) {
            return self.failed(&rows, DynamicsStatus::NotFinite);
        }
        if let Err(at) = self.factorize(&rows, work) {
            let joint = self.m.forest().edges()[at].joint;
            return self.failed(&rows, DynamicsStatus::Massless(joint));
        }
        self.solve(&rows, &force, &passive, work)
    }

    /// Factorises the mass matrix for which `work` was prepared; the position in the forest of a
    /// joint that moves without mass, loops and couplings kept.
    pub(crate) fn factorize(
        &self,
        rows: &LoopRows,
        work: &mut ConstrainedWorkspace,
    ) -> Result<(), usize> {
        work.factor.factorize(&work.motion, &self.inertia, &self.armature, &rows.jacobian)
    }

    /// Forces on closing coordinates with rotors act on the rotor, not on the tree.
    fn without_rotors(&self, passive: &[f64], n: usize) -> Vec<f64> {
        let mut f = passive.to_vec();
        self.rotors.iter().for_each(|r| f[n + r] = 0.0);
        f
    }

    /// All loop equations, those of released directions included.
    fn equations(&self, rows: &LoopRows) -> usize {
        let released = rows.closings.iter().map(|c| self.m.joint(c.joint).released.count());
        rows.jacobian.rows() + released.sum::<usize>()
    }

    fn failed(&self, rows: &LoopRows, status: DynamicsStatus) -> Solution {
        Solution {
            acceleration: vec![0.0; self.m.tree_velocity_count()],
            multipliers: Vec::new(),
            rank: 0,
            rows: self.equations(rows),
            residual: 0.0,
            status,
        }
    }

    fn solve(
        &self,
        rows: &LoopRows,
        force: &[f64],
        passive: &[f64],
        work: &mut ConstrainedWorkspace,
    ) -> Solution {
        let n = self.m.tree_velocity_count();
        let weighted = WeightedRows::new(self, rows, work);
        let mut free = vec![0.0; n + self.rotors.len()];
        work.factor.half_solve(&work.motion, force, &mut free[..n]);
        for (z, &r) in free[n..].iter_mut().zip(&self.rotors) {
            *z = passive[n + r] / self.armature[n + r].sqrt();
        }
        let bias: Vec<f64> = rows
            .bias
            .iter()
            .copied()
            .chain(self.rotors.iter().map(|&r| rows.own_bias[r]))
            .collect();
        let z = weighted.constrain(&free, &bias);
        let mut acceleration = vec![0.0; n];
        work.factor.transposed_half_solve(&work.motion, &z[..n], &mut acceleration);
        let (residual, consistent) = residual(rows, &acceleration, &weighted.reach(&free));
        let finite = acceleration.iter().all(|x| x.is_finite());
        if !finite {
            return self.failed(rows, DynamicsStatus::NotFinite);
        }
        let multipliers = if self.multipliers {
            let mut change: Vec<f64> = z.iter().zip(&free).map(|(z, f)| z - f).collect();
            if let Some(sigma) = work.factor.loop_mass() {
                weighted.leave_out(sigma, &rows.jacobian.mul_vec(&acceleration), &mut change);
            }
            self.multipliers(rows, &weighted, &change, passive)
        } else {
            Vec::new()
        };
        Solution {
            acceleration,
            multipliers,
            rank: weighted.space.rank() - self.rotors.len(),
            rows: self.equations(rows),
            residual,
            status: if consistent { DynamicsStatus::Solved } else { DynamicsStatus::Inconsistent },
        }
    }

    /// λ from the change of z that the loops force.
    fn multipliers(
        &self,
        rows: &LoopRows,
        weighted: &WeightedRows,
        change: &[f64],
        passive: &[f64],
    ) -> Vec<f64> {
        let n = self.m.tree_velocity_count();
        let lambda = weighted.multipliers(change);
        let (lambda, rotor) = lambda.split_at(rows.jacobian.rows());
        let mut own = passive[n..].to_vec();
        for (&r, mu) in self.rotors.iter().zip(rotor) {
            own[r] = *mu;
        }
        // Couplings that act on a closing joint's coordinate pass through that joint.
        let first = rows.jacobian.rows() - self.m.couplings().len();
        for &(coupling, k, slope) in &rows.coupled_own {
            own[k] += lambda[first + coupling] * slope;
        }
        rows.full_multipliers(lambda, &own)
    }
}

/// Rows G Wᵀ, each block in units of its longest row, with a basis of their span.
pub(crate) struct WeightedRows {
    /// Before they are brought to length one.
    rows: Matrix,
    scales: Vec<f64>,
    pub(crate) space: ConstraintSpace,
}

impl WeightedRows {
    /// `work` holds the factorised mass matrix; rotors of closing joints are further rows and
    /// coordinates.
    pub(crate) fn new(
        d: &ConstrainedDynamics<'_>,
        loops: &LoopRows,
        work: &mut ConstrainedWorkspace,
    ) -> Self {
        Self::with_rotors(d, loops, &d.rotors, work)
    }

    /// Over the tree coordinates alone.
    pub(crate) fn without_rotors(
        d: &ConstrainedDynamics<'_>,
        loops: &LoopRows,
        work: &mut ConstrainedWorkspace,
    ) -> Self {
        Self::with_rotors(d, loops, &[], work)
    }

    fn with_rotors(
        d: &ConstrainedDynamics<'_>,
        loops: &LoopRows,
        rotors: &[usize],
        work: &mut ConstrainedWorkspace,
    ) -> Self {
        let (g, n) = (&loops.jacobian, d.m.tree_velocity_count());
        let total = g.rows() + rotors.len();
        let mut rows = Matrix::zeros(total, n + rotors.len());
        for i in 0..g.rows() {
            work.factor.half_solve(&work.motion, g.row(i), &mut rows.row_mut(i)[..n]);
        }
        for (i, &r) in rotors.iter().enumerate() {
            let row = rows.row_mut(g.rows() + i);
            work.factor.half_solve(&work.motion, loops.own.row(r), &mut row[..n]);
            row[n + i] = -1.0 / d.armature[n + r].sqrt();
        }
        let mut scales = vec![1.0; total];
        let mut blocks = loops.blocks();
        blocks.extend(g.rows() + 1..=total);
        for b in blocks.windows(2) {
            let length = |i: usize| rows.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
            let longest = (b[0]..b[1]).map(length).fold(0.0, f64::max);
            if longest > 0.0 {
                scales[b[0]..b[1]].fill(1.0 / longest);
            }
        }
        let scaled = Matrix::from_fn(total, rows.columns(), |i, j| scales[i] * rows[(i, j)]);
        Self { rows, scales, space: ConstraintSpace::new(&scaled) }
    }

    /// The z nearest to `free` with (rows) z = −bias.
    pub(crate) fn constrain(&self, free: &[f64], bias: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = bias.iter().zip(&self.scales).map(|(b, s)| b * s).collect();
        let carried = self.space.basis.transpose_mul_vec(&self.space.closing_step(&scaled));
        let mut z = self.space.project(free);
        z.iter_mut().zip(carried).for_each(|(z, c)| *z += c);
        z
    }

    /// W (M v̇ − f) from W (M + GᵀΣG) v̇ − W f, `moved` = G v̇.
    fn leave_out(&self, sigma: &[f64], moved: &[f64], change: &mut [f64]) {
        for (i, (s, x)) in sigma.iter().zip(moved).enumerate() {
            change.iter_mut().zip(self.rows.row(i)).for_each(|(c, r)| *c -= s * x * r);
        }
    }

    /// |row| |z| for every row.
    fn reach(&self, z: &[f64]) -> Vec<f64> {
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        (0..self.rows.rows()).map(|i| length(self.rows.row(i)) * length(z)).collect()
    }

    /// λ of smallest norm with (rows)ᵀ λ = `change`, which lies in their span.
    fn multipliers(&self, change: &[f64]) -> Vec<f64> {
        if self.space.rank() == self.rows.rows() {
            let opposite: Vec<f64> = change.iter().map(|x| -x).collect();
            let scaled = self.space.multipliers(&opposite);
            return scaled.iter().zip(&self.scales).map(|(l, s)| l * s).collect();
        }
        let onto = self.space.basis.mul(&self.rows.transpose());
        dense::min_norm_solve(&onto, &self.space.basis.mul_vec(change), 1e-12)
    }
}

/// Largest entry of G v̇ + γ relative to the sizes of what is added, and whether it is rounding.
/// `reach` is what the open tree would violate each row by at most: in a locked mechanism all else
/// is rounding.
fn residual(rows: &LoopRows, acceleration: &[f64], reach: &[f64]) -> (f64, bool) {
    let (mut worst, mut scale) = (0.0f64, 0.0f64);
    for (i, gamma) in rows.bias.iter().enumerate() {
        let (mut sum, mut size) = (*gamma, gamma.abs() + reach[i]);
        for (g, a) in rows.jacobian.row(i).iter().zip(acceleration) {
            sum += g * a;
            size += (g * a).abs();
        }
        worst = worst.max(sum.abs());
        scale = scale.max(size);
    }
    let relative = if scale > 0.0 { worst / scale } else { 0.0 };
    (relative, relative <= CONSISTENT)
}
