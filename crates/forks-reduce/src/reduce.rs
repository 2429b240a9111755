//! From the linear response to a reduced model.

use forks_dynamics::{AppliedWrench, Loads, WrenchFrame};
use forks_mechanism::{
    Combination, CombinationSpringId, Joint, JointKind, Mechanism, TreeEdge,
    lie::{Pose, Wrench, skew},
    linalg::{Matrix, dense},
    loops,
};
use forks_rom::{
    DEFAULT_RANGE, EffectorRest, JointPath, JointRest, LinkRest, ModelData, ModelError,
    ReducedModel,
};

use crate::{
    basis::{Basis, basis},
    condensed::{damping_of, mass_of},
    error::ReduceError,
    joint_loads::{own_twists, static_loads, turn},
    response::{Effector, Linearisation, Response, response},
    shapes::Shapes,
};

/// Something that moves the mechanism besides wrenches on effectors: a servo's target, or
/// generalised forces such as gravity's.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Name.
    pub name: String,
    /// The direction in joint space, a: generalised force a · gain per unit of the drive's value.
    pub combination: Combination,
    /// Force along the direction per unit of the drive's value.
    pub gain: f64,
}

impl Drive {
    /// The rest value of a spring that stands for a servo.
    pub fn servo(m: &Mechanism, name: impl Into<String>, spring: CombinationSpringId) -> Self {
        let s = &m.combination_springs()[spring.index()];
        Self { name: name.into(), combination: s.combination.clone(), gain: s.stiffness }
    }

    /// Generalised forces (one per velocity coordinate), scaled by the drive's value.
    pub fn forces(m: &Mechanism, name: impl Into<String>, forces: &[f64]) -> Self {
        let terms = forces
            .iter()
            .enumerate()
            .filter(|(_, f)| **f != 0.0)
            .map(|(v, f)| (m.velocity_owner(v), *f))
            .collect();
        Self { name: name.into(), combination: Combination { terms, offset: 0.0 }, gain: 1.0 }
    }
}

/// A reduced model with what was found on the way.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The run-time model.
    pub model: ReducedModel,
    /// Rank and basis of the effectors' motion.
    pub basis: Basis,
    /// The linear response from which the model was made; its compliance is 𝓗⁻¹ in effector
    /// coordinates.
    pub response: Response,
    /// Compliance C, 6E × 6E, for loads that keep their world axes (components in the axes of the
    /// linearisation pose); equal to the response's where no static wrench acts.
    pub compliance: Matrix,
    /// Largest residual of the loop equations at the linearisation pose, released directions
    /// included.
    pub closure_residual: f64,
}

/// The linear behaviour of the effectors about a pose, whether or not it makes a model.
#[derive(Clone, Debug)]
pub struct Linearised {
    /// The linear response; its compliance is 𝓗⁻¹ in effector coordinates.
    pub response: Response,
    /// Rank and basis of the effectors' motion.
    pub basis: Basis,
    /// 𝓗, n_η × n_η. Positive definite at rest; at poses that are held only by the loads on the
    /// effectors it need not be.
    pub hessian: Matrix,
    /// Compliance C, 6E × 6E, for loads that keep their world axes.
    pub compliance: Matrix,
    /// Static wrench on each effector, effector frame.
    pub static_wrenches: Vec<Wrench>,
}

/// Linearises a mechanism about a pose; `drives` add columns to the response.
///
/// # Errors
/// See [`ReduceError`].
pub fn linearise(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    drives: &[Drive],
) -> Result<Linearised, ReduceError> {
    let tangent = at.tangent_limits(m);
    let m = tangent.as_ref().unwrap_or(m);
    let outputs: Vec<Combination> = drives.iter().map(|d| d.combination.clone()).collect();
    let response = response(m, effectors, at, &outputs)?;
    let names = effectors.iter().map(|e| format!("'{}'", e.name)).collect::<Vec<_>>().join(", ");
    let loaded = matches!(at, Linearisation::Loaded { .. });
    let basis = basis(m, &response, loaded, &names)?;
    let static_wrenches = static_wrenches(effectors, &response.world_from_link, &at);
    let compliance = world_fixed_compliance(&response.compliance, &static_wrenches)?;
    // C_η = (SU)ᵀ C (SU), 𝓗 = C_η⁻¹.
    let reduced = basis.dual.transpose_mul(&response.compliance).mul(&basis.dual).symmetric_part();
    let hessian = dense::lu_solve(&reduced, &Matrix::identity(basis.rank)).symmetric_part();
    if !hessian.is_finite() {
        return Err(ReduceError::NotFinite { quantity: "the reduced stiffness" });
    }
    Ok(Linearised { response, basis, hessian, compliance, static_wrenches })
}

/// Reduces a mechanism about a pose.
///
/// # Errors
/// See [`ReduceError`].
pub fn reduce(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    drives: &[Drive],
) -> Result<Reduction, ReduceError> {
    reduced(m, effectors, at, drives, ReducedModel::new)
}

/// Reduces a mechanism about a pose that may be held only by the loads on its effectors, as a
/// linearisation point of a blend: 𝓗 need not be positive definite.
///
/// # Errors
/// See [`ReduceError`].
pub fn reduce_held(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    drives: &[Drive],
) -> Result<Reduction, ReduceError> {
    reduced(m, effectors, at, drives, ReducedModel::held_by_loads)
}

fn reduced(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    drives: &[Drive],
    make: fn(ModelData) -> Result<ReducedModel, ModelError>,
) -> Result<Reduction, ReduceError> {
    let linear = linearise(m, effectors, at, drives)?;
    let model = make(model(m, effectors, at, drives, &linear)?)?;
    let Linearised { response, basis, compliance, .. } = linear;
    let (q, poses) = (at.positions(), &response.world_from_link);
    let couplings = 6 * m.forest().closures().len();
    let gaps = m.forest().closures().iter().map(|&id| loops::closure_gap(m, q, poses, id));
    let mut residual: Vec<f64> = gaps.flat_map(|g| g.to_array()).collect();
    residual.extend(&loops::constraint_residual(m, q, poses)[couplings..]);
    Ok(Reduction {
        model,
        basis,
        response,
        compliance,
        closure_residual: residual.iter().fold(0.0, |m, x| m.max(x.abs())),
    })
}

/// The wrench b on each effector at the linearisation pose, in the effector's frame.
pub fn static_wrenches(
    effectors: &[Effector],
    world_from_link: &[Pose],
    at: &Linearisation<'_>,
) -> Vec<Wrench> {
    let Linearisation::Loaded { loads, .. } = at else {
        return vec![Wrench::ZERO; effectors.len()];
    };
    let mut out = vec![Wrench::ZERO; effectors.len()];
    for w in &loads.wrenches {
        // Two effectors on one link: the first carries the link's loads.
        if let Some(i) = effectors.iter().position(|e| e.link == w.link) {
            out[i] += in_effector(w, &effectors[i], world_from_link);
        }
    }
    out
}

fn in_effector(w: &AppliedWrench, e: &Effector, world_from_link: &[Pose]) -> Wrench {
    let in_link = w.in_link(&world_from_link[w.link.index()]);
    e.link_from_effector.adjoint().transpose_apply(in_link)
}

/// Compliance under loads that keep their world axes, from the compliance C_s in exponential
/// coordinates and the static wrench on each effector (effector frames).
///
/// C = C_s (1 − Q C_s)⁻¹ with `Q = blockdiag [[0, ½[f]×], [−½[f]×, ½[τ]×]]`; symmetric only without
/// torques.
///
/// # Errors
/// [`ReduceError::NotFinite`] at a pose of zero stiffness.
pub fn world_fixed_compliance(
    c: &Matrix,
    static_wrenches: &[Wrench],
) -> Result<Matrix, ReduceError> {
    if static_wrenches.iter().all(|w| *w == Wrench::ZERO) {
        return Ok(c.clone());
    }
    let n = c.rows();
    let mut q = Matrix::zeros(n, n);
    for (e, w) in static_wrenches.iter().enumerate() {
        let (f, t) = (skew(w.force) * 0.5, skew(w.torque) * 0.5);
        for i in 0..3 {
            for j in 0..3 {
                q[(6 * e + i, 6 * e + 3 + j)] = f.col(j)[i];
                q[(6 * e + 3 + i, 6 * e + j)] = -f.col(j)[i];
                q[(6 * e + 3 + i, 6 * e + 3 + j)] = t.col(j)[i];
            }
        }
    }
    let system = Matrix::identity(n).sub(&q.mul(c));
    // X (1 − Q C_s) = C_s, transposed for the solver.
    let out = dense::lu_solve(&system.transpose(), &c.transpose()).transpose();
    if out.is_finite() {
        return Ok(out);
    }
    Err(ReduceError::NotFinite { quantity: "the compliance under world-fixed loads" })
}

fn model(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    drives: &[Drive],
    linear: &Linearised,
) -> Result<ModelData, ReduceError> {
    let q = at.positions();
    let Linearised { response, basis, hessian, .. } = linear;
    // Maps per η: T (SU) 𝓗.
    let per_eta = basis.dual.mul(hessian);
    let scaled =
        |x: &Matrix| Matrix::from_fn(x.rows(), x.columns(), |i, j| x[(i, j)] * drives[j].gain);
    // η_s = B⁺ J_E P K_s, Y = (J − X J_E) P K_s; for forces K_s is replaced by the forces.
    let servo_rest = scaled(&basis.dual.transpose_mul(&response.output_effectors));
    let corrected = |map: &Matrix, outputs: &Matrix| scaled(outputs).sub(&map.mul(&servo_rest));
    let link = |(l, link): (usize, &forks_mechanism::Link)| {
        let map = response.twists[l].mul(&per_eta);
        LinkRest {
            name: link.name.clone(),
            auxiliary: link.auxiliary,
            rest: response.world_from_link[l],
            servo_map: corrected(&map, &response.output_twists[l]),
            map,
        }
    };
    let links: Vec<LinkRest> = m.links().iter().enumerate().map(link).collect();
    let joint_map = response.joints.mul(&per_eta);
    let joint_servo_map = corrected(&joint_map, &response.output_joints);
    let static_loads = static_loads(m, effectors, &at)?;
    let per_eta_or_zero = |load: &Matrix| match load.rows() {
        0 => Matrix::zeros(6, basis.rank),
        _ => load.mul(&per_eta),
    };
    let tree = m.forest().edges().iter().map(|e| (*e, false));
    let closing = m.forest().closures().iter().map(|&id| {
        let j = m.joint(id);
        (TreeEdge { joint: id, inner: j.parent, outer: j.child, reversed: false }, true)
    });
    let loads = response.joint_loads.iter().chain(&response.closing_loads).zip(static_loads);
    let joints = tree
        .chain(closing)
        .zip(loads)
        .map(|((e, closes_loop), (load, static_load))| {
            let rest = joint_rest(m, &e, q, &joint_map, &joint_servo_map);
            let mut load_map = per_eta_or_zero(load);
            match closes_loop {
                false => turn(&mut load_map, &links[e.outer.index()].map, static_load),
                true => turn(&mut load_map, &own_twists(m, &e, q, &rest.map), static_load),
            }
            JointRest { load_map, static_load, closes_loop, ..rest }
        })
        .collect();
    let shapes = Shapes { links: links.iter().map(|l| l.map.clone()).collect(), joints: joint_map };
    Ok(ModelData {
        radius: response.radius,
        range: DEFAULT_RANGE,
        effectors: effector_rests(effectors, linear),
        basis: basis.matrix.clone(),
        hessian: hessian.clone(),
        mass: mass_of(m, &shapes),
        damping: damping_of(m, &response.world_from_link, &shapes),
        servo_rest,
        servos: drives.iter().map(|d| d.name.clone()).collect(),
        links,
        joints,
        base: None,
    })
}

fn effector_rests(effectors: &[Effector], linear: &Linearised) -> Vec<EffectorRest> {
    let rest = |e: &Effector, &static_wrench: &Wrench| EffectorRest {
        name: e.name.clone(),
        link: e.link.index(),
        link_from_effector: e.link_from_effector,
        rest: linear.response.world_from_link[e.link.index()] * e.link_from_effector,
        static_wrench,
    };
    effectors.iter().zip(&linear.static_wrenches).map(|(e, w)| rest(e, w)).collect()
}

fn joint_rest(
    m: &Mechanism,
    e: &TreeEdge,
    q: &[f64],
    map: &Matrix,
    servo_map: &Matrix,
) -> JointRest {
    let motion = forks_mechanism::tree_joint_motion(m, e, q);
    let range = m.velocity_range(e.joint);
    JointRest {
        name: m.joint(e.joint).name.clone(),
        closes_loop: false,
        inner: e.inner.index(),
        outer: e.outer.index(),
        inner_from_outer: motion.inner_from_outer,
        reversed: e.reversed,
        parent_from_joint: m.joint(e.joint).parent_from_joint,
        child_from_joint: m.joint(e.joint).child_from_joint,
        path: joint_path(m.joint(e.joint), e, &q[m.position_range(e.joint)], &motion),
        map: map.block(range.start, 0, range.len(), map.columns()),
        servo_map: servo_map.block(range.start, 0, range.len(), servo_map.columns()),
        static_load: Wrench::ZERO,
        load_map: Matrix::zeros(0, 0),
    }
}

/// How the joint moves by finite displacements of its coordinates.
fn joint_path(
    j: &Joint,
    e: &TreeEdge,
    qj: &[f64],
    motion: &forks_mechanism::TreeJointMotion,
) -> JointPath {
    let columns = motion.columns.as_slice().to_vec();
    match &j.kind {
        JointKind::Universal { .. } => {
            let mut factors: Vec<_> = columns.into_iter().enumerate().collect();
            if e.reversed {
                factors.reverse();
            }
            JointPath::Product { factors }
        }
        JointKind::General { subspace } => JointPath::Subspace {
            before: j.parent_from_joint,
            subspace: subspace.clone(),
            start: qj.iter().zip(&j.reference).map(|(q, r)| q - r).collect(),
            after: j.child_from_joint.inverse(),
            inverted: e.reversed,
        },
        _ => JointPath::Exponential { columns },
    }
}

/// The loads of an equilibrium with one dead wrench on an effector.
pub fn effector_load(e: &Effector, wrench: Wrench, frame: WrenchFrame, gravity: bool) -> Loads {
    Loads { gravity, wrenches: vec![e.applied(wrench, frame)] }
}
