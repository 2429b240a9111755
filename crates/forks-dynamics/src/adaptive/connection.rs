//! Connections between bodies, compiled: handle frames that make the common joints cheap.
//!
//! Each side of a connection has a handle frame, fixed in its body, at the joint. For a hinge both
//! have the axis as z and the hinge turns the outer side about it, so that S = (0; z) in either
//! frame, the basis [T | Ta] of EQUATIONS 1.4 is the identity, and carrying rows from one side to
//! the other is a plane rotation. Other connections have a 6×6 matrix per side; their common frame
//! is that of side B.

use forks_mechanism::{
    JointId, JointKind, JointSpring, Mechanism,
    lie::{
        Pose, Twist,
        glam::{DQuat, DVec3},
    },
};

use super::{
    options::{AdaptiveOptions, Springs},
    projection::Projection,
};
use crate::dca::{
    bodies::{Bodies, Part},
    connections::scales,
    kernel::{Block, ZERO_BLOCK},
};

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) shape: Shape,
    /// The node that closes it; `None` where both sides are the ground.
    pub(super) node: Option<usize>,
    pub(super) dof: usize,
    /// Joints with coordinates.
    pub(super) joints: usize,
    pub(super) closing: bool,
    /// Poses of the handle frames in the bodies (world for the ground).
    pub(super) handles: [Pose; 2],
    /// Uncancelled size of Φ of the two bodies alone, and their length: see the rank decisions.
    pub(super) scale: [f64; 2],
    pub(super) unit: f64,
}

/// What kind of connection it is.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// One tree hinge.
    Hinge(Hinge),
    /// Two pieces of a body.
    Weld,
    /// Anything else: index among the general ones.
    General(usize),
}

/// A hinge of the spanning tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hinge {
    pub(super) q: usize,
    pub(super) v: usize,
    pub(super) reference: f64,
    /// Stiffness and rest angle of a spring that acts, else 0.
    pub(super) stiffness: f64,
    pub(super) rest: f64,
    /// Armature and implicit stiffness K̃.
    pub(super) implicit: f64,
    pub(super) weight: f64,
}

/// A connection of any kind: one or more joints with massless links between them.
#[derive(Clone, Debug)]
pub(super) struct General {
    pub(super) connection: usize,
    pub(super) bodies: [usize; 2],
    pub(super) parts: Vec<GeneralPart>,
    /// K̃ as d×d in the upper corner.
    pub(super) implicit: Block,
    /// True if K̃ is not zero.
    pub(super) is_stiff: bool,
    pub(super) weights: [f64; 6],
}

/// A joint of a general connection.
#[derive(Clone, Debug)]
pub(super) struct GeneralPart {
    pub(super) kind: JointKind,
    pub(super) forward: bool,
    pub(super) closing: bool,
    pub(super) q: usize,
    pub(super) q_len: usize,
    pub(super) v: usize,
    pub(super) dof: usize,
    /// First coordinate within the connection.
    pub(super) column: usize,
    /// Released directions of a closing joint, child-side joint frame, and their first place among
    /// the connection's columns, behind all coordinates.
    pub(super) released: Vec<Twist>,
    pub(super) released_column: usize,
    pub(super) reference: [f64; 7],
    /// The spring, if springs act.
    pub(super) spring: Option<JointSpring>,
    /// From this joint's frame on side B to the next joint's on side A.
    pub(super) far_from_next: Pose,
}

/// Compiles connection `index`; appends to `generals` if it is a general one.
pub(super) fn compile(
    m: &Mechanism,
    bodies: &Bodies,
    index: usize,
    options: &AdaptiveOptions,
    generals: &mut Vec<General>,
) -> Connection {
    let c = &bodies.connections[index];
    let (scale, unit) = scales(bodies, c);
    let (first, last) = (c.parts[0], c.parts[c.parts.len() - 1]);
    let mut handles = [near(m, bodies, &first), far(m, bodies, &last)];
    let shape = match hinge(m, &c.parts, options) {
        Some((hinge, align)) => {
            handles = handles.map(|h| h * Pose::from_rotation(align));
            Shape::Hinge(hinge)
        }
        None => {
            generals.push(general(m, bodies, index, options));
            Shape::General(generals.len() - 1)
        }
    };
    let joints = c.parts.iter().filter(|p| m.joint(p.joint).dof() > 0).count();
    Connection { shape, node: None, dof: c.dof, joints, closing: c.closing, handles, scale, unit }
}

impl Connection {
    /// Two pieces of a body, joined at its centre of mass.
    pub(super) fn weld(center: DVec3) -> Self {
        Self {
            shape: Shape::Weld,
            node: None,
            dof: 0,
            joints: 0,
            closing: false,
            handles: [Pose::from_translation(center); 2],
            scale: [0.0; 2],
            unit: 1.0,
        }
    }
}

/// A joint's frame on its side A, in the cluster there.
fn near(m: &Mechanism, bodies: &Bodies, p: &Part) -> Pose {
    let j = m.joint(p.joint);
    bodies.cluster[p.from].1 * if p.forward { j.parent_from_joint } else { j.child_from_joint }
}

/// A joint's frame on its side B, in the cluster there.
fn far(m: &Mechanism, bodies: &Bodies, p: &Part) -> Pose {
    let j = m.joint(p.joint);
    bodies.cluster[p.to].1 * if p.forward { j.child_from_joint } else { j.parent_from_joint }
}

fn hinge(m: &Mechanism, parts: &[Part], o: &AdaptiveOptions) -> Option<(Hinge, DQuat)> {
    let [part] = parts else { return None };
    let j = m.joint(part.joint);
    let JointKind::Revolute { axis } = j.kind else { return None };
    if part.closing {
        return None;
    }
    // Side B turns about z by +q whichever side the child is on.
    let along = if part.forward { axis } else { -axis };
    let v = m.velocity_range(part.joint).start;
    let mut implicit = [[0.0; 6]; 6];
    add_implicit(m, part.joint, o, 0, &mut implicit);
    let spring = j.spring.as_ref().filter(|_| o.springs != Springs::None);
    let hinge = Hinge {
        q: m.position_range(part.joint).start,
        v,
        reference: j.reference.first().copied().unwrap_or(0.0),
        stiffness: spring.map_or(0.0, |s| s.stiffness.get(0, 0)),
        rest: spring.map_or(0.0, |s| s.rest[0]),
        implicit: implicit[0][0],
        weight: weight(o, v),
    };
    Some((hinge, DQuat::from_rotation_arc(DVec3::Z, along)))
}

fn weight(o: &AdaptiveOptions, v: usize) -> f64 {
    o.weights.get(v).copied().unwrap_or(1.0)
}

/// K̃ = armature, with implicit springs also h²K + hD (EQUATIONS 1.6), from a row and column on.
fn add_implicit(m: &Mechanism, id: JointId, o: &AdaptiveOptions, at: usize, k: &mut Block) {
    let j = m.joint(id);
    let h = o.time_step;
    for a in 0..j.dof() {
        k[at + a][at + a] += j.armature[a];
        if o.springs != Springs::Implicit {
            continue;
        }
        for b in 0..j.dof() {
            let spring = j.spring.as_ref().map_or(0.0, |s| s.stiffness.get(a, b));
            k[at + a][at + b] += h * h * spring + h * j.damping.get(a, b);
        }
    }
}

fn general(m: &Mechanism, bodies: &Bodies, index: usize, o: &AdaptiveOptions) -> General {
    let c = &bodies.connections[index];
    let mut out = General {
        connection: index,
        bodies: c.bodies,
        parts: vec![],
        implicit: ZERO_BLOCK,
        is_stiff: false,
        weights: [1.0; 6],
    };
    let mut column = 0;
    let mut released_column = c.parts.iter().map(|p| m.joint(p.joint).dof()).sum();
    for (i, p) in c.parts.iter().enumerate() {
        let j = m.joint(p.joint);
        let released: Vec<Twist> = match p.closing {
            true => j.released.directions().map(|t| t.scale_linear(j.released.size())).collect(),
            false => vec![],
        };
        let released_count = released.len();
        let next = c.parts.get(i + 1);
        let far_from_next =
            next.map_or(Pose::IDENTITY, |next| far(m, bodies, p).inverse() * near(m, bodies, next));
        let (q, v) = (m.position_range(p.joint), m.velocity_range(p.joint));
        let mut reference = [0.0; 7];
        reference[..j.reference.len()].copy_from_slice(&j.reference);
        add_implicit(m, p.joint, o, column, &mut out.implicit);
        for k in 0..j.dof() {
            out.weights[column + k] = weight(o, v.start + k);
        }
        out.parts.push(GeneralPart {
            kind: j.kind.clone(),
            forward: p.forward,
            closing: p.closing,
            q: q.start,
            q_len: q.len(),
            v: v.start,
            dof: j.dof(),
            column,
            released,
            released_column,
            reference,
            spring: j.spring.clone().filter(|_| o.springs != Springs::None),
            far_from_next,
        });
        column += j.dof();
        released_column += released_count;
    }
    out.is_stiff = out.implicit != ZERO_BLOCK;
    out
}

/// Where the outer side of a hinge is, seen from the inner one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) cosine: f64,
    pub(super) sine: f64,
    pub(super) rotation: DQuat,
}

impl Turn {
    pub(super) const NONE: Self = Self { cosine: 1.0, sine: 0.0, rotation: DQuat::IDENTITY };

    pub(super) fn about_z(angle: f64) -> Self {
        let (s, c) = (0.5 * angle).sin_cos();
        Self {
            cosine: (c - s) * (c + s),
            sine: 2.0 * s * c,
            rotation: DQuat::from_xyzw(0.0, 0.0, s, c),
        }
    }

    /// How rows of side B go into the common frame, that of side A.
    pub(super) fn projection(&self) -> Projection<'static> {
        Projection::Turn { cosine: self.cosine, sine: self.sine }
    }
}
