//! Scenario files: which mechanism, which effectors, what to check besides the standing checks.

use std::{fs, path::Path};

use serde::Deserialize;

use super::{
    adaptive::Adaptive, blend::Blend, deform::Deform, families::Families, k08::K08,
    keyframes::Keyframes, scenes::Scenes, tissue_reduction::TissueReduction,
};

/// A file `fixtures/scenarios/NAME.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The file's name without its ending.
    #[serde(skip)]
    pub(crate) name: String,
    /// A mechanism from a file or from the library; absent for random graphs and linkages.
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
    /// Static tip error under forces in cones.
    pub(crate) cones: Option<Cones>,
    /// Work around closed cycles.
    pub(crate) cycles: Option<Cycles>,
    /// Lowest frequencies of the full mechanism and of reduced masses.
    pub(crate) frequencies: Option<Frequencies>,
    /// Releases from displaced equilibria.
    #[serde(default)]
    pub(crate) release: Vec<Release>,
    /// A base that floats.
    pub(crate) floating: Option<Floating>,
    /// Blends whose base floats; the standing checks are left to other scenarios.
    pub(crate) floating_blend: Option<FloatingBlends>,
    /// Long runs under random wrenches.
    pub(crate) stable: Option<Stable>,
    /// Random graphs instead of a mechanism.
    pub(crate) random: Option<RandomGraphs>,
    /// Commands from tasks instead of a mechanism.
    pub(crate) control: Option<Control>,
    /// A linkage under adaptive quasi-statics instead of a mechanism.
    pub(crate) adaptive: Option<Adaptive>,
    /// A blend of the mechanism; the standing checks are left to its other scenarios.
    pub(crate) blend: Option<Blend>,
    /// Scenes with contact instead of a mechanism.
    pub(crate) scenes: Option<Scenes>,
    /// Curves through keys and their playback instead of a mechanism.
    pub(crate) keyframes: Option<Keyframes>,
    /// Tissue instead of a mechanism.
    pub(crate) deform: Option<Deform>,
    /// Tissue reduced with its skeleton.
    pub(crate) tissue_reduction: Option<TissueReduction>,
    /// The paper's scheme for tissue against ours.
    pub(crate) k08: Option<K08>,
    /// Blends of many mechanisms that nobody tuned on.
    pub(crate) families: Option<Families>,
    /// Of `families/NAME` on the command line the names.
    #[serde(skip)]
    pub(crate) parts: Vec<String>,
}

/// Where a mechanism comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "source", rename_all = "kebab-case")]
pub(crate) enum MechanismSource {
    /// An MJCF file under `fixtures`.
    Model { path: String },
    /// A mechanism of `forks_models`.
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
    FloatingHub,
    FloatingLoop,
    FloatingBoom,
}

/// Closed forms.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClosedForm {
    /// C_xx = 2.5e-4 m/N and nothing else.
    Parallelogram,
    /// Compliance along the arm of two joints, as it is stretched (\[A16\] Fig. 4).
    TwoJoint,
}

/// Curves of the constraint error (\[A16\] Fig. 7) and overlays of poses (Fig. 5).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Curves {
    /// Directions of a force on the first effector, world axes.
    pub(crate) directions: Vec<[f64; 3]>,
    /// Largest relative displacement.
    pub(crate) until: f64,
    /// Bound of the relative constraint error at relative displacement 0.1.
    pub(crate) bound_at_tenth: f64,
    /// Bound of the sum of angles there, rad.
    pub(crate) angle_bound_at_tenth: f64,
    /// Force (N) of the overlay, world axes.
    pub(crate) overlay_force: [f64; 3],
    /// Bound of the effector's position error in the overlay, over its displacement.
    pub(crate) overlay_bound: f64,
    /// The plane of the drawing: world directions to the right and up.
    pub(crate) view: [[f64; 3]; 2],
}

/// Forces at the first effector, uniform in magnitude and in direction within a cone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cones {
    /// Seed of each cone's forces.
    pub(crate) seed: u64,
    /// Forces per cone.
    pub(crate) loads: usize,
    /// Largest force, N.
    pub(crate) until: f64,
    /// Half the angle at a cone's tip, degrees.
    pub(crate) half_angle_deg: f64,
    /// The cones.
    pub(crate) cones: Vec<Cone>,
}

/// A cone about an axis, with bounds of the largest and the mean error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cone {
    /// Name in reports.
    pub(crate) name: String,
    /// The axis, world axes.
    pub(crate) axis: [f64; 3],
    /// The energy form; information without bounds.
    pub(crate) energy: Option<[f64; 2]>,
    /// \[A16\]'s form, wrench in displaced body axes.
    pub(crate) body_axes: Option<[f64; 2]>,
    /// \[A16\]'s form, wrench in the axes of the rest pose.
    pub(crate) rest_axes: Option<[f64; 2]>,
}

/// Work of the elastic wrench around random closed cycles, about the rest pose and a loaded pose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cycles {
    /// Seed.
    pub(crate) seed: u64,
    /// Number of cycles about each pose.
    pub(crate) count: usize,
    /// Largest displacement on a cycle: lengths over r, angles in rad.
    pub(crate) amplitude: f64,
    /// Force on the first effector that makes the loaded pose, N, world axes.
    pub(crate) static_force: [f64; 3],
    /// Torque beside it, N·m.
    pub(crate) static_torque: [f64; 3],
}

/// Lowest frequencies, rad/s, in decimal digits of which the last must be right.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Frequencies {
    /// The full mechanism.
    pub(crate) full: Vec<String>,
    /// Stiffness with the accelerability.
    pub(crate) accelerability: Vec<String>,
    /// Stiffness with the condensed mass.
    pub(crate) condensed: Vec<String>,
    /// Fixed-effector modes with which the three lowest must be right.
    pub(crate) modes: usize,
}

/// A release from a displaced equilibrium, the static force removed at once.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Release {
    /// Name of the direction in reports.
    pub(crate) name: String,
    /// Direction of the force on the first effector, world axes.
    pub(crate) direction: [f64; 3],
    /// Relative displacement of that effector.
    pub(crate) displacement: f64,
    /// Step of both simulations, s.
    pub(crate) step_size: f64,
    /// Length, s.
    pub(crate) duration: f64,
    /// Fixed-effector modes.
    pub(crate) modes: usize,
    /// Bound of the path's error over the peak with fixed-effector modes; information without it.
    pub(crate) craig_bampton: Option<f64>,
    /// The same with the condensed mass.
    pub(crate) condensed: Option<f64>,
    /// The same with the accelerability.
    pub(crate) accelerability: Option<f64>,
}

impl Release {
    /// Number of steps.
    pub(crate) fn steps(&self) -> usize {
        (self.duration / self.step_size).round() as usize
    }
}

/// A base that floats, from the start pose with straight springs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Floating {
    /// Step of the reduced model, s.
    pub(crate) step_size: f64,
    /// Steps of the full simulation in one of the reduced model.
    pub(crate) full_steps: usize,
    /// Length, s.
    pub(crate) duration: f64,
    /// Bound of the base's deviation over its displacement, and of its angle over the angle turned.
    pub(crate) base: f64,
    /// The motions.
    pub(crate) motions: Vec<FloatingMotion>,
}

impl Floating {
    /// Number of steps of the reduced model.
    pub(crate) fn steps(&self) -> usize {
        (self.duration / self.step_size).round() as usize
    }
}

/// One motion of a base that floats.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FloatingMotion {
    /// Name in reports.
    pub(crate) name: String,
    /// Acceleration of free fall, m/s².
    #[serde(default)]
    pub(crate) gravity: [f64; 3],
    /// Velocity of the base at the start, base axes, m/s.
    #[serde(default)]
    pub(crate) velocity: [f64; 3],
    /// Angular velocity, rad/s.
    #[serde(default)]
    pub(crate) spin: [f64; 3],
    /// Force on the first effector, world axes, N.
    #[serde(default)]
    pub(crate) force: [f64; 3],
    /// When the force ends, s.
    #[serde(default)]
    pub(crate) force_until: f64,
}

/// A force on the first effector that grows smoothly, then ends.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FloatingBlends {
    /// Step of the reduced models, s.
    pub(crate) step_size: f64,
    /// Steps of the full simulation in one of them.
    pub(crate) full_steps: usize,
    /// How long the force grows, s.
    pub(crate) duration: f64,
    /// How long the mechanism is free afterwards, s.
    pub(crate) free: f64,
    /// N, world axes.
    pub(crate) force: [f64; 3],
    /// Forces of the samples in the chart of poses.
    pub(crate) samples: Vec<[f64; 3]>,
    /// Cone about the force and relative displacement for which the other blend is placed.
    pub(crate) half_angle_deg: f64,
    pub(crate) until: f64,
    pub(crate) bounds: FloatingBlendBounds,
}

/// Largest deviations: of the effector as the base sees it over its way, of blends in poses and in
/// joint displacements; of the base's angle over the angle it turned.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FloatingBlendBounds {
    pub(crate) poses: f64,
    pub(crate) joints: f64,
    pub(crate) base: f64,
}

/// Long runs under random bounded wrenches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stable {
    /// Seed.
    pub(crate) seed: u64,
    /// Steps per step size; ten times as many with `--nightly`.
    pub(crate) steps: u64,
    /// Step sizes, s.
    pub(crate) step_sizes: Vec<f64>,
    /// Largest force and torque: what moves the softest direction by this part of r, or turns it by
    /// this angle.
    pub(crate) reach: f64,
}

/// Seeded mechanisms, problems and paths under commands from tasks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Control {
    /// Random mechanisms whose maps are compared with their steps.
    pub(crate) trees: u64,
    /// Random problems of levels against a cascade of quadratic programs.
    pub(crate) problems: usize,
    /// States of which every objective is asked for.
    pub(crate) states: usize,
    /// Paths through singular poses.
    pub(crate) paths: usize,
    /// Tasks that are infeasible by design.
    pub(crate) infeasible: usize,
    /// Robots that run into their limits, and the steps of each.
    pub(crate) robots: usize,
    pub(crate) limit_steps: usize,
    /// Steps of each under bounds of its torques, too.
    pub(crate) torque_steps: usize,
    /// Machines on feet.
    pub(crate) machines: usize,
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

/// Reads the scenarios with the given names, or all, in order of their names. `NAME/PART` is a part
/// of a scenario.
pub(crate) fn load(fixtures: &Path, names: &[String]) -> Result<Vec<Scenario>, String> {
    let dir = fixtures.join("scenarios");
    let mut found: Vec<String> = fs::read_dir(&dir)
        .map_err(|e| format!("{}: {e}", dir.display()))?
        .filter_map(|f| f.ok()?.file_name().into_string().ok())
        .filter_map(|f| f.strip_suffix(".toml").map(str::to_owned))
        .collect();
    found.sort();
    let whole = |n: &str| n.split_once('/').map_or(n, |n| n.0).to_owned();
    if let Some(unknown) = names.iter().find(|n| !found.contains(&whole(n))) {
        return Err(format!("no scenario '{unknown}'; there are {}", found.join(", ")));
    }
    if !names.is_empty() {
        found.retain(|f| names.iter().any(|n| whole(n) == *f));
    }
    found
        .into_iter()
        .map(|name| {
            let path = dir.join(format!("{name}.toml"));
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let mut s: Scenario =
                toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
            let parts = names.iter().filter_map(|n| n.split_once('/'));
            s.parts = parts.filter(|n| n.0 == name).map(|n| n.1.to_owned()).collect();
            if s.families.is_none() && !s.parts.is_empty() {
                return Err(format!("scenario '{name}' has no parts"));
            }
            s.name = name;
            Ok(s)
        })
        .collect()
}
