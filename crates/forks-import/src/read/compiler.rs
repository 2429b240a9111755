//! `<compiler>` and `<option>`: settings that change what other numbers mean. Several elements of
//! each merge; the last value wins.

use forks_mechanism::lie::glam::DVec3;

use super::Reader;
use crate::{ImportError, note::Effect, xml::Element};

/// Settings of the whole model.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    /// Angles are in degrees.
    pub(crate) degrees: bool,
    /// Axes of `euler` rotations: lower case turn with the frame, upper case stay.
    pub(crate) euler_sequence: [u8; 3],
    /// A range without `limited` limits.
    pub(crate) auto_limits: bool,
    /// `None`: where there is no inertial element.
    pub(crate) inertia_from_geom: Option<bool>,
    /// Geom groups that give inertia.
    pub(crate) inertia_groups: [f64; 2],
    /// Mass to scale the model to.
    pub(crate) total_mass: Option<f64>,
    /// Least mass of a body.
    pub(crate) least_mass: f64,
    /// Least principal moment of a body.
    pub(crate) least_inertia: f64,
    /// Replace impossible principal moments by their mean.
    pub(crate) balance_inertia: bool,
    /// The file asks for it.
    pub(crate) asks_for_balance: bool,
    /// Directory of assets, beside the main file.
    asset_directory: String,
    /// Directories of meshes and textures where they differ from that.
    own_mesh_directory: Option<String>,
    own_texture_directory: Option<String>,
    /// Files are found by their last name alone.
    pub(crate) strip_path: bool,
    /// Primitives are fitted around the vertices of a mesh instead of to its moments.
    pub(crate) fit_around: bool,
    /// Gravity, as the flag leaves it.
    pub(crate) gravity: DVec3,
    /// Gravity is switched off.
    pub(crate) no_gravity: bool,
    /// Springs are switched off.
    pub(crate) no_springs: bool,
    /// Dampers are switched off.
    pub(crate) no_dampers: bool,
    /// Equalities are switched off.
    pub(crate) no_equalities: bool,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            degrees: true,
            euler_sequence: *b"xyz",
            auto_limits: true,
            inertia_from_geom: None,
            inertia_groups: [0.0, 5.0],
            total_mass: None,
            least_mass: 0.0,
            least_inertia: 0.0,
            balance_inertia: false,
            asks_for_balance: false,
            asset_directory: String::new(),
            own_mesh_directory: None,
            own_texture_directory: None,
            strip_path: false,
            fit_around: false,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            no_gravity: false,
            no_springs: false,
            no_dampers: false,
            no_equalities: false,
        }
    }
}

impl Compiler {
    /// Where meshes and height fields are.
    pub(crate) fn mesh_directory(&self) -> String {
        self.own_mesh_directory.as_ref().unwrap_or(&self.asset_directory).clone()
    }

    /// Where textures are.
    pub(crate) fn texture_directory(&self) -> String {
        self.own_texture_directory.as_ref().unwrap_or(&self.asset_directory).clone()
    }

    /// An angle of the file in radians.
    pub(crate) fn angle(&self, x: f64) -> f64 {
        if self.degrees { x / 180.0 * std::f64::consts::PI } else { x }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn read_compiler(&mut self, e: &'a Element) -> Result<(), ImportError> {
        let a = self.attributes("compiler", e)?;
        let c = &mut self.compiler;
        if let Some(w) = a.keyword("angle", &["degree", "radian"])? {
            c.degrees = w == "degree";
        }
        a.keyword("coordinate", &["local"])?;
        if let Some(s) = a.text("eulerseq") {
            let ok = |s: &&str| s.len() == 3 && s.bytes().all(|b| b"xyzXYZ".contains(&b));
            let Some(s) = Some(s).filter(ok) else {
                return Err(a.invalid("eulerseq", "must be three letters out of x, y, z, X, Y, Z"));
            };
            c.euler_sequence.copy_from_slice(s.as_bytes());
        }
        if let Some(b) = a.boolean("autolimits")? {
            c.auto_limits = b;
        }
        if let Some(w) = a.keyword("inertiafromgeom", &["false", "true", "auto"])? {
            c.inertia_from_geom = (w != "auto").then_some(w == "true");
        }
        if let Some(r) = a.array("inertiagrouprange")? {
            c.inertia_groups = r;
        }
        if let Some(m) = a.number("settotalmass")? {
            c.total_mass = (m > 0.0).then_some(m);
        }
        if let Some(m) = a.not_negative("boundmass")? {
            c.least_mass = m;
        }
        if let Some(i) = a.not_negative("boundinertia")? {
            c.least_inertia = i;
        }
        if let Some(b) = a.boolean("balanceinertia")? {
            c.balance_inertia = b;
            c.asks_for_balance = b;
        }
        if let Some(d) = a.text("assetdir") {
            c.asset_directory = d.to_owned();
        }
        if let Some(d) = a.text("meshdir") {
            c.own_mesh_directory = Some(d.to_owned());
        }
        if let Some(d) = a.text("texturedir") {
            c.own_texture_directory = Some(d.to_owned());
        }
        if let Some(b) = a.boolean("strippath")? {
            c.strip_path = b;
        }
        if let Some(b) = a.boolean("fitaabb")? {
            c.fit_around = b;
        }
        for child in self.tree.children(e) {
            if child.tag != "lengthrange" {
                self.unknown_element(child, "compiler")?;
            }
        }
        Ok(())
    }

    pub(crate) fn read_option(&mut self, e: &'a Element) -> Result<(), ImportError> {
        let a = self.attributes("option", e)?;
        if let Some(g) = a.vector("gravity")? {
            self.compiler.gravity = g;
        }
        for child in self.tree.children(e) {
            if child.tag == "flag" {
                self.read_flags(child)?;
            } else {
                self.unknown_element(child, "option")?;
            }
        }
        Ok(())
    }

    fn read_flags(&mut self, e: &'a Element) -> Result<(), ImportError> {
        let a = self.attributes("flag", e)?;
        let off = |name| {
            Ok::<_, ImportError>(a.keyword(name, &["enable", "disable"])?.map(|w| w == "disable"))
        };
        for (name, reason) in [
            ("spring", "the flag switches springs off"),
            ("damper", "the flag switches dampers off"),
            ("equality", "the flag switches equalities off"),
            ("constraint", "the flag switches equalities off"),
        ] {
            if off(name)? == Some(true) {
                self.notes.once("flag", name, Effect::Ignored, reason, &a.at);
            }
        }
        let c = &mut self.compiler;
        c.no_gravity = off("gravity")?.unwrap_or(c.no_gravity);
        c.no_springs = off("spring")?.unwrap_or(c.no_springs);
        c.no_dampers = off("damper")?.unwrap_or(c.no_dampers);
        for name in ["equality", "constraint"] {
            c.no_equalities = off(name)?.unwrap_or(c.no_equalities);
        }
        Ok(())
    }
}
