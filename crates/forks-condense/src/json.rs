//! Superelements as JSON: links by name, matrices by rows, poses as position and quaternion.

use forks_deform::dynamics::mechanism::{
    HeldFrame, Mechanism, OutputFrame, Superelement,
    lie::{
        Pose, Wrench,
        glam::{DQuat, DVec3},
    },
    linalg::Matrix,
};
use serde::{Deserialize, Serialize};

use crate::CondenseError;

/// A superelement as it is written.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    frames: Vec<WrittenFrame>,
    #[serde(default)]
    outputs: Vec<WrittenOutput>,
    stiffness: Vec<Vec<f64>>,
    #[serde(default)]
    forces: Vec<[f64; 6]>,
    #[serde(default)]
    output_map: Vec<Vec<f64>>,
    #[serde(default)]
    output_compliance: Vec<Vec<f64>>,
    #[serde(default)]
    modes: Vec<f64>,
    #[serde(default)]
    mass: Vec<Vec<f64>>,
    #[serde(default)]
    damping: Vec<Vec<f64>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WrittenPose {
    position: [f64; 3],
    quaternion_wxyz: [f64; 4],
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WrittenFrame {
    link: String,
    #[serde(default = "at_origin")]
    link_from_frame: WrittenPose,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WrittenOutput {
    name: String,
    frame_from_output: WrittenPose,
}

fn at_origin() -> WrittenPose {
    write(&Pose::IDENTITY)
}

fn write(p: &Pose) -> WrittenPose {
    let q = p.rotation;
    WrittenPose { position: p.translation.to_array(), quaternion_wxyz: [q.w, q.x, q.y, q.z] }
}

fn pose(w: &WrittenPose) -> Pose {
    let [s, x, y, z] = w.quaternion_wxyz;
    Pose::new(DQuat::from_xyzw(x, y, z, s), DVec3::from_array(w.position))
}

/// The superelement as JSON, links by their names.
///
/// # Errors
/// Numbers that are not finite.
pub fn superelement_to_json(e: &Superelement, m: &Mechanism) -> Result<String, CondenseError> {
    let frame = |f: &HeldFrame| WrittenFrame {
        link: m.link(f.link).name.clone(),
        link_from_frame: write(&f.link_from_frame),
    };
    let output = |o: &OutputFrame| WrittenOutput {
        name: o.name.clone(),
        frame_from_output: write(&o.frame_from_output),
    };
    let all = [&e.stiffness, &e.output_map, &e.output_compliance, &e.mass, &e.damping];
    if all.into_iter().any(|x| !x.is_finite()) {
        return Err(CondenseError::Json("a number is not finite".into()));
    }
    let written = Written {
        name: e.name.clone(),
        frames: e.frames.iter().map(frame).collect(),
        outputs: e.outputs.iter().map(output).collect(),
        stiffness: e.stiffness.to_rows(),
        forces: e.forces.iter().map(|w| w.to_array()).collect(),
        output_map: e.output_map.to_rows(),
        output_compliance: e.output_compliance.to_rows(),
        modes: e.modes.clone(),
        mass: e.mass.to_rows(),
        damping: e.damping.to_rows(),
    };
    serde_json::to_string(&written).map_err(|e| CondenseError::Json(e.to_string()))
}

/// A superelement from JSON, for a mechanism with the links that it names. Forces, outputs, modes
/// and mass may be left out: they are zero then.
///
/// # Errors
/// Text that is no superelement, links that are not there, rows of different lengths. The numbers
/// are checked by [`Superelement::check`].
pub fn superelement_from_json(text: &str, m: &Mechanism) -> Result<Superelement, CondenseError> {
    let w: Written = serde_json::from_str(text).map_err(|e| CondenseError::Json(e.to_string()))?;
    let frame = |f: &WrittenFrame| match m.find_link(&f.link) {
        Some(link) => Ok(HeldFrame { link, link_from_frame: pose(&f.link_from_frame) }),
        None => Err(CondenseError::UnknownLink { name: f.link.clone() }),
    };
    let frames: Vec<HeldFrame> = w.frames.iter().map(frame).collect::<Result<_, _>>()?;
    let twists = frames.len() + w.outputs.len();
    let all = 6 * twists + w.modes.len();
    let mass = match w.mass.is_empty() {
        true => Matrix::zeros(all, all),
        false => matrix("mass", &w.mass)?,
    };
    let forces = match w.forces.is_empty() {
        true => vec![Wrench::ZERO; twists],
        false => w.forces.iter().map(|f| Wrench::from_array(*f)).collect(),
    };
    Ok(Superelement {
        stiffness: matrix("stiffness", &w.stiffness)?,
        output_map: matrix("output_map", &w.output_map)?,
        output_compliance: matrix("output_compliance", &w.output_compliance)?,
        damping: matrix("damping", &w.damping)?,
        outputs: w
            .outputs
            .iter()
            .map(|o| OutputFrame {
                name: o.name.clone(),
                frame_from_output: pose(&o.frame_from_output),
            })
            .collect(),
        name: w.name,
        frames,
        forces,
        modes: w.modes,
        mass,
    })
}

fn matrix(name: &str, rows: &[Vec<f64>]) -> Result<Matrix, CondenseError> {
    let columns = rows.first().map_or(0, Vec::len);
    if let Some(i) = rows.iter().position(|r| r.len() != columns) {
        let found = rows[i].len();
        let problem = format!("row {i} of {name} has {found} numbers, the first {columns}");
        return Err(CondenseError::Json(problem));
    }
    Ok(Matrix::from_fn(rows.len(), columns, |i, j| rows[i][j]))
}
