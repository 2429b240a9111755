//! Seeded random mechanisms of all joint kinds, with loops, reversed joints, couplings and
//! bushings.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    mechanism::{
        Bushing, Combination, CombinationSpring, Coordinate, Coupling, CouplingTerm, Joint,
        JointId, JointKind, JointMatrix, Link, LinkId, Mechanism, MechanismBuilder,
        lie::{
            Mat6, Pose, SpatialInertia, SplitMix64, SymMat6, Twist, Wrench,
            glam::{DMat3, DVec3},
        },
    },
};

/// Random numbers, vectors and matrices.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Uniform in [−1, 1).
    pub(crate) fn number(&mut self) -> f64 {
        self.0.range(-1.0, 1.0)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    pub(crate) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    pub(crate) fn axis(&mut self) -> DVec3 {
        loop {
            let v = self.vector();
            if v.length() > 0.1 {
                return v.normalize();
            }
        }
    }

    pub(crate) fn twist(&mut self, size: f64) -> Twist {
        Twist::new(self.vector() * size, self.vector() * size)
    }

    pub(crate) fn pose(&mut self) -> Pose {
        Pose::exp(self.twist(0.6))
    }

    /// A positive definite d×d matrix by rows.
    pub(crate) fn stiffness(&mut self, d: usize) -> Vec<f64> {
        let a: Vec<f64> = (0..d * d).map(|_| self.number()).collect();
        let mut k = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..d {
                k[i * d + j] = 20.0 * (0..d).map(|l| a[i * d + l] * a[j * d + l]).sum::<f64>();
            }
            k[i * d + i] += 10.0;
        }
        k
    }

    pub(crate) fn kind(&mut self) -> JointKind {
        let axis = self.axis();
        match self.below(9) {
            0 => JointKind::Revolute { axis },
            1 => JointKind::Prismatic { axis },
            2 => JointKind::Cylindrical { axis },
            3 => JointKind::Universal { first: axis, second: self.axis() },
            4 => JointKind::Spherical,
            5 => JointKind::Planar,
            6 => JointKind::Free,
            7 => JointKind::Fixed,
            _ => {
                let n = 1 + self.below(4);
                JointKind::General { subspace: (0..n).map(|_| self.twist(1.0)).collect() }
            }
        }
    }

    fn joint(&mut self, name: String, kind: JointKind, parent: LinkId, child: LinkId) -> Joint {
        let d = kind.dof();
        let mut j = Joint::new(name, kind, parent, child).at(self.pose()).child_at(self.pose());
        if j.kind.has_scalar_coordinates() {
            let reference = (0..d).map(|_| 0.3 * self.number()).collect();
            j = j.with_reference(reference);
        }
        let start: Vec<f64> = (0..d).map(|_| 0.4 * self.number()).collect();
        j.kind.clone().integrate(&mut j.start, &start);
        if self.below(5) != 0 {
            let stiffness = self.stiffness(d);
            j = j.with_spring(JointMatrix::new(d, stiffness));
        }
        j.armature = (0..d).map(|_| 0.1 * self.number().abs()).collect();
        j
    }

    /// `links` links, `loops` closing joints, some couplings, combination springs and bushings.
    pub(crate) fn mechanism(&mut self, links: usize, loops: usize) -> Mechanism {
        let mut b = MechanismBuilder::new("random");
        b.set_gravity(DVec3::new(1.0, -2.0, -9.0));
        for i in 0..links {
            let a = self.vector() * 0.15;
            let tensor = DMat3::IDENTITY * 0.1 + DMat3::from_cols(a * a.x, a * a.y, a * a.z);
            let mut link = Link::new(format!("l{i}"));
            link.inertia =
                SpatialInertia::new(0.2 + self.number().abs(), self.vector() * 0.3, tensor);
            if self.below(4) == 0 {
                link.gravity_compensation = 0.4;
            }
            let id = b.add_link(link);
            let inner = LinkId::new(self.below(id.index()));
            let kind = self.kind();
            let (parent, child) = if self.below(3) == 0 { (id, inner) } else { (inner, id) };
            let j = self.joint(format!("j{i}"), kind, parent, child);
            b.add_joint(j);
        }
        for i in 0..loops {
            let parent = self.below(links + 1);
            let child = (parent + 1 + self.below(links)) % (links + 1);
            let kind = self.kind();
            let j = self.joint(format!("c{i}"), kind, LinkId::new(parent), LinkId::new(child));
            b.add_joint(j);
        }
        self.add_relations(&mut b, links);
        b.build().unwrap()
    }

    /// The same with loops and couplings that hold in the start pose.
    pub(crate) fn closed_mechanism(&mut self, links: usize, loops: usize) -> Mechanism {
        let open = self.mechanism(links, loops);
        let q = open.start_positions();
        let poses = open.link_poses(&q);
        let mut b = MechanismBuilder::from_mechanism(&open);
        for &id in open.forest().closures() {
            let j = &mut b.joints_mut()[id.index()];
            let parent_from_child = j.parent_from_child(&j.start);
            let motion = parent_from_child * j.child_from_joint;
            let child_from_parent = poses[j.child.index()].inverse() * poses[j.parent.index()];
            j.child_from_joint = child_from_parent * motion;
        }
        b.build().unwrap()
    }

    fn add_relations(&mut self, b: &mut MechanismBuilder, links: usize) {
        let scalars: Vec<Coordinate> = b
            .joints()
            .iter()
            .enumerate()
            .filter(|(_, j)| j.kind.has_scalar_coordinates())
            .flat_map(|(i, j)| {
                (0..j.dof()).map(move |index| Coordinate { joint: JointId::new(i), index })
            })
            .collect();
        if scalars.len() > 1 {
            for _ in 0..2 {
                let terms = self.terms(&scalars);
                b.add_combination_spring(CombinationSpring {
                    name: String::new(),
                    combination: Combination { terms, offset: 0.1 },
                    stiffness: 7.0,
                    damping: 0.0,
                    rest: 0.2,
                });
                let mut terms: Vec<CouplingTerm> = (0..2)
                    .map(|_| CouplingTerm {
                        combination: Combination { terms: self.terms(&scalars), offset: 0.3 },
                        polynomial: (0..5).map(|_| self.number()).collect(),
                    })
                    .collect();
                // It holds in the start pose.
                let start = |c: &Coordinate| b.joints()[c.joint.index()].start[c.index];
                let value = |t: &CouplingTerm| {
                    let l = t.combination.terms.iter().map(|(c, a)| a * start(c)).sum::<f64>();
                    t.evaluate(t.combination.offset + l).0
                };
                let residual: f64 = terms.iter().map(value).sum();
                terms[0].polynomial[0] -= residual;
                b.add_coupling(Coupling { name: String::new(), terms });
            }
        }
        for _ in 0..2 {
            let a = self.below(links + 1);
            let c = (a + 1 + self.below(links)) % (links + 1);
            let k = self.stiffness(6);
            let rows = core::array::from_fn(|i| core::array::from_fn(|j| k[6 * i + j]));
            b.add_bushing(Bushing {
                name: String::new(),
                link_a: LinkId::new(a),
                a_from_bushing: self.pose(),
                link_b: LinkId::new(c),
                b_from_bushing: self.pose(),
                stiffness: SymMat6::symmetric_part(&Mat6::from_rows(rows)),
                damping: SymMat6::ZERO,
            });
        }
    }

    fn terms(&mut self, scalars: &[Coordinate]) -> Vec<(Coordinate, f64)> {
        (0..2).map(|_| (scalars[self.below(scalars.len())], self.number())).collect()
    }

    /// Start positions displaced at random.
    pub(crate) fn positions(&mut self, m: &Mechanism) -> Vec<f64> {
        let mut q = m.start_positions();
        let v: Vec<f64> = (0..m.velocity_count()).map(|_| 0.3 * self.number()).collect();
        m.integrate(&mut q, &v);
        q
    }

    /// Gravity and dead forces; with `torques` dead torques and followers as well.
    pub(crate) fn loads(&mut self, m: &Mechanism, torques: bool) -> Loads {
        let mut loads = Loads::gravity();
        for _ in 0..3 {
            let torque = if torques { self.vector() * 5.0 } else { DVec3::ZERO };
            let frame =
                if torques && self.below(2) == 0 { WrenchFrame::Body } else { WrenchFrame::World };
            loads = loads.with(AppliedWrench {
                link: LinkId::new(1 + self.below(m.links().len() - 1)),
                link_from_point: self.pose(),
                wrench: Wrench::new(self.vector() * 10.0, torque),
                frame,
            });
        }
        loads
    }
}
