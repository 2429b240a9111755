//! One step of a world.
//!
//! ```text
//! contacts at the poses x;  rows J, approach J v                      detection
//! v_free: forces, elasticity and damping (implicit)                   free motion
//! K ∋ λ ⊥ J v⁺ + …,  v⁺ = v_free + A⁻¹ Jᵀ λ                           contact ([A16] §6)
//! x⁺ = x exp(h v⁺), gyroscopic terms                                  motion
//! ```

use forks_contact::{Contact, ContactError, Friction, Side, Status, point_columns, tangents};
use forks_lie::{
    Lanes, Pose, Twist, Vectors,
    glam::{DMat3, DVec3},
};
use forks_rom::StepStatus as ModelStatus;

use crate::{
    BodyHandle, MechanismHandle, Owner, ShapeHandle, World,
    contact::{Cache, ContactPoint, Matches},
    detect::Found,
    limit::Active,
    rigid::RigidState,
};

/// A part of a world, in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// A rigid body.
    Body(BodyHandle),
    /// A reduced mechanism.
    Mechanism(MechanismHandle),
    /// The contact between two shapes.
    Contact([ShapeHandle; 2]),
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum WorldStatus {
    /// As it should.
    #[default]
    Completed,
    /// The step was made with admissible impulses that solve contact less exactly than asked.
    ContactInexact,
    /// The step was made; an effector was outside its model's range or had turned by π or more.
    OutOfRange {
        /// The mechanism.
        mechanism: MechanismHandle,
        /// The first such effector.
        effector: usize,
    },
    /// Numbers overflowed; the world is as it was before the step.
    NotFinite {
        /// Where it was noticed.
        part: Part,
    },
}

/// What a step came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[must_use]
pub struct StepReport {
    /// How it ended.
    pub status: WorldStatus,
    /// Points of the last substep that were close enough to touch.
    pub contacts: usize,
    /// Of these, points that pushed.
    pub touching: usize,
    /// Sweeps of Gauss–Seidel, all substeps.
    pub sweeps: usize,
    /// Iterations of other methods, all substeps.
    pub iterations: usize,
    /// Substeps whose contacts were solved less exactly than asked.
    pub inexact: usize,
    /// Largest residual of the contact law, m/s.
    pub residual: f64,
    /// Energy that contact put in, J: negative for friction and impacts, above 0 by parting penetrations only.
    pub contact_energy: f64,
}

/// The world before a step, in case numbers overflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    states: Vec<RigidState>,
    cache: Cache,
    /// Normal and two tangents of every contact.
    axes: Vec<[DVec3; 3]>,
    /// Jacobians of a contact's two sides, column after column.
    columns: Vec<Lanes>,
    /// Row of a limit.
    row: Vec<f64>,
    matches: Matches,
}

impl World {
    /// Moves everything on by one step.
    pub fn step(&mut self) -> StepReport {
        self.keep();
        let mut report = StepReport::default();
        for _ in 0..self.settings.substeps {
            if let Err(part) = self.substep(&mut report) {
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
        if self.record.is_some() {
            let sample = (self.time(), self.energy());
            self.record.iter_mut().for_each(|r| r.samples.push(sample));
        }
        report
    }

    fn substep(&mut self, report: &mut StepReport) -> Result<(), Part> {
        self.place_shapes();
        self.detector.detect(&self.placed, &self.excluded, self.settings.margin, self.h);
        self.assemble()?;
        self.move_freely(report)?;
        self.solve(report);
        self.advance()
    }

    /// Poses and speeds of all shapes.
    fn place_shapes(&mut self) {
        for k in 0..self.colliders.len() {
            let collider = &self.colliders[k];
            let Some((pose, [moving, turning])) = self.frame(collider.owner) else {
                continue;
            };
            let placed = &mut self.placed[k];
            placed.pose = pose * collider.owner_from_placed;
            placed.speed = moving + turning * placed.reach;
        }
    }

    /// Frame of an owner that moves, and how fast its origin moves and it turns.
    fn frame(&self, owner: Owner) -> Option<(Pose, [f64; 2])> {
        match owner {
            Owner::World => None,
            Owner::Body(b) => {
                let s = &self.states[b.0];
                Some((s.central_pose(), [s.velocity.length(), s.omega.length()]))
            }
            Owner::Effector { mechanism, effector } => {
                let m = &self.mechanisms[mechanism.0];
                Some((m.effector_pose(effector), m.effector_speeds(effector)))
            }
        }
    }

    /// Contacts as rows of the numeric problem.
    fn assemble(&mut self) -> Result<(), Part> {
        self.problem.clear_constraints();
        self.contacts.clear();
        self.kept.axes.clear();
        self.cache.find(&self.detector.found, self.settings.margin, &mut self.kept.matches);
        for k in 0..self.detector.found.len() {
            let found = self.detector.found[k];
            let warm = self.cache.expected(k, &self.kept.matches);
            let shapes = found.shapes().map(ShapeHandle);
            self.add_contact(&found, warm).map_err(|_| Part::Contact(shapes))?;
            self.contacts.push(ContactPoint {
                shapes,
                owners: found.shapes().map(|s| self.colliders[s].owner),
                position: found.point,
                normal: found.normal,
                gap: found.gap,
                impulse: DVec3::ZERO,
                residual: 0.0,
            });
        }
        self.add_limits()
    }

    /// Joint limits as further rows.
    fn add_limits(&mut self) -> Result<(), Part> {
        self.active_limits.clear();
        for (limit, l) in self.limits.iter().enumerate() {
            let (problem, active) = (&mut self.problem, &mut self.active_limits);
            let (m, warm) = (&self.mechanisms[l.mechanism.0], self.cache.limits[limit]);
            l.rows(m, self.h, warm, &mut self.kept.row, |side, row, jacobian| {
                problem.add_row(row, &[jacobian])?;
                active.push(Active { limit, side });
                Ok(())
            })
            .map_err(|_| Part::Mechanism(l.mechanism))?;
        }
        Ok(())
    }

    fn add_contact(&mut self, found: &Found, warm: DVec3) -> Result<(), ContactError> {
        let shapes = found.shapes();
        let owners = shapes.map(|s| self.colliders[s].owner);
        let axes = axes(found.normal);
        self.kept.axes.push(axes);
        let away = Vectors::of_three(axes);
        let mut columns = std::mem::take(&mut self.kept.columns);
        columns.clear();
        let mut approach =
            self.point_columns(owners[0], found.point, &away.scaled(-1.0), &mut columns);
        let end = columns.len();
        approach += self.point_columns(owners[1], found.point, &away, &mut columns);
        let [first, second] = shapes.map(|s| &self.colliders[s].material);
        let material = first.paired(second);
        let contact = Contact {
            gap: found.gap,
            restitution: material.restitution,
            approach,
            compliance: material.compliance,
            relaxation: material.relaxation,
            warm: axes.map(|a| a.dot(warm)),
            ..Contact::new(Friction::Cone { mu: material.friction })
        };
        let parts = columns.split_at(end);
        let added = match (self.side(owners[0], parts.0), self.side(owners[1], parts.1)) {
            (Some(one), Some(two)) => self.problem.add_contact(&contact, &[one, two]),
            (Some(only), None) | (None, Some(only)) => self.problem.add_contact(&contact, &[only]),
            (None, None) => self.problem.add_contact(&contact, &[]),
        };
        self.kept.columns = columns;
        added.map(|_| ())
    }

    /// Velocities of a point of an owner along axes, column after column over the owner's rates, appended to `out`; and the first
    /// of them now. Nothing and 0 for what does not move.
    fn point_columns(
        &self,
        owner: Owner,
        point: DVec3,
        axes: &Vectors,
        out: &mut Vec<Lanes>,
    ) -> f64 {
        match owner {
            Owner::World => 0.0,
            Owner::Body(b) => {
                let s = &self.states[b.0];
                let body = DMat3::from_quat(s.rotation);
                let arm = body.transpose() * (point - s.position);
                let columns = point_columns(arm, &axes.turned_back(&body));
                out.extend_from_slice(&columns);
                let normal = DVec3::new(axes.x[0], axes.y[0], axes.z[0]);
                normal.dot(s.velocity + body * s.omega.cross(arm))
            }
            Owner::Effector { mechanism, effector } => {
                self.mechanisms[mechanism.0].point_columns(effector, point, axes, out)
            }
        }
    }

    /// The side of a contact on an owner, if that moves.
    fn side<'a>(&self, owner: Owner, columns: &'a [Lanes]) -> Option<Side<'a>> {
        match owner {
            Owner::World => None,
            Owner::Body(b) => Some(Side::of(self.bodies[b.0].body, &[]).by_columns(columns)),
            Owner::Effector { mechanism, effector } => {
                Some(self.mechanisms[mechanism.0].side(effector, columns))
            }
        }
    }

    /// Velocities at the end of the substep if nothing touched.
    fn move_freely(&mut self, report: &mut StepReport) -> Result<(), Part> {
        for (i, (body, s)) in self.bodies.iter().zip(&self.states).enumerate() {
            let free = body.free(s, self.settings.gravity, self.h);
            let set = self.problem.set_free_velocity(body.body, &free.to_array());
            set.map_err(|_| Part::Body(BodyHandle(i)))?;
        }
        for (i, m) in self.mechanisms.iter_mut().enumerate() {
            let mechanism = MechanismHandle(i);
            match m.step_freely(self.settings.gravity) {
                ModelStatus::Completed => {}
                ModelStatus::OutOfRange { effector } => {
                    if report.status == WorldStatus::Completed {
                        report.status = WorldStatus::OutOfRange { mechanism, effector };
                    }
                }
                ModelStatus::NotFinite => return Err(Part::Mechanism(mechanism)),
            }
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

    /// Impulses, into the contacts, the cache and the report.
    fn solve(&mut self, report: &mut StepReport) {
        let solved = self.solver.solve(&self.problem, &self.settings.contact);
        report.sweeps += solved.sweeps;
        report.iterations +=
            solved.newton_iterations + solved.interior_iterations + solved.admm_iterations;
        report.inexact += usize::from(solved.status != Status::Converged);
        report.residual = report.residual.max(solved.residual);
        report.contact_energy += solved.energy_gain;
        let residuals = self.solver.residuals();
        let contacts = self.contacts.iter_mut().zip(&self.kept.axes);
        for (id, (c, &[n, t, s])) in self.problem.constraint_ids().zip(contacts) {
            if let Ok(&[x, y, z]) = self.solver.impulse(id) {
                c.impulse = n * x + t * y + s * z;
            }
            c.residual = residuals.get(id.index()).copied().unwrap_or(0.0);
        }
        self.cache.limits.fill([0.0; 2]);
        let rows = self.problem.constraint_ids().skip(self.contacts.len());
        for (id, active) in rows.zip(&self.active_limits) {
            if let Ok(&[impulse]) = self.solver.impulse(id) {
                self.cache.limits[active.limit][active.side] = impulse;
            }
        }
        let pairs = self.detector.found.iter().zip(&self.contacts);
        self.cache.replace(pairs.map(|(f, c)| (f, c.impulse)), &mut self.kept.matches);
    }

    /// Poses and velocities after the substep.
    fn advance(&mut self) -> Result<(), Part> {
        for (i, body) in self.bodies.iter().enumerate() {
            let part = Part::Body(BodyHandle(i));
            let velocity = self.solver.velocity(body.body).map_err(|_| part)?;
            let twist = Twist::from_array(velocity.try_into().map_err(|_| part)?);
            let next = body.advance(&self.states[i], twist, self.h);
            if !next.is_finite() {
                return Err(part);
            }
            self.states[i] = next;
        }
        for (i, m) in self.mechanisms.iter_mut().enumerate() {
            let part = Part::Mechanism(MechanismHandle(i));
            let velocity = self.solver.velocity(m.body).map_err(|_| part)?;
            m.finish(velocity).map_err(|_| part)?;
        }
        Ok(())
    }

    fn keep(&mut self) {
        self.kept.states.clone_from(&self.states);
        self.kept.cache.copy_from(&self.cache);
        self.mechanisms.iter_mut().for_each(|m| m.keep());
    }

    fn take_back(&mut self) {
        self.states.clone_from(&self.kept.states);
        self.cache.copy_from(&self.kept.cache);
        self.contacts.clear();
        // What was kept was a state, of finite numbers and the right size.
        self.mechanisms.iter_mut().for_each(|m| m.restore().unwrap_or(()));
    }
}

/// Normal and two tangents.
fn axes(normal: DVec3) -> [DVec3; 3] {
    let [first, second] = tangents(normal);
    [normal, first, second]
}
