//! The mechanism that carries tissue: poses, motions of points, forces on links, for trees.
//!
//! The velocity of a world point x on a link is Σ (a_k + ω_k × x) θ̇_k over the coordinates k
//! inward of the link: one pair per coordinate, taken at the world's origin.

use forks_dynamics::{
    Loads, elastic_energy, gravitational_energy,
    mechanism::{
        Mechanism,
        kinematics::{forward_kinematics, tree_joint_motion},
        lie::{Pose, Twist, Wrench, glam::DVec3},
        linalg::Matrix,
    },
    passive::{PassiveWorkspace, passive_forces},
    tree::{AbaWorkspace, CrbaWorkspace, LinkLoads, RneaWorkspace, Tree, bias, crba, hybrid},
};

use crate::body::SoftError;

/// Force and moment about the world's origin, or a_k and ω_k, world axes.
pub(crate) type WorldWrench = (DVec3, DVec3);

/// A tree with the memory of its algorithms.
#[derive(Clone, Debug)]
pub(crate) struct Skeleton {
    pub(crate) mechanism: Mechanism,
    tree: Tree,
    aba: AbaWorkspace,
    rnea: RneaWorkspace,
    crba: CrbaWorkspace,
    passive: PassiveWorkspace,
    /// World from link.
    pub(crate) poses: Vec<Pose>,
    /// Velocity at the link's origin and angular velocity, world axes.
    pub(crate) twists: Vec<Twist>,
    /// a_k and ω_k of every velocity coordinate.
    screws: Vec<WorldWrench>,
    /// Coordinates inward of every link.
    inward: Vec<Vec<usize>>,
    /// What acts on every link beside gravity, about the world's origin.
    pub(crate) wrenches: Vec<WorldWrench>,
    body_wrenches: Vec<Wrench>,
    still: Vec<f64>,
    work: Vec<f64>,
}

impl Skeleton {
    pub(crate) fn new(m: Mechanism) -> Result<Self, SoftError> {
        let n = m.tree_velocity_count();
        let (loops, couplings) = (m.velocity_count() - n, m.couplings().len());
        if loops > 0 || couplings > 0 || m.position_count() != m.tree_position_count() {
            return Err(SoftError::NotATree { mechanism: m.name().to_owned(), loops, couplings });
        }
        let links = m.links().len();
        let tree = Tree::new(&m);
        let mut inward = vec![Vec::new(); links];
        for e in m.forest().edges() {
            let mut own = inward[e.inner.index()].clone();
            own.extend(m.velocity_range(e.joint));
            inward[e.outer.index()] = own;
        }
        Ok(Self {
            aba: AbaWorkspace::new(&tree),
            rnea: RneaWorkspace::new(&tree),
            crba: CrbaWorkspace::new(&tree),
            passive: PassiveWorkspace::new(&m),
            tree,
            poses: Vec::with_capacity(links),
            twists: vec![Twist::ZERO; links],
            screws: vec![Default::default(); n],
            inward,
            wrenches: vec![Default::default(); links],
            body_wrenches: vec![Wrench::ZERO; links],
            still: vec![0.0; n],
            work: vec![0.0; n],
            mechanism: m,
        })
    }

    /// Number of velocity coordinates.
    pub(crate) fn dof(&self) -> usize {
        self.still.len()
    }

    /// Poses, motions of coordinates and of links at a state.
    pub(crate) fn place(&mut self, q: &[f64], v: &[f64]) {
        let m = &self.mechanism;
        forward_kinematics(m, q, &mut self.poses);
        for e in m.forest().edges() {
            let motion = tree_joint_motion(m, e, q);
            let pose = &self.poses[e.outer.index()];
            for (c, k) in motion.columns.as_slice().iter().zip(m.velocity_range(e.joint)) {
                let angular = pose.rotation * c.angular;
                let linear = pose.rotation * c.linear - angular.cross(pose.translation);
                self.screws[k] = (linear, angular);
            }
        }
        self.move_links(v);
    }

    /// Motions of links for other velocities at the same positions.
    pub(crate) fn move_links(&mut self, v: &[f64]) {
        for (l, pose) in self.poses.iter().enumerate() {
            let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
            for &k in &self.inward[l] {
                linear += self.screws[k].0 * v[k];
                angular += self.screws[k].1 * v[k];
            }
            self.twists[l] = Twist::new(linear + angular.cross(pose.translation), angular);
        }
    }

    /// Velocity of a world point on a link.
    pub(crate) fn velocity(&self, link: usize, x: DVec3) -> DVec3 {
        let t = &self.twists[link];
        t.linear + t.angular.cross(x - self.poses[link].translation)
    }

    /// Coordinates that move a link.
    pub(crate) fn coordinates(&self, link: usize) -> &[usize] {
        &self.inward[link]
    }

    /// Velocity of a world point per unit of a coordinate inward of its link.
    #[inline]
    pub(crate) fn column(&self, coordinate: usize, x: DVec3) -> DVec3 {
        let (a, w) = self.screws[coordinate];
        a + w.cross(x)
    }

    /// a_k and ω_k of a coordinate.
    pub(crate) fn screw(&self, coordinate: usize) -> WorldWrench {
        self.screws[coordinate]
    }

    pub(crate) fn clear_wrenches(&mut self) {
        self.wrenches.fill(Default::default());
    }

    /// Adds a force at a world point of a link.
    #[inline]
    pub(crate) fn push(&mut self, link: usize, x: DVec3, force: DVec3) {
        let w = &mut self.wrenches[link];
        w.0 += force;
        w.1 += x.cross(force);
    }

    /// Generalised forces of the links' wrenches, added to `out`.
    pub(crate) fn pull_back(&self, out: &mut [f64]) {
        for (l, (force, moment)) in self.wrenches.iter().enumerate() {
            for &k in &self.inward[l] {
                out[k] += self.screws[k].0.dot(*force) + self.screws[k].1.dot(*moment);
            }
        }
    }

    /// Forces of springs and dampers.
    pub(crate) fn passive(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) {
        passive_forces(&self.mechanism, &mut self.passive, q, v, out);
    }

    /// Forces of springs alone.
    pub(crate) fn springs(&mut self, q: &[f64], out: &mut [f64]) {
        passive_forces(&self.mechanism, &mut self.passive, q, &self.still, out);
    }

    /// D of all dampers: forces are linear in velocities, so unit velocities give the columns.
    pub(crate) fn damping(&mut self, q: &[f64], out: &mut Matrix) {
        let n = self.dof();
        let (mut rest, mut force, mut unit) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.springs(q, &mut rest);
        for k in 0..n {
            unit[k] = 1.0;
            self.passive(q, &unit, &mut force);
            unit[k] = 0.0;
            (0..n).for_each(|i| out[(i, k)] = rest[i] - force[i]);
        }
    }

    /// Accelerations under forces on coordinates (accelerations where prescribed) and the wrenches,
    /// and all forces.
    pub(crate) fn accelerate(
        &mut self,
        state: (&[f64], &[f64]),
        prescribed: &[bool],
        given: &[f64],
        gravity: bool,
        (acceleration, tau): (&mut [f64], &mut [f64]),
    ) -> Result<(), SoftError> {
        for (l, pose) in self.poses.iter().enumerate() {
            let (force, moment) = self.wrenches[l];
            let back = pose.rotation.conjugate();
            let torque = moment - pose.translation.cross(force);
            self.body_wrenches[l] = Wrench::new(back * force, back * torque);
        }
        let loads = LinkLoads { gravity, wrenches: &self.body_wrenches };
        let (q, v) = state;
        hybrid(&self.tree, &mut self.aba, q, v, prescribed, given, &loads, acceleration, tau)?;
        Ok(())
    }

    /// Accelerations of all links in the last `accelerate`: component derivatives of body twists.
    pub(crate) fn link_accelerations(&mut self, out: &mut [Twist]) {
        self.aba.link_accelerations(&self.tree, out);
    }

    /// Coriolis forces, and weights with their sign turned.
    pub(crate) fn bias(&mut self, q: &[f64], v: &[f64], gravity: bool, out: &mut [f64]) {
        bias(&self.tree, &mut self.rnea, q, v, &LinkLoads { gravity, wrenches: &[] }, out);
    }

    /// M.
    pub(crate) fn mass(&mut self, q: &[f64], out: &mut Matrix) {
        crba(&self.tree, &mut self.crba, q, out);
    }

    /// Momentum and moment of momentum of all links about the world's origin.
    pub(crate) fn momentum(&self) -> WorldWrench {
        let (mut p, mut l) = (DVec3::ZERO, DVec3::ZERO);
        for ((link, pose), t) in self.mechanism.links().iter().zip(&self.poses).zip(&self.twists) {
            let back = pose.rotation.conjugate();
            let own = link.inertia.apply(Twist::new(back * t.linear, back * t.angular));
            let force = pose.rotation * own.force;
            p += force;
            l += pose.rotation * own.torque + pose.translation.cross(force);
        }
        (p, l)
    }

    /// Kinetic energy, rotors included, J.
    pub(crate) fn kinetic(&mut self, q: &[f64], v: &[f64]) -> f64 {
        let mut mass = Matrix::zeros(v.len(), v.len());
        self.mass(q, &mut mass);
        0.5 * mass.mul_vec(v).iter().zip(v).map(|(p, v)| p * v).sum::<f64>()
    }

    /// Energy of springs, and of gravity where it acts, in the placed state, J.
    pub(crate) fn potential(&self, q: &[f64], gravity: bool) -> f64 {
        let weight = if gravity { gravitational_energy(&self.mechanism, &self.poses) } else { 0.0 };
        elastic_energy(&self.mechanism, q, &self.poses) + weight
    }

    /// Generalised forces of springs and of gravity at the placed positions.
    pub(crate) fn conservative(&mut self, q: &[f64], gravity: bool, out: &mut [f64]) {
        self.springs(q, out);
        if gravity {
            let mut work = std::mem::take(&mut self.work);
            let still = std::mem::take(&mut self.still);
            self.bias(q, &still, true, &mut work);
            out.iter_mut().zip(&work).for_each(|(f, b)| *f -= b);
            (self.work, self.still) = (work, still);
        }
    }

    /// Symmetric part of the tangent stiffness of springs and of given loads.
    pub(crate) fn stiffness(&self, q: &[f64], loads: &Loads) -> Matrix {
        let m = &self.mechanism;
        forks_dynamics::tangent_stiffness(m, q, &self.poses, loads, &[]).symmetric_part()
    }
}
