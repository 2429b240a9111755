//! `<visual>` and mesh files: what is drawn, and the hulls of what collides. What cannot be read of
//! a look is left out with a note, for it changes nothing that moves.

use std::{collections::HashMap, path::Path};

use forks_mechanism::{
    Geometry, MeshFile, Surface,
    lie::{Pose, glam::DVec3},
};

use super::{
    Reader,
    link::{RawLook, is_empty},
};
use crate::{
    ImportError,
    note::{Effect, HULLS},
    read::{Attributes, geom},
    xml::{Element, Tree},
};

/// The colours of all materials that have one, by name: they may be used before they are given.
pub(super) fn materials(tree: &Tree) -> HashMap<&str, [u8; 4]> {
    let mut out = HashMap::new();
    for m in tree.elements.iter().filter(|e| e.tag == "material") {
        if let (Some(name), Some(colour)) = (m.attribute("name"), colour(tree, m)) {
            out.entry(name).or_insert(colour);
        }
    }
    out
}

/// The colour of a material by itself.
fn colour(tree: &Tree, material: &Element) -> Option<[u8; 4]> {
    let colour = tree.children(material).find(|c| c.tag == "color")?;
    geom::colour(&Attributes::new("color", tree, colour, &[])).ok()?
}

impl<'a> Reader<'a> {
    pub(super) fn read_look(&mut self, e: &'a Element) -> Option<RawLook> {
        self.look(e).unwrap_or_else(|problem| {
            let reason = format!("it is not drawn: {problem}");
            self.notes.add("visual", "", Effect::Ignored, reason, &self.tree.location(e));
            None
        })
    }

    fn look(&mut self, e: &'a Element) -> Result<Option<RawLook>, ImportError> {
        let link_from_look = self.origin(e)?;
        let form = self.tree.children(e).find(|c| c.tag == "geometry");
        let Some(form) = form.and_then(|g| self.tree.children(g).next()) else { return Ok(None) };
        let surface = match form.tag.as_str() {
            "mesh" => self.mesh_file(form)?.map(Surface::File),
            _ => self.read_form(form)?.filter(|g| !is_empty(g)).map(Surface::Form),
        };
        let material = self.tree.children(e).find(|c| c.tag == "material");
        let colour = material.and_then(|m| {
            let known = m.attribute("name").and_then(|n| self.materials.get(n).copied());
            colour(self.tree, m).or(known)
        });
        let shown = colour.is_none_or(|c| c[3] > 0);
        Ok(surface.filter(|_| shown).map(|s| (link_from_look, s, colour)))
    }

    /// The file of a `<mesh>`, if it is there; missing ones are noted once each.
    fn mesh_file(&mut self, e: &'a Element) -> Result<Option<MeshFile>, ImportError> {
        let a = self.attributes("mesh", e);
        let name = a.required("filename")?;
        let scale = a.vector("scale")?.unwrap_or(DVec3::ONE);
        let folder =
            self.tree.files.first().map(|f| Path::new(f).parent().unwrap_or(Path::new("")));
        let path = folder.and_then(|folder| forks_mesh::locate(name, folder));
        if path.is_none() && self.missing.insert(name.to_owned()) {
            let reason = format!("there is no file '{name}' beside the model");
            self.notes.add("mesh", "filename", Effect::Ignored, reason, &a.at);
        }
        Ok(path.map(|path| MeshFile { path, reference: Pose::IDENTITY, scale }))
    }

    /// The hull of a mesh that collides, where hulls are asked for.
    pub(super) fn mesh_hull(&mut self, e: &'a Element) -> Result<Option<Geometry>, ImportError> {
        let Some(file) = self.mesh_file(e)? else { return Ok(None) };
        let at = self.tree.location(e);
        if !self.options.hulls {
            let reason = "collision shapes that are meshes are dropped";
            self.notes.once("mesh", "", Effect::Ignored, reason, &at);
            return Ok(None);
        }
        let hull = match forks_mesh::open_hull(&file) {
            Ok(hull) => hull,
            Err(problem) => {
                let reason = format!("file '{}': {problem}", file.path.display());
                self.notes.add("mesh", "filename", Effect::Ignored, reason, &at);
                return Ok(None);
            }
        };
        self.notes.once("mesh", "", Effect::Approximated, HULLS, &at);
        Ok(Some(hull))
    }
}
