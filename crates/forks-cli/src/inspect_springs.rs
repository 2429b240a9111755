//! What resists motion, as `forks inspect` lists it.

use forks_mechanism::{Combination, JointId, JointMatrix, Mechanism};
use serde::Serialize;

use crate::{joint_names::JointNames, output::short};

/// A spring, a damper or both.
#[derive(Debug, Serialize)]
pub(crate) struct SpringEntry {
    pub(crate) name: String,
    /// `joint`, `tendon`, `cable`, `bushing` or `servo`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// The joints that it acts on.
    pub(crate) joints: Vec<String>,
    /// Rows of the matrix over the joint's coordinates, 1×1 along a tendon, 6×6 of a bushing.
    pub(crate) stiffness: Vec<Vec<f64>>,
    pub(crate) damping: Vec<Vec<f64>>,
    /// Position coordinates, or the value along the tendon, at which it is unstressed; empty where
    /// that moves.
    pub(crate) rest: Vec<f64>,
}

impl SpringEntry {
    /// A matrix for people: one number where all coordinates have the same, the diagonal where it
    /// is one.
    pub(crate) fn shown(&self, rows: &[Vec<f64>]) -> String {
        let diagonal: Vec<f64> = rows.iter().enumerate().map(|(i, r)| r[i]).collect();
        let is_diagonal = rows
            .iter()
            .enumerate()
            .all(|(i, r)| r.iter().enumerate().all(|(j, x)| i == j || *x == 0.0));
        match diagonal.split_first() {
            None => String::new(),
            Some(_) if !is_diagonal => "matrix".into(),
            Some((first, rest)) if rest.iter().all(|x| x == first) => short(*first),
            Some(_) => diagonal.into_iter().map(short).collect::<Vec<_>>().join(" "),
        }
    }
}

fn rows(m: &JointMatrix) -> Vec<Vec<f64>> {
    let n = m.dof();
    (0..n).map(|i| (0..n).map(|j| m.get(i, j)).collect()).collect()
}

/// All springs, dampers, bushings and servos.
pub(crate) fn spring_entries(m: &Mechanism, names: &JointNames) -> Vec<SpringEntry> {
    let mut out: Vec<SpringEntry> = Vec::new();
    for (i, j) in m.joints().iter().enumerate() {
        let name = names.of(JointId::new(i));
        if j.dof() == 0 || j.spring.is_none() && j.damping.is_zero() {
            continue;
        }
        let spring = j.spring.as_ref();
        out.push(SpringEntry {
            joints: vec![name.clone()],
            name,
            kind: "joint",
            stiffness: spring.map_or(vec![], |s| rows(&s.stiffness)),
            damping: rows(&j.damping),
            rest: spring.map_or(vec![], |s| s.rest.clone()),
        });
    }
    let along = |name: &str, kind, c: &Combination, k: f64, d: f64, rest: Vec<f64>| SpringEntry {
        name: name.to_owned(),
        kind,
        joints: c.terms.iter().map(|(c, _)| names.of(c.joint)).collect(),
        stiffness: vec![vec![k]],
        damping: vec![vec![d]],
        rest,
    };
    for s in m.combination_springs() {
        out.push(along(&s.name, "tendon", &s.combination, s.stiffness, s.damping, vec![s.rest]));
    }
    for s in m.servos() {
        out.push(along(&s.name, "servo", &s.combination, s.stiffness, s.damping, vec![]));
    }
    for c in m.cables() {
        out.push(SpringEntry {
            name: c.name.clone(),
            kind: "cable",
            joints: vec![],
            stiffness: vec![vec![c.stiffness]],
            damping: vec![vec![c.damping]],
            rest: c.rest.to_vec(),
        });
    }
    for b in m.bushings() {
        let six = |s: &forks_mechanism::lie::SymMat6| {
            s.to_mat6().rows.iter().map(|r| r.to_vec()).collect()
        };
        out.push(SpringEntry {
            name: b.name.clone(),
            kind: "bushing",
            joints: vec![],
            stiffness: six(&b.stiffness),
            damping: six(&b.damping),
            rest: vec![],
        });
    }
    out
}
