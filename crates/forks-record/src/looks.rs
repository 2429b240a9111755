//! What links look like by their model: forms, and mesh files, each read once.

use std::collections::BTreeMap;

use forks_io::animation::{Colour, VisualShape};
use forks_lie::Pose;
use forks_mechanism::{Geometry, LinkId, Mechanism, MeshFile, Surface};
use forks_mesh::Piece;

/// Shapes of links that have a look, and a sentence about what could not be read.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    pub(crate) of: BTreeMap<LinkId, Vec<VisualShape>>,
    pub(crate) note: Option<String>,
}

impl Looks {
    /// Of a mechanism; what has no colour gets `default`.
    pub(crate) fn new(m: &Mechanism, default: Colour) -> Self {
        let mut out = Self::default();
        let mut files: Vec<(&MeshFile, Vec<Piece>)> = Vec::new();
        let mut failed: Vec<String> = Vec::new();
        let shape = |form: Geometry, at: Pose, colour: Option<[u8; 4]>| {
            let colour = colour.map_or(default, |[r, g, b, a]| Colour::rgb(r, g, b).with_alpha(a));
            VisualShape::new(form).at(at).coloured(colour)
        };
        for look in m.looks() {
            let at = look.link_from_look;
            let shapes: Vec<VisualShape> = match &look.surface {
                Surface::Form(Geometry::Plane) if look.link != LinkId::WORLD => continue,
                Surface::Form(form) => vec![shape(form.clone(), at, look.colour)],
                Surface::File(file) => {
                    let known = files.iter().position(|(f, _)| *f == file);
                    let k = known.unwrap_or_else(|| {
                        let pieces = forks_mesh::open(file).map(|m| m.pieces());
                        files.push((
                            file,
                            pieces.unwrap_or_else(|e| {
                                failed.push(format!("{}: {e}", file.path.display()));
                                Vec::new()
                            }),
                        ));
                        files.len() - 1
                    });
                    let pieces = files[k].1.iter();
                    pieces
                        .map(|p| shape(p.mesh.clone().into(), at, look.colour.or(p.colour)))
                        .collect()
                }
            };
            if !shapes.is_empty() {
                out.of.entry(look.link).or_default().extend(shapes);
            }
        }
        out.note = failed.first().map(|first| match failed.len() {
            1 => format!("a mesh file is not drawn: {first}"),
            n => format!("{n} mesh files are not drawn, the first one is {first}"),
        });
        out
    }
}
