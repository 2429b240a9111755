//! Where the joints are and how they move: handle positions, directions and velocity terms, world
//! axes.
//!
//! With S q̇ = (s_v; s_ω) the motion of side B against side A at the joint's point, the
//! accelerations of the two material points there differ by S q̈ + c, c = ((ω_A + ω_B) × s_v; ω_A ×
//! s_ω) + J̇ q̇ (EQUATIONS 1.6, written for material points: linear velocities drop out).

use forks_mechanism::{
    JointKind, Mechanism,
    lie::{Twist, glam::DVec3},
};

use super::{
    basis::{Basis, triad},
    bodies::{Bodies, Connection},
    general::{ConnectionState, General, GeneralState, general},
    kinematics::{JointData, Links},
};

/// A connection compiled.
#[derive(Clone, Debug)]
pub(super) struct ConnectionData {
    pub(super) shape: Shape,
    /// Links whose frames are those of the bodies on sides A and B.
    pub(super) links: [usize; 2],
    pub(super) bodies: [usize; 2],
    pub(super) dof: usize,
    pub(super) closing: bool,
    /// Uncancelled size of Φ_A + Φ_B of the two bodies alone: linear and angular, 1/kg and 1/(kg
    /// m²).
    pub(super) scale: [f64; 2],
    /// A length of the two bodies, m.
    pub(super) unit: f64,
}

/// What kind of connection it is.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// One rotation or translation.
    Single(Single),
    /// Anything else; which of the general connections it is.
    General(usize),
    /// Two pieces of a link, welded at its centre of mass.
    Weld,
}

/// A joint with one rotation or translation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) hinge: bool,
    pub(super) child: usize,
    /// Axis in the child's frame, turned round if the child is on side A.
    axis: DVec3,
    /// The joint's points from the bodies' centres of mass, body frames.
    points: [DVec3; 2],
    q: usize,
    reference: f64,
    /// Side on which the joint's point moves along the axis: its sign on side A, on side B.
    travel: [f64; 2],
    pub(super) v: usize,
    /// Where its implicit stiffness and armature are.
    pub(super) k: usize,
}

impl ConnectionData {
    /// The basis of a connection in its present state.
    #[inline]
    pub(super) fn basis<'a>(
        &self,
        state: &'a ConnectionState,
        generals: &'a [GeneralState],
    ) -> Basis<'a> {
        match &self.shape {
            Shape::Single(s) if s.hinge => Basis::Hinge(&state.triad),
            Shape::Single(_) => Basis::Slide(&state.triad),
            Shape::General(g) => {
                Basis::Full { columns: &generals[*g].basis, constraints: 6 - self.dof }
            }
            Shape::Weld => Basis::Weld,
        }
    }
}

/// Compiles connection `index` of `bodies`; appends to `generals` if it is a general one.
pub(super) fn compile(
    m: &Mechanism,
    bodies: &Bodies,
    index: usize,
    stiffness_offsets: &[usize],
    generals: &mut Vec<General>,
) -> ConnectionData {
    let c = &bodies.connections[index];
    let (scale, unit) = scales(bodies, c);
    let shape = match single(m, bodies, c, stiffness_offsets) {
        Some(s) => Shape::Single(s),
        None => {
            generals.push(general(m, bodies, index, stiffness_offsets, unit));
            Shape::General(generals.len() - 1)
        }
    };
    ConnectionData {
        shape,
        links: c.bodies.map(|b| bodies.bodies[b].link),
        bodies: c.bodies,
        dof: c.dof,
        closing: c.closing,
        scale,
        unit,
    }
}

/// Sizes of Φ of the two bodies by themselves, and their length.
pub(crate) fn scales(bodies: &Bodies, c: &Connection) -> ([f64; 2], f64) {
    let mut unit: f64 = 0.0;
    let mut scale = [0.0; 2];
    for &b in c.bodies.iter().filter(|&&b| b != 0) {
        let i = &bodies.bodies[b].inertia;
        let p = i.principal_moments();
        unit = unit.max((p[2] / i.mass).sqrt());
        scale[0] += 1.0 / i.mass;
        scale[1] += 1.0 / p[0];
    }
    let unit = if unit > 0.0 { unit } else { 1.0 };
    scale[0] += unit * unit * scale[1];
    (scale, unit)
}

fn single(m: &Mechanism, bodies: &Bodies, c: &Connection, k: &[usize]) -> Option<Single> {
    let [part] = c.parts[..] else { return None };
    let data = JointData::new(m, part.joint);
    let j = &data.joint;
    if c.closing && !j.released.is_empty() {
        return None;
    }
    let (axis, hinge) = match j.kind {
        JointKind::Revolute { axis } => (axis, true),
        // The travel of a closing slide has to be found from the links' poses first.
        JointKind::Prismatic { axis } if !c.closing => (axis, false),
        _ => return None,
    };
    let sign = if part.forward { 1.0 } else { -1.0 };
    let child = usize::from(part.forward);
    let links = [part.from, part.to];
    let points = [0, 1].map(|side| {
        let on_link =
            if side == child { data.child_point() } else { j.parent_from_joint.translation };
        bodies.cluster[links[side]].1.transform_point(on_link)
            - bodies.bodies[c.bodies[side]].inertia.center_of_mass
    });
    let mut travel = [0.0; 2];
    if !hinge {
        // The axis below is turned with the side, so the parent's point moves along it with this
        // sign.
        travel[1 - child] = sign;
    }
    Some(Single {
        hinge,
        child: data.child,
        axis: *data.child_axes() * axis * sign,
        points,
        q: data.q,
        reference: j.reference.first().copied().unwrap_or(0.0),
        travel,
        v: data.v,
        k: k[part.joint.index()],
    })
}

impl Single {
    pub(super) fn state(
        &self,
        c: &ConnectionData,
        links: &Links,
        q: &[f64],
        rate: f64,
    ) -> ConnectionState {
        let axis = links.rotation[self.child] * self.axis;
        let mut points = [0, 1].map(|side| links.rotation[c.links[side]] * self.points[side]);
        let omega = links.omega[c.links[0]];
        let s = axis * rate;
        let [mut linear, mut angular] = [DVec3::ZERO; 2];
        if self.hinge {
            angular = omega.cross(s);
        } else {
            let along = axis * (q[self.q] - self.reference);
            points[0] += along * self.travel[0];
            points[1] += along * self.travel[1];
            linear = (omega + links.omega[c.links[1]]).cross(s);
        }
        ConnectionState { points, c: Twist::new(linear, angular).to_array(), triad: triad(axis) }
    }

    /// Rate of the joint: that of a tree joint is given, that of a closing hinge follows from its
    /// links.
    pub(super) fn rate(&self, c: &ConnectionData, links: &Links, v: &[f64]) -> f64 {
        if c.closing {
            let relative = links.omega[c.links[1]] - links.omega[c.links[0]];
            return (links.rotation[self.child] * self.axis).dot(relative);
        }
        v[self.v]
    }
}
