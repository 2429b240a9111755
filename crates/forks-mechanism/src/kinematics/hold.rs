//! Which free joint has to be held for statics: the one of a tree that nothing else holds.

use forks_lie::Pose;
use forks_linalg::Matrix;

use super::{link_jacobian, scaling::ScaledJacobian};
use crate::{Cable, JointId, JointKind, LinkId, Mechanism};
use forks_linalg::dense;

/// Above this many coordinates what is tied to the ground counts as held by it: the rank of its
/// motions takes the cube of their number.
const DENSE_LIMIT: usize = 400;
/// Relative singular values below this count as none.
const RANK_TOLERANCE: f64 = 1e-8;
/// A unit motion that nothing resists moves the free joint by at least this part of its length, if
/// it moves it at all.
const TAKES_PART: f64 = 1e-6;
/// How many joints of a motion are named.
const NAMED: usize = 5;

impl Mechanism {
    /// The free joint at the root of the tree that carries `link`, if nothing holds the tree: all
    /// six motions of the joint meet no resistance of springs, loops, bushings, cables or
    /// couplings. Joints between it and the ground, if any, must have no freedom.
    ///
    /// A tree that is held in part, such as by one point, is not held by this: what is left of its
    /// motion is the mechanism's own. Servos are not looked at. `q` are positions of all joints.
    pub fn unheld_root(&self, link: LinkId, q: &[f64]) -> Option<JointId> {
        let (joint, tied) = self.free_root(link)?;
        let floats = !tied
            || self.velocity_count() <= DENSE_LIMIT && self.unresisted_rates(joint, q) == Some(6);
        floats.then_some(joint)
    }

    /// A sentence without a full stop that names the joints and links of a motion that nothing
    /// resists, and what helps.
    pub fn describe_unresisted(&self, joints: &[JointId]) -> String {
        let is_free = |j: JointId| self.joint(j).kind == JointKind::Free;
        let name = |&id: &JointId| {
            let j = self.joint(id);
            let [parent, child] = [j.parent, j.child].map(|l| self.link(l).name.as_str());
            let of = if child == "world" { parent } else { child };
            let kind = if is_free(id) { "free joint" } else { "joint" };
            match j.name.as_str() {
                "" => format!("the {kind} of link '{of}'"),
                name => format!("{kind} '{name}' (link '{of}')"),
            }
        };
        // Joints that close loops follow the others.
        let closures = self.forest().closures();
        let tree: Vec<JointId> = joints.iter().copied().filter(|j| !closures.contains(j)).collect();
        let joints = if tree.is_empty() { joints } else { &tree };
        let mut names: Vec<String> = joints.iter().take(NAMED).map(name).collect();
        if joints.len() > NAMED {
            names.push(format!("{} more", joints.len() - NAMED));
        }
        let motion = match &names[..] {
            [] => "some motion".to_owned(),
            [only] => format!("a motion of {only}"),
            [most @ .., last] => format!("a motion of {} and {last}", most.join(", ")),
        };
        let free = joints.iter().filter(|&&j| is_free(j)).count();
        let help = if free == 0 {
            "give these joints springs or servos, or a default stiffness"
        } else if free == joints.len() {
            "springs, welds or loops must hold what is on a free joint, which gets no default \
            stiffness"
        } else {
            "give these joints springs or servos, or a default stiffness; free joints get none: \
             springs, welds or loops must hold what is on them"
        };
        format!("nothing resists {motion}; {help}")
    }

    /// How many independent rates of a joint belong to motions that nothing resists.
    fn unresisted_rates(&self, joint: JointId, q: &[f64]) -> Option<usize> {
        let poses = self.link_poses(q);
        let r = self.bounding_radius(&poses);
        let loops = ScaledJacobian::new(self, q, &poses, r);
        let (g, scales) = (&loops.matrix, &loops.coordinates);
        let n = self.velocity_count();
        let mut rows: Vec<Vec<f64>> = (0..g.rows()).map(|i| g.row(i).to_vec()).collect();
        for k in self.stiffnesses(q, &poses) {
            // Each of size one: how stiff it is does not matter.
            let scaled = Matrix::from_fn(k.rows(), n, |i, j| k[(i, j)] * scales[j]);
            let size = scaled.max_abs();
            if size > 0.0 {
                rows.extend(
                    (0..k.rows()).map(|i| scaled.row(i).iter().map(|x| x / size).collect()),
                );
            }
        }
        let resisted = Matrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
        let (_, free) = dense::nullspace(&resisted, RANK_TOLERANCE)?;
        let own = self.velocity_range(joint);
        let of_joint = free.block(own.start, 0, own.len(), free.columns());
        let moved = dense::svd(&of_joint)?;
        Some(moved.s.iter().filter(|&&s| s > TAKES_PART).count())
    }

    /// Matrices that are zero on the motions that no spring resists: of joint springs, springs on
    /// combinations, bushings, cables.
    fn stiffnesses(&self, q: &[f64], poses: &[Pose]) -> Vec<Matrix> {
        let n = self.velocity_count();
        let mut out = Vec::new();
        for (i, j) in self.joints().iter().enumerate() {
            let Some(spring) = &j.spring else { continue };
            let own = self.velocity_range(JointId::new(i));
            let mut k = Matrix::zeros(j.dof(), n);
            for a in 0..j.dof() {
                own.clone().enumerate().for_each(|(b, v)| k[(a, v)] = spring.stiffness.get(a, b));
            }
            out.push(k);
        }
        for s in self.combination_springs().iter().filter(|s| s.stiffness > 0.0) {
            let mut k = Matrix::zeros(1, n);
            s.combination.terms.iter().for_each(|(c, a)| k[(0, self.velocity_index(*c))] += a);
            out.push(k);
        }
        for x in self.bushings() {
            let side = |link: LinkId, link_from_bushing: Pose| {
                let back = Matrix::from(link_from_bushing.inverse().adjoint().matrix());
                (
                    poses[link.index()] * link_from_bushing,
                    back.mul(&link_jacobian(self, q, poses, link)),
                )
            };
            let (world_from_a, a) = side(x.link_a, x.a_from_bushing);
            let (world_from_b, b) = side(x.link_b, x.b_from_bushing);
            let b_from_a = Matrix::from((world_from_b.inverse() * world_from_a).adjoint().matrix());
            out.push(Matrix::from(x.stiffness.to_mat6()).mul(&b.sub(&b_from_a.mul(&a))));
        }
        out.extend(self.cables().iter().filter_map(|c| self.cable_stiffness(c, q, poses)));
        out
    }

    /// The row of a cable that is taut or has no slack range, with the second derivative of its
    /// energy where it is stretched.
    fn cable_stiffness(&self, c: &Cable, q: &[f64], poses: &[Pose]) -> Option<Matrix> {
        let path = c.length_and_hessian(poses);
        let t = c.tension(path.length);
        if t.stiffness == 0.0 {
            return None;
        }
        let n = self.velocity_count();
        let own = path.of_function(t.force, t.stiffness);
        let mut jacobian = Matrix::zeros(own.rows(), n);
        for (k, &l) in path.links.iter().enumerate() {
            let j = link_jacobian(self, q, poses, l);
            (0..6).for_each(|i| (0..n).for_each(|z| jacobian[(6 * k + i, z)] = j[(i, z)]));
        }
        Some(own.mul(&jacobian))
    }
}
