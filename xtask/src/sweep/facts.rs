//! What is compared of a model: the same facts from us and from the rivals
//! (`benches/peers/sweep_mujoco.py` says what each is).

use std::collections::BTreeMap;

use serde::Deserialize;

/// What the rivals' process says about one file.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) rivals: BTreeMap<String, RivalAnswer>,
}

/// What one rival says.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum RivalAnswer {
    Refused { error: String },
    Facts(Box<Facts>),
}

/// A model.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Facts {
    /// `None` where the program does not keep links apart.
    pub(super) links: Option<Vec<LinkFact>>,
    pub(super) joints: Vec<JointFact>,
    /// `None` where the program does not keep them.
    #[serde(default)]
    pub(super) frames: Option<Vec<FrameFact>>,
    /// Shapes that take part in contacts; `None` where the program does not keep them.
    #[serde(default)]
    pub(super) shapes: Option<Vec<ShapeFact>>,
    /// There are meshes, whose vertices are single precision.
    #[serde(default)]
    pub(super) has_meshes: bool,
    /// For programs without links.
    #[serde(default)]
    pub(super) moving_mass: Option<f64>,
    pub(super) servos: Vec<DriveFact>,
    pub(super) tendons: Vec<DriveFact>,
    /// `None` where the program does not keep them.
    pub(super) equalities: Option<Vec<EqualityFact>>,
    pub(super) keyframes: Vec<KeyframeFact>,
    pub(super) states: Vec<StateFact>,
    /// What was left out before the rival read the file.
    pub(super) adapted: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct LinkFact {
    pub(super) name: String,
    pub(super) parent: String,
    pub(super) mass: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct JointFact {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) link: String,
    /// Where the joint's positions begin.
    pub(super) positions: usize,
    /// Where its velocities begin.
    pub(super) velocities: usize,
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    pub(super) armature: f64,
    /// Where the spring rests; `None` for joints whose positions are not one number.
    pub(super) rest: Option<f64>,
    /// Limits of a hinge or a slide.
    #[serde(default)]
    pub(super) range: Option<[f64; 2]>,
    /// The program keeps limits.
    #[serde(default)]
    pub(super) keeps_range: bool,
}

impl JointFact {
    /// Numbers of positions and of velocities.
    pub(super) fn widths(&self) -> (usize, usize) {
        match self.kind.as_str() {
            "free" => (7, 6),
            "ball" => (4, 3),
            "planar" => (3, 3),
            _ => (1, 1),
        }
    }
}

/// A named frame on a link.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FrameFact {
    pub(super) name: String,
    pub(super) link: String,
    pub(super) position: [f64; 3],
    /// By rows.
    pub(super) rotation: [f64; 9],
}

/// A primitive on a link.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShapeFact {
    #[serde(flatten)]
    pub(super) frame: FrameFact,
    pub(super) kind: String,
    pub(super) size: Vec<f64>,
    pub(super) friction: f64,
}

/// A servo, or a spring along a tendon.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DriveFact {
    pub(super) name: String,
    /// Joints with their coefficients.
    pub(super) joints: Vec<(String, f64)>,
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    #[serde(default)]
    pub(super) rest: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct EqualityFact {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) links: Vec<String>,
    pub(super) joints: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct KeyframeFact {
    pub(super) name: String,
    pub(super) positions: Vec<f64>,
}

/// Everything at one pose with one set of velocities.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct StateFact {
    pub(super) label: String,
    pub(super) positions: Vec<f64>,
    pub(super) velocities: Vec<f64>,
    /// By rows.
    pub(super) mass_matrix: Vec<f64>,
    pub(super) bias: Vec<f64>,
    pub(super) spring: Vec<f64>,
    pub(super) damper: Vec<f64>,
    /// What each equality is open by.
    pub(super) gaps: Option<Vec<f64>>,
    pub(super) rank: usize,
    pub(super) singular_values: Vec<f64>,
    pub(super) acceleration: Option<Vec<f64>>,
    /// Size of the forces in the metric of the inverse mass matrix.
    pub(super) force_size: f64,
    /// By how much the accelerations miss the equalities' second derivatives, relative to these.
    #[serde(default)]
    pub(super) contradiction: f64,
}
