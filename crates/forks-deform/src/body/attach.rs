//! Which nodes are in bones, and which bone is nearest.
//!
//! A bone is a link with its segments: from where its joint is to the joints of the links it
//! carries; without such links, as far beyond its centre of mass as that is from its joint.

use forks_dynamics::mechanism::{LinkId, Mechanism, lie::glam::DVec3};

use super::{SoftBody, SoftError};

/// Which nodes are in bones.
#[derive(Clone, Debug, PartialEq)]
pub enum Attachment {
    /// Those within a distance (m) of a bone's segments; where two are equally near, of the first
    /// link's.
    Within(f64),
    /// Those listed, link by link; the ground may hold nodes too.
    Nodes(Vec<(LinkId, Vec<usize>)>),
}

/// A straight part of a bone.
struct Segment {
    link: LinkId,
    from: DVec3,
    to: DVec3,
}

impl Segment {
    fn distance(&self, x: DVec3) -> f64 {
        let along = self.to - self.from;
        let square = along.length_squared();
        let s =
            if square > 0.0 { ((x - self.from).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
        x.distance(self.from + along * s)
    }
}

impl SoftBody {
    /// The same body with nodes in bones of a mechanism in its start pose; their masses will be
    /// part of the links.
    ///
    /// # Errors
    /// Nothing to attach, nodes or links that are not there, nodes attached twice.
    pub fn attached(mut self, m: &Mechanism, how: &Attachment) -> Result<Self, SoftError> {
        let poses = m.link_poses(&m.start_positions());
        let segments = segments(m);
        let count = self.mesh.nodes().len();
        let nearest: Vec<(LinkId, f64)> =
            self.mesh.nodes().iter().map(|&x| nearest(&segments, x)).collect();
        match how {
            Attachment::Within(distance) => {
                if distance.is_nan() || *distance <= 0.0 {
                    return Err(SoftError::Within(*distance));
                }
                let mut closest = (0, f64::INFINITY);
                for (n, (link, d)) in nearest.iter().enumerate() {
                    if *d < closest.1 {
                        closest = (n, *d);
                    }
                    self.holder[n] = (*d <= *distance).then_some(*link);
                }
                if closest.1 > *distance {
                    let (node, at) = closest;
                    return Err(SoftError::NothingAttached {
                        within: *distance,
                        node,
                        distance: at,
                    });
                }
            }
            Attachment::Nodes(lists) => self.attach_listed(m, lists)?,
        }
        for n in 0..count {
            let bone = self.holder[n].unwrap_or(nearest[n].0);
            self.reference[n] = bone;
            self.local[n] = poses[bone.index()].inverse().transform_point(self.mesh.nodes()[n]);
        }
        Ok(self)
    }

    fn attach_listed(
        &mut self,
        m: &Mechanism,
        lists: &[(LinkId, Vec<usize>)],
    ) -> Result<(), SoftError> {
        let (count, links) = (self.holder.len(), m.links().len());
        for (link, nodes) in lists {
            if link.index() >= links {
                return Err(SoftError::NoSuchLink { index: link.index(), count: links });
            }
            let name = |l: LinkId| m.link(l).name.clone();
            for &node in nodes {
                if node >= count {
                    return Err(SoftError::NoSuchNode { node, count, link: name(*link) });
                }
                if let Some(first) = self.holder[node].replace(*link) {
                    let (first, second) = (name(first), name(*link));
                    return Err(SoftError::AttachedTwice { node, first, second });
                }
            }
        }
        Ok(())
    }
}

/// The nearest bone and its distance, the ground at no distance at all where there are no bones.
fn nearest(segments: &[Segment], x: DVec3) -> (LinkId, f64) {
    let mut best = (LinkId::WORLD, f64::INFINITY);
    for s in segments {
        let d = s.distance(x);
        if d < best.1 {
            best = (s.link, d);
        }
    }
    best
}

/// Segments of all links in the start pose, by link.
fn segments(m: &Mechanism) -> Vec<Segment> {
    let poses = m.link_poses(&m.start_positions());
    let edges = m.forest().edges();
    let anchor = |link: LinkId| {
        let e = edges.iter().find(|e| e.outer == link)?;
        let j = m.joint(e.joint);
        let at = if e.reversed { j.parent_from_joint } else { j.child_from_joint };
        Some(poses[link.index()].transform_point(at.translation))
    };
    let mut out = Vec::new();
    for (link, description) in m.moving_links().filter(|(_, l)| !l.auxiliary) {
        let Some(from) = anchor(link) else { continue };
        let ends: Vec<DVec3> =
            edges.iter().filter(|e| e.inner == link).filter_map(|e| anchor(e.outer)).collect();
        let center = poses[link.index()].transform_point(description.inertia.center_of_mass);
        let ends = if ends.is_empty() { vec![from + (center - from) * 2.0] } else { ends };
        out.extend(ends.into_iter().map(|to| Segment { link, from, to }));
    }
    out
}
