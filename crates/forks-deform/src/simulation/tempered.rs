//! Steps that leave no more energy than there was.
//!
//! Backward Euler gives T(v⁺) + U⁺ = T(v*) + U − T(v⁺ − v*) − R − h v⁺·D v⁺, where R is not
//! negative while the energy is convex along the step, and T is that of the step's start. Two
//! things are not in this balance. The inertia of a skeleton changes along the step, by which T
//! grows by ½ v⁺·(M(q⁺) − M(q)) v⁺; and the forces of inertia in v*, taken at the start, undo that
//! to first order only. So energy may rise by a part (ω h)² of that of turning bones. What rises is
//! taken from the motion relative to the mean rigid one, which changes no momentum.

use forks_dynamics::mechanism::lie::{
    SpatialInertia, Wrench,
    glam::{DMat3, DVec3},
};

use super::{commands::Commands, stepper::SoftSimulation};

impl SoftSimulation {
    /// Kinetic energy; that of tissue, springs, weights and dead forces.
    pub(crate) fn energies(&mut self, commands: &Commands<'_>) -> [f64; 2] {
        let kinetic = self.kinetic();
        [kinetic, self.potential(commands).0]
    }

    /// What rounding makes of energies, which is no rise: of sums over all nodes it grows as the
    /// square root of their number; and places are rounded against the forces that act there.
    pub(crate) fn rounding(&self, now: [f64; 2], most: f64) -> f64 {
        let terms = 4.0 + (self.state.x.len() as f64).sqrt();
        let sums = terms * (now[0] + now[1].abs() + most.abs());
        let size = self.state.x.iter().fold(0.0f64, |s, x| s.max(x.abs().max_element()));
        let force = self.forces.iter().map(|f| f.length_squared()).sum::<f64>().sqrt();
        f64::EPSILON * (sums + size * force)
    }

    /// Slows relative motion by what energy there is, `now`, beyond `most`; the energy after.
    pub(crate) fn temper(&mut self, now: [f64; 2], most: f64) -> [f64; 2] {
        let rise = now[0] + now[1] - most;
        if rise.is_nan() || rise <= self.rounding(now, most) {
            return now;
        }
        let (mean, rotation) = self.mean_motion();
        let (p, l) = self.momentum();
        let relative = now[0] - 0.5 * (p.dot(mean) + l.dot(rotation));
        if relative.is_nan() || relative <= 0.0 {
            return now;
        }
        let s = (1.0 - rise / relative).max(0.0).sqrt();
        for &n in &self.free {
            let rigid = mean + rotation.cross(self.state.x[n]);
            self.state.velocity[n] = rigid + (self.state.velocity[n] - rigid) * s;
        }
        self.state.v.iter_mut().for_each(|v| *v *= s);
        if let Some(root) = self.root {
            // The base has the rest of the mean motion too.
            let pose = self.skeleton.poses[root.link.index()] * root.link_from_joint;
            let back = pose.rotation.conjugate();
            let linear = back * (mean + rotation.cross(pose.translation)) * (1.0 - s);
            let angular = back * rotation * (1.0 - s);
            let twist = linear.to_array().into_iter().chain(angular.to_array());
            self.state.v[root.first..].iter_mut().zip(twist).for_each(|(v, t)| *v += t);
        }
        self.skeleton.move_links(&self.state.v);
        self.carry_nodes();
        [self.kinetic(), now[1]]
    }

    /// Velocity at the world's origin and angular velocity of a rigid body with the momentum and
    /// inertia of all, where the base is free; none where it is not.
    fn mean_motion(&self) -> (DVec3, DVec3) {
        if self.root.is_none() {
            return (DVec3::ZERO, DVec3::ZERO);
        }
        let links = self.skeleton.mechanism.links().iter().zip(&self.skeleton.poses);
        let links = links.map(|(l, pose)| l.inertia.transformed(pose));
        let node =
            |&n: &usize| SpatialInertia::new(self.body.masses[n], self.state.x[n], DMat3::ZERO);
        let all = links.chain(self.free.iter().map(node));
        let whole = all.fold(SpatialInertia::ZERO, |sum, i| sum.combined(&i));
        let (p, l) = self.momentum();
        let mut twist = Wrench::new(p, l).to_array();
        match whole.matrix().ldl() {
            Some(factor) => factor.solve(&mut twist),
            None => return (DVec3::ZERO, DVec3::ZERO),
        }
        (DVec3::new(twist[0], twist[1], twist[2]), DVec3::new(twist[3], twist[4], twist[5]))
    }
}
