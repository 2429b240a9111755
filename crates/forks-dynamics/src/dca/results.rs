//! What a solution holds.

use forks_mechanism::{
    JointId, LinkId,
    lie::{Mat6, SymMat6, Wrench, glam::DMat3},
};

use super::{
    kernel::{block_of, packed_len},
    nodes::Handle,
    plan::DcaPlan,
    workspace::DcaWorkspace,
};

impl DcaWorkspace {
    /// Accelerations of all coordinates after a solution: those of the tree joints first, then
    /// those of the loop-closing joints, in the mechanism's order.
    pub fn accelerations(&self) -> &[f64] {
        &self.acceleration
    }

    /// Accelerations of the tree joints.
    pub fn acceleration(&self, plan: &DcaPlan) -> &[f64] {
        &self.acceleration[..plan.tree_velocities]
    }

    /// The wrench that a joint exerts on its child, in world axes at the joint's point; of a
    /// loop-closing joint these are the multipliers. `None` for a joint inside a body of welded
    /// links.
    ///
    /// In redundant loops it is one choice of many. In a row of joints with massless links between
    /// them all have the wrench of the last, at its point, without the external wrenches on those
    /// links.
    pub fn joint_wrench(&self, plan: &DcaPlan, joint: JointId) -> Option<Wrench> {
        let (c, _) = (*plan.place_of_joint.get(joint.index())?)?;
        let f = Wrench::from_array(self.factors[plan.factor_of[c]?].force);
        Some(if plan.forward[joint.index()] { f } else { -f })
    }

    /// Inverse inertia Φ_ab = J_a M⁻¹ J_bᵀ with all loops closed: the body acceleration of link `a`
    /// per body wrench on link `b`, each in its link's frame at its origin. Both must have been
    /// chosen in [`DcaPlan::with_handles`]; `None` if not. Armature and implicit stiffness are part
    /// of M.
    pub fn handle_inverse_inertia(&self, plan: &DcaPlan, a: LinkId, b: LinkId) -> Option<Mat6> {
        let find = |l: LinkId| plan.chosen.iter().position(|c| c.link == l.index());
        let (ia, ib) = (find(a)?, find(b)?);
        let Some(root) = plan.program.nodes.last() else { return Some(Mat6::ZERO) };
        let handles = plan.program.handles_of(root);
        let at = |k: usize| handles.iter().position(|h| *h == Handle::Chosen(k));
        let (Some(x), Some(y)) = (at(ia), at(ib)) else { return Some(Mat6::ZERO) };
        if x > y {
            // Φ_ab = Φ_baᵀ to the bit.
            return self.handle_inverse_inertia(plan, b, a).map(|m| m.transpose());
        }
        let phi = &self.phi[root.phi..root.phi + packed_len(root.handles)];
        let world = Mat6::from_rows(block_of(phi, root.handles, x, y));
        let turn = |l: LinkId| {
            let r = self.links.rotation[l.index()].transpose();
            let zero = DMat3::ZERO;
            Mat6::from_blocks(r, zero, zero, r)
        };
        let out = turn(a) * world * turn(b).transpose();
        Some(if x == y { SymMat6::symmetric_part(&out).to_mat6() } else { out })
    }
}
