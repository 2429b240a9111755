//! Steps in which groups of joints do what their modes say.

use std::sync::Arc;

use forks_dynamics::mechanism::{
    JointId, Mechanism,
    lie::Pose,
    linalg::{Matrix, Pivots},
};

use super::{
    machine::Machine,
    mode::{Group, Mode, PlaybackError},
    scheme::Scheme,
};

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Time at its end, s.
    pub time: f64,
    /// Coordinates that a group moves, by their number among the velocities.
    pub coordinates: Vec<usize>,
    /// Force on each of them during the step, N or N·m; times the step it is the impulse, N·s or
    /// N·m·s.
    pub forces: Vec<f64>,
}

/// A mechanism that is played.
#[derive(Clone, Debug)]
pub struct Player {
    mechanism: Arc<Mechanism>,
    scheme: Scheme,
    h: f64,
    start: f64,
    steps: u64,
    groups: Vec<Group>,
    /// Positions as the modes began.
    rest: Vec<f64>,
    commanded: Vec<usize>,
    /// Largest entry of the rows of the last step.
    sizes: Vec<f64>,
    machine: Machine,
}

/// Most corrections of a step that closes loops.
const CORRECTIONS: usize = 8;

impl Player {
    /// At tree positions `q` and velocities `v`, from the time `start` on (s) by steps of `h` (s),
    /// with every joint free.
    ///
    /// # Errors
    /// An explicit scheme for loops or couplings, a step that is not positive, lengths that do not
    /// fit, numbers that are not finite, loops that cannot be closed.
    pub fn new(
        mechanism: Arc<Mechanism>,
        scheme: Scheme,
        q: &[f64],
        v: &[f64],
        start: f64,
        h: f64,
    ) -> Result<Self, PlaybackError> {
        if !start.is_finite() {
            return Err(PlaybackError::Value { what: "the start", value: start });
        }
        let machine = Machine::new(scheme, Arc::clone(&mechanism), q, v, &[], h)?;
        let (groups, commanded) = (vec![], vec![]);
        let rest = machine.positions().to_vec();
        let sizes = vec![];
        Ok(Self { mechanism, scheme, h, start, steps: 0, groups, rest, commanded, sizes, machine })
    }

    /// From now on these groups; joints in none are free. Positions and velocities stay as they
    /// are.
    ///
    /// # Errors
    /// Joints that are not there, do not move or are in two groups; numbers out of range. The
    /// groups then stay as they were.
    pub fn switch(&mut self, groups: Vec<Group>) -> Result<(), PlaybackError> {
        let m = &*self.mechanism;
        let mut commanded: Vec<usize> = vec![];
        for group in &groups {
            group.check(m)?;
            for id in &group.joints {
                let range = m.velocity_range(*id);
                if commanded.contains(&range.start) {
                    return Err(PlaybackError::Twice { joint: m.joint_label(*id) });
                }
                commanded.extend(range);
            }
        }
        let (q, v) = (self.machine.positions().to_vec(), self.machine.velocities().to_vec());
        let mechanism = Arc::clone(&self.mechanism);
        self.machine = Machine::new(self.scheme, mechanism, &q, &v, &commanded, self.h)?;
        (self.groups, self.rest, self.commanded) = (groups, q, commanded);
        Ok(())
    }

    /// Makes a step.
    ///
    /// # Errors
    /// A step that fails, curves that loops do not let be followed; the state stays.
    pub fn step(&mut self) -> Result<Step, PlaybackError> {
        let time = self.start + (self.steps + 1) as f64 * self.h;
        let (free, by) = self.machine.response(&self.commanded)?;
        let n = free.len();
        let (mut a, mut b) = (Matrix::zeros(n, n), vec![0.0; n]);
        let mut i = 0;
        self.sizes.clear();
        self.sizes.resize(n, 1.0);
        for group in &self.groups {
            let mut target = self.rest.clone();
            match &group.mode {
                Mode::Keyframes(motion) | Mode::Servo { motion, .. } => {
                    motion.positions(&self.mechanism, time, &mut target);
                }
                Mode::Compliant { .. } | Mode::Torque(_) => {}
            }
            let mut force = 0;
            for id in &group.joints {
                for way in self.way(*id, &target) {
                    match &group.mode {
                        Mode::Keyframes(_) => {
                            // Rows of the size of the others.
                            let size = by.row(i).iter().fold(0.0f64, |s, x| s.max(x.abs()));
                            if size == 0.0 {
                                return Err(PlaybackError::Tied { time });
                            }
                            self.sizes[i] = size;
                            (0..n).for_each(|j| a[(i, j)] = by[(i, j)] / size);
                            b[i] = (way / self.h - free[i]) / size;
                        }
                        Mode::Servo { stiffness, damping, .. }
                        | Mode::Compliant { stiffness, damping } => {
                            // f = k (target − q − h v⁺) − d v⁺, with v⁺ of this step.
                            let slope = self.h * stiffness + damping;
                            let size = 1.0 + slope * by[(i, i)].abs();
                            (0..n).for_each(|j| a[(i, j)] = slope * by[(i, j)] / size);
                            a[(i, i)] += 1.0 / size;
                            b[i] = (stiffness * way - slope * free[i]) / size;
                        }
                        Mode::Torque(forces) => {
                            a[(i, i)] = 1.0;
                            b[i] = forces[force];
                        }
                    }
                    i += 1;
                    force += 1;
                }
            }
        }
        let forces = self.move_on(time, &a, b)?;
        self.steps += 1;
        Ok(Step { time, coordinates: self.commanded.clone(), forces })
    }

    /// Makes the step whose forces solve A f = b. Loops are closed after a step, which moves joints
    /// off their curves in second order: then rates are corrected and the step is made again.
    fn move_on(
        &mut self,
        time: f64,
        a: &Matrix,
        mut b: Vec<f64>,
    ) -> Result<Vec<f64>, PlaybackError> {
        let tied = PlaybackError::Tied { time };
        let mut forces = solve(a, &b).ok_or(tied.clone())?;
        if self.mechanism.forest().closures().is_empty() && self.mechanism.couplings().is_empty() {
            self.machine.step(&forces)?;
            return Ok(forces);
        }
        let mut next = self.machine.clone();
        next.step(&forces)?;
        let mut missed = self.missed(&next, time);
        for _ in 0..CORRECTIONS {
            let by = |missed: &[(f64, f64)]| missed.iter().fold(0.0f64, |s, x| s.max(x.0.abs()));
            if by(&missed) < 1e-14 {
                break;
            }
            // Rows were divided by the size of what forces do.
            for (b, (way, size)) in b.iter_mut().zip(&missed) {
                *b += way / (self.h * size);
            }
            let better = solve(a, &b).ok_or(tied.clone())?;
            let mut trial = self.machine.clone();
            trial.step(&better)?;
            let then = self.missed(&trial, time);
            if by(&then) >= by(&missed) {
                break;
            }
            (next, forces, missed) = (trial, better, then);
        }
        self.machine = next;
        Ok(forces)
    }

    /// What a step has left to the curves of each coordinate, and the size of its row; nothing of
    /// joints that are on none.
    fn missed(&self, after: &Machine, time: f64) -> Vec<(f64, f64)> {
        let mut out = vec![];
        for group in &self.groups {
            let Mode::Keyframes(motion) = &group.mode else {
                let dof = group.joints.iter().map(|id| self.mechanism.joint(*id).dof()).sum();
                out.extend(core::iter::repeat_n((0.0, 1.0), dof));
                continue;
            };
            let mut target = self.rest.clone();
            motion.positions(&self.mechanism, time, &mut target);
            for id in &group.joints {
                let range = self.mechanism.position_range(*id);
                let kind = &self.mechanism.joint(*id).kind;
                let q = &after.positions()[range.clone()];
                let sizes = &self.sizes[out.len()..];
                let ways = kind.difference(q, &target[range]);
                let pairs: Vec<(f64, f64)> = ways.into_iter().zip(sizes.iter().copied()).collect();
                out.extend(pairs);
            }
        }
        out
    }

    /// What leads a joint from where it is to its part of `target`.
    fn way(&self, id: JointId, target: &[f64]) -> Vec<f64> {
        let range = self.mechanism.position_range(id);
        let q = &self.machine.positions()[range.clone()];
        self.mechanism.joint(id).kind.difference(q, &target[range])
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Arc<Mechanism> {
        &self.mechanism
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.start + self.steps as f64 * self.h
    }

    /// Length of a step, s.
    pub fn step_length(&self) -> f64 {
        self.h
    }

    /// Positions, those of the tree first.
    pub fn positions(&self) -> &[f64] {
        self.machine.positions()
    }

    /// Velocities of the tree.
    pub fn velocities(&self) -> &[f64] {
        self.machine.velocities()
    }

    /// World poses of all links, the ground first.
    pub fn link_poses(&self) -> Vec<Pose> {
        self.machine.link_poses(&self.mechanism)
    }

    /// The groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }
}

/// A⁻¹ b with one refinement; `None` if A is singular.
fn solve(a: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    if b.is_empty() {
        return Some(vec![]);
    }
    let pivots = Pivots::AboveLargest(1e-14);
    let mut x = a.solve_vec(b, pivots)?;
    let open: Vec<f64> = a.mul_vec(&x).iter().zip(b).map(|(y, b)| b - y).collect();
    let more = a.solve_vec(&open, pivots)?;
    x.iter_mut().zip(more).for_each(|(x, d)| *x += d);
    x.iter().all(|x| x.is_finite()).then_some(x)
}
