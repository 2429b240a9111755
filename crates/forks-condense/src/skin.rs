//! Surfaces of condensed tissue that follow a reduced model.
//!
//! The twist of a vertex is its displacement and half the curl of the displacement, averaged over
//! the elements around it by volume: X_v = V \[X_B; X_c; Z\], V the vertex's displacement and turn
//! per coordinate of the superelement, X_B and X_c the maps of frames and outputs, Z that of the
//! modes.

use forks_deform::{
    SoftBody, TetMesh,
    dynamics::mechanism::{
        lie::glam::{DMat3, DVec3},
        linalg::Matrix,
    },
};
use forks_reduce::Reduction;
use forks_skin::{Following, Skin};

use crate::{CondenseError, Condensed};

/// How a skin's vertices follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkinKind {
    /// As links do, by a twist of their own: works without any bone.
    #[default]
    Twist,
    /// Displaced within the nearest bone: half the numbers.
    Bone,
}

/// A vertex of a surface as a sum over nodes.
struct Vertex {
    nodes: Vec<(usize, f64)>,
    bone: usize,
}

/// The skin of the `index`-th superelement of a reduced problem, which is tissue `body`: its
/// embedded surface, or the faces of its mesh.
///
/// # Errors
/// Tissue that is not the one that was condensed, or a model that is not the reduction's.
pub fn skin(
    reduction: &Reduction<'_>,
    index: usize,
    body: &SoftBody,
    condensed: &Condensed,
    kind: SkinKind,
) -> Result<Skin, CondenseError> {
    let mesh = body.mesh();
    let length = |quantity, found, expected| match found == expected {
        true => Ok(()),
        false => Err(CondenseError::Length { quantity, found, expected }),
    };
    length("positions of nodes", condensed.positions.len(), mesh.nodes().len())?;
    let motion = motion(reduction, index, condensed)?;
    let (vertices, faces) = vertices(body);
    let curls: Vec<Vec<DVec3>> = match kind {
        SkinKind::Twist => {
            condensed.shapes.iter().map(|u| turns(mesh, &condensed.positions, u)).collect()
        }
        SkinKind::Bone => vec![],
    };
    let columns = motion.columns();
    let model = &reduction.model;
    let rows = if kind == SkinKind::Twist { 6 } else { 3 };
    let mut map = Matrix::zeros(rows * vertices.len(), columns);
    let mut rest = Vec::with_capacity(vertices.len());
    for (v, vertex) in vertices.iter().enumerate() {
        let place = vertex.sum(&condensed.positions);
        rest.push(place);
        // Displacement, and turn or that of the bone, per coordinate; then per reduced coordinate.
        for (c, u) in condensed.shapes.iter().enumerate() {
            let mut own = [0.0; 6];
            own[..3].copy_from_slice(&vertex.sum(u).to_array());
            if let Some(w) = curls.get(c) {
                own[3..].copy_from_slice(&vertex.sum(w).to_array());
            }
            for (k, x) in own[..rows].iter().enumerate() {
                let row = map.row_mut(rows * v + k);
                row.iter_mut().zip(motion.row(c)).for_each(|(m, z)| *m += x * z);
            }
        }
    }
    let following = match kind {
        SkinKind::Twist => Following::Twist,
        SkinKind::Bone => {
            let data = model.data();
            for (v, vertex) in vertices.iter().enumerate() {
                let link = &data.links[vertex.bone];
                let r = rest[v] - link.rest.translation;
                for j in 0..columns {
                    let twist = |k: usize| match j < link.map.columns() {
                        true => link.map[(k, j)],
                        false => link.servo_map[(k, j - link.map.columns())],
                    };
                    let turn = |k: usize| DVec3::new(twist(k), twist(k + 1), twist(k + 2));
                    let carried =
                        link.rest.rotation * turn(0) + (link.rest.rotation * turn(3)).cross(r);
                    let whole =
                        DVec3::new(map[(3 * v, j)], map[(3 * v + 1, j)], map[(3 * v + 2, j)]);
                    let own = link.rest.rotation.conjugate() * (whole - carried);
                    (0..3).for_each(|k| map[(3 * v + k, j)] = own[k]);
                }
            }
            Following::Link(vertices.iter().map(|v| v.bone).collect())
        }
    };
    let name = condensed.element.name.clone();
    Ok(Skin::new(name, model, rest, faces, following, map)?)
}

/// Where the vertices of [`skin`] are for positions `x` of all nodes, world, m.
///
/// # Panics
/// If there are fewer positions than nodes.
pub fn surface_places(body: &SoftBody, x: &[DVec3]) -> Vec<DVec3> {
    vertices(body).0.iter().map(|v| v.sum(x)).collect()
}

/// The superelement's coordinates per reduced coordinate and servo target.
fn motion(
    reduction: &Reduction<'_>,
    index: usize,
    condensed: &Condensed,
) -> Result<Matrix, CondenseError> {
    let (data, attached) = (reduction.model.data(), reduction.attached());
    let (found, expected) = (index, attached.len());
    let Some(own) = attached.get(index) else {
        let quantity = "superelements";
        return Err(CondenseError::Length { quantity, found, expected });
    };
    let joined = |l: usize| {
        let link = &data.links[l];
        let n = link.map.columns();
        Matrix::from_fn(6, n + data.servos.len(), |i, j| match j < n {
            true => link.map[(i, j)],
            false => link.servo_map[(i, j - n)],
        })
    };
    let twists: Vec<Matrix> = (0..data.links.len()).map(joined).collect();
    let twists = own.twists_along(&twists);
    let first: usize = attached[..index].iter().map(|a| a.element.modes.len()).sum();
    let modes = condensed.element.modes.len();
    let internal = &reduction.internal;
    Ok(Matrix::from_fn(twists.rows() + modes, twists.columns(), |i, j| {
        match (i < twists.rows(), j < internal.columns()) {
            (true, _) => twists[(i, j)],
            (false, true) => internal[(first + i - twists.rows(), j)],
            (false, false) => 0.0,
        }
    }))
}

impl Vertex {
    fn sum(&self, of_nodes: &[DVec3]) -> DVec3 {
        self.nodes.iter().map(|(n, w)| of_nodes[*n] * *w).sum()
    }
}

fn vertices(body: &SoftBody) -> (Vec<Vertex>, Vec<[u32; 3]>) {
    let mesh = body.mesh();
    let face = |f: &[usize; 3]| f.map(|v| v as u32);
    if let Some(s) = body.surface() {
        let vertex = |v: &forks_deform::EmbeddedVertex| {
            let nodes: Vec<(usize, f64)> =
                mesh.element(v.element).iter().copied().zip(v.weights.iter().copied()).collect();
            let nearest = nodes.iter().fold((0, f64::MIN), |b, n| if n.1 > b.1 { *n } else { b });
            Vertex { bone: body.reference(nearest.0).index(), nodes }
        };
        return (s.vertices().iter().map(vertex).collect(), s.faces().iter().map(face).collect());
    }
    let faces = mesh.boundary();
    let mut place = vec![u32::MAX; mesh.nodes().len()];
    let mut vertices = Vec::new();
    let mut of = |n: usize| {
        if place[n] == u32::MAX {
            place[n] = vertices.len() as u32;
            vertices.push(Vertex { nodes: vec![(n, 1.0)], bone: body.reference(n).index() });
        }
        place[n]
    };
    let faces = faces.iter().map(|f| f.map(&mut of)).collect();
    (vertices, faces)
}

/// Half the curl of displacements u about positions x at every node, averaged over the elements
/// around it by volume; of elements with ten nodes that of the corners' displacements.
pub(crate) fn turns(mesh: &TetMesh, x: &[DVec3], u: &[DVec3]) -> Vec<DVec3> {
    let (mut out, mut whole) = (vec![DVec3::ZERO; x.len()], vec![0.0; x.len()]);
    for e in 0..mesh.element_count() {
        let nodes = mesh.element(e);
        let edges = |x: &[DVec3]| {
            let d = |i: usize| x[nodes[i]] - x[nodes[0]];
            DMat3::from_cols(d(1), d(2), d(3))
        };
        let now = edges(x);
        let (g, volume) = (edges(u) * now.inverse(), now.determinant() / 6.0);
        let curl =
            DVec3::new(g.y_axis.z - g.z_axis.y, g.z_axis.x - g.x_axis.z, g.x_axis.y - g.y_axis.x);
        for &n in nodes {
            out[n] += curl * (0.5 * volume);
            whole[n] += volume;
        }
    }
    out.iter_mut().zip(whole).for_each(|(o, w)| *o /= w);
    out
}
