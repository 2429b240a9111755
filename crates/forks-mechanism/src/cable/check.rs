//! What a cable must be to have a path.

use forks_lie::Digits;

use super::{Cable, CableNode};
use crate::{
    BuildError, Link, LinkId,
    checks::{finite, finite_vector, label, normalized_pose, not_negative},
};

/// Checks all cables, and scales quaternions to unit length.
pub(crate) fn check_cables(cables: &mut [Cable], links: &[Link]) -> Result<(), BuildError> {
    for (i, c) in cables.iter_mut().enumerate() {
        let element = label("cable", &c.name, i);
        not_negative(&element, "stiffness", c.stiffness)?;
        not_negative(&element, "damping", c.damping)?;
        let [lower, upper] = c.rest;
        finite(&element, "rest length", lower)?;
        finite(&element, "rest length", upper)?;
        if lower > upper {
            return Err(BuildError::EmptyRange { element, lower, upper });
        }
        if c.branches.is_empty() {
            return Err(BuildError::BadPath { element, problem: "has no branch".into() });
        }
        for (k, b) in c.branches.iter_mut().enumerate() {
            let bad = |problem: String| {
                Err(BuildError::BadPath {
                    element: element.clone(),
                    problem: format!("branch {k} {problem}"),
                })
            };
            finite(&element, "divisor", b.divisor)?;
            if b.divisor <= 0.0 {
                return bad(format!("has divisor {}, must be above 0", Digits(b.divisor)));
            }
            let point = |n: Option<&CableNode>| matches!(n, Some(CableNode::Point(_)));
            if b.nodes.len() < 2 || !point(b.nodes.first()) || !point(b.nodes.last()) {
                return bad("does not run from a point to another one".into());
            }
            if b.nodes.windows(2).any(|w| !point(w.first()) && !point(w.last())) {
                return bad("has two obstacles without a point between them".into());
            }
            b.nodes.iter_mut().try_for_each(|n| check_node(&element, n, links.len()))?;
        }
    }
    Ok(())
}

fn check_node(element: &str, node: &mut CableNode, links: usize) -> Result<(), BuildError> {
    let known = |id: LinkId| {
        if id.index() < links {
            return Ok(());
        }
        let (element, index) = (element.into(), id.index());
        Err(BuildError::UnknownElement { element, kind: "link", index, count: links })
    };
    match node {
        CableNode::Point(p) => {
            known(p.link)?;
            finite_vector(element, "point", p.position)
        }
        CableNode::Obstacle(o) => {
            known(o.link)?;
            o.link_from_obstacle = normalized_pose(element, &o.link_from_obstacle)?;
            finite(element, "radius", o.radius)?;
            if o.radius <= 0.0 {
                let problem = format!("wraps a radius of {}, must be above 0", Digits(o.radius));
                return Err(BuildError::BadPath { element: element.into(), problem });
            }
            match &o.side {
                None => Ok(()),
                Some(s) => {
                    known(s.link)?;
                    finite_vector(element, "side point", s.position)
                }
            }
        }
    }
}
