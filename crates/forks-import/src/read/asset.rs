//! `<asset>`: meshes, which are opened only where a geom takes inertia or a fitted primitive from
//! them. Files that are not there are notes.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use forks_mechanism::{
    Geometry, MeshFile, Surface,
    geometry::mesh::{MassRule, Mesh, MeshMass},
    lie::{Pose, glam::DVec3},
};

use super::{Attributes, Names, Reader, geom::colour, names::MeshId, orientation::unit_quaternion};
use crate::{ImportError, note::Effect, xml::Element};

/// A mesh as it is written.
#[derive(Clone, Debug)]
pub(crate) struct MeshAsset {
    source: Source,
    rule: MassRule,
    scale: DVec3,
    reference: Pose,
    /// The mesh, once it was needed, or why there is none.
    loaded: Option<Result<Mesh, String>>,
}

/// Where the triangles are.
#[derive(Clone, Debug)]
enum Source {
    File { name: String, path: Option<PathBuf> },
    Inline(Mesh),
    Unknown(&'static str),
}

/// All assets that geoms refer to.
#[derive(Clone, Debug)]
pub(crate) struct Assets {
    meshes: Vec<MeshAsset>,
    mesh_names: Names<MeshId>,
    field_names: Names<()>,
    materials: HashMap<String, [u8; 4]>,
}

impl Default for Assets {
    fn default() -> Self {
        let (mesh_names, field_names) = (Names::new("mesh"), Names::new("hfield"));
        Self { meshes: vec![], mesh_names, field_names, materials: HashMap::new() }
    }
}

impl Assets {
    /// The mesh that a geom names.
    pub(crate) fn mesh(&self, a: &Attributes<'_>) -> Result<MeshId, ImportError> {
        self.mesh_names.required(a, "mesh")
    }

    /// Checks the height field that a geom names.
    pub(crate) fn field(&self, a: &Attributes<'_>) -> Result<(), ImportError> {
        self.field_names.required(a, "hfield").map(|_| ())
    }

    /// Mass properties of a mesh in its own frame.
    pub(crate) fn mass(&mut self, mesh: MeshId) -> Result<MeshMass, String> {
        let rule = self.meshes[mesh.0].rule;
        let mass = self.load(mesh)?.mass(rule);
        mass.map_err(|e| format!("mesh {} has no inertia: {e}", self.label(mesh)))
    }

    fn label(&self, mesh: MeshId) -> String {
        match &self.meshes[mesh.0].source {
            Source::File { name, .. } => format!("file '{name}'"),
            _ => "of vertices in the file".into(),
        }
    }

    fn load(&mut self, mesh: MeshId) -> Result<&Mesh, String> {
        if self.meshes[mesh.0].loaded.is_none() {
            let label = self.label(mesh);
            let m = &mut self.meshes[mesh.0];
            let raw = match &m.source {
                Source::Unknown(reason) => Err((*reason).to_owned()),
                Source::Inline(m) => m.clone().checked().map_err(|e| e.to_string()),
                Source::File { path: None, .. } => {
                    Err("text that came from no file has no files beside it".into())
                }
                Source::File { path: Some(path), .. } => {
                    forks_mesh::load(path).map(|m| m.mesh).map_err(|e| e.to_string())
                }
            };
            let placed = raw.map(|raw| raw.placed(&m.reference, m.scale));
            m.loaded = Some(placed.map_err(|e| format!("mesh {label}: {e}")));
        }
        self.meshes[mesh.0].loaded.as_ref().expect("set above").as_ref().map_err(String::clone)
    }

    /// A primitive of a kind that stands for a mesh, and its pose in the mesh's frame.
    pub(crate) fn fitted(
        &mut self,
        mesh: MeshId,
        kind: &str,
        around_vertices: bool,
        scale: f64,
    ) -> Result<(Pose, Geometry), String> {
        let mass = self.mass(mesh)?;
        Ok(forks_mesh::fitted(self.load(mesh)?, &mass, kind, around_vertices, scale))
    }

    /// The convex hull of a mesh.
    pub(crate) fn hull(&mut self, mesh: MeshId) -> Result<Geometry, String> {
        let hull = forks_mesh::hull(self.load(mesh)?);
        hull.ok_or_else(|| format!("mesh {} has no hull, for it is flat", self.label(mesh)))
    }

    /// What is drawn of a mesh, if its file is there.
    pub(crate) fn surface(&self, mesh: MeshId) -> Option<Surface> {
        let m = &self.meshes[mesh.0];
        let (reference, scale) = (m.reference, m.scale);
        match &m.source {
            Source::File { path: Some(path), .. } if path.is_file() => {
                Some(Surface::File(MeshFile { path: path.clone(), reference, scale }))
            }
            Source::Inline(mesh) => {
                let mesh = mesh.clone().placed(&reference, scale);
                Some(Surface::Form(match mesh.faces.is_empty() {
                    true => forks_mesh::hull(&mesh)?,
                    false => mesh.checked().ok()?.into(),
                }))
            }
            _ => None,
        }
    }

    /// The colour of a material that is known and has one.
    pub(crate) fn material(&self, name: &str) -> Option<[u8; 4]> {
        self.materials.get(name).copied()
    }
}

impl<'a> Reader<'a> {
    /// Reads an asset section.
    pub(crate) fn read_assets(&mut self, section: &'a Element) -> Result<(), ImportError> {
        for e in self.tree.children(section) {
            match e.tag.as_str() {
                "mesh" => self.read_mesh(e)?,
                "hfield" => {
                    let a = self.attributes("hfield", e)?;
                    name_asset(&a, &mut self.assets.field_names, ())?;
                    self.note_missing(&a, "file", &self.compiler.mesh_directory());
                }
                "texture" => {
                    let a = Attributes::new("texture", self.tree, e, &[]);
                    self.note_missing(&a, "file", &self.compiler.texture_directory());
                }
                "material" => {
                    let a = Attributes::new("material", self.tree, e, &[]);
                    if let (Some(name), Some(colour)) = (a.name(), colour(&a)?) {
                        self.assets.materials.insert(name.to_owned(), colour);
                    }
                }
                "skin" | "model" => self.whole_element(&e.tag, e)?,
                _ => self.unknown_element(e, "asset")?,
            }
        }
        Ok(())
    }

    fn read_mesh(&mut self, e: &'a Element) -> Result<(), ImportError> {
        let a = self.with_defaults("mesh", "mesh", e, None)?;
        let plugin = self.tree.children(e).any(|c| c.tag == "plugin");
        for child in self.tree.children(e).filter(|c| c.tag != "plugin") {
            self.unknown_element(child, "mesh")?;
        }
        let directory = self.compiler.mesh_directory();
        let rule = match a.keyword("inertia", &["convex", "exact", "legacy", "shell"])? {
            Some("convex") => MassRule::Convex,
            Some("exact") => MassRule::Exact,
            Some("shell") => MassRule::Shell,
            _ => MassRule::Legacy,
        };
        let source = if plugin {
            Source::Unknown("it is made by a plugin")
        } else if a.has("builtin") {
            Source::Unknown("it is made by a rule ('builtin') that is not known here")
        } else if let Some(v) = a.numbers("vertex", 0, usize::MAX)? {
            Source::Inline(inline(&a, &v)?)
        } else {
            let name = a.required("file")?.to_owned();
            self.note_missing(&a, "file", &directory);
            Source::File { path: self.asset_path(&name, &directory), name }
        };
        if rule == MassRule::Convex && a.number("maxhullvert")?.is_some_and(|n| n > 0.0) {
            let reason = "its hull keeps all vertices";
            self.notes.add(a.label(), "maxhullvert", Effect::Approximated, reason, &a.at);
        }
        let [w, x, y, z] = a.array("refquat")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
        let rotation = unit_quaternion([w, x, y, z])
            .ok_or_else(|| a.invalid("refquat", "is the zero quaternion"))?;
        let id = MeshId(self.assets.meshes.len());
        self.assets.meshes.push(MeshAsset {
            source,
            rule,
            scale: a.vector("scale")?.unwrap_or(DVec3::ONE),
            reference: Pose::new(rotation, a.vector("refpos")?.unwrap_or(DVec3::ZERO)),
            loaded: None,
        });
        name_asset(&a, &mut self.assets.mesh_names, id)
    }

    /// Where a file of a model is: beside the main file, in the directory that the compiler element
    /// names.
    fn asset_path(&self, name: &str, directory: &str) -> Option<PathBuf> {
        let main = Path::new(self.tree.files.first()?);
        let name = Path::new(name);
        let name = if self.compiler.strip_path { Path::new(name.file_name()?) } else { name };
        Some(main.parent().unwrap_or(Path::new("")).join(directory).join(name))
    }

    fn note_missing(&mut self, a: &Attributes<'_>, attribute: &str, directory: &str) {
        let Some(name) = a.text(attribute).filter(|n| !n.is_empty()) else { return };
        if self.asset_path(name, directory).is_some_and(|p| p.is_file()) {
            return;
        }
        let reason = format!("there is no file '{name}' beside the model");
        self.notes.add(a.label(), attribute, Effect::Ignored, reason, &a.at);
    }
}

/// Enters an asset under its name; one without is called as its file.
fn name_asset<I: Copy>(a: &Attributes<'_>, names: &mut Names<I>, id: I) -> Result<(), ImportError> {
    if a.name().is_some() {
        return names.insert(a, id);
    }
    let Some(stem) = a.text("file").and_then(|f| Path::new(f).file_stem()?.to_str()) else {
        return Err(a.error("attribute 'name' is missing"));
    };
    if names.find(stem).is_some() {
        return Err(ImportError::DuplicateName {
            at: Box::new(a.at.clone()),
            kind: names.kind(),
            name: stem.into(),
        });
    }
    names.insert_text(stem, id);
    Ok(())
}

/// A mesh whose vertices, and maybe faces, stand in the file.
fn inline(a: &Attributes<'_>, v: &[f64]) -> Result<Mesh, ImportError> {
    if !v.len().is_multiple_of(3) {
        return Err(a.invalid("vertex", "does not hold three numbers for each vertex"));
    }
    let vertices = v.chunks_exact(3).map(DVec3::from_slice).collect();
    let indices = a.numbers("face", 0, usize::MAX)?.unwrap_or_default();
    if !indices.len().is_multiple_of(3) {
        return Err(a.invalid("face", "does not hold three numbers for each triangle"));
    }
    if indices.iter().any(|&i| i < 0.0 || i.fract() != 0.0) {
        return Err(a.invalid("face", "holds something that is no vertex number"));
    }
    let faces = indices.chunks_exact(3).map(|f| [f[0] as usize, f[1] as usize, f[2] as usize]);
    Ok(Mesh { faces: faces.collect(), vertices })
}
