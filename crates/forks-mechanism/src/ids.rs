//! Typed indices into a mechanism.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The position in the mechanism's list.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The identifier of the element at `index`.
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }
        }
    };
}

id!(/** A link; index 0 is the ground. */ LinkId);
id!(/** A joint. */ JointId);
id!(/** A coupling between joint coordinates. */ CouplingId);
id!(/** A spring on a linear combination of joint coordinates. */ CombinationSpringId);
id!(/** A bushing between two links. */ BushingId);
id!(/** A cable. */ CableId);
id!(/** A servo. */ ServoId);
id!(/** A named frame. */ FrameId);
id!(/** A collision shape. */ ShapeId);

impl LinkId {
    /// The ground: does not move, has the identity pose.
    pub const WORLD: Self = Self(0);
}
