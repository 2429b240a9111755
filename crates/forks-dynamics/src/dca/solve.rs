//! One solution: kinematics, upward pass, downward pass.

use forks_mechanism::lie::{Twist, Wrench, glam::DVec3};

use super::{
    DcaError, DcaStatus,
    connections::Shape,
    downward::downward,
    general::ConnectionState,
    leaf::BodyState,
    parallel::fill,
    plan::DcaPlan,
    upward::{State, upward},
    workspace::DcaWorkspace,
};

/// State and forces of a mechanism.
#[derive(Clone, Copy, Debug, Default)]
pub struct DcaInput<'a> {
    /// Positions of the tree joints.
    pub q: &'a [f64],
    /// Velocities of the tree joints.
    pub v: &'a [f64],
    /// Generalised forces of the tree joints: motors, and springs and dampers where they are to
    /// act.
    pub tau: &'a [f64],
    /// Body wrenches in the link frames, the ground's first; empty for none.
    pub external: &'a [Wrench],
    /// Generalised forces of the loop-closing joints' own coordinates; empty for none.
    pub closing_tau: &'a [f64],
    /// Implicit stiffness K̃ (h²K + hD of an implicit step) per joint: the joint's force is τ − K̃
    /// q̈. Laid out by [`DcaPlan::implicit_range`], symmetric positive semi-definite blocks; empty
    /// for none. The armature is added to it.
    pub implicit: &'a [f64],
    /// Leaves gravity out.
    pub no_gravity: bool,
}

/// Forward dynamics: accelerations of the tree coordinates for forces `tau` and body wrenches
/// `external` on all links (or none). The result is [`DcaWorkspace::acceleration`].
///
/// `tau` is everything that acts along the coordinates: add [`crate::passive::passive_forces`] for
/// springs and dampers.
///
/// ```
/// use forks_dynamics::dca::{DcaPlan, DcaWorkspace, dca};
///
/// let m = forks_models::molecules::chain(100, 1).mechanism;
/// let plan = DcaPlan::new(&m)?;
/// let mut work = DcaWorkspace::new(&plan);
/// let (q, zero) = (m.start_positions(), vec![0.0; m.tree_velocity_count()]);
/// let mut tau = zero.clone();
/// tau[99] = 1.0;
/// dca(&plan, &mut work, &q, &zero, &tau, &[])?;
/// // The last joint is pushed forward.
/// assert!(work.acceleration(&plan)[99] > 0.0);
/// # Ok::<(), forks_dynamics::dca::DcaError>(())
/// ```
///
/// # Errors
/// [`DcaError::WrongLength`] for slices of wrong lengths.
pub fn dca(
    plan: &DcaPlan,
    workspace: &mut DcaWorkspace,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    external: &[Wrench],
) -> Result<DcaStatus, DcaError> {
    let input = DcaInput { q, v, tau, external, ..DcaInput::default() };
    dca_with(plan, workspace, &input)
}

/// Forward dynamics with all inputs.
///
/// # Errors
/// [`DcaError::WrongLength`] for slices of wrong lengths.
///
/// # Panics
/// If the workspace belongs to a plan of another size.
pub fn dca_with(
    plan: &DcaPlan,
    w: &mut DcaWorkspace,
    input: &DcaInput<'_>,
) -> Result<DcaStatus, DcaError> {
    check_lengths(plan, input)?;
    let gravity = if input.no_gravity { DVec3::ZERO } else { plan.gravity };
    w.links.update(&plan.edges, input.q, input.v, plan.loops, w.parallel);
    place_connections(plan, w, input);
    set_stiffness(plan, w, input);
    set_loads(plan, w, input);
    let DcaWorkspace { bodies, links, carried, .. } = w;
    let (links, carried) = (&*links, &*carried);
    fill(w.parallel, bodies, |i| {
        BodyState::new(&plan.bodies[i], links, gravity, input.external, carried[i])
    });
    run_passes(plan, w, input);
    Ok(collect(plan, w))
}

fn check_lengths(plan: &DcaPlan, i: &DcaInput<'_>) -> Result<(), DcaError> {
    let closing = plan.velocities - plan.tree_velocities;
    let checks = [
        ("q", i.q.len(), plan.tree_positions, false),
        ("v", i.v.len(), plan.tree_velocities, false),
        ("tau", i.tau.len(), plan.tree_velocities, false),
        ("external", i.external.len(), plan.links, true),
        ("closing_tau", i.closing_tau.len(), closing, true),
        ("implicit", i.implicit.len(), plan.armature.len(), true),
    ];
    for (quantity, found, expected, may_be_empty) in checks {
        if found != expected && !(may_be_empty && found == 0) {
            return Err(DcaError::WrongLength { quantity, found, expected });
        }
    }
    Ok(())
}

fn place_connections(plan: &DcaPlan, w: &mut DcaWorkspace, input: &DcaInput<'_>) {
    let links = &w.links;
    fill(w.parallel, &mut w.generals, |g| plan.generals[g].state(links, input.q, input.v));
    let generals = &w.generals;
    fill(w.parallel, &mut w.connections, |i| {
        let c = &plan.connections[i];
        match &c.shape {
            Shape::Single(s) => s.state(c, links, input.q, s.rate(c, links, input.v)),
            Shape::General(g) => generals[*g].state,
            Shape::Weld => ConnectionState::ZERO,
        }
    });
    for (point, c) in w.chosen.iter_mut().zip(&plan.chosen) {
        *point = links.rotation[c.body_link] * c.origin;
    }
}

fn set_stiffness(plan: &DcaPlan, w: &mut DcaWorkspace, input: &DcaInput<'_>) {
    w.stiffness.copy_from_slice(&plan.armature);
    for (k, x) in w.stiffness.iter_mut().zip(input.implicit) {
        *k += x;
    }
}

/// Q of the general connections, with the wrenches on massless links between their joints, which
/// are carried to side A (EQUATIONS 1.7).
fn set_loads(plan: &DcaPlan, w: &mut DcaWorkspace, input: &DcaInput<'_>) {
    let value = |v: usize| {
        let tree = plan.tree_velocities;
        if v < tree {
            input.tau[v]
        } else {
            input.closing_tau.get(v - tree).copied().unwrap_or(0.0)
        }
    };
    w.carried.fill(Wrench::ZERO);
    for (g, (general, load)) in plan.generals.iter().zip(&mut w.loads).enumerate() {
        *load = [0.0; 6];
        for p in &general.parts {
            for i in 0..p.joint.dof {
                load[p.column + i] = value(p.joint.v + i);
            }
        }
        if input.external.is_empty() || general.parts.len() < 2 {
            continue;
        }
        let state = &w.generals[g];
        let side_a = plan.connections[general.connection].bodies[0];
        for folded in &general.folded {
            let external = input.external[folded.link];
            let r = &w.links.rotation[folded.link];
            let force = *r * external.force;
            // The link's origin from the connection's point.
            let arm = w.links.rotation[folded.cluster] * folded.origin - state.ends[folded.part];
            let torque = *r * external.torque + arm.cross(force);
            let at_point = Wrench::new(force, torque);
            let columns = general.parts[folded.part].column + general.parts[folded.part].joint.dof;
            for c in 0..columns {
                load[c] += Twist::from_array(state.columns[c]).dot(at_point);
            }
            let about_center = Wrench::new(force, torque + state.state.points[0].cross(force));
            w.carried[side_a] += about_center;
        }
    }
}

fn run_passes(plan: &DcaPlan, w: &mut DcaWorkspace, input: &DcaInput<'_>) {
    let Some(last) = plan.program.nodes.len().checked_sub(1) else { return };
    let state = State {
        plan,
        bodies: &w.bodies,
        connections: &w.connections,
        generals: &w.generals,
        loads: &w.loads,
        chosen: &w.chosen,
        tau: input.tau,
        closing_tau: input.closing_tau,
        stiffness: if plan.has_armature || !input.implicit.is_empty() { &w.stiffness } else { &[] },
        parallel: w.parallel,
    };
    let mut slices = super::workspace::Slices::new(
        &mut w.phi,
        &mut w.b,
        &mut w.factors,
        &mut w.rotations,
        &mut w.rows,
        &mut w.forces,
    );
    upward(state, last, slices.reborrow());
    slices.clear_forces(&plan.program.nodes[last]);
    downward(state, last, slices);
}

/// Accelerations in the mechanism's order, and the status.
fn collect(plan: &DcaPlan, w: &mut DcaWorkspace) -> DcaStatus {
    for (joint, place) in plan.place_of_joint.iter().enumerate() {
        let v = plan.velocity_offsets[joint];
        let target = &mut w.acceleration[v..v + plan.joint_dofs[joint]];
        match place.and_then(|(c, column)| Some((plan.factor_of[c]?, column))) {
            Some((f, column)) => {
                let from = &w.factors[f].acceleration[column..];
                target.iter_mut().zip(from).for_each(|(t, x)| *t = *x);
            }
            None => target.fill(0.0),
        }
    }
    if let Some(g) = w.generals.iter().position(|g| !g.independent) {
        let last = plan.generals[g].parts.last().map(|p| p.id);
        if let Some(joint) = last {
            return DcaStatus::DependentDirections { joint };
        }
    }
    if !w.acceleration.iter().all(|a| a.is_finite()) {
        return DcaStatus::NotFinite;
    }
    DcaStatus::Solved {
        redundant: w.factors.iter().map(|f| usize::from(f.dropped)).sum(),
        weakest: w.factors.iter().map(|f| f.weakest).fold(1.0, f64::min),
    }
}
