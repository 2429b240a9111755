//! Shapes of a world.

use forks_lie::Pose;

use super::World;
use crate::{
    CollisionShape, ContactPoint, SimError,
    detect::{Placed, reach},
    error::check_finite,
    handles::{Owner, ShapeHandle},
    mechanism::Instance,
    shape::{OwnedShape, prepare},
};

impl World {
    /// Adds a shape. Shapes of one owner do not touch each other.
    ///
    /// # Errors
    /// An owner that is not there, sizes that are not positive, points or triangles that make no
    /// surface, planes, meshes and height fields on something that moves.
    pub fn add_shape(
        &mut self,
        owner: Owner,
        shape: &CollisionShape,
    ) -> Result<ShapeHandle, SimError> {
        let element = format!("shape {:?}", shape.name);
        let (number, owner_from_frame) = self.owner_frame(owner)?;
        check_finite(&element, "the pose", &shape.owner_from_shape.to_array())?;
        shape.material.check(&element)?;
        let prepared = prepare(&shape.name, &shape.form)?;
        if let (Some(kind), true) = (prepared.static_only, owner != Owner::World) {
            return Err(SimError::StaticOnly { shape: shape.name.clone(), kind });
        }
        let owner_from_placed =
            owner_from_frame * shape.owner_from_shape.normalized() * prepared.shape_from_prepared;
        let origin = owner_from_placed.inverse().translation;
        let reach = if owner == Owner::World { 0.0 } else { reach(&prepared.shape, origin) };
        self.colliders.push(OwnedShape {
            name: shape.name.clone(),
            owner,
            owner_from_placed,
            is_at_owner: owner_from_placed == Pose::IDENTITY,
            material: shape.material,
        });
        self.placed.push(Placed::new(prepared.shape, owner_from_placed, reach, number));
        Ok(ShapeHandle(self.colliders.len() - 1))
    }

    /// A number of its own for an owner, and its moving frame from the frame that shapes are given
    /// in.
    fn owner_frame(&self, owner: Owner) -> Result<(usize, Pose), SimError> {
        match owner {
            Owner::World => Ok((0, Pose::IDENTITY)),
            Owner::Body(body) => {
                let center = self.body(body)?.center();
                Ok((2 * body.0 + 2, Pose::from_translation(-center)))
            }
            Owner::Effector { mechanism, effector } => {
                let count = self.instance(mechanism)?.effector_count();
                if effector >= count {
                    return Err(SimError::Missing { kind: "effector", index: effector, count });
                }
                let before = &self.mechanisms[..mechanism.0];
                let before: usize = before.iter().map(Instance::effector_count).sum();
                Ok((2 * (before + effector) + 1, Pose::IDENTITY))
            }
        }
    }

    /// Lets two shapes pass through each other.
    ///
    /// # Errors
    /// A shape that is not there.
    pub fn exclude(&mut self, a: ShapeHandle, b: ShapeHandle) -> Result<(), SimError> {
        let count = self.colliders.len();
        for index in [a.0, b.0] {
            if index >= count {
                return Err(SimError::Missing { kind: "shape", index, count });
            }
        }
        let pair = [a.0.min(b.0), a.0.max(b.0)];
        if let Err(place) = self.excluded.binary_search(&pair) {
            self.excluded.insert(place, pair);
        }
        Ok(())
    }

    /// Coefficient of friction of a contact of this world.
    ///
    /// # Panics
    /// If the contact is of another world.
    pub fn friction(&self, contact: &ContactPoint) -> f64 {
        let [a, b] = contact.shapes.map(|s| &self.colliders[s.0].material);
        a.paired(b).friction
    }

    /// Name of a shape.
    ///
    /// # Errors
    /// A shape that is not there.
    pub fn shape_name(&self, shape: ShapeHandle) -> Result<&str, SimError> {
        let (index, count) = (shape.0, self.colliders.len());
        let found = self.colliders.get(index).map(|c| c.name.as_str());
        found.ok_or(SimError::Missing { kind: "shape", index, count })
    }
}
