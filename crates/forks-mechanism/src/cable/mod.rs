//! Cables: spring and damper along a path through points of links, free to slide at each of them.
//!
//! The length of a path is Σ ℓ_b / d_b over its branches, each divided by the number of strands of
//! a pulley. A branch runs straight from point to point; between two points it may wrap a sphere or
//! a cylinder, without friction.

mod check;
mod circle;
mod derivatives;
mod path;
mod tension;
mod wrap;

use forks_lie::{Pose, glam::DVec3};

use crate::LinkId;

pub(crate) use check::check_cables;
pub use derivatives::CableHessian;
pub use path::CableSegment;
pub use tension::CableTension;

/// A point of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CablePoint {
    /// The link.
    pub link: LinkId,
    /// Where in the link's frame, m.
    pub position: DVec3,
}

/// What a cable may wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// A sphere around the frame's origin.
    Sphere,
    /// An endless cylinder around the frame's z axis.
    Cylinder,
}

/// A sphere or cylinder between two points of a cable.
///
/// Without a side point the cable goes round it the short way where the straight line meets it.
/// With a side point it passes on that side: where the straight line crosses the ray from the
/// centre away from the side point, it goes the other way round, whether the line meets the
/// obstacle or not. With a side point closer to the frame's origin than the radius it touches the
/// obstacle from within, as in a ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CableObstacle {
    /// The link that it is fixed to.
    pub link: LinkId,
    /// Its frame in the link.
    pub link_from_obstacle: Pose,
    /// Sphere or cylinder.
    pub kind: ObstacleKind,
    /// Radius > 0, m.
    pub radius: f64,
    /// The side on which the cable passes, or a point within.
    pub side: Option<CablePoint>,
}

/// A stop of a cable's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CableNode {
    /// A hole through which the cable runs, or its end.
    Point(CablePoint),
    /// What it may wrap between the points before and after.
    Obstacle(CableObstacle),
}

impl CableNode {
    /// The point at `position` of a link.
    pub fn point(link: LinkId, position: DVec3) -> Self {
        Self::Point(CablePoint { link, position })
    }

    /// The link that it is fixed to.
    pub fn link(&self) -> LinkId {
        match self {
            Self::Point(p) => p.link,
            Self::Obstacle(o) => o.link,
        }
    }
}

/// A part of a cable without a gap: a point, then points and obstacles, a point last; obstacles lie
/// between two points.
#[derive(Clone, Debug, PartialEq)]
pub struct CableBranch {
    /// Its length counts divided by this: the number of strands of a pulley, 1 for none.
    pub divisor: f64,
    /// The stops.
    pub nodes: Vec<CableNode>,
}

impl CableBranch {
    /// The points of its path in order, without what it may wrap between them.
    pub fn points(&self) -> impl Iterator<Item = &CablePoint> {
        self.nodes.iter().filter_map(|n| match n {
            CableNode::Point(p) => Some(p),
            CableNode::Obstacle(_) => None,
        })
    }
}

/// A spring and damper along the length of a path.
///
/// With rest range [l, u] the cable pulls with k (ℓ − u) where it is longer, pushes with k (l − ℓ)
/// where it is shorter, and is slack between; its damper always acts, c dℓ/dt. A string has l = 0,
/// a strut l = u.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// Name, may be empty.
    pub name: String,
    /// The branches of its path.
    pub branches: Vec<CableBranch>,
    /// k ≥ 0, N/m.
    pub stiffness: f64,
    /// c ≥ 0, N·s/m.
    pub damping: f64,
    /// Range of lengths in which the spring is slack, m; both ends equal for one that never is.
    pub rest: [f64; 2],
}

impl Cable {
    /// A path through points of links, in order, with a spring that is never slack.
    pub fn straight(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (LinkId, DVec3)>,
        stiffness: f64,
        rest: f64,
    ) -> Self {
        let nodes = points.into_iter().map(|(link, p)| CableNode::point(link, p)).collect();
        Self {
            name: name.into(),
            branches: vec![CableBranch { divisor: 1.0, nodes }],
            stiffness,
            damping: 0.0,
            rest: [rest, rest],
        }
    }

    /// The same as a string: slack where it is shorter than its rest length.
    pub fn slack_below_rest(mut self) -> Self {
        self.rest[0] = 0.0;
        self
    }

    /// The same with a damper along its length, N·s/m.
    pub fn with_damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
    }

    /// True if neither its spring nor its damper ever acts.
    pub fn is_idle(&self) -> bool {
        self.stiffness == 0.0 && self.damping == 0.0
    }

    /// All points and obstacles in order.
    pub fn nodes(&self) -> impl Iterator<Item = &CableNode> {
        self.branches.iter().flat_map(|b| &b.nodes)
    }

    /// The links on which the cable acts, in rising order, each once, without the ground.
    pub fn links(&self) -> Vec<LinkId> {
        let moving = self.nodes().map(CableNode::link).filter(|&l| l != LinkId::WORLD);
        let mut out: Vec<LinkId> = moving.collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The links of all points, obstacles and side points, in order.
    pub fn mentioned_links(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.nodes().flat_map(|n| {
            let side = match n {
                CableNode::Obstacle(o) => o.side.map(|s| s.link),
                CableNode::Point(_) => None,
            };
            [Some(n.link()), side].into_iter().flatten()
        })
    }

    /// Renames every link, the frames of those moved by `motion` (new frame from old one).
    pub fn relinked(&self, mut to: impl FnMut(LinkId) -> (LinkId, Pose)) -> Self {
        let mut out = self.clone();
        let mut moved = |p: &mut CablePoint| {
            let (link, pose) = to(p.link);
            *p = CablePoint { link, position: pose.transform_point(p.position) };
        };
        for node in out.branches.iter_mut().flat_map(|b| &mut b.nodes) {
            match node {
                CableNode::Point(p) => moved(p),
                CableNode::Obstacle(o) => {
                    if let Some(side) = &mut o.side {
                        moved(side);
                    }
                }
            }
        }
        for node in out.branches.iter_mut().flat_map(|b| &mut b.nodes) {
            if let CableNode::Obstacle(o) = node {
                let (link, pose) = to(o.link);
                (o.link, o.link_from_obstacle) = (link, pose * o.link_from_obstacle);
            }
        }
        out
    }
}
