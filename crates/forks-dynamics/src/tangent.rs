//! The exact tangent stiffness of a loaded mechanism with loops.
//!
//! # The chart
//! Let q ⊞ δ move every joint along the velocity coordinates δ for unit time, and let F(δ) be the
//! force covector in the fixed coordinates δ: its virtual work on dδ is the work that springs,
//! loads and the constraint forces Gᵀλ (λ constant) do in the motion d(q ⊞ δ). The tangent
//! stiffness is
//!
//! K_t = −∂F/∂δ at δ = 0.
//!
//! Where the loads have a potential V, K_t is the Hessian of V(q ⊞ δ) − λ·g(q ⊞ δ): symmetric at
//! every q, and the second variation at an equilibrium. Plain coordinates commute, there F is f +
//! Gᵀλ. Velocities of spherical, planar and free joints do not: with f the components in the body
//! axes *at* q ⊞ δ, F = J_rᵀ f and −∂fᵢ/∂δⱼ = K_tᵢⱼ + ½ f·[eᵢ, eⱼ] within such a joint
//! ([`body_axes_derivative`]). The two agree where f + Gᵀλ = 0, so Newton's method converges
//! quadratically with either.
//!
//! # How it is built
//! A link's displacement is ξ(δ) = Σ Aᵢδᵢ + ½ Σ ([Aᵢ, Aⱼ] for i inward of j) δᵢδⱼ + the joints' own
//! curvature. For a wrench w on the link with slope W = ∂w/∂ξ, and with the right Jacobian's −½ad:
//!
//! ∂ⱼFᵢ = w·[Aᵢ, Aⱼ] + Aᵢᵀ W Aⱼ for i inward of j, ∂ᵢFⱼ = Aⱼᵀ W Aᵢ, w·(½[Aᵢ, Aⱼ] + Bᵢⱼ) + Aᵢᵀ W Aⱼ
//! within a joint,
//!
//! so only the sums of w and W outward of each joint are needed. Bushings and closures are
//! functions of a relative twist ζ of link b against link a, with gradient p and Hessian H
//! (closures: −λ·log, which has H = 0 on the closed loop). With x = ζ to first order and a the
//! first link's twist, both in b's frame, they add x_iᵀ H x_j − ½ p·[x_i, x_j] − p·[a_i, x_j] to
//! K_t, beside the wrenches ∓p on both links. A cable's energy is a function of the twists of all
//! its links, with Hessian H: AᵀHA, beside the wrenches −∂V/∂ξ with the slope −½ w·[·,·] that is
//! left of ∂w/∂ξ without H.

use std::collections::BTreeMap;

use forks_mechanism::{
    CableHessian, Coordinate, JointColumns, JointId, Mechanism,
    kinematics::loops,
    lie::{Mat6, Pose, Twist, Wrench},
    linalg::{Matrix, dot},
};

use crate::{
    branches::{Branch, Branches},
    loads::Loads,
    logarithm::{RelativeTerm, linear_term},
    springs::directions,
    stage::Stage,
};

/// K_t (nv×nv) at `q` for all springs, bushings, cables, loads and the constraint forces Gᵀλ; see
/// the module's text for the chart. Not symmetric with dead torques or follower loads.
///
/// `multipliers` has the rows of [`loops::constraint_residual`]: six per loop-closing joint in its
/// child's frame, then one per coupling.
///
/// # Panics
/// If `multipliers` has another length.
pub fn tangent_stiffness(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    loads: &Loads,
    multipliers: &[f64],
) -> Matrix {
    assert_eq!(multipliers.len(), loops::constraint_rows(m), "number of multipliers");
    stage_tangent(&Stage::full(m, loads), q, world_from_link, multipliers)
}

/// −∂f/∂δ from K_t, for the components f of the total generalised force in the body axes at q ⊞ δ:
/// adds ½ f·[eᵢ, eⱼ] on the coordinates of spherical, planar and free joints.
pub fn body_axes_derivative(m: &Mechanism, tangent: &Matrix, total_force: &[f64]) -> Matrix {
    let mut out = tangent.clone();
    for (i, j) in m.joints().iter().enumerate() {
        let first = m.velocity_range(JointId::new(i)).start;
        let at = directions(&j.kind);
        let mut force = [0.0; 6];
        for (k, &direction) in at.iter().enumerate() {
            force[direction] = total_force[first + k];
        }
        let force = Wrench::from_array(force);
        for (a, &da) in at.iter().enumerate() {
            for (b, &db) in at.iter().enumerate() {
                out[(first + a, first + b)] += 0.5 * Twist::unit(da).ad(Twist::unit(db)).dot(force);
            }
        }
    }
    out
}

pub(crate) fn stage_tangent(
    stage: &Stage<'_>,
    q: &[f64],
    world_from_link: &[Pose],
    multipliers: &[f64],
) -> Matrix {
    let m = stage.m;
    let branches = Branches::new(m, q, world_from_link);
    let relations = relations(stage, &branches, multipliers);
    let mut k = Matrix::zeros(m.velocity_count(), m.velocity_count());
    let cables = add_link_loads(stage, q, &branches, &relations, &mut k);
    cables.iter().for_each(|(path, form)| add_cable(&branches, path, form, &mut k));
    for r in &relations {
        add_relation(&branches, r, &mut k);
    }
    add_joint_springs(stage, q, &mut k);
    add_combinations(stage, q, multipliers, &mut k);
    k
}

/// A function of the motion of link `b` against link `a`, both with frames of their own.
pub(crate) struct Relation {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) b_from_frame: Pose,
    pub(crate) a_from_b: Pose,
    pub(crate) term: RelativeTerm,
}

pub(crate) fn relations(
    stage: &Stage<'_>,
    branches: &Branches,
    multipliers: &[f64],
) -> Vec<Relation> {
    let m = stage.m;
    let poses = &branches.world_from_link;
    let mut out = Vec::with_capacity(m.bushings().len() + m.forest().closures().len());
    for (i, bushing) in m.bushings().iter().enumerate() {
        let (a, b) = (bushing.link_a.index(), bushing.link_b.index());
        out.push(Relation {
            a,
            b,
            b_from_frame: bushing.b_from_bushing,
            a_from_b: poses[a].inverse() * poses[b],
            term: stage.bushing_term(i, poses),
        });
    }
    for (k, &id) in m.forest().closures().iter().enumerate() {
        let (a, b) = (m.links().len() + k, m.joint(id).child.index());
        let a_from_b = poses[a].inverse() * poses[b];
        let lambda: [f64; 6] = core::array::from_fn(|i| -multipliers[6 * k + i]);
        out.push(Relation {
            a,
            b,
            b_from_frame: Pose::IDENTITY,
            a_from_b,
            term: linear_term(a_from_b.log(), &lambda),
        });
    }
    out
}

/// Geometric stiffness of all wrenches on links; the forms of cables are left to be added.
fn add_link_loads(
    stage: &Stage<'_>,
    q: &[f64],
    branches: &Branches,
    relations: &[Relation],
    k: &mut Matrix,
) -> Vec<(CableHessian, Matrix)> {
    let n = branches.world_from_link.len();
    let (mut wrench, mut slope) = (vec![Wrench::ZERO; n], vec![Mat6::ZERO; n]);
    stage.for_each_load(&branches.world_from_link, |link, load| {
        wrench[link] += load.wrench;
        slope[link] += load.slope;
    });
    let cables = stage.cable_forms(&branches.world_from_link, |link, load| {
        wrench[link] += load.wrench;
        slope[link] += load.slope;
    });
    for r in relations {
        let on_b = r.b_from_frame.adjoint().apply_to_wrench(-r.term.gradient);
        wrench[r.b] += on_b;
        wrench[r.a] -= r.a_from_b.adjoint().apply_to_wrench(on_b);
    }
    for b in branches.list.iter().rev() {
        let (w, s) = (wrench[b.outer], slope[b.outer]);
        add_within_joint(stage.m, q, b, w, &s, k);
        add_with_inner_joints(branches, b, w, &s, k);
        wrench[b.inner] += b.inner_from_outer.adjoint().apply_to_wrench(w);
        if s != Mat6::ZERO {
            let ad = b.inner_from_outer.inverse().adjoint().matrix();
            slope[b.inner] += ad.transpose() * s * ad;
        }
    }
    cables
}

/// AᵀHA of a cable's form in the twists of its links.
fn add_cable(branches: &Branches, path: &CableHessian, form: &Matrix, k: &mut Matrix) {
    if form.max_abs() == 0.0 {
        return;
    }
    let poses = &branches.world_from_link;
    let mut columns: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (i, link) in path.links.iter().enumerate() {
        let link_from_world = poses[link.index()].inverse();
        for b in branches.path(link.index()) {
            let ad = (link_from_world * poses[b.outer]).adjoint();
            for (c, at) in b.columns.as_slice().iter().zip(b.velocities.clone()) {
                let column = columns.entry(at).or_insert_with(|| vec![0.0; form.rows()]);
                column[6 * i..6 * i + 6].copy_from_slice(&ad.apply(*c).to_array());
            }
        }
    }
    for (&z, column) in &columns {
        let turned = form.mul_vec(column);
        for (&y, other) in &columns {
            k[(y, z)] += dot(other, &turned);
        }
    }
}

fn add_within_joint(m: &Mechanism, q: &[f64], b: &Branch, w: Wrench, slope: &Mat6, k: &mut Matrix) {
    let columns = b.columns.as_slice();
    let j = m.joint(b.joint);
    let curvature = j.curvature(&q[m.position_range(b.joint)], Branches::wrench_on_child(b, w));
    for (y, row) in b.velocities.clone().enumerate() {
        for (z, column) in b.velocities.clone().enumerate() {
            let turned = apply(slope, columns[z]);
            k[(row, column)] -= columns[y].dot(turned)
                + 0.5 * columns[y].ad(columns[z]).dot(w)
                + curvature.as_ref().map_or(0.0, |c| c.get(y, z));
        }
    }
}

/// ∂ⱼFᵢ = Aᵢ·(W Jⱼ − ad_{Jⱼ}ᵀ w) and ∂ᵢFⱼ = Aᵢ·(Wᵀ Jⱼ) for the joints i inward of j: both brackets
/// are wrenches, carried inward.
fn add_with_inner_joints(branches: &Branches, b: &Branch, w: Wrench, slope: &Mat6, k: &mut Matrix) {
    let columns = b.columns.as_slice();
    if columns.is_empty() || (w == Wrench::ZERO && *slope == Mat6::ZERO) {
        return;
    }
    let mut carried: Vec<(Wrench, Wrench)> = columns
        .iter()
        .map(|&c| (apply(slope, c) - c.ad_transpose(w), apply_transpose(slope, c)))
        .collect();
    let mut inner_from_outer = b.inner_from_outer;
    for i in branches.path(b.inner) {
        let ad = inner_from_outer.adjoint();
        for (z, j) in carried.iter_mut().zip(b.velocities.clone()) {
            *z = (ad.apply_to_wrench(z.0), ad.apply_to_wrench(z.1));
            for (a, row) in i.columns.as_slice().iter().zip(i.velocities.clone()) {
                k[(row, j)] -= a.dot(z.0);
                k[(j, row)] -= a.dot(z.1);
            }
        }
        inner_from_outer = i.inner_from_outer;
    }
}

/// A velocity coordinate that moves a relation: its index, the twist a of the first frame and the
/// relative twist x, both in the second frame.
struct Mover {
    index: usize,
    first: Twist,
    relative: Twist,
}

fn add_relation(branches: &Branches, r: &Relation, k: &mut Matrix) {
    let p = r.term.gradient;
    let movers = movers(branches, r);
    for i in &movers {
        let v = apply(&r.term.hessian, i.relative)
            - i.relative.ad_transpose(p) * 0.5
            - i.first.ad_transpose(p);
        for j in &movers {
            k[(i.index, j.index)] += j.relative.dot(v);
        }
    }
}

fn movers(branches: &Branches, r: &Relation) -> Vec<Mover> {
    let poses = &branches.world_from_link;
    let frame_from_world = (poses[r.b] * r.b_from_frame).inverse();
    let mut at =
        vec![usize::MAX; branches.list.iter().map(|b| b.velocities.end).max().unwrap_or(0)];
    let mut out: Vec<Mover> = Vec::new();
    for (link, is_first) in [(r.a, true), (r.b, false)] {
        for b in branches.path(link) {
            let ad = (frame_from_world * poses[b.outer]).adjoint();
            let columns: &JointColumns = &b.columns;
            for (c, index) in columns.as_slice().iter().zip(b.velocities.clone()) {
                let twist = ad.apply(*c);
                if is_first {
                    at[index] = out.len();
                    out.push(Mover { index, first: twist, relative: -twist });
                } else if at[index] == usize::MAX {
                    out.push(Mover { index, first: Twist::ZERO, relative: twist });
                } else {
                    // A joint inward of both links does not move one against the other.
                    out[at[index]].relative = Twist::ZERO;
                }
            }
        }
    }
    out
}

fn add_joint_springs(stage: &Stage<'_>, q: &[f64], k: &mut Matrix) {
    let m = stage.m;
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        let Some(h) = stage.joint_hessian(id, q) else { continue };
        let first = m.velocity_range(id).start;
        for a in 0..h.dof() {
            for b in 0..h.dof() {
                k[(first + a, first + b)] += h.get(a, b);
            }
        }
    }
}

/// Springs on combinations, k a aᵀ, and the curvature of polynomial couplings, −λ p″ a aᵀ.
fn add_combinations(stage: &Stage<'_>, q: &[f64], multipliers: &[f64], k: &mut Matrix) {
    let m = stage.m;
    let mut add = |terms: &[(Coordinate, f64)], s: f64| {
        for (c, a) in terms {
            for (d, b) in terms {
                k[(m.velocity_index(*c), m.velocity_index(*d))] += s * a * b;
            }
        }
    };
    for s in m.combination_springs() {
        add(&s.combination.terms, s.stiffness);
    }
    let lambda = &multipliers[6 * m.forest().closures().len()..];
    for (c, lambda) in m.couplings().iter().zip(lambda) {
        for t in &c.terms {
            let curvature = t.evaluate(loops::combination_value(m, &t.combination, q)).2;
            add(&t.combination.terms, -lambda * curvature);
        }
    }
}

fn apply(m: &Mat6, t: Twist) -> Wrench {
    Wrench::from_array(m.mul_vec(&t.to_array()))
}

fn apply_transpose(m: &Mat6, t: Twist) -> Wrench {
    Wrench::from_array(m.transpose_mul_vec(&t.to_array()))
}
