//! One step of a world.
//!
//! ```text
//! contacts at the poses x;  rows J, approach J v                      detection
//! v_free: forces, elasticity and damping (implicit)                   free motion
//! K ∋ λ ⊥ J v⁺ + …,  v⁺ = v_free + A⁻¹ Jᵀ λ                           contact ([A16] §6)
//! x⁺ = x exp(h v⁺), gyroscopic terms                                  motion
//! ```

use forks_contact::{Status, tangents};
use forks_lie::Twist;
use forks_linalg::simd::{Arithmetic, Isa, Kernel, Vectors};

use crate::{
    World,
    assemble::{Assembly, Movers},
    contact::ContactPoint,
    handles::{BodyHandle, MechanismHandle, Owner, ShapeHandle},
    joint_force::Active,
    report::{Part, StepReport, WorldStatus},
    rigid::Frame,
};

/// A substep as work: compiled once per instruction set.
struct Substep<'a> {
    world: &'a mut World,
    report: &'a mut StepReport,
}

impl Kernel for Substep<'_> {
    type Output = Result<(), Part>;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> Self::Output {
        self.world.substep(l, self.report)
    }
}

impl World {
    /// Moves everything on by one step.
    pub fn step(&mut self) -> StepReport {
        self.keep();
        let mut report = StepReport::default();
        let isa = Isa::detect();
        for _ in 0..self.settings.substeps {
            if let Err(part) = isa.run(Substep { world: self, report: &mut report }) {
                self.take_back();
                report.status = WorldStatus::NotFinite { part };
                return report;
            }
        }
        self.steps += 1;
        report.contacts = self.contacts.len();
        report.touching = self.contacts.iter().filter(|c| c.is_touching()).count();
        if report.inexact > 0 && report.status == WorldStatus::Completed {
            report.status = WorldStatus::ContactInexact;
        }
        report
    }

    #[inline(always)]
    fn substep<L: Arithmetic>(&mut self, l: L, report: &mut StepReport) -> Result<(), Part> {
        self.place_shapes();
        self.detector.detect(&self.placed, &self.excluded, self.settings.margin, self.h);
        self.assemble(l)?;
        self.move_freely(report)?;
        self.solve(report);
        self.advance(report)?;
        self.accept();
        Ok(())
    }

    /// Poses and speeds of all shapes.
    #[inline(always)]
    fn place_shapes(&mut self) {
        let frames = &mut self.assembly.frames;
        frames.clear();
        for s in &self.states {
            frames.push(Frame::of(s));
        }
        for (collider, placed) in self.colliders.iter().zip(&mut self.placed) {
            let (pose, speed, spin) = match collider.owner {
                Owner::World => continue,
                Owner::Body(b) => {
                    let s = &self.states[b.0];
                    (s.central_pose(), s.velocity.length(), s.omega.length())
                }
                Owner::Effector { mechanism, effector } => {
                    let m = &self.mechanisms[mechanism.0];
                    let [speed, spin] = m.effector_speeds(effector);
                    (m.effector_pose(effector), speed, spin)
                }
            };
            placed.pose =
                if collider.is_at_owner { pose } else { pose * collider.owner_from_placed };
            placed.speed = speed + spin * placed.reach;
            if let Owner::Body(b) = collider.owner {
                let s = &self.states[b.0];
                placed.turn_on(s.rotation * s.omega * self.h, s.position);
            }
        }
    }

    /// Contacts as rows of the numeric problem.
    #[inline(always)]
    fn assemble<L: Arithmetic>(&mut self, l: L) -> Result<(), Part> {
        self.problem.clear_constraints();
        self.assembly.axes.clear();
        self.cache.find(&self.detector.found, self.settings.margin, &mut self.matches);
        let Assembly { frames, axes, columns, .. } = &mut self.assembly;
        // In a pass of their own: the next one finds four numbers at a time in memory.
        for f in &self.detector.found {
            let [first, second] = tangents(f.normal);
            axes.push(Vectors::of_three([f.normal, first, second]));
        }
        let movers = Movers { l, bodies: &self.bodies, frames, mechanisms: &self.mechanisms };
        for (k, (found, axes)) in self.detector.found.iter().zip(axes.iter()).enumerate() {
            let [a, b] = found.shapes();
            let (one, two) = (&self.colliders[a], &self.colliders[b]);
            let warm = self.cache.expected(k, &self.matches);
            movers
                .add_contact(found, [one, two], axes, warm, columns, &mut self.problem)
                .map_err(|_| Part::Contact([ShapeHandle(a), ShapeHandle(b)]))?;
        }
        self.add_joint_rows()
    }

    /// Limits and dry friction of joints as further rows.
    #[inline(always)]
    fn add_joint_rows(&mut self) -> Result<(), Part> {
        self.active_joints.clear();
        for (force, f) in self.joint_forces.iter().enumerate() {
            let (problem, active) = (&mut self.problem, &mut self.active_joints);
            let (m, warm) = (&self.mechanisms[f.mechanism.0], self.cache.joint_forces[force]);
            f.rows(m, self.h, warm, &mut self.assembly.row, |side, row, jacobian| {
                problem.add_row(row, &[jacobian])?;
                active.push(Active { force, side });
                Ok(())
            })
            .map_err(|_| Part::Mechanism(f.mechanism))?;
        }
        Ok(())
    }

    /// Velocities at the end of the substep if nothing touched.
    #[inline(always)]
    fn move_freely(&mut self, report: &mut StepReport) -> Result<(), Part> {
        for (i, (body, s)) in self.bodies.iter().zip(&self.states).enumerate() {
            let free = body.free(s, &self.assembly.frames[i], self.settings.gravity, self.h);
            let set = self.problem.set_free_velocity(body.body, &free.to_array());
            set.map_err(|_| Part::Body(BodyHandle(i)))?;
        }
        for (i, m) in self.mechanisms.iter_mut().enumerate() {
            let mechanism = MechanismHandle(i);
            report.take(mechanism, m.step_freely(self.settings.gravity))?;
            let (part, body) = (Part::Mechanism(mechanism), m.body);
            let set = self.problem.set_free_velocity(body, m.free());
            set.map_err(|_| part)?;
            if let Some(changed) = m.changed_system() {
                let set = self.problem.set_inverse_system(body, changed.ok_or(part)?);
                set.map_err(|_| part)?;
            }
        }
        Ok(())
    }

    /// Impulses.
    #[inline(always)]
    fn solve(&mut self, report: &mut StepReport) {
        let solved = self.solver.solve(&self.problem, &self.settings.contact);
        report.sweeps += solved.sweeps;
        report.iterations +=
            solved.newton_iterations + solved.interior_iterations + solved.admm_iterations;
        if solved.status != Status::Converged {
            report.inexact += 1;
            report.relative_residual = report.relative_residual.max(solved.relative_residual);
        }
        report.residual = report.residual.max(solved.residual);
        report.contact_energy += solved.energy_gain;
    }

    /// Poses and velocities after the substep: of mechanisms at once, of bodies for
    /// [`World::accept`].
    #[inline(always)]
    fn advance(&mut self, report: &mut StepReport) -> Result<(), Part> {
        self.next.clear();
        for (i, body) in self.bodies.iter().enumerate() {
            let part = Part::Body(BodyHandle(i));
            let velocity = self.solver.velocity(body.body).map_err(|_| part)?;
            let twist = Twist::from_array(velocity.try_into().map_err(|_| part)?);
            let next = body.advance(&self.states[i], &self.assembly.frames[i], twist, self.h);
            if !next.is_finite() {
                return Err(part);
            }
            self.next.push(next);
        }
        for (i, m) in self.mechanisms.iter_mut().enumerate() {
            let part = Part::Mechanism(MechanismHandle(i));
            let velocity = self.solver.velocity(m.body).map_err(|_| part)?;
            report.take(MechanismHandle(i), m.finish(velocity).map_err(|_| part)?)?;
        }
        Ok(())
    }

    /// What a substep changes where all numbers are finite: the bodies' states; impulses in the
    /// contacts and in the cache.
    #[inline(always)]
    fn accept(&mut self) {
        std::mem::swap(&mut self.states, &mut self.next);
        let (found, residuals) = (&self.detector.found, self.solver.residuals());
        self.contacts.resize(found.len(), ContactPoint::NONE);
        let contacts = self.contacts.iter_mut().zip(found.iter().zip(&self.assembly.axes));
        for (id, (c, (found, axes))) in self.problem.constraint_ids().zip(contacts) {
            let [a, b] = found.shapes();
            c.shapes = [ShapeHandle(a), ShapeHandle(b)];
            c.owners[0] = self.colliders[a].owner;
            c.owners[1] = self.colliders[b].owner;
            (c.position, c.normal, c.gap) = (found.point, found.normal, found.gap);
            if let Ok(&[x, y, z]) = self.solver.impulse(id) {
                c.impulse = axes.sum_of_three([x, y, z]);
            }
            c.residual = residuals.get(id.index()).copied().unwrap_or(0.0);
        }
        self.cache.joint_forces.fill([0.0; 2]);
        let rows = self.problem.constraint_ids().skip(self.contacts.len());
        for (id, active) in rows.zip(&self.active_joints) {
            if let Ok(&[impulse]) = self.solver.impulse(id) {
                self.cache.joint_forces[active.force][active.side] = impulse;
            }
        }
        let pairs = found.iter().zip(&self.contacts);
        self.cache.replace(pairs.map(|(f, c)| (f, c.impulse)), &mut self.matches);
    }

    /// The last of several substeps may be one that fails: nothing else needs a copy of what is
    /// replaced as a whole.
    fn has_substeps(&self) -> bool {
        self.settings.substeps > 1
    }

    fn keep(&mut self) {
        if self.has_substeps() {
            self.kept.states.clone_from(&self.states);
            self.kept.cache.copy_from(&self.cache);
        }
        self.mechanisms.iter_mut().for_each(|m| m.keep());
    }

    fn take_back(&mut self) {
        if self.has_substeps() {
            self.states.clone_from(&self.kept.states);
            self.cache.copy_from(&self.kept.cache);
        }
        self.contacts.clear();
        // What was kept was a state, of finite numbers and the right size.
        self.mechanisms.iter_mut().for_each(|m| m.restore().unwrap_or(()));
    }
}
