//! Inertia of a mechanism whose base floats, seen from the base link (\[A16\] §6.1).
//!
//! Link `l` is at R_l exp(X_l η) in the base link, R_l its pose there at the linearisation pose,
//! x_k the columns of X_l. With body inertia M_l and all adjoints those of R_l, at η = 0 and to
//! first order:
//!
//! - I = Σ_l Ad⁻ᵀ M_l Ad⁻¹,  ∂I/∂η_k = −Σ_l Ad⁻ᵀ (ad_{x_k}ᵀ M_l + M_l ad_{x_k}) Ad⁻¹,
//! - S = Σ_l Ad⁻ᵀ M_l X_l,  ∂S_j/∂η_k = −Σ_l Ad⁻ᵀ (ad_{x_k}ᵀ M_l x_j + ½ M_l ad_{x_k} x_j).

use forks_mechanism::{
    Cable, JointId, LinkId, Mechanism,
    lie::{Pose, SpatialInertia, Twist, Wrench},
    linalg::{Matrix, dense},
};
use forks_rom::data::{BaseRest, ModelData};

use crate::{
    condensed::mass_of,
    error::ReduceError,
    linearised::Linearised,
    mass::MassModel,
    problem::Problem,
    shapes::{Shapes, joint_rows},
};

impl Problem {
    /// A model of this mechanism with the root that is held as a base that floats. Its mass and the
    /// base's momentum are those of its maps to links and joints, whatever mass it had. `bends` is
    /// empty, or what the links' twists have of second order, 6 × n(n+1)/2 each: columns (0,0),
    /// (0,1), …, (1,1), … belong to products of two coordinates.
    ///
    /// # Errors
    /// [`ReduceError::NotFloating`] if nothing is held, or something else ties the mechanism to the
    /// ground.
    pub fn with_base(
        &self,
        mut data: ModelData,
        bends: &[Matrix],
    ) -> Result<ModelData, ReduceError> {
        let m = self.mechanism();
        let name = || data.effectors.first().map_or(String::new(), |e| e.name.clone());
        let held =
            self.prepared.held.ok_or_else(|| ReduceError::NotFloating { element: name() })?;
        let n = data.basis.columns();
        let maps: Vec<&Matrix> = data.links.iter().map(|l| &l.map).collect();
        let base = with_maps(m, held, &data, &maps, bends)?;
        let joints = joint_rows(m, &data, n, |j| &j.map);
        let links = data.links.iter().map(|l| l.map.clone()).collect();
        let internal = Matrix::zeros(0, n);
        data.mass = mass_of(m, &Shapes { joints, links, internal });
        data.base = Some(base);
        Ok(data)
    }
}

/// The inertia of a model's base, the link that the problem holds. Rotor inertia counts for the
/// joints only, gravity compensation not at all.
///
/// # Errors
/// [`ReduceError::NotFloating`] if something else ties the mechanism to the ground.
pub(crate) fn base_rest(
    linear: &Linearised<'_>,
    mass: MassModel,
    data: &ModelData,
) -> Result<BaseRest, ReduceError> {
    let name = || linear.effectors()[0].name.clone();
    if !linear.attached().is_empty() {
        return Err(ReduceError::WithSuperelements { quantity: "base that floats" });
    }
    let held = linear.problem.prepared.held;
    let held = held.ok_or_else(|| ReduceError::NotFloating { element: name() })?;
    let m = linear.mechanism();
    if mass != MassModel::Accelerability {
        let maps: Vec<&Matrix> = data.links.iter().map(|l| &l.map).collect();
        return with_maps(m, held, data, &maps, &[]);
    }
    let motions = accelerated_motions(linear).ok_or(ReduceError::Massless)?;
    let shapes = Shapes::of_motions(m, linear.q(), motions);
    let maps: Vec<&Matrix> = shapes.links.iter().collect();
    with_maps(m, held, data, &maps, &[])
}

/// Joint rates per η̇ of the least kinetic energy for given effector velocities: N M_N⁻¹ A ᵀ(A
/// M_N⁻¹ Aᵀ)⁻¹ with N the admissible motions, M_N their mass and A = B⁺ J N.
fn accelerated_motions(linear: &Linearised<'_>) -> Option<Matrix> {
    let (m, q) = (linear.mechanism(), linear.q());
    let free = forks_dynamics::modes::admissible_motions(m, q, linear.poses());
    let full = forks_dynamics::mass_matrix(m, q);
    let mass = free.transpose_mul(&full.mul(&free)).symmetric_part();
    let reduced = linear.basis.dual.transpose_mul(linear.effector_jacobian()).mul(&free);
    let pushed = dense::cholesky_solve(&mass, &reduced.transpose())?;
    let inverse = reduced.mul(&pushed).symmetric_part();
    let per_rate = dense::cholesky_solve(&inverse, &Matrix::identity(inverse.rows()))?;
    let motions = free.mul(&pushed).mul(&per_rate);
    motions.is_finite().then_some(motions)
}

/// `maps` are the body twists of all links per reduced coordinate that belong to the model's mass,
/// `bends` their second order where it is known.
fn with_maps(
    m: &Mechanism,
    held: JointId,
    data: &ModelData,
    maps: &[&Matrix],
    bends: &[Matrix],
) -> Result<BaseRest, ReduceError> {
    let base = base_link(m, held)?;
    let mut carried = vec![false; m.links().len()];
    carried[base.index()] = true;
    for e in m.forest().edges() {
        carried[e.outer.index()] |= carried[e.inner.index()];
    }
    let base_from_world = data.links[base.index()].rest.inverse();
    let n = data.basis.columns();
    let mut inertia = SpatialInertia::ZERO;
    let mut slopes = vec![Matrix::zeros(6, 6); n];
    let mut coupling = Matrix::zeros(6, n);
    let mut coupling_slopes = vec![Matrix::zeros(6, n); n];
    for (l, link) in m.links().iter().enumerate().skip(1) {
        // Free bodies beside the mechanism stand still.
        if link.inertia.is_zero() || !carried[l] {
            continue;
        }
        let part = Part {
            inertia: &link.inertia,
            base_from_link: base_from_world * data.links[l].rest,
            map: maps[l],
        };
        inertia = inertia.combined(&link.inertia.transformed(&part.base_from_link));
        part.add_slopes(&mut slopes);
        part.add_coupling(&mut coupling, &mut coupling_slopes);
        if let Some(bend) = bends.get(l) {
            part.add_bend(bend, &mut coupling_slopes);
        }
    }
    Ok(BaseRest {
        link: base.index(),
        inertia: inertia.matrix().into(),
        inertia_slopes: slopes.iter().map(Matrix::symmetric_part).collect(),
        coupling,
        coupling_slopes,
        own_inertia: m.link(base).inertia.matrix().into(),
        gravity: m.gravity(),
    })
}

/// The held link; nothing else may be tied to the ground.
fn base_link(m: &Mechanism, held: JointId) -> Result<LinkId, ReduceError> {
    let edges = m.forest().edges();
    let from_ground = |j: JointId| [m.joint(j).parent, m.joint(j).child].contains(&LinkId::WORLD);
    let other = |j: JointId| ReduceError::NotFloating { element: m.joint_label(j) };
    let tied = edges.iter().map(|e| e.joint).chain(m.forest().closures().iter().copied());
    let still = |j: JointId| j == held || m.joint(j).held;
    if let Some(j) = tied.into_iter().find(|&j| !still(j) && from_ground(j)) {
        return Err(other(j));
    }
    let bushing =
        m.bushings().iter().find(|b| b.link_a == LinkId::WORLD || b.link_b == LinkId::WORLD);
    if let Some(b) = bushing {
        return Err(ReduceError::NotFloating { element: b.name.clone() });
    }
    let touches = |c: &&Cable| !c.is_idle() && c.nodes().any(|n| n.link() == LinkId::WORLD);
    if let Some(c) = m.cables().iter().find(touches) {
        return Err(ReduceError::NotFloating { element: format!("cable '{}'", c.name) });
    }
    edges.iter().find(|e| e.joint == held).map(|e| e.outer).ok_or_else(|| other(held))
}

/// A link's share.
struct Part<'a> {
    inertia: &'a SpatialInertia,
    base_from_link: Pose,
    map: &'a Matrix,
}

impl Part<'_> {
    fn twist(&self, k: usize) -> Twist {
        Twist::from_array(core::array::from_fn(|i| self.map[(i, k)]))
    }

    /// −Ad⁻ᵀ (ad_xᵀ M + M ad_x) Ad⁻¹ for each column x.
    fn add_slopes(&self, slopes: &mut [Matrix]) {
        let ad = self.base_from_link.adjoint();
        for (k, out) in slopes.iter_mut().enumerate() {
            let x = self.twist(k);
            for a in 0..6 {
                let t = ad.apply_inverse(Twist::unit(a));
                let change = x.ad_transpose(self.inertia.apply(t)) + self.inertia.apply(x.ad(t));
                add_column(out, a, -ad.apply_to_wrench(change));
            }
        }
    }

    /// Ad⁻ᵀ M ∂²ξ/∂η_k∂η_j.
    fn add_bend(&self, bend: &Matrix, slopes: &mut [Matrix]) {
        let (ad, n) = (self.base_from_link.adjoint(), slopes.len());
        let mut column = 0;
        for k in 0..n {
            for j in k..n {
                let twist = Twist::from_array(core::array::from_fn(|i| bend[(i, column)]));
                let momentum = ad.apply_to_wrench(self.inertia.apply(twist));
                // Of η_k² the second derivative is twice the coefficient.
                add_column(&mut slopes[k], j, momentum);
                add_column(&mut slopes[j], k, momentum);
                column += 1;
            }
        }
    }

    /// Ad⁻ᵀ M x_j, and −Ad⁻ᵀ (ad_{x_k}ᵀ M x_j + ½ M ad_{x_k} x_j).
    fn add_coupling(&self, coupling: &mut Matrix, slopes: &mut [Matrix]) {
        let ad = self.base_from_link.adjoint();
        for j in 0..coupling.columns() {
            let x = self.twist(j);
            let momentum = self.inertia.apply(x);
            add_column(coupling, j, ad.apply_to_wrench(momentum));
            for (k, out) in slopes.iter_mut().enumerate() {
                let y = self.twist(k);
                let change = y.ad_transpose(momentum) + self.inertia.apply(y.ad(x)) * 0.5;
                add_column(out, j, -ad.apply_to_wrench(change));
            }
        }
    }
}

fn add_column(m: &mut Matrix, j: usize, w: Wrench) {
    for (i, x) in w.to_array().into_iter().enumerate() {
        m[(i, j)] += x;
    }
}
