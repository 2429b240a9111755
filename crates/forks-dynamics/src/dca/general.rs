//! General connections: joints with any number of coordinates, closing joints whose positions
//! follow from the links, and rows of joints with massless links between them (S = [S₁ S₂],
//! EQUATIONS 1.7).

use forks_mechanism::{
    JointId, JointKind, Mechanism,
    lie::{
        Pose, Twist,
        glam::{DMat3, DQuat, DVec3},
        se3::right_jacobian_derivative,
    },
};

use super::{
    basis::full_basis,
    bodies::{Bodies, Part},
    kernel::{Block, Vec6, ZERO_BLOCK},
    kinematics::{JointData, Links},
};

/// State of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionState {
    /// The joint's point from the centres of mass on sides A and B.
    pub(super) points: [DVec3; 2],
    pub(super) c: Vec6,
    pub(super) triad: DMat3,
}

impl ConnectionState {
    pub(super) const ZERO: Self =
        Self { points: [DVec3::ZERO; 2], c: [0.0; 6], triad: DMat3::IDENTITY };
}

/// State of a general connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct GeneralState {
    pub(super) state: ConnectionState,
    /// Columns S as rows.
    pub(super) columns: Block,
    pub(super) basis: Block,
    /// The connection's point from the origin of the cluster on side B of each part.
    pub(super) ends: [DVec3; 6],
    /// False if the columns are dependent.
    pub(super) independent: bool,
}

impl GeneralState {
    pub(super) const ZERO: Self = Self {
        state: ConnectionState::ZERO,
        columns: ZERO_BLOCK,
        basis: ZERO_BLOCK,
        ends: [DVec3::ZERO; 6],
        independent: true,
    };
}

/// A general connection's parts.
#[derive(Clone, Debug)]
pub(super) struct General {
    pub(super) connection: usize,
    pub(super) parts: Vec<GeneralPart>,
    /// Massless links between the parts.
    pub(super) folded: Vec<Folded>,
    /// Centres of mass of the bodies on both sides, body frames.
    centers: [DVec3; 2],
    pub(super) dof: usize,
    unit: f64,
}

/// A massless link between two parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    pub(super) link: usize,
    /// The part before it.
    pub(super) part: usize,
    /// The link whose frame is that of its cluster, and the link's origin there.
    pub(super) cluster: usize,
    pub(super) origin: DVec3,
}

/// One joint of a general connection.
#[derive(Clone, Debug)]
pub(super) struct GeneralPart {
    pub(super) id: JointId,
    pub(super) joint: JointData,
    pub(super) forward: bool,
    pub(super) closing: bool,
    /// Links whose frames are those of the clusters on both sides.
    clusters: [usize; 2],
    /// Origins of the joint's links in the clusters' frames.
    origins: [DVec3; 2],
    /// First coordinate within the connection.
    pub(super) column: usize,
    /// Released directions of a closing joint, child-side joint frame, and their first place among
    /// the connection's columns, behind all coordinates.
    released: Vec<Twist>,
    released_column: usize,
    /// Where its implicit stiffness and armature are.
    pub(super) k: usize,
}

pub(super) fn general(
    m: &Mechanism,
    bodies: &Bodies,
    index: usize,
    k: &[usize],
    unit: f64,
) -> General {
    let c = &bodies.connections[index];
    let mut column = 0;
    let mut released_column = c.parts.iter().map(|p| m.joint(p.joint).dof()).sum();
    let part = |p: &Part| {
        let joint = JointData::new(m, p.joint);
        let r = &joint.joint.released;
        let released: Vec<Twist> = match p.closing {
            true => r.directions().map(|t| t.scale_linear(r.size())).collect(),
            false => vec![],
        };
        let ends = [p.from, p.to].map(|l| bodies.cluster[l]);
        let out = GeneralPart {
            id: p.joint,
            forward: p.forward,
            closing: p.closing,
            clusters: ends.map(|e| e.0),
            origins: ends.map(|e| e.1.translation),
            column,
            released_column,
            released,
            k: k[p.joint.index()],
            joint,
        };
        column += out.joint.dof;
        released_column += out.released.len();
        out
    };
    let mut folded = vec![];
    for (i, p) in c.parts.iter().enumerate().take(c.parts.len() - 1) {
        let cluster = bodies.cluster[p.to].0;
        for &link in &bodies.links_of[cluster] {
            let origin = bodies.cluster[link].1.translation;
            folded.push(Folded { link, part: i, cluster, origin });
        }
    }
    General {
        connection: index,
        parts: c.parts.iter().map(part).collect(),
        folded,
        centers: c.bodies.map(|b| bodies.bodies[b].inertia.center_of_mass),
        dof: c.dof,
        unit,
    }
}

/// A part in its present state; motion of side B against side A.
struct PartState {
    /// Columns at the joint's point, then released directions.
    columns: [Twist; 6],
    c: Twist,
    /// The joint's point from the origins of the clusters' frames on sides A and B.
    points: [DVec3; 2],
}

impl GeneralPart {
    fn state(&self, links: &Links, q: &[f64], v: &[f64]) -> PartState {
        let j = &self.joint;
        let rotation = links.rotation[j.child] * *j.child_axes();
        let motion = if self.closing { self.closing_motion(links, &rotation) } else { j.motion(q) };
        let mut relative = [0.0; 7];
        if !self.closing {
            relative = j.relative(q);
        } else if matches!(&j.joint.kind, JointKind::General { subspace } if subspace.len() > 1) {
            let fitted = j.joint.kind.closest_positions(&motion);
            relative[..fitted.len()].copy_from_slice(&fitted);
        }
        let local = local_columns(&j.joint.kind, &relative[..j.q_len], &motion);
        let to_world = |t: Twist| Twist::new(rotation * t.linear, rotation * t.angular);
        let sign = if self.forward { 1.0 } else { -1.0 };
        let mut columns = [Twist::ZERO; 6];
        for i in 0..j.dof {
            columns[i] = to_world(local[i]) * sign;
        }
        for (c, t) in columns[j.dof..].iter_mut().zip(&self.released) {
            *c = to_world(*t) * sign;
        }
        let parent_motion = allowed_translation(&j.joint.kind, &motion, self.closing, &relative);
        let parent =
            links.rotation[j.parent] * j.parent_point(&Pose::new(motion.rotation, parent_motion));
        let child = links.rotation[j.child] * j.child_point();
        let [from, to] = if self.forward { [parent, child] } else { [child, parent] };
        let points = [
            from + links.rotation[self.clusters[0]] * self.origins[0],
            to + links.rotation[self.clusters[1]] * self.origins[1],
        ];
        let c = self.velocity_term(links, v, &columns, &local, &relative, sign, to_world);
        PartState { columns, c, points }
    }

    /// Pose of the joint's child-side frame in its parent-side one, from the poses of the links.
    fn closing_motion(&self, links: &Links, world_from_joint: &DMat3) -> Pose {
        let j = &self.joint;
        let parent = links.rotation[j.parent] * *j.parent_axes();
        let at_parent = links.position[j.parent]
            + links.rotation[j.parent] * j.joint.parent_from_joint.translation;
        let at_child = links.position[j.child] + links.rotation[j.child] * j.child_point();
        let r = parent.transpose() * *world_from_joint;
        Pose::new(DQuat::from_mat3(&r), parent.transpose() * (at_child - at_parent))
    }

    #[allow(clippy::too_many_arguments)]
    fn velocity_term(
        &self,
        links: &Links,
        v: &[f64],
        columns: &[Twist; 6],
        local: &[Twist; 6],
        relative: &[f64; 7],
        sign: f64,
        to_world: impl Fn(Twist) -> Twist,
    ) -> Twist {
        let j = &self.joint;
        let mut rates = [0.0; 6];
        if self.closing {
            rates = self.closing_rates(links, columns);
        } else {
            rates[..j.dof].copy_from_slice(&v[j.v..j.v + j.dof]);
        }
        let [from, to] = if self.forward { [j.parent, j.child] } else { [j.child, j.parent] };
        let (a, b) = (links.omega[from], links.omega[to]);
        let s = combined(&columns[..j.dof + self.released.len()], &rates);
        let plain = Twist::new((a + b).cross(s.linear), a.cross(s.angular));
        match change_of_columns(&j.joint.kind, local, &relative[..j.q_len], &rates) {
            Some(d) => plain + to_world(d) * sign,
            None => plain,
        }
    }

    /// The rates that fit the relative motion of a closing joint's links best.
    fn closing_rates(&self, links: &Links, columns: &[Twist; 6]) -> [f64; 6] {
        let j = &self.joint;
        let arm = |link: usize, x: DVec3| {
            links.velocity[link] + links.omega[link].cross(links.rotation[link] * x)
        };
        let child = arm(j.child, j.child_point());
        // The parent's material point at the child's joint frame.
        let offset = links.position[j.child] + links.rotation[j.child] * j.child_point()
            - links.position[j.parent];
        let parent = links.velocity[j.parent] + links.omega[j.parent].cross(offset);
        let t = Twist::new(child - parent, links.omega[j.child] - links.omega[j.parent]);
        let t = if self.forward { t } else { -t };
        least_squares(&columns[..j.dof + self.released.len()], t)
    }
}

fn combined(columns: &[Twist], rates: &[f64; 6]) -> Twist {
    columns.iter().zip(rates).fold(Twist::ZERO, |sum, (c, r)| sum + *c * *r)
}

/// min |Σ columns x − t|, by modified Gram–Schmidt.
fn least_squares(columns: &[Twist], t: Twist) -> [f64; 6] {
    let inner = |a: Twist, b: Twist| a.linear.dot(b.linear) + a.angular.dot(b.angular);
    let n = columns.len();
    let mut q = [Twist::ZERO; 6];
    let mut r = ZERO_BLOCK;
    let mut x = [0.0; 6];
    let mut rest = t;
    for i in 0..n {
        q[i] = columns[i];
        for k in 0..i {
            r[k][i] = inner(q[k], q[i]);
            q[i] -= q[k] * r[k][i];
        }
        r[i][i] = inner(q[i], q[i]).sqrt();
        q[i] = q[i] * (1.0 / r[i][i]);
        x[i] = inner(q[i], rest);
        rest -= q[i] * x[i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= r[i][k] * x[k];
        }
        x[i] /= r[i][i];
    }
    x
}

/// Columns in the child-side frame.
fn local_columns(kind: &JointKind, relative: &[f64], motion: &Pose) -> [Twist; 6] {
    let mut out = [Twist::ZERO; 6];
    if let JointKind::Universal { first, second } = kind {
        out[0].angular = motion.rotation.conjugate() * *first;
        out[1].angular = *second;
        return out;
    }
    let c = kind.columns(relative);
    out[..c.as_slice().len()].copy_from_slice(c.as_slice());
    out
}

/// J̇ q̇ in the child-side frame; `None` where the columns are constant.
fn change_of_columns(
    kind: &JointKind,
    local: &[Twist; 6],
    relative: &[f64],
    rates: &[f64; 6],
) -> Option<Twist> {
    match kind {
        JointKind::Universal { .. } => {
            let turn = local[0].angular.cross(local[1].angular);
            Some(Twist::new(DVec3::ZERO, turn * (rates[0] * rates[1])))
        }
        JointKind::General { subspace } if subspace.len() > 1 => {
            let sum =
                |x: &[f64]| subspace.iter().zip(x).fold(Twist::ZERO, |sum, (c, x)| sum + *c * *x);
            let (xi, along) = (sum(relative), sum(rates));
            let d = right_jacobian_derivative(xi, along);
            Some(Twist::from_array(d.mul_vec(&along.to_array())))
        }
        _ => None,
    }
}

/// The part of a closing joint's translation that the joint allows: what is left is the loop's gap.
fn allowed_translation(kind: &JointKind, motion: &Pose, closing: bool, relative: &[f64]) -> DVec3 {
    let t = motion.translation;
    if !closing {
        return t;
    }
    match kind {
        JointKind::Fixed
        | JointKind::Revolute { .. }
        | JointKind::Universal { .. }
        | JointKind::Spherical => DVec3::ZERO,
        JointKind::Prismatic { axis } | JointKind::Cylindrical { axis } => *axis * axis.dot(t),
        JointKind::Planar => DVec3::new(t.x, t.y, 0.0),
        JointKind::Free => t,
        JointKind::General { subspace } if subspace.len() > 1 => kind.motion(relative).translation,
        JointKind::General { .. } => t,
    }
}

impl General {
    pub(super) fn state(&self, links: &Links, q: &[f64], v: &[f64]) -> GeneralState {
        let mut out = GeneralState::ZERO;
        let n = self.parts.len();
        let mut offset = DVec3::ZERO;
        let mut c = Twist::ZERO;
        let mut next_point = DVec3::ZERO;
        // From the last joint, whose point is the connection's, back to the first.
        for (i, part) in self.parts.iter().enumerate().rev() {
            let s = part.state(links, q, v);
            let center = |side: usize| links.rotation[part.clusters[side]] * self.centers[side];
            if i == n - 1 {
                out.state.points[1] = s.points[1] - center(1);
            } else {
                offset += next_point - s.points[1];
            }
            next_point = s.points[0];
            let moved = |t: Twist| Twist::new(t.linear + t.angular.cross(offset), t.angular);
            let released = part.joint.dof + part.released.len();
            for k in 0..part.joint.dof {
                out.columns[part.column + k] = moved(s.columns[k]).to_array();
            }
            for (k, c) in s.columns[part.joint.dof..released].iter().enumerate() {
                out.columns[part.released_column + k] = moved(*c).to_array();
            }
            let [a, b] = part.clusters.map(|l| links.omega[l]);
            let turn = b.cross(b.cross(offset)) - a.cross(a.cross(offset));
            c += moved(s.c) + Twist::new(turn, DVec3::ZERO);
            if i < 6 {
                out.ends[i] = s.points[1] + offset;
            }
            if i == 0 {
                out.state.points[0] = s.points[0] - center(0) + offset;
            }
        }
        out.state.c = c.to_array();
        match full_basis(&out.columns, self.dof, self.unit) {
            Some(b) => out.basis = b,
            None => out.independent = false,
        }
        out
    }
}
