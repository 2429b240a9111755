//! Backward Euler as a minimum: over the velocities v⁺ of skeleton and free nodes,
//!
//! ½ ‖v_n⁺ − v_n‖²_m + ½ ‖v_s⁺ − v_s*‖²_M + ½ h dampers(v⁺) + U(q ⊞ h v_s⁺, x + h v_n⁺),
//!
//! v_s* = v_s + h M⁻¹(commands − Coriolis), M and dampers those of the step's start; U the energy
//! of tissue, springs, weights and dead forces. Projected Newton with Armijo's rule; what is left
//! of the gradient over h is the certificate, in N and N·m.

use forks_dynamics::mechanism::{
    JointId,
    lie::glam::DVec3,
    linalg::{Matrix, Pivots},
};

use super::{
    border::Terms,
    commands::Commands,
    linearly_implicit::at_node,
    state::SoftState,
    stepper::{SoftSimulation, StepReport, StepStatus},
};
use crate::{body::SoftError, curvature::Curvature};

/// Newton steps at most.
const NEWTON: usize = 100;

/// Halvings of a step at most.
const CUTS: usize = 40;

/// Part of the predicted fall that Armijo asks for.
const ARMIJO: f64 = 1e-4;

/// What a step begins with.
struct Start {
    state: SoftState,
    mass: Matrix,
    damping: Matrix,
    /// v_s*.
    aim: Vec<f64>,
    /// Velocities of nodes per coordinate, of dampers.
    motion: Vec<Vec<DVec3>>,
    dampers: Vec<f64>,
    h: f64,
}

impl SoftSimulation {
    pub(crate) fn backward_euler(
        &mut self,
        h: f64,
        tolerance: f64,
        commands: &Commands<'_>,
    ) -> Result<StepReport, SoftError> {
        if !self.body.elastic.material().is_conservative() {
            return Err(SoftError::NoEnergy);
        }
        if tolerance.is_nan() || tolerance <= 0.0 {
            return Err(SoftError::NotPositive { what: "the tolerance", value: tolerance });
        }
        let target = self.target_momentum(h, commands);
        let before: f64 = self.energies(commands).iter().sum();
        let start = self.begin(h, commands)?;
        let mut report = StepReport::START;
        // Where a step without forces would end.
        let mut v = start.state.v.clone();
        let mut given = v.clone();
        self.prescribe(h, commands, &mut given);
        for k in 0..v.len() {
            if self.work.prescribed[k] {
                v[k] = given[k];
            }
        }
        let mut nodes = start.state.velocity.clone();
        let mut value = self.incremental(&start, &v, &nodes, commands);
        loop {
            report.decomposed = self.evaluate_forces(commands);
            let (map, motion) = self.chart(&start);
            let (g, gn) = self.gradient(&start, map.as_ref(), &v, &nodes);
            let most = gn.iter().map(|g| g.length()).fold(0.0, f64::max);
            let most = g.iter().fold(most, |m, g| m.max(g.abs()));
            report.residual = most / h;
            let scale = self.forces.iter().map(|f| f.length()).fold(0.0, f64::max);
            let weight =
                self.gravity().length() * self.body.masses.iter().fold(0.0, |m, x| x.max(m));
            if report.residual <= tolerance * (scale + weight) {
                break;
            }
            if report.newton == NEWTON {
                report.status = StepStatus::IterationLimit;
                break;
            }
            let (mut ds, mut dn) = (g.iter().map(|g| -g).collect::<Vec<_>>(), gn.clone());
            dn.iter_mut().for_each(|d| *d = -*d);
            self.newton_direction(&start, map.as_ref(), &motion, (&mut ds, &mut dn))?;
            report.newton += 1;
            report.factorisations += 1;
            let slope: f64 = g.iter().zip(&ds).map(|(g, d)| g * d).sum::<f64>()
                + self.free.iter().map(|&n| gn[n].dot(dn[n])).sum::<f64>();
            let mut t = 1.0;
            let mut cuts = 0;
            let (next, vs, vn) = loop {
                let vs: Vec<f64> = v.iter().zip(&ds).map(|(v, d)| v + t * d).collect();
                let mut vn = nodes.clone();
                self.free.iter().for_each(|&n| vn[n] += dn[n] * t);
                let next = self.incremental(&start, &vs, &vn, commands);
                let rounding = 64.0 * f64::EPSILON * (next.1 + value.1);
                if next.0 <= value.0 + ARMIJO * t * slope + rounding || cuts == CUTS {
                    break (next, vs, vn);
                }
                t *= 0.5;
                cuts += 1;
            };
            report.line_search_cuts += cuts;
            if cuts == CUTS {
                // Nothing lower is found along a direction of descent: rounding is reached.
                self.incremental(&start, &v, &nodes, commands);
                report.status = StepStatus::IterationLimit;
                break;
            }
            (value, v, nodes) = (next, vs, vn);
        }
        for &n in &self.free {
            self.state.velocity[n] = nodes[n];
        }
        self.state.v.copy_from_slice(&v);
        self.place();
        if let Some(target) = target {
            self.set_momentum(target);
        }
        if commands.accelerations.is_empty() {
            let work: f64 = commands.forces.iter().zip(&v).map(|(f, v)| h * f * v).sum();
            let now = self.energies(commands);
            self.temper(now, before + work);
        }
        Ok(report)
    }

    fn begin(&mut self, h: f64, commands: &Commands<'_>) -> Result<Start, SoftError> {
        let dof = self.skeleton.dof();
        let (mut mass, mut damping) = (Matrix::zeros(dof, dof), Matrix::zeros(dof, dof));
        self.skeleton.mass(&self.state.q, &mut mass);
        self.skeleton.damping(&self.state.q, &mut damping);
        let mut bias = vec![0.0; dof];
        self.skeleton.bias(&self.state.q, &self.state.v, false, &mut bias);
        let mut force: Vec<f64> = bias.iter().map(|b| -b).collect();
        force.iter_mut().zip(commands.forces).for_each(|(f, c)| *f += c);
        let singular = || SoftError::Matrix("the skeleton: a joint moves no mass".to_owned());
        let kick = mass.solve_vec(&force, Pivots::AboveZero).ok_or_else(singular)?;
        let aim = self.state.v.iter().zip(kick).map(|(v, a)| v + h * a).collect();
        Ok(Start {
            state: self.state.clone(),
            mass,
            damping,
            aim,
            motion: self.motion(),
            dampers: self.damper_weights(h),
            h,
        })
    }

    /// Puts the state where velocities lead, and gives the function to be minimised with the sum of
    /// its parts' sizes.
    fn incremental(
        &mut self,
        start: &Start,
        v: &[f64],
        nodes: &[DVec3],
        commands: &Commands<'_>,
    ) -> (f64, f64) {
        let h = start.h;
        let step: Vec<f64> = v.iter().map(|v| h * v).collect();
        self.state.q.copy_from_slice(&start.state.q);
        self.skeleton.mechanism.integrate(&mut self.state.q, &step);
        self.state.v.copy_from_slice(v);
        for &n in &self.free {
            self.state.x[n] = start.state.x[n] + nodes[n] * h;
        }
        self.place();
        let change: Vec<f64> = v.iter().zip(&start.aim).map(|(v, a)| v - a).collect();
        let power = |m: &Matrix, x: &[f64]| -> f64 {
            0.5 * m.mul_vec(x).iter().zip(x).map(|(a, b)| a * b).sum::<f64>()
        };
        let mut inertia = power(&start.mass, &change) + h * power(&start.damping, v);
        for &n in &self.free {
            let m = self.body.masses[n];
            inertia += 0.5 * m * (nodes[n] - start.state.velocity[n]).length_squared();
            if let Some(c) = start.dampers.get(n) {
                let bone: DVec3 = start.motion.iter().zip(v).map(|(m, v)| m[n] * *v).sum();
                inertia += 0.5 * c * (nodes[n] - bone).length_squared();
            }
        }
        let (potential, size) = self.potential(commands);
        (inertia + potential, inertia + size)
    }

    /// Energy of tissue, springs, weights and dead forces in the placed state, and the sum of its
    /// parts' sizes.
    pub(crate) fn potential(&self, commands: &Commands<'_>) -> (f64, f64) {
        let tissue = self.body.elastic.energy(&self.state.x);
        let skeleton = self.skeleton.potential(&self.state.q, self.options.gravity);
        let g = self.gravity();
        let (mut loads, mut size) = (0.0, tissue.abs() + skeleton.abs());
        for &n in &self.free {
            let own = -self.body.masses[n] * g.dot(self.state.x[n]);
            (loads, size) = (loads + own, size + own.abs());
        }
        for (f, x) in commands.node_forces.iter().zip(&self.state.x) {
            let own = -f.dot(*x);
            (loads, size) = (loads + own, size + own.abs());
        }
        (tissue + skeleton + loads, size)
    }

    /// The derivative of q ⊞ h v by h v at v⁺ where joints have twist coordinates, and the motions
    /// of nodes in bones in those coordinates.
    fn chart(&self, start: &Start) -> (Option<Matrix>, Vec<Vec<DVec3>>) {
        let motion = self.motion();
        let m = &self.skeleton.mechanism;
        let group = |j: &forks_dynamics::mechanism::Joint| !j.kind.has_scalar_coordinates();
        if !m.joints().iter().any(group) {
            return (None, motion);
        }
        let mut map = Matrix::identity(motion.len());
        for (i, j) in m.joints().iter().enumerate().filter(|(_, j)| group(j)) {
            let id = JointId::new(i);
            let (at, to) = (m.position_range(id), m.velocity_range(id));
            let rate = j.kind.difference_rate(&start.state.q[at.clone()], &self.state.q[at]);
            let unit = Matrix::identity(rate.rows());
            // Regular for turns below 2π in one step; beyond, the identity is as good as any.
            let inverse = rate.solve(&unit, Pivots::AboveZero).unwrap_or(unit);
            for a in 0..inverse.rows() {
                for b in 0..inverse.rows() {
                    map[(to.start + a, to.start + b)] = inverse[(a, b)];
                }
            }
        }
        let nodes = self.state.x.len();
        let mapped = (0..motion.len())
            .map(|k| {
                let parts = (0..motion.len()).filter(|&l| map[(l, k)] != 0.0);
                let mut out = vec![DVec3::ZERO; nodes];
                for l in parts {
                    out.iter_mut().zip(&motion[l]).for_each(|(o, m)| *o += *m * map[(l, k)]);
                }
                out
            })
            .collect();
        (Some(map), mapped)
    }

    /// Gradient by velocities of the skeleton (zero where prescribed) and of the free nodes; the
    /// nodes' forces have been evaluated.
    fn gradient(
        &mut self,
        start: &Start,
        map: Option<&Matrix>,
        v: &[f64],
        nodes: &[DVec3],
    ) -> (Vec<f64>, Vec<DVec3>) {
        let h = start.h;
        let mut force = vec![0.0; v.len()];
        let q = std::mem::take(&mut self.state.q);
        self.skeleton.conservative(&q, self.options.gravity, &mut force);
        self.state.q = q;
        self.load_held_nodes();
        self.skeleton.pull_back(&mut force);
        let force = map.map_or_else(|| force.clone(), |m| m.transpose_mul_vec(&force));
        let change: Vec<f64> = v.iter().zip(&start.aim).map(|(v, a)| v - a).collect();
        let (inertia, drag) = (start.mass.mul_vec(&change), start.damping.mul_vec(v));
        let mut g: Vec<f64> = (0..v.len()).map(|k| inertia[k] + h * (drag[k] - force[k])).collect();
        let mut gn = vec![DVec3::ZERO; nodes.len()];
        let weight = self.gravity();
        for &n in &self.free {
            let m = self.body.masses[n];
            gn[n] = (nodes[n] - start.state.velocity[n]) * m - (self.forces[n] + weight * m) * h;
            if let Some(c) = start.dampers.get(n) {
                let bone: DVec3 = start.motion.iter().zip(v).map(|(m, v)| m[n] * *v).sum();
                let pull = (nodes[n] - bone) * *c;
                gn[n] += pull;
                for (g, m) in g.iter_mut().zip(&start.motion) {
                    *g -= m[n].dot(pull);
                }
            }
        }
        for (g, p) in g.iter_mut().zip(&self.work.prescribed) {
            if *p {
                *g = 0.0;
            }
        }
        (g, gn)
    }

    fn newton_direction(
        &mut self,
        start: &Start,
        map: Option<&Matrix>,
        motion: &[Vec<DVec3>],
        (ds, dn): (&mut [f64], &mut [DVec3]),
    ) -> Result<(), SoftError> {
        let h = start.h;
        let rate = self.options.damping;
        let diagonal: Vec<f64> = self.body.masses.iter().map(|m| m * (1.0 + h * rate)).collect();
        // Dampers act where bones were, stiffness where they are.
        let mut both = motion.to_vec();
        for (both, start) in both.iter_mut().zip(&start.motion) {
            self.free.iter().for_each(|&n| both[n] = start[n]);
        }
        let terms =
            Terms { scale: h * h, diagonal: &diagonal, dampers: &start.dampers, motion: &both };
        let own = start.mass.plus_scaled(h, &start.damping);
        // With the exact matrix where it is positive definite, Newton's method is quadratic.
        self.border.stiffness(&self.body.elastic, &self.state.x, Curvature::Exact);
        let exact =
            self.border.eliminate(&terms).is_ok() && self.complete_exactly(&own, h * h, map);
        if !exact {
            self.border.stiffness(&self.body.elastic, &self.state.x, Curvature::Projected);
            self.border.eliminate(&terms).map_err(at_node)?;
            self.complete_roughly(&own, h * h, map)?;
        }
        self.border.solve(ds, dn);
        Ok(())
    }
}
