//! Explicit steps: mixed Euler over the skeleton by hybrid dynamics and over the free nodes
//! (\[K08\] §4, Table 5).

use forks_dynamics::mechanism::{
    lie::{Twist, glam::DVec3},
    linalg::{Matrix, Pivots, solve_cholesky, solve_lower, solve_lower_transposed},
};

use super::{
    commands::Commands,
    stepper::{Coordinates, SoftSimulation, StepReport},
    touch::{FreeStep, Inverse, Obstacles, outer, spread},
};
use crate::body::SoftError;

/// Steps of the power iteration for ω_max.
const POWER_STEPS: usize = 200;

impl SoftSimulation {
    pub(crate) fn mixed_euler(
        &mut self,
        h: f64,
        coordinates: Coordinates,
        commands: &Commands<'_>,
        obstacles: Option<&mut (dyn Obstacles + '_)>,
    ) -> Result<StepReport, SoftError> {
        let mut target = self.target_momentum(h, commands);
        let decomposed = self.evaluate_forces(commands);
        self.load_bones();
        self.accelerate_skeleton(commands)?;
        if let Some(obstacles) = obstacles {
            let (p, l) = self.touch_explicitly(h, obstacles)?;
            target = target.map(|t| (t.0 + p, t.1 + l));
        }
        match coordinates {
            Coordinates::Absolute => self.move_absolute(h),
            Coordinates::Relative => self.move_relative(h),
        }
        if let Some(target) = target {
            self.set_momentum(target);
        }
        Ok(StepReport { decomposed, ..StepReport::START })
    }

    /// Changes accelerations by what impulses make of the step; what those add to momentum.
    fn touch_explicitly(
        &mut self,
        h: f64,
        obstacles: &mut dyn Obstacles,
    ) -> Result<(DVec3, DVec3), SoftError> {
        let dof = self.skeleton.dof();
        let mut mass = Matrix::zeros(dof, dof);
        self.skeleton.mass(&self.state.q, &mut mass);
        let active: Vec<usize> = (0..dof).filter(|&k| !self.work.prescribed[k]).collect();
        let part = Matrix::from_fn(active.len(), active.len(), |i, j| mass[(active[i], active[j])]);
        let singular = || SoftError::Matrix("the skeleton: a joint moves no mass".to_owned());
        let factor = part.cholesky(Pivots::ROUNDING).ok_or_else(singular)?;
        let ends = |v: &f64, a: &f64| v + h * a;
        let v: Vec<f64> =
            self.state.v.iter().zip(&self.work.acceleration).map(|(v, a)| ends(v, a)).collect();
        let g = self.gravity();
        let mut nodes = vec![DVec3::ZERO; self.forces.len()];
        for &n in &self.free {
            let a = self.forces[n] / self.body.masses[n] + g;
            nodes[n] = self.state.velocity[n] + a * h;
        }
        let masses = &self.body.masses;
        let explicit = Explicit { dof, active: &active, factor: &factor, free: &self.free, masses };
        let step = FreeStep { h, v: &v, nodes: &nodes, at: self.at(), inverse: &explicit };
        let impulses = obstacles.impulses(&step);
        let (mut on_skeleton, mut on_nodes) = (vec![0.0; dof], vec![DVec3::ZERO; nodes.len()]);
        for (place, impulse) in &impulses {
            spread(self.at(), place, *impulse, (&mut on_skeleton, &mut on_nodes));
        }
        let mut kick: Vec<f64> = active.iter().map(|&k| on_skeleton[k] / h).collect();
        solve_cholesky(factor.as_slice(), active.len(), &mut kick);
        for (&k, a) in active.iter().zip(kick) {
            self.work.acceleration[k] += a;
        }
        for &n in &self.free {
            self.forces[n] += on_nodes[n] / h;
        }
        Ok(outer(self.at(), &impulses))
    }

    /// Dampers, and all forces of nodes in bones as wrenches on links.
    fn load_bones(&mut self) {
        self.skeleton.clear_wrenches();
        for n in 0..self.forces.len() {
            let x = self.state.x[n];
            match self.body.holder[n] {
                Some(link) => self.skeleton.push(link.index(), x, self.forces[n]),
                None if self.options.damping > 0.0 => {
                    // −c ẋ relative to the bone, its reaction on the bone (\[K08\] Eq. 20 with its
                    // sign put right).
                    let bone = self.body.reference[n].index();
                    let relative = self.state.velocity[n] - self.skeleton.velocity(bone, x);
                    let pull = relative * (-self.options.damping * self.body.masses[n]);
                    self.forces[n] += pull;
                    self.skeleton.push(bone, x, -pull);
                }
                None => {}
            }
        }
    }

    fn accelerate_skeleton(&mut self, commands: &Commands<'_>) -> Result<(), SoftError> {
        let w = &mut self.work;
        self.skeleton.passive(&self.state.q, &self.state.v, &mut w.given);
        w.given.iter_mut().zip(commands.forces).for_each(|(g, f)| *g += f);
        w.prescribed.fill(false);
        for &(c, a) in commands.accelerations {
            w.prescribed[c] = true;
            w.given[c] = a;
        }
        self.skeleton.accelerate(
            (&self.state.q, &self.state.v),
            &w.prescribed,
            &w.given,
            self.options.gravity,
            (&mut w.acceleration, &mut w.tau),
        )
    }

    /// v⁺ and q⁺ of the skeleton, and its poses.
    fn move_skeleton(&mut self, h: f64) {
        let w = &mut self.work;
        for (v, a) in self.state.v.iter_mut().zip(&w.acceleration) {
            *v += h * a;
        }
        w.step.iter_mut().zip(&self.state.v).for_each(|(s, v)| *s = h * v);
        self.skeleton.mechanism.integrate(&mut self.state.q, &w.step);
        self.place();
    }

    fn move_absolute(&mut self, h: f64) {
        let g = self.gravity();
        for &n in &self.free {
            let a = self.forces[n] / self.body.masses[n] + g;
            self.state.velocity[n] += a * h;
            self.state.x[n] += self.state.velocity[n] * h;
        }
        self.move_skeleton(h);
    }

    /// Positions and rates of the free nodes in their bones' frames, and their accelerations by
    /// \[K08\] Table 5: q̈ᵢ = Rᵀẍᵢ − ω × (v + ω × pᵢ + 2q̇ᵢ) − v̇ − ω̇ × pᵢ. Forces and the
    /// skeleton's accelerations are known.
    fn particles(&mut self) -> Vec<[DVec3; 3]> {
        let mut accelerations = vec![Twist::ZERO; self.skeleton.poses.len()];
        self.skeleton.link_accelerations(&mut accelerations);
        let g = self.gravity();
        let particle = |&n: &usize| {
            let bone = self.body.reference[n].index();
            let (pose, twist) = (self.skeleton.poses[bone], self.skeleton.twists[bone]);
            let back = pose.rotation.conjugate();
            let (linear, angular) = (back * twist.linear, back * twist.angular);
            let p = back * (self.state.x[n] - pose.translation);
            let absolute = back * self.state.velocity[n];
            let rate = absolute - linear - angular.cross(p);
            let force = back * (self.forces[n] / self.body.masses[n] + g);
            let a = &accelerations[bone];
            [p, rate, force - angular.cross(absolute + rate) - a.linear - a.angular.cross(p)]
        };
        self.free.iter().map(particle).collect()
    }

    fn move_relative(&mut self, h: f64) {
        let particles = self.particles();
        self.move_skeleton(h);
        for (&n, [p, rate, acceleration]) in self.free.iter().zip(particles) {
            let rate = rate + acceleration * h;
            let bone = self.body.reference[n].index();
            let (pose, twist) = (self.skeleton.poses[bone], self.skeleton.twists[bone]);
            let turned = pose.rotation * (p + rate * h);
            self.state.x[n] = pose.translation + turned;
            self.state.velocity[n] =
                twist.linear + twist.angular.cross(turned) + pose.rotation * rate;
        }
    }

    /// Accelerations of the skeleton's coordinates, and of all free nodes relative to their
    /// reference bone in its frame (m/s²; zero for the others), in the state.
    ///
    /// # Errors
    /// Commands that do not fit, no answer of the dynamics.
    pub fn relative_accelerations(
        &mut self,
        commands: &Commands<'_>,
    ) -> Result<(Vec<f64>, Vec<DVec3>), SoftError> {
        let (skeleton, mut nodes) = self.accelerations(commands)?;
        nodes.fill(DVec3::ZERO);
        let particles = self.particles();
        self.free.iter().zip(particles).for_each(|(&n, [_, _, a])| nodes[n] = a);
        Ok((skeleton, nodes))
    }

    /// Accelerations of the skeleton's coordinates and of all free nodes (m/s², world axes; zero
    /// for the others) in the state.
    ///
    /// # Errors
    /// Commands that do not fit, no answer of the dynamics.
    pub fn accelerations(
        &mut self,
        commands: &Commands<'_>,
    ) -> Result<(Vec<f64>, Vec<DVec3>), SoftError> {
        self.evaluate_forces(commands);
        self.load_bones();
        self.accelerate_skeleton(commands)?;
        let g = self.gravity();
        let mut nodes = vec![DVec3::ZERO; self.forces.len()];
        for &n in &self.free {
            nodes[n] = self.forces[n] / self.body.masses[n] + g;
        }
        Ok((self.work.acceleration.clone(), nodes))
    }

    /// The longest stable explicit step in the state, s: 2/ω_max of the free nodes with the bones
    /// held, by power iteration. Never above the true limit by more than a few percent.
    pub fn explicit_step_limit(&mut self) -> f64 {
        use crate::curvature::Curvature;
        let k = self.border.stiffness(&self.body.elastic, &self.state.x, Curvature::Exact);
        let mut rng = forks_dynamics::mechanism::lie::SplitMix64::new(1);
        let nodes = self.state.x.len();
        let mut u = vec![DVec3::ZERO; nodes];
        self.free.iter().for_each(|&n| u[n] = rng.direction());
        let (mut w, mut square) = (u.clone(), 0.0);
        for _ in 0..POWER_STEPS {
            let size = u.iter().map(|u| u.length_squared()).sum::<f64>().sqrt();
            if size.is_nan() || size <= 0.0 {
                break;
            }
            u.iter_mut().for_each(|u| *u /= size);
            // M^{-1/2} K M^{-1/2}, so that the largest eigenvalue is ω².
            let root = |n: usize| self.body.masses[n].sqrt();
            let mut scaled = u.clone();
            self.free.iter().for_each(|&n| scaled[n] /= root(n));
            k.multiply(&scaled, &mut w);
            u.fill(DVec3::ZERO);
            self.free.iter().for_each(|&n| u[n] = w[n] / root(n));
            square = u.iter().map(|u| u.length_squared()).sum::<f64>().sqrt();
        }
        if square > 0.0 { 2.0 / f64::sqrt(square) } else { f64::INFINITY }
    }
}

/// Masses of the free nodes, and the skeleton's mass matrix of its active coordinates, factorised.
struct Explicit<'a> {
    dof: usize,
    active: &'a [usize],
    factor: &'a Matrix,
    free: &'a [usize],
    masses: &'a [f64],
}

impl Inverse for Explicit<'_> {
    fn half(&self, skeleton: &[f64], nodes: &[DVec3]) -> Vec<f64> {
        let mut z: Vec<f64> = self.active.iter().map(|&k| skeleton[k]).collect();
        solve_lower(self.factor.as_slice(), self.active.len(), &mut z);
        let of = |&n: &usize| (nodes[n] / self.masses[n].sqrt()).to_array();
        z.extend(self.free.iter().flat_map(of));
        z
    }

    fn other_half(&self, mut half: Vec<f64>) -> (Vec<f64>, Vec<DVec3>) {
        let (z, y) = half.split_at_mut(self.active.len());
        solve_lower_transposed(self.factor.as_slice(), z.len(), z);
        let (mut v, mut moved) = (vec![0.0; self.dof], vec![DVec3::ZERO; self.masses.len()]);
        self.active.iter().zip(z).for_each(|(&k, z)| v[k] = *z);
        for (&n, y) in self.free.iter().zip(y.chunks_exact(3)) {
            moved[n] = DVec3::new(y[0], y[1], y[2]) / self.masses[n].sqrt();
        }
        (v, moved)
    }
}
