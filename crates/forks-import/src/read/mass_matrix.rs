//! Rules that need the mass matrix in the start pose: `springdamper` of joints, `dampratio` of servos.

use forks_mechanism::{Combination, JointId, Mechanism, dense, lie::Matrix, link_jacobian};

use super::{
    Reader,
    assemble::{Model, set_spring},
};
use crate::ImportError;

/// The mass matrix of the tree in the start pose: Σ Jᵀ I J over all links, plus rotor inertia.
pub(crate) fn mass_matrix(m: &Mechanism) -> Matrix {
    let n = m.tree_velocity_count();
    let q = m.start_positions();
    let poses = m.link_poses(&q);
    let mut out = Matrix::zeros(n, n);
    for (id, link) in m.moving_links().filter(|(_, l)| !l.inertia.is_zero()) {
        let j = link_jacobian(m, &q, &poses, id);
        let inertia = link.inertia.matrix().to_mat6();
        let columns: Vec<_> = (0..n).map(|k| core::array::from_fn(|i| j[(i, k)])).collect();
        for b in 0..n {
            let ib = inertia.mul_vec(&columns[b]);
            for a in 0..n {
                out[(a, b)] += (0..6).map(|i| columns[a][i] * ib[i]).sum::<f64>();
            }
        }
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
        for j in &model.joints {
            let Some((time, ratio)) = j.raw.spring_damper else { continue };
            let range = m.velocity_range(j.id);
            let mut mobility = 0.0;
            for k in range.clone() {
                let mut row = vec![0.0; mass.rows()];
                row[k] = 1.0;
                mobility += inverse_norm(mass, &row).ok_or_else(|| ImportError::Element {
                    at: Box::new(j.raw.at.clone()),
                    element: j.raw.label.clone(),
                    problem: "springdamper needs a mass matrix that is positive definite".into(),
                })?;
            }
            let inertia = range.len() as f64 / mobility;
            let joint = &mut model.builder.joints_mut()[j.id.index()];
            if !self.compiler.no_springs {
                set_spring(joint, &j.raw, inertia / (time * time * ratio * ratio));
            }
            if !self.compiler.no_dampers {
                // Actuators may have added to what the joint had; that stays.
                for i in 0..range.len() {
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
    for s in &mut model.servos {
        let Some(ratio) = s.damping_ratio else { continue };
        let row = transmission_row(m, &s.servo.combination, mass.rows());
        let inverse = inverse_norm(mass, &row).ok_or_else(|| ImportError::Element {
            at: Box::new(s.at.clone()),
            element: s.label.clone(),
            problem: "dampratio needs a mass matrix that is positive definite".into(),
        })?;
        // With gain kp = k/g² along l and m = m_q/g² the damping along the coordinate is 2 ζ √(k m_q).
        if s.gear != 0.0 && inverse > 0.0 {
            s.servo.damping = 2.0 * ratio * (s.servo.stiffness / inverse).sqrt();
        }
    }
    Ok(())
}

fn transmission_row(m: &Mechanism, c: &Combination, n: usize) -> Vec<f64> {
    let mut row = vec![0.0; n];
    for (coordinate, a) in &c.terms {
        row[m.velocity_index(*coordinate)] += a;
    }
    row
}

/// r M⁻¹ rᵀ; `None` where M is not positive definite.
fn inverse_norm(mass: &Matrix, row: &[f64]) -> Option<f64> {
    let column = Matrix::from_fn(row.len(), 1, |i, _| row[i]);
    let x = dense::cholesky_solve(mass, &column)?;
    Some((0..row.len()).map(|i| row[i] * x[(i, 0)]).sum())
}
