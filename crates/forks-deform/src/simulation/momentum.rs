//! Momentum of skeleton and tissue, and a step's correction of it by the twist of a free root.

use forks_dynamics::mechanism::lie::{SpatialInertia, Wrench, glam::DVec3};

use super::{
    commands::Commands,
    stepper::{Momentum, SoftSimulation},
};
use crate::skeleton::WorldWrench;

impl SoftSimulation {
    /// Momentum (N·s) and moment of momentum about the world's origin (N·m·s) of skeleton and
    /// tissue.
    pub fn momentum(&self) -> (DVec3, DVec3) {
        let (mut p, mut l) = self.skeleton.momentum();
        for &n in &self.free {
            let own = self.state.velocity[n] * self.body.masses[n];
            p += own;
            l += self.state.x[n].cross(own);
        }
        (p, l)
    }

    /// Momentum at the end of a step of `h` that begins in the state, where the root can be set.
    pub(crate) fn target_momentum(&self, h: f64, commands: &Commands<'_>) -> Option<WorldWrench> {
        let root = self.root.filter(|_| self.options.momentum == Momentum::Projected)?;
        let coordinates = root.first..root.first + 6;
        if commands.accelerations.iter().any(|(c, _)| coordinates.contains(c)) {
            return None;
        }
        let (mut p, mut l) = self.momentum();
        let g = self.gravity();
        if g != DVec3::ZERO {
            for (link, pose) in self.skeleton.mechanism.links().iter().zip(&self.skeleton.poses) {
                let weight = g * (link.inertia.mass * (1.0 - link.gravity_compensation));
                p += weight * h;
                l += pose.transform_point(link.inertia.center_of_mass).cross(weight) * h;
            }
            for &n in &self.free {
                let weight = g * self.body.masses[n];
                p += weight * h;
                l += self.state.x[n].cross(weight) * h;
            }
        }
        for (x, f) in self.state.x.iter().zip(commands.node_forces) {
            p += *f * h;
            l += x.cross(*f) * h;
        }
        if !commands.forces.is_empty() {
            let f: [f64; 6] = std::array::from_fn(|i| commands.forces[root.first + i]);
            let pose = self.skeleton.poses[root.link.index()] * root.link_from_joint;
            let force = pose.rotation * DVec3::new(f[0], f[1], f[2]);
            let torque = pose.rotation * DVec3::new(f[3], f[4], f[5]);
            p += force * h;
            l += (torque + pose.translation.cross(force)) * h;
        }
        Some((p, l))
    }

    /// Sets the root's twist such that momentum is `target`, and moves the nodes in bones with it.
    /// Positions are those of the state, for which the skeleton is placed.
    pub(crate) fn set_momentum(&mut self, target: WorldWrench) {
        let Some(root) = self.root else { return };
        let (p, l) = self.momentum();
        let (dp, dl) = (target.0 - p, target.1 - l);
        let pose = self.skeleton.poses[root.link.index()] * root.link_from_joint;
        let from_world = pose.inverse();
        let links = self.skeleton.mechanism.links().iter().zip(&self.skeleton.poses);
        let whole = links.fold(SpatialInertia::ZERO, |sum, (link, pose)| {
            sum.combined(&link.inertia.transformed(&(from_world * *pose)))
        });
        let back = pose.rotation.conjugate();
        let mut twist = Wrench::new(back * dp, back * (dl - pose.translation.cross(dp))).to_array();
        // Links without mass alone have no twist that could be set.
        let Some(factor) = whole.matrix().ldl() else { return };
        factor.solve(&mut twist);
        for (v, t) in self.state.v[root.first..].iter_mut().zip(twist) {
            *v += t;
        }
        self.skeleton.move_links(&self.state.v);
        self.carry_nodes();
    }
}
