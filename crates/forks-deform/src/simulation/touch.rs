//! What touches: relative velocities of points of tissue and bones, how they answer to impulses,
//! and who chooses these.

use forks_dynamics::mechanism::{
    LinkId,
    lie::{Pose, glam::DVec3},
    linalg::{Matrix, dot},
};

use super::state::SoftState;
use crate::{body::SoftBody, skeleton::Skeleton};

/// A relative velocity: the sum of weighted velocities of nodes and of points on links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Nodes and their weights.
    pub nodes: Vec<(usize, f64)>,
    /// Links, points on them (world, m), and their weights.
    pub links: Vec<(LinkId, DVec3, f64)>,
}

/// Who chooses the impulses of a step when it is known how the step would end without them.
pub trait Obstacles {
    /// Impulses (world axes, N·s) along the relative velocities of places; the opposite sides get
    /// the opposite ones by the sign of their weights.
    fn impulses(&mut self, step: &FreeStep<'_>) -> Vec<(Place, DVec3)>;
}

/// The inverse matrix of a step, as the product of a matrix and its transpose.
pub(crate) trait Inverse {
    /// What one half makes of impulses on the skeleton's coordinates and on all nodes: products of
    /// two such vectors are velocities per impulse.
    fn half(&self, skeleton: &[f64], nodes: &[DVec3]) -> Vec<f64>;

    /// What the other half makes of that: velocities of the coordinates and of all nodes.
    fn other_half(&self, half: Vec<f64>) -> (Vec<f64>, Vec<DVec3>);
}

/// Where places are.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) body: &'a SoftBody,
    pub(crate) state: &'a SoftState,
}

/// A step as it would end without contact.
pub struct FreeStep<'a> {
    /// Its length, s.
    pub h: f64,
    /// Velocities of the skeleton's coordinates at its end.
    pub v: &'a [f64],
    /// Velocities of the free nodes at its end, m/s.
    pub nodes: &'a [DVec3],
    pub(crate) at: At<'a>,
    pub(crate) inverse: &'a dyn Inverse,
}

impl FreeStep<'_> {
    /// The state at its start.
    pub fn state(&self) -> &SoftState {
        self.at.state
    }

    /// World poses of all links at its start, the ground first.
    pub fn link_poses(&self) -> &[Pose] {
        &self.at.skeleton.poses
    }

    /// The relative velocity of a place at the end of the step, m/s.
    pub fn velocity(&self, place: &Place) -> DVec3 {
        relative(self.at, place, (self.v, self.nodes))
    }

    /// The relative velocity of a place at the start of the step, m/s.
    pub fn velocity_before(&self, place: &Place) -> DVec3 {
        relative(self.at, place, (&self.at.state.v, &self.at.state.velocity))
    }

    /// Vectors of impulses of one along the axes of a place's velocity, whose products are what one
    /// moves of another ([`Self::products`]).
    pub fn halves(&self, place: &Place) -> [Vec<f64>; 3] {
        DVec3::AXES.map(|axis| {
            let (skeleton, nodes) = self.spread([(place, axis)]);
            self.inverse.half(&skeleton, &nodes)
        })
    }

    /// Velocities of the skeleton's coordinates and of the free nodes at the end of the step with
    /// impulses along places' velocities.
    pub fn with<'p>(
        &self,
        impulses: impl IntoIterator<Item = (&'p Place, DVec3)>,
    ) -> (Vec<f64>, Vec<DVec3>) {
        let (skeleton, nodes) = self.spread(impulses);
        let (mut v, mut moved) = self.inverse.other_half(self.inverse.half(&skeleton, &nodes));
        v.iter_mut().zip(self.v).for_each(|(x, v)| *x += v);
        moved.iter_mut().zip(self.nodes).for_each(|(x, v)| *x += *v);
        (v, moved)
    }

    /// The relative velocity of a place for velocities of coordinates and free nodes, m/s.
    pub fn velocity_at(&self, place: &Place, (v, nodes): (&[f64], &[DVec3])) -> DVec3 {
        relative(self.at, place, (v, nodes))
    }

    /// The products of all pairs: of halves, velocities at the end of the step per impulse, m/s per
    /// N·s.
    pub fn products(columns: &[Vec<f64>]) -> Matrix {
        let mut out = Matrix::zeros(columns.len(), columns.len());
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns[..=i].iter().enumerate() {
                let x = dot(a, b);
                out[(i, j)] = x;
                out[(j, i)] = x;
            }
        }
        out
    }

    fn spread<'p>(
        &self,
        impulses: impl IntoIterator<Item = (&'p Place, DVec3)>,
    ) -> (Vec<f64>, Vec<DVec3>) {
        let mut skeleton = vec![0.0; self.v.len()];
        let mut nodes = vec![DVec3::ZERO; self.nodes.len()];
        for (place, impulse) in impulses {
            spread(self.at, place, impulse, (&mut skeleton, &mut nodes));
        }
        (skeleton, nodes)
    }
}

/// The relative velocity of a place for velocities of coordinates and free nodes.
pub(crate) fn relative(s: At<'_>, place: &Place, (v, nodes): (&[f64], &[DVec3])) -> DVec3 {
    let mut out = DVec3::ZERO;
    for &(n, w) in &place.nodes {
        out += w * match s.body.holder[n] {
            None => nodes[n],
            Some(link) => along(s.skeleton, link, s.state.x[n], v),
        };
    }
    for &(link, x, w) in &place.links {
        out += w * along(s.skeleton, link, x, v);
    }
    out
}

/// Velocity of a point of a link for velocities of the coordinates.
fn along(skeleton: &Skeleton, link: LinkId, x: DVec3, v: &[f64]) -> DVec3 {
    skeleton.coordinates(link.index()).iter().map(|&k| skeleton.column(k, x) * v[k]).sum()
}

/// Adds what an impulse along a place's velocity comes to.
pub(crate) fn spread(
    s: At<'_>,
    place: &Place,
    impulse: DVec3,
    (skeleton, nodes): (&mut [f64], &mut [DVec3]),
) {
    let mut on_link = |link: LinkId, x: DVec3, f: DVec3| {
        for &k in s.skeleton.coordinates(link.index()) {
            skeleton[k] += s.skeleton.column(k, x).dot(f);
        }
    };
    for &(n, w) in &place.nodes {
        match s.body.holder[n] {
            None => nodes[n] += impulse * w,
            Some(link) => on_link(link, s.state.x[n], impulse * w),
        }
    }
    for &(link, x, w) in &place.links {
        on_link(link, x, impulse * w);
    }
}

/// What impulses add to momentum and moment of momentum about the world's origin.
pub(crate) fn outer(s: At<'_>, impulses: &[(Place, DVec3)]) -> (DVec3, DVec3) {
    let (mut p, mut l) = (DVec3::ZERO, DVec3::ZERO);
    let mut add = |x: DVec3, f: DVec3| {
        p += f;
        l += x.cross(f);
    };
    for (place, impulse) in impulses {
        place.nodes.iter().for_each(|&(n, w)| add(s.state.x[n], *impulse * w));
        let moving = place.links.iter().filter(|(link, ..)| link.index() != 0);
        moving.for_each(|&(_, x, w)| add(x, *impulse * w));
    }
    (p, l)
}
