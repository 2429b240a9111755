//! Names of the parts of a world.

/// A free rigid body of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyHandle(pub(crate) usize);

/// A reduced mechanism of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MechanismHandle(pub(crate) usize);

/// A joint limit of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LimitHandle(pub(crate) usize);

/// Dry friction of a joint of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointFrictionHandle(pub(crate) usize);

/// A shape of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeHandle(pub(crate) usize);

/// What carries a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Nothing that moves.
    World,
    /// A rigid body: the shape's pose is in the body's frame.
    Body(BodyHandle),
    /// An effector of a reduced mechanism: the shape's pose is in the effector's frame.
    Effector {
        /// The mechanism.
        mechanism: MechanismHandle,
        /// The effector's number in the model.
        effector: usize,
    },
}
