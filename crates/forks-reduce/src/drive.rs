//! What moves a mechanism besides wrenches on its effectors.

use forks_mechanism::{
    CableId, Combination, Mechanism, ServoSpring,
    kinematics::pull_back_wrenches,
    lie::{Pose, Wrench},
};

/// Something that moves the mechanism besides wrenches on effectors: a servo's target, or
/// generalised forces such as gravity's.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Name.
    pub name: String,
    /// The direction in joint space, a: generalised force a · gain per unit of the drive's value.
    pub combination: Combination,
    /// Force along the direction per unit of the drive's value.
    pub gain: f64,
    /// The cable along whose length it acts, in place of a direction that stays.
    pub cable: Option<CableId>,
}

impl Drive {
    /// The rest value of a spring that stands for a servo.
    pub fn servo(m: &Mechanism, name: impl Into<String>, spring: impl Into<ServoSpring>) -> Self {
        let name = name.into();
        match spring.into() {
            ServoSpring::Combination(id) => {
                let s = &m.combination_springs()[id.index()];
                Self { name, combination: s.combination.clone(), gain: s.stiffness, cable: None }
            }
            ServoSpring::Cable(id) => {
                let combination = Combination { terms: vec![], offset: 0.0 };
                Self { name, combination, gain: m.cable(id).stiffness, cable: Some(id) }
            }
        }
    }

    /// The drive at positions `q` and the poses of all links there: a direction that stays; that of
    /// a cable is the gradient of its length.
    pub fn at(&self, m: &Mechanism, q: &[f64], poses: &[Pose]) -> Self {
        let Some(id) = self.cable else { return self.clone() };
        let mut wrenches = vec![Wrench::ZERO; m.links().len()];
        m.cable(id).length_and_gradient(poses, |l, w| wrenches[l.index()] += w);
        let slopes = pull_back_wrenches(m, q, &wrenches);
        Self { gain: self.gain, ..Self::forces(m, self.name.clone(), &slopes) }
    }

    /// Generalised forces (one per velocity coordinate), scaled by the drive's value.
    pub fn forces(m: &Mechanism, name: impl Into<String>, forces: &[f64]) -> Self {
        let terms = forces
            .iter()
            .enumerate()
            .filter(|(_, f)| **f != 0.0)
            .map(|(v, f)| (m.velocity_owner(v), *f))
            .collect();
        Self {
            name: name.into(),
            combination: Combination { terms, offset: 0.0 },
            gain: 1.0,
            cable: None,
        }
    }
}
