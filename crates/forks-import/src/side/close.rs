//! Loops of a side file: joints between frames of two links, assembled.

use forks_mechanism::{
    Joint, JointId, JointKind, JointSpring, LinkId, Mechanism, MechanismBuilder,
    kinematics::{Assembly, AssemblySettings, AssemblyStatus, assemble, loops::ClosureGap},
    lie::Pose,
    redundancy::{Release, release_redundant},
};

use super::{LoopEnd, LoopEntry};
use crate::{ImportError, read::label};

/// The joint that closes the loop.
pub(super) fn joint(entry: &LoopEntry, m: &Mechanism) -> Result<Joint, ImportError> {
    let element = label("loop", Some(&entry.name));
    let error = |problem: String| ImportError::Element {
        at: Box::new(entry.at.clone()),
        element: element.clone(),
        problem,
    };
    if !entry.name.is_empty() && m.find_joint(&entry.name).is_some() {
        return Err(ImportError::DuplicateName {
            at: Box::new(entry.at.clone()),
            kind: "joint",
            name: entry.name.clone(),
        });
    }
    let (a, link_from_a) = find(&entry.a, &element, "a", m)?;
    let (b, link_from_b) = find(&entry.b, &element, "b", m)?;
    if a == b {
        return Err(error(format!("joins link '{}' to itself", m.link(a).name)));
    }
    let mut j =
        Joint::new(&*entry.name, entry.kind.clone(), a, b).at(link_from_a).child_at(link_from_b);
    if let Some(d) = &entry.damping {
        j.damping = d.diagonal(j.dof(), &element)?;
    }
    if j.dof() == 0 && (entry.damping.is_some() || entry.stiffness.is_some()) {
        return Err(error("is a weld; it has no coordinate to resist".into()));
    }
    Ok(j)
}

/// The spring of a closing joint; it rests at the assembled pose.
pub(super) fn put_spring(entry: &LoopEntry, j: &mut Joint) -> Result<(), ImportError> {
    let Some(k) = &entry.stiffness else { return Ok(()) };
    let stiffness = k.diagonal(j.dof(), &label("loop", Some(&entry.name)))?;
    j.spring = Some(JointSpring { stiffness, rest: j.start.clone() });
    Ok(())
}

/// The link of an end, and the frame in it.
fn find(
    end: &LoopEnd,
    element: &str,
    key: &str,
    m: &Mechanism,
) -> Result<(LinkId, Pose), ImportError> {
    let found = match end.link.strip_prefix("site:") {
        Some(site) => m.find_frame(site).map(|id| {
            let f = &m.frames()[id.index()];
            (f.link, f.link_from_frame * end.frame)
        }),
        None => m.find_link(&end.link).map(|id| (id, end.frame)),
    };
    found.ok_or_else(|| ImportError::UnknownReference {
        at: Box::new(end.at.clone()),
        element: element.into(),
        attribute: key.into(),
        value: end.link.clone(),
        kind: "link or site",
    })
}

/// Tries from other positions near the start, where the start itself is a dead end (links in one
/// line, say).
const TRIES: usize = 8;
/// How far these are away, rad or sizes of the mechanism.
const SPREAD: f64 = 0.3;

/// The mechanism with the assembled pose as its start, the largest motion of a tree coordinate on
/// the way, and the equations that were released because they repeat others up to rounding.
pub(super) fn assembled(
    m: &Mechanism,
    loops: &[LoopEntry],
) -> Result<(Mechanism, f64, Option<Release>), ImportError> {
    let failed = |source| ImportError::Mechanism { file: "side file".into(), source };
    let start = m.start_positions();
    let mut release = release_redundant(m, &start).map_err(failed)?;
    let original = m;
    let m = release.as_ref().map_or(m, |r| &r.mechanism).clone();
    let found = closest(&m, &start);
    if found.status != AssemblyStatus::Assembled {
        return Err(open(&m, loops, &found));
    }
    let tree = m.tree_velocity_count();
    let moved = m.difference(&start, &found.positions);
    let largest = moved[..tree].iter().fold(0.0f64, |a, x| a.max(x.abs()));
    if let Some(r) = &mut release {
        r.measure(original, &found.positions);
    }
    let mut b = MechanismBuilder::from_mechanism(&m);
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        j.start.copy_from_slice(&found.positions[m.position_range(JointId::new(i))]);
    }
    Ok((b.build().map_err(failed)?, largest, release))
}

/// The first assembly that succeeds, from the start pose, then from poses around it; the one with
/// the smallest gaps if none does.
fn closest(m: &Mechanism, start: &[f64]) -> Assembly {
    let settings = AssemblySettings::default();
    let mut best = assemble(m, start, &settings);
    let r = m.bounding_radius(&m.link_poses(start));
    for attempt in 1..TRIES {
        if best.status != AssemblyStatus::Stalled {
            break;
        }
        let next = assemble(m, &displaced(m, start, attempt, r), &settings);
        if next.status == AssemblyStatus::Assembled || next.residual < best.residual {
            best = next;
        }
    }
    best
}

/// The start with every tree coordinate moved by a part of [`SPREAD`] that no two coordinates
/// share.
fn displaced(m: &Mechanism, start: &[f64], attempt: usize, r: f64) -> Vec<f64> {
    // Fractional parts of multiples of the golden ratio fill the interval evenly.
    let part = |i: usize| {
        let x = ((i + 1) * attempt) as f64 * 0.618_033_988_749_894_9;
        SPREAD * (2.0 * (x - x.floor()) - 1.0)
    };
    let mut v = vec![0.0; m.velocity_count()];
    for (i, v) in v[..m.tree_velocity_count()].iter_mut().enumerate() {
        let c = m.velocity_owner(i);
        let slides = match m.joint(c.joint).kind {
            JointKind::Prismatic { .. } => true,
            JointKind::Cylindrical { .. } => c.index == 0,
            JointKind::Planar => c.index < 2,
            JointKind::Free => c.index < 3,
            _ => false,
        };
        *v = part(i) * if slides { r } else { 1.0 };
    }
    let mut q = start.to_vec();
    m.integrate(&mut q, &v);
    m.fit_closures(&mut q);
    q
}

/// Which loop stays open, and by how much.
fn open(m: &Mechanism, loops: &[LoopEntry], found: &Assembly) -> ImportError {
    if found.status == AssemblyStatus::NotFinite {
        let problem = "the start pose is so far away that gaps are no numbers".into();
        let element = "loops".into();
        return ImportError::Element { at: Box::new(loops[0].at.clone()), element, problem };
    }
    let r = m.bounding_radius(&m.link_poses(&found.positions));
    let first = m.joints().len() - loops.len();
    let size = |g: &ClosureGap| (g.position / r).max(g.angle);
    let mut gaps: Vec<&ClosureGap> = found.closures.iter().collect();
    gaps.sort_by(|x, y| size(y).total_cmp(&size(x)));
    let Some(worst) = gaps.first() else {
        let problem = "the couplings of the model contradict each other".into();
        let element = "loops".into();
        return ImportError::Element { at: Box::new(loops[0].at.clone()), element, problem };
    };
    let own = worst.joint.index().checked_sub(first).map(|i| &loops[i]);
    let j = m.joint(worst.joint);
    ImportError::OpenLoop {
        at: Box::new(own.unwrap_or(&loops[0]).at.clone()),
        name: worst.name.clone(),
        link_a: m.link(j.parent).name.clone(),
        link_b: m.link(j.child).name.clone(),
        position: worst.position,
        angle: worst.angle,
    }
}
