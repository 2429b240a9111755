//! The linear response of a mechanism to loads on its effectors, in SI units.

use forks_dynamics::Cancel;
use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, Wrench},
    linalg::Matrix,
};

use crate::{
    attached::Attached,
    drive::Drive,
    effector::Effector,
    error::ReduceError,
    linearisation::Linearisation,
    load_stiffness::world_fixed_compliance,
    maps::maps,
    sweep::{State, Sweep, link_variables},
};

/// Linear maps from wrenches on E effectors (each in its own frame, 6E numbers) and from forces
/// along further outputs, both small and about the linearisation pose.
#[derive(Clone, Debug)]
pub struct Response {
    /// Compliance, 6E × 6E, m and rad per N and N·m: twists of the effectors in exponential
    /// coordinates.
    pub compliance: Matrix,
    /// Joint displacements per effector wrench, nv × 6E.
    pub joints: Matrix,
    /// Twist of each link (the ground first) in its own frame per effector wrench, 6 × 6E.
    pub twists: Vec<Matrix>,
    /// Load on each tree joint (forest order) in its outer link's frame per effector wrench, 6 ×
    /// 6E; empty for joints in branches that carry no load. \[A16\]'s wrench map.
    pub joint_loads: Vec<Matrix>,
    /// Load on each closing joint (its child passes it on) in its child's frame per effector
    /// wrench, 6 × 6E; empty where the sweep did not go. One of many where loops are redundant.
    pub closing_loads: Vec<Matrix>,
    /// Effector twists per unit force along each output, 6E × outputs.
    pub output_effectors: Matrix,
    /// Joint displacements per unit force along each output, nv × outputs.
    pub output_joints: Matrix,
    /// Link twists per unit force along each output, 6 × outputs.
    pub output_twists: Vec<Matrix>,
    /// Static wrench on each effector at the linearisation pose, effector frame.
    pub static_wrenches: Vec<Wrench>,
    /// Size r of the mechanism, m.
    pub radius: f64,
    /// World poses of the links, the ground first.
    pub world_from_link: Vec<Pose>,
    /// Free bodies beside the mechanism that were left out.
    pub left_out: Vec<LinkId>,
    /// Largest number of live variables in the sweep.
    pub frontier_peak: usize,
    /// Square root of the largest dimensionless compliance that a loop was closed against: what is
    /// left of a motion is known to rounding of this only.
    pub uncancelled: f64,
    /// A measure of the rounding error: the difference of the two ways to the effectors' compliance
    /// over its largest entry (lengths over r), and the last correction of the joint displacements
    /// where loops or energies made corrections necessary.
    pub consistency: f64,
}

impl Response {
    /// Compliance C, 6E × 6E, for loads that keep their world axes (components in the axes of the
    /// linearisation pose); equal to [`Self::compliance`] where no static wrench acts.
    ///
    /// # Errors
    /// [`ReduceError::NotFinite`] at a pose of zero stiffness.
    pub fn world_fixed_compliance(&self) -> Result<Matrix, ReduceError> {
        world_fixed_compliance(&self.compliance, &self.static_wrenches)
    }
}

/// The response of a mechanism, by the frontier sweep and its tape; linear in the number of links.
/// Forces act along `drives` as well.
pub(crate) fn response(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    drives: &[Drive],
    attached: &[Attached],
    cancel: &Cancel,
) -> Result<Response, ReduceError> {
    check_sizes(m, effectors, &at)?;
    let outputs: Vec<_> = drives.iter().map(|d| d.combination.clone()).collect();
    let mut links: Vec<LinkId> = effectors.iter().map(|e| e.link).collect();
    links.sort();
    links.dedup();
    let state = match at {
        Linearisation::Rest { q } => State { q, loaded: None, attached, cancel },
        Linearisation::Loaded { q, loads, multipliers } => {
            State { q, loaded: Some((loads, multipliers)), attached, cancel }
        }
    };
    let sweep = Sweep::run(m, &state, &links, &outputs)?;
    tracing::debug!(
        links = m.links().len(),
        entered = sweep.plan.edges.len(),
        peak = sweep.frontier.peak(),
        "frontier sweep"
    );
    let mut out = assemble(&sweep, effectors, &links);
    out.static_wrenches = at.static_wrenches(effectors, &out.world_from_link);
    if out.compliance.is_finite() && out.joints.is_finite() {
        return Ok(out);
    }
    Err(ReduceError::NotFinite { quantity: "the compliance" })
}

fn check_sizes(
    m: &Mechanism,
    effectors: &[Effector],
    at: &Linearisation<'_>,
) -> Result<(), ReduceError> {
    if effectors.is_empty() {
        return Err(ReduceError::NoEffector);
    }
    let length = |quantity, found, expected| {
        if found == expected {
            Ok(())
        } else {
            Err(ReduceError::WrongLength { quantity, found, expected })
        }
    };
    length("positions", at.positions().len(), m.position_count())?;
    if !at.positions().iter().all(|x| x.is_finite()) {
        return Err(ReduceError::NotFinite { quantity: "a position" });
    }
    if let Linearisation::Loaded { multipliers, .. } = at {
        let rows = forks_mechanism::kinematics::loops::constraint_rows(m);
        length("multipliers", multipliers.len(), rows)?;
        if !multipliers.iter().all(|x| x.is_finite()) {
            return Err(ReduceError::NotFinite { quantity: "a multiplier" });
        }
    }
    Ok(())
}

/// Runs the way back and puts the effectors' rows together.
fn assemble(sweep: &Sweep<'_>, effectors: &[Effector], links: &[LinkId]) -> Response {
    let adjoints = effector_adjoints(effectors, links, sweep.r);
    // Dimensionless link wrenches per SI effector wrench.
    let loads = adjoints.transpose();
    let maps = maps(sweep, links, &loads);
    let by_sweep = adjoints.mul(&frontier_compliance(sweep, links)).mul(&loads).symmetric_part();
    let by_maps = effector_rows(effectors, &maps.twists);
    // Without loops both are the same to rounding; with loops the maps were refined.
    let is_refined = maps.correction > 0.0;
    let compliance = if is_refined { by_maps.symmetric_part() } else { by_sweep };
    let consistency = difference(&compliance, &by_maps, sweep.r).max(maps.correction);
    let wide = 6 * effectors.len();
    let (joints, output_joints) = match sweep.outputs.len() {
        0 => (maps.joints, Matrix::zeros(sweep.m.velocity_count(), 0)),
        n => {
            let split = |from, columns| maps.joints.block(0, from, maps.joints.rows(), columns);
            (split(0, wide), split(wide, n))
        }
    };
    Response {
        consistency,
        compliance,
        joints,
        twists: maps.twists,
        joint_loads: maps.carried,
        closing_loads: maps.closing,
        output_effectors: effector_rows(effectors, &maps.output_twists),
        output_joints,
        output_twists: maps.output_twists,
        static_wrenches: vec![],
        radius: sweep.r,
        world_from_link: sweep.world_from_link.clone(),
        left_out: sweep.plan.left_out.clone(),
        frontier_peak: sweep.frontier.peak(),
        uncancelled: sweep.frontier.largest_variance().sqrt(),
    }
}

/// 6E × 6L: dimensionless link twists to SI effector twists.
fn effector_adjoints(effectors: &[Effector], links: &[LinkId], r: f64) -> Matrix {
    let mut out = Matrix::zeros(6 * effectors.len(), 6 * links.len());
    for (i, e) in effectors.iter().enumerate() {
        let column = links.iter().position(|&l| l == e.link).unwrap_or(0);
        let ad = e.link_from_effector.inverse().adjoint().matrix();
        for a in 0..6 {
            for b in 0..6 {
                out[(6 * i + a, 6 * column + b)] = ad.rows[a][b] * if b < 3 { r } else { 1.0 };
            }
        }
    }
    out
}

/// Dimensionless covariance of the effector links at the end of the sweep; the ground's is zero.
fn frontier_compliance(sweep: &Sweep<'_>, links: &[LinkId]) -> Matrix {
    let variables: Vec<_> = links.iter().flat_map(|&l| link_variables(l)).collect();
    let f = &sweep.frontier;
    Matrix::from_fn(variables.len(), variables.len(), |i, j| {
        let (a, b) = (variables[i], variables[j]);
        if f.is_live(a) && f.is_live(b) { f.covariance(a, b) } else { 0.0 }
    })
}

/// Twists of the effectors in their frames from those of their links, stacked.
fn effector_rows(effectors: &[Effector], twists: &[Matrix]) -> Matrix {
    let columns = twists.first().map_or(0, Matrix::columns);
    let mut out = Matrix::zeros(6 * effectors.len(), columns);
    for (i, e) in effectors.iter().enumerate() {
        let ad: Matrix = e.link_from_effector.inverse().adjoint().matrix().into();
        let rows = ad.mul(&twists[e.link.index()]);
        (0..6).for_each(|k| out.row_mut(6 * i + k).copy_from_slice(rows.row(k)));
    }
    out
}

/// Largest difference of two compliances over the largest entry, lengths over r.
fn difference(c: &Matrix, by_maps: &Matrix, r: f64) -> f64 {
    let s = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let scaled =
        |m: &Matrix| Matrix::from_fn(m.rows(), m.columns(), |i, j| s(i) * m[(i, j)] * s(j));
    let (c, by_maps) = (scaled(c), scaled(by_maps));
    let scale = c.max_abs();
    if scale == 0.0 { 0.0 } else { c.sub(&by_maps).max_abs() / scale }
}
