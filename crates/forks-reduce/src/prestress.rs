//! What a loaded pose adds to the stiffness: geometric terms of loads, joint forces and
//! multipliers.
//!
//! All quantities are dimensionless in length (see [`crate::motion`]). With μ the load that a joint
//! has to carry (loads outward of it plus closure forces, in the outer link's frame), a tree joint
//! adds the energy θᵀ Γ ξ_inner, Γ with one row ½ μᵀ ad_{J_i} Ad per column; a closure with the
//! wrench λ on its child adds ½ λᵀ ad_{Ad ξ_p} ξ_c; gravity and world-fixed forces add ½ ξᵀ Λ ξ on
//! their link, a cable of tension f and length ℓ adds ½ f ξᵀ ∂²ℓ ξ in the twists of all its links.

use forks_dynamics::{AppliedWrench, Loads, WrenchFrame};
use forks_mechanism::{
    JointId, LinkId, Mechanism,
    lie::{
        Mat6, Pose, SymMat6, Twist, Vec6, Wrench,
        glam::{DMat3, DVec3},
        skew,
    },
    linalg::Matrix,
};

use crate::{
    attached::Attached,
    error::ReduceError,
    motion::{ScaledMotion, scale_pose, scale_wrench},
};

/// The forces in a mechanism at an equilibrium.
pub(crate) struct Prestress {
    /// Load carried by the joint of each tree edge, outer link's frame.
    pub(crate) carried: Vec<Wrench>,
    /// Second derivative of the loads' potential on each link.
    pub(crate) link_hessian: Vec<SymMat6>,
    /// Wrench of each loop-closing joint on its child, child's frame.
    pub(crate) closure_wrench: Vec<Wrench>,
    /// Multiplier of each coupling.
    pub(crate) coupling_force: Vec<f64>,
    /// Gradient of each bushing's energy in its relative twist.
    pub(crate) bushing_gradient: Vec<Wrench>,
}

/// Collects the forces: `multipliers` in the row order of `forks_mechanism::kinematics::loops`,
/// with (generalised forces) + Gᵀ multipliers = 0.
pub(crate) fn prestress(
    m: &Mechanism,
    motions: &[ScaledMotion],
    (world_from_link, r): (&[Pose], f64),
    (loads, multipliers, attached): (&Loads, &[f64], &[Attached]),
    effectors: &[LinkId],
) -> Result<Prestress, ReduceError> {
    let n = m.links().len();
    let mut wrench = vec![Wrench::ZERO; n];
    let mut link_hessian = vec![SymMat6::ZERO; n];
    if loads.gravity {
        for (id, link) in m.moving_links() {
            let i = id.index();
            let weight = m.gravity() * (link.inertia.mass * (1.0 - link.gravity_compensation));
            let force = world_from_link[i].rotation.conjugate() * weight * r;
            add_dead_force(
                &mut wrench[i],
                &mut link_hessian[i],
                force,
                link.inertia.center_of_mass / r,
            );
        }
    }
    for w in &loads.wrenches {
        add_applied(m, w, world_from_link, r, effectors, &mut wrench, &mut link_hessian)?;
    }
    let closure_wrench = closure_wrenches(m, multipliers, r);
    for (&id, &w) in m.forest().closures().iter().zip(&closure_wrench) {
        add_closure(m, id, w, world_from_link, r, &mut wrench);
    }
    let mut bushing_gradient = Vec::new();
    for b in m.bushings() {
        let (gradient, _) =
            forks_dynamics::springs::bushing_gradient_and_hessian(b, world_from_link);
        let gradient = scale_wrench(gradient, r);
        bushing_gradient.push(gradient);
        // −gradient on the second link, +gradient on the first, both at the second frame.
        let (a, c) = bushing_adjoints(b, world_from_link, r);
        wrench[b.link_b.index()] -= c.transpose_apply(gradient);
        wrench[b.link_a.index()] += a.transpose_apply(gradient);
    }
    for c in m.cables() {
        let pull = c.tension(c.length(world_from_link)).force;
        c.length_and_gradient(world_from_link, |l, w| {
            wrench[l.index()] -= scale_wrench(w * pull, r);
        });
    }
    for a in attached {
        let frames = a.element.frames.iter().map(|f| (f.link, f.link_from_frame));
        let outputs = a.outputs.iter().map(|l| (*l, Pose::IDENTITY));
        for ((link, at), force) in frames.chain(outputs).zip(&a.element.forces) {
            let on_link = at.adjoint().apply_to_wrench(*force);
            wrench[link.index()] += scale_wrench(on_link, r);
        }
    }
    let rows = 6 * closure_wrench.len();
    Ok(Prestress {
        carried: carried_loads(m, motions, wrench),
        link_hessian,
        closure_wrench,
        coupling_force: multipliers[rows..].to_vec(),
        bushing_gradient,
    })
}

/// Adjoints that take the twists of a bushing's first and second link to its second frame.
pub(crate) fn bushing_adjoints(
    b: &forks_mechanism::Bushing,
    world_from_link: &[Pose],
    r: f64,
) -> (forks_mechanism::lie::Adjoint, forks_mechanism::lie::Adjoint) {
    let second = world_from_link[b.link_b.index()] * b.b_from_bushing;
    let from_a = second.inverse() * world_from_link[b.link_a.index()];
    (scale_pose(&from_a, r).adjoint(), scale_pose(&b.b_from_bushing.inverse(), r).adjoint())
}

/// A force fixed in the world at a point c of the body: wrench (f; c × f) and
/// ½ξᵀΛξ = −f·(½ω×v + ½ω×(ω×c)).
fn add_dead_force(wrench: &mut Wrench, hessian: &mut SymMat6, f: DVec3, c: DVec3) {
    *wrench += Wrench::new(f, c.cross(f));
    let cross = skew(f) * -0.5;
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let rotational =
        (outer(c, f) + outer(f, c)) * -0.5 + DMat3::from_diagonal(DVec3::splat(c.dot(f)));
    *hessian += SymMat6::symmetric_part(&Mat6::from_blocks(
        DMat3::ZERO,
        cross,
        cross.transpose(),
        rotational,
    ));
}

fn add_applied(
    m: &Mechanism,
    w: &AppliedWrench,
    world_from_link: &[Pose],
    r: f64,
    effectors: &[LinkId],
    wrench: &mut [Wrench],
    hessian: &mut [SymMat6],
) -> Result<(), ReduceError> {
    let i = w.link.index();
    let in_link = scale_wrench(w.in_link(&world_from_link[i]), r);
    if effectors.contains(&w.link) {
        // The reduced model carries effector loads itself: linear in the exponential coordinates.
        wrench[i] += in_link;
        return Ok(());
    }
    if w.frame != WrenchFrame::World || w.wrench.torque != DVec3::ZERO {
        return Err(ReduceError::NonconservativeLoad { link: m.link(w.link).name.clone() });
    }
    add_dead_force(
        &mut wrench[i],
        &mut hessian[i],
        in_link.force,
        w.link_from_point.translation / r,
    );
    Ok(())
}

fn closure_wrenches(m: &Mechanism, multipliers: &[f64], r: f64) -> Vec<Wrench> {
    (0..m.forest().closures().len())
        .map(|k| {
            let w: Vec6 = core::array::from_fn(|i| multipliers[6 * k + i]);
            scale_wrench(Wrench::from_array(w), r)
        })
        .collect()
}

fn add_closure(
    m: &Mechanism,
    id: JointId,
    w: Wrench,
    world_from_link: &[Pose],
    r: f64,
    wrench: &mut [Wrench],
) {
    let j = m.joint(id);
    let (p, c) = (j.parent.index(), j.child.index());
    wrench[c] += w;
    let child_from_parent = world_from_link[c].inverse() * world_from_link[p];
    wrench[p] -= scale_pose(&child_from_parent, r).adjoint().transpose_apply(w);
}

/// Sums wrenches inwards: the load that each tree joint carries.
fn carried_loads(m: &Mechanism, motions: &[ScaledMotion], mut wrench: Vec<Wrench>) -> Vec<Wrench> {
    let edges = m.forest().edges();
    let mut carried = vec![Wrench::ZERO; edges.len()];
    for (k, e) in edges.iter().enumerate().rev() {
        let w = wrench[e.outer.index()];
        carried[k] = w;
        wrench[e.inner.index()] += motions[k].ad.transpose_apply(w);
    }
    carried
}

/// Γ (d×6): row i is ½ μᵀ ad_{J_i} Ad.
pub(crate) fn gamma(motion: &ScaledMotion, carried: Wrench) -> Matrix {
    let rows: Vec<Vec6> = motion
        .columns
        .as_slice()
        .iter()
        .map(|j| {
            let pulled = motion.ad.transpose_apply(j.ad_transpose(carried));
            pulled.to_array().map(|x| 0.5 * x)
        })
        .collect();
    Matrix::from_fn(rows.len(), 6, |i, k| rows[i][k])
}

/// The matrix B of the form ½ λᵀ ad_{Ad ξ_a} (Ad′ ξ_b) = ξ_aᵀ B ξ_b.
pub(crate) fn bracket_form(
    wrench: Wrench,
    from_a: &forks_mechanism::lie::Adjoint,
    from_b: &forks_mechanism::lie::Adjoint,
) -> Mat6 {
    let mut out = Mat6::ZERO;
    for i in 0..6 {
        let a = from_a.apply(Twist::unit(i));
        // λᵀ ad_a ξ = (ad_aᵀ λ)·ξ, then back through Ad′.
        let row = from_b.transpose_apply(a.ad_transpose(wrench)).to_array();
        out.rows[i] = row.map(|x| 0.5 * x);
    }
    out
}
