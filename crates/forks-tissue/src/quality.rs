//! What a scene's tissue is worth: quality of elements, masses, bones, frequencies, steps, locking.

use forks_deform::{
    Attachment, Curvature, MeshNote, Order, SoftBody,
    dynamics::mechanism::{
        LinkId,
        lie::{
            SplitMix64,
            glam::{DMat3, DVec3},
        },
    },
    sparse::BlockCholesky,
};
use serde::Serialize;

use crate::scene::TissueScene;

/// Iterations of a subspace that the lowest motions are found by.
const ITERATIONS: usize = 60;

/// Motions that are looked for.
const MOTIONS: usize = 3;

/// Elements that are listed as the worst.
const WORST: usize = 5;

/// What there is to know before a scene runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// Title of the scene.
    pub scene: String,
    /// Nodes, of tissue.
    pub nodes: usize,
    /// Elements.
    pub elements: usize,
    /// Nodes per element.
    pub nodes_per_element: usize,
    /// Nodes that no bone holds.
    pub free_nodes: usize,
    /// Volume of all elements, m³.
    pub volume: f64,
    /// kg.
    pub mass: f64,
    /// Lightest and heaviest node, kg.
    pub node_mass: [f64; 2],
    /// Mean ratio over all elements, 1 for regular ones.
    pub mean_quality: f64,
    /// Elements with the smallest mean ratios, and these.
    pub worst: Vec<(usize, f64)>,
    /// Least filled part of an element.
    pub least_filled: f64,
    /// Bones with nodes in them, how many and of what mass (kg).
    pub bones: Vec<(String, usize, f64)>,
    /// Parts that no bone holds, by their first node.
    pub loose: Vec<usize>,
    /// Nodes in one place, or by which parts hang together.
    pub hinges: Vec<usize>,
    /// Lowest frequencies of the tissue with its bones held, Hz; none where a part is loose.
    pub frequencies: Vec<f64>,
    /// Stiffness of the lowest motion over that of elements of ten nodes on the same tetrahedra:
    /// how much the elements lock. None for elements of ten nodes.
    pub locking: Option<f64>,
    /// Longest stable explicit step, s.
    pub explicit_step: f64,
    /// Triangles and vertices of the skin.
    pub skin: [usize; 2],
    /// What may not have been meant.
    pub notes: Vec<String>,
}

impl Quality {
    /// Of a scene at its start.
    pub fn new(scene: &mut TissueScene) -> Self {
        let explicit_step = scene.simulation.explicit_step_limit();
        let skin = scene.skin();
        let skin = [skin.triangles.len(), skin.vertices.len()];
        let body = scene.simulation.body();
        let mesh = body.mesh();
        let mut worst: Vec<(usize, f64)> =
            (0..mesh.element_count()).map(|e| (e, mesh.quality(e))).collect();
        let mean_quality = worst.iter().map(|(_, q)| q).sum::<f64>() / worst.len() as f64;
        worst.sort_by(|a, b| a.1.total_cmp(&b.1));
        worst.truncate(WORST);
        let filled =
            (0..mesh.element_count()).map(|e| body.elastic().elements().volume(e) / mesh.volume(e));
        let fold =
            |f: fn(f64, f64) -> f64, start: f64| body.masses().iter().copied().fold(start, f);
        let mut bones = Vec::new();
        for (k, link) in scene.simulation.mechanism().links().iter().enumerate() {
            let own = (0..mesh.nodes().len()).filter(|&n| body.holder(n) == Some(LinkId::new(k)));
            let masses: Vec<f64> = own.map(|n| body.masses()[n]).collect();
            if !masses.is_empty() {
                bones.push((link.name.clone(), masses.len(), masses.iter().sum()));
            }
        }
        let parts = mesh.parts();
        let mut loose: Vec<usize> = parts.clone();
        loose.sort_unstable();
        loose.dedup();
        loose.retain(|p| (0..parts.len()).all(|n| parts[n] != *p || body.holder(n).is_none()));
        let hinges = mesh.notes().iter().filter_map(|n| match n {
            MeshNote::Hinge { node } => Some(*node),
            MeshNote::Duplicate { second, .. } => Some(*second),
            _ => None,
        });
        let frequencies = if loose.is_empty() { lowest(body) } else { vec![] };
        let locking = (mesh.order() == Order::Linear).then(|| quadratic(body)).flatten();
        let locking = locking.and_then(|finer| {
            let [rough, fine] = [frequencies.first()?, lowest(&finer).first()?].map(|f| f * f);
            Some(rough / fine)
        });
        Self {
            scene: scene.spec.title.clone(),
            nodes: mesh.nodes().len(),
            elements: mesh.element_count(),
            nodes_per_element: mesh.order().nodes(),
            free_nodes: body.free_count(),
            volume: mesh.total_volume(),
            mass: body.mass(),
            node_mass: [fold(f64::min, f64::INFINITY), fold(f64::max, 0.0)],
            mean_quality,
            worst,
            least_filled: filled.fold(1.0, f64::min),
            bones,
            loose,
            hinges: hinges.collect(),
            frequencies,
            locking,
            explicit_step,
            skin,
            notes: scene.notes.clone(),
        }
    }
}

/// The same tetrahedra with elements of ten nodes; middles of edges between held nodes are held.
fn quadratic(body: &SoftBody) -> Option<SoftBody> {
    let mesh = body.mesh().quadratic();
    let mut held: Vec<usize> =
        (0..body.masses().len()).filter(|&n| body.holder(n).is_some()).collect();
    for e in 0..mesh.element_count() {
        let nodes = mesh.element(e);
        for (k, [a, b]) in forks_deform::mesh::EDGES.into_iter().enumerate() {
            if body.holder(nodes[a]).is_some() && body.holder(nodes[b]).is_some() {
                held.push(nodes[4 + k]);
            }
        }
    }
    held.sort_unstable();
    held.dedup();
    let ground = crate::tissue::nothing().ok()?;
    let whole = SoftBody::new(mesh, *body.elastic().material()).ok()?;
    whole.attached(&ground, &Attachment::Nodes(vec![(LinkId::WORLD, held)])).ok()
}

/// Lowest frequencies with the held nodes at rest, Hz, by inverse iteration of a subspace.
fn lowest(body: &SoftBody) -> Vec<f64> {
    let (mesh, masses) = (body.mesh(), body.masses());
    let keep: Vec<bool> = (0..masses.len()).map(|n| body.holder(n).is_none()).collect();
    let free: Vec<usize> = (0..keep.len()).filter(|&n| keep[n]).collect();
    let mut k = body.elastic().matrix();
    body.elastic().stiffness(mesh.nodes(), Curvature::Exact, &mut k);
    let mut factor = BlockCholesky::new(&k, mesh.nodes(), &keep);
    if free.is_empty() || factor.factorise(&k, 1.0, |_| DMat3::ZERO).is_err() {
        return vec![];
    }
    let mut rng = SplitMix64::new(1);
    let start = |_| {
        let mut u = vec![DVec3::ZERO; keep.len()];
        free.iter().for_each(|&n| u[n] = rng.direction());
        u
    };
    let mut vectors: Vec<Vec<DVec3>> = (0..MOTIONS + 2).map(start).collect();
    let product = |a: &[DVec3], b: &[DVec3]| -> f64 {
        free.iter().map(|&n| masses[n] * a[n].dot(b[n])).sum()
    };
    let mut values = vec![0.0; vectors.len()];
    for _ in 0..ITERATIONS {
        for i in 0..vectors.len() {
            let mut u = std::mem::take(&mut vectors[i]);
            free.iter().for_each(|&n| u[n] *= masses[n]);
            factor.solve(&mut u);
            for v in &vectors[..i] {
                let along = product(v, &u);
                free.iter().for_each(|&n| u[n] -= v[n] * along);
            }
            let size = product(&u, &u).sqrt();
            free.iter().for_each(|&n| u[n] /= size);
            // One step of K⁻¹ M stretches a unit vector by 1/ω².
            values[i] = 1.0 / size;
            vectors[i] = u;
        }
    }
    let turns = |x: &f64| x.max(0.0).sqrt() / std::f64::consts::TAU;
    let mut out: Vec<f64> = values.iter().map(turns).collect();
    out.sort_by(f64::total_cmp);
    out.truncate(MOTIONS);
    out
}
