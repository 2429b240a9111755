//! Condensation of tissue to its bones and patches.
//!
//! With T the motion of the nodes in bones per twist of the bones, n the free nodes and E the
//! patches' rows over all nodes:
//!
//! ```text
//! S = T − K_nn⁻¹ K_nf T,  Y = K_nn⁻¹ E_nᵀ     displacements per twist of bones, wrench on patches
//! K_c = Sᵀ K S + Λ,  A = E S,  C₀ = E_n Y          the superelement
//! u = S ξ_B + Y C₀⁻¹ (ξ_c − A ξ_B) + Φ z           displacements of all nodes
//! ```
//!
//! Λ is what the forces on nodes in bones do when their bone turns: −fᵀ(½ ω×v + ½ ω×(ω×r)).

use forks_deform::{
    Curvature, SoftBody,
    dynamics::mechanism::{
        HeldFrame, LinkId, Mechanism, OutputFrame, Superelement,
        lie::{
            Pose, Wrench,
            glam::{DMat3, DVec3},
            skew,
        },
        linalg::{Accuracy, Matrix},
    },
    sparse::BlockCholesky,
};

use crate::{
    CondenseError,
    carried::carry,
    modes::lowest,
    patch::{Patch, PlacedPatch},
};

/// An eigenvalue of C₀ below this part of the largest: the patch cannot move that way.
const RIGID: f64 = 1e-12;

/// A state of skeleton and tissue in which the tissue is condensed.
#[derive(Clone, Copy, Debug)]
pub struct TissuePose<'a> {
    /// Positions of the mechanism.
    pub q: &'a [f64],
    /// Positions of all nodes, world, m; free ones in balance.
    pub x: &'a [DVec3],
    /// Force that acts on every patch at its origin, in its axes, spread over its nodes, each part
    /// of which stays in the world; torques are 0. Empty: none.
    pub patch_wrenches: &'a [Wrench],
}

/// Tissue condensed to what holds it.
#[derive(Clone, Debug)]
pub struct Condensed {
    /// The superelement.
    pub element: Superelement,
    /// Displacement of every node per coordinate of the superelement (frames, outputs, modes),
    /// world axes: coordinate by coordinate.
    pub shapes: Vec<Vec<DVec3>>,
    /// Positions of the nodes.
    pub positions: Vec<DVec3>,
    /// World poses of frames, then of patches.
    pub poses: Vec<Pose>,
}

/// Condenses tissue in a pose of its mechanism. Masses are those of the free nodes: of nodes in
/// bones they belong to the links.
///
/// # Errors
/// Parts that nothing holds, patches without three nodes off a line, a pose that is not stable
/// with the bones held.
pub fn condense(
    name: &str,
    body: &SoftBody,
    m: &Mechanism,
    at: &TissuePose<'_>,
    patches: &[Patch],
    modes: usize,
) -> Result<Condensed, CondenseError> {
    if !at.patch_wrenches.is_empty() {
        length("wrenches on patches", at.patch_wrenches.len(), patches.len())?;
        let turned = at.patch_wrenches.iter().zip(patches).find(|(w, _)| w.torque != DVec3::ZERO);
        if let Some((w, p)) = turned {
            let (patch, torque) = (p.name.clone(), w.torque.length());
            return Err(CondenseError::Torque { patch, torque });
        }
    }
    let nodes = body.mesh().nodes();
    let Held { holder, links, poses, x } = Held::new(body, m, at)?;
    let placed: Vec<PlacedPatch> =
        patches.iter().map(|p| p.placed(nodes, &x)).collect::<Result<_, _>>()?;
    let solver = Solver::new(body, &x, &holder)?;
    solver.condensed(name, body, &Parts { links, poses, placed, patches }, at, modes)
}

fn length(quantity: &'static str, found: usize, expected: usize) -> Result<(), CondenseError> {
    if found == expected {
        return Ok(());
    }
    Err(CondenseError::Length { quantity, found, expected })
}

/// Displacements of all nodes per unit force on some of them, bones held: node by node, x, y, z.
pub(crate) fn unit_responses(
    body: &SoftBody,
    m: &Mechanism,
    at: &TissuePose<'_>,
    nodes: &[usize],
) -> Result<Vec<Vec<DVec3>>, CondenseError> {
    let held = Held::new(body, m, at)?;
    let solver = Solver::new(body, &held.x, &held.holder)?;
    let mut out = Vec::with_capacity(3 * nodes.len());
    for &n in nodes {
        for axis in DVec3::AXES {
            let mut f = vec![DVec3::ZERO; held.x.len()];
            f[n] = axis;
            out.push(f);
        }
    }
    solver.displace(&mut out);
    Ok(out)
}

/// Which link holds every node, these links, the poses of all, and where nodes are.
struct Held {
    holder: Vec<Option<LinkId>>,
    links: Vec<LinkId>,
    poses: Vec<Pose>,
    x: Vec<DVec3>,
}

impl Held {
    fn new(body: &SoftBody, m: &Mechanism, at: &TissuePose<'_>) -> Result<Self, CondenseError> {
        let nodes = body.mesh().nodes();
        length("positions of nodes", at.x.len(), nodes.len())?;
        length("positions", at.q.len(), m.position_count())?;
        check_parts(body)?;
        let holder: Vec<Option<LinkId>> = (0..nodes.len()).map(|n| body.holder(n)).collect();
        let mut links: Vec<LinkId> = holder.iter().flatten().copied().collect();
        links.sort();
        links.dedup();
        let (poses, start) = (m.link_poses(at.q), m.link_poses(&m.start_positions()));
        let mut x = at.x.to_vec();
        for (n, link) in holder.iter().enumerate() {
            if let Some(l) = link {
                let local = start[l.index()].inverse().transform_point(nodes[n]);
                x[n] = poses[l.index()].transform_point(local);
            }
        }
        Ok(Self { holder, links, poses, x })
    }
}

/// Every part has a node in a bone.
fn check_parts(body: &SoftBody) -> Result<(), CondenseError> {
    let parts = body.mesh().parts();
    let mut held = vec![false; parts.len()];
    for (n, part) in parts.iter().enumerate() {
        held[*part] |= body.holder(n).is_some();
    }
    match parts.iter().find(|p| !held[**p]) {
        Some(&node) => Err(CondenseError::LoosePart { node }),
        None => Ok(()),
    }
}

struct Parts<'a> {
    links: Vec<LinkId>,
    poses: Vec<Pose>,
    placed: Vec<PlacedPatch>,
    patches: &'a [Patch],
}

/// The stiffness at a pose with the factor of its free part.
struct Solver<'a> {
    stiffness: forks_deform::sparse::SymmetricBlocks,
    factor: BlockCholesky,
    holder: &'a [Option<LinkId>],
    x: &'a [DVec3],
}

impl<'a> Solver<'a> {
    fn new(
        body: &SoftBody,
        x: &'a [DVec3],
        holder: &'a [Option<LinkId>],
    ) -> Result<Self, CondenseError> {
        let mut stiffness = body.elastic().matrix();
        body.elastic().stiffness(x, Curvature::Exact, &mut stiffness);
        let keep: Vec<bool> = holder.iter().map(Option::is_none).collect();
        let mut factor = BlockCholesky::new(&stiffness, body.mesh().nodes(), &keep);
        factor
            .factorise(&stiffness, 1.0, |_| DMat3::ZERO)
            .map_err(|e| CondenseError::Unstable { node: e.node, pivot: e.pivot })?;
        Ok(Self { stiffness, factor, holder, x })
    }

    fn products(&self, u: &[Vec<DVec3>]) -> Vec<Vec<DVec3>> {
        let mut out = vec![vec![DVec3::ZERO; self.x.len()]; u.len()];
        self.stiffness.multiply_all(u, &mut out);
        out
    }

    /// K_nn⁻¹ f over the free nodes in place of columns f, zero in bones.
    fn displace(&self, columns: &mut [Vec<DVec3>]) {
        for column in columns.iter_mut() {
            for (f, h) in column.iter_mut().zip(self.holder) {
                if h.is_some() {
                    *f = DVec3::ZERO;
                }
            }
        }
        self.factor.solve_all(columns);
    }

    fn condensed(
        self,
        name: &str,
        body: &SoftBody,
        parts: &Parts<'_>,
        at: &TissuePose<'_>,
        modes: usize,
    ) -> Result<Condensed, CondenseError> {
        let (k, p) = (6 * parts.links.len(), 6 * parts.placed.len());
        let mut per_twist = self.motions_of_bones(parts);
        // K_nn⁻¹ K_nf T, then Y.
        let mut answers = self.products(&per_twist);
        answers.extend((0..p).map(|j| {
            let mut f = vec![DVec3::ZERO; self.x.len()];
            parts.placed[j / 6].spread(&unit(j % 6), &mut f);
            f
        }));
        self.displace(&mut answers);
        let per_wrench = answers.split_off(k);
        per_twist.iter_mut().zip(&answers).for_each(|(u, pulled)| add(u, -1.0, pulled));
        let forces = self.products(&per_twist);
        // Held by one link alone nothing but rounding is left of it.
        let mut stiffness = match parts.links.len() {
            1 => Matrix::zeros(k, k),
            _ => Matrix::from_fn(k, k, |i, j| inner(&per_twist[i], &forces[j])).symmetric_part(),
        };
        // Wrenches on patches act on their nodes, those in bones among them.
        let mut on_nodes = self.forces(body);
        for (q, w) in parts.placed.iter().zip(at.patch_wrenches) {
            q.spread(&w.to_array(), &mut on_nodes);
        }
        let mut on_frames = self.add_prestress(parts, &on_nodes, &mut stiffness);
        let wrench = |o: usize| at.patch_wrenches.get(o).copied().unwrap_or(Wrench::ZERO);
        on_frames.extend((0..parts.placed.len()).map(|o| -wrench(o)));
        let observed = |u: &[Vec<DVec3>]| {
            let columns: Vec<Vec<[f64; 6]>> =
                u.iter().map(|u| parts.placed.iter().map(|q| q.twist(u)).collect()).collect();
            Matrix::from_fn(p, u.len(), |i, j| columns[j][i / 6][i % 6])
        };
        let output_map = observed(&per_twist);
        let output_compliance = observed(&per_wrench).symmetric_part();
        let per_output = through(&per_wrench, &inverse(&output_compliance));
        // Displacements per twist of bones with the patches where they are: S − Y C₀⁻¹ A.
        let mut shapes = per_twist;
        for (j, shape) in shapes.iter_mut().enumerate() {
            for (i, own) in per_output.iter().enumerate() {
                add(shape, -output_map[(i, j)], own);
            }
        }
        shapes.extend(per_output);
        let masses: Vec<f64> = (self.holder.iter().zip(body.masses()))
            .map(|(h, m)| if h.is_some() { 0.0 } else { *m })
            .collect();
        let stiff = self.add_modes(parts, &masses, modes, &mut shapes);
        let n = shapes.len();
        let momenta: Vec<Vec<DVec3>> =
            shapes.iter().map(|s| s.iter().zip(&masses).map(|(u, m)| *u * *m).collect()).collect();
        let mass = Matrix::from_fn(n, n, |i, j| inner(&shapes[i], &momenta[j])).symmetric_part();
        let frames: Vec<Pose> = parts.links.iter().map(|l| parts.poses[l.index()]).collect();
        let outputs = parts.placed.iter().zip(parts.patches).map(|(q, patch)| OutputFrame {
            name: patch.name.clone(),
            frame_from_output: frames[0].inverse() * q.pose,
        });
        let (mut output_map, mut output_compliance) = (output_map, output_compliance);
        carry(at.patch_wrenches, &mut stiffness, &mut output_map, &mut output_compliance);
        let element = Superelement {
            name: name.to_owned(),
            outputs: outputs.collect(),
            frames: parts
                .links
                .iter()
                .map(|&link| HeldFrame { link, link_from_frame: Pose::IDENTITY })
                .collect(),
            stiffness,
            forces: on_frames,
            output_map,
            output_compliance,
            modes: stiff,
            mass,
            damping: Matrix::default(),
        };
        let poses = frames.into_iter().chain(parts.placed.iter().map(|q| q.pose)).collect();
        Ok(Condensed { element, shapes, positions: self.x.to_vec(), poses })
    }

    /// T: motion of the nodes in bones per twist of each bone in its own axes.
    fn motions_of_bones(&self, parts: &Parts<'_>) -> Vec<Vec<DVec3>> {
        let mut out = Vec::with_capacity(6 * parts.links.len());
        for &link in &parts.links {
            let pose = parts.poses[link.index()];
            for c in 0..6 {
                let axis = pose.rotation * DMat3::IDENTITY.col(c % 3);
                let mut u: Vec<DVec3> = vec![DVec3::ZERO; self.x.len()];
                for (n, u) in u.iter_mut().enumerate() {
                    if self.holder[n] == Some(link) {
                        *u = match c < 3 {
                            true => axis,
                            false => axis.cross(self.x[n] - pose.translation),
                        };
                    }
                }
                out.push(u);
            }
        }
        out
    }

    /// Elastic forces on all nodes.
    fn forces(&self, body: &SoftBody) -> Vec<DVec3> {
        let mut out = vec![DVec3::ZERO; self.x.len()];
        body.elastic().forces(self.x, &mut out);
        out
    }

    /// Wrenches of the tissue on its bones; adds Λ to the stiffness.
    fn add_prestress(
        &self,
        parts: &Parts<'_>,
        on_nodes: &[DVec3],
        stiffness: &mut Matrix,
    ) -> Vec<Wrench> {
        let mut out = vec![Wrench::ZERO; parts.links.len()];
        for (n, holder) in self.holder.iter().enumerate() {
            let Some(link) = holder else { continue };
            let at = parts.links.iter().position(|l| l == link).expect("a link that holds a node");
            let pose = parts.poses[link.index()];
            let back = pose.rotation.conjugate();
            let (f, r) = (back * on_nodes[n], back * (self.x[n] - pose.translation));
            out[at] += Wrench::new(f, r.cross(f));
            // Second derivative of −fᵀ(½ ω×v + ½ ω×(ω×r)).
            let cross = skew(f) * -0.5;
            let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
            let turning =
                DMat3::from_diagonal(DVec3::splat(f.dot(r))) - (outer(f, r) + outer(r, f)) * 0.5;
            for i in 0..3 {
                for j in 0..3 {
                    let (a, b) = (6 * at + i, 6 * at + 3 + j);
                    stiffness[(a, b)] += cross.col(j)[i];
                    stiffness[(b, a)] += cross.col(j)[i];
                    stiffness[(6 * at + 3 + i, b)] += turning.col(j)[i];
                }
            }
        }
        out
    }

    /// Appends modes with bones and patches held, the largest displacement 1 m; their stiffness.
    fn add_modes(
        &self,
        parts: &Parts<'_>,
        masses: &[f64],
        count: usize,
        shapes: &mut Vec<Vec<DVec3>>,
    ) -> Vec<f64> {
        let first = 6 * parts.links.len();
        let per_output: Vec<Vec<DVec3>> = shapes[first..].to_vec();
        let found = lowest(masses, count, per_output.len(), |columns| {
            self.displace(columns);
            // P = K_nn⁻¹ − Y C₀⁻¹ Yᵀ.
            for u in columns {
                let held: Vec<f64> = parts.placed.iter().flat_map(|q| q.twist(u)).collect();
                for (s, own) in held.iter().zip(&per_output) {
                    add(u, -s, own);
                }
            }
        });
        let mut stiffness = Vec::with_capacity(found.len());
        for (square, mut shape) in found {
            let largest = shape.iter().fold(0.0f64, |m, u| m.max(u.length()));
            shape.iter_mut().for_each(|u| *u /= largest);
            stiffness.push(square / (largest * largest));
            shapes.push(shape);
        }
        stiffness
    }
}

fn unit(i: usize) -> [f64; 6] {
    std::array::from_fn(|j| f64::from(u8::from(i == j)))
}

fn inner(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

fn add(out: &mut [DVec3], s: f64, x: &[DVec3]) {
    out.iter_mut().zip(x).for_each(|(o, x)| *o += *x * s);
}

/// Columns times a matrix.
fn through(columns: &[Vec<DVec3>], m: &Matrix) -> Vec<Vec<DVec3>> {
    (0..m.columns())
        .map(|j| {
            let mut out = vec![DVec3::ZERO; columns.first().map_or(0, Vec::len)];
            columns.iter().enumerate().for_each(|(i, c)| add(&mut out, m[(i, j)], c));
            out
        })
        .collect()
}

/// C⁻¹ over the directions that move.
fn inverse(c: &Matrix) -> Matrix {
    // Lengths against angles: by the diagonal.
    let n = c.rows();
    let unit: Vec<f64> = (0..n).map(|i| c[(i, i)].max(f64::MIN_POSITIVE).sqrt()).collect();
    let scaled = Matrix::from_fn(n, n, |i, j| c[(i, j)] / (unit[i] * unit[j]));
    let (values, vectors) = scaled.jacobi_eigen(Accuracy::Norm);
    let top = values.iter().fold(0.0f64, |m, v| m.max(*v));
    Matrix::from_fn(n, n, |i, j| {
        let sum: f64 = (0..n)
            .filter(|&l| values[l] > RIGID * top)
            .map(|l| vectors[(i, l)] * vectors[(j, l)] / values[l])
            .sum();
        sum / (unit[i] * unit[j])
    })
}
