//! Sides of constraints, into the problem's arrays.

use forks_linalg::simd::{Portable, all_lanes_finite};

use super::{Constraint, ContactProblem, Kind, SideRecord};
use crate::{
    BodyId, ConstraintId, Contact, ContactError, PortId, Row, Side,
    body::Port,
    constraint::{At, Friction, Jacobian},
    quad::Quad,
};

/// A contact whose sides are being added: see [`ContactProblem::start_contact`]. If it is not
/// finished nothing is left of it.
#[derive(Debug)]
#[must_use]
pub struct NewContact<'a> {
    problem: &'a mut ContactProblem,
    rows: usize,
    /// Sides and columns of the problem before.
    sides: usize,
    columns: usize,
}

impl<'a> NewContact<'a> {
    /// A constraint of so many rows.
    #[inline(always)]
    pub(super) fn start(problem: &'a mut ContactProblem, rows: usize) -> Self {
        let (sides, columns) = (problem.sides.len(), problem.jacobians.len());
        Self { problem, rows, sides, columns }
    }

    /// Adds a side.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers that are not finite, a body that does not exist.
    #[inline(always)]
    pub fn add_side(&mut self, side: &Side<'_>) -> Result<(), ContactError> {
        self.problem.add_side(self.rows, side)
    }

    /// Adds the contact.
    ///
    /// # Errors
    /// Numbers that are not finite or out of range.
    #[inline(always)]
    pub fn finish(self, contact: &Contact) -> Result<ConstraintId, ContactError> {
        contact.check(self.problem.constraints.len())?;
        if let Friction::EllipticCone { mu } = contact.friction {
            self.problem.stretch_tangents(self.sides, mu);
        }
        Ok(self.add(Kind::Contact(*contact)))
    }

    /// Adds a row.
    pub(super) fn finish_row(self, row: &Row) -> Result<ConstraintId, ContactError> {
        row.check(self.problem.constraints.len())?;
        Ok(self.add(Kind::Row(*row)))
    }

    #[inline(always)]
    fn add(mut self, kind: Kind) -> ConstraintId {
        let id = ConstraintId(self.problem.constraints.len());
        let sides = self.sides..self.problem.sides.len();
        self.problem.constraints.push(Constraint { kind, sides });
        // What is there now stays.
        (self.sides, self.columns) = (self.problem.sides.len(), self.problem.jacobians.len());
        id
    }
}

impl Drop for NewContact<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.problem.sides.truncate(self.sides);
        self.problem.jacobians.truncate(self.columns);
    }
}

impl ContactProblem {
    #[inline(always)]
    fn add_side(&mut self, rows: usize, side: &Side<'_>) -> Result<(), ContactError> {
        let (port, jacobian) = (self.port_of(side)?, self.jacobians.len());
        if let Jacobian::Columns(columns) = side.jacobian
            && let Ok(six) = <&[Quad; 6]>::try_from(columns)
            && self.ports[port].width == 6
            && are_rows(six, rows)
        {
            // The common case, of which the compiler knows the size.
            self.jacobians.extend_from_slice(six);
        } else {
            self.add_jacobian(rows, side, self.ports[port])?;
        }
        self.sides.push(SideRecord { port, jacobian });
        Ok(())
    }

    /// A Jacobian of any size; what is wrong with it, if something is.
    #[inline(never)]
    fn add_jacobian(
        &mut self,
        rows: usize,
        side: &Side<'_>,
        Port { body, width, .. }: Port,
    ) -> Result<(), ContactError> {
        let (constraint, jacobian) = (self.constraints.len(), self.jacobians.len());
        let (found, expected) = match side.jacobian {
            Jacobian::Rows(j) => (j.len(), rows * width),
            Jacobian::Columns(j) => (rows * j.len(), rows * width),
        };
        if found != expected {
            return Err(ContactError::JacobianSize { constraint, body, found, expected });
        }
        match side.jacobian {
            Jacobian::Columns(j) => self.jacobians.extend_from_slice(j),
            Jacobian::Rows(j) if rows == 1 => {
                self.jacobians.extend(j.iter().map(|x| Quad([*x, 0.0, 0.0, 0.0])));
            }
            Jacobian::Rows(j) => {
                let quad = |k: usize| Quad([j[k], j[width + k], j[2 * width + k], 0.0]);
                self.jacobians.extend((0..width).map(quad));
            }
        }
        let added = &self.jacobians[jacobian..];
        if !all_lanes_finite(Portable, added) {
            let numbers = added.iter().flat_map(|q| q.0);
            let value = numbers.into_iter().find(|x| !x.is_finite()).unwrap_or(f64::NAN);
            let quantity = "an entry of the Jacobian";
            return Err(ContactError::NotFinite { constraint, quantity, value });
        }
        if !are_rows(added, rows) {
            let value = added.iter().flat_map(|q| &q[rows..]).copied().find(|x| *x != 0.0);
            let value = value.unwrap_or_default();
            let (quantity, range) = ("an entry of the Jacobian below its rows", "0");
            return Err(ContactError::OutOfRange { constraint, quantity, value, range });
        }
        Ok(())
    }

    #[inline(always)]
    fn port_of(&self, side: &Side<'_>) -> Result<usize, ContactError> {
        let (port, count) = match side.at {
            At::Body(BodyId(body)) => match self.bodies.get(body) {
                Some(found) => (found.ports[0], self.ports.len()),
                None => return Err(ContactError::NoSuchBody { body, count: self.bodies.len() }),
            },
            At::Port(PortId(port)) => (port, self.ports.len()),
        };
        if port < count { Ok(port) } else { Err(ContactError::NoSuchPort { port, count }) }
    }

    /// Scales the tangents of the newest contact so that its elliptic cone becomes circular.
    fn stretch_tangents(&mut self, first: usize, mu: [f64; 2]) {
        let scale = crate::law::tangent_scale(mu);
        for side in &self.sides[first..] {
            let width = self.ports[side.port].width;
            for quad in &mut self.jacobians[side.jacobian..][..width] {
                quad[1] *= scale[0];
                quad[2] *= scale[1];
            }
        }
    }
}

/// True if all numbers of some columns are finite, and 0 below their rows.
#[inline(always)]
fn are_rows(columns: &[Quad], rows: usize) -> bool {
    let (mut sum, mut spare) = (Quad::default(), 0);
    for column in columns {
        sum = sum.plus(column.scaled(0.0));
        spare |= column[rows..].iter().fold(0, |bits, x| bits | x.to_bits());
    }
    // 0 × x is 0 unless x is NaN or infinite; 0 may have a sign.
    sum.iter().fold(spare << 1 == 0, |all, x| all & (*x == 0.0))
}
