//! Loads that joints carry in fixed-effector modes.
//!
//! A mode φ is no equilibrium: the forces that hold it still are Kφ = ω² M φ + J_Eᵀ w + Gᵀ λ, the
//! inertia ω² I_l ξ_l on every link, armatures' on the coordinates, and the reactions w of the
//! effectors and λ of the loops, with the least norm where they are not unique. Loads add up
//! inwards; where a joint is loaded already, what it carries turns with its displacement: δ(Adᵀ μ)
//! = Adᵀ (δμ − ad_aᵀ μ), a = J δθ.

use forks_dynamics::{cables::bracket_slope, mass_matrix, springs::bushing_gradient_and_hessian};
use forks_mechanism::{
    LinkId, Mechanism,
    kinematics::{loops, tree_joint_motion},
    lie::{Pose, Twist, Vec6, Wrench},
    linalg::{Matrix, dense},
};

use crate::{
    basis::relative_twist, error::ReduceError, fixed_modes::FixedModes, joint_loads::static_loads,
    linearisation::Linearisation, linearised::Linearised, prestress::bushing_adjoints,
    shapes::above,
};

/// Singular values of the reactions' equations below this part of the largest count as redundant.
const RANK_TOLERANCE: f64 = 1e-9;

/// Load of each joint (tree first, then closing ones) per mode, 6 × modes, outer link's frame.
pub(crate) fn modal_loads(
    linear: &Linearised<'_>,
    modes: &FixedModes,
    k: &Matrix,
) -> Result<Vec<Matrix>, ReduceError> {
    let (m, q, world_from_link) = (linear.mechanism(), linear.q(), linear.poses());
    let effectors = linear.effectors();
    let carried = static_loads(linear)?;
    let reactions = reactions(linear, modes, k)?;
    let count = modes.stiffness.len();
    let mut out = vec![Matrix::zeros(6, count); carried.len()];
    for mode in 0..count {
        let mode = Mode { modes, mode, reactions: &reactions };
        let mut wrench = mode.inertia_loads(m);
        add_turned_loads(linear, &mode, &mut wrench);
        for (e, effector) in effectors.iter().enumerate() {
            let w = mode.reaction(6 * e);
            let ad = effector.link_from_effector.adjoint();
            wrench[effector.link.index()] += ad.apply_to_wrench(w);
        }
        mode.add_bushings(m, world_from_link, &mut wrench);
        mode.add_cables(linear, &mut wrench);
        let loads = mode.sum_inwards(m, q, world_from_link, &carried, effectors.len(), wrench);
        for (map, load) in out.iter_mut().zip(loads) {
            load.to_array().into_iter().enumerate().for_each(|(i, x)| map[(i, mode.mode)] = x);
        }
    }
    Ok(out)
}

/// w and λ of all modes, (6E + loop equations) × modes.
fn reactions(
    linear: &Linearised<'_>,
    modes: &FixedModes,
    k: &Matrix,
) -> Result<Matrix, ReduceError> {
    let (m, q) = (linear.mechanism(), linear.q());
    let shapes = &modes.shapes.joints;
    let mut inertia = mass_matrix(m, q).mul(shapes);
    for i in 0..inertia.rows() {
        let w = &modes.frequencies;
        inertia.row_mut(i).iter_mut().zip(w).for_each(|(x, w)| *x *= w * w);
    }
    let left = k.mul(shapes).sub(&inertia);
    let rows = above(linear.effector_jacobian(), &loops::constraint_jacobian(m, q, linear.poses()));
    // A = U Σ Vᵀ (rows × nv), Aᵀ y = left: y = U Σ⁻¹ Vᵀ left.
    let d = dense::svd(&rows).ok_or(ReduceError::NotFinite { quantity: "the loop equations" })?;
    let rank = dense::numerical_rank(&d.s, RANK_TOLERANCE);
    let mut y = d.v.block(0, 0, d.v.rows(), rank).transpose_mul(&left);
    for i in 0..rank {
        y.row_mut(i).iter_mut().for_each(|x| *x /= d.s[i]);
    }
    Ok(d.u.block(0, 0, d.u.rows(), rank).mul(&y))
}

/// Gravity and forces fixed in the world turn against links that turn: δf = f × ω.
fn add_turned_loads(linear: &Linearised<'_>, mode: &Mode<'_>, wrench: &mut [Wrench]) {
    let Linearisation::Loaded { loads, .. } = linear.at else { return };
    let (m, world_from_link, effectors) = (linear.mechanism(), linear.poses(), linear.effectors());
    if loads.gravity {
        for (id, link) in m.moving_links() {
            let weight = m.gravity() * (link.inertia.mass * (1.0 - link.gravity_compensation));
            let f = world_from_link[id.index()].rotation.conjugate() * weight;
            let turned = f.cross(mode.twist(id.index()).angular);
            wrench[id.index()] += Wrench::new(turned, link.inertia.center_of_mass.cross(turned));
        }
    }
    for w in loads.wrenches.iter().filter(|w| effectors.iter().all(|e| e.link != w.link)) {
        let i = w.link.index();
        let f = w.in_link(&world_from_link[i]).force;
        let turned = f.cross(mode.twist(i).angular);
        wrench[i] += Wrench::new(turned, w.link_from_point.translation.cross(turned));
    }
}

/// One mode.
struct Mode<'a> {
    modes: &'a FixedModes,
    mode: usize,
    reactions: &'a Matrix,
}

impl Mode<'_> {
    fn twist(&self, link: usize) -> Twist {
        Twist::from_array(core::array::from_fn(|i| self.modes.shapes.links[link][(i, self.mode)]))
    }

    /// Wrench that starts at a row of the reactions.
    fn reaction(&self, row: usize) -> Wrench {
        Wrench::from_array(core::array::from_fn(|i| self.reactions[(row + i, self.mode)]))
    }

    fn inertia_loads(&self, m: &Mechanism) -> Vec<Wrench> {
        let w2 = self.modes.frequencies[self.mode].powi(2);
        let load =
            |(l, link): (usize, &forks_mechanism::Link)| link.inertia.apply(self.twist(l)) * w2;
        m.links().iter().enumerate().map(load).collect()
    }

    /// A bushing's change of force, in its second frame; zero for a bushing that is not stretched.
    fn add_bushings(&self, m: &Mechanism, world_from_link: &[Pose], wrench: &mut [Wrench]) {
        for b in m.bushings() {
            let k = bushing_gradient_and_hessian(b, world_from_link).1.to_mat6();
            let relative = relative_twist(b, world_from_link, &self.modes.shapes.links);
            let change = Wrench::from_array(core::array::from_fn(|i| {
                (0..6).map(|j| k.rows[i][j] * relative[(j, self.mode)]).sum()
            }));
            let (a, c) = bushing_adjoints(b, world_from_link, 1.0);
            wrench[b.link_b.index()] -= c.transpose_apply(change);
            wrench[b.link_a.index()] += a.transpose_apply(change);
        }
    }

    /// The changes of the wrenches that cables exert on their links; tensions turn with them.
    fn add_cables(&self, linear: &Linearised<'_>, wrench: &mut [Wrench]) {
        let loaded = matches!(linear.at, Linearisation::Loaded { .. });
        for c in linear.mechanism().cables() {
            let path = c.length_and_hessian(linear.poses());
            let t = c.tension(path.length);
            let force = if loaded { t.force } else { 0.0 };
            let form = path.of_function(force, t.stiffness);
            let twists = path.links.iter().flat_map(|l| self.twist(l.index()).to_array());
            let twists: Vec<f64> = twists.collect();
            let pull = form.mul_vec(&twists);
            for (k, l) in path.links.iter().enumerate() {
                let own: Vec6 = core::array::from_fn(|i| twists[6 * k + i]);
                let turned = bracket_slope(path.gradient[k] * -force).mul_vec(&own);
                let change: Vec6 = core::array::from_fn(|i| turned[i] - pull[6 * k + i]);
                wrench[l.index()] += Wrench::from_array(change);
            }
        }
    }

    fn sum_inwards(
        &self,
        m: &Mechanism,
        q: &[f64],
        world_from_link: &[Pose],
        carried: &[Wrench],
        effectors: usize,
        mut wrench: Vec<Wrench>,
    ) -> Vec<Wrench> {
        let (edges, closures) = (m.forest().edges(), m.forest().closures());
        let mut out = vec![Wrench::ZERO; carried.len()];
        let moved = |columns: &forks_mechanism::JointColumns, range: std::ops::Range<usize>| {
            let shapes = &self.modes.shapes.joints;
            let delta: Vec<f64> = range.map(|v| shapes[(v, self.mode)]).collect();
            columns.combine(&delta)
        };
        for (c, &id) in closures.iter().enumerate() {
            let j = m.joint(id);
            let load = -j.held_wrench(self.reaction(6 * (effectors + c)));
            out[edges.len() + c] = load;
            let a = moved(&j.columns(&q[m.position_range(id)]), m.velocity_range(id));
            let (p, child) = (world_from_link[j.parent.index()], world_from_link[j.child.index()]);
            let turned = load - a.ad_transpose(carried[edges.len() + c]);
            wrench[j.child.index()] -= load;
            wrench[j.parent.index()] += (child.inverse() * p).adjoint().transpose_apply(turned);
        }
        for (k, e) in edges.iter().enumerate().rev() {
            let load = wrench[e.outer.index()];
            out[k] = load;
            if e.inner != LinkId::WORLD {
                let motion = tree_joint_motion(m, e, q);
                let a = moved(&motion.columns, m.velocity_range(e.joint));
                let turned = load - a.ad_transpose(carried[k]);
                wrench[e.inner.index()] +=
                    motion.inner_from_outer.inverse().adjoint().transpose_apply(turned);
            }
        }
        out
    }
}
