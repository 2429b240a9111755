//! The tree that the joints form: one root, one parent per link, no cycles; and its order.

use super::Robot;
use crate::{ImportError, Location, UrdfOrder};

/// The root link, and all joints depth first, those of one link by name or as in the file.
pub(crate) struct Order {
    pub(crate) root: usize,
    pub(crate) joints: Vec<usize>,
}

/// Checks the tree and lists its joints.
pub(crate) fn depth_first(
    robot: &Robot<'_>,
    sorted: UrdfOrder,
    at: Location,
) -> Result<Order, ImportError> {
    let carrying = carrying_joints(robot)?;
    let root = only_root(robot, &carrying, at)?;
    let mut children: Vec<Vec<usize>> = vec![vec![]; robot.links.len()];
    for (i, j) in robot.joints.iter().enumerate() {
        children[j.parent].push(i);
    }
    // The last of a stack comes first: sorted backwards.
    for list in &mut children {
        match sorted {
            UrdfOrder::Name => {
                list.sort_by(|a, b| robot.joints[*b].name().cmp(robot.joints[*a].name()));
            }
            UrdfOrder::Mujoco => list.reverse(),
        }
    }
    let mut order = Order { root, joints: Vec::with_capacity(robot.joints.len()) };
    let mut stack = children[root].clone();
    let mut reached = vec![false; robot.links.len()];
    reached[root] = true;
    while let Some(i) = stack.pop() {
        order.joints.push(i);
        let child = robot.joints[i].child;
        reached[child] = true;
        stack.extend(&children[child]);
    }
    match reached.iter().position(|r| !r) {
        Some(link) => Err(cycle(robot, &carrying, link)),
        None => Ok(order),
    }
}

/// The joint that carries each link.
fn carrying_joints(robot: &Robot<'_>) -> Result<Vec<Option<usize>>, ImportError> {
    let mut carrying: Vec<Option<usize>> = vec![None; robot.links.len()];
    for (i, j) in robot.joints.iter().enumerate() {
        let link = &robot.links[j.child];
        if j.parent == j.child {
            return Err(j.attributes.error(format!("joins link '{}' to itself", link.name())));
        }
        if let Some(first) = carrying[j.child].replace(i) {
            return Err(j.attributes.error(format!(
                "link '{}' is already the child of joint '{}'; URDF cannot close loops (a side \
                file MODEL.forks.toml can, and MJCF by equality connect or weld)",
                link.name(),
                robot.joints[first].name()
            )));
        }
    }
    Ok(carrying)
}

/// The link that no joint carries.
fn only_root(
    robot: &Robot<'_>,
    carrying: &[Option<usize>],
    at: Location,
) -> Result<usize, ImportError> {
    let roots: Vec<usize> = (0..carrying.len()).filter(|&l| carrying[l].is_none()).collect();
    match roots[..] {
        [root] => Ok(root),
        [] if robot.links.is_empty() => Err(ImportError::Element {
            at: Box::new(at),
            element: super::ROOT.into(),
            problem: "has no link".into(),
        }),
        [] => Err(cycle(robot, carrying, 0)),
        [_, second, ..] => {
            let names = quoted(roots.iter().map(|&r| robot.links[r].name()));
            Err(robot.links[second].attributes.error(format!(
                "the links {names} are children of no joint; only one root is allowed"
            )))
        }
    }
}

/// The cycle that is met on the way from a link towards the root.
fn cycle(robot: &Robot<'_>, carrying: &[Option<usize>], link: usize) -> ImportError {
    let inner = |l: usize| carrying[l].map_or(l, |j| robot.joints[j].parent);
    // After as many steps as there are links every link on the way is part of the cycle.
    let start = (0..carrying.len()).fold(link, |l, _| inner(l));
    let mut around = vec![start];
    let mut at = inner(start);
    while at != start {
        around.push(at);
        at = inner(at);
    }
    around.reverse();
    let names = quoted(around.iter().map(|&l| robot.links[l].name()));
    let joint = &robot.joints[carrying[start].expect("part of a cycle")];
    joint.attributes.error(format!("the links {names} carry each other in a cycle without a root"))
}

/// 'a', 'b', 'c'; of long lists the beginning.
fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 8;
    let all: Vec<String> = names.map(|n| format!("'{n}'")).collect();
    let rest = all.len().saturating_sub(SHOWN);
    let shown = all[..all.len() - rest].join(", ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}
