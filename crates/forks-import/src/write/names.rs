//! Names in the file: unique, and present where something refers to them.

use std::collections::{HashMap, HashSet};

use forks_mechanism::{Coordinate, JointId, Mechanism};

use super::{Chain, Writer};
use crate::note::{Effect, Note};

/// Names of joints and of the things that are added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Names of the MJCF joints of each joint; empty names are left out.
    joints: HashMap<JointId, Vec<String>>,
    used_joints: HashSet<String>,
    used_tendons: HashSet<String>,
    used_equalities: HashSet<String>,
    used_actuators: HashSet<String>,
    used_sites: HashSet<String>,
    used_geoms: HashSet<String>,
    used_assets: HashSet<String>,
}

impl Names {
    /// Names for all joints of the chains.
    pub(crate) fn new(m: &Mechanism, chains: &[Chain], notes: &mut Vec<Note>) -> Self {
        let mut out = Self::default();
        out.used_sites.extend(m.frames().iter().map(|f| f.name.clone()));
        for j in chains.iter().flat_map(|c| &c.joints) {
            let name = &m.joint(j.id).name;
            let mut written = Vec::new();
            for i in 0..j.motions.len() {
                let wanted = match (name.is_empty(), j.motions.len()) {
                    (true, _) => String::new(),
                    (false, 1) => name.clone(),
                    (false, _) => format!("{name}/{i}"),
                };
                written.push(unique(&mut out.used_joints, &wanted, "joint", notes));
            }
            out.joints.insert(j.id, written);
        }
        out
    }

    /// Names of the MJCF joints of a joint.
    pub(crate) fn joint(&self, id: JointId) -> &[String] {
        self.joints.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// `wanted`, or a variant of it that is not taken; a name is never given to what has none.
fn unique(used: &mut HashSet<String>, wanted: &str, kind: &str, notes: &mut Vec<Note>) -> String {
    let name = free_name(used, wanted);
    if name != wanted {
        let (element, reason) =
            (format!("{kind} '{wanted}'"), format!("the name is taken, written as '{name}'"));
        notes.push(Note::new(element, "name", Effect::Approximated, reason));
    }
    name
}

fn free_name(used: &mut HashSet<String>, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    while !name.is_empty() && !used.insert(name.clone()) {
        name.push('\'');
    }
    name
}

impl Writer<'_> {
    /// The name of the MJCF joint of a coordinate; given now if it has none. `None` for
    /// loop-closing joints.
    pub(crate) fn coordinate_name(&mut self, c: Coordinate) -> Option<String> {
        let names = self.names.joints.get_mut(&c.joint)?;
        let name = names.get_mut(c.index)?;
        if name.is_empty() {
            *name = free_name(&mut self.names.used_joints, &format!("joint#{}", c.joint.index()));
            let name = name.clone();
            let label = self.label(c.joint);
            self.note(
                label,
                "name",
                Effect::Approximated,
                "the joint is referred to and gets a name",
            );
            return Some(name);
        }
        Some(name.clone())
    }

    /// A name for a tendon that is referred to.
    pub(crate) fn tendon_name(&mut self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { "tendon" } else { wanted };
        free_name(&mut self.names.used_tendons, wanted)
    }

    /// A name like `wanted` that no tendon has; none for nothing.
    pub(crate) fn free_tendon_name(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.names.used_tendons.contains(&name) {
            name.push('\'');
        }
        name
    }

    /// The name of a spring's tendon, empty if it has none.
    pub(crate) fn spring_name(&mut self, wanted: &str) -> String {
        unique(&mut self.names.used_tendons, wanted, "spring", &mut self.notes)
    }

    pub(crate) fn equality_name(&mut self, wanted: &str) -> String {
        unique(&mut self.names.used_equalities, wanted, "equality", &mut self.notes)
    }

    pub(crate) fn actuator_name(&mut self, wanted: &str) -> String {
        unique(&mut self.names.used_actuators, wanted, "servo", &mut self.notes)
    }

    pub(crate) fn geom_name(&mut self, wanted: &str) -> String {
        unique(&mut self.names.used_geoms, wanted, "shape", &mut self.notes)
    }

    /// A name for a geom that is added.
    pub(crate) fn obstacle_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let taken = |n: &str| self.m.shapes().iter().any(|s| s.name == n);
        while taken(&name) || !self.names.used_geoms.insert(name.clone()) {
            name.push('\'');
        }
        name
    }

    /// A name for a mesh or height field, which its geom refers to.
    pub(crate) fn asset_name(&mut self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { "form" } else { wanted };
        free_name(&mut self.names.used_assets, wanted)
    }

    /// A name for a site that is added.
    pub(crate) fn site_name(&mut self, wanted: &str) -> String {
        free_name(&mut self.names.used_sites, wanted)
    }
}
