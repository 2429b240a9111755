//! Linearly implicit Euler in two halves, for impulses that are found in between: contact.
//!
//! With N an orthonormal basis of the velocities v = N u that loops and couplings admit (N = 1
//! without any),
//!
//! ```text
//! A = Nᵀ sym(M + h D + h² K) N,  A u_free = Nᵀ (M v + h f)       free motion
//! u⁺ = u_free + A⁻¹ Nᵀ p                                          impulses p, found elsewhere
//! q⁺ = q ⊞ h N u⁺, then q⁺ and N u⁺ onto the loops                motion
//! ```
//!
//! The scheme is that of [`super::implicit`] but for K's symmetric part ([`super::symmetric`]):
//! both have the same states of rest, and steps that differ by h² times the part that is left out.

use std::sync::Arc;

use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, Twist},
    linalg::{Matrix, Pivots, invert_cholesky, solve_cholesky},
};

use super::{
    coordinates::advance,
    halves::{Admissible, motions, system},
    implicit::LoadStiffness,
    state::{SimulationState, SimulationStatus, System},
};
use crate::{
    AppliedWrench,
    constrained::{
        ConstrainedDynamics, ConstrainedWorkspace, DynamicsParts, MechanismEnergy, ProjectionStatus,
    },
};

/// A mechanism in motion whose steps wait for impulses.
///
/// Velocities u are as many as the mechanism has independent motions; without loops and couplings
/// they are the tree velocities, with them they are combinations of these that change from pose to
/// pose.
#[derive(Clone, Debug)]
pub struct ImpulseStepper {
    mechanism: Arc<Mechanism>,
    parts: DynamicsParts,
    work: ConstrainedWorkspace,
    h: f64,
    /// Positions of all joints.
    q: Vec<f64>,
    /// Tree velocities N u.
    v: Vec<f64>,
    u: Vec<f64>,
    admissible: Admissible,
    inverse: Matrix,
}

impl ImpulseStepper {
    /// At tree coordinates `q`, `v` with steps of `h` (s). Open loops are closed and velocities
    /// that violate them taken off.
    ///
    /// # Errors
    /// Numbers that are not finite, loops that cannot be closed, a joint that no mass resists.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn new(
        mechanism: Arc<Mechanism>,
        q: &[f64],
        v: &[f64],
        gravity: bool,
        h: f64,
    ) -> Result<Self, SimulationStatus> {
        let m = &*mechanism;
        assert_eq!(q.len(), m.tree_position_count(), "number of tree positions");
        assert_eq!(v.len(), m.tree_velocity_count(), "number of tree velocities");
        let mut system = System::new(m, gravity);
        let mut state = SimulationState { q: q.to_vec(), v: v.to_vec() };
        if !q.iter().chain(v).all(|x| x.is_finite()) {
            return Err(SimulationStatus::NotFinite);
        }
        system.close_loops(&mut state);
        system.project(&mut state)?;
        let positions = system.work.q.clone();
        let System { dynamics, work, .. } = system;
        let parts = dynamics.into_parts();
        let mut out = Self {
            mechanism: Arc::clone(&mechanism),
            parts,
            work,
            h,
            q: positions,
            v: state.v.clone(),
            u: Vec::new(),
            admissible: Admissible { basis: None, own: Matrix::zeros(0, 0) },
            inverse: Matrix::zeros(0, 0),
        };
        out.q[..state.q.len()].copy_from_slice(&state.q);
        let admissible = out.with(|d, work| motions(d, &state.q, &mut state.v, work))?;
        out.accept(state.q, state.v, admissible);
        Ok(out)
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Arc<Mechanism> {
        &self.mechanism
    }

    /// Exchanges the mechanism for one that differs in its gravity or in the rest positions of its
    /// springs.
    pub fn set_mechanism(&mut self, mechanism: Arc<Mechanism>) {
        self.mechanism = mechanism;
    }

    /// Number of independent motions, length of u.
    pub fn motion_count(&self) -> usize {
        self.u.len()
    }

    /// Positions of all joints, those of loop-closing joints after the tree's.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// Velocities of the tree coordinates.
    pub fn tree_velocities(&self) -> &[f64] {
        &self.v
    }

    /// u: of the state, or after [`free`](Self::free) without impulses.
    pub fn velocities(&self) -> &[f64] {
        &self.u
    }

    /// World poses of all links, the ground first.
    pub fn link_poses(&self) -> &[Pose] {
        &self.work.motion.world_from_link
    }

    /// Sets positions of all joints and velocities u. Loops that are open are closed by the next
    /// step.
    ///
    /// # Errors
    /// Numbers that are not finite, another number of motions; the state stays.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn set(&mut self, q: &[f64], u: &[f64]) -> Result<(), SimulationStatus> {
        assert_eq!(q.len(), self.q.len(), "number of positions");
        assert_eq!(u.len(), self.u.len(), "number of velocities");
        if !q.iter().chain(u).all(|x| x.is_finite()) {
            return Err(SimulationStatus::NotFinite);
        }
        let tree = q[..self.mechanism.tree_position_count()].to_vec();
        let mut still = vec![0.0; self.v.len()];
        self.work.q.copy_from_slice(q);
        match self.with(|d, work| motions(d, &tree, &mut still, work)).and_then(|a| self.same(a)) {
            Ok(admissible) => {
                self.q.copy_from_slice(q);
                self.admissible = admissible;
                self.u.copy_from_slice(u);
                self.v = self.tree_from_motions(u);
                // Rates of closing joints, for the energy of their rotors.
                let mut rates = self.v.clone();
                self.with(|d, work| motions(d, &tree, &mut rates, work)).map(|_| ())
            }
            Err(status) => {
                self.recall();
                Err(status)
            }
        }
    }

    /// First half: u without impulses, and A⁻¹, under forces on all velocity coordinates (may be
    /// empty) and wrenches on links, beside springs, dampers and gravity.
    ///
    /// # Errors
    /// Numbers that overflow, a matrix A that is not positive definite; the state stays.
    ///
    /// # Panics
    /// If the number of forces is wrong.
    pub fn free(
        &mut self,
        forces: &[f64],
        loads: &[AppliedWrench],
    ) -> Result<(), SimulationStatus> {
        assert!(forces.is_empty() || forces.len() == self.mechanism.velocity_count());
        let (h, state) =
            (self.h, SimulationState { q: self.tree_positions().to_vec(), v: self.v.clone() });
        let mut matrix_and_force = |stiffness| {
            self.work.q.copy_from_slice(&self.q);
            let (a, f) = self.with(|d, work| system(d, work, &state, forces, loads, h, stiffness));
            match &self.admissible.basis {
                Some(basis) => (basis.transpose_mul(&a.mul(basis)), basis.transpose_mul_vec(&f)),
                None => (a, f),
            }
        };
        let (mut a, mut f) = matrix_and_force(LoadStiffness::Linearised);
        let mut factor = a.cholesky(Pivots::ROUNDING);
        if factor.is_none() {
            // Loads soften the mechanism by more than a step of this length can follow.
            (a, f) = matrix_and_force(LoadStiffness::LeftOut);
            factor = a.cholesky(Pivots::ROUNDING);
        }
        let factor = factor.ok_or(match a.is_finite() {
            true => SimulationStatus::Singular,
            false => SimulationStatus::NotFinite,
        })?;
        let n = factor.rows();
        let (mut u, mut inverse) = (f, Matrix::zeros(n, n));
        solve_cholesky(factor.as_slice(), n, &mut u);
        invert_cholesky(n, factor.as_slice(), n, inverse.as_mut_slice());
        if !u.iter().all(|x| x.is_finite()) || !inverse.is_finite() {
            return Err(SimulationStatus::NotFinite);
        }
        (self.u, self.inverse) = (u, inverse);
        Ok(())
    }

    /// A⁻¹ of the last first half: velocities u per impulse Nᵀ p.
    pub fn inverse_system(&self) -> &Matrix {
        &self.inverse
    }

    /// Second half: moves on with velocities `u`, in the coordinates of the state before the step.
    ///
    /// # Errors
    /// Numbers that overflow, loops that cannot be closed, another number of motions; the positions
    /// stay.
    ///
    /// # Panics
    /// If the number of velocities is wrong.
    pub fn finish(&mut self, u: &[f64]) -> Result<(), SimulationStatus> {
        assert_eq!(u.len(), self.u.len(), "number of velocities");
        let (h, m) = (self.h, Arc::clone(&self.mechanism));
        let mut v = self.tree_from_motions(u);
        let mut q = self.tree_positions().to_vec();
        advance(&m, &mut q, &v, h);
        self.work.q.copy_from_slice(&self.q);
        let looped = self.admissible.basis.is_some();
        let closed = self.with(|d, work| {
            if !q.iter().chain(&v).all(|x| x.is_finite()) {
                return Err(SimulationStatus::NotFinite);
            }
            if looped {
                match d.project_positions(&mut q, work).status {
                    ProjectionStatus::Closed => {}
                    ProjectionStatus::Open => return Err(SimulationStatus::LoopsOpen),
                    ProjectionStatus::Failed => return Err(SimulationStatus::NotFinite),
                }
            }
            motions(d, &q, &mut v, work)
        });
        match closed.and_then(|a| self.same(a)) {
            Ok(admissible) => {
                self.accept(q, v, admissible);
                Ok(())
            }
            Err(status) => {
                self.recall();
                Err(status)
            }
        }
    }

    /// 6 × motions: body twist of a frame in a link per u, in that frame.
    pub fn frame_jacobian(&self, link: LinkId, link_from_frame: &Pose) -> Matrix {
        let (motion, forest) = (&self.work.motion, self.mechanism.forest());
        let poses = &motion.world_from_link;
        let frame_from_world = (poses[link.index()] * *link_from_frame).inverse();
        let mut tree = Matrix::zeros(6, self.v.len());
        let mut at = forest.edge_of_link(link);
        while let Some(k) = at {
            let j = &motion.joints[k];
            let ad = (frame_from_world * poses[j.outer]).adjoint();
            for (c, column) in j.columns.as_slice().iter().zip(j.velocities.clone()) {
                let twist = ad.apply(*c).to_array();
                (0..6).for_each(|i| tree[(i, column)] = twist[i]);
            }
            at = forest.edge_of_link(forest.edges()[k].inner);
        }
        match &self.admissible.basis {
            Some(basis) => tree.mul(basis),
            None => tree,
        }
    }

    /// The rate of a joint's velocity coordinate per u, into `row`.
    ///
    /// # Panics
    /// If there is no such coordinate, or the row has not as many entries as there are motions.
    pub fn rate_row(&self, coordinate: usize, row: &mut [f64]) {
        assert_eq!(row.len(), self.u.len(), "number of motions");
        let Admissible { basis, own } = &self.admissible;
        match (coordinate.checked_sub(self.v.len()), basis) {
            (None, None) => {
                row.fill(0.0);
                row[coordinate] = 1.0;
            }
            (None, Some(n)) => row.copy_from_slice(n.row(coordinate)),
            (Some(k), None) => row.copy_from_slice(own.row(k)),
            (Some(k), Some(n)) => row.copy_from_slice(&n.transpose_mul_vec(own.row(k))),
        }
    }

    /// Energy of the state before or after a whole step.
    pub fn energy(&self) -> MechanismEnergy {
        let m = &*self.mechanism;
        let twists = forks_mechanism::kinematics::link_twists(m, &self.q, &self.v);
        let moving = m.links().iter().zip(&twists).skip(1);
        let links: f64 = moving.map(|(l, t): (_, &Twist)| l.inertia.kinetic_energy(*t)).sum();
        let poses = self.link_poses();
        let rates = self.v.iter().chain(&self.work.v[self.v.len()..]);
        let rotors: f64 =
            self.parts.armature().iter().zip(rates).map(|(a, v)| 0.5 * a * v * v).sum();
        let gravity = self.parts.has_gravity();
        MechanismEnergy {
            kinetic: 0.0 + links + rotors,
            gravitational: if gravity { 0.0 + crate::gravitational_energy(m, poses) } else { 0.0 },
            elastic: 0.0 + crate::elastic_energy(m, &self.q, poses),
        }
    }

    /// Largest gap of loops and couplings: lengths over r, angles in rad.
    pub fn loop_gap(&self) -> f64 {
        let mut copy = self.clone();
        let q = self.tree_positions().to_vec();
        copy.with(|d, work| d.loop_gap(&q, work))
    }

    fn tree_positions(&self) -> &[f64] {
        &self.q[..self.mechanism.tree_position_count()]
    }

    fn tree_from_motions(&self, u: &[f64]) -> Vec<f64> {
        self.admissible.basis.as_ref().map_or_else(|| u.to_vec(), |n| n.mul_vec(u))
    }

    /// What is admissible if these are as many motions as before.
    fn same(&self, a: Admissible) -> Result<Admissible, SimulationStatus> {
        let (from, to) = (self.u.len(), a.basis.as_ref().map_or(self.v.len(), Matrix::columns));
        if from == to { Ok(a) } else { Err(SimulationStatus::MotionsChanged { from, to }) }
    }

    /// Takes over a state for which `work` was prepared. Velocities become what u can say.
    fn accept(&mut self, q: Vec<f64>, v: Vec<f64>, admissible: Admissible) {
        let basis = admissible.basis.as_ref();
        self.u = basis.map_or_else(|| v.clone(), |n| n.transpose_mul_vec(&v));
        self.admissible = admissible;
        self.v = self.tree_from_motions(&self.u);
        let tree = q.len();
        self.q[..tree].copy_from_slice(&q);
        self.q[tree..].copy_from_slice(&self.work.q[tree..]);
    }

    /// Prepares `work` for the state again.
    fn recall(&mut self) {
        self.work.q.copy_from_slice(&self.q);
        let (q, v) = (self.tree_positions().to_vec(), self.v.clone());
        self.with(|d, work| drop(d.prepare(&q, &v, work)));
    }

    fn with<R>(
        &mut self,
        f: impl FnOnce(&ConstrainedDynamics<'_>, &mut ConstrainedWorkspace) -> R,
    ) -> R {
        let parts = std::mem::take(&mut self.parts);
        let d = ConstrainedDynamics::from_parts(&self.mechanism, parts);
        let out = f(&d, &mut self.work);
        self.parts = d.into_parts();
        out
    }
}
