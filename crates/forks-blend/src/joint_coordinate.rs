//! Coordinates of joints between samples, for limits.

use forks_rom::{
    data::{JointPath, JointRest},
    internal::{displacement, start},
};

use crate::{
    evaluation::Evaluation, joint_blend::JointBlend, joint_space::sum, model::BlendedModel,
    state::BlendedState,
};

/// Half of the distance of central differences, chart coordinates: rounding and third derivatives
/// both leave about 1e-10.
const DIFFERENCE: f64 = 1e-5;

impl BlendedModel {
    /// The joint of a name, an index into the joints of any sample.
    pub fn find_joint(&self, name: &str) -> Option<usize> {
        self.data().samples[0].model.find_joint(name)
    }

    /// Coordinates of a joint that [`BlendedModel::joint_coordinate`] knows: none of joints whose
    /// motions are blended as poses, but for those with one coordinate.
    ///
    /// # Panics
    /// If there is no such joint.
    pub fn joint_coordinate_count(&self, joint: usize) -> usize {
        match self.data().samples[0].model.data().joints[joint].map.rows() {
            1 => 1,
            n if self.starts(joint).is_some() => n,
            _ => 0,
        }
    }

    /// Coordinate `i` of a joint at a state, rad or m, the samples' weighted mean; and its
    /// derivative by the chart coordinates into `row`, by central differences. It counts as
    /// [`ReducedModel::joint_coordinate`](forks_rom::ReducedModel::joint_coordinate); of joints
    /// with several coordinates from their place in the first sample.
    ///
    /// # Panics
    /// If there is no such joint or coordinate, or sizes differ.
    pub fn joint_coordinate(
        &self,
        joint: usize,
        i: usize,
        state: &BlendedState,
        row: &mut [f64],
    ) -> f64 {
        assert!(i < self.joint_coordinate_count(joint), "coordinate {i} of joint {joint}");
        assert_eq!([state.x.len(), row.len()], [self.dof(); 2], "coordinates of the state");
        let (mut there, mut x) = (Evaluation::new(self), state.x.clone());
        let targets = state.driven_targets();
        let mut at = |x: &[f64]| self.coordinate_at(joint, i, x, targets, &mut there);
        for (k, slope) in row.iter_mut().enumerate() {
            let here = x[k];
            x[k] = here + DIFFERENCE;
            let after = at(&x);
            x[k] = here - DIFFERENCE;
            *slope = (after - at(&x)) / (2.0 * DIFFERENCE);
            x[k] = here;
        }
        at(&x)
    }

    fn coordinate_at(
        &self,
        joint: usize,
        c: usize,
        x: &[f64],
        targets: &[f64],
        there: &mut Evaluation,
    ) -> f64 {
        there.at(self, x);
        there.bent_coordinates(self);
        let joints = |i: usize| &self.data().samples[i].model.data().joints[joint];
        let starts = self.starts(joint);
        let first = start(joints(0), c);
        let from = |i: usize| match starts {
            Some(all) => all[i * joints(0).map.rows() + c],
            None if turns(joints(i)) => nearest_turn(start(joints(i), c), first),
            None => start(joints(i), c),
        };
        let change = |i: usize| match &self.samples[i].curved {
            Some(curved) => {
                sum(curved.joints[joint].row(c), there.eta(self, i))
                    + sum(joints(i).servo_map.row(c), targets)
            }
            None => displacement(joints(i), c, there.eta(self, i), targets),
        };
        there.active.iter().map(|&i| there.weights[i] * (from(i) + change(i))).sum()
    }

    /// Coordinates of the samples from the first one's, for joints of several that are blended by
    /// them.
    fn starts(&self, joint: usize) -> Option<&[f64]> {
        let all = &self.data().samples[0].model.data().joints;
        if all[joint].closes_loop || all[joint].map.rows() == 1 {
            return None;
        }
        // Those that close loops are not among the blends.
        let place = all[..joint].iter().filter(|j| !j.closes_loop).count();
        match &self.joints[place] {
            JointBlend::Coordinates(starts) => Some(starts),
            JointBlend::Group => None,
        }
    }
}

/// True for an angle that is known up to whole turns.
fn turns(j: &JointRest) -> bool {
    match &j.path {
        JointPath::Exponential { columns } => columns[0].angular.length_squared() > 0.0,
        _ => false,
    }
}

/// The angle with whole turns added that is nearest to another.
fn nearest_turn(angle: f64, to: f64) -> f64 {
    angle + core::f64::consts::TAU * libm::round((to - angle) / core::f64::consts::TAU)
}
