//! Loop equations that repeat others only up to the rounding of a model's numbers.
//!
//! Planar loops, and all overconstrained ones, close with fewer equations than their joints forbid
//! directions. Where axes are out of parallel by 1e-9 … 1e-3 because a file gives six digits, the
//! equations that should follow from others are independent, with singular values of the size of
//! that error. Taken at their word they take a motion away.
//!
//! [`release_redundant`] decides this once, and all solvers then work on what is left. A small
//! singular value alone says little: in a singular pose of an exact mechanism (links in one line, a
//! rhombus folded flat) it is as small, but grows as soon as the mechanism moves. So the decision
//! looks at poses along the motion that the well-conditioned equations admit (`poses`): what is
//! small at all of them, and leaves gaps of that size only, is redundant. A smooth fall of singular
//! values without a step is no rounding either, and is kept.
//!
//! What is left out are directions fixed in a closing joint's frame on the child (`directions`),
//! so that the remaining equations are holonomic, as smooth as before, and the same for every
//! solver at every pose. They need not be the redundant wrenches themselves, which may turn with
//! the motion: any directions do along which those do work. Loops are looked at one by one first,
//! then together with what they share.

mod clusters;
mod directions;
mod poses;
mod system;

pub use crate::released::ReleasedDirections;

use forks_lie::Twist;

use self::{
    clusters::{Cluster, clusters, loop_size},
    system::System,
};
use crate::{
    BuildError, JointId, Mechanism, MechanismBuilder,
    kinematics::{RANK_TOLERANCE, mobility},
};

/// Singular values below this part of the largest may be rounding.
const SUSPECT: f64 = 2e-3;
/// Below this part of the largest they are rounding of the arithmetic: exactly redundant.
const EXACT: f64 = 1e-12;
/// The smallest singular value that counts stands above the largest that does not by this factor.
const STEP: f64 = 10.0;
/// Gaps (lengths over the loops' size, rad) above this are no rounding: the loop is open.
const LARGEST_GAP: f64 = 5e-3;
/// Gaps below this are closed.
const CLOSED: f64 = 1e-10;
/// Clusters with more equations are looked at loop by loop only.
const MOST_ROWS: usize = 150;
/// Loops of more joints are taken at their word: long slender ones have small singular values of
/// their own.
const MOST_JOINTS: usize = 150;

/// Loop equations that were found to repeat others, of loops that share joints.
#[derive(Clone, Debug, PartialEq)]
pub struct NearRedundancy {
    /// The closing joints that were released, in joint order.
    pub closures: Vec<JointId>,
    /// Directions released in all.
    pub released: usize,
    /// Largest singular value that was left out, over the largest.
    pub left_out: f64,
    /// Smallest one that was kept.
    pub kept: f64,
    /// Largest gap that stays open along the released directions, at the start: m.
    pub position_gap: f64,
    /// The same for angles, rad.
    pub angle_gap: f64,
}

/// A mechanism with released equations, and what was found.
#[derive(Clone, Debug)]
pub struct Release {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// What was left out.
    pub found: Vec<NearRedundancy>,
    /// Motions without the released equations, at the start.
    pub mobility: usize,
    /// Motions with them.
    pub mobility_with_all: usize,
}

/// Finds loop equations that repeat others up to rounding, from positions `q` of all joints (the
/// loops may be open there), and releases them; `None` where there are none.
///
/// Joints that have released directions already are left as they are. Couplings are never released.
///
/// # Errors
/// Those of building a mechanism anew.
pub fn release_redundant(m: &Mechanism, q: &[f64]) -> Result<Option<Release>, BuildError> {
    let mut released = vec![Vec::<Twist>::new(); m.joints().len()];
    let mut sizes = vec![1.0; m.joints().len()];
    let mut found = Vec::new();
    let poses = m.link_poses(q);
    for cluster in clusters(m, q) {
        let mut left_out: Option<(f64, f64)> = None;
        let mut note = |ratios: (f64, f64)| {
            let old = left_out.unwrap_or((0.0, f64::INFINITY));
            left_out = Some((old.0.max(ratios.0), old.1.min(ratios.1)));
        };
        for &id in &cluster.closures {
            sizes[id.index()] = cluster.size;
            let (a, b) = (m.joint(id).parent, m.joint(id).child);
            let short = m.forest().path_between(a, b).count() <= MOST_JOINTS;
            if short && m.joint(id).released.is_empty() {
                // In its own size: a short loop of a long mechanism is no worse conditioned than by
                // itself.
                let size = loop_size(m, &poses, id).unwrap_or(cluster.size);
                let alone = Cluster { closures: vec![id], couplings: vec![], size };
                add(m, q, &alone, &mut released, &mut note);
                for t in &mut released[id.index()] {
                    *t = t.scale_linear(size / cluster.size);
                }
            }
        }
        let given = cluster.closures.iter().any(|id| !m.joint(*id).released.is_empty());
        let parts = cluster.closures.len() + cluster.couplings.len();
        let rows = 6 * cluster.closures.len() + cluster.couplings.len();
        if parts > 1 && rows <= MOST_ROWS && !given {
            add(m, q, &cluster, &mut released, &mut note);
        }
        if let Some((out, kept)) = left_out {
            let closures: Vec<JointId> =
                cluster.closures.into_iter().filter(|j| !released[j.index()].is_empty()).collect();
            found.push(NearRedundancy {
                released: closures.iter().map(|j| released[j.index()].len()).sum(),
                closures,
                left_out: out,
                kept,
                position_gap: 0.0,
                angle_gap: 0.0,
            });
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    let mut b = MechanismBuilder::from_mechanism(m);
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        if !released[i].is_empty() {
            j.released = ReleasedDirections::new(sizes[i], &released[i]);
        }
    }
    let mechanism = b.build()?;
    let mut out = Release { mechanism, found, mobility: 0, mobility_with_all: 0 };
    out.measure(m, q);
    Ok(Some(out))
}

impl Release {
    /// Counts motions and gaps anew at positions `q`; `original` is the mechanism before the
    /// release.
    pub fn measure(&mut self, original: &Mechanism, q: &[f64]) {
        let poses = original.link_poses(q);
        let count = |m: &Mechanism| mobility(m, q, &poses, RANK_TOLERANCE).mobility;
        (self.mobility, self.mobility_with_all) = (count(&self.mechanism), count(original));
        for f in &mut self.found {
            (f.position_gap, f.angle_gap) = (0.0, 0.0);
            for &id in &f.closures {
                let gap = crate::kinematics::loops::closure_gap(original, q, &poses, id);
                let j = self.mechanism.joint(id);
                let open = j.child_from_joint.adjoint().apply_inverse(gap - j.held_twist(gap));
                f.position_gap = f.position_gap.max(open.linear.length());
                f.angle_gap = f.angle_gap.max(open.angular.length());
            }
        }
    }
}

/// Decides about one set of loops, and adds what is released.
fn add(
    m: &Mechanism,
    q: &[f64],
    cluster: &Cluster,
    released: &mut [Vec<Twist>],
    note: &mut impl FnMut((f64, f64)),
) {
    let system = System::new(m, q, cluster, released);
    let Some(decision) = directions::decide(&system) else { return };
    for (id, twist) in decision.directions {
        released[id.index()].push(twist);
    }
    note((decision.left_out, decision.kept));
}
