//! What happens at joints, on request: displacements, loads, and the gaps that link poses leave.

mod chain;
pub(crate) mod coordinate;
pub(crate) mod displacement;
mod motion;
mod openings;

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Wrench, so3::log_rotation};

pub use self::openings::Openings;
use self::{
    chain::{Chain, Connection, connections},
    displacement::displacement,
    motion::{Motion, parent_from_child},
};
use crate::{Reconstruction, ReducedModel, State, data::JointRest};

/// Distance and angle between two frames that should coincide.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gap {
    /// m.
    pub position: f64,
    /// rad.
    pub angle: f64,
}

/// The gap at a joint, or at several in a row with massless frames between them.
#[derive(Clone, Debug, PartialEq)]
pub struct JointGap {
    /// The joints, indices into [`ModelData::joints`](crate::data::ModelData::joints).
    pub joints: Vec<usize>,
    /// Between the last joint's frame where its link has it and where the joints can put it at
    /// best.
    pub gap: Gap,
}

/// How far the shown poses are from what joints and effectors allow (\[A16\] §8.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintError {
    /// Gaps at joints, those that close loops included.
    pub joints: Vec<JointGap>,
    /// Per effector: between its reduced pose and the one that its link gives it.
    pub effectors: Vec<Gap>,
    /// Sum of all position gaps over the mechanism's size r.
    pub position: f64,
    /// Sum of all angles, rad.
    pub angle: f64,
}

impl ReducedModel {
    /// Displacement of a joint's coordinates from the linearisation pose: Z η, and what servo
    /// targets add.
    ///
    /// # Panics
    /// If there is no such joint, or the state belongs to a model of another size.
    pub fn joint_displacement<'a>(
        &'a self,
        joint: usize,
        state: &'a State,
    ) -> impl ExactSizeIterator<Item = f64> + 'a {
        let j = &self.data().joints[joint];
        (0..j.map.rows()).map(|i| displacement(j, i, state.coordinates(), state.servo_targets()))
    }

    /// The wrench that a joint passes to its outer link, outer link's frame; `None` where the model
    /// does not know it.
    ///
    /// It is that at the linearisation pose and what the effectors' elastic wrenches add, 𝓗(η −
    /// η_s) to first order; what servos do against each other within loops is not in it.
    ///
    /// # Panics
    /// If there is no such joint, or the state belongs to a model of another size.
    pub fn joint_load(&self, joint: usize, state: &State) -> Option<Wrench> {
        let j = &self.data().joints[joint];
        assert_eq!(state.coordinates().len(), self.dof(), "coordinates of the state");
        if j.load_map.rows() == 0 {
            return None;
        }
        let added = core::array::from_fn(|i| {
            let stretch = state.coordinates().iter().zip(&state.rest);
            j.load_map.row(i).iter().zip(stretch).map(|(m, (x, r))| m * (x - r)).sum()
        });
        Some(j.static_load + Wrench::from_array(added))
    }

    /// Gaps at joints and effectors for the link poses of a reconstruction mode.
    ///
    /// A joint's coordinates are those that close it best; several joints in a row through massless
    /// frames count as one, and make the position gap smallest, then the angle.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn constraint_error(&self, state: &State, mode: Reconstruction) -> ConstraintError {
        let mut poses = vec![Pose::IDENTITY; self.data().links.len()];
        self.link_poses_into(state, mode, &mut poses);
        self.gaps_of(&poses, |e| self.effector_pose(e, state.coordinates()))
    }

    /// Gaps for the poses of all links and the effectors' own poses.
    #[doc(hidden)]
    pub fn gaps_of(
        &self,
        poses: &[Pose],
        effector_pose: impl Fn(usize) -> Pose,
    ) -> ConstraintError {
        let joints: Vec<JointGap> = connections(self.data())
            .iter()
            .map(|c| JointGap {
                joints: c.joints.iter().map(|&(j, _)| j).collect(),
                gap: size_of(&self.connection_gap(c, poses)),
            })
            .collect();
        let effector = |(e, rest): (usize, &crate::data::EffectorRest)| {
            let shown = poses[rest.link] * rest.link_from_effector;
            size_of(&(shown.inverse() * effector_pose(e)))
        };
        let effectors: Vec<Gap> = self.data().effectors.iter().enumerate().map(effector).collect();
        let all = || joints.iter().map(|j| j.gap).chain(effectors.iter().copied());
        ConstraintError {
            position: all().map(|g| g.position).sum::<f64>() / self.data().radius,
            angle: all().map(|g| g.angle).sum(),
            joints,
            effectors,
        }
    }

    fn connection_gap(&self, c: &Connection, poses: &[Pose]) -> Pose {
        if let [(index, _)] = c.joints[..] {
            let j = &self.data().joints[index];
            let inner_from_outer = poses[j.inner].inverse() * poses[j.outer];
            return Motion::new(j).gap(&parent_from_child(j, &inner_from_outer));
        }
        Chain::new(self.data(), c).gap(&(poses[c.from].inverse() * poses[c.to]))
    }
}

/// True if a joint's motions form a group of rotations and translations about its frame.
pub fn is_group(j: &JointRest) -> bool {
    Motion::new(j).is_group()
}

fn size_of(gap: &Pose) -> Gap {
    Gap { position: gap.translation.length(), angle: log_rotation(gap.rotation).length() }
}
