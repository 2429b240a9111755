//! What joints are called in the answers of `forks inspect`.

use forks_mechanism::{Joint, JointId, Mechanism};

use crate::model::joint_name;

/// True for joints that the user would not count: welds of bodies without joints.
pub(crate) fn is_hidden(j: &Joint) -> bool {
    j.implicit && j.dof() == 0
}

/// What every joint is called in the answer.
pub(crate) struct JointNames(Vec<String>);

impl JointNames {
    /// Tree joints and loop-closing joints are numbered apart, without the hidden ones.
    pub(crate) fn new(m: &Mechanism) -> Self {
        let mut is_closure = vec![false; m.joints().len()];
        m.forest().closures().iter().for_each(|c| is_closure[c.index()] = true);
        let mut numbers = [0, 0];
        let name = |(i, j): (usize, &Joint)| {
            let number = &mut numbers[usize::from(is_closure[i])];
            let name = joint_name(m, JointId::new(i), *number);
            *number += usize::from(!is_hidden(j));
            name
        };
        Self(m.joints().iter().enumerate().map(name).collect())
    }

    pub(crate) fn of(&self, id: JointId) -> String {
        self.0[id.index()].clone()
    }
}
