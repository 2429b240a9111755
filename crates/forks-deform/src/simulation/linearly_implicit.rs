//! Linearly implicit Euler over skeleton and tissue: one linear system per step,
//!
//! (M + h D + h² K) v⁺ = M v + h f(q, x; without dampers), q⁺ = q ⊞ h v⁺, x⁺ = x + h v⁺,
//!
//! K the projected stiffness of the tissue, and springs and loads of the skeleton with the turning
//! of the forces of nodes in bones. Where those make the matrix indefinite they are left out.

use forks_dynamics::{
    Loads,
    mechanism::{
        lie::glam::{DMat3, DVec3},
        linalg::Matrix,
    },
};

use super::{
    border::Terms,
    commands::Commands,
    prepared::{Prepared, StepResponse},
    stepper::{SoftSimulation, StepReport, Stepper},
    touch::{FreeStep, Obstacles, Place, outer, relative, spread},
};
use crate::{body::SoftError, curvature::Curvature, sparse::NotPositive};

impl SoftSimulation {
    /// How the next linearly implicit step of `h` seconds answers to forces on the skeleton's
    /// coordinates beside `commands`, as long as it is not divided, and before momentum of a free
    /// root is corrected. The state stays; a step from it with the same `h`, forces on nodes and
    /// prescribed coordinates uses the matrix again.
    ///
    /// # Errors
    /// Another scheme; as [`step`](Self::step).
    pub fn response(&mut self, h: f64, commands: &Commands<'_>) -> Result<StepResponse, SoftError> {
        if self.options.stepper != Stepper::LinearlyImplicit {
            return Err(SoftError::NoResponse);
        }
        self.check(h, commands)?;
        let prepared = self.prepare(h, commands)?;
        let mut free = self.right(&prepared, commands);
        self.prescribe(h, commands, &mut free);
        let mut nodes = prepared.nodes.clone();
        self.border.solve(&mut free, &mut nodes);
        self.border.prepared = Some(prepared);
        let mut gain = self.border.inverse();
        gain.as_mut_slice().iter_mut().for_each(|g| *g *= h);
        let all = free.iter().chain(gain.as_slice());
        match all.enumerate().find(|(_, x)| !x.is_finite()) {
            None => Ok(StepResponse { free, gain }),
            Some((index, &value)) => {
                Err(SoftError::NotFinite { what: "the answer of the step,", index, value })
            }
        }
    }

    /// Forces, inertia and the matrix of a step from the state, factorised; those of the last
    /// response where they are of this step.
    fn prepare(&mut self, h: f64, commands: &Commands<'_>) -> Result<Prepared, SoftError> {
        let dof = self.skeleton.dof();
        let mut prescribed = vec![false; dof];
        commands.accelerations.iter().for_each(|(c, _)| prescribed[*c] = true);
        let known = self.border.prepared.take().filter(|p| {
            p.h == h
                && p.prescribed == prescribed
                && p.node_forces == commands.node_forces
                && p.state == self.state
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let decomposed = self.evaluate_forces(commands);
        let (mut mass, mut damping) = (Matrix::zeros(dof, dof), Matrix::zeros(dof, dof));
        self.skeleton.mass(&self.state.q, &mut mass);
        self.skeleton.damping(&self.state.q, &mut damping);
        // Right sides.
        let forces = self.skeleton_forces();
        let impulse = mass.mul_vec(&self.state.v);
        let g = self.gravity();
        let mut nodes = vec![DVec3::ZERO; self.forces.len()];
        for &n in &self.free {
            let m = self.body.masses[n];
            nodes[n] = self.state.velocity[n] * m + (self.forces[n] + g * m) * h;
        }
        // The matrix.
        let motion = self.motion();
        self.border.stiffness(&self.body.elastic, &self.state.x, Curvature::Projected);
        let rate = self.options.damping;
        let diagonal: Vec<f64> = self.body.masses.iter().map(|m| m * (1.0 + h * rate)).collect();
        let dampers = self.damper_weights(h);
        let terms = Terms { scale: h * h, diagonal: &diagonal, dampers: &dampers, motion: &motion };
        self.border.eliminate(&terms).map_err(at_node)?;
        let own = mass.plus_scaled(h, &damping);
        self.work.prescribed.copy_from_slice(&prescribed);
        self.complete(&own, h * h)?;
        let (state, node_forces) = (self.state.clone(), commands.node_forces.to_vec());
        Ok(Prepared { h, state, node_forces, prescribed, impulse, forces, nodes, decomposed })
    }

    /// The skeleton's right side of a step, M v + h f.
    fn right(&self, p: &Prepared, commands: &Commands<'_>) -> Vec<f64> {
        let force = |k: usize| p.forces[k] + commands.forces.get(k).copied().unwrap_or(0.0);
        p.impulse.iter().enumerate().map(|(k, i)| i + p.h * force(k)).collect()
    }

    /// The step, and the work of forces, of prescribed motion and of impulses in it, J.
    pub(crate) fn linearly_implicit(
        &mut self,
        h: f64,
        commands: &Commands<'_>,
        obstacles: Option<&mut (dyn Obstacles + '_)>,
    ) -> Result<(StepReport, f64), SoftError> {
        let mut target = self.target_momentum(h, commands);
        let prepared = self.prepare(h, commands)?;
        let dof = self.skeleton.dof();
        let mut right = self.right(&prepared, commands);
        let free = right.clone();
        self.prescribe(h, commands, &mut right);
        let Prepared { mut nodes, decomposed, .. } = prepared;
        let (mut v, mut moved) = (right.clone(), nodes.clone());
        self.border.solve(&mut v, &mut moved);
        let mut work = 0.0;
        if let Some(obstacles) = obstacles {
            let impulses = self.touched(h, (&v, &moved), obstacles);
            let (p, l) = outer(self.at(), &impulses);
            target = target.map(|t| (t.0 + p, t.1 + l));
            for (place, impulse) in &impulses {
                spread(self.at(), place, *impulse, (&mut right, &mut nodes));
            }
            self.prescribe(h, commands, &mut right);
            (v, moved) = (right.clone(), nodes);
            self.border.solve(&mut v, &mut moved);
            let by = |(p, i): &(Place, DVec3)| i.dot(relative(self.at(), p, (&v, &moved)));
            work += impulses.iter().map(by).sum::<f64>();
        }
        work += commands.forces.iter().zip(&v).map(|(f, v)| h * f * v).sum::<f64>();
        for k in (0..dof).filter(|&k| self.work.prescribed[k]) {
            work += self.border.reaction(k, &v, free[k]) * v[k];
        }
        // The step.
        for &n in &self.free {
            self.state.velocity[n] = moved[n];
            self.state.x[n] += moved[n] * h;
        }
        self.state.v.copy_from_slice(&v);
        let step: Vec<f64> = v.iter().map(|v| h * v).collect();
        self.skeleton.mechanism.integrate(&mut self.state.q, &step);
        self.place();
        if let Some(target) = target {
            self.set_momentum(target);
        }
        let report =
            StepReport { decomposed, newton: 1, factorisations: 1, steps: 1, ..StepReport::START };
        Ok((report, work))
    }

    /// Impulses for a step that would end with these velocities; the border is that of the step.
    fn touched(
        &self,
        h: f64,
        (v, nodes): (&[f64], &[DVec3]),
        obstacles: &mut dyn Obstacles,
    ) -> Vec<(Place, DVec3)> {
        obstacles.impulses(&FreeStep { h, v, nodes, at: self.at(), inverse: &self.border })
    }

    /// Forces on the skeleton's coordinates of springs, weights, inertia and nodes in bones; the
    /// nodes' forces have been evaluated.
    pub(crate) fn skeleton_forces(&mut self) -> Vec<f64> {
        let dof = self.skeleton.dof();
        let (mut out, mut bias) = (vec![0.0; dof], vec![0.0; dof]);
        self.skeleton.springs(&self.state.q, &mut out);
        let (q, v) = (&self.state.q, &self.state.v);
        self.skeleton.bias(q, v, self.options.gravity, &mut bias);
        out.iter_mut().zip(&bias).for_each(|(f, b)| *f -= b);
        self.load_held_nodes();
        self.skeleton.pull_back(&mut out);
        out
    }

    /// Forces of the tissue in the state: on the skeleton's coordinates, N or N·m, and on all
    /// nodes, N, world axes.
    pub fn tissue_forces(&mut self) -> (Vec<f64>, Vec<DVec3>) {
        self.evaluate_forces(&Commands::default());
        self.load_held_nodes();
        let mut out = vec![0.0; self.skeleton.dof()];
        self.skeleton.pull_back(&mut out);
        (out, self.forces.clone())
    }

    /// Forces of the nodes in bones as wrenches.
    pub(crate) fn load_held_nodes(&mut self) {
        self.skeleton.clear_wrenches();
        for (n, holder) in self.body.holder.iter().enumerate() {
            if let Some(link) = holder {
                self.skeleton.push(link.index(), self.state.x[n], self.forces[n]);
            }
        }
    }

    /// Velocities at the end of the step where they are prescribed, in place of right sides.
    pub(crate) fn prescribe(&mut self, h: f64, commands: &Commands<'_>, right: &mut [f64]) {
        self.work.prescribed.fill(false);
        for &(c, a) in commands.accelerations {
            self.work.prescribed[c] = true;
            right[c] = self.state.v[c] + h * a;
        }
    }

    /// Velocities of nodes per coordinate: of those in bones, and of reference bones where there
    /// are dampers.
    pub(crate) fn motion(&self) -> Vec<Vec<DVec3>> {
        let mut out = vec![vec![DVec3::ZERO; self.state.x.len()]; self.skeleton.dof()];
        for (n, holder) in self.body.holder.iter().enumerate() {
            let damped = (self.options.damping > 0.0).then_some(self.body.reference[n]);
            if let Some(link) = holder.or(damped) {
                for &k in self.skeleton.coordinates(link.index()) {
                    out[k][n] = self.skeleton.column(k, self.state.x[n]);
                }
            }
        }
        out
    }

    /// h c₀ m of free nodes; empty without dampers.
    pub(crate) fn damper_weights(&self, h: f64) -> Vec<f64> {
        let c = h * self.options.damping;
        if c == 0.0 {
            return Vec::new();
        }
        let part = |(m, holder): (&f64, &Option<_>)| if holder.is_some() { 0.0 } else { c * m };
        self.body.masses.iter().zip(&self.body.holder).map(part).collect()
    }

    /// Completes the border with the skeleton's own matrix and `scale` times its stiffness: with
    /// loads and the turning of the nodes' forces if that is positive definite, else with springs,
    /// else without.
    pub(crate) fn complete(&mut self, own: &Matrix, scale: f64) -> Result<(), SoftError> {
        if self.complete_exactly(own, scale, None) {
            return Ok(());
        }
        self.complete_roughly(own, scale, None)
    }

    /// The first of these alone, in other coordinates with a map, K → mapᵀ K map; false where it is
    /// not positive definite.
    pub(crate) fn complete_exactly(
        &mut self,
        own: &Matrix,
        scale: f64,
        map: Option<&Matrix>,
    ) -> bool {
        let mut matrix = own.clone();
        if self.skeleton.dof() > 0 {
            let loads = if self.options.gravity { Loads::gravity() } else { Loads::none() };
            let loaded = self.skeleton.stiffness(&self.state.q, &loads);
            let loaded = loaded.plus_scaled(1.0, &self.turning());
            matrix = own.plus_scaled(scale, &mapped(&loaded, map));
        }
        self.border.complete(&matrix, &self.work.prescribed).is_some()
    }

    /// The others.
    pub(crate) fn complete_roughly(
        &mut self,
        own: &Matrix,
        scale: f64,
        map: Option<&Matrix>,
    ) -> Result<(), SoftError> {
        if self.skeleton.dof() > 0 {
            let springs = self.skeleton.stiffness(&self.state.q, &Loads::none());
            let matrix = own.plus_scaled(scale, &mapped(&springs, map));
            if self.border.complete(&matrix, &self.work.prescribed).is_some() {
                return Ok(());
            }
        }
        self.border.complete(own, &self.work.prescribed).ok_or_else(at_skeleton)
    }

    /// What the forces of nodes in bones add to the skeleton's stiffness as bones turn: −f·∂²x/∂q²
    /// with ∂c_l/∂θ_k = ω_k × c_l for k inward of l, the mean of both orders within a joint whose
    /// velocities are body twists.
    fn turning(&self) -> Matrix {
        let dof = self.skeleton.dof();
        let mut out = Matrix::zeros(dof, dof);
        let links = self.skeleton.poses.len();
        // F and Σ x fᵀ of every link.
        let mut sums = vec![(DVec3::ZERO, DMat3::ZERO, false); links];
        for (n, holder) in self.body.holder.iter().enumerate() {
            if let Some(link) = holder {
                let (x, f) = (self.state.x[n], self.forces[n]);
                let s = &mut sums[link.index()];
                s.0 += f;
                s.1 += DMat3::from_cols(x * f.x, x * f.y, x * f.z);
                s.2 = true;
            }
        }
        let m = &self.skeleton.mechanism;
        let group = |k: usize| {
            let owner = m.velocity_owner(k).joint;
            (!m.joint(owner).kind.has_scalar_coordinates()).then_some(owner)
        };
        for (l, (force, outer, any)) in sums.iter().enumerate() {
            if !any {
                continue;
            }
            let trace = outer.x_axis.x + outer.y_axis.y + outer.z_axis.z;
            let path = self.skeleton.coordinates(l);
            // −f · (ω_k × c_j) = −ω_k · Σ (a_j + ω_j × x) × f.
            let term = |k: usize, j: usize| {
                let ((_, w), (a, turn)) = (self.skeleton.screw(k), self.skeleton.screw(j));
                -w.dot(a.cross(*force) + *outer * turn - turn * trace)
            };
            for (i, &k) in path.iter().enumerate() {
                for &j in &path[i..] {
                    let within = group(k).is_some() && group(k) == group(j);
                    let value = if within { 0.5 * (term(k, j) + term(j, k)) } else { term(k, j) };
                    out[(k, j)] += value;
                    if j != k {
                        out[(j, k)] += value;
                    }
                }
            }
        }
        out
    }

    /// The matrix of the last implicit step.
    pub fn border(&self) -> &super::Border {
        &self.border
    }
}

/// mapᵀ K map.
fn mapped(k: &Matrix, map: Option<&Matrix>) -> Matrix {
    map.map_or_else(|| k.clone(), |m| m.transpose_mul(&k.mul(m)))
}

pub(crate) fn at_node(e: NotPositive) -> SoftError {
    SoftError::Matrix(format!("node {} (pivot {:e})", e.node, e.pivot))
}

fn at_skeleton() -> SoftError {
    SoftError::Matrix("the skeleton: a joint moves no mass, or a number is not finite".to_owned())
}
