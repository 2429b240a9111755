//! Meshes, materials and bones of a scene's tissue.

use std::{collections::BTreeMap, path::Path};

use forks_deform::{
    Attachment, Material, Model, Range, SoftBody, TetMesh, Window,
    creatures::{self, Base},
    dynamics::mechanism::{LinkId, Mechanism, MechanismBuilder},
    files,
};
use forks_geometry::mesh::Mesh;

use crate::{
    error::{TissueError, invalid},
    ply,
    spec::{AttachSpec, BaseSpec, BodySpec, Creature, MaterialSpec, MeshSpec, ModelSpec},
};

impl MaterialSpec {
    pub(crate) fn law(&self, element: &str) -> Result<Material, TissueError> {
        let range = match self.window {
            Some([lower, upper]) => Range { lower, upper },
            None => Range::PAPER,
        };
        let windowed = |w: fn(Range) -> Window| Model::StVenantKirchhoff(w(range));
        let model = match self.model {
            ModelSpec::Stvk => windowed(Window::LinearStress),
            ModelSpec::PlainStvk => Model::StVenantKirchhoff(Window::None),
            ModelSpec::PublishedStvk => windowed(Window::PerStretch),
            ModelSpec::StableNeoHookean => Model::StableNeoHookean,
            ModelSpec::FixedCorotated => Model::FixedCorotated,
        };
        let strain = matches!(self.model, ModelSpec::Stvk | ModelSpec::PublishedStvk);
        if self.window.is_some() && !strain {
            return Err(invalid(element, "has a window, which its law does not know"));
        }
        Material::new(model, self.young, self.poisson, self.density)
            .map_err(|source| TissueError::Material { element: element.into(), source })
    }
}

/// A skeleton that is made here, with tissue of a material that nobody sees.
pub(crate) fn creature(
    which: Creature,
    base: BaseSpec,
    material: Material,
    element: &str,
) -> Result<creatures::Creature, TissueError> {
    let base = match base {
        BaseSpec::Free => Base::Free,
        BaseSpec::Planar => Base::Planar,
        BaseSpec::Fixed => Base::Fixed,
    };
    let made = match which {
        Creature::Worm => creatures::worm(base, material),
        Creature::Fish => creatures::fish(base, material),
        Creature::Finger => creatures::finger(base, material),
    };
    made.map_err(|source| TissueError::Body { element: element.into(), source })
}

/// A mesh with the named groups of its file.
pub(crate) fn tetrahedra(
    spec: &BodySpec,
    folder: &Path,
    element: &str,
) -> Result<(TetMesh, Groups), TissueError> {
    let of_mesh = |source| TissueError::Mesh { element: element.into(), source };
    let (mesh, groups) = match &spec.mesh {
        MeshSpec::File { file } => {
            let read = files::load(&folder.join(file))
                .map_err(|source| TissueError::File { element: element.into(), source })?;
            (read.mesh, read.groups)
        }
        MeshSpec::Lattice { lattice, cell } => {
            let around = surface(lattice, folder, element)?;
            (TetMesh::lattice(&around, *cell).map_err(of_mesh)?, BTreeMap::new())
        }
        MeshSpec::Parametric { parametric } => {
            let mesh = match parametric {
                Creature::Worm => TetMesh::worm(),
                Creature::Fish => TetMesh::fish(),
                Creature::Finger => TetMesh::finger(),
            };
            (mesh, BTreeMap::new())
        }
        MeshSpec::Box { size, cells } => {
            (TetMesh::kuhn(*cells, (*size).into()).map_err(of_mesh)?, BTreeMap::new())
        }
    };
    Ok((if spec.quadratic { mesh.quadratic() } else { mesh }, groups))
}

/// A closed surface from a file.
pub(crate) fn surface(file: &str, folder: &Path, element: &str) -> Result<Mesh, TissueError> {
    let of = |reason: String| TissueError::Read { file: file.into(), reason };
    let path = folder.join(file);
    let mesh = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("ply")) {
        let bytes = std::fs::read(&path).map_err(|e| of(e.to_string()))?;
        ply::parse(&bytes).and_then(|m| m.checked().map_err(|e| e.to_string())).map_err(of)?
    } else {
        forks_mesh::load(&path).map(|m| m.mesh).map_err(|e| of(e.to_string()))?
    };
    // Files of triangles may repeat corners; a closed surface has every edge twice.
    let mut edges: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for f in &mesh.faces {
        for (a, b) in [(f[0], f[1]), (f[1], f[2]), (f[2], f[0])] {
            *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    match edges.iter().find(|(_, n)| **n % 2 == 1) {
        Some(([a, b], _)) => Err(invalid(
            element,
            format!("needs a closed surface: the edge of vertices {a} and {b} of {file} is open"),
        )),
        None => Ok(mesh),
    }
}

/// Named nodes of a mesh file.
pub(crate) type Groups = BTreeMap<String, Vec<usize>>;

/// A body attached to its skeleton, which is in its own start pose, and the groups of its mesh.
pub(crate) fn body(
    spec: &BodySpec,
    skeleton: &Mechanism,
    folder: &Path,
    element: &str,
) -> Result<(SoftBody, Groups), TissueError> {
    let of_body = |source| TissueError::Body { element: element.into(), source };
    let law = spec.material.law(element)?;
    let (mesh, groups) = tetrahedra(spec, folder, element)?;
    let how = match (&spec.attach, &spec.mesh) {
        (Some(how), _) => Some(attachment(how, &mesh, &groups, skeleton, element)?),
        (None, MeshSpec::Parametric { parametric }) if skeleton.links().len() > 1 => {
            if spec.quadratic {
                return Err(invalid(element, "needs `attach`: its nodes are not the known ones"));
            }
            Some(known(*parametric, law, skeleton, element)?)
        }
        _ => None,
    };
    let mut body = SoftBody::new(mesh, law).map_err(of_body)?;
    if let Some(how) = how {
        body = body.attached(skeleton, &how).map_err(of_body)?;
    }
    if let Some(file) = &spec.surface {
        body = body.with_surface(&surface(file, folder, element)?).map_err(of_body)?;
    }
    Ok((body, groups))
}

/// Which nodes of a parametric mesh are in which bone of the skeleton that is made with it.
fn known(
    which: Creature,
    law: Material,
    skeleton: &Mechanism,
    element: &str,
) -> Result<Attachment, TissueError> {
    let own = creature(which, BaseSpec::Free, law, element)?;
    let mut lists = Vec::new();
    for (id, l) in own.mechanism.moving_links() {
        let link = skeleton.find_link(&l.name).ok_or_else(|| {
            invalid(element, format!("needs `attach`: its skeleton has no link {:?}", l.name))
        })?;
        let nodes = (0..own.body.masses().len()).filter(|&n| own.body.holder(n) == Some(id));
        lists.push((link, nodes.collect()));
    }
    Ok(Attachment::Nodes(lists))
}

fn attachment(
    spec: &AttachSpec,
    mesh: &TetMesh,
    groups: &Groups,
    skeleton: &Mechanism,
    element: &str,
) -> Result<Attachment, TissueError> {
    let link = |name: &String| {
        let found = if name == "world" { Some(LinkId::WORLD) } else { skeleton.find_link(name) };
        found
            .ok_or_else(|| invalid(element, format!("names the link {name:?}, which is not there")))
    };
    let mut lists = Vec::new();
    match spec {
        AttachSpec::Within(distance) => return Ok(Attachment::Within(*distance)),
        AttachSpec::Nodes(nodes) => {
            for (name, nodes) in nodes {
                lists.push((link(name)?, nodes.clone()));
            }
        }
        AttachSpec::Groups(names) => {
            for (name, group) in names {
                lists.push((link(name)?, of_group(groups, group, element)?));
            }
        }
        AttachSpec::Boxes(boxes) => {
            for (name, [low, high]) in boxes {
                let (low, high) = ((*low).into(), (*high).into());
                let nodes = mesh.nodes().iter().enumerate();
                let within = |x: &forks_deform::dynamics::mechanism::lie::glam::DVec3| {
                    x.cmpge(low).all() && x.cmple(high).all()
                };
                let nodes = nodes.filter(|(_, x)| within(x)).map(|(n, _)| n).collect();
                lists.push((link(name)?, nodes));
            }
        }
    }
    if lists.iter().all(|(_, nodes)| nodes.is_empty()) {
        return Err(invalid(element, "attaches no node"));
    }
    Ok(Attachment::Nodes(lists))
}

/// Nodes of a named group.
pub(crate) fn of_group(
    groups: &Groups,
    group: &str,
    element: &str,
) -> Result<Vec<usize>, TissueError> {
    groups.get(group).cloned().ok_or_else(|| {
        let known: Vec<&str> = groups.keys().map(String::as_str).collect();
        let known = known.join(", ");
        invalid(element, format!("names the group {group:?}; the mesh file has: {known}"))
    })
}

/// Nothing but the ground.
pub(crate) fn nothing() -> Result<Mechanism, TissueError> {
    let built = MechanismBuilder::new("ground").build();
    built.map_err(|e| TissueError::Model { element: "the ground".into(), problem: e.to_string() })
}
