//! What a search for a static equilibrium is asked and what it finds.

use forks_mechanism::{JointId, lie::Pose};

use crate::cancel::Cancel;

/// How the search for an equilibrium ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquilibriumStatus {
    /// A stable equilibrium.
    Converged,
    /// An equilibrium at which the tangent stiffness has a negative eigenvalue on the admissible
    /// motions (with dead torques or follower loads: at which M⁻¹K_t has a negative real one).
    Unstable,
    /// The loads could not be brought to full size; the pose is the last equilibrium on the way.
    Stalled,
    /// A motion is resisted by nothing: see [`Equilibrium::free_motion`].
    Singular,
    /// The mechanism ran away.
    Diverged,
    /// It was asked to stop ([`EquilibriumOptions::cancel`]); the pose is how far it got.
    Cancelled,
}

impl EquilibriumStatus {
    /// True if the pose is an equilibrium under the full loads.
    pub fn is_equilibrium(self) -> bool {
        matches!(self, Self::Converged | Self::Unstable)
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Unstable => "unstable",
            Self::Stalled => "stalled",
            Self::Singular => "singular",
            Self::Diverged => "diverged",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How the loads are brought up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadPath {
    /// The continuous path from the start pose: adaptive steps, refused where they leave the branch
    /// that the tangent points along. Where that branch turns unstable, a stable one that leaves it
    /// is followed instead (see [`PathEventKind::Branching`]).
    #[default]
    Continuous,
    /// `load_steps` equal steps, each solved by plain Newton steps of limited length, nothing else
    /// controlled. May jump to another branch, often a saddle; for comparison with programs that
    /// work like this.
    EqualSteps,
}

/// How linear systems are solved. All ways find the same equilibria, to rounding, and judge them
/// alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algebra {
    /// Dense for small mechanisms, front by front for large ones.
    #[default]
    Automatic,
    /// Dense matrices: costs the cube of the number of coordinates.
    Dense,
    /// Link by link, from the outermost ones inwards: costs the number of links, loops included.
    Frontal,
}

/// Settings of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct EquilibriumOptions {
    /// Largest unbalanced force over the largest force, and largest loop gap over the mechanism's
    /// size. Default 1e-12; further digits are polished off as far as rounding allows.
    pub tolerance: f64,
    /// How the loads are brought up; default [`LoadPath::Continuous`].
    pub path: LoadPath,
    /// Load steps tried first, default 10, for gravity and preloads and as many for the wrenches.
    /// On the continuous path they grow where Newton's method converges quickly.
    pub load_steps: usize,
    /// Smallest load step, as part of the whole load, before the path counts as broken; default
    /// 1/640.
    pub min_load_step: f64,
    /// Newton iterations in one load step; default 30.
    pub max_iterations: usize,
    /// Largest change of a coordinate in one iteration: radians, or lengths over the mechanism's
    /// size; default 0.5.
    pub max_step: f64,
    /// How linear systems are solved.
    pub algebra: Algebra,
    /// Steps of relaxation where the path breaks; 0 turns it off. Default 200.
    pub max_relaxation_steps: usize,
    /// Stops the search; asked before every iteration. Default: never.
    pub cancel: Cancel,
}

impl EquilibriumOptions {
    /// Ten equal load steps of up to 80 plain Newton iterations each ([`LoadPath::EqualSteps`]), as
    /// the golden equilibria were made.
    pub fn equal_steps() -> Self {
        Self { path: LoadPath::EqualSteps, max_iterations: 80, ..Self::default() }
    }
}

impl Default for EquilibriumOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            path: LoadPath::Continuous,
            load_steps: 10,
            min_load_step: 1.0 / 640.0,
            max_iterations: 30,
            max_step: 0.5,
            algebra: Algebra::Automatic,
            max_relaxation_steps: 200,
            cancel: Cancel::default(),
        }
    }
}

/// A static equilibrium, or how far the search got.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// How the search ended.
    pub status: EquilibriumStatus,
    /// Positions of all joints, loop-closing ones included.
    pub q: Vec<f64>,
    /// World poses of all links, the ground first.
    pub world_from_link: Vec<Pose>,
    /// λ with f + Gᵀλ = 0, rows as in [`forks_mechanism::kinematics::loops`]; redundant rows carry
    /// nothing.
    pub multipliers: Vec<f64>,
    /// Largest unbalanced generalised force over the largest one, or loop gap over the mechanism's
    /// size.
    pub residual: f64,
    /// Part of the path to the full loads that was balanced, 1 at an equilibrium: gravity and
    /// preloads are its first half and the wrenches its second where there are both.
    pub load_scale: f64,
    /// Newton iterations, all load steps together.
    pub iterations: usize,
    /// Load steps that converged.
    pub load_steps: usize,
    /// Linear systems factored.
    pub factorisations: usize,
    /// Times the path broke and a new equilibrium was found by relaxation.
    pub relaxations: usize,
    /// Joints that take part in unresisted motions; empty unless the status is singular.
    pub free_motion: Vec<JointId>,
    /// Where the continuous path did not simply go on, in order.
    pub events: Vec<PathEvent>,
    /// The equilibrium under gravity and preloads alone, on the same path; `None` where the
    /// wrenches are not brought up after them.
    pub own_loads: Option<Box<Equilibrium>>,
    /// True if every load step ended where the tangent at its beginning pointed and no stable path
    /// turned unstable: then the equilibrium lies on the continuous path from the start pose,
    /// whatever the steps were.
    pub on_path: bool,
}

/// Where a path did not simply go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathEvent {
    /// The part of the path ([`Equilibrium::load_scale`]) where it happened, to the length of a
    /// load step.
    pub load_scale: f64,
    /// What happened.
    pub kind: PathEventKind,
    /// The joint that moved most, over its unit (radians, lengths over the mechanism's size).
    pub joint: JointId,
}

/// What happened on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEventKind {
    /// The equilibrium turned unstable, and the stable branch that leaves it there was followed.
    ///
    /// Branches leave a symmetric pose in pairs. The one taken is that along the eigenvector v of
    /// the tangent's lowest eigenvalue whose largest entry (the first of equal ones) is positive;
    /// where several eigenvalues are lowest, v is the eigenvectors' combination nearest to the
    /// coordinate that they move most.
    Branching,
    /// No stable equilibrium was near: the mechanism went downhill to another one (limit point,
    /// snap-through), or it is so soft that the shortest load step moves it as far.
    SnapThrough,
}
