//! The linear response of a mechanism to loads on its effectors, in SI units.

use forks_dynamics::{AppliedWrench, Loads, WrenchFrame};
use forks_mechanism::{
    Combination, LinkId, Mechanism,
    lie::{Adjoint, Pose, Wrench},
    linalg::Matrix,
};

use crate::{
    error::ReduceError,
    maps::maps,
    sweep::{State, Sweep, link_variables},
};

/// A body that touches the world: a link, or a frame fixed in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Effector {
    /// Name.
    pub name: String,
    /// The link.
    pub link: LinkId,
    /// The effector's frame in the link.
    pub link_from_effector: Pose,
}

impl Effector {
    /// A wrench at the effector's origin, components in the world's axes or the effector's.
    pub fn applied(&self, wrench: Wrench, frame: WrenchFrame) -> AppliedWrench {
        let (link, link_from_point) = (self.link, self.link_from_effector);
        AppliedWrench { link, link_from_point, wrench, frame }
    }

    /// A link at its own frame.
    pub fn of_link(m: &Mechanism, link: LinkId) -> Self {
        Self { name: m.link(link).name.clone(), link, link_from_effector: Pose::IDENTITY }
    }

    /// The link of that name, or the frame if `name` starts with `site:`.
    ///
    /// # Errors
    /// [`ReduceError::UnknownEffector`].
    pub fn find(m: &Mechanism, name: &str) -> Result<Self, ReduceError> {
        let unknown = || ReduceError::UnknownEffector { name: name.into() };
        if let Some(site) = name.strip_prefix("site:") {
            let f = &m.frames()[m.find_frame(site).ok_or_else(unknown)?.index()];
            return Ok(Self {
                name: name.into(),
                link: f.link,
                link_from_effector: f.link_from_frame,
            });
        }
        let link = m.find_link(name).filter(|&l| l != LinkId::WORLD).ok_or_else(unknown)?;
        Ok(Self::of_link(m, link))
    }
}

/// The state about which a mechanism is linearised.
#[derive(Clone, Copy, Debug)]
pub enum Linearisation<'a> {
    /// Rest: springs unstressed at these positions, no loads.
    Rest {
        /// Positions of the mechanism.
        q: &'a [f64],
    },
    /// An equilibrium under loads, with the multipliers of its loops and couplings.
    Loaded {
        /// Positions of the mechanism.
        q: &'a [f64],
        /// Loads that act there; those on effectors are carried by the reduced model.
        loads: &'a Loads,
        /// Multipliers, rows as in `forks_mechanism::loops`: forces + Gᵀ multipliers = 0.
        multipliers: &'a [f64],
    },
}

impl<'a> Linearisation<'a> {
    /// At a loaded pose the springs beyond joints' limits act with their stiffness there; at rest
    /// springs are unstressed, and those are as well. `None` where the mechanism serves as it is.
    pub(crate) fn tangent_limits(&self, m: &Mechanism) -> Option<Mechanism> {
        match self {
            Self::Loaded { q, .. } => m.with_tangent_limits(q),
            Self::Rest { .. } => None,
        }
    }

    /// The positions.
    pub fn positions(&self) -> &'a [f64] {
        match self {
            Self::Rest { q } | Self::Loaded { q, .. } => q,
        }
    }
}

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

/// The response of a mechanism, by the frontier sweep and its tape; linear in the number of links.
///
/// `outputs` are combinations of joint coordinates along which forces act as well (servo targets).
///
/// # Errors
/// See [`ReduceError`].
pub fn response(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    outputs: &[Combination],
) -> Result<Response, ReduceError> {
    check_sizes(m, effectors, &at)?;
    let tangent = at.tangent_limits(m);
    let m = tangent.as_ref().unwrap_or(m);
    let mut links: Vec<LinkId> = effectors.iter().map(|e| e.link).collect();
    links.sort();
    links.dedup();
    let state = match at {
        Linearisation::Rest { q } => State { q, loaded: None },
        Linearisation::Loaded { q, loads, multipliers } => {
            State { q, loaded: Some((loads, multipliers)) }
        }
    };
    let sweep = Sweep::run(m, &state, &links, outputs)?;
    tracing::debug!(
        links = m.links().len(),
        entered = sweep.plan.edges.len(),
        peak = sweep.frontier.peak(),
        "frontier sweep"
    );
    let out = assemble(&sweep, effectors, &links);
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
        let rows = forks_mechanism::loops::constraint_rows(m);
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
        let ad = Adjoint::from_pose(&e.link_from_effector.inverse()).matrix();
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
