//! What a state can be asked.

use forks_mechanism::{LinkId, lie::Pose};

use super::{AdaptiveError, plan::LinkPlace, state::AdaptiveState};

impl AdaptiveState<'_> {
    /// The plan that the state was made for.
    pub fn plan(&self) -> &super::AdaptivePlan {
        self.plan
    }

    /// Positions of all joints in the mechanism's layout; those of loop-closing joints are the
    /// start pose's.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// The approximate accelerations of all coordinates after a solution, zero for what was not
    /// computed; those of loop-closing joints last.
    pub fn accelerations(&self) -> &[f64] {
        &self.acceleration
    }

    /// World pose of a link in its present position: the product of O(log n) poses.
    ///
    /// # Errors
    /// [`AdaptiveError::NoLink`] for a link that does not exist.
    pub fn link_pose(&self, link: LinkId) -> Result<Pose, AdaptiveError> {
        let plan = self.plan;
        let place = plan.links.get(link.index());
        let place = place.ok_or(AdaptiveError::NoLink { link: link.index() })?;
        let (body, in_body) = match *place {
            LinkPlace::Body { body, pose } => (body, pose),
            LinkPlace::Folded { general, part, pose } => {
                let g = &plan.generals[general];
                let in_a = g.far_in_a(part, &self.q, &self.generals[general]) * pose;
                (g.bodies[0], plan.connections[g.connection].handles[0] * in_a)
            }
        };
        let b = &plan.bodies[body];
        let world_from_body = match b.leaf {
            None => Pose::IDENTITY,
            Some(leaf) => self.frames.world_from_node(&plan.layout, leaf) * b.leaf_from_body,
        };
        Ok((world_from_body * in_body).normalized())
    }

    /// Number of redundant directions of all closed loops, and the weakest direction kept, relative
    /// to the inverse inertias that it is a difference of (1 without loops): errors grow with its
    /// inverse. O(n).
    pub fn loop_ranks(&self) -> (usize, f64) {
        let fold = |(n, w): (usize, f64), r: &(u8, f64)| (n + usize::from(r.0), w.min(r.1));
        self.ranks.iter().fold((0, 1.0), fold)
    }
}
