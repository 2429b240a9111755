//! The facts of a model as we have it.

use forks_dynamics::{
    constrained::{ConstrainedDynamics, DynamicsStatus},
    mass_matrix,
    passive::{PassiveWorkspace, passive_forces},
};
use forks_mechanism::{
    Combination, Geometry, JointId, JointKind, LinkId, Mechanism,
    kinematics::{Connection, connections, loops},
    lie::{Pose, glam::DMat3},
};

use super::{
    coordinates::FreeJoints,
    facts::{
        DriveFact, EqualityFact, Facts, FrameFact, JointFact, KeyframeFact, LinkFact, ShapeFact,
        StateFact,
    },
};

/// The tree joints that a user counts, in order: not the welds of bodies without joints.
fn tree_joints(m: &Mechanism) -> Vec<JointId> {
    let closures = m.forest().closures();
    let all = (0..m.joints().len()).map(JointId::new);
    all.filter(|id| closures.binary_search(id).is_err() && m.joint(*id).dof() > 0).collect()
}

/// What each joint is called: its name, or `#i` among the joints that move.
struct Labels(Vec<String>);

impl Labels {
    fn new(m: &Mechanism) -> Self {
        let mut labels = vec![String::new(); m.joints().len()];
        for (k, id) in tree_joints(m).into_iter().enumerate() {
            let name = &m.joint(id).name;
            labels[id.index()] = if name.is_empty() { format!("#{k}") } else { name.clone() };
        }
        Self(labels)
    }

    fn terms(&self, c: &Combination) -> Vec<(String, f64)> {
        c.terms.iter().map(|(c, a)| (self.0[c.joint.index()].clone(), *a)).collect()
    }
}

/// All facts but the states.
pub(super) fn facts(m: &Mechanism) -> Facts {
    let labels = Labels::new(m);
    let start = m.start_positions();
    Facts {
        links: Some(links(m)),
        joints: joints(m, &labels),
        frames: Some(frames(m)),
        shapes: Some(shapes(m)),
        has_meshes: false,
        moving_mass: Some(m.moving_mass()),
        servos: m
            .servos()
            .iter()
            .map(|s| DriveFact {
                name: s.name.clone(),
                joints: labels.terms(&s.combination),
                stiffness: s.stiffness,
                damping: s.damping,
                rest: 0.0,
            })
            .collect(),
        tendons: m
            .combination_springs()
            .iter()
            .map(|s| DriveFact {
                name: s.name.clone(),
                joints: labels.terms(&s.combination),
                stiffness: s.stiffness,
                damping: s.damping,
                rest: s.rest - s.combination.offset,
            })
            .collect(),
        equalities: Some(equalities(m, &labels)),
        keyframes: m
            .keyframes()
            .iter()
            .filter(|k| !(k.name.is_empty() && k.positions == start[..k.positions.len()]))
            .map(|k| KeyframeFact { name: k.name.clone(), positions: k.positions.clone() })
            .collect(),
        states: Vec::new(),
        adapted: Vec::new(),
    }
}

fn links(m: &Mechanism) -> Vec<LinkFact> {
    let parent = |link| {
        let mut inner = m.forest().path_to_ground(link).map(|e| e.inner);
        inner.find(|l| !m.link(*l).auxiliary).map_or("world", |l| m.link(l).name.as_str())
    };
    m.moving_links()
        .filter(|(_, l)| !l.auxiliary)
        .map(|(id, l)| LinkFact {
            name: l.name.clone(),
            parent: parent(id).to_owned(),
            mass: l.inertia.mass,
        })
        .collect()
}

/// Position and matrix of a pose.
fn placed(m: &Mechanism, name: &str, link: LinkId, pose: &Pose) -> FrameFact {
    let r = DMat3::from_quat(pose.rotation);
    let entry = |k: usize| r.col(k % 3)[k / 3];
    FrameFact {
        name: name.into(),
        link: m.link(link).name.clone(),
        position: pose.translation.to_array(),
        rotation: std::array::from_fn(entry),
    }
}

fn frames(m: &Mechanism) -> Vec<FrameFact> {
    let fact = |f: &forks_mechanism::Frame| placed(m, &f.name, f.link, &f.link_from_frame);
    m.frames().iter().map(fact).collect()
}

fn shapes(m: &Mechanism) -> Vec<ShapeFact> {
    let fact = |s: &forks_mechanism::Shape| {
        let (kind, size) = match &s.geometry {
            Geometry::Plane => ("plane", vec![]),
            Geometry::Sphere { radius } => ("sphere", vec![*radius]),
            Geometry::Capsule { radius, half_length } => ("capsule", vec![*radius, *half_length]),
            Geometry::Cylinder { radius, half_length } => ("cylinder", vec![*radius, *half_length]),
            Geometry::Ellipsoid { radii } => ("ellipsoid", radii.to_array().to_vec()),
            Geometry::Box { half_extents } => ("box", half_extents.to_array().to_vec()),
            _ => ("other", vec![]),
        };
        let frame = placed(m, &s.name, s.link, &s.link_from_shape);
        ShapeFact { frame, kind: kind.into(), size, friction: s.friction }
    };
    m.shapes().iter().map(fact).collect()
}

fn joints(m: &Mechanism, labels: &Labels) -> Vec<JointFact> {
    let mut carries: Vec<_> = m.joints().iter().map(|j| j.child).collect();
    for Connection { to, joints, .. } in connections(m) {
        joints.into_iter().for_each(|(id, _)| carries[id.index()] = to);
    }
    let fact = |id: JointId| {
        let j = m.joint(id);
        let scalar = matches!(j.kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
        let kind = match j.kind {
            JointKind::Free => "free",
            JointKind::Spherical => "ball",
            JointKind::Prismatic { .. } => "slide",
            JointKind::Revolute { .. } => "hinge",
            JointKind::Planar => "planar",
            _ => j.kind.name(),
        };
        JointFact {
            name: labels.0[id.index()].clone(),
            kind: kind.into(),
            link: m.link(carries[id.index()]).name.clone(),
            positions: m.position_range(id).start,
            velocities: m.velocity_range(id).start,
            stiffness: j.spring.as_ref().map_or(0.0, |s| s.stiffness.get(0, 0)),
            damping: j.damping.get(0, 0),
            armature: j.armature[0],
            range: j
                .limits
                .first()
                .copied()
                .flatten()
                .filter(|_| scalar)
                .map(|l| [l.lower, l.upper]),
            keeps_range: true,
            rest: scalar.then(|| j.spring.as_ref().map_or(0.0, |s| s.rest[0])),
        }
    };
    tree_joints(m).into_iter().map(fact).collect()
}

/// Loop-closing joints, then couplings.
fn equalities(m: &Mechanism, labels: &Labels) -> Vec<EqualityFact> {
    let closure = |id: &JointId| {
        let j = m.joint(*id);
        let kind = if j.kind == JointKind::Fixed { "weld" } else { "connect" };
        EqualityFact {
            name: j.name.clone(),
            kind: kind.into(),
            links: [j.parent, j.child].map(|l| m.link(l).name.clone()).into(),
            joints: Vec::new(),
        }
    };
    let couplings = m.couplings().iter().map(|c| EqualityFact {
        name: c.name.clone(),
        kind: "coupling".into(),
        links: Vec::new(),
        joints: c
            .terms
            .iter()
            .flat_map(|t| labels.terms(&t.combination))
            .map(|(joint, _)| joint)
            .collect(),
    });
    m.forest().closures().iter().map(closure).chain(couplings).collect()
}

/// Everything at tree positions and velocities in MuJoCo's meaning; `acceleration` is `None` where
/// there is none.
pub(super) fn state(m: &Mechanism, label: &str, q: &[f64], u: &[f64]) -> StateFact {
    let free = FreeJoints::new(m, q);
    let mut v = u.to_vec();
    free.to_body(&mut v);
    let n = v.len();
    let mut all = m.start_positions();
    all[..q.len()].copy_from_slice(q);
    m.fit_closures(&mut all);
    let poses = m.link_poses(&all);
    let dynamics = ConstrainedDynamics::new(m);
    let mut work = dynamics.workspace();
    let solution = dynamics.accelerations(q, &v, &vec![0.0; n], &[], &mut work);
    let solved = matches!(solution.status, DynamicsStatus::Solved | DynamicsStatus::Inconsistent);
    let mass = mass_matrix(m, &all).block(0, 0, n, n);
    let bias = dynamics.bias(q, &v, &mut work);
    let (spring, damper) = passive(m, &all, &v);
    let world = |mut f: Vec<f64>| {
        free.to_world(&mut f);
        f
    };
    let distances = loops::closure_gaps(m, &all, &poses).into_iter().map(|g| g.position);
    let residual = loops::constraint_residual(m, &all, &poses);
    let couplings = residual[residual.len() - m.couplings().len()..].iter().map(|r| r.abs());
    StateFact {
        label: label.into(),
        positions: q.to_vec(),
        velocities: u.to_vec(),
        mass_matrix: free.mass(&mass).to_rows().concat(),
        bias: free.bias(&v, &mass, &bias),
        spring: world(spring),
        damper: world(damper),
        gaps: Some(distances.chain(couplings).collect()),
        rank: solution.rank,
        singular_values: Vec::new(),
        acceleration: solved.then(|| free.acceleration(&v, &solution.acceleration)),
        force_size: 0.0,
        contradiction: 0.0,
    }
}

/// Forces of springs, and of dampers, on the tree coordinates.
fn passive(m: &Mechanism, q: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (n, all) = (v.len(), m.velocity_count());
    let mut moving = v.to_vec();
    moving.resize(all, 0.0);
    let mut work = PassiveWorkspace::new(m);
    let (mut spring, mut both) = (vec![0.0; all], vec![0.0; all]);
    passive_forces(m, &mut work, q, &vec![0.0; all], &mut spring);
    passive_forces(m, &mut work, q, &moving, &mut both);
    let damper = both.iter().zip(&spring).map(|(b, s)| b - s).take(n).collect();
    spring.truncate(n);
    (spring, damper)
}
