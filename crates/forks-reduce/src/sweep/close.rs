//! Merge and loop closure: a joint between two live links conditions the frontier; bushings and
//! cables inform it.

use forks_mechanism::{
    Joint, LinkId,
    lie::{Adjoint, Wrench},
    linalg::Matrix,
};

use super::{Op, Sweep, columns_matrix, link_variables};
use crate::{
    frontier::{Rows, Singular},
    motion::{ScaledMotion, scale_pose, scale_twist, scale_wrench},
    prestress::{bracket_form, bushing_adjoints},
};

/// The rows of a closure along the wrenches that its joint still passes on; lengths in units of
/// `r`.
fn held(j: &Joint, r: f64, rows: Rows) -> Rows {
    let wrenches: Vec<[f64; 6]> = j
        .held_wrenches()
        .into_iter()
        .map(|w| {
            let w = Wrench::new(w.force * r, w.torque).to_array();
            let length = w.iter().map(|x| x * x).sum::<f64>().sqrt();
            w.map(|x| x / length)
        })
        .collect();
    let left = Matrix::from_fn(wrenches.len(), 6, |i, k| wrenches[i][k]);
    Rows { matrix: left.mul(&rows.matrix), variables: rows.variables }
}

impl Sweep<'_> {
    /// Loop closure: E⁻¹-corrected ξ_c − Ad ξ_p − J θ = 0.
    pub(super) fn close(&mut self, closure: usize) -> Result<(), Singular> {
        let id = self.m.forest().closures()[closure];
        let j = self.m.joint(id);
        let qj = &self.q[self.m.position_range(id)];
        let expected = self.world_from_link[j.parent.index()] * j.parent_from_child(qj);
        // Where the loop is open, the joint's side is carried over to the child's frame by the gap.
        let child_from_expected = self.world_from_link[j.child.index()].inverse() * expected;
        let ad_gap = child_from_expected.adjoint();
        let child_from_parent = child_from_expected * j.parent_from_child(qj).inverse();
        let ad = scale_pose(&child_from_parent, self.r).adjoint();
        let motion = ScaledMotion {
            ad,
            columns: j.columns(qj).map(|c| scale_twist(ad_gap.apply(c), self.r)),
            velocities: self.m.velocity_range(id),
        };
        let coordinates = self.joint_variables(id);
        let coordinates = coordinates.as_slice();
        self.tape.push(Op::Close(id));
        // Held until the closure's own terms are in.
        coordinates.iter().for_each(|&v| self.uses[v as usize] += 1);
        let compliance = &self.compliance[id.index()];
        self.frontier.add_independent(coordinates, &compliance.compliance, &compliance.free);
        let mut rows = Rows::zero(6);
        if j.child != LinkId::WORLD {
            rows = rows.plus(1.0, &Matrix::identity(6), &link_variables(j.child));
        }
        if j.parent != LinkId::WORLD {
            rows = rows.plus(-1.0, &ad.matrix().into(), &link_variables(j.parent));
        }
        rows = rows.plus(-1.0, &columns_matrix(&motion), coordinates);
        if !j.released.is_empty() {
            rows = held(j, self.r, rows);
        }
        self.condition(rows)?;
        self.add_closure_terms(closure, &motion)?;
        self.release_link(j.parent);
        self.release_link(j.child);
        self.release(coordinates);
        Ok(())
    }

    /// ½ λᵀ ad_{Ad ξ_p} ξ_c and the closing joint's curvature, λ the wrench on the child.
    fn add_closure_terms(&mut self, closure: usize, motion: &ScaledMotion) -> Result<(), Singular> {
        let m = self.m;
        let Some(p) = &self.prestress else { return Ok(()) };
        let id = m.forest().closures()[closure];
        let j = m.joint(id);
        let w = p.closure_wrench[closure];
        self.add_spring_curvature(id)?;
        if j.parent != LinkId::WORLD && j.child != LinkId::WORLD {
            let form = bracket_form(w, &motion.ad, &Adjoint::IDENTITY);
            self.add_bilinear(j.parent, j.child, &form)?;
        }
        let qj = &self.q[self.m.position_range(id)];
        let unscaled = Wrench::new(w.force / self.r, w.torque);
        if let Some(b) = j.curvature(qj, unscaled) {
            let d = b.dof();
            let coordinates = self.joint_variables(id).as_slice().to_vec();
            self.add_energy(coordinates, Matrix::from_fn(d, d, |i, k| b.get(i, k)))?;
        }
        Ok(())
    }

    /// A cable that is taut: a spring along the gradient of its length and, at loaded poses, what
    /// its tension adds.
    pub(super) fn add_cable(&mut self, i: usize) -> Result<(), Singular> {
        let path = self.m.cables()[i].length_and_hessian(&self.world_from_link);
        let tension = self.m.cables()[i].tension(path.length);
        if tension.stiffness > 0.0 {
            let mut row = Rows::zero(1);
            for (&link, g) in path.links.iter().zip(&path.gradient) {
                let g = scale_wrench(*g, self.r).to_array();
                let g = Matrix::from_fn(1, 6, |_, k| g[k]);
                row = row.plus(1.0, &g, &link_variables(link));
            }
            let k = Matrix::from_fn(1, 1, |_, _| tension.stiffness);
            self.add_spring_energy(row, &k)?;
        }
        if self.prestress.is_some() && tension.force != 0.0 {
            let r = |k: usize| if k % 6 < 3 { self.r } else { 1.0 };
            let n = 6 * path.links.len();
            let entry = |a: usize, b: usize| tension.force * path.hessian[(a, b)] * r(a) * r(b);
            let form = Matrix::from_fn(n, n, entry);
            let variables = path.links.iter().flat_map(|&l| link_variables(l)).collect();
            self.add_energy(variables, form)?;
        }
        path.links.iter().for_each(|&l| self.release_link(l));
        Ok(())
    }

    pub(super) fn add_bushing(&mut self, i: usize) -> Result<(), Singular> {
        let b = &self.m.bushings()[i];
        let (from_a, from_b) = bushing_adjoints(b, &self.world_from_link, self.r);
        let mut rows = Rows::zero(6);
        if b.link_b != LinkId::WORLD {
            rows = rows.plus(1.0, &from_b.matrix().into(), &link_variables(b.link_b));
        }
        if b.link_a != LinkId::WORLD {
            rows = rows.plus(-1.0, &from_a.matrix().into(), &link_variables(b.link_a));
        }
        let k = match &self.prestress {
            None => b.stiffness,
            Some(_) => {
                forks_dynamics::springs::bushing_gradient_and_hessian(b, &self.world_from_link).1
            }
        };
        // Stiffness against dimensionless relative twists.
        let r = |i: usize| if i < 3 { self.r } else { 1.0 };
        let lambda = Matrix::from_fn(6, 6, |i, j| k.get(i, j) * r(i) * r(j));
        self.add_spring_energy(rows, &lambda)?;
        let gradient = self.prestress.as_ref().map(|p| p.bushing_gradient[i]);
        if let Some(g) = gradient.filter(|_| b.link_a != LinkId::WORLD && b.link_b != LinkId::WORLD)
        {
            // Relative twist ζ = ξ_b − ξ_a − ½[ξ_a, ξ_b] + …
            self.add_bilinear(b.link_a, b.link_b, &-bracket_form(g, &from_a, &from_b))?;
        }
        self.release_link(b.link_a);
        self.release_link(b.link_b);
        Ok(())
    }
}
