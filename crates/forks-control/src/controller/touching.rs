//! Points that stay on something, and the forces that hold them there.
//!
//! Forces λ are unknowns beside the commands: V⁺ = V₀⁺ + G z + W λ. They push, λ_z ≥ 0, and stay in
//! their cones, |λ_xy| ≤ μ λ_z, which planes that touch it stand for: one more at each direction in
//! which a solution leaves it.

use forks_dynamics::mechanism::linalg::{Matrix, dot};

use super::{ControlError, Controller, Named, Origin, push, push_part};
use crate::{
    frame::Frame,
    plant::{Kinematics, PlantError, Response, ResponseMemory},
};

/// Solutions with closer cones at most.
pub(super) const ROUNDS: usize = 30;

/// By how much a force may leave its cone, over the largest force.
const CONE: f64 = 1e-9;

/// A point of a link on something that does not move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The point, z away from what it is on.
    pub frame: Frame,
    /// Coefficient of friction.
    pub friction: f64,
    /// Distance from what it is on, m; a positive one is closed within the step.
    pub gap: f64,
}

/// Numbers in range, links that are there.
pub(super) fn check(touches: &[Touch], links: usize) -> Result<(), ControlError> {
    for (touch, t) in touches.iter().enumerate() {
        let wrong = |what, value| Err(ControlError::Touch { touch, what, value });
        if t.frame.link.index() >= links {
            return wrong("the number of its link", t.frame.link.index() as f64);
        }
        if let Some(x) = t.frame.link_from_frame.to_array().into_iter().find(|x| !x.is_finite()) {
            return wrong("a number of its frame", x);
        }
        if !(t.friction.is_finite() && t.friction >= 0.0) {
            return wrong("the friction", t.friction);
        }
        if !t.gap.is_finite() {
            return wrong("the gap", t.gap);
        }
    }
    Ok(())
}

/// Rows of touches over rates, and what forces along them do.
#[derive(Clone, Debug, Default)]
pub(super) struct Touching {
    /// Three per touch.
    rows: Matrix,
    twists: Matrix,
    memory: ResponseMemory,
}

impl Touching {
    /// A plant's response to commands, and to forces on touches as the last columns.
    pub(super) fn respond<P: Kinematics>(
        &mut self,
        plant: &mut P,
        touches: &[Touch],
        out: &mut Response,
    ) -> Result<(), PlantError> {
        if touches.is_empty() {
            return plant.respond(out);
        }
        let Self { rows, twists, memory } = self;
        let (n, more) = (plant.rates().len(), 3 * touches.len());
        if (rows.rows(), rows.columns()) != (more, n) {
            (*rows, *twists) = (Matrix::zeros(more, n), Matrix::zeros(6, n));
        }
        for (k, t) in touches.iter().enumerate() {
            plant.frame(&t.frame, twists);
            (0..3).for_each(|i| rows.row_mut(3 * k + i).copy_from_slice(twists.row(i)));
        }
        plant.respond_to(rows, memory, out)
    }
}

impl Controller {
    /// Forces that push, level 0; points that stay, level 1.
    pub(super) fn stay(&mut self, h: f64, touches: &[Touch]) -> Result<(), ControlError> {
        let own = self.problem.unknowns() - 3 * touches.len();
        for (touch, t) in touches.iter().enumerate() {
            let (row, origin) = (self.problem.levels()[0].len(), Origin::Force { touch });
            self.origins.push(Named { level: 0, row, origin, rounding: 0.0 });
            push_part(&mut self.problem, 0, (own + 3 * touch + 2, &[1.0]), [0.0, f64::INFINITY])?;
            for i in 0..3 {
                let over = self.touching.rows.row(3 * touch + i);
                let open = if i == 2 { -t.gap.max(0.0) / h } else { 0.0 };
                let free = dot(over, &self.response.free);
                self.response.over_commands(over, 0, &mut self.by_command);
                let row = self.problem.levels()[1].len();
                let origin = Origin::Touch { touch, row: i };
                let rounding = super::ROUNDING * free.abs();
                self.origins.push(Named { level: 1, row, origin, rounding });
                let bounds = [open - free, open - free];
                push(&mut self.problem, 1, &self.by_command, bounds, 1.0)?;
            }
        }
        Ok(())
    }

    /// Planes at cones that the solution leaves; true if there are some.
    pub(super) fn cut(&mut self, touches: &[Touch]) -> Result<bool, ControlError> {
        let own = self.problem.unknowns() - 3 * touches.len();
        let forces = &self.solution.commands[own..];
        let largest = forces.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut planes = Vec::new();
        for (touch, t) in touches.iter().enumerate() {
            let [x, y, z] = [0, 1, 2].map(|i| forces[3 * touch + i]);
            let across = x.hypot(y);
            if across - t.friction * z > CONE * largest {
                planes.push((touch, [-x / across, -y / across, t.friction]));
            }
        }
        for (touch, plane) in &planes {
            let (row, origin) = (self.problem.levels()[0].len(), Origin::Force { touch: *touch });
            self.origins.push(Named { level: 0, row, origin, rounding: CONE * largest });
            let forces = (own + 3 * touch, &plane[..]);
            push_part(&mut self.problem, 0, forces, [0.0, f64::INFINITY])?;
        }
        Ok(!planes.is_empty())
    }
}
