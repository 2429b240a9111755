//! How the energy depends on the servos' targets at fixed poses of the effectors.

use forks_mechanism::{JointId, ServoSpring, kinematics::loops, linalg::Matrix};
use forks_rom::{ServoTerms, data::ModelData};

use crate::{drive::Drive, problem::Problem};

impl Problem {
    /// Derivatives of Σ ½ k_j (ℓ_j(θ) − rest_j − s_j)² + … by the targets s at fixed poses of the
    /// effectors, for a reduced model of this problem linearised at positions `q`. The other
    /// coordinates follow a minimum, so that the first is the explicit one, p_j = −k_j (ℓ_j −
    /// rest_j), and E_jk = ∂p_j/∂s_k = k_j (δ_jk − a_jᵀ ∂θ/∂s_k).
    pub fn servo_terms(&self, q: &[f64], model: &ModelData) -> ServoTerms {
        let m = self.mechanism();
        let poses = m.link_poses(q);
        let drives: Vec<Drive> = self.servos.iter().map(|d| d.at(m, q, &poses)).collect();
        let stretch = |spring: &ServoSpring| match *spring {
            ServoSpring::Combination(id) => {
                let s = &m.combination_springs()[id.index()];
                loops::combination_value(m, &s.combination, q) - s.rest
            }
            ServoSpring::Cable(id) => m.cable(id).length(&poses) - m.cable(id).rest[0],
        };
        let forest = m.forest();
        let mut place = vec![0; m.joints().len()];
        let order = forest.edges().iter().map(|e| e.joint).chain(forest.closures().iter().copied());
        order.enumerate().for_each(|(k, id): (usize, JointId)| place[id.index()] = k);
        let follows = |d: &Drive, k: usize| -> f64 {
            let row = |c: &forks_mechanism::Coordinate| {
                model.joints[place[c.joint.index()]].servo_map[(c.index, k)]
            };
            d.combination.terms.iter().map(|(c, a)| a * row(c)).sum()
        };
        let n = drives.len();
        let springs = self.prepared.servo_springs.iter().map(|(_, spring)| spring);
        ServoTerms {
            force: drives.iter().zip(springs).map(|(d, s)| -d.gain * stretch(s)).collect(),
            stiffness: Matrix::from_fn(n, n, |j, k| {
                drives[j].gain * (f64::from(j == k) - follows(&drives[j], k))
            })
            .symmetric_part(),
        }
    }
}
