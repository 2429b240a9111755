//! What servos drive; servos on the joints of a mechanism that came without.

use forks_lie::Pose;

use crate::{
    BuildError, Combination, Coordinate, JointId, Mechanism, MechanismBuilder, Servo, Transmission,
    kinematics::loops,
};

impl Servo {
    /// ℓ at positions `q` and the poses of all links there: the combination, or the cable's length.
    pub fn value(&self, m: &Mechanism, q: &[f64], poses: &[Pose]) -> f64 {
        match self.transmission {
            Transmission::Cable(id) => m.cable(id).length(poses),
            _ => loops::combination_value(m, &self.combination, q),
        }
    }
}

impl Mechanism {
    /// The same mechanism with a servo on each named joint, of a position gain (N·m/rad or N/m) and
    /// a velocity gain (N·m·s/rad or N·s/m).
    ///
    /// Servos come after those that are there, whose forces they add to. They have their joint's
    /// name; those of joints with several coordinates are called `JOINT.0`, `JOINT.1`…
    ///
    /// # Errors
    /// A joint that is not there or whose coordinates are not plain numbers; gains that are
    /// negative or not finite.
    pub fn with_servos(&self, servos: &[(&str, f64, f64)]) -> Result<Self, BuildError> {
        let mut b = MechanismBuilder::from_mechanism(self);
        for &(name, stiffness, damping) in servos {
            let joint = self
                .find_joint(name)
                .ok_or_else(|| BuildError::UnknownName { kind: "joint", name: name.into() })?;
            for (name, coordinate) in self.coordinates(joint) {
                b.add_servo(Servo {
                    name,
                    transmission: Transmission::Joint,
                    combination: Combination { terms: vec![(coordinate, 1.0)], offset: 0.0 },
                    stiffness,
                    damping,
                });
            }
        }
        b.build()
    }

    /// The coordinates of a joint with names for their servos; the first one, which the check of
    /// the mechanism refuses, where they are not plain numbers or where there is none.
    fn coordinates(&self, joint: JointId) -> Vec<(String, Coordinate)> {
        let j = self.joint(joint);
        if !j.kind.has_scalar_coordinates() || j.dof() < 2 {
            return vec![(j.name.clone(), Coordinate::of(joint))];
        }
        let one = |index| (format!("{}.{index}", j.name), Coordinate { joint, index });
        (0..j.dof()).map(one).collect()
    }
}
