//! The linear response of a mechanism to loads on its effectors, in SI units.

use forks_dynamics::Loads;
use forks_mechanism::{
    Combination, LinkId, Mechanism,
    dense::Matrix,
    lie::{Adjoint, Pose},
};

use crate::{
    error::ReduceError,
    maps::{Maps, maps},
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
    /// The positions.
    pub fn positions(&self) -> &'a [f64] {
        match self {
            Self::Rest { q } | Self::Loaded { q, .. } => q,
        }
    }
}

/// Linear maps from wrenches on E effectors (each in its own frame, 6E numbers) and from forces along
/// further outputs, both small and about the linearisation pose.
#[derive(Clone, Debug)]
pub struct Response {
    /// Compliance, 6E × 6E, m and rad per N and N·m: twists of the effectors in exponential coordinates.
    pub compliance: Matrix,
    /// Joint displacements per effector wrench, nv × 6E.
    pub joints: Matrix,
    /// Twist of each link (the ground first) in its own frame per effector wrench, 6 × 6E.
    pub twists: Vec<Matrix>,
    /// Load on each tree joint (forest order) in its outer link's frame per effector wrench, 6 × 6E;
    /// empty for joints in branches that carry no load. [A16]'s wrench map.
    pub joint_loads: Vec<Matrix>,
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
    /// Square root of the largest dimensionless compliance that a loop was closed against: what is left
    /// of a motion is known to rounding of this only.
    pub uncancelled: f64,
    /// Largest difference between the effectors' compliance from the sweep and from the maps, over the
    /// largest entry (lengths over r): a measure of the rounding error.
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
    let maps = maps(&sweep, &links);
    let out = assemble(&sweep, &maps, effectors, &links);
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

/// Turns dimensionless maps from the links' frames into SI maps from the effectors' frames.
fn assemble(sweep: &Sweep<'_>, maps: &Maps, effectors: &[Effector], links: &[LinkId]) -> Response {
    let r = sweep.r;
    let adjoints = effector_adjoints(effectors, links, r);
    let wide = 6 * links.len();
    // Loads: dimensionless link wrenches per SI effector wrench.
    let loads = adjoints.transpose();
    let on_effectors = |m: &Matrix| m.block(0, 0, m.rows(), wide).mul(&loads);
    let on_outputs = |m: &Matrix| m.block(0, wide, m.rows(), sweep.outputs.len());
    let frontier = frontier_compliance(sweep, links);
    let compliance = adjoints.mul(&frontier.block(0, 0, wide, wide)).mul(&loads).symmetric_part();
    let twists: Vec<Matrix> =
        maps.twists.iter().map(|t| to_si_twist(&on_effectors(t), r)).collect();
    let joint_loads = maps
        .carried
        .iter()
        .map(|w| if w.rows() == 6 { to_si_wrench(&on_effectors(w), r) } else { w.clone() })
        .collect();
    Response {
        consistency: consistency(&frontier, maps, links),
        compliance,
        joints: on_effectors(&maps.joints),
        twists,
        joint_loads,
        output_effectors: adjoints.mul(&on_outputs(&stacked(maps, links))),
        output_joints: on_outputs(&maps.joints),
        output_twists: maps.twists.iter().map(|t| to_si_twist(&on_outputs(t), r)).collect(),
        radius: r,
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

/// Covariance of the effector links and outputs at the end of the sweep.
fn frontier_compliance(sweep: &Sweep<'_>, links: &[LinkId]) -> Matrix {
    let variables: Vec<_> = links
        .iter()
        .flat_map(|&l| link_variables(l))
        .chain(sweep.outputs.iter().copied())
        .collect();
    Matrix::from_fn(variables.len(), variables.len(), |i, j| {
        sweep.frontier.covariance(variables[i], variables[j])
    })
}

/// Twists of the effector links by the maps, stacked.
fn stacked(maps: &Maps, links: &[LinkId]) -> Matrix {
    Matrix::from_fn(6 * links.len(), maps.joints.columns(), |i, j| {
        maps.twists[links[i / 6].index()][(i % 6, j)]
    })
}

fn consistency(frontier: &Matrix, maps: &Maps, links: &[LinkId]) -> f64 {
    let by_maps = stacked(maps, links);
    let n = by_maps.rows();
    let c = frontier.block(0, 0, n, n);
    let scale = c.max_abs();
    if scale == 0.0 {
        return 0.0;
    }
    c.sub(&by_maps.block(0, 0, n, n)).max_abs() / scale
}

fn to_si_twist(m: &Matrix, r: f64) -> Matrix {
    Matrix::from_fn(6, m.columns(), |i, j| m[(i, j)] * if i < 3 { r } else { 1.0 })
}

fn to_si_wrench(m: &Matrix, r: f64) -> Matrix {
    Matrix::from_fn(6, m.columns(), |i, j| m[(i, j)] / if i < 3 { r } else { 1.0 })
}
