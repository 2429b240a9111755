//! The writer: a mechanism as MJCF text that reads back to the same mechanism.

mod bodies;
mod chain;
mod combinations;
mod couplings;
mod loops;
mod names;
mod xml;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use forks_mechanism::{JointId, Mechanism};
use thiserror::Error;

use crate::note::{Effect, Note};
use chain::Chain;
use names::Names;
use xml::{Xml, numbers};

/// Why a mechanism cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// MJCF has nothing that means the same.
    #[error("{element} cannot be written as MJCF: {reason}")]
    Unsupported {
        /// The element.
        element: String,
        /// Why.
        reason: String,
    },
    /// MJCF needs mass and inertia in every body with joints.
    #[error(
        "link '{link}' cannot be written as MJCF: it moves, but neither it nor a link welded to it has mass and inertia"
    )]
    Massless {
        /// The link.
        link: String,
    },
    /// The file cannot be written.
    #[error("{file}: cannot write the file: {source}")]
    Io {
        /// The file.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
}

/// Writes a mechanism as MJCF text.
///
/// Numbers are printed so that they read back to the same bits. The notes name what reads back differently:
/// coordinates that MJCF orders or counts in another way, joints that become chains of hinges and slides, names.
///
/// # Errors
/// What MJCF cannot express: general joints, bushings, springs with coupled axes, loop-closing joints other than
/// fixed, spherical and revolute, couplings that are not y = p(x) with p of degree four or less, moving links
/// without mass.
pub fn write_mjcf(m: &Mechanism) -> Result<(String, Vec<Note>), WriteError> {
    let mut writer = Writer::new(m);
    let text = writer.document()?;
    Ok((text, writer.notes))
}

/// Writes a mechanism to a file: first to a temporary file beside it, which then takes its name.
///
/// # Errors
/// As [`write_mjcf`], and where the file system refuses.
pub fn save_mjcf(m: &Mechanism, path: &Path) -> Result<Vec<Note>, WriteError> {
    let (text, notes) = write_mjcf(m)?;
    let temporary = temporary_name(path);
    let result = std::fs::File::create(&temporary)
        .and_then(|mut f| f.write_all(text.as_bytes()).and_then(|()| f.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path));
    result.map_err(|source| {
        // What is left of a failed attempt is of no use.
        let _ = std::fs::remove_file(&temporary);
        WriteError::Io { file: path.display().to_string(), source }
    })?;
    Ok(notes)
}

fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// What all parts of the writer need.
struct Writer<'a> {
    m: &'a Mechanism,
    /// Start positions: MuJoCo's qpos0.
    start: Vec<f64>,
    chains: Vec<Chain>,
    names: Names,
    notes: Vec<Note>,
    /// Lines of the tendon section, filled by springs, couplings and servos.
    tendons: Xml,
    /// Sites added for loops, with the link that carries them.
    sites: Vec<(usize, String)>,
}

impl<'a> Writer<'a> {
    fn new(m: &'a Mechanism) -> Self {
        Self {
            m,
            start: m.start_positions(),
            chains: Vec::new(),
            names: Names::default(),
            notes: Vec::new(),
            tendons: Xml::new(2),
            sites: Vec::new(),
        }
    }

    fn document(&mut self) -> Result<String, WriteError> {
        if let Some(b) = self.m.bushings().first() {
            return Err(unsupported(
                format!("bushing '{}'", b.name),
                "MJCF has no six-dimensional springs between bodies",
            ));
        }
        self.chains = self.find_chains()?;
        self.names = Names::new(self.m, &self.chains, &mut self.notes);
        self.note_order();
        // Loops may add sites, springs and servos add tendons: they come first, their text later.
        let equalities = self.equalities()?;
        self.springs()?;
        let servos = self.servos()?;
        let bodies = self.bodies()?;
        let mut x = Xml::new(0);
        x.open("mujoco", &[("model", self.m.name().to_owned())]);
        x.empty(
            "compiler",
            &[
                ("angle", "radian".into()),
                ("autolimits", "false".into()),
                ("inertiafromgeom", "false".into()),
            ],
        );
        x.empty("option", &[("gravity", numbers(&self.m.gravity().to_array()))]);
        x.section("worldbody", &bodies);
        x.section("tendon", &self.tendons);
        x.section("equality", &equalities);
        x.section("actuator", &servos);
        x.section("keyframe", &self.keyframes());
        x.close("mujoco");
        Ok(x.text)
    }

    /// Positions follow the bodies in MJCF; here they follow the joints.
    fn note_order(&mut self) {
        let order: Vec<JointId> =
            self.chains.iter().flat_map(|c| c.joints.iter().map(|j| j.id)).collect();
        if !order.is_sorted() {
            self.note(
                "mechanism",
                "positions",
                Effect::Approximated,
                "positions are ordered by depth-first links",
            );
        }
    }

    fn note(&mut self, element: impl Into<String>, attribute: &str, effect: Effect, reason: &str) {
        self.notes.push(Note {
            element: element.into(),
            attribute: attribute.into(),
            effect,
            reason: reason.into(),
            file: None,
            line: None,
        });
    }

    /// What a joint is called in messages.
    fn label(&self, id: JointId) -> String {
        format!("joint '{}'", self.m.joint_label(id))
    }

    fn keyframes(&self) -> Xml {
        let mut x = Xml::new(2);
        for k in self.m.keyframes() {
            let mut q = Vec::new();
            for j in self.chains.iter().flat_map(|c| &c.joints) {
                q.extend(j.written_positions(self.m, &k.positions[self.m.position_range(j.id)]));
            }
            let mut attributes = vec![("qpos", numbers(&q))];
            if !k.name.is_empty() {
                attributes.insert(0, ("name", k.name.clone()));
            }
            x.empty("key", &attributes);
        }
        x
    }
}

fn unsupported(element: impl Into<String>, reason: &str) -> WriteError {
    WriteError::Unsupported { element: element.into(), reason: reason.into() }
}
