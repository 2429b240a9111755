//! Chain and split: a tree joint carries the frontier outwards (\[A16\] Eq. 10, 12).

use forks_mechanism::{
    JointId, JointMatrix, LinkId, TreeEdge,
    lie::{Mat6, Wrench},
    linalg::Matrix,
};

use super::{Op, Sweep, link_variables};
use crate::{
    frontier::{Singular, TwistExpression},
    motion::ScaledMotion,
    prestress::gamma,
};

impl Sweep<'_> {
    /// Chain and split: C_cc = Ad C_pp Adᵀ + J C_θ Jᵀ, C_c* = Ad C_p* (Eq. 10, 12).
    ///
    /// Coordinates that something else needs become live themselves, ξ_c = Ad ξ_p + J θ.
    pub(super) fn append(&mut self, k: usize) -> Result<(), Singular> {
        let e = self.m.forest().edges()[k];
        let outer = link_variables(e.outer);
        let coordinates = self.variables_at(self.motions[k].velocities.clone());
        let coordinates = coordinates.as_slice();
        let compliance = &self.compliance[e.joint.index()];
        let loaded = self.prestress.is_some() && !coordinates.is_empty();
        let keep = loaded
            || compliance.is_free()
            || coordinates.iter().any(|&v| self.uses[v as usize] > 0);
        self.tape.push(Op::Append(k));
        let motion = &self.motions[k];
        let mut sum = TwistExpression::default();
        if e.inner != LinkId::WORLD {
            let ad = motion.ad.matrix();
            sum.add(&link_variables(e.inner), |i, j| ad.rows[i][j]);
        }
        if keep {
            self.frontier.add_independent(coordinates, &compliance.compliance, &compliance.free);
            let columns = motion.columns.as_slice();
            sum.add(coordinates, |i, j| columns[j].to_array()[i]);
        }
        self.frontier.add_dependent(outer, &sum);
        if !keep {
            let c = projected_compliance(motion, &compliance.compliance);
            self.frontier.add_covariance(&outer, &c);
        }
        if let Some(carried) = self.prestress.as_ref().map(|p| p.carried[k]) {
            self.add_geometric_terms(k, carried)?;
        }
        if keep {
            self.drop_if_unused(coordinates);
        }
        Ok(())
    }

    /// θᵀΓξ_inner, the curvatures of spring and joint, and the loads on the outer link.
    fn add_geometric_terms(&mut self, k: usize, carried: Wrench) -> Result<(), Singular> {
        let e = self.m.forest().edges()[k];
        let coordinates = self.variables_at(self.motions[k].velocities.clone());
        let coordinates = coordinates.as_slice();
        let d = coordinates.len();
        self.add_spring_curvature(e.joint)?;
        if d > 0 && e.inner != LinkId::WORLD {
            let g = gamma(&self.motions[k], carried);
            let lambda = Matrix::from_fn(d + 6, d + 6, |i, j| match (i < d, j < d) {
                (true, false) => g[(i, j - d)],
                (false, true) => g[(j, i - d)],
                _ => 0.0,
            });
            let variables = [coordinates, &link_variables(e.inner)].concat();
            self.add_energy(variables, lambda)?;
        }
        if let Some(b) = self.curvature(&e, carried) {
            let lambda = Matrix::from_fn(d, d, |i, j| -b.get(i, j));
            self.add_energy(coordinates.to_vec(), lambda)?;
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

    /// What a stressed spring's Hessian has beyond its stiffness (spherical, planar and free
    /// joints).
    pub(super) fn add_spring_curvature(&mut self, id: JointId) -> Result<(), Singular> {
        let j = self.m.joint(id);
        let Some(spring) = &j.spring else { return Ok(()) };
        if self.prestress.is_none() || j.kind.has_scalar_coordinates() {
            return Ok(());
        }
        let h = forks_dynamics::springs::joint_hessian(self.m, id, self.q);
        let d = j.dof();
        let extra = Matrix::from_fn(d, d, |a, b| h.get(a, b) - spring.stiffness.get(a, b));
        self.add_energy(self.joint_variables(id).as_slice().to_vec(), extra)
    }
}

/// J C_θ Jᵀ.
fn projected_compliance(motion: &ScaledMotion, c: &Matrix) -> Mat6 {
    let mut out = Mat6::ZERO;
    for (a, x) in motion.columns.as_slice().iter().map(|t| t.to_array()).enumerate() {
        for (b, y) in motion.columns.as_slice().iter().map(|t| t.to_array()).enumerate() {
            let s = c[(a, b)];
            for i in 0..6 {
                for j in 0..6 {
                    out.rows[i][j] += s * x[i] * y[j];
                }
            }
        }
    }
    out
}
