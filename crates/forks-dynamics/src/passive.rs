//! Forces of springs and dampers on all coordinates, without allocation.
//!
//! A spring pulls with minus the gradient of its energy, a damper with −D θ̇; a bushing's damper
//! with −D ζ̇, ζ̇ the twist of its second frame relative to its first, in the second frame; a
//! cable's with −c ℓ̇ along its length.

use forks_mechanism::{
    JointId, JointKind, JointSpring, Mechanism,
    kinematics::{forward_kinematics, loops, tree_joint_motion},
    lie::{Pose, Twist, Wrench},
};

use crate::{
    cables::add_cable_wrenches,
    logarithm::linear_gradient,
    springs::{bushing_displacement, directions},
};

/// Memory of [`passive_forces`].
#[derive(Clone, Debug, Default)]
pub struct PassiveWorkspace {
    world_from_link: Vec<Pose>,
    twists: Vec<Twist>,
    wrenches: Vec<Wrench>,
}

impl PassiveWorkspace {
    /// Memory for a mechanism.
    pub fn new(m: &Mechanism) -> Self {
        let n = m.links().len();
        Self {
            world_from_link: Vec::with_capacity(n),
            twists: vec![Twist::ZERO; n],
            wrenches: vec![Wrench::ZERO; n],
        }
    }
}

/// Forces of all springs and dampers of joints, combinations of coordinates, bushings and cables:
/// their power is `force · v`.
///
/// `q`, `v` and `force` hold all coordinates, those of loop-closing joints (which have springs and
/// dampers too) after the tree's; of a mechanism without loops that is the tree alone. Linear in
/// the size of the mechanism.
///
/// # Panics
/// If a length does not fit the mechanism.
pub fn passive_forces(
    m: &Mechanism,
    ws: &mut PassiveWorkspace,
    q: &[f64],
    v: &[f64],
    force: &mut [f64],
) {
    assert_eq!(q.len(), m.position_count(), "length of q");
    assert_eq!(v.len(), m.velocity_count(), "length of v");
    assert_eq!(force.len(), m.velocity_count(), "length of the force");
    force.fill(0.0);
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        let range = m.velocity_range(id);
        let f = &mut force[range.clone()];
        add_joint_spring(m, id, &q[m.position_range(id)], f);
        add_joint_damper(m, id, &v[range], f);
    }
    add_combinations(m, q, v, force);
    if !m.bushings().is_empty() || m.cables().iter().any(|c| !c.is_idle()) {
        add_ties(m, ws, q, v, force);
    }
}

fn add_joint_spring(m: &Mechanism, id: JointId, q: &[f64], force: &mut [f64]) {
    let j = m.joint(id);
    if let Some(s) = &j.spring {
        add_spring(&j.kind, s, q, force);
    }
    if j.has_limit_springs() {
        for (i, (f, x)) in force.iter_mut().zip(q).enumerate() {
            *f -= j.limit_term(i, *x, None).gradient;
        }
    }
}

/// Adds the force of a joint's spring at the joint's positions.
pub(crate) fn add_spring(kind: &JointKind, s: &JointSpring, q: &[f64], force: &mut [f64]) {
    let d = force.len();
    let mut delta = [0.0; 6];
    let mut pull = [0.0; 6];
    let scalar = kind.has_scalar_coordinates();
    if scalar {
        for k in 0..d {
            delta[k] = q[k] - s.rest[k];
        }
    } else {
        let all = kind.motion(&s.rest).twist_to(&kind.motion(q)).to_array();
        directions(kind).iter().enumerate().for_each(|(k, &at)| delta[k] = all[at]);
    }
    for a in 0..d {
        pull[a] = (0..d).map(|b| s.stiffness.get(a, b) * delta[b]).sum();
    }
    if scalar {
        force.iter_mut().zip(pull).for_each(|(f, p)| *f -= p);
        return;
    }
    // The gradient of ½ΔᵀKΔ in body axes is J_r⁻ᵀ(Δ) K Δ.
    let at = directions(kind);
    let embed = |x: &[f64; 6]| {
        let mut out = [0.0; 6];
        at.iter().zip(x).for_each(|(&i, x)| out[i] = *x);
        out
    };
    let gradient = linear_gradient(Twist::from_array(embed(&delta)), &embed(&pull)).to_array();
    force.iter_mut().zip(at).for_each(|(f, &i)| *f -= gradient[i]);
}

fn add_joint_damper(m: &Mechanism, id: JointId, v: &[f64], force: &mut [f64]) {
    let d = &m.joint(id).damping;
    for (a, f) in force.iter_mut().enumerate() {
        *f -= v.iter().enumerate().map(|(b, v)| d.get(a, b) * v).sum::<f64>();
    }
}

fn add_combinations(m: &Mechanism, q: &[f64], v: &[f64], force: &mut [f64]) {
    for s in m.combination_springs() {
        let stretch = loops::combination_value(m, &s.combination, q) - s.rest;
        let terms = &s.combination.terms;
        let rate: f64 = terms.iter().map(|(c, a)| a * v[m.velocity_index(*c)]).sum();
        let pull = s.stiffness * stretch + s.damping * rate;
        for (c, a) in terms {
            force[m.velocity_index(*c)] -= a * pull;
        }
    }
}

/// Bushings and cables.
fn add_ties(m: &Mechanism, ws: &mut PassiveWorkspace, q: &[f64], v: &[f64], force: &mut [f64]) {
    forward_kinematics(m, q, &mut ws.world_from_link);
    for e in m.forest().edges() {
        let motion = tree_joint_motion(m, e, q);
        let carried = motion.inner_from_outer.adjoint().apply_inverse(ws.twists[e.inner.index()]);
        let own = motion.columns.combine(&v[m.velocity_range(e.joint)]);
        ws.twists[e.outer.index()] = carried + own;
    }
    ws.wrenches.fill(Wrench::ZERO);
    for i in 0..m.bushings().len() {
        add_bushing(m, ws, i);
    }
    for c in m.cables() {
        add_cable_wrenches(c, &ws.world_from_link, &ws.twists, &mut ws.wrenches);
    }
    for e in m.forest().edges().iter().rev() {
        let motion = tree_joint_motion(m, e, q);
        let w = ws.wrenches[e.outer.index()];
        for (c, k) in motion.columns.as_slice().iter().zip(m.velocity_range(e.joint)) {
            force[k] += c.dot(w);
        }
        let carried = motion.inner_from_outer.adjoint().apply_to_wrench(w);
        ws.wrenches[e.inner.index()] += carried;
    }
}

/// Wrenches of one bushing: −p on the second link, p on the first, both at the second frame.
fn add_bushing(m: &Mechanism, ws: &mut PassiveWorkspace, i: usize) {
    let b = &m.bushings()[i];
    let (a, c) = (b.link_a.index(), b.link_b.index());
    let delta = bushing_displacement(b, &ws.world_from_link).log();
    let spring = linear_gradient(delta, &b.stiffness.mul_vec(&delta.to_array()));
    let a_from_b = (ws.world_from_link[a].inverse() * ws.world_from_link[c]).adjoint();
    let frame = b.b_from_bushing.adjoint();
    let relative = frame.apply_inverse(ws.twists[c] - a_from_b.apply_inverse(ws.twists[a]));
    let damper = Wrench::from_array(b.damping.mul_vec(&relative.to_array()));
    let on_b = frame.apply_to_wrench(-(spring + damper));
    ws.wrenches[c] += on_b;
    ws.wrenches[a] -= a_from_b.apply_to_wrench(on_b);
}
