//! Rules that need the mass matrix in the start pose: `springdamper` of joints, `dampratio` of
//! servos.

use forks_mechanism::{
    JointId, Mechanism, Servo, Transmission,
    kinematics::pull_back_wrenches,
    lie::{Pose, SymMat6, Wrench, glam::DVec3},
    linalg::{Matrix, dense, dot},
};

use super::{
    Reader,
    assemble::{Model, set_spring},
};
use crate::{ImportError, Location};

/// The mass matrix of the tree in the start pose, by composite bodies: all twists and inertias in
/// world axes about the middle of the links, M_ij = S_iᵀ I_c(j) S_j with I_c(j) what joint j
/// carries, for i on the way to j.
pub(crate) fn mass_matrix(m: &Mechanism) -> Matrix {
    let n = m.tree_velocity_count();
    let q = m.start_positions();
    let poses = centred(m.link_poses(&q));
    let mut carried: Vec<SymMat6> = m
        .links()
        .iter()
        .zip(&poses)
        .map(|(l, pose)| l.inertia.transformed(pose).matrix())
        .collect();
    let twists = twists(m, &q, &poses);
    let mut out = Matrix::zeros(n, n);
    for e in m.forest().edges().iter().rev() {
        let inertia = carried[e.outer.index()];
        for k in m.velocity_range(e.joint) {
            let momentum = inertia.mul_vec(&twists[k]);
            for way in m.forest().path_to_ground(e.outer) {
                for i in m.velocity_range(way.joint) {
                    let mass = dot(&twists[i], &momentum);
                    (out[(i, k)], out[(k, i)]) = (mass, mass);
                }
            }
        }
        carried[e.inner.index()] += inertia;
    }
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        for (k, a) in m.velocity_range(id).zip(&m.joint(id).armature) {
            if k < n {
                out[(k, k)] += a;
            }
        }
    }
    out
}

/// Per velocity coordinate of the tree: the twist of its joint's outer link against the inner one,
/// in world axes.
fn twists(m: &Mechanism, q: &[f64], poses: &[Pose]) -> Vec<[f64; 6]> {
    let mut out = vec![[0.0; 6]; m.tree_velocity_count()];
    for e in m.forest().edges() {
        let j = m.joint(e.joint);
        let to_world = poses[j.child.index()].adjoint();
        let sign = if e.reversed { -1.0 } else { 1.0 };
        let columns = j.columns(&q[m.position_range(e.joint)]);
        for (k, column) in m.velocity_range(e.joint).zip(columns.as_slice()) {
            out[k] = (to_world.apply(*column) * sign).to_array();
        }
    }
    out
}

/// Poses about the mean of the links' places: what is far from the world's origin keeps its digits.
fn centred(mut poses: Vec<Pose>) -> Vec<Pose> {
    let mean = poses.iter().map(|p| p.translation).sum::<DVec3>() / poses.len() as f64;
    poses.iter_mut().for_each(|p| p.translation -= mean);
    poses
}

impl Reader<'_> {
    /// Sets springs and damping given by time constants and damping ratios, and adds the servos.
    pub(crate) fn finish_inertial_rules(&mut self, model: &mut Model) -> Result<(), ImportError> {
        let needed = model.joints.iter().any(|j| j.raw.spring_damper.is_some())
            || model.servos.iter().any(|s| s.damping_ratio.is_some());
        if needed {
            let file = self.tree.location(&self.tree.elements[self.tree.root]).file;
            let file = file.unwrap_or_else(|| "text".into());
            let m = model
                .builder
                .clone()
                .build()
                .map_err(|source| ImportError::Mechanism { file, source })?;
            let mass = mass_matrix(&m);
            self.set_spring_dampers(model, &m, &mass)?;
            set_damping_ratios(model, &m, &mass)?;
        }
        for s in model.servos.drain(..) {
            model.builder.add_servo(s.servo);
        }
        Ok(())
    }

    /// k = I/(T² ζ²), d = 2 I/T with 1/I the mean of the joint's diagonal entries of M⁻¹.
    fn set_spring_dampers(
        &self,
        model: &mut Model,
        m: &Mechanism,
        mass: &Matrix,
    ) -> Result<(), ImportError> {
        let joints: Vec<_> =
            model.joints.iter().filter(|j| j.raw.spring_damper.is_some()).collect();
        let coordinates = joints.iter().flat_map(|j| m.velocity_range(j.id));
        let rows: Vec<_> = coordinates.map(|k| vec![(k, 1.0)]).collect();
        let Some(mobilities) = inverse_norms(mass, &rows) else {
            let first = &joints[0].raw;
            return Err(singular("springdamper", &first.at, &first.label));
        };
        let mut mobilities = mobilities.into_iter();
        for j in joints {
            let Some((time, ratio)) = j.raw.spring_damper else { continue };
            let dof = m.velocity_range(j.id).len();
            let mobility: f64 = mobilities.by_ref().take(dof).sum();
            let inertia = dof as f64 / mobility;
            let joint = &mut model.builder.joints_mut()[j.id.index()];
            if !self.compiler.no_springs {
                set_spring(joint, &j.raw, inertia / (time * time * ratio * ratio));
            }
            if !self.compiler.no_dampers {
                // Actuators may have added to what the joint had; that stays.
                for i in 0..dof {
                    let added = joint.damping.get(i, i) - j.raw.damping;
                    joint.damping.set(i, i, 2.0 * inertia / time + added);
                }
            }
        }
        Ok(())
    }
}

/// Damping 2 ζ √(kp m), m = 1/(J M⁻¹ Jᵀ) with J the gear times the transmission's coefficients.
fn set_damping_ratios(model: &mut Model, m: &Mechanism, mass: &Matrix) -> Result<(), ImportError> {
    let mut servos: Vec<_> =
        model.servos.iter_mut().filter(|s| s.damping_ratio.is_some()).collect();
    let rows: Vec<_> = servos.iter().map(|s| transmission_row(m, &s.servo)).collect();
    let Some(inverse) = inverse_norms(mass, &rows) else {
        return Err(singular("dampratio", &servos[0].at, &servos[0].label));
    };
    for (s, inverse) in servos.iter_mut().zip(inverse) {
        let Some(ratio) = s.damping_ratio else { continue };
        // With gain kp = k/g² along l and m = m_q/g² the damping along the coordinate is 2 ζ √(k
        // m_q).
        if s.gear != 0.0 && inverse > 0.0 {
            s.servo.damping = 2.0 * ratio * (s.servo.stiffness / inverse).sqrt();
        }
    }
    Ok(())
}

fn singular(what: &str, at: &Location, element: &str) -> ImportError {
    ImportError::Element {
        at: Box::new(at.clone()),
        element: element.into(),
        problem: format!("{what} needs a mass matrix that is positive definite"),
    }
}

/// How fast what a servo drives changes with the coordinates, in the start pose.
fn transmission_row(m: &Mechanism, s: &Servo) -> Vec<(usize, f64)> {
    let Transmission::Cable(id) = s.transmission else {
        let terms = s.combination.terms.iter();
        return terms.map(|&(coordinate, a)| (m.velocity_index(coordinate), a)).collect();
    };
    let q = m.start_positions();
    let mut wrenches = vec![Wrench::ZERO; m.links().len()];
    m.cable(id).length_and_gradient(&m.link_poses(&q), |l, w| wrenches[l.index()] += w);
    let slopes = pull_back_wrenches(m, &q, &wrenches);
    slopes.into_iter().enumerate().take(m.tree_velocity_count()).collect()
}

/// r M⁻¹ rᵀ of all rows, given by their entries; `None` where M is not positive definite.
fn inverse_norms(mass: &Matrix, rows: &[Vec<(usize, f64)>]) -> Option<Vec<f64>> {
    if rows.is_empty() {
        return Some(vec![]);
    }
    let mut columns = Matrix::zeros(mass.rows(), rows.len());
    for (c, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(k, a)| columns[(k, c)] += a);
    }
    let x = dense::cholesky_solve(mass, &columns)?;
    let norm = |c: usize, row: &[(usize, f64)]| row.iter().map(|&(k, a)| a * x[(k, c)]).sum();
    Some(rows.iter().enumerate().map(|(c, row)| norm(c, row)).collect())
}
