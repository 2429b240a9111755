//! The length of a cable's path, the forces of a unit tension on the links, and points to draw.

use forks_lie::{
    Pose, Twist, Wrench,
    glam::{DMat3, DVec3},
};

use super::{
    Cable, CableNode, CableObstacle, CablePoint,
    wrap::{Derivatives, Wrap},
};
use crate::LinkId;

/// A straight line shorter than this has no direction, m.
const NO_LENGTH: f64 = 1e-15;
/// Points drawn on an obstacle between where the cable meets and leaves it.
const DRAWN: usize = 15;

/// A stretch of path between two points, at a pose: it is straight, or wraps an obstacle.
///
/// Both points are seen from a frame link, the obstacle's or, for straight ones, the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CableSegment {
    /// Where it starts and ends.
    pub ends: [CablePoint; 2],
    /// The link from which the points are seen.
    pub frame: LinkId,
    /// Its share of the cable's length: 1 over the branch's divisor.
    pub weight: f64,
    /// Length, m, not weighted.
    pub length: f64,
    /// The ends in the frame link.
    pub seen: [DVec3; 2],
    /// Derivatives of the length by the ends, in the frame link.
    pub gradient: [DVec3; 2],
    way: Option<(Wrap, Pose)>,
}

impl CableSegment {
    fn straight(ends: [CablePoint; 2], weight: f64, poses: &[Pose]) -> Self {
        let seen = ends.map(|p| poses[p.link.index()].transform_point(p.position));
        let length = seen[0].distance(seen[1]);
        let n = if length < NO_LENGTH { DVec3::ZERO } else { (seen[1] - seen[0]) / length };
        let (frame, gradient) = (LinkId::WORLD, [-n, n]);
        Self { ends, frame, weight, length, seen, gradient, way: None }
    }

    fn past(ends: [CablePoint; 2], weight: f64, o: &CableObstacle, poses: &[Pose]) -> Self {
        let link_from_world = poses[o.link.index()].inverse();
        let from_link = o.link_from_obstacle.inverse();
        let see = |p: &CablePoint| {
            link_from_world.transform_point(poses[p.link.index()].transform_point(p.position))
        };
        let seen = [see(&ends[0]), see(&ends[1])];
        let [u, v] = seen.map(|p| from_link.transform_point(p));
        let side = o.side.as_ref().map(|s| from_link.transform_point(see(s)));
        let Some(wrap) = Wrap::new(o.kind, o.radius, u, v, side) else {
            return Self::straight(ends, weight, poses);
        };
        let gradient =
            wrap.derivatives().gradient.map(|g| o.link_from_obstacle.transform_vector(g));
        let way = Some((wrap, o.link_from_obstacle));
        Self { ends, frame: o.link, weight, length: wrap.length(), seen, gradient, way }
    }

    /// True if it touches its obstacle.
    pub fn wraps(&self) -> bool {
        self.way.is_some()
    }

    /// Second derivatives of the length by the ends in the frame link: first–first, first–second,
    /// second–second.
    pub fn second_derivatives(&self) -> [DMat3; 3] {
        match &self.way {
            Some((wrap, pose)) => {
                let turn = DMat3::from_quat(pose.rotation);
                let Derivatives { hessian, .. } = wrap.derivatives();
                hessian.map(|h| turn * h * turn.transpose())
            }
            None if self.length < NO_LENGTH => [DMat3::ZERO; 3],
            None => {
                let n = self.gradient[1];
                let out = (DMat3::IDENTITY - DMat3::from_cols(n * n.x, n * n.y, n * n.z))
                    * (1.0 / self.length);
                [out, -out, out]
            }
        }
    }

    /// The weighted length's gradient by the body twists of the links: calls `add` for both ends
    /// and the frame link, each with the wrench that a unit *compression* of the cable exerts
    /// there, in the link's frame. Links may repeat; the ground is left out.
    pub fn for_each_gradient(&self, poses: &[Pose], mut add: impl FnMut(LinkId, Wrench)) {
        self.for_each_pull(self.gradient.map(|g| g * self.weight), poses, &mut add);
    }

    /// What forces on both ends, in the frame link's axes, are on the links when the frame link
    /// bears the reaction: calls `add` as [`CableSegment::for_each_gradient`] does.
    pub fn for_each_pull(
        &self,
        forces: [DVec3; 2],
        poses: &[Pose],
        add: &mut impl FnMut(LinkId, Wrench),
    ) {
        let mut on_frame = Wrench::ZERO;
        for (i, g) in forces.into_iter().enumerate() {
            on_frame -= Wrench::new(g, self.seen[i].cross(g));
            let p = self.ends[i];
            if p.link != LinkId::WORLD {
                let to_link =
                    poses[p.link.index()].rotation.conjugate() * poses[self.frame.index()].rotation;
                let g = to_link * g;
                add(p.link, Wrench::new(g, p.position.cross(g)));
            }
        }
        if self.frame != LinkId::WORLD {
            add(self.frame, on_frame);
        }
    }
}

impl Cable {
    /// The stretches of its path at the poses of all links, in order.
    pub fn segments<'a>(&'a self, poses: &'a [Pose]) -> impl Iterator<Item = CableSegment> + 'a {
        self.branches.iter().flat_map(move |b| {
            let mut last: Option<CablePoint> = None;
            let mut between: Option<&CableObstacle> = None;
            b.nodes.iter().filter_map(move |node| {
                let end = match node {
                    CableNode::Obstacle(o) => {
                        between = Some(o);
                        return None;
                    }
                    CableNode::Point(p) => *p,
                };
                let start = last.replace(end)?;
                let (ends, weight) = ([start, end], 1.0 / b.divisor);
                Some(match between.take() {
                    None => CableSegment::straight(ends, weight, poses),
                    Some(o) => CableSegment::past(ends, weight, o, poses),
                })
            })
        })
    }

    /// Length of the path at the poses of all links, m.
    pub fn length(&self, poses: &[Pose]) -> f64 {
        self.segments(poses).map(|s| s.weight * s.length).sum()
    }

    /// Length, and its gradient by the body twists of the links: see
    /// [`CableSegment::for_each_gradient`].
    pub fn length_and_gradient(&self, poses: &[Pose], mut add: impl FnMut(LinkId, Wrench)) -> f64 {
        let mut length = 0.0;
        for s in self.segments(poses) {
            length += s.weight * s.length;
            s.for_each_gradient(poses, &mut add);
        }
        length
    }

    /// dℓ/dt at body twists of all links, m/s.
    pub fn rate(&self, poses: &[Pose], twists: &[Twist]) -> f64 {
        let mut out = 0.0;
        self.length_and_gradient(poses, |l, w| out += w.dot(twists[l.index()]));
        out
    }

    /// Points in the world along every branch, for drawings.
    pub fn polylines(&self, poses: &[Pose]) -> Vec<Vec<DVec3>> {
        let mut segments = self.segments(poses);
        let points = |b: &super::CableBranch| {
            b.nodes.iter().filter(|n| matches!(n, CableNode::Point(_))).count()
        };
        let mut out = Vec::with_capacity(self.branches.len());
        for b in &self.branches {
            let mut line = Vec::new();
            for s in segments.by_ref().take(points(b).saturating_sub(1)) {
                let [start, end] =
                    s.ends.map(|p| poses[p.link.index()].transform_point(p.position));
                if line.is_empty() {
                    line.push(start);
                }
                if let Some((wrap, pose)) = &s.way {
                    let world = poses[s.frame.index()] * *pose;
                    line.extend(wrap.contour(DRAWN).into_iter().map(|p| world.transform_point(p)));
                }
                line.push(end);
            }
            out.push(line);
        }
        out
    }
}
