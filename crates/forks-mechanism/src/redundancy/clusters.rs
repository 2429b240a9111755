//! Loops that share joints, directly or through couplings.

use forks_lie::glam::DVec3;

use crate::{CouplingId, JointId, LinkId, Mechanism};

/// Closing joints and couplings that act on each other.
pub(super) struct Cluster {
    /// In joint order.
    pub(super) closures: Vec<JointId>,
    pub(super) couplings: Vec<CouplingId>,
    /// Largest distance of frames, centres of mass and anchors of the loops' links from the mean of
    /// their frames, m.
    pub(super) size: f64,
}

/// All clusters with a loop, in the order of their first closing joint.
pub(super) fn clusters(m: &Mechanism, q: &[f64]) -> Vec<Cluster> {
    let closures = m.forest().closures();
    if closures.is_empty() {
        return vec![];
    }
    let mut sets = Sets((0..m.joints().len()).collect());
    let mut paths = Vec::with_capacity(closures.len());
    for &id in closures {
        let j = m.joint(id);
        let path: Vec<JointId> =
            m.forest().path_between(j.parent, j.child).map(|(e, _)| e.joint).collect();
        // Joints without coordinates carry no motion from one loop to another.
        let moving = path.iter().filter(|j| m.joint(**j).dof() > 0);
        moving.for_each(|t| sets.join(id.index(), t.index()));
        paths.push(path);
    }
    for c in m.couplings() {
        let joints: Vec<usize> = c.joints().map(JointId::index).collect();
        joints.windows(2).for_each(|w| sets.join(w[0], w[1]));
    }
    let poses = m.link_poses(q);
    let r = m.bounding_radius(&poses);
    let mut roots: Vec<usize> = Vec::new();
    let mut out: Vec<(Cluster, Vec<LinkId>)> = Vec::new();
    for (&id, path) in closures.iter().zip(&paths) {
        let root = sets.root(id.index());
        let at = roots.iter().position(|&x| x == root).unwrap_or_else(|| {
            roots.push(root);
            out.push((Cluster { closures: vec![], couplings: vec![], size: r }, vec![]));
            roots.len() - 1
        });
        out[at].0.closures.push(id);
        for joint in path.iter().chain([&id]) {
            let j = m.joint(*joint);
            out[at].1.extend([j.parent, j.child].into_iter().filter(|&l| l != LinkId::WORLD));
        }
    }
    for (i, c) in m.couplings().iter().enumerate() {
        let root = c.joints().next().map(|j| sets.root(j.index()));
        if let Some(at) = roots.iter().position(|&x| Some(x) == root) {
            out[at].0.couplings.push(CouplingId::new(i));
        }
    }
    out.into_iter()
        .map(|(c, mut links)| {
            links.sort();
            links.dedup();
            let size = extent(m, &poses, &links, &c.closures, &paths_of(&c, closures, &paths));
            Cluster { size: if size > 1e-6 * r { size } else { r }, ..c }
        })
        .collect()
}

/// The size of one loop, as [`Cluster::size`]; `None` if all of it is at one place.
pub(super) fn loop_size(m: &Mechanism, poses: &[forks_lie::Pose], closing: JointId) -> Option<f64> {
    let j = m.joint(closing);
    let path: Vec<JointId> =
        m.forest().path_between(j.parent, j.child).map(|(e, _)| e.joint).collect();
    let mut links: Vec<LinkId> = path
        .iter()
        .chain([&closing])
        .flat_map(|id| [m.joint(*id).parent, m.joint(*id).child])
        .filter(|l| *l != LinkId::WORLD)
        .collect();
    links.sort();
    links.dedup();
    let size = extent(m, poses, &links, &[closing], &path);
    (size > 1e-6 * m.bounding_radius(poses)).then_some(size)
}

fn paths_of(c: &Cluster, closures: &[JointId], paths: &[Vec<JointId>]) -> Vec<JointId> {
    let own = closures.iter().zip(paths).filter(|(id, _)| c.closures.contains(id));
    own.flat_map(|(_, p)| p.iter().copied()).collect()
}

fn extent(
    m: &Mechanism,
    poses: &[forks_lie::Pose],
    links: &[LinkId],
    closures: &[JointId],
    tree: &[JointId],
) -> f64 {
    if links.is_empty() {
        return 0.0;
    }
    let frames = links.iter().map(|l| poses[l.index()].translation);
    let mean = frames.clone().sum::<DVec3>() / links.len() as f64;
    let centers = links.iter().filter(|l| m.link(**l).inertia.mass > 0.0);
    let centers =
        centers.map(|l| poses[l.index()].transform_point(m.link(*l).inertia.center_of_mass));
    let anchors = closures.iter().chain(tree).map(|id| {
        let j = m.joint(*id);
        poses[j.child.index()].transform_point(j.child_from_joint.translation)
    });
    frames.chain(centers).chain(anchors).map(|p| p.distance(mean)).fold(0.0, f64::max)
}

impl crate::Coupling {
    /// The joints of its coordinates.
    fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.terms.iter().flat_map(|t| t.combination.terms.iter().map(|(c, _)| c.joint))
    }
}

/// Disjoint sets with path halving.
struct Sets(Vec<usize>);

impl Sets {
    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
