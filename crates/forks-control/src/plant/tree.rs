//! Explicit steps of trees: v⁺ = v + h a(q, v, z), q⁺ = q ⊞ h v⁺.

use std::sync::Arc;

use forks_dynamics::{
    mechanism::{
        JointId, Mechanism,
        kinematics::forward_kinematics,
        lie::{Pose, glam::DVec3},
        linalg::{
            Matrix,
            simd::{LANES, Rows},
        },
    },
    passive::{PassiveWorkspace, passive_forces},
    tree::{
        AbaWorkspace, CrbaWorkspace, DerivativeWorkspace, LinkLoads, Tree,
        acceleration_derivatives, crba, hybrid,
    },
};

use super::{
    error::{PlantError, check, check_commands},
    mass_factor::MassFactor,
    response::{Kinematics, Plant, Response, ResponseMemory},
    tree_frames::TreeFrames,
};
use crate::frame::Frame;

/// What a command of a velocity coordinate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A force beside the coordinate's springs and dampers, N or N·m.
    Force(usize),
    /// Its acceleration, whatever force that takes.
    Acceleration(usize),
}

impl Command {
    /// The velocity coordinate.
    pub fn coordinate(self) -> usize {
        match self {
            Self::Force(c) | Self::Acceleration(c) => c,
        }
    }
}

/// A tree in motion by explicit steps, under gravity, springs and dampers. Its rates are the
/// velocity coordinates.
#[derive(Clone, Debug)]
pub struct TreePlant {
    mechanism: Arc<Mechanism>,
    tree: Tree,
    h: f64,
    commands: Vec<Command>,
    prescribed: Vec<bool>,
    q: Vec<f64>,
    v: Vec<f64>,
    poses: Vec<Pose>,
    frames: TreeFrames,
    /// What hybrid dynamics is given and gives.
    given: Vec<f64>,
    acceleration: Vec<f64>,
    torque: Vec<f64>,
    still: Vec<f64>,
    aba: AbaWorkspace,
    derivatives: DerivativeWorkspace,
    passive: PassiveWorkspace,
    crba: CrbaWorkspace,
    mass: Matrix,
    factor: MassFactor,
    /// The factor is that of the pose.
    factored: bool,
    /// Columns by the factor take less than one by one.
    dense: bool,
    columns: Rows,
}

/// Operations of a step's column by sweeps over a tree, per coordinate, and of an entry of the
/// mass, over those of an entry of its factor by a column.
const SWEEP: usize = 100;
const ENTRY: usize = 30;

impl TreePlant {
    /// At positions `q` and velocities `v`, with steps of `h` (s).
    ///
    /// # Errors
    /// A mechanism with loops or couplings, commands of coordinates that are not there or commanded
    /// twice, a step that is not positive, lengths that do not fit, numbers that are not finite.
    pub fn new(
        mechanism: Arc<Mechanism>,
        q: &[f64],
        v: &[f64],
        commands: &[Command],
        h: f64,
    ) -> Result<Self, PlantError> {
        let m = &*mechanism;
        let n = m.tree_velocity_count();
        let (loops, couplings) = (m.velocity_count() - n, m.couplings().len());
        if m.position_count() != m.tree_position_count() || couplings > 0 {
            let mechanism = m.name().to_string();
            return Err(PlantError::NotATree { mechanism, loops, couplings });
        }
        check_commands(h, commands.iter().map(|c| c.coordinate()), n)?;
        check(["position", "positions"], q, m.tree_position_count())?;
        check(["velocity", "velocities"], v, n)?;
        let mut prescribed = vec![false; n];
        for c in commands {
            prescribed[c.coordinate()] = matches!(c, Command::Acceleration(_));
        }
        let tree = Tree::new(m);
        let factor = MassFactor::new(m, &prescribed);
        let (entries, columns) = (factor.entries(), commands.len());
        // A row of the factor is as long as a path: its own factors take half of its square.
        let factors = entries * entries / (2 * n.max(1));
        let poses = m.link_poses(q);
        let mut frames = TreeFrames::new(n);
        frames.place(m, q, &poses);
        Ok(Self {
            dense: factors + entries * (ENTRY + columns / 2) <= SWEEP * n * columns,
            crba: CrbaWorkspace::new(&tree),
            mass: Matrix::zeros(n, n),
            factor,
            factored: false,
            columns: Rows::default(),
            h,
            poses,
            frames,
            given: vec![0.0; n],
            acceleration: vec![0.0; n],
            torque: vec![0.0; n],
            still: vec![0.0; commands.len()],
            commands: commands.to_vec(),
            prescribed,
            q: q.to_vec(),
            v: v.to_vec(),
            aba: AbaWorkspace::new(&tree),
            derivatives: DerivativeWorkspace::new(&tree),
            passive: PassiveWorkspace::new(m),
            tree,
            mechanism,
        })
    }

    /// Positions.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// Velocities.
    pub fn velocities(&self) -> &[f64] {
        &self.v
    }

    /// The mass at the pose and its factor.
    fn weigh(&mut self) -> Result<(), PlantError> {
        if !self.factored {
            crba(&self.tree, &mut self.crba, &self.q, &mut self.mass);
            self.factored = self.factor.factor(&self.mass);
        }
        if self.factored { Ok(()) } else { Err(PlantError::Massless) }
    }

    /// Rates by commands and by forces after them, all columns at once by the factor of the mass,
    /// which is there.
    fn gain_by_factor(&mut self, forces: &Matrix, gain: &mut Matrix) {
        let Self { h, commands, mass, factor, columns, .. } = self;
        let own = commands.len();
        columns.reset(factor.order().len(), own + forces.rows());
        for (j, c) in commands.iter().enumerate() {
            match *c {
                Command::Force(c) => columns.set(factor.place(c), j, *h),
                Command::Acceleration(c) => {
                    let pulls = factor.order().iter().map(|at| -*h * mass[(*at, c)]);
                    columns.write_column(j, 0, pulls);
                }
            }
        }
        write_forces(*h, factor, forces, own, columns);
        factor.solve(columns);
        for (i, &at) in factor.order().iter().enumerate() {
            let row = columns.row(i);
            let (fours, rest) = gain.row_mut(at).as_chunks_mut::<LANES>();
            fours.iter_mut().zip(row).for_each(|(to, x)| *to = x.0);
            let last = row.iter().skip(fours.len()).flat_map(|x| x.0);
            rest.iter_mut().zip(last).for_each(|(to, x)| *to = x);
        }
        // Coordinates whose accelerations are given do not move by anything else.
        for (j, c) in commands.iter().enumerate() {
            if let Command::Acceleration(c) = *c {
                gain.row_mut(c).fill(0.0);
                gain[(c, j)] = *h;
            }
        }
    }

    /// The same one by one, by sweeps over the tree.
    fn gain_by_sweeps(&mut self, gain: &mut Matrix) -> Result<(), PlantError> {
        let mut map =
            acceleration_derivatives(&self.tree, &mut self.derivatives, &self.q, &self.prescribed)?;
        let a = &mut self.acceleration;
        for (j, c) in self.commands.iter().enumerate() {
            map.apply_unit(c.coordinate(), a, &mut self.torque);
            a.iter().enumerate().for_each(|(i, a)| gain[(i, j)] = self.h * a);
        }
        Ok(())
    }

    /// v⁺ without commands.
    fn fall(&mut self, free: &mut [f64]) -> Result<(), PlantError> {
        let still = std::mem::take(&mut self.still);
        let done = self.next(&still);
        self.still = still;
        done?;
        free.copy_from_slice(&self.acceleration);
        Ok(())
    }

    /// v⁺ under commands, into `acceleration`.
    fn next(&mut self, commands: &[f64]) -> Result<(), PlantError> {
        let given = &mut self.given;
        given.fill(0.0);
        passive_forces(&self.mechanism, &mut self.passive, &self.q, &self.v, given);
        for (c, z) in self.commands.iter().zip(commands) {
            match c {
                Command::Force(i) => given[*i] += z,
                Command::Acceleration(i) => given[*i] = *z,
            }
        }
        let a = &mut self.acceleration;
        hybrid(
            &self.tree,
            &mut self.aba,
            &self.q,
            &self.v,
            &self.prescribed,
            given,
            &LinkLoads::GRAVITY,
            a,
            &mut self.torque,
        )?;
        a.iter_mut().zip(&self.v).for_each(|(a, v)| *a = v + self.h * *a);
        match a.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(PlantError::NotFinite { what: "velocity", index, value: a[index] }),
            None => Ok(()),
        }
    }
}

/// What generalised forces add over a step before the mass divides it, columns from one on.
fn write_forces(h: f64, factor: &MassFactor, forces: &Matrix, first: usize, columns: &mut Rows) {
    for k in 0..forces.rows() {
        let force = forces.row(k);
        columns.write_column(first + k, 0, factor.order().iter().map(|at| h * force[*at]));
    }
}

impl Plant for TreePlant {
    fn command_count(&self) -> usize {
        self.commands.len()
    }

    fn respond(&mut self, out: &mut Response) -> Result<(), PlantError> {
        out.resize(self.v.len(), self.commands.len());
        self.fall(&mut out.free)?;
        // A factor may fail of rounding where sweeps do not.
        if self.dense && self.weigh().is_ok() {
            self.gain_by_factor(&Matrix::default(), &mut out.gain);
            return Ok(());
        }
        self.gain_by_sweeps(&mut out.gain)
    }

    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError> {
        check(["command", "commands"], commands, self.commands.len())?;
        self.next(commands)?;
        self.v.copy_from_slice(&self.acceleration);
        self.given.iter_mut().zip(&self.v).for_each(|(d, v)| *d = self.h * v);
        self.mechanism.integrate(&mut self.q, &self.given);
        self.factored = false;
        forward_kinematics(&self.mechanism, &self.q, &mut self.poses);
        self.frames.place(&self.mechanism, &self.q, &self.poses);
        Ok(())
    }
}

impl Kinematics for TreePlant {
    fn step_length(&self) -> f64 {
        self.h
    }

    fn rates(&self) -> &[f64] {
        &self.v
    }

    fn link_count(&self) -> usize {
        self.poses.len()
    }

    fn frame(&self, frame: &Frame, rows: &mut Matrix) -> Pose {
        self.frames.frame(&self.mechanism, &self.poses, frame, rows)
    }

    fn mechanism(&self) -> Option<&Mechanism> {
        Some(&self.mechanism)
    }

    fn joint(&self, joint: JointId, row: &mut [f64]) -> f64 {
        row.fill(0.0);
        row[self.mechanism.velocity_range(joint).start] = 1.0;
        self.q[self.mechanism.position_range(joint).start]
    }

    fn coordinate_count(&self) -> usize {
        self.v.len()
    }

    fn coordinate(&self, coordinate: usize, row: &mut [f64]) {
        row.fill(0.0);
        row[coordinate] = 1.0;
    }

    fn answer(&mut self, forces: &Matrix, out: &mut Matrix) -> Result<(), PlantError> {
        self.weigh()?;
        // Coordinates whose accelerations are given do not move by forces.
        let Self { h, factor, columns, .. } = self;
        columns.reset(factor.order().len(), forces.rows());
        write_forces(*h, factor, forces, 0, columns);
        factor.solve(columns);
        out.as_mut_slice().fill(0.0);
        for k in 0..forces.rows() {
            let row = out.row_mut(k);
            factor.order().iter().zip(columns.column(k)).for_each(|(at, x)| row[*at] = x);
        }
        Ok(())
    }

    fn respond_to(
        &mut self,
        forces: &Matrix,
        memory: &mut ResponseMemory,
        out: &mut Response,
    ) -> Result<(), PlantError> {
        if !self.dense {
            return memory.one_after_the_other(self, forces, out);
        }
        out.resize(self.v.len(), self.commands.len() + forces.rows());
        self.fall(&mut out.free)?;
        self.weigh()?;
        self.gain_by_factor(forces, &mut out.gain);
        Ok(())
    }

    fn centre_of_mass(&self, rows: &mut Matrix) -> Option<DVec3> {
        let m = &*self.mechanism;
        rows.as_mut_slice().fill(0.0);
        let (mut mass, mut centre) = (0.0, DVec3::ZERO);
        for (link, l) in m.moving_links().filter(|(_, l)| l.inertia.mass > 0.0) {
            let body = &l.inertia;
            let at = self.poses[link.index()].transform_point(body.center_of_mass);
            let mut moves = false;
            for e in m.forest().path_to_ground(link) {
                for k in m.velocity_range(e.joint) {
                    moves = true;
                    let t = self.frames.twist(k);
                    let v = body.mass * (t.linear + t.angular.cross(at));
                    rows[(0, k)] += v.x;
                    rows[(1, k)] += v.y;
                    rows[(2, k)] += v.z;
                }
            }
            if moves {
                mass += body.mass;
                centre += at * body.mass;
            }
        }
        if mass <= 0.0 {
            return None;
        }
        rows.as_mut_slice().iter_mut().for_each(|x| *x /= mass);
        Some(centre / mass)
    }

    fn mass(&self) -> Matrix {
        let n = self.v.len();
        let mut out = Matrix::zeros(n, n);
        crba(&self.tree, &mut CrbaWorkspace::new(&self.tree), &self.q, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use forks_testkit::{RandomMechanismOptions, Rng, random_mechanism};

    use super::*;

    /// A random tree in motion, a third of its coordinates each with an acceleration, a force and
    /// nothing as command.
    fn random_plant(seed: u64, rng: &mut Rng) -> TreePlant {
        let options = RandomMechanismOptions { extra_loops: 0, ..Default::default() };
        let m = Arc::new(random_mechanism(seed, &options));
        let (q, n) = (m.start_positions(), m.tree_velocity_count());
        let mut commands = vec![];
        for c in 0..n {
            match rng.index(3) {
                0 => commands.push(Command::Acceleration(c)),
                1 => commands.push(Command::Force(c)),
                _ => {}
            }
        }
        let v: Vec<f64> = (0..n).map(|_| rng.symmetric()).collect();
        TreePlant::new(m, &q, &v, &commands, 1e-3).unwrap()
    }

    /// Random trees under forces and accelerations: the factor of the mass and sweeps over the tree
    /// have the same columns.
    #[test]
    fn columns_by_the_factor_are_those_by_sweeps() {
        let mut rng = Rng::new(11);
        for seed in 0..200 {
            let mut plant = random_plant(seed, &mut rng);
            let (n, commands) = (plant.v.len(), plant.commands.len());
            let [mut by_factor, mut by_sweeps] = [(); 2].map(|()| Matrix::zeros(n, commands));
            // Before and after a step: the factor is that of the new pose.
            for _ in 0..2 {
                plant.weigh().unwrap();
                plant.gain_by_factor(&Matrix::default(), &mut by_factor);
                plant.gain_by_sweeps(&mut by_sweeps).unwrap();
                for j in 0..commands {
                    let size = (0..n).fold(0.0f64, |s, i| s.max(by_sweeps[(i, j)].abs()));
                    for i in 0..n {
                        let apart = (by_factor[(i, j)] - by_sweeps[(i, j)]).abs();
                        // Conditions of these masses reach 1e4.
                        assert!(apart < 1e-10 * size, "{seed}, {i}, {j}: {apart:e} of {size:e}");
                    }
                }
                plant.step(&vec![0.1; commands]).unwrap();
            }
        }
    }

    /// Random trees under forces and accelerations: the response to commands and forces in one is
    /// that to commands, and what forces add; a force that is also commanded does what the command
    /// does.
    #[test]
    fn forces_beside_commands_answer_as_they_do_alone() {
        let mut rng = Rng::new(12);
        let mut in_one = 0;
        for seed in 0..200 {
            let mut plant = random_plant(seed, &mut rng);
            in_one += usize::from(plant.dense);
            let own = plant.commands.len();
            let commanded = |k: usize| match plant.commands.get(k) {
                Some(&Command::Force(c)) => Some(c),
                _ => None,
            };
            // Those of commands first, and others.
            let forces = Matrix::from_fn(own + rng.index(9), plant.v.len(), |k, i| {
                let other = rng.symmetric();
                commanded(k).map_or(other, |c| f64::from(u8::from(i == c)))
            });
            let mut memory = ResponseMemory::default();
            let [mut all, mut apart] = [(); 2].map(|()| Response::default());
            plant.respond_to(&forces, &mut memory, &mut all).unwrap();
            memory.one_after_the_other(&mut plant, &forces, &mut apart).unwrap();
            assert_eq!(all.free, apart.free);
            let size = apart.gain.max_abs();
            for (a, b) in all.gain.as_slice().iter().zip(apart.gain.as_slice()) {
                assert!((a - b).abs() < 1e-10 * size, "{seed}: {a:e} {b:e}");
            }
            for k in (0..own).filter(|k| matches!(plant.commands[*k], Command::Force(_))) {
                for i in 0..plant.v.len() {
                    let [a, b] = [k, own + k].map(|j| all.gain[(i, j)]);
                    assert!((a - b).abs() < 1e-10 * size, "{seed}, {k}: {a:e} {b:e}");
                }
            }
        }
        assert!(in_one > 100, "{in_one}");
    }
}
