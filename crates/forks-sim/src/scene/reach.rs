//! Limits and dry friction of joints that a scene's effectors cannot hold.
//!
//! A reduced model has the motions that forces on its effectors cause. A joint may move otherwise:
//! one that hangs on an effector, one between links whose motions the effectors do not see. A limit
//! or dry friction there would act on a shadow of the joint. So the links at such joints become
//! effectors, too, until a force in the joint moves it as far as in the whole mechanism.

use forks_mechanism::{Joint, JointId, LinkId, Mechanism, linalg::dense};
use forks_reduce::{Problem, ReduceOptions};
use forks_rom::ReducedModel;

use super::{
    SceneMechanism,
    error::{SceneError, invalid},
};
use crate::JointForces;

/// Part of a joint's compliance that a model has to show.
const SHOWN: f64 = 0.99;

impl SceneMechanism {
    /// Adds effectors until the limits and the dry friction that the scene asks for can act.
    pub(super) fn reach_joints(&mut self, forces: JointForces) -> Result<(), SceneError> {
        let wanted = wanted_coordinates(&self.mechanism, forces);
        if wanted.is_empty() {
            return Ok(());
        }
        let own = self.model()?;
        let mut whole = self.clone();
        let ends: Vec<[Option<LinkId>; 2]> = {
            let problem = self.problem()?;
            wanted.iter().map(|(j, _)| problem.mechanism().moving_ends(*j)).collect()
        };
        ends.iter().flatten().flatten().for_each(|l| whole.add_effector(*l));
        let whole = whole.model()?;
        let mut model = own;
        let mut added = Vec::new();
        loop {
            let shares = wanted.iter().map(|(j, coordinate)| {
                let name = &self.mechanism.joint(*j).name;
                share(&model, &whole, name, *coordinate)
            });
            let worst = shares.enumerate().filter(|(_, s)| *s < SHOWN);
            let Some((k, _)) = worst.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            let name = |l: LinkId| self.mechanism.link(l).name.clone();
            let next = ends[k].iter().flatten().find(|l| !self.effectors.contains(&name(**l)));
            let Some(next) = next.copied() else {
                let joint = &self.mechanism.joint(wanted[k].0).name;
                let problem = format!(
                    "has a limit or dry friction on joint {joint:?}, which its model cannot move"
                );
                return Err(invalid(format!("mechanism {:?}", self.name), problem));
            };
            added.push(name(next));
            self.add_effector(next);
            model = self.model()?;
        }
        if !added.is_empty() {
            let note = format!(
                "mechanism {:?}: {} became effectors without shapes, so that limits and dry \
                friction of joints can act",
                self.name,
                added.join(", ")
            );
            self.notes.push(note);
        }
        Ok(())
    }

    fn add_effector(&mut self, link: LinkId) {
        let name = &self.mechanism.link(link).name;
        if !self.effectors.contains(name) {
            self.effectors.push(name.clone());
        }
    }

    /// The model with the present effectors.
    fn model(&self) -> Result<ReducedModel, SceneError> {
        let problem: Problem = self.problem()?;
        if self.floating {
            let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
            let found = problem.reduce(problem.at_rest(), &options);
            return Ok(found.map_err(|e| self.reduce_error(e))?.model);
        }
        self.reduced(&problem)
    }
}

/// Joints and their coordinates on which limits or dry friction shall act.
fn wanted_coordinates(m: &Mechanism, forces: JointForces) -> Vec<(JointId, usize)> {
    let of = |(i, j): (usize, &Joint)| {
        let wanted =
            |k: &usize| forces.friction(j, *k).is_some() || *k == 0 && forces.limit(j).is_some();
        (0..j.dof()).filter(wanted).map(|k| (JointId::new(i), k)).collect::<Vec<_>>()
    };
    m.joints().iter().enumerate().flat_map(of).collect()
}

/// Part of a joint's compliance in one model that another shows; 1 where it has none.
fn share(model: &ReducedModel, whole: &ReducedModel, joint: &str, coordinate: usize) -> f64 {
    let of = |model: &ReducedModel| {
        let row = model.joint_row(model.find_joint(joint)?, coordinate);
        let column = forks_linalg::Matrix::from_fn(row.len(), 1, |i, _| row[i]);
        let moved = dense::cholesky_solve(&model.data().hessian, &column)?;
        Some(row.iter().enumerate().map(|(i, z)| z * moved[(i, 0)]).sum::<f64>())
    };
    match (of(model), of(whole)) {
        (Some(shown), Some(all)) if all > 0.0 => shown / all,
        _ => 1.0,
    }
}
