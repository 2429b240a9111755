//! Files of a recording.

use std::path::Path;

use forks_io::{
    CsvTable, IoError,
    animation::{Animation, ContactMarker},
    gltf, html, json,
};
use forks_mechanism::lie::so3::wxyz_from_quaternion;
use forks_record::NUMBERS;
use serde::{Serialize, Serializer, ser::SerializeMap as _};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A table: time, numbers, seven columns per body.
    Csv,
    /// The same and the contacts.
    Json,
    /// A 3D page.
    Html,
    /// Binary glTF.
    Glb,
}

impl Format {
    /// By the name's ending.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "html" | "htm" => Some(Self::Html),
            "glb" => Some(Self::Glb),
            _ => None,
        }
    }

    /// Writes the file.
    pub(super) fn save(self, path: &Path, animation: &Animation) -> Result<(), IoError> {
        match self {
            Self::Csv => csv(animation)?.save(path),
            Self::Json => json::save(path, &Recorded::new(animation)),
            Self::Html => html::save(path, animation),
            Self::Glb => gltf::save(path, animation),
        }
    }
}

/// Time, numbers, then seven columns per body.
pub(crate) fn csv(animation: &Animation) -> Result<CsvTable, IoError> {
    let mut columns = vec!["time (s)".to_owned()];
    columns.extend(animation.series.iter().map(|s| format!("{} ({})", s.name, s.unit)));
    for body in &animation.bodies {
        columns.extend(["x (m)", "y (m)", "z (m)"].map(|c| format!("{} {c}", body.name)));
        columns.extend(["qw", "qx", "qy", "qz"].map(|c| format!("{} {c}", body.name)));
    }
    let mut table = CsvTable::new(columns);
    for frame in &animation.frames {
        let mut row = vec![frame.time];
        row.extend(&frame.values);
        for pose in &frame.world_from_body {
            row.extend(pose.translation.to_array());
            row.extend(wxyz_from_quaternion(pose.rotation));
        }
        table.push(row)?;
    }
    Ok(table)
}

/// The JSON; field names are part of the program's interface.
#[derive(Serialize)]
struct Recorded<'a> {
    title: &'a str,
    links: Vec<&'a str>,
    /// Numbers of what drives the scene, as `driven` of samples has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    driven: Vec<&'a str>,
    samples: Vec<Sample<'a>>,
}

/// What is recorded at one time.
#[derive(Serialize)]
struct Sample<'a> {
    time: f64,
    #[serde(flatten)]
    numbers: Numbers<'a>,
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    driven: &'a [f64],
    positions: Vec<[f64; 3]>,
    quaternions_wxyz: Vec<[f64; 4]>,
    contact_points: Vec<Point>,
}

/// Values under the fields' names.
struct Numbers<'a>(&'a [f64]);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (number, value) in NUMBERS.iter().zip(self.0) {
            map.serialize_entry(number.field, value)?;
        }
        map.end()
    }
}

/// A contact: where, and the force on the side that moves, world, m and N.
#[derive(Serialize)]
struct Point {
    position: [f64; 3],
    force: [f64; 3],
}

impl<'a> Recorded<'a> {
    fn new(animation: &'a Animation) -> Self {
        let point = |c: &ContactMarker| Point {
            position: c.position.to_array(),
            force: c.force.to_array(),
        };
        let sample = |f: &'a forks_io::animation::AnimationFrame| Sample {
            time: f.time,
            numbers: Numbers(&f.values),
            driven: f.values.get(NUMBERS.len()..).unwrap_or_default(),
            positions: f.world_from_body.iter().map(|p| p.translation.to_array()).collect(),
            quaternions_wxyz: f
                .world_from_body
                .iter()
                .map(|p| wxyz_from_quaternion(p.rotation))
                .collect(),
            contact_points: f.contacts.iter().map(point).collect(),
        };
        Self {
            title: &animation.title,
            links: animation.bodies.iter().map(|b| b.name.as_str()).collect(),
            driven: animation.series.iter().skip(NUMBERS.len()).map(|s| &s.name[..]).collect(),
            samples: animation.frames.iter().map(sample).collect(),
        }
    }
}
