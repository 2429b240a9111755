//! Chain and split: a tree joint carries the frontier outwards ([A16] Eq. 10, 12).

use forks_mechanism::{
    JointId, JointMatrix, LinkId, TreeEdge,
    dense::Matrix,
    lie::{Mat6, Wrench},
};

use super::{Op, Sweep, columns_matrix, link_variables};
use crate::{
    frontier::{Rows, Singular},
    motion::{JointCompliance, ScaledMotion, joint_compliance},
    prestress::gamma,
};

impl Sweep<'_> {
    /// Chain and split, Eq. 10 and 12.
    pub(super) fn append(&mut self, k: usize) -> Result<(), Singular> {
        let e = self.m.forest().edges()[k];
        let id = e.joint;
        let compliance = self.spring_compliance(id);
        let (inner, outer) = (link_variables(e.inner), link_variables(e.outer));
        let coordinates = self.joint_variables(id);
        let carried = self.prestress.as_ref().map(|p| p.carried[k]);
        let loaded = carried.is_some() && !coordinates.is_empty();
        let keep = loaded
            || compliance.free.columns() > 0
            || coordinates.iter().any(|&v| self.uses[v as usize] > 0);
        let grounded = e.inner == LinkId::WORLD;
        self.tape.push(Op::Append(k));
        let motion = &self.motions[k];
        if keep {
            self.frontier.add_independent(&coordinates, &compliance.compliance, &compliance.free);
        }
        let mut rows = Rows::zero(6);
        if !grounded {
            rows = rows.plus(1.0, &motion.ad.matrix().into(), &inner);
        }
        if keep {
            rows = rows.plus(1.0, &columns_matrix(motion), &coordinates);
        }
        self.frontier.add_dependent(&outer, &rows);
        if !keep {
            let c = projected_compliance(motion, &compliance.compliance);
            self.frontier.add_covariance(&outer, &c);
        }
        self.compliance[id.index()] = Some(compliance);
        self.add_geometric_terms(k, carried, loaded)?;
        if keep {
            self.drop_if_unused(&coordinates);
        }
        Ok(())
    }

    /// θᵀΓξ_inner, the joint's curvature and the loads on the outer link.
    fn add_geometric_terms(
        &mut self,
        k: usize,
        carried: Option<Wrench>,
        loaded: bool,
    ) -> Result<(), Singular> {
        let e = self.m.forest().edges()[k];
        let coordinates = self.joint_variables(e.joint);
        if loaded {
            self.add_spring_curvature(e.joint)?;
        }
        if let (Some(w), true) = (carried, loaded) {
            let d = coordinates.len();
            if e.inner != LinkId::WORLD {
                let g = gamma(&self.motions[k], w);
                let lambda = Matrix::from_fn(d + 6, d + 6, |i, j| match (i < d, j < d) {
                    (true, false) => g[(i, j - d)],
                    (false, true) => g[(j, i - d)],
                    _ => 0.0,
                });
                let variables = [&coordinates[..], &link_variables(e.inner)].concat();
                self.add_energy(variables, lambda)?;
            }
            if let Some(b) = self.curvature(&e, w) {
                self.add_energy(coordinates.clone(), Matrix::from_fn(d, d, |i, j| -b.get(i, j)))?;
            }
        }
        if let Some(p) = &self.prestress {
            let h = p.link_hessian[e.outer.index()].to_mat6();
            if h != Mat6::ZERO {
                self.add_energy(link_variables(e.outer).to_vec(), h.into())?;
            }
        }
        Ok(())
    }

    /// Second derivative of the outer link's motion along the load; the load is in the outer frame.
    fn curvature(&self, e: &TreeEdge, carried: Wrench) -> Option<JointMatrix> {
        let j = self.m.joint(e.joint);
        let qj = &self.q[self.m.position_range(e.joint)];
        let unscaled = Wrench::new(carried.force / self.r, carried.torque);
        if !e.reversed {
            return j.curvature(qj, unscaled);
        }
        // Outer is the parent: its motion is the inverse of the child's, ξ_outer = −Ad ξ_child.
        let child = j.parent_from_child(qj).adjoint().transpose_apply(unscaled);
        j.curvature(qj, -child)
    }

    pub(super) fn spring_compliance(&self, id: JointId) -> JointCompliance {
        let j = self.m.joint(id);
        joint_compliance(j.dof(), j.spring.as_ref().map(|s| &s.stiffness))
    }

    /// What a stressed spring's Hessian has beyond its stiffness (spherical, planar and free joints).
    pub(super) fn add_spring_curvature(&mut self, id: JointId) -> Result<(), Singular> {
        let j = self.m.joint(id);
        let Some(spring) = &j.spring else { return Ok(()) };
        if self.prestress.is_none() || j.kind.has_scalar_coordinates() {
            return Ok(());
        }
        let h = forks_dynamics::joint_hessian(self.m, id, self.q);
        let d = j.dof();
        let extra = Matrix::from_fn(d, d, |a, b| h.get(a, b) - spring.stiffness.get(a, b));
        self.add_energy(self.joint_variables(id), extra)
    }
}

/// J C_θ Jᵀ.
fn projected_compliance(motion: &ScaledMotion, c: &Matrix) -> [[f64; 6]; 6] {
    let columns: Vec<[f64; 6]> = motion.columns.iter().map(|c| c.to_array()).collect();
    let mut out = [[0.0; 6]; 6];
    for a in 0..columns.len() {
        for b in 0..columns.len() {
            let s = c[(a, b)];
            if s != 0.0 {
                for i in 0..6 {
                    for j in 0..6 {
                        out[i][j] += s * columns[a][i] * columns[b][j];
                    }
                }
            }
        }
    }
    out
}
