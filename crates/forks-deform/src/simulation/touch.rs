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

/// What half of the inverse matrix of a step makes of forces on the skeleton's coordinates and on
/// all nodes: products of two such vectors are velocities per impulse.
type Half<'a> = dyn FnMut(&[f64], &[DVec3]) -> Vec<f64> + 'a;

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
    pub(crate) half: std::cell::RefCell<Box<Half<'a>>>,
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

    /// Velocities at the end of the step per impulse: symmetric, three rows and columns for every
    /// place, m/s per N·s.
    pub fn response(&self, places: &[Place]) -> Matrix {
        let mut half = self.half.borrow_mut();
        let s = self.at;
        let (mut skeleton, mut nodes) =
            (vec![0.0; self.v.len()], vec![DVec3::ZERO; self.nodes.len()]);
        let mut columns = Vec::with_capacity(3 * places.len());
        for p in places {
            for axis in DVec3::AXES {
                skeleton.fill(0.0);
                spread(s, p, axis, (&mut skeleton, &mut nodes));
                columns.push(half(&skeleton, &nodes));
                p.nodes.iter().for_each(|&(n, _)| nodes[n] = DVec3::ZERO);
            }
        }
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
