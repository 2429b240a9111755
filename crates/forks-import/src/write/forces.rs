//! Springs, damping and rotor inertia of tree joints: what MuJoCo's joints hold of them, and fixed
//! tendons for matrices that couple the axes of a joint: K = Σ d l lᵀ gives a spring of stiffness d
//! along Σ lᵢ qᵢ for every l.

use forks_mechanism::{Combination, CombinationSpring, Coordinate, Joint, JointKind, JointMatrix};

use super::{WriteError, Writer, chain::WrittenJoint};
use crate::note::Effect;

/// Stiffness, damping, rotor inertia and dry friction of each MJCF joint of a joint.
#[derive(Clone, Debug)]
pub(crate) struct JointForces {
    pub(crate) stiffness: Vec<f64>,
    pub(crate) damping: Vec<f64>,
    pub(crate) armature: Vec<f64>,
    pub(crate) friction: Vec<f64>,
}

impl Writer<'_> {
    /// What stands in the joint; what couples its axes goes into tendons.
    pub(crate) fn joint_forces(
        &mut self,
        w: &WrittenJoint,
        j: &Joint,
    ) -> Result<JointForces, WriteError> {
        let stiffness =
            j.spring.as_ref().map_or_else(|| JointMatrix::zeros(j.dof()), |s| s.stiffness.clone());
        if j.kind.has_scalar_coordinates() {
            return self.scalar_forces(w, j, &stiffness);
        }
        let label = self.label(w.id);
        let mut out = JointForces {
            stiffness: diagonal(&stiffness),
            damping: diagonal(&j.damping),
            armature: j.armature.clone(),
            friction: j.friction.clone(),
        };
        let planar = j.kind == JointKind::Planar;
        // Body axes and parent axes turn against each other in the plane: only equal damping is the
        // same in both.
        let fits = |d: &[f64]| if planar { d[0] == d[1] } else { uniform(d) };
        if !(is_diagonal(&j.damping) && fits(&out.damping)) {
            self.refuse(&label, "damping", "its damping differs between axes or couples them")?;
            out.damping.fill(0.0);
        }
        let rotor = out.armature.iter().any(|&a| a != 0.0);
        if rotor && (planar || !uniform(&out.armature)) {
            self.refuse(&label, "armature", "its rotor inertia acts along body axes")?;
            out.armature.fill(0.0);
        }
        if !uniform(&out.friction) {
            self.refuse(&label, "friction", "its dry friction differs between axes")?;
            out.friction.fill(0.0);
        }
        if !stiffness.is_zero() && !self.ball_spring_fits(w, j, &stiffness) {
            let reason = if planar {
                "its spring acts along body axes"
            } else {
                "its spring differs between axes or rests away from the start pose"
            };
            self.refuse(&label, "spring", reason)?;
            out.stiffness.fill(0.0);
        }
        if j.kind == JointKind::Free && out.stiffness.iter().any(|&k| k != 0.0) {
            let reason = "MuJoCo's spring acts along world axes";
            self.note(label.as_str(), "stiffness", Effect::Approximated, reason);
        }
        if j.limits.iter().any(Option::is_some) {
            self.note(label, "limits", Effect::Ignored, "MJCF limits rotations by their angle");
        }
        Ok(out)
    }

    /// MuJoCo's springs of balls and free joints are isotropic and rest at the start pose.
    fn ball_spring_fits(&self, w: &WrittenJoint, j: &Joint, stiffness: &JointMatrix) -> bool {
        let rest = &j.spring.as_ref().expect("stiff").rest;
        let start = &self.start[self.m.position_range(w.id)];
        let gap = j.kind.difference(rest, start).iter().fold(0.0f64, |a, x| a.max(x.abs()));
        j.kind != JointKind::Planar
            && is_diagonal(stiffness)
            && uniform(&diagonal(stiffness))
            && gap <= 16.0 * f64::EPSILON
    }

    fn scalar_forces(
        &mut self,
        w: &WrittenJoint,
        j: &Joint,
        stiffness: &JointMatrix,
    ) -> Result<JointForces, WriteError> {
        let (own_stiffness, springs) = split(stiffness);
        let (own_damping, dampers) = split(&j.damping);
        if !(springs.is_empty() && dampers.is_empty()) {
            let label = self.label(w.id);
            let reason = "what couples its axes becomes fixed tendons";
            self.note(label, "stiffness", Effect::Approximated, reason);
        }
        let rest = j.spring.as_ref().map_or_else(Vec::new, |s| s.rest.clone());
        for (l, k) in springs {
            let rest = l.iter().zip(&rest).map(|(l, r)| l * r).sum();
            self.coupled(w, j, &l, k, 0.0, rest)?;
        }
        for (l, d) in dampers {
            self.coupled(w, j, &l, 0.0, d, 0.0)?;
        }
        Ok(JointForces {
            stiffness: own_stiffness,
            damping: own_damping,
            armature: j.armature.clone(),
            friction: j.friction.clone(),
        })
    }

    fn coupled(
        &mut self,
        w: &WrittenJoint,
        j: &Joint,
        l: &[f64],
        stiffness: f64,
        damping: f64,
        rest: f64,
    ) -> Result<(), WriteError> {
        let terms = l.iter().enumerate().filter(|(_, l)| **l != 0.0);
        let terms = terms.map(|(index, l)| (Coordinate { joint: w.id, index }, *l)).collect();
        self.spring(&CombinationSpring {
            name: self.free_tendon_name(&j.name),
            combination: Combination { terms, offset: 0.0 },
            stiffness,
            damping,
            rest,
        })
    }
}

/// K = diag + Σ d l lᵀ by elimination: rows without coupling go to the diagonal.
fn split(k: &JointMatrix) -> (Vec<f64>, Vec<(Vec<f64>, f64)>) {
    let n = k.dof();
    let mut rest = k.clone();
    let (mut own, mut coupled) = (vec![0.0; n], Vec::new());
    for i in 0..n {
        let d = rest.get(i, i);
        let l: Vec<f64> = (0..n)
            .map(|c| match c.cmp(&i) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater if d > 0.0 => rest.get(i, c) / d,
                std::cmp::Ordering::Greater => 0.0,
            })
            .collect();
        if l[i + 1..].iter().all(|&x| x == 0.0) {
            own[i] = d;
            continue;
        }
        for r in i + 1..n {
            for c in r..n {
                // What is left of a semidefinite matrix cannot be negative but for rounding.
                let left = rest.get(r, c) - d * l[r] * l[c];
                rest.set(r, c, if r == c { left.max(0.0) } else { left });
            }
        }
        coupled.push((l, d));
    }
    (own, coupled)
}

fn diagonal(k: &JointMatrix) -> Vec<f64> {
    (0..k.dof()).map(|i| k.get(i, i)).collect()
}

fn is_diagonal(k: &JointMatrix) -> bool {
    (0..k.dof()).all(|i| (0..k.dof()).all(|j| i == j || k.get(i, j) == 0.0))
}

fn uniform(a: &[f64]) -> bool {
    a.windows(2).all(|w| w[0] == w[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        for (n, k) in [
            (2, vec![3.0, 1.0, 1.0, 2.0]),
            (2, vec![1.0, 1.0, 1.0, 1.0]),
            (2, vec![0.0, 0.0, 0.0, 5.0]),
            (3, vec![4.0, 0.0, -2.0, 0.0, 3.0, 0.0, -2.0, 0.0, 7.0]),
            (3, vec![4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, 7.0]),
        ] {
            let k = JointMatrix::new(n, k);
            let (own, coupled) = split(&k);
            for r in 0..n {
                for c in 0..n {
                    let d = if r == c { own[r] } else { 0.0 };
                    let sum = coupled.iter().fold(d, |s, (l, d)| s + d * l[r] * l[c]);
                    assert!((sum - k.get(r, c)).abs() < 16.0 * f64::EPSILON, "{r} {c}: {sum}");
                }
            }
            assert!(own.iter().all(|&x| x >= 0.0) && coupled.iter().all(|(_, d)| *d > 0.0));
        }
    }
}
