//! The mechanism as the divide-and-conquer solver sees it: bodies with mass, and connections
//! between them.
//!
//! Links without usable inertia are folded (EQUATIONS 1.7): one welded to another link becomes part
//! of it, one between two joints disappears in a compound connection S = [S₁ S₂]. What cannot be
//! folded, and mass ratios that the inverse-inertia form does not carry, are errors that name the
//! links.

use forks_mechanism::{
    JointId, JointKind, LinkId, Mechanism,
    lie::{Pose, SpatialInertia, glam::DMat3, glam::DVec3},
};

use super::DcaError;

/// A link that is part of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) link: usize,
    /// Origin of the link in the body's frame (that of its first link) from the centre of mass.
    pub(crate) origin: DVec3,
}

/// One or more links welded together.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// The link whose frame is the body's.
    pub(crate) link: usize,
    pub(crate) inertia: SpatialInertia,
    /// Inverse of the inertia tensor about the centre of mass, body axes.
    pub(crate) inverse_inertia: DMat3,
    /// Σ m (1 − gravity compensation), and its moment about the centre of mass.
    pub(crate) weight: f64,
    pub(crate) weight_moment: DVec3,
    pub(crate) members: Vec<Member>,
}

/// A joint of a connection, passed in the direction from side A to side B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) joint: JointId,
    /// True if the joint's parent is on side A.
    pub(crate) forward: bool,
    /// True if it closes a loop.
    pub(crate) closing: bool,
    /// Links on either side, as the joint has them.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// One or more joints in a row between two bodies, massless links between them.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Bodies on sides A and B; 0 is the ground. The inner one is A where the connection is of the
    /// tree.
    pub(crate) bodies: [usize; 2],
    pub(crate) parts: Vec<Part>,
    /// Coordinates of the parts, then released directions of closing ones.
    pub(crate) dof: usize,
    /// True if one of its joints closes a loop.
    pub(crate) closing: bool,
}

/// Bodies and connections.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    /// The ground first.
    pub(crate) bodies: Vec<Body>,
    /// Tree connections with inner bodies first, then closing ones.
    pub(crate) connections: Vec<Connection>,
    /// Per link: its cluster's first link, and its pose in that link's frame.
    pub(crate) cluster: Vec<(usize, Pose)>,
    /// Per cluster's first link: all links of the cluster.
    pub(crate) links_of: Vec<Vec<usize>>,
    /// Per cluster's first link: its body; `None` for folded ones.
    pub(crate) body_of: Vec<Option<usize>>,
}

/// Links lighter than this against the one they are welded to become part of it.
const WELD_RATIO: f64 = 1e-3;

/// True if the tensor can be inverted without losing more than half of the digits.
fn has_inertia(i: &SpatialInertia) -> bool {
    let p = i.principal_moments();
    i.mass > 0.0 && p[0] > 1e-8 * p[2]
}

/// Size √(I/m) of a body.
fn gyration(i: &SpatialInertia) -> f64 {
    (i.principal_moments()[2] / i.mass).sqrt()
}

impl Bodies {
    pub(crate) fn new(m: &Mechanism, largest_ratio: f64) -> Result<Self, DcaError> {
        let (cluster, inertia) = clusters(m);
        let name = |l: usize| m.links()[l].name.clone();
        let mut links_of = vec![Vec::new(); m.links().len()];
        cluster.iter().enumerate().for_each(|(l, (first, _))| links_of[*first].push(l));
        let mut body_of = vec![None; m.links().len()];
        let mut bodies = vec![];
        for l in 0..m.links().len() {
            if cluster[l].0 != l {
                continue;
            }
            if l == 0 || has_inertia(&inertia[l]) {
                body_of[l] = Some(bodies.len());
                bodies.push(body(m, &cluster, &links_of[l], inertia[l]));
            } else if !inertia[l].is_zero() {
                return Err(DcaError::SingularInertia { link: name(l) });
            }
        }
        let connections = Walk::new(m, &cluster, &body_of).connections()?;
        let out = Self { bodies, connections, cluster, links_of, body_of };
        out.check_ratios(m, largest_ratio)?;
        Ok(out)
    }

    /// The body of a link; `None` if the link was folded into a connection.
    pub(crate) fn body_of_link(&self, link: LinkId) -> Option<usize> {
        self.body_of[self.cluster[link.index()].0]
    }

    /// Inverse inertias of neighbours differ at most by `largest`.
    ///
    /// A neighbourhood is a body with all its connections: the digits are lost where Φ of a light
    /// and of a heavy body are stored in one sum, whatever is between them.
    fn check_ratios(&self, m: &Mechanism, largest: f64) -> Result<(), DcaError> {
        for c in &self.connections {
            let [a, b] = c.bodies;
            if a == 0 || b == 0 || a == b {
                continue;
            }
            let (x, y) = (&self.bodies[a], &self.bodies[b]);
            let unit = gyration(&x.inertia).max(gyration(&y.inertia));
            let size = |i: &SpatialInertia| {
                let p = i.principal_moments();
                (1.0 / i.mass).max(unit * unit / p[2])
            };
            let ratio = size(&x.inertia) / size(&y.inertia);
            let (light, heavy, ratio) =
                if ratio >= 1.0 { (x.link, y.link, ratio) } else { (y.link, x.link, 1.0 / ratio) };
            if ratio > largest {
                let [light, heavy] = [light, heavy].map(|l| m.links()[l].name.clone());
                return Err(DcaError::MassRatio { light, heavy, ratio, largest });
            }
        }
        Ok(())
    }
}

/// Links welded together: per link the first of its cluster and its pose there; per first link the
/// inertia.
fn clusters(m: &Mechanism) -> (Vec<(usize, Pose)>, Vec<SpatialInertia>) {
    let mut cluster: Vec<_> = (0..m.links().len()).map(|l| (l, Pose::IDENTITY)).collect();
    let mut inertia: Vec<_> = m.links().iter().map(|l| l.inertia).collect();
    for e in m.forest().edges() {
        let j = m.joint(e.joint);
        let (first, first_from_inner) = cluster[e.inner.index()];
        let outer = e.outer.index();
        if !matches!(j.kind, JointKind::Fixed) || !is_negligible(first, &inertia, outer) {
            continue;
        }
        let p = j.parent_from_child(&[]);
        let first_from_outer = first_from_inner * if e.reversed { p.inverse() } else { p };
        cluster[outer] = (first, first_from_outer);
        if first != 0 {
            inertia[first] =
                inertia[first].combined(&inertia[outer].transformed(&first_from_outer));
        }
    }
    (cluster, inertia)
}

/// True if one of two welded links cannot stand alone, or is too light to.
fn is_negligible(inner: usize, inertia: &[SpatialInertia], outer: usize) -> bool {
    let (a, b) = (&inertia[inner], &inertia[outer]);
    if !has_inertia(b) {
        return true;
    }
    inner != 0 && (!has_inertia(a) || a.mass.min(b.mass) < WELD_RATIO * a.mass.max(b.mass))
}

fn body(
    m: &Mechanism,
    cluster: &[(usize, Pose)],
    links: &[usize],
    inertia: SpatialInertia,
) -> Body {
    let first = links[0];
    let mut out = Body {
        link: first,
        inertia,
        inverse_inertia: if first == 0 { DMat3::ZERO } else { inertia.inertia.inverse() },
        weight: 0.0,
        weight_moment: DVec3::ZERO,
        members: vec![],
    };
    if first == 0 {
        return out;
    }
    for &l in links {
        let (link, pose) = (&m.links()[l], &cluster[l].1);
        let w = link.inertia.mass * (1.0 - link.gravity_compensation);
        let center = pose.transform_point(link.inertia.center_of_mass);
        out.weight += w;
        out.weight_moment += (center - inertia.center_of_mass) * w;
        out.members.push(Member { link: l, origin: pose.translation - inertia.center_of_mass });
    }
    out
}

/// Finds the connections by walking through massless links.
struct Walk<'a> {
    m: &'a Mechanism,
    cluster: &'a [(usize, Pose)],
    body_of: &'a [Option<usize>],
    /// Joints between clusters, per cluster.
    joints_of: Vec<Vec<JointId>>,
    closing: Vec<bool>,
    seen: Vec<bool>,
}

impl<'a> Walk<'a> {
    fn new(m: &'a Mechanism, cluster: &'a [(usize, Pose)], body_of: &'a [Option<usize>]) -> Self {
        let mut closing = vec![false; m.joints().len()];
        m.forest().closures().iter().for_each(|j| closing[j.index()] = true);
        let mut joints_of = vec![Vec::new(); m.links().len()];
        let mut seen = vec![false; m.joints().len()];
        for (i, j) in m.joints().iter().enumerate() {
            let [a, b] = [j.parent, j.child].map(|l| cluster[l.index()].0);
            if a == b && !closing[i] {
                seen[i] = true;
                continue;
            }
            joints_of[a].push(JointId::new(i));
            if a != b {
                joints_of[b].push(JointId::new(i));
            }
        }
        Self { m, cluster, body_of, joints_of, closing, seen }
    }

    fn connections(mut self) -> Result<Vec<Connection>, DcaError> {
        let mut tree = vec![];
        let mut closing = vec![];
        for e in self.m.forest().edges() {
            let start = self.cluster[e.inner.index()].0;
            if self.seen[e.joint.index()] || self.body_of[start].is_none() {
                continue;
            }
            let c = self.follow(start, e.joint, e.inner.index())?;
            if c.closing { &mut closing } else { &mut tree }.push(c);
        }
        for &id in self.m.forest().closures() {
            let j = self.m.joint(id);
            for start in [j.parent, j.child].map(LinkId::index) {
                let first = self.cluster[start].0;
                if !self.seen[id.index()] && self.body_of[first].is_some() {
                    closing.push(self.follow(first, id, start)?);
                }
            }
        }
        // A ring of massless links is reached from no body.
        if let Some(i) = self.seen.iter().position(|s| !s) {
            let link = self.m.link(self.m.joints()[i].child).name.clone();
            return Err(DcaError::MasslessBranch { link });
        }
        tree.append(&mut closing);
        Ok(tree)
    }

    /// The connection that leaves a body's cluster by a joint at one of its links.
    fn follow(&mut self, body: usize, first: JointId, at: usize) -> Result<Connection, DcaError> {
        let mut parts = vec![];
        let (mut joint, mut from) = (first, at);
        loop {
            self.seen[joint.index()] = true;
            let j = self.m.joint(joint);
            let forward = j.parent.index() == from;
            let to = if forward { j.child } else { j.parent }.index();
            let closing = self.closing[joint.index()];
            parts.push(Part { joint, forward, closing, from, to });
            let cluster = self.cluster[to].0;
            if let Some(end) = self.body_of[cluster] {
                return self.connection([self.body_of[body].unwrap_or(0), end], parts);
            }
            let name = || self.m.links()[cluster].name.clone();
            let next: Vec<JointId> =
                self.joints_of[cluster].iter().copied().filter(|&x| x != joint).collect();
            joint = match next[..] {
                [] => return Err(DcaError::MasslessLeaf { link: name() }),
                [next] if !self.seen[next.index()] => next,
                _ => return Err(DcaError::MasslessBranch { link: name() }),
            };
            let j = self.m.joint(joint);
            let parent_here = self.cluster[j.parent.index()].0 == cluster;
            from = if parent_here { j.parent } else { j.child }.index();
        }
    }

    fn connection(&self, bodies: [usize; 2], parts: Vec<Part>) -> Result<Connection, DcaError> {
        let own: usize = parts.iter().map(|p| self.m.joint(p.joint).dof()).sum();
        let released = parts.iter().filter(|p| p.closing);
        let dof = own + released.map(|p| self.m.joint(p.joint).released.count()).sum::<usize>();
        if dof > 6 {
            let joint = |p: &Part| self.m.joint_label(p.joint);
            return Err(DcaError::TooManyCoordinates {
                joints: parts.iter().map(joint).collect::<Vec<_>>().join(", "),
                dof,
            });
        }
        let closing = parts.iter().any(|p| p.closing);
        Ok(Connection { bodies, parts, dof, closing })
    }
}
