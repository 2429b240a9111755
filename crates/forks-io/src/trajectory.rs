//! Trajectories: poses of named bodies, energies and loop gap over time.

use std::path::Path;

use forks_lie::{Pose, so3::wxyz_from_quaternion};
use serde::Serialize;

use crate::{CsvTable, IoError, json};

/// What is recorded at one time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrajectorySample {
    /// Time, s.
    pub time: f64,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Potential energy of gravity, J.
    pub gravitational: f64,
    /// Elastic energy, J.
    pub elastic: f64,
    /// Largest violation of loops and couplings: lengths over the mechanism's size, angles in rad.
    pub loop_gap: f64,
    /// Positions of the links in the world, m.
    pub positions: Vec<[f64; 3]>,
    /// Rotations of the links, unit quaternions.
    pub quaternions_wxyz: Vec<[f64; 4]>,
}

/// Energies and loop gap that go with a set of poses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scalars {
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Potential energy of gravity, J.
    pub gravitational: f64,
    /// Elastic energy, J.
    pub elastic: f64,
    /// Largest violation of loops and couplings.
    pub loop_gap: f64,
}

/// A recording of named links.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trajectory {
    links: Vec<String>,
    samples: Vec<TrajectorySample>,
}

impl Trajectory {
    /// An empty recording of the links with the given names.
    pub fn new<S: Into<String>>(links: impl IntoIterator<Item = S>) -> Self {
        Self { links: links.into_iter().map(Into::into).collect(), samples: Vec::new() }
    }

    /// Names of the links.
    pub fn links(&self) -> &[String] {
        &self.links
    }

    /// All samples so far.
    pub fn samples(&self) -> &[TrajectorySample] {
        &self.samples
    }

    /// Adds a sample: one pose (world from link) per link.
    ///
    /// # Errors
    /// [`IoError::WrongLength`] with the number of the sample.
    pub fn push(&mut self, time: f64, scalars: Scalars, poses: &[Pose]) -> Result<(), IoError> {
        if poses.len() != self.links.len() {
            return Err(IoError::WrongLength {
                row: self.samples.len(),
                found: poses.len(),
                expected: self.links.len(),
            });
        }
        self.samples.push(TrajectorySample {
            time,
            kinetic: scalars.kinetic,
            gravitational: scalars.gravitational,
            elastic: scalars.elastic,
            loop_gap: scalars.loop_gap,
            positions: poses.iter().map(|p| p.translation.to_array()).collect(),
            quaternions_wxyz: poses.iter().map(|p| wxyz_from_quaternion(p.rotation)).collect(),
        });
        Ok(())
    }

    /// As a table: time, energies, loop gap, then seven columns per link.
    ///
    /// # Errors
    /// [`IoError::NotFinite`] with column and row.
    pub fn to_csv(&self) -> Result<CsvTable, IoError> {
        let scalars = ["time (s)", "kinetic (J)", "gravitational (J)", "elastic (J)", "loop gap"];
        let mut columns: Vec<String> = scalars.map(str::to_owned).to_vec();
        for link in &self.links {
            columns.extend(["x (m)", "y (m)", "z (m)"].map(|c| format!("{link} {c}")));
            columns.extend(["qw", "qx", "qy", "qz"].map(|c| format!("{link} {c}")));
        }
        let mut table = CsvTable::new(columns);
        for s in &self.samples {
            let mut row = vec![s.time, s.kinetic, s.gravitational, s.elastic, s.loop_gap];
            for (p, q) in s.positions.iter().zip(&s.quaternions_wxyz) {
                row.extend(p);
                row.extend(q);
            }
            table.push(row)?;
        }
        Ok(table)
    }

    /// Writes a file: JSON if its name ends in `.json`, a CSV table otherwise.
    ///
    /// # Errors
    /// [`IoError::NotFinite`], [`IoError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), IoError> {
        let path = path.as_ref();
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            json::save(path, self)
        } else {
            self.to_csv()?.save(path)
        }
    }
}
