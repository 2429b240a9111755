//! The mass matrix as M = Λ D Λᵀ by articulated inertias (\[K08\] Table 3, forward dynamics):
//! linear in the number of joints.
//!
//! With D = L Lᵀ joint by joint, W = L⁻¹Λ⁻¹ has M⁻¹ = WᵀW: W is one inward pass, Wᵀ one outward
//! pass. Lengths of W f are mass-weighted, so ranks and projections are taken on rows of G Wᵀ.

use forks_mechanism::{
    lie::{Mat6, SymMat6, Twist, Vec6, Wrench},
    linalg::{Pivots, cholesky, solve_lower, solve_lower_transposed},
};

use super::motion::TreeMotion;

/// Lower triangular factor of a joint's d×d matrix.
type Factor = [[f64; 6]; 6];

#[derive(Clone, Debug)]
struct JointFactor {
    /// U = Iᴬ J.
    momenta: [Wrench; 6],
    /// D = Jᵀ U + armature = L Lᵀ.
    lower: Factor,
}

/// The factorisation, and the space of its passes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Articulated {
    joints: Vec<JointFactor>,
    inertia: Vec<SymMat6>,
    wrenches: Vec<Wrench>,
    twists: Vec<Twist>,
}

impl Articulated {
    /// Factorises M + diag(armature); the position in the forest of a joint that nothing with mass
    /// resists if there is one.
    ///
    /// `inertia` holds the links' 6×6 inertias, the ground's first; `armature` one number per
    /// velocity.
    pub(crate) fn factorize(
        &mut self,
        motion: &TreeMotion,
        inertia: &[SymMat6],
        armature: &[f64],
    ) -> Result<(), usize> {
        self.inertia.clear();
        self.inertia.extend_from_slice(inertia);
        self.wrenches.resize(inertia.len(), Wrench::ZERO);
        self.twists.resize(inertia.len(), Twist::ZERO);
        let empty = JointFactor { momenta: [Wrench::ZERO; 6], lower: [[0.0; 6]; 6] };
        self.joints.resize(motion.joints.len(), empty);
        for (k, j) in motion.joints.iter().enumerate().rev() {
            let columns = j.columns.as_slice();
            let d = columns.len();
            let articulated = self.inertia[j.outer];
            let f = &mut self.joints[k];
            for (u, c) in f.momenta.iter_mut().zip(columns) {
                *u = Wrench::from_array(articulated.mul_vec(&c.to_array()));
            }
            f.lower = [[0.0; 6]; 6];
            for a in 0..d {
                for b in 0..=a {
                    f.lower[a][b] = columns[a].dot(f.momenta[b]);
                }
                f.lower[a][a] += armature[j.velocities.start + a];
            }
            if cholesky(d, f.lower.as_flattened_mut(), 6, Pivots::LOST).is_err() {
                return Err(k);
            }
            if j.inner != 0 {
                let carried = without_joint(&articulated, f, d);
                let outer_from_inner = inverse_matrix(&j.inner_from_outer);
                let at_inner = carried.congruence(&outer_from_inner.transpose());
                self.inertia[j.inner] += at_inner;
            }
        }
        Ok(())
    }

    /// z = W f: one inward pass.
    pub(crate) fn half_solve(&mut self, motion: &TreeMotion, f: &[f64], z: &mut [f64]) {
        self.wrenches.fill(Wrench::ZERO);
        for (k, j) in motion.joints.iter().enumerate().rev() {
            let d = j.velocities.len();
            let factor = &self.joints[k];
            let mut p = self.wrenches[j.outer];
            let mut u = [0.0; 6];
            for (a, c) in j.columns.as_slice().iter().enumerate() {
                u[a] = f[j.velocities.start + a] - c.dot(p);
            }
            solve_lower(factor.lower.as_flattened(), 6, &mut u[..d]);
            z[j.velocities.clone()].copy_from_slice(&u[..d]);
            if j.inner == 0 {
                continue;
            }
            solve_lower_transposed(factor.lower.as_flattened(), 6, &mut u[..d]);
            for (m, u) in factor.momenta[..d].iter().zip(u) {
                p += *m * u;
            }
            if p != Wrench::ZERO {
                self.wrenches[j.inner] += j.inner_from_outer.apply_to_wrench(p);
            }
        }
    }

    /// x = Wᵀ z: one outward pass. `half_solve`, then this one, solves M x = f.
    pub(crate) fn transposed_half_solve(&mut self, motion: &TreeMotion, z: &[f64], x: &mut [f64]) {
        self.twists[0] = Twist::ZERO;
        for (j, factor) in motion.joints.iter().zip(&self.joints) {
            let d = j.velocities.len();
            let carried = j.inner_from_outer.apply_inverse(self.twists[j.inner]);
            // L⁻ᵀ z − D⁻¹ Uᵀ ξ = L⁻ᵀ (z − L⁻¹ Uᵀ ξ).
            let mut s = [0.0; 6];
            for a in 0..d {
                s[a] = factor.momenta[a].dot(carried);
            }
            solve_lower(factor.lower.as_flattened(), 6, &mut s[..d]);
            for a in 0..d {
                s[a] = z[j.velocities.start + a] - s[a];
            }
            solve_lower_transposed(factor.lower.as_flattened(), 6, &mut s[..d]);
            x[j.velocities.clone()].copy_from_slice(&s[..d]);
            self.twists[j.outer] = carried + j.columns.combine(&s[..d]);
        }
    }
}

/// Iᴬ − U D⁻¹ Uᵀ.
fn without_joint(inertia: &SymMat6, f: &JointFactor, d: usize) -> SymMat6 {
    let mut out = *inertia;
    // Columns of U L⁻ᵀ.
    let mut columns: [Vec6; 6] = [[0.0; 6]; 6];
    for a in 0..d {
        let mut c = f.momenta[a].to_array();
        for b in 0..a {
            for i in 0..6 {
                c[i] -= f.lower[a][b] * columns[b][i];
            }
        }
        c.iter_mut().for_each(|x| *x /= f.lower[a][a]);
        columns[a] = c;
        out.add_outer(-1.0, &c);
    }
    out
}

pub(crate) fn inverse_matrix(a: &forks_mechanism::lie::Adjoint) -> Mat6 {
    let rotation = a.rotation.transpose();
    let inverse =
        forks_mechanism::lie::Adjoint { rotation, translation: -(rotation * a.translation) };
    inverse.matrix()
}
