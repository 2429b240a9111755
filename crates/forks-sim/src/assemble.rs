//! Contacts and limits as rows of the numeric problem.

use forks_contact::{
    Contact, ContactError, Friction, NewContact, Problem, Side, point_columns, tangents,
};
use forks_lie::glam::DVec3;
use forks_linalg::simd::{Arithmetic, Lanes, Vectors};

use crate::{
    Owner, ShapeHandle, World,
    limit::Active,
    manifold::Found,
    mechanism::{Instance, first_rate},
    rigid::{Frame, Rigid},
    step::Part,
    world::Collider,
};

/// Memory of an assembly, and what it leaves for the rest of the substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembly {
    /// One per rigid body.
    pub(crate) frames: Vec<Frame>,
    /// Normal and two tangents of every contact.
    pub(crate) axes: Vec<Vectors>,
    /// Jacobian of an effector, column after column.
    columns: Vec<Lanes>,
    /// Row of a limit.
    row: Vec<f64>,
}

/// What moves.
struct Movers<'a, L> {
    l: L,
    bodies: &'a [Rigid],
    frames: &'a [Frame],
    mechanisms: &'a [Instance],
}

impl<L: Arithmetic> Movers<'_, L> {
    /// Velocities of an owner's point along three axes as a side of a contact, if it moves. Returns
    /// the first of them now.
    #[inline(always)]
    fn add_side(
        &self,
        owner: Owner,
        point: DVec3,
        axes: &Vectors,
        columns: &mut Vec<Lanes>,
        contact: &mut NewContact<'_>,
    ) -> Result<f64, ContactError> {
        match owner {
            Owner::World => Ok(0.0),
            Owner::Body(b) => {
                let frame = &self.frames[b.0];
                let arm = frame.axes.transpose() * (point - frame.position);
                let six = point_columns(arm, &axes.turned_back(&frame.axes));
                contact.add_side(&Side::of(self.bodies[b.0].body, &[]).by_columns(&six))?;
                Ok(first_rate(&six, &frame.rates))
            }
            Owner::Effector { mechanism, effector } => {
                let m = &self.mechanisms[mechanism.0];
                m.add_side(self.l, effector, (point, axes), columns, contact)
            }
        }
    }
}

impl World {
    /// Contacts as rows of the numeric problem.
    #[inline(always)]
    pub(crate) fn assemble<L: Arithmetic>(&mut self, l: L) -> Result<(), Part> {
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
        self.add_limits()
    }

    /// Joint limits as further rows.
    #[inline(always)]
    fn add_limits(&mut self) -> Result<(), Part> {
        self.active_limits.clear();
        for (limit, l) in self.limits.iter().enumerate() {
            let (problem, active) = (&mut self.problem, &mut self.active_limits);
            let (m, warm) = (&self.mechanisms[l.mechanism.0], self.cache.limits[limit]);
            l.rows(m, self.h, warm, &mut self.assembly.row, |side, row, jacobian| {
                problem.add_row(row, &[jacobian])?;
                active.push(Active { limit, side });
                Ok(())
            })
            .map_err(|_| Part::Mechanism(l.mechanism))?;
        }
        Ok(())
    }
}

impl<L: Arithmetic> Movers<'_, L> {
    /// A contact between two shapes, with the impulse that it starts from.
    #[inline(always)]
    fn add_contact(
        &self,
        at: &Found,
        [one, two]: [&Collider; 2],
        away: &Vectors,
        warm: DVec3,
        columns: &mut Vec<Lanes>,
        problem: &mut Problem,
    ) -> Result<(), ContactError> {
        let mut new = problem.start_contact();
        let towards = away.scaled(-1.0);
        let first = self.add_side(one.owner, at.point, &towards, columns, &mut new)?;
        let second = self.add_side(two.owner, at.point, away, columns, &mut new)?;
        let warm = away.dot(warm);
        let material = one.material.paired(&two.material);
        let contact = Contact {
            gap: at.gap,
            restitution: material.restitution,
            approach: first + second,
            compliance: material.compliance,
            relaxation: material.relaxation,
            warm: [warm[0], warm[1], warm[2]],
            ..Contact::new(Friction::Cone { mu: material.friction })
        };
        new.finish(&contact).map(|_| ())
    }
}
