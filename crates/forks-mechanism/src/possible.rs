//! Which links have an inertia that no body can have, and where that matters.
//!
//! A link that fixed joints weld to the ground never moves: its inertia counts nowhere. Links that
//! fixed joints weld to each other move as one body, so that body is what can be wrong: files give
//! sensors and frames the tensor of a template. Where the fault is a large part of the body's
//! moments the link is refused all the same: a fingertip that is welded to a wrong link does not
//! mend it.

use forks_lie::{Digits, DigitsOf, InertiaError, Pose, SpatialInertia};

use crate::{Joint, Link, LinkId};

/// Relative slack of the inertia checks: covers tensors rounded to the digits of a file and turned
/// into other axes.
const TOLERANCE: f64 = 1e-6;

/// A fault below this part of the largest moment of the body that the link is a part of is a matter
/// of a sensor or a frame; above it the numbers of the body itself are in doubt.
const SMALL: f64 = 0.01;

/// What an impossible inertia does to the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InertiaVerdict {
    /// Nothing: the link is welded to the ground.
    Still,
    /// Hardly anything: with the links that it is welded to it makes a body that can be, of which
    /// the fault is a small part.
    Carried,
    /// It moves a body that cannot be.
    Moving,
}

/// A link whose inertia no body has.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpossibleInertia {
    /// The link.
    pub link: LinkId,
    /// What is wrong, with numbers.
    pub problem: String,
    /// Where it matters.
    pub verdict: InertiaVerdict,
}

pub(crate) fn impossible(links: &[Link], joints: &[Joint]) -> Vec<ImpossibleInertia> {
    let sizes = sizes(links, joints);
    let reach = sizes.iter().fold(0.0f64, |m, x| m.max(*x));
    let check = |i: &SpatialInertia, size: f64| match i.validate_at_size(TOLERANCE, size, reach) {
        Err(e @ (InertiaError::NotPositive(_) | InertiaError::TriangleInequality(_))) => Some(e),
        _ => None,
    };
    let suspects: Vec<(usize, InertiaError)> =
        (0..links.len()).filter_map(|l| Some((l, check(&links[l].inertia, sizes[l])?))).collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let welds = Welds::new(links.len(), joints);
    suspects
        .into_iter()
        .map(|(l, e)| ImpossibleInertia {
            link: LinkId::new(l),
            problem: describe(e),
            verdict: match welds.body_of[l] {
                0 => InertiaVerdict::Still,
                _ => {
                    let body = welds.body(links, l);
                    let small = fault(&links[l].inertia) <= SMALL * body.principal_moments()[2];
                    match check(&body, welds.size(&sizes, l)) {
                        None if small => InertiaVerdict::Carried,
                        _ => InertiaVerdict::Moving,
                    }
                }
            },
        })
        .collect()
}

/// By how much a tensor violates A ≥ 0 and A + B ≥ C, kg·m².
fn fault(i: &SpatialInertia) -> f64 {
    let [a, b, c] = i.principal_moments();
    (c - a - b).max(-a)
}

fn describe(e: InertiaError) -> String {
    match e {
        InertiaError::NotPositive(p) => {
            format!("its inertia tensor has the negative principal moment {}", Digits(p))
        }
        InertiaError::TriangleInequality(p) => {
            format!("principal moments of inertia {} violate A + B >= C", DigitsOf(&p))
        }
        other => other.to_string(),
    }
}

/// How far each link reaches from its frame: to its centre of mass and to its joints.
fn sizes(links: &[Link], joints: &[Joint]) -> Vec<f64> {
    let mut out: Vec<f64> = links.iter().map(|l| l.inertia.center_of_mass.length()).collect();
    for j in joints {
        for (link, pose) in [(j.parent, j.parent_from_joint), (j.child, j.child_from_joint)] {
            // Links that do not exist are refused when the mechanism is built.
            if let Some(size) = out.get_mut(link.index()) {
                *size = size.max(pose.translation.length());
            }
        }
    }
    // Frames of the ground are places in the world, not parts of a body.
    out[0] = 0.0;
    out
}

/// Links that joints without coordinates hold together.
struct Welds {
    /// The body of each link: the first link of it, 0 for what is welded to the ground.
    body_of: Vec<usize>,
    /// Pose of each link in the first link of its body.
    body_from_link: Vec<Pose>,
}

impl Welds {
    fn new(links: usize, joints: &[Joint]) -> Self {
        let mut neighbours: Vec<Vec<(usize, Pose)>> = vec![vec![]; links];
        let exist = |j: &&Joint| j.parent.index().max(j.child.index()) < links;
        for j in joints.iter().filter(exist).filter(|j| j.dof() == 0) {
            let parent_from_child = j.parent_from_joint * j.child_from_joint.inverse();
            let (p, c) = (j.parent.index(), j.child.index());
            neighbours[p].push((c, parent_from_child));
            neighbours[c].push((p, parent_from_child.inverse()));
        }
        let mut out =
            Self { body_of: vec![usize::MAX; links], body_from_link: vec![Pose::IDENTITY; links] };
        for first in 0..links {
            if out.body_of[first] != usize::MAX {
                continue;
            }
            out.body_of[first] = first;
            let mut reached = vec![first];
            while let Some(at) = reached.pop() {
                for (next, at_from_next) in &neighbours[at] {
                    if out.body_of[*next] == usize::MAX {
                        out.body_of[*next] = first;
                        out.body_from_link[*next] = out.body_from_link[at] * *at_from_next;
                        reached.push(*next);
                    }
                }
            }
        }
        out
    }

    fn members(&self, link: usize) -> impl Iterator<Item = usize> {
        (0..self.body_of.len()).filter(move |l| self.body_of[*l] == self.body_of[link])
    }

    /// Everything that is welded to a link, in one frame.
    fn body(&self, links: &[Link], link: usize) -> SpatialInertia {
        self.members(link).fold(SpatialInertia::ZERO, |sum, l| {
            sum.combined(&links[l].inertia.transformed(&self.body_from_link[l]))
        })
    }

    /// How far that reaches from its own frame.
    fn size(&self, sizes: &[f64], link: usize) -> f64 {
        self.members(link)
            .map(|l| self.body_from_link[l].translation.length() + sizes[l])
            .fold(0.0, f64::max)
    }
}
