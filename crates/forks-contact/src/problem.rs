//! The numbers of a contact problem.

use alloc::vec::Vec;
use core::ops::Range;

use forks_lie::{SpatialInertia, Twist};
use forks_linalg::{
    BadPivot, Matrix,
    simd::{Isa, Portable, Rows, all_finite},
};

mod sides;

pub use sides::NewContact;

use crate::{
    BodyId, ConstraintId, Contact, ContactError, PortId, Row, Side,
    body::{Body, Port},
    dense::{Check, Checked, asymmetry},
    quad::Quad,
};

/// A contact or row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Contact(Contact),
    Row(Row),
}

/// A constraint and its sides.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) kind: Kind,
    pub(crate) sides: Range<usize>,
}

/// A side's place in the problem's arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideRecord {
    pub(crate) port: usize,
    pub(crate) jacobian: usize,
}

/// Bodies as inverse system matrices with free velocities, and the constraints between them.
///
/// A problem is meant to be kept: [`ContactProblem::clear_constraints`] and
/// [`ContactProblem::set_free_velocity`] prepare it for the next step without giving back its
/// memory.
#[derive(Clone, Debug)]
pub struct ContactProblem {
    step: f64,
    bodies: Vec<Body>,
    ports: Vec<Port>,
    free: Vec<f64>,
    constraints: Vec<Constraint>,
    sides: Vec<SideRecord>,
    /// One quad per rate of a side.
    jacobians: Vec<Quad>,
    /// For checks of matrices.
    scratch: Rows,
    isa: Isa,
}

impl ContactProblem {
    /// A problem without bodies; `step` h in seconds.
    ///
    /// # Errors
    /// A step that is not positive and finite.
    pub fn new(step: f64) -> Result<Self, ContactError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(ContactError::Step { step });
        }
        Ok(Self {
            step,
            bodies: Vec::new(),
            ports: Vec::new(),
            free: Vec::new(),
            constraints: Vec::new(),
            sides: Vec::new(),
            jacobians: Vec::new(),
            scratch: Rows::default(),
            isa: Isa::detect(),
        })
    }

    /// h, s.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Number of bodies.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// Number of contacts and rows.
    pub fn constraint_count(&self) -> usize {
        self.constraints.len()
    }

    /// All contacts and rows in the order they were added.
    pub fn constraint_ids(&self) -> impl Iterator<Item = ConstraintId> + use<> {
        (0..self.constraints.len()).map(ConstraintId)
    }

    /// Adds a body of n coordinates: its inverse system matrix A⁻¹ (n × n, symmetric positive
    /// definite) and the velocity v (n numbers) that it has at the end of the step if nothing
    /// touches it.
    ///
    /// For a reduced model A = M + hD + h²𝓗; for any body A⁻¹ maps generalised impulses to
    /// velocities.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers that are not finite, a matrix that is not symmetric positive
    /// definite.
    pub fn add_body(
        &mut self,
        inverse_system: &Matrix,
        free_velocity: &[f64],
    ) -> Result<BodyId, ContactError> {
        let (body, dof) = (self.bodies.len(), free_velocity.len());
        check_finite(body, "the free velocity", free_velocity)?;
        self.check_inverse(body, dof, inverse_system)?;
        let (velocity, port) = (self.free.len(), self.ports.len());
        let added = Body::new(dof, velocity, port, inverse_system);
        self.ports.push(added.own_port(body));
        self.bodies.push(added);
        self.free.extend_from_slice(free_velocity);
        Ok(BodyId(body))
    }

    /// Adds a port to a body: m rates w = P v with a constant P (m × n), in which constraints may
    /// be written instead of all n coordinates. What impulses in one port do to the rates of
    /// another is computed here once, so that a contact on one of many effectors costs as much as
    /// one on a rigid body.
    ///
    /// # Errors
    /// A body that does not exist, a map of another number of columns, numbers that are not finite.
    pub fn add_port(&mut self, body: BodyId, map: &Matrix) -> Result<PortId, ContactError> {
        let n = self.velocity_range(body)?.len();
        if map.columns() != n {
            let (body, quantity, found) = (body.0, "a row of the port's map", map.columns());
            return Err(ContactError::BodySize { body, quantity, found, expected: n });
        }
        if n == 0 {
            let quantity = "the coordinates behind a port";
            return Err(ContactError::BodySize { body: body.0, quantity, found: 0, expected: 1 });
        }
        check_finite(body.0, "the port's map", map.as_slice())?;
        let port = self.bodies[body.0].add_port(body.0, self.ports.len(), map);
        self.ports.push(port);
        Ok(PortId(self.ports.len() - 1))
    }

    /// Adds a rigid body; velocities are its twist (v; ω) at the frame of the inertia, in that
    /// frame's axes.
    ///
    /// # Errors
    /// Numbers that are not finite, an inertia that is not positive definite.
    pub fn add_rigid_body(
        &mut self,
        inertia: &SpatialInertia,
        free_velocity: Twist,
    ) -> Result<BodyId, ContactError> {
        let body = self.bodies.len();
        let matrix = inertia.matrix();
        if !matrix.is_finite() {
            let quantity = "the inertia";
            return Err(ContactError::BodyNotFinite { body, quantity, value: f64::NAN });
        }
        let Some(inverse) = matrix.inverse_positive_definite() else {
            return Err(ContactError::NotPositiveDefinite { body, row: 0, pivot: inertia.mass });
        };
        let inverse = Matrix::from_fn(6, 6, |i, j| inverse.get(i, j));
        self.add_body(&inverse, &free_velocity.to_array())
    }

    /// Gives a body another free velocity.
    ///
    /// # Errors
    /// A body that does not exist, a wrong size, numbers that are not finite.
    #[inline]
    pub fn set_free_velocity(
        &mut self,
        body: BodyId,
        free_velocity: &[f64],
    ) -> Result<(), ContactError> {
        let range = self.velocity_range(body)?;
        if free_velocity.len() != range.len() {
            return Err(ContactError::BodySize {
                body: body.0,
                quantity: "the free velocity",
                found: free_velocity.len(),
                expected: range.len(),
            });
        }
        check_finite(body.0, "the free velocity", free_velocity)?;
        self.free[range].copy_from_slice(free_velocity);
        Ok(())
    }

    /// Gives a body another inverse system matrix of the same size.
    ///
    /// # Errors
    /// As [`ContactProblem::add_body`].
    pub fn set_inverse_system(
        &mut self,
        body: BodyId,
        inverse_system: &Matrix,
    ) -> Result<(), ContactError> {
        let dof = self.velocity_range(body)?.len();
        self.check_inverse(body.0, dof, inverse_system)?;
        self.bodies[body.0].set_inverse(inverse_system.as_slice());
        Ok(())
    }

    /// Adds a contact; a side per moving body that takes part, with a 3 × n Jacobian each.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers that are not finite or out of range, a body that does not
    /// exist.
    pub fn add_contact(
        &mut self,
        contact: &Contact,
        sides: &[Side<'_>],
    ) -> Result<ConstraintId, ContactError> {
        let mut new = self.start_contact();
        sides.iter().try_for_each(|side| new.add_side(side))?;
        new.finish(contact)
    }

    /// A contact whose sides are added one by one, for callers who know the rest of it only then.
    #[inline(always)]
    pub fn start_contact(&mut self) -> NewContact<'_> {
        NewContact::start(self, 3)
    }

    /// Adds a scalar row; a side per moving body that takes part, with n entries each.
    ///
    /// # Errors
    /// As [`ContactProblem::add_contact`].
    pub fn add_row(&mut self, row: &Row, sides: &[Side<'_>]) -> Result<ConstraintId, ContactError> {
        let mut new = NewContact::start(self, 1);
        sides.iter().try_for_each(|side| new.add_side(side))?;
        new.finish_row(row)
    }

    /// Sets the impulses that a constraint starts from: three for a contact, one for a row.
    ///
    /// Missing numbers count as zero, further ones are not read.
    ///
    /// # Errors
    /// A constraint that does not exist, numbers that are not finite.
    pub fn set_warm_start(
        &mut self,
        constraint: ConstraintId,
        impulses: &[f64],
    ) -> Result<(), ContactError> {
        let count = self.constraints.len();
        let at = constraint.0;
        if let Some(&value) = impulses.iter().find(|x| !x.is_finite()) {
            let quantity = "the warm-start impulse";
            return Err(ContactError::NotFinite { constraint: at, quantity, value });
        }
        let Some(found) = self.constraints.get_mut(at) else {
            return Err(ContactError::NoSuchConstraint { constraint: at, count });
        };
        let get = |i: usize| impulses.get(i).copied().unwrap_or(0.0);
        match &mut found.kind {
            Kind::Contact(c) => c.warm = [get(0), get(1), get(2)],
            Kind::Row(r) => r.warm = get(0),
        }
        Ok(())
    }

    /// Removes all contacts and rows.
    pub fn clear_constraints(&mut self) {
        self.constraints.clear();
        self.sides.clear();
        self.jacobians.clear();
    }

    /// The velocity of a body if nothing touches it.
    ///
    /// # Errors
    /// A body that does not exist.
    pub fn free_velocity(&self, body: BodyId) -> Result<&[f64], ContactError> {
        Ok(&self.free[self.velocity_range(body)?])
    }

    #[inline(always)]
    fn velocity_range(&self, body: BodyId) -> Result<Range<usize>, ContactError> {
        let Some(found) = self.bodies.get(body.0) else {
            return Err(ContactError::NoSuchBody { body: body.0, count: self.bodies.len() });
        };
        Ok(found.velocity..found.velocity + found.dof)
    }

    fn check_inverse(
        &mut self,
        body: usize,
        dof: usize,
        inverse: &Matrix,
    ) -> Result<(), ContactError> {
        for found in [inverse.rows(), inverse.columns()] {
            if found != dof {
                let quantity = "the inverse system matrix";
                return Err(ContactError::BodySize { body, quantity, found, expected: dof });
            }
        }
        check_finite(body, "the inverse system matrix", inverse.as_slice())?;
        // Inverting a matrix of condition κ leaves an asymmetry of n κ ε; κ up to 1e8 is let
        // through.
        const ASYMMETRY: f64 = 1e-8;
        let Checked { difference, factor } =
            self.isa.run(Check { dof, inverse: inverse.as_slice(), scratch: &mut self.scratch });
        // The quick measure is no less than the largest difference, and a diagonal no more than the
        // largest entry.
        let largest = (0..dof).map(|i| inverse[(i, i)].abs()).fold(0.0, f64::max);
        if difference > ASYMMETRY * largest {
            let difference = asymmetry(dof, inverse.as_slice());
            if difference > ASYMMETRY * inverse.max_abs() {
                return Err(ContactError::NotSymmetric { body, difference });
            }
        }
        factor.map_err(|BadPivot { row, pivot }| ContactError::NotPositiveDefinite {
            body,
            row,
            pivot,
        })
    }

    pub(crate) fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    pub(crate) fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    pub(crate) fn sides(&self) -> &[SideRecord] {
        &self.sides
    }

    pub(crate) fn jacobians(&self) -> &[Quad] {
        &self.jacobians
    }

    pub(crate) fn ports(&self) -> &[Port] {
        &self.ports
    }

    pub(crate) fn free(&self) -> &[f64] {
        &self.free
    }
}

#[inline(always)]
fn check_finite(body: usize, quantity: &'static str, x: &[f64]) -> Result<(), ContactError> {
    match not_finite(x) {
        Some(value) => Err(ContactError::BodyNotFinite { body, quantity, value }),
        None => Ok(()),
    }
}

/// The first number that is not finite.
fn not_finite(x: &[f64]) -> Option<f64> {
    if all_finite(Portable, x) { None } else { x.iter().copied().find(|x| !x.is_finite()) }
}
