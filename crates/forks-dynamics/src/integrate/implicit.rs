//! Linearly implicit Euler: one linear system per step, L-stable, linear in the number of joints.
//!
//! (M + h D + h² K) v⁺ = M v + h f(q, v; without dampers) + h Gᵀ λ,  G v⁺ = 0,  q⁺ = q ⊞ h v⁺,
//!
//! K the tangent stiffness of springs and loads. A state at rest moves exactly where the forces do
//! not balance, so the scheme ends on the static equilibrium whatever h is.

use forks_mechanism::{
    Mechanism,
    lie::{Mat6, Wrench},
    linalg::{Matrix, dense, dot},
};

use super::{
    blocks::{Block, Factorised},
    columns::add_column_stiffness,
    coordinates::advance,
    linearised::{Linearised, least_pivots},
    state::{SimulationState, SimulationStatus, System},
    stiff_rows::{StiffRows, joint_blocks},
    symmetric::symmetric_system,
};
use crate::{
    constrained::{ConstrainedDynamics, ConstrainedWorkspace, LoopRows, TreeMotion, WeightedRows},
    loads,
};

/// What the linear system knows of loads (weights, wrenches on links) that change as links turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadStiffness {
    /// Their derivative. Where it takes more from a joint than a step of this length can follow, as
    /// it does before a mechanism buckles, the step is refused.
    Linearised,
    /// Nothing: loads are those of the step's start, and the matrix is positive definite at any
    /// step.
    LeftOut,
}

impl LoadStiffness {
    /// Puts the wrenches whose derivative counts into `work.carried`.
    pub(crate) fn carry(self, work: &mut ConstrainedWorkspace) {
        match self {
            Self::Linearised => ConstrainedDynamics::carry(work),
            Self::LeftOut => {
                let links = work.motion.world_from_link.len();
                work.carried.clear();
                work.carried.resize(links, Wrench::ZERO);
            }
        }
    }
}

/// Space of the scheme.
#[derive(Clone, Debug, Default)]
pub(crate) struct Implicit {
    matrix: Linearised,
    links: Vec<Mat6>,
}

impl Implicit {
    /// One step; loops are not closed yet at the new positions.
    pub(crate) fn step(
        &mut self,
        system: &mut System<'_>,
        state: &SimulationState,
        h: f64,
        stiffness: LoadStiffness,
    ) -> Result<SimulationState, SimulationStatus> {
        let m = system.mechanism();
        let n = m.tree_velocity_count();
        system.evaluations += 1;
        let rows = system.dynamics.prepare(&state.q, &state.v, &mut system.work);
        let external = system.with_dead(&system.work.motion.world_from_link);
        let bias = system.dynamics.load(&external, &mut system.work);
        let elastic = system.dynamics.elastic(&mut system.work);
        let (own, stiff) = joint_terms(m, &rows, &system.work, h);
        stiffness.carry(&mut system.work);
        let dense = self.factorize(system, &rows, &own, h, stiffness)?;
        let (d, work) = (&system.dynamics, &system.work);
        let mut rhs = rows.fold(&rotor_forces(d, work, &rows, &elastic, h));
        let momentum = momentum(d, work);
        for k in 0..n {
            rhs[k] = momentum[k] + h * (rhs[k] + system.tau[k] - bias[k]);
        }
        let v = match dense {
            None => self.solve(system, &rows, &stiff, &rhs)?,
            Some(matrix) => {
                let independent = independent_rows(system, &rows)?;
                finite(saddle_point(matrix, &independent, &stiff, &rhs))?
            }
        };
        let mut next = SimulationState { q: state.q.clone(), v };
        advance(m, &mut next.q, &next.v, h);
        Ok(next)
    }

    /// Factorises Ã. Where it is singular, since links without mass follow others by loops or
    /// couplings, sym(Ã) is given back: on the motions that these admit it is regular, or a joint
    /// is named.
    fn factorize(
        &mut self,
        system: &mut System<'_>,
        rows: &LoopRows,
        own: &[Block],
        h: f64,
        stiffness: LoadStiffness,
    ) -> Result<Option<Matrix>, SimulationStatus> {
        let (m, work) = (system.mechanism(), &system.work);
        link_matrices(&system.dynamics, work, h, stiffness, &mut self.links);
        if stiffness == LoadStiffness::Linearised {
            for (link, w) in &system.dead {
                let pose = &work.motion.world_from_link[*link];
                let slope = loads::dead_load(*w, Default::default(), pose).slope;
                self.links[*link] += slope.scale(-h * h);
            }
        }
        let blocks = loaded_blocks(m, own, work, h);
        let motion = &work.motion;
        let least = least_pivots(motion, &system.dynamics.inertia, own);
        let matrix = &mut self.matrix;
        let (k, singular) =
            match matrix.factorize(motion, &self.links, &least, &blocks, &work.carried, h) {
                Factorised::Sound => return Ok(None),
                Factorised::TooSoft(k) => (k, false),
                Factorised::Singular(k) => (k, true),
            };
        // Loads that soften the mechanism are a matter of the step's length.
        if !singular && stiffness == LoadStiffness::Linearised {
            return Err(SimulationStatus::Singular);
        }
        if !work.motion.twists.iter().all(|t| t.is_finite()) {
            return Err(SimulationStatus::NotFinite);
        }
        // Neither mass nor damper nor spring.
        let massless = |k: usize| SimulationStatus::Massless(m.forest().edges()[k].joint);
        if rows.jacobian.rows() == 0 {
            let linearised = stiffness == LoadStiffness::Linearised;
            return Err(if linearised { SimulationStatus::Singular } else { massless(k) });
        }
        let dense = symmetric_system(motion, &self.links, &blocks, &work.carried, h);
        match system.dynamics.factorize(rows, &mut system.work) {
            Ok(()) => Ok(Some(dense)),
            Err(at) => Err(massless(at)),
        }
    }

    /// v⁺ with the loops' and the stiff rows' forces: μ = −(S Ã⁻¹ Sᵀ + κ⁻¹)⁻¹ S Ã⁻¹ rhs, κ⁻¹ = 0
    /// for loops.
    fn solve(
        &mut self,
        system: &mut System<'_>,
        rows: &LoopRows,
        stiff: &StiffRows,
        rhs: &[f64],
    ) -> Result<Vec<f64>, SimulationStatus> {
        let n = rhs.len();
        let mut v = vec![0.0; n];
        self.matrix.solve(&system.work.motion, rhs, &mut v);
        let mut all = independent_rows(system, rows)?;
        let exact = all.len();
        all.extend(stiff.rows.iter().map(Vec::as_slice));
        if all.is_empty() {
            return finite(v);
        }
        let columns: Vec<Vec<f64>> = all
            .iter()
            .map(|row| {
                let mut x = vec![0.0; n];
                self.matrix.solve(&system.work.motion, row, &mut x);
                x
            })
            .collect();
        let size = all.len();
        let schur = Matrix::from_fn(size, size, |i, j| {
            let compliance =
                if i == j && i >= exact { 1.0 / stiff.strengths[i - exact] } else { 0.0 };
            dot(all[i], &columns[j]) + compliance
        });
        let violation = Matrix::from_fn(size, 1, |i, _| -dot(all[i], &v));
        let mu = dense::lu_solve(&schur, &violation);
        for (mu, column) in mu.as_slice().iter().zip(&columns) {
            v.iter_mut().zip(column).for_each(|(v, c)| *v += mu * c);
        }
        finite(v)
    }
}

/// Loop equations that do not repeat others.
fn independent_rows<'r>(
    system: &mut System<'_>,
    rows: &'r LoopRows,
) -> Result<Vec<&'r [f64]>, SimulationStatus> {
    if rows.jacobian.rows() == 0 {
        return Ok(Vec::new());
    }
    let (d, work) = (&system.dynamics, &mut system.work);
    if let Err(at) = d.factorize(rows, work) {
        return Err(SimulationStatus::Massless(d.mechanism().forest().edges()[at].joint));
    }
    let weighted = WeightedRows::without_rotors(d, rows, work);
    Ok(weighted.space.independent_rows().iter().map(|&i| rows.jacobian.row(i)).collect())
}

/// v⁺ of (Ã, Gᵀ; G, 0), stiff rows as part of Ã; not finite where that is singular.
fn saddle_point(mut a: Matrix, loops: &[&[f64]], stiff: &StiffRows, rhs: &[f64]) -> Vec<f64> {
    for (row, strength) in stiff.rows.iter().zip(&stiff.strengths) {
        for (i, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            a.row_mut(i).iter_mut().zip(row).for_each(|(a, y)| *a += strength * x * y);
        }
    }
    let (n, size) = (rhs.len(), rhs.len() + loops.len());
    // Rows of the size of the matrix, so that pivots can be compared.
    let scale =
        |row: &[f64]| a.max_abs() / row.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let scales: Vec<f64> = loops.iter().map(|row| scale(row)).collect();
    let entry = |i: usize, k: usize| match (i < n, k < n) {
        (true, true) => a[(i, k)],
        (false, true) => scales[i - n] * loops[i - n][k],
        (true, false) => scales[k - n] * loops[k - n][i],
        (false, false) => 0.0,
    };
    let all = Matrix::from_fn(size, size, entry);
    let right = Matrix::from_fn(size, 1, |i, _| rhs.get(i).copied().unwrap_or(0.0));
    dense::lu_solve(&all, &right).as_slice()[..n].to_vec()
}

/// Joint terms (armature + h D + h² K_θ) and stiff rows of Ã.
pub(super) fn joint_terms(
    m: &Mechanism,
    rows: &LoopRows,
    work: &ConstrainedWorkspace,
    h: f64,
) -> (Vec<Block>, StiffRows) {
    let mut blocks = joint_blocks(m, &work.q, h);
    let stiff = StiffRows::new(m, rows, work, h, &mut blocks);
    (blocks, stiff)
}

/// Joint terms with the stiffness that the wrenches in `work.carried` have within each joint.
pub(super) fn loaded_blocks(
    m: &Mechanism,
    own: &[Block],
    work: &ConstrainedWorkspace,
    h: f64,
) -> Vec<Block> {
    let mut blocks = own.to_vec();
    for (k, e) in m.forest().edges().iter().enumerate() {
        let f = work.carried[e.outer.index()];
        add_column_stiffness(m, e, &work.motion.joints[k], &work.q, f, h, &mut blocks[k]);
    }
    blocks
}

/// Link matrices I − h² ∂w/∂ξ of Ã, w the weight.
pub(super) fn link_matrices(
    d: &ConstrainedDynamics<'_>,
    work: &ConstrainedWorkspace,
    h: f64,
    stiffness: LoadStiffness,
    out: &mut Vec<Mat6>,
) {
    out.clear();
    out.extend(d.inertia.iter().map(|i| i.to_mat6()));
    if d.has_gravity() && stiffness == LoadStiffness::Linearised {
        for i in 1..out.len() {
            let slope = loads::weight(d.mechanism(), i, &work.motion.world_from_link[i]).slope;
            out[i] += slope.scale(-h * h);
        }
    }
}

fn finite(v: Vec<f64>) -> Result<Vec<f64>, SimulationStatus> {
    if v.iter().all(|x| x.is_finite()) { Ok(v) } else { Err(SimulationStatus::NotFinite) }
}

/// Elastic forces with what the rotors of closing joints ask for: their momentum a θ̇ / h − a θ̈₀.
pub(super) fn rotor_forces(
    d: &ConstrainedDynamics<'_>,
    work: &ConstrainedWorkspace,
    rows: &LoopRows,
    elastic: &[f64],
    h: f64,
) -> Vec<f64> {
    let n = d.mechanism().tree_velocity_count();
    let mut f = elastic.to_vec();
    for k in n..f.len() {
        let a = d.armature[k];
        f[k] += a * (work.v[k] / h - rows.own_bias[k - n]);
    }
    f
}

/// M v of the tree: every link's momentum, carried inwards.
pub(super) fn momentum(d: &ConstrainedDynamics<'_>, work: &ConstrainedWorkspace) -> Vec<f64> {
    let m = d.mechanism();
    let motion: &TreeMotion = &work.motion;
    let mut carried: Vec<Wrench> =
        m.links().iter().zip(&motion.twists).map(|(l, t)| l.inertia.apply(*t)).collect();
    let mut out = vec![0.0; m.tree_velocity_count()];
    for j in motion.joints.iter().rev() {
        let p = carried[j.outer];
        for (c, k) in j.columns.as_slice().iter().zip(j.velocities.clone()) {
            out[k] = c.dot(p) + d.armature[k] * work.v[k];
        }
        carried[j.inner] += j.inner_from_outer.apply_to_wrench(p);
    }
    out
}

#[cfg(test)]
mod tests {
    use forks_mechanism::linalg::Matrix;
    use forks_testkit::{JointChoice, RandomMechanismOptions, Rng, random_mechanism};

    use super::*;
    use crate::{Loads, body_axes_derivative, generalized_forces, mass_matrix, tangent_stiffness};

    impl Implicit {
        /// Ã⁻¹ f of the open tree, for the last step.
        pub(in crate::integrate) fn solve_open(
            &mut self,
            system: &System<'_>,
            f: &[f64],
        ) -> Vec<f64> {
            let mut x = vec![0.0; f.len()];
            self.matrix.solve(&system.work.motion, f, &mut x);
            x
        }

        /// Factorises Ã however soft the loads make it, and returns the joints' blocks.
        fn whole_matrix(&mut self, system: &System<'_>, own: &[Block], h: f64) -> Vec<Block> {
            let work = &system.work;
            let blocks = loaded_blocks(system.mechanism(), own, work, h);
            link_matrices(&system.dynamics, work, h, LoadStiffness::Linearised, &mut self.links);
            let least = vec![[[f64::NEG_INFINITY; 6]; 6]; own.len()];
            let (motion, links) = (&work.motion, &self.links);
            let how = self.matrix.factorize(motion, links, &least, &blocks, &work.carried, h);
            assert!(!matches!(how, Factorised::Singular(_)));
            blocks
        }
    }

    /// M + h D + h² K from the dense mass matrix and the analytic tangent.
    fn dense(m: &Mechanism, q: &[f64], h: f64) -> Matrix {
        let (poses, loads) = (m.link_poses(q), Loads::gravity());
        let force = generalized_forces(m, q, &poses, &loads);
        let tangent = tangent_stiffness(m, q, &poses, &loads, &[]);
        let tangent = body_axes_derivative(m, &tangent, &force);
        let mass = mass_matrix(m, q);
        let mut out = Matrix::from_fn(force.len(), force.len(), |i, j| {
            mass[(i, j)] + h * h * tangent[(i, j)]
        });
        for (i, j) in m.joints().iter().enumerate() {
            let range = m.velocity_range(forks_mechanism::JointId::new(i));
            for a in 0..j.dof() {
                for b in 0..j.dof() {
                    out[(range.start + a, range.start + b)] += h * j.damping.get(a, b);
                }
            }
        }
        out
    }

    /// Largest |Ã x − f| / (|Ã||x| ε) over random f.
    fn residual(m: &Mechanism, h: f64, rng: &mut Rng) -> f64 {
        let n = m.tree_velocity_count();
        let mut system = System::new(m, true);
        let q = m.start_positions();
        let dynamics = system.dynamics.clone();
        dynamics.prepare(&q, &vec![0.0; n], &mut system.work);
        dynamics.load(&[], &mut system.work);
        ConstrainedDynamics::carry(&mut system.work);
        let mut scheme = Implicit::default();
        scheme.whole_matrix(&system, &joint_blocks(m, &q, h), h);
        let matrix = dense(m, &q, h);
        let f: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
        let mut x = vec![0.0; n];
        scheme.matrix.solve(&system.work.motion, &f, &mut x);
        let mut worst = 0.0f64;
        for i in 0..n {
            let sum: f64 = matrix.row(i).iter().zip(&x).map(|(a, x)| a * x).sum();
            worst = worst.max((sum - f[i]).abs());
        }
        let size = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        worst / (matrix.max_abs() * size * n as f64 * f64::EPSILON)
    }

    /// Largest difference of the composite bodies' matrix from the symmetric part of the
    /// recursion's, the inverse of its solutions, over the matrix and its condition.
    fn asymmetry_aside(m: &Mechanism, h: f64, rng: &mut Rng) -> f64 {
        let n = m.tree_velocity_count();
        let mut system = System::new(m, true);
        let (q, v) =
            (m.start_positions(), (0..n).map(|_| rng.range(-1.0, 1.0)).collect::<Vec<_>>());
        let rows = system.dynamics.clone().prepare(&q, &v, &mut system.work);
        system.dynamics.load(&[], &mut system.work);
        ConstrainedDynamics::carry(&mut system.work);
        let (own, _) = joint_terms(m, &rows, &system.work, h);
        let mut scheme = Implicit::default();
        let blocks = scheme.whole_matrix(&system, &own, h);
        let work = &system.work;
        let found = symmetric_system(&work.motion, &scheme.links, &blocks, &work.carried, h);
        let mut inverse = Matrix::zeros(n, n);
        for k in 0..n {
            let (mut unit, mut x) = (vec![0.0; n], vec![0.0; n]);
            unit[k] = 1.0;
            scheme.matrix.solve(&work.motion, &unit, &mut x);
            (0..n).for_each(|i| inverse[(i, k)] = x[i]);
        }
        let expected = dense::lu_solve(&inverse, &Matrix::identity(n));
        let condition = expected.norm() * inverse.norm();
        let difference = found.sub(&expected.symmetric_part()).max_abs();
        difference / (expected.max_abs() * condition * f64::EPSILON)
    }

    #[test]
    fn composite_bodies_give_the_symmetric_part_of_what_the_recursion_solves() {
        let mut rng = Rng::new(11);
        let mut asymmetric = 0;
        for seed in 0..100 {
            let options = RandomMechanismOptions {
                links: 1 + seed as usize % 10,
                extra_loops: 0,
                floating_base: seed % 2 == 0,
                reversed_edges: 0.3,
                armature: true,
                preload: 0.3,
                gravity: 50.0,
                ..RandomMechanismOptions::default()
            };
            let m = random_mechanism(seed, &options);
            let error = asymmetry_aside(&m, 0.1, &mut rng);
            asymmetric += usize::from(m.joints().iter().any(|j| j.dof() > 1));
            assert!(error < 20.0, "seed {seed}: {error} |A| κ ε");
        }
        assert!(asymmetric > 50);
    }

    #[test]
    fn the_recursion_solves_the_matrix_with_the_analytic_tangent() {
        let mut rng = Rng::new(5);
        for seed in 0..100 {
            // Springs of group joints are taken by their symmetric Hessian; loads are exact for all
            // kinds.
            let mut kinds = JointChoice::USUAL.to_vec();
            let springless = seed % 2 == 0;
            if !springless {
                kinds.retain(|k| !matches!(k, JointChoice::Spherical | JointChoice::Planar));
            }
            let options = RandomMechanismOptions {
                links: 1 + seed as usize % 10,
                extra_loops: 0,
                springless_fraction: if springless { 1.0 } else { 0.2 },
                joint_kinds: kinds,
                floating_base: springless,
                armature: true,
                preload: 0.3,
                gravity: 50.0,
                ..RandomMechanismOptions::default()
            };
            let m = random_mechanism(seed, &options);
            let error = residual(&m, 0.1, &mut rng);
            // The worst was 1.8.
            assert!(error < 20.0, "seed {seed}: {error} n·|A||x|·ε");
        }
    }
}
