//! Energy of a world.

/// Energy of a world, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Of rigid bodies and reduced mechanisms.
    pub kinetic: f64,
    /// Of rigid bodies, floating and full mechanisms, zero with their centres of mass at the
    /// world's origin.
    pub gravitational: f64,
    /// Of mechanisms' springs about their present targets: changes of targets do work, which shows
    /// as jumps. Of reduced mechanisms over their linearisation poses, the static loads' potential
    /// included; see [`World::set_servo_terms`](crate::World::set_servo_terms).
    pub elastic: f64,
}

impl Energy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravitational + self.elastic
    }
}
