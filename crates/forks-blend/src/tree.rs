//! A sample's tree of joints, ready for sweeps: links and effectors follow the joints'
//! displacements δ exactly, so joints of the tree never open.
//!
//! With δ(x) of first and second order the mechanism moves on a manifold: what is approximate is
//! the way through its configurations, and the gaps of joints that close loops, not where the links
//! of a configuration are. The sweep goes outward and leaves each joint coordinate's screw, so that
//! loads are pulled back to the coordinates without any Jacobian: g = (∂δ/∂x)ᵀ τ, τ_i = s_iᵀ w.

use alloc::{boxed::Box, vec, vec::Vec};

use forks_lie::{
    Pose, Twist, Wrench,
    glam::{DQuat, DVec3},
    se3::right_jacobian,
};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, LANES, Lanes},
};
use forks_rom::{
    data::{JointPath, JointRest, ModelData},
    internal::{POSE, Packed, displaced_joint, pose_entries},
};

use crate::{curvature::pairs, data::LinkForce, lanes::padded};

/// A joint that all coordinates move less than this part of what they do to others stays still.
const STILL: f64 = 1e-13;
/// Rounding of a joint's column.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Joint after joint, each after the link that carries it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    joints: Vec<TreeJoint>,
    /// Joints between the ground and effectors or links with forces, and the others.
    inner: Vec<usize>,
    others: Vec<usize>,
    ends: Vec<End>,
    /// Poses before any joint has moved them: of links that no joint moves.
    rests: Vec<Pose>,
    /// Links that are shown.
    shown: Vec<usize>,
    /// δ per product of one and two coordinates; of one only where there is no second order.
    pub(crate) map: Matrix,
    packed: Packed,
    transposed: Packed,
    /// δ per servo target.
    servos: Matrix,
    forces: Vec<Force>,
}

/// A force on a link, and where it acts before any joint has moved it, world axes.
#[derive(Clone, Copy, Debug)]
struct Force {
    on: LinkForce,
    rest: DVec3,
}

/// An effector.
#[derive(Clone, Debug)]
struct End {
    link: usize,
    link_from_effector: Pose,
    /// Joint coordinates between it and the ground.
    path: Vec<usize>,
}

#[derive(Clone, Debug)]
struct TreeJoint {
    inner: usize,
    outer: usize,
    /// Its first coordinate.
    first: usize,
    /// If no coordinate of the chart moves it.
    still: Option<Pose>,
    motion: Motion,
}

#[derive(Clone, Debug)]
enum Motion {
    /// Turns about an axis.
    Turn {
        /// Rotation of the outer link in the inner one, and the same times the axis as a
        /// quaternion.
        rest: DQuat,
        turned: DQuat,
        /// A point of the axis in the inner link and in the outer one.
        inner_point: DVec3,
        outer_point: DVec3,
        /// The axis in the outer link.
        axis: DVec3,
    },
    Other(Box<JointRest>),
}

/// Where a tree is.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreePlace {
    /// World poses of all links; at first only of those between effectors and the ground.
    links: Vec<Pose>,
    all: bool,
    /// Per joint coordinate: velocity of what is at the world's origin, and rotation, world axes.
    screws: Vec<(DVec3, DVec3)>,
    /// δ, padded.
    displacements: Vec<f64>,
    /// What servo targets add to δ; empty without.
    driven: Vec<f64>,
    /// Per link: force on it and what it carries, and moment about the world's origin.
    net: Vec<(DVec3, DVec3)>,
    /// τ, padded, then per product of one and two coordinates.
    torques: Vec<f64>,
    products: Vec<f64>,
}

impl TreePlace {
    pub(crate) fn new(tree: &Tree) -> Self {
        let n = tree.map.rows();
        Self {
            links: tree.rests.clone(),
            all: false,
            screws: vec![Default::default(); n],
            displacements: vec![0.0; padded(n)],
            driven: Vec::with_capacity(n),
            net: vec![
                Default::default();
                if tree.forces.is_empty() { 0 } else { tree.rests.len() }
            ],
            torques: vec![0.0; padded(n)],
            products: vec![0.0; padded(tree.map.columns())],
        }
    }
}

impl Tree {
    /// From a sample's numbers and its joints' displacements per product of one and two
    /// coordinates.
    pub(crate) fn new(m: &ModelData, displacements: &[Matrix], forces: &[LinkForce]) -> Self {
        let (mut joints, mut rows, mut servos) = (vec![], vec![], vec![]);
        let largest = displacements.iter().map(Matrix::max_abs).fold(0.0, f64::max);
        // The coordinates that move a link.
        let mut moved: Vec<Vec<usize>> = vec![vec![]; m.links.len()];
        for (j, map) in m.joints.iter().zip(displacements).filter(|(j, _)| !j.closes_loop) {
            let first = rows.len();
            rows.extend((0..map.rows()).map(|i| map.row(i)));
            servos.extend((0..map.rows()).map(|i| j.servo_map.row(i)));
            let mut path = moved[j.inner].clone();
            if map.max_abs() > STILL * largest {
                path.extend(first..rows.len());
            }
            moved[j.outer] = path;
            let still = (map.max_abs() <= STILL * largest).then_some(j.inner_from_outer);
            let (inner, outer, motion) = (j.inner, j.outer, Motion::of(j));
            joints.push(TreeJoint { inner, outer, first, still, motion });
        }
        let n = m.basis.columns();
        let is_bent = rows.iter().any(|r| r[n..].iter().any(|w| *w != 0.0));
        let columns = if is_bent { n + pairs(n) } else { n };
        let map = Matrix::from_fn(rows.len(), columns, |i, k| rows[i][k]);
        let end = |e: &forks_rom::data::EffectorRest| End {
            link: e.link,
            link_from_effector: e.link_from_effector,
            path: moved[e.link].clone(),
        };
        // From effectors and forces inward.
        let mut carries: Vec<bool> = vec![false; m.links.len()];
        m.effectors.iter().for_each(|e| carries[e.link] = true);
        forces.iter().for_each(|f| carries[f.link] = true);
        for j in joints.iter().rev() {
            carries[j.inner] |= carries[j.outer];
        }
        let (inner, others) = (0..joints.len()).partition(|&j| carries[joints[j].outer]);
        Self {
            inner,
            others,
            ends: m.effectors.iter().map(end).collect(),
            rests: m.links.iter().map(|l| l.rest).collect(),
            shown: (1..m.links.len()).filter(|&l| !m.links[l].auxiliary).collect(),
            packed: Packed::new(&map),
            transposed: Packed::new(&map.transpose()),
            servos: Matrix::from_fn(rows.len(), m.servos.len(), |i, s| servos[i][s]),
            forces: forces.iter().map(|f| force(m, f)).collect(),
            map,
            joints,
        }
    }

    /// Sets the servos' targets for what is swept from now on.
    pub(crate) fn drive(&self, targets: &[f64], place: &mut TreePlace) {
        place.driven.clear();
        if targets.iter().any(|s| *s != 0.0) {
            place.driven.extend(self.servos.mul_vec(targets));
        }
    }

    /// Poses of effectors and screws for products of one and two coordinates, links outward.
    #[inline(always)]
    pub(crate) fn sweep<L: Arithmetic>(&self, l: L, products: &[f64], place: &mut TreePlace) {
        let TreePlace { displacements, driven, .. } = place;
        self.packed.product(l, &products[..self.map.columns()], displacements);
        displacements.iter_mut().zip(driven).for_each(|(d, more)| *d += *more);
        place.all = false;
        self.outward(&self.inner, place);
    }

    /// World poses of all links after a sweep.
    #[inline(always)]
    pub(crate) fn links<'a>(&self, place: &'a mut TreePlace) -> &'a [Pose] {
        if !core::mem::replace(&mut place.all, true) {
            self.outward(&self.others, place);
        }
        &place.links
    }

    /// Poses and screws of what some joints carry.
    #[inline(always)]
    fn outward(&self, joints: &[usize], place: &mut TreePlace) {
        let TreePlace { links, screws, displacements, driven, .. } = place;
        for j in joints.iter().map(|&j| &self.joints[j]) {
            let inner = links[j.inner];
            if let Some(rest) = j.still.filter(|_| driven.is_empty()) {
                links[j.outer] = inner * rest;
                continue;
            }
            links[j.outer] = match &j.motion {
                Motion::Turn { rest, turned, inner_point, outer_point, axis } => {
                    let half = DQuat::from_rotation_x(displacements[j.first]);
                    let rotation = inner.rotation * (*rest * half.w + *turned * half.x);
                    let anchor = inner.rotation * *inner_point + inner.translation;
                    let spin = rotation * *axis;
                    screws[j.first] = (anchor.cross(spin), spin);
                    Pose::new(rotation, anchor - rotation * *outer_point)
                }
                Motion::Other(rest) => {
                    let delta = &displacements[j.first..];
                    let outer = (inner * displaced_joint(rest, |i| delta[i])).normalized();
                    let body = columns(rest, delta);
                    for (s, t) in screws[j.first..].iter_mut().zip(&body[..rest.map.rows()]) {
                        let spin = outer.rotation * t.angular;
                        *s = (outer.rotation * t.linear + outer.translation.cross(spin), spin);
                    }
                    outer
                }
            };
        }
    }

    /// World pose of an effector after a sweep.
    #[inline(always)]
    pub(crate) fn effector(&self, e: usize, place: &TreePlace) -> Pose {
        place.links[self.ends[e].link] * self.ends[e].link_from_effector
    }

    /// Energy of the forces on links after a sweep, less that at rest, J, and the size of what it
    /// is the sum of; what they do to the joints is left as loads leave it.
    #[inline(always)]
    pub(crate) fn weigh(&self, place: &mut TreePlace) -> (f64, f64) {
        let TreePlace { links, screws, net, torques, driven, .. } = place;
        torques.fill(0.0);
        net.fill(Default::default());
        let (mut energy, mut size) = (0.0, 0.0);
        for Force { on, rest } in &self.forces {
            let Pose { rotation, translation } = links[on.link];
            let p = rotation * on.point + translation;
            let change = on.force.dot(*rest - p);
            energy += change;
            size += change.abs() + (on.force * p).abs().element_sum();
            let (force, moment) = &mut net[on.link];
            *force += on.force;
            *moment += p.cross(on.force);
        }
        for j in self.inner.iter().rev().map(|&j| &self.joints[j]) {
            let (force, moment) = net[j.outer];
            if j.still.is_none() || !driven.is_empty() {
                let count = j.motion.count();
                let own = screws[j.first..][..count].iter().zip(&mut torques[j.first..]);
                own.for_each(|((v, w), t)| *t = v.dot(force) + w.dot(moment));
            }
            net[j.inner].0 += force;
            net[j.inner].1 += moment;
        }
        (energy, size)
    }

    /// True if forces act on links.
    #[inline(always)]
    pub(crate) fn has_forces(&self) -> bool {
        !self.forces.is_empty()
    }

    /// Forgets the loads.
    #[inline(always)]
    pub(crate) fn unload(&self, place: &mut TreePlace) {
        place.torques.fill(0.0);
    }

    /// Adds a load on effector `e`, world axes, at the effector's place `p`.
    #[inline(always)]
    pub(crate) fn load(&self, e: usize, p: DVec3, w: Wrench, place: &mut TreePlace) {
        let about_origin = w.torque + p.cross(w.force);
        for &i in &self.ends[e].path {
            let (linear, angular) = place.screws[i];
            place.torques[i] += linear.dot(w.force) + angular.dot(about_origin);
        }
    }

    /// What the loads do per product of one and two coordinates.
    #[inline(always)]
    pub(crate) fn pulled<'a, L: Arithmetic>(&self, l: L, place: &'a mut TreePlace) -> &'a [f64] {
        self.transposed.product(l, &place.torques, &mut place.products);
        &place.products[..self.map.columns()]
    }

    /// Joint coordinates that move effector `e`, each with the motion of what is at `p`: its
    /// velocity and rotation, world axes.
    pub(crate) fn motions<'a>(
        &'a self,
        e: usize,
        p: DVec3,
        place: &'a TreePlace,
    ) -> impl Iterator<Item = (usize, DVec3, DVec3)> + 'a {
        let at = move |&i: &usize| {
            let (linear, angular) = place.screws[i];
            (i, linear + angular.cross(p), angular)
        };
        self.ends[e].path.iter().map(at)
    }

    /// The links that are shown into the blocks of a pose buffer.
    pub(crate) fn show(&self, place: &mut TreePlace, out: &mut [Lanes]) {
        let poses = self.links(place);
        for (links, out) in self.shown.chunks(LANES).zip(out.chunks_exact_mut(POSE)) {
            for (lane, &l) in links.iter().enumerate() {
                for (o, x) in out.iter_mut().zip(pose_entries(&poses[l])) {
                    o.0[lane] = x;
                }
            }
        }
    }
}

/// A force on a link of a sample.
fn force(m: &ModelData, f: &LinkForce) -> Force {
    let Pose { rotation, translation } = m.links[f.link].rest;
    Force { on: *f, rest: rotation * f.point + translation }
}

impl Motion {
    /// Number of coordinates.
    #[inline(always)]
    fn count(&self) -> usize {
        match self {
            Self::Turn { .. } => 1,
            Self::Other(j) => j.map.rows(),
        }
    }

    fn of(j: &JointRest) -> Self {
        let other = || Self::Other(Box::new(j.clone()));
        let JointPath::Exponential { columns } = &j.path else { return other() };
        let [Twist { linear, angular: axis }] = columns[..] else { return other() };
        let turns = (axis.length_squared() - 1.0).abs() <= ROUNDING
            && linear.dot(axis).abs() <= ROUNDING * linear.length();
        if !turns {
            return other();
        }
        let (rest, outer_point) = (j.inner_from_outer.rotation, axis.cross(linear));
        Self::Turn {
            rest,
            turned: rest * DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0),
            inner_point: j.inner_from_outer.translation + rest * outer_point,
            outer_point,
            axis,
        }
    }
}

/// Most coordinates of a joint.
const MOST: usize = 6;

/// Twists of a joint's outer link per coordinate, in its frame.
fn columns(j: &JointRest, delta: &[f64]) -> [Twist; MOST] {
    let mut out = [Twist::ZERO; MOST];
    let sum = |columns: &[Twist], x: &dyn Fn(usize) -> f64| {
        columns.iter().enumerate().fold(Twist::ZERO, |sum, (i, c)| sum + *c * x(i))
    };
    let apply =
        |jacobian: &forks_lie::Mat6, c: &Twist| Twist::from_array(jacobian.mul_vec(&c.to_array()));
    match &j.path {
        JointPath::Exponential { columns } => {
            let jacobian = right_jacobian(sum(columns, &|i| delta[i]));
            out.iter_mut().zip(columns).for_each(|(o, c)| *o = apply(&jacobian, c));
        }
        JointPath::Product { factors } => {
            for (k, (i, c)) in factors.iter().enumerate() {
                let back = Pose::exp(*c * delta[*i]).inverse().adjoint();
                for (before, _) in &factors[..k] {
                    out[*before] = back.apply(out[*before]);
                }
                out[*i] = *c;
            }
        }
        JointPath::Subspace { before, subspace, start, after, inverted } => {
            let t = sum(subspace, &|i| start[i] + delta[i]);
            let jacobian = right_jacobian(t);
            let outward = match inverted {
                false => after.inverse().adjoint(),
                true => (*before * Pose::exp(t)).adjoint(),
            };
            for (o, c) in out.iter_mut().zip(subspace) {
                let moved = outward.apply(apply(&jacobian, c));
                *o = if *inverted { -moved } else { moved };
            }
        }
    }
    out
}
