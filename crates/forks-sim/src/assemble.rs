//! Contacts as rows of the numeric problem.

use forks_contact::{
    Contact, ContactError, ContactProblem, Friction, NewContact, Side, point_columns,
};
use forks_lie::glam::DVec3;
use forks_linalg::simd::{Arithmetic, Lanes, Vectors};

use crate::{
    handles::Owner,
    manifold::Found,
    mechanism::{Instance, first_rate},
    rigid::{Frame, Rigid},
    shape::OwnedShape,
};

/// Memory of an assembly, and what it leaves for the rest of the substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembly {
    /// One per rigid body.
    pub(crate) frames: Vec<Frame>,
    /// Normal and two tangents of every contact.
    pub(crate) axes: Vec<Vectors>,
    /// Jacobian of an effector, column after column.
    pub(crate) columns: Vec<Lanes>,
    /// Row of a limit.
    pub(crate) row: Vec<f64>,
}

/// What moves.
pub(crate) struct Movers<'a, L> {
    pub(crate) l: L,
    pub(crate) bodies: &'a [Rigid],
    pub(crate) frames: &'a [Frame],
    pub(crate) mechanisms: &'a [Instance],
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

    /// A contact between two shapes, with the impulse that it starts from.
    #[inline(always)]
    pub(crate) fn add_contact(
        &self,
        at: &Found,
        [one, two]: [&OwnedShape; 2],
        away: &Vectors,
        warm: DVec3,
        columns: &mut Vec<Lanes>,
        problem: &mut ContactProblem,
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
