//! The writer: a mechanism as MJCF text that reads back to the same mechanism.

mod bodies;
mod cables;
mod chain;
mod closing_angle;
mod combinations;
mod couplings;
mod forces;
mod loops;
mod names;
mod scene;
mod xml;

use std::{collections::HashSet, path::Path};

use forks_mechanism::{CablePoint, JointId, LinkId, Mechanism, lie::Pose};
use thiserror::Error;

use crate::note::{Effect, Note};
use chain::Chain;
use names::Names;
pub use scene::MjcfScene;
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
        "link '{link}' cannot be written as MJCF: it moves, but neither it nor a link welded to it \
        has mass and inertia"
    )]
    Massless {
        /// The link.
        link: String,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Io(#[from] forks_io::IoError),
}

/// How to write a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Leave out forces and couplings that MJCF cannot express and note them, instead of refusing
    /// the mechanism. Default: `false`.
    pub lenient: bool,
    /// Hang all bodies on one that does not move. MuJoCo needs no such body, but Pinocchio 4.1
    /// drops the joints of all bodies in the world but one. Default: `false`.
    pub one_root: bool,
}

/// Writes a mechanism as MJCF text.
///
/// Numbers are printed so that they read back to the same bits. The notes name what reads back
/// differently: coordinates that MJCF orders or counts in another way, joints that become chains of
/// hinges and slides, springs that become tendons, names.
///
/// # Errors
/// What MJCF cannot express: general joints other than slides and one hinge, bushings, springs of
/// balls that differ between axes, springs in loop-closing joints whose loop has axes that are not
/// parallel, loop-closing joints other than fixed, spherical and revolute, couplings that are not y
/// = p(x) with p of degree four or less, moving links without mass.
pub fn write_mjcf(m: &Mechanism) -> Result<(String, Vec<Note>), WriteError> {
    write_mjcf_with(m, &WriteOptions::default())
}

/// As [`write_mjcf`], with options.
///
/// # Errors
/// As [`write_mjcf`]; with [`WriteOptions::lenient`] only what would change kinematics or inertia.
pub fn write_mjcf_with(
    m: &Mechanism,
    options: &WriteOptions,
) -> Result<(String, Vec<Note>), WriteError> {
    let mut writer = Writer::new(m, options, None);
    let text = writer.document()?;
    Ok((text, writer.notes))
}

/// As [`write_mjcf`], with what a simulator with contact needs beside the mechanism.
///
/// # Errors
/// As [`write_mjcf`], and forms, pairs, velocities or controls that do not fit the mechanism.
pub fn write_mjcf_scene(
    m: &Mechanism,
    scene: &MjcfScene,
) -> Result<(String, Vec<Note>), WriteError> {
    scene.check(m)?;
    let mut writer = Writer::new(m, &WriteOptions::default(), Some(scene));
    let text = writer.document()?;
    Ok((text, writer.notes))
}

/// Writes a mechanism to a file; see [`forks_io::write_atomically`].
///
/// # Errors
/// As [`write_mjcf`], and where the file system refuses.
pub fn save_mjcf(m: &Mechanism, path: &Path) -> Result<Vec<Note>, WriteError> {
    let (text, notes) = write_mjcf(m)?;
    forks_io::write_atomically(path, text.as_bytes())?;
    Ok(notes)
}

/// What all parts of the writer need.
struct Writer<'a> {
    m: &'a Mechanism,
    /// Forces that cannot be written are notes.
    lenient: bool,
    one_root: bool,
    /// What the file says beside the mechanism.
    scene: Option<&'a MjcfScene>,
    /// Start positions: MuJoCo's qpos0.
    start: Vec<f64>,
    /// Poses of all links there, and the mechanism's size.
    poses: Vec<Pose>,
    size: f64,
    /// Shapes and frames of each link.
    shapes_of: Vec<Vec<usize>>,
    frames_of: Vec<Vec<usize>>,
    /// Links at loop-closing joints.
    closed_links: HashSet<LinkId>,
    chains: Vec<Chain>,
    names: Names,
    notes: Vec<Note>,
    /// Lines of the tendon section, filled by springs, couplings and servos.
    tendons: Xml,
    /// Names of the cables' tendons; `None` where a cable is not written.
    cable_names: Vec<Option<String>>,
    /// Points of cables with the sites added for them.
    cable_sites: Vec<(CablePoint, String)>,
    /// Sites and geoms added for loops and cables, with the link that carries them.
    sites: Vec<(usize, String)>,
    /// Numbers of the servos that became actuators.
    actuators: Vec<usize>,
    /// Names of the assets of the scene's forms.
    assets: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(m: &'a Mechanism, options: &WriteOptions, scene: Option<&'a MjcfScene>) -> Self {
        let start = m.start_positions();
        let poses = m.link_poses(&start);
        let closures = m.forest().closures().iter().map(|&id| m.joint(id));
        Self {
            m,
            lenient: options.lenient,
            one_root: options.one_root,
            scene,
            size: m.bounding_radius(&poses),
            poses,
            start,
            shapes_of: by_link(m, m.shapes().iter().map(|s| s.link)),
            frames_of: by_link(m, m.frames().iter().map(|f| f.link)),
            closed_links: closures.flat_map(|j| [j.parent, j.child]).collect(),
            chains: Vec::new(),
            names: Names::default(),
            notes: Vec::new(),
            tendons: Xml::new(2),
            cable_names: Vec::new(),
            cable_sites: Vec::new(),
            sites: Vec::new(),
            actuators: Vec::new(),
            assets: Vec::new(),
        }
    }

    fn document(&mut self) -> Result<String, WriteError> {
        for b in self.m.bushings() {
            let reason = "MJCF has no six-dimensional springs between bodies";
            self.refuse(&format!("bushing '{}'", b.name), "", reason)?;
        }
        self.chains = self.find_chains()?;
        self.names = Names::new(self.m, &self.chains, &mut self.notes);
        self.note_order();
        // Loops may add sites, springs and servos add tendons: they come first, their text later.
        let equalities = self.equalities()?;
        self.springs()?;
        self.cables()?;
        let servos = self.servos()?;
        let assets = self.assets();
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
        let gravity = ("gravity", numbers(&self.m.gravity().to_array()));
        let options = std::iter::once(gravity).chain(self.contact_options());
        x.empty("option", &options.collect::<Vec<_>>());
        x.section("asset", &assets);
        x.section("worldbody", &bodies);
        x.section("tendon", &self.tendons);
        x.section("equality", &equalities);
        x.section("actuator", &servos);
        x.section("contact", &self.exclusions());
        x.section("keyframe", &self.keyframes());
        x.close("mujoco");
        xml::check(&x.text)?;
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

    /// Refuses a force or coupling that MJCF cannot express; notes it where that was asked for.
    fn refuse(&mut self, element: &str, attribute: &str, reason: &str) -> Result<(), WriteError> {
        if !self.lenient {
            return Err(unsupported(element, reason));
        }
        self.note(element, attribute, Effect::Ignored, reason);
        Ok(())
    }

    fn note(&mut self, element: impl Into<String>, attribute: &str, effect: Effect, reason: &str) {
        self.notes.push(Note::new(element, attribute, effect, reason));
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
            attributes.extend(self.start_motion(&q));
            x.empty("key", &attributes);
        }
        x
    }
}

/// Indices of things by the link that carries them.
fn by_link(m: &Mechanism, links: impl Iterator<Item = LinkId>) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); m.links().len()];
    links.enumerate().for_each(|(i, l)| out[l.index()].push(i));
    out
}

fn unsupported(element: impl Into<String>, reason: &str) -> WriteError {
    WriteError::Unsupported { element: element.into(), reason: reason.into() }
}
