//! Scenario files: which mechanism, which effectors, what to check besides the standing checks.

use std::{fs, path::Path};

use serde::Deserialize;

/// A file `fixtures/scenarios/NAME.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The file's name without its ending.
    #[serde(skip)]
    pub(crate) name: String,
    /// A mechanism from a file or from the library; absent for random graphs.
    pub(crate) mechanism: Option<MechanismSource>,
    /// Effectors; those of the parametric mechanism if empty.
    #[serde(default)]
    pub(crate) effectors: Vec<String>,
    /// Stiffness of coordinates that nothing else resists.
    pub(crate) default_stiffness: Option<f64>,
    /// Golden files under `fixtures`.
    #[serde(default)]
    pub(crate) golden: Vec<String>,
    /// A closed form to compare with.
    pub(crate) closed_form: Option<ClosedForm>,
    /// Constraint error against displacement.
    pub(crate) curves: Option<Curves>,
    /// Random graphs instead of a mechanism.
    pub(crate) random: Option<RandomGraphs>,
}

/// Where a mechanism comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "source", rename_all = "kebab-case")]
pub(crate) enum MechanismSource {
    /// An MJCF file under `fixtures`.
    Model { path: String },
    /// A mechanism of `forks_mechanism::parametric`.
    Parametric {
        kind: ParametricKind,
        /// Number of links, or rungs for the ladders; ignored where the size is fixed.
        #[serde(default)]
        size: usize,
    },
}

/// The parametric mechanisms that scenarios use.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ParametricKind {
    HelixHinge3,
    HelixAlternating,
    HelixHingeZ,
    Ladder,
    IrregularLadder,
    Y,
    Arm20,
    FourBar,
    ScottRussell,
    Parallelogram,
    TwoJoint,
    OctahedralTruss,
}

/// Closed forms.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClosedForm {
    /// C_xx = 2.5e-4 m/N and nothing else.
    Parallelogram,
    /// Compliance along the arm of two joints, as it is stretched ([A16] Fig. 4).
    TwoJoint,
}

/// Curves of the constraint error ([A16] Fig. 7) and overlays of poses (Fig. 5).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Curves {
    /// Directions of a force on the first effector, world axes.
    pub(crate) directions: Vec<[f64; 3]>,
    /// Largest relative displacement.
    pub(crate) until: f64,
    /// Bound of the relative constraint error at relative displacement 0.1.
    pub(crate) bound_at_tenth: f64,
    /// Force (N) of the overlay, world axes.
    pub(crate) overlay_force: [f64; 3],
    /// Bound of the effector's position error in the overlay, over its displacement.
    pub(crate) overlay_bound: f64,
    /// The plane of the drawing: world directions to the right and up.
    pub(crate) view: [[f64; 3]; 2],
}

/// Seeded random graphs against the dense solve.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomGraphs {
    /// Graphs with every joint sprung.
    pub(crate) sprung: u64,
    /// Graphs with couplings, tendon springs, bushings and passive joints.
    pub(crate) mixed: u64,
    /// Loaded graphs with gravity.
    pub(crate) loaded: u64,
    /// Graphs with motions that nothing resists.
    pub(crate) unresisted: u64,
}

/// Reads the scenarios with the given names, or all, in order of their names.
pub(crate) fn load(fixtures: &Path, names: &[String]) -> Result<Vec<Scenario>, String> {
    let dir = fixtures.join("scenarios");
    let mut found: Vec<String> = fs::read_dir(&dir)
        .map_err(|e| format!("{}: {e}", dir.display()))?
        .filter_map(|f| f.ok()?.file_name().into_string().ok())
        .filter_map(|f| f.strip_suffix(".toml").map(str::to_owned))
        .collect();
    found.sort();
    if let Some(unknown) = names.iter().find(|n| !found.contains(n)) {
        return Err(format!("no scenario '{unknown}'; there are {}", found.join(", ")));
    }
    if !names.is_empty() {
        found.retain(|f| names.contains(f));
    }
    found
        .into_iter()
        .map(|name| {
            let path = dir.join(format!("{name}.toml"));
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let mut s: Scenario =
                toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
            s.name = name;
            Ok(s)
        })
        .collect()
}
