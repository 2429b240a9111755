//! From one blend to another while it runs: links without a jump.
//!
//! The new blend takes over at once: effector poses and velocities are continuous, equal in every
//! bit where the new chart continues the old one. What is not continuous is said: the potential and
//! the mass at that pose are the new blend's, so that energy jumps by [`EnergyJump`]. In a stated
//! number of steps, with the weight t³(10 − 15t + 6t²), links go from where the old blend has them
//! to where the new one has them, and loads fade out that make up for the difference between the
//! wrenches of the two at the change: without them what the old blend was wrong in would be set
//! free at once. Their work is that of any load.

use forks_linalg::simd::LANES;

use alloc::{sync::Arc, vec, vec::Vec};

use forks_lie::{Pose, Twist, Wrench};
use forks_rom::{
    EffectorLoad, LoadFrame, ModelError, PoseBuffer,
    internal::{POSE, pose_entries, pose_of},
};

use crate::{
    data::dual,
    mean::{LinkBlend, mean},
    model::BlendedModel,
    state::BlendedState,
    workspace::BlendedWorkspace,
};

/// Energy of the new blend over that of the old one, at the pose and velocity of the change, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyJump {
    /// Of the potential.
    pub potential: f64,
    /// Of the kinetic energy: the masses differ.
    pub kinetic: f64,
}

/// The change from one blend to another.
#[derive(Clone, Debug)]
pub struct Crossfade {
    old: Arc<BlendedModel>,
    old_state: BlendedState,
    old_work: BlendedWorkspace,
    old_poses: PoseBuffer,
    /// S²B of the old chart, 6E × N by rows.
    dual: Vec<f64>,
    x: Vec<f64>,
    still: Vec<f64>,
    steps: usize,
    done: usize,
    jump: EnergyJump,
    lost: f64,
    /// Wrenches of the new blend over those of the old one at the change, effector frames.
    excess: Vec<Wrench>,
    loads: Vec<EffectorLoad>,
}

impl Crossfade {
    /// Begins the change, and the state in the new blend: the same effector poses and velocities,
    /// the same servo targets. Step that with the new blend from now on, with [`Crossfade::loads`]
    /// added to the others. `steps` is how many calls of [`Crossfade::advance`] the change takes.
    ///
    /// # Errors
    /// Blends of other effectors, links or servos.
    pub fn new(
        old: Arc<BlendedModel>,
        state: &BlendedState,
        new: &BlendedModel,
        steps: usize,
    ) -> Result<(Self, BlendedState), ModelError> {
        let size = |quantity, found, expected| match found == expected {
            true => Ok(()),
            false => Err(ModelError::WrongSize { quantity, found, expected }),
        };
        size("effectors of a blend", new.effector_count(), old.effector_count())?;
        size("servos of a blend", new.servo_count(), old.servo_count())?;
        let links = |m: &BlendedModel| m.data().samples[0].model.data().links.len();
        size("links of a blend", links(new), links(&old))?;
        let old_poses = old.pose_buffer();
        if new.pose_buffer().links() != old_poses.links() {
            return Err(ModelError::UnlikeSamples { quantity: "links" });
        }
        size("chart coordinates", state.coordinates().len(), old.dof())?;
        let (x, rate, lost) = match continues(&old, new) {
            true => (
                extended(state.coordinates(), new.dof()),
                extended(state.velocity(), new.dof()),
                0.0,
            ),
            false => {
                let all = 0..old.effector_count();
                let poses: Vec<Pose> =
                    all.clone().map(|e| old.effector_pose_at(e, state)).collect();
                let twists: Vec<Twist> = all.map(|e| old.effector_velocity(e, state)).collect();
                new.coordinates_of(&poses, &twists)?
            }
        };
        let mut new_state = BlendedState::new(new, &x)?;
        new_state.set(&x, &rate)?;
        new_state.set_servo_targets(new, state.servo_targets())?;
        let (mut there, mut here) = (BlendedWorkspace::new(new), BlendedWorkspace::new(&old));
        there.update(new, &new_state);
        here.update(&old, state);
        let jump = EnergyJump {
            potential: there.here.energy - here.here.energy,
            kinetic: new.kinetic_energy(&new_state) - old.kinetic_energy(state),
        };
        let wrenches = there.here.effector_wrenches(new).into_iter();
        let wrenches = wrenches.zip(here.here.effector_wrenches(&old));
        let excess: Vec<Wrench> = wrenches.map(|(n, o)| n - o).collect();
        let load = |(effector, &wrench): (usize, &Wrench)| EffectorLoad {
            effector,
            wrench,
            frame: LoadFrame::Body,
        };
        let out = Self {
            loads: excess.iter().enumerate().map(load).collect(),
            excess,
            old_state: state.clone(),
            old_work: here,
            old_poses,
            dual: dual(&old.data().basis, old.data().radius).as_slice().to_vec(),
            x: vec![0.0; old.dof()],
            still: vec![0.0; old.dof()],
            steps,
            done: 0,
            jump,
            lost,
            old,
        };
        Ok((out, new_state))
    }

    /// What the change did to the energy.
    pub fn energy_jump(&self) -> EnergyJump {
        self.jump
    }

    /// The part of the effectors' displacement or velocity that the new chart does not span,
    /// lengths over r; 0 where it continues the old one.
    pub fn lost(&self) -> f64 {
        self.lost
    }

    /// Loads for the next step, one per effector, besides those that act on the mechanism.
    pub fn loads(&mut self) -> &[EffectorLoad] {
        let left = 1.0 - self.weight();
        for (load, excess) in self.loads.iter_mut().zip(&self.excess) {
            load.wrench = *excess * left;
        }
        &self.loads
    }

    /// One step further; true as long as the old blend is part of the links' poses.
    pub fn advance(&mut self) -> bool {
        self.done = self.steps.min(self.done + 1);
        self.done < self.steps
    }

    /// The new blend's part of the links' poses, from 0 to 1.
    pub fn weight(&self) -> f64 {
        if self.done >= self.steps {
            return 1.0;
        }
        let t = self.done as f64 / self.steps as f64;
        t * t * t * (10.0 - t * (15.0 - 6.0 * t))
    }

    /// Poses of all links for a state of the new blend; allocates nothing.
    ///
    /// # Panics
    /// If the buffer or the state belong to a model of other sizes.
    pub fn poses(
        &mut self,
        new: &BlendedModel,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
        blend: LinkBlend,
        out: &mut PoseBuffer,
    ) {
        new.poses(state, work, blend, out);
        let weight = self.weight();
        if weight >= 1.0 {
            return;
        }
        self.follow(new, state);
        self.old.poses(&self.old_state, &mut self.old_work, blend, &mut self.old_poses);
        if weight == 0.0 {
            out.blocks.copy_from_slice(&self.old_poses.blocks);
            return;
        }
        let old = self.old_poses.blocks.chunks_exact(POSE);
        for (block, old) in out.blocks.chunks_exact_mut(POSE).zip(old) {
            for lane in 0..LANES {
                let a = pose_of(core::array::from_fn(|k| old[k].0[lane]));
                let b = pose_of(core::array::from_fn(|k| block[k].0[lane]));
                let pose: Pose = mean(blend, [(1.0 - weight, a), (weight, b)].into_iter());
                for (entry, x) in block.iter_mut().zip(pose_entries(&pose)) {
                    entry.0[lane] = x;
                }
            }
        }
    }

    /// Puts the old blend where the new one has the effectors.
    fn follow(&mut self, new: &BlendedModel, state: &BlendedState) {
        let n = self.x.len();
        if self.done == 0 {
            // Where the change began.
            return;
        }
        if self.old.is_curved() {
            let all = 0..new.effector_count();
            let poses: Vec<Pose> = all.map(|e| new.effector_pose_at(e, state)).collect();
            let twists = vec![Twist::ZERO; poses.len()];
            if let Ok((x, _, _)) = self.old.coordinates_of(&poses, &twists) {
                let _ = self.old_state.set(&x, &self.still);
            }
            return;
        }
        self.x.fill(0.0);
        for (e, rest) in self.old.data().reference.iter().enumerate() {
            let twist = rest.twist_to(&new.effector_pose(e, state.coordinates())).to_array();
            for (i, t) in twist.iter().enumerate() {
                let row = &self.dual[(6 * e + i) * n..][..n];
                self.x.iter_mut().zip(row).for_each(|(x, d)| *x += d * t);
            }
        }
        // Numbers that are not finite keep the last place.
        let _ = self.old_state.set(&self.x, &self.still);
    }
}

/// True if the new chart is the old one, perhaps with further columns: then coordinates carry over
/// bit by bit.
fn continues(old: &BlendedModel, new: &BlendedModel) -> bool {
    let (a, b) = (old.data(), new.data());
    let columns = a.basis.columns();
    !old.is_curved()
        && !new.is_curved()
        && a.reference == b.reference
        && columns <= b.basis.columns()
        && (0..a.basis.rows()).all(|i| a.basis.row(i) == &b.basis.row(i)[..columns])
}

fn extended(x: &[f64], n: usize) -> Vec<f64> {
    let mut out = x.to_vec();
    out.resize(n, 0.0);
    out
}
