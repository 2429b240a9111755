//! The state of one instance of a blended model.

use alloc::{vec, vec::Vec};

use forks_rom::{ModelError, internal::check_numbers};

use crate::model::BlendedModel;

/// Chart coordinates, their rates and servo targets of one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendedState {
    pub(crate) x: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) servo_targets: Vec<f64>,
}

impl BlendedState {
    /// At rest at chart coordinates `x`.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite.
    pub fn new(model: &BlendedModel, x: &[f64]) -> Result<Self, ModelError> {
        let mut out = Self::reference(model);
        out.set(x, &vec![0.0; model.dof()])?;
        Ok(out)
    }

    /// At rest at the reference poses of the chart, x = 0.
    pub fn reference(model: &BlendedModel) -> Self {
        let (n, servos) = (model.dof(), model.servo_count());
        Self { x: vec![0.0; n], velocity: vec![0.0; n], servo_targets: vec![0.0; servos] }
    }

    /// Sets chart coordinates and their rates.
    ///
    /// # Errors
    /// Wrong lengths, numbers that are not finite; the state is then unchanged.
    pub fn set(&mut self, x: &[f64], rate: &[f64]) -> Result<(), ModelError> {
        check_numbers("chart coordinates", x, self.x.len())?;
        check_numbers("chart velocity", rate, self.x.len())?;
        self.x.copy_from_slice(x);
        self.velocity.copy_from_slice(rate);
        Ok(())
    }

    /// Sets the servos' targets relative to those of the samples, in the order of
    /// [`ModelData::servos`](forks_rom::data::ModelData::servos). The potential energy changes by
    /// what the servos' drives do.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite, targets other than 0 in a chart of joint
    /// displacements; the state is then unchanged.
    pub fn set_servo_targets(
        &mut self,
        model: &BlendedModel,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        check_numbers("servo targets", targets, model.servo_count())?;
        check_numbers("chart coordinates", &self.x, model.dof())?;
        model.check_targets(targets)?;
        self.servo_targets.clear();
        self.servo_targets.extend_from_slice(targets);
        Ok(())
    }

    /// Servo targets relative to those of the samples.
    pub fn servo_targets(&self) -> &[f64] {
        &self.servo_targets
    }

    /// Servo targets, empty where all are 0.
    pub(crate) fn driven_targets(&self) -> &[f64] {
        if self.servo_targets.iter().any(|s| *s != 0.0) { &self.servo_targets } else { &[] }
    }

    /// Chart coordinates.
    pub fn coordinates(&self) -> &[f64] {
        &self.x
    }

    /// Their rates.
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }
}
