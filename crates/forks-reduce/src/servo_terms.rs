//! How the energy depends on the servos' targets at fixed poses of the effectors.

use forks_mechanism::{CombinationSpring, JointId, kinematics::loops, linalg::Matrix};
use forks_rom::{ServoTerms, data::ModelData};

use crate::problem::Problem;

impl Problem {
    /// Derivatives of Σ ½ k_j (ℓ_j(θ) − rest_j − s_j)² + … by the targets s at fixed poses of the
    /// effectors, for a reduced model of this problem linearised at positions `q`. The other
    /// coordinates follow a minimum, so that the first is the explicit one, p_j = −k_j (ℓ_j −
    /// rest_j), and E_jk = ∂p_j/∂s_k = k_j (δ_jk − a_jᵀ ∂θ/∂s_k).
    pub fn servo_terms(&self, q: &[f64], model: &ModelData) -> ServoTerms {
        let m = self.mechanism();
        let springs: Vec<&CombinationSpring> = self
            .prepared
            .servo_springs
            .iter()
            .map(|(_, spring)| &m.combination_springs()[spring.index()])
            .collect();
        let stretch =
            |s: &CombinationSpring| loops::combination_value(m, &s.combination, q) - s.rest;
        let forest = m.forest();
        let mut place = vec![0; m.joints().len()];
        let order = forest.edges().iter().map(|e| e.joint).chain(forest.closures().iter().copied());
        order.enumerate().for_each(|(k, id): (usize, JointId)| place[id.index()] = k);
        let follows = |s: &CombinationSpring, k: usize| -> f64 {
            let row = |c: &forks_mechanism::Coordinate| {
                model.joints[place[c.joint.index()]].servo_map[(c.index, k)]
            };
            s.combination.terms.iter().map(|(c, a)| a * row(c)).sum()
        };
        let n = springs.len();
        ServoTerms {
            force: springs.iter().map(|s| -s.stiffness * stretch(s)).collect(),
            stiffness: Matrix::from_fn(n, n, |j, k| {
                springs[j].stiffness * (f64::from(j == k) - follows(springs[j], k))
            })
            .symmetric_part(),
        }
    }
}
