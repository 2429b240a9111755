//! Joints on curves of keyframes.

use std::path::Path;

use forks_control::{
    keyframe::Motion,
    task::{Goal, Task},
};
use forks_mechanism::{JointId, Mechanism};

use crate::{
    error::{DirectError, invalid},
    plant::Drive,
    spec::KeyframesSpec,
};

/// Curves of joints of one coordinate.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    motion: Motion,
    from: f64,
    level: usize,
    joints: Vec<JointId>,
    mechanism: Mechanism,
    start: Vec<f64>,
    positions: Vec<f64>,
    /// Servos that drive one of the joints alone: servo, joint, target over position.
    servos: Vec<(usize, JointId, f64)>,
}

impl Keys {
    pub(crate) fn new(
        spec: &KeyframesSpec,
        number: usize,
        m: &Mechanism,
        folder: &Path,
    ) -> Result<Self, DirectError> {
        let element = format!("keyframes {}", number + 1);
        let path = folder.join(&spec.file);
        let said = |e: String| invalid(&element, format!("of {}: {e}", spec.file));
        let text = std::fs::read_to_string(&path).map_err(|e| said(e.to_string()))?;
        let motion = Motion::from_toml(m, &text).map_err(|e| said(e.to_string()))?;
        if !spec.from.is_finite() {
            return Err(invalid(element, format!("begins at {} s", spec.from)));
        }
        if let Some(x) = motion.excesses(m).first() {
            return Err(said(format!(
                "joint {} is at {} at {} s, beyond its limit {}",
                x.joint, x.value, x.time, x.limit
            )));
        }
        let joints: Vec<JointId> = motion.joints().collect();
        if let Some(j) = joints.iter().find(|j| m.position_range(**j).len() != 1) {
            let name = m.joint_label(*j);
            return Err(said(format!("joint {name} has more than one coordinate")));
        }
        let driven = |(k, s): (usize, &forks_mechanism::Servo)| match s.combination.terms[..] {
            [(c, a)] if joints.contains(&c.joint) => Some((k, c.joint, a)),
            _ => None,
        };
        let servos = m.servos().iter().enumerate().filter_map(driven).collect();
        let start = m.start_positions();
        let (from, level, positions) = (spec.from, spec.level, start.clone());
        Ok(Self { motion, from, level, joints, mechanism: m.clone(), start, positions, servos })
    }

    /// True while its curves last.
    pub(crate) fn is_on(&self, t: f64) -> bool {
        let (a, b) = self.motion.range();
        self.from <= t && t < self.from + b - a
    }

    /// Positions of its joints at a time.
    fn at(&mut self, t: f64) -> Vec<(JointId, f64)> {
        let (m, (first, _)) = (&self.mechanism, self.motion.range());
        self.motion.positions(m, t - self.from + first, &mut self.positions);
        self.joints.iter().map(|j| (*j, self.positions[m.position_range(*j).start])).collect()
    }

    /// Curves as targets of servos, from when they begin, relative to the start.
    pub(crate) fn lead(&mut self, t: f64, drives: &[Drive], commands: &mut [f64]) {
        if t < self.from {
            return;
        }
        let places = self.at(t);
        for &(servo, joint, factor) in &self.servos {
            let drive = drives.iter().position(|d| *d == Drive::Servo(servo));
            let place = places.iter().find(|(j, _)| *j == joint);
            if let (Some(k), Some((_, q))) = (drive, place) {
                let first = self.start[self.mechanism.position_range(joint).start];
                commands[k] = factor * (q - first);
            }
        }
    }

    /// The task that hits the curves at the end of the step of `h` that begins at a time: what is
    /// missing over h is the rate that is asked for.
    pub(crate) fn task(&mut self, t: f64, h: f64) -> Task {
        let goal = Goal::Posture(self.at(t + h));
        Task {
            level: self.level,
            stiffness: 1.0 / (h * h),
            damping: 1.0 / h,
            ..Task::new("keyframes", goal)
        }
    }
}
