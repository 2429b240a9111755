//! The tangent stiffness as a sum of small forms in twists and coordinates; see [`crate::tangent`]
//! for the terms.

use forks_mechanism::{
    Mechanism,
    kinematics::loops,
    lie::{Mat6, Twist, Vec6, Wrench},
};

use super::geometry::{Geometry, scaled_blocks, scaled_form, scaled_map, scaled_wrench};
use crate::{branches::Branches, scaling::Scaling, stage::Stage, tangent::relations};

/// A coefficient, and a combination of coordinates: indices and factors.
pub(crate) type Combined = (f64, Vec<(usize, f64)>);

/// Energies, in the units of [`Geometry`].
#[derive(Clone, Debug)]
pub(crate) struct Stiffness {
    /// Blocks of the joints' own coordinates, by rows, branch by branch.
    pub(crate) joints: Vec<Vec<f64>>,
    /// What a coordinate's motion adds to the generalised force of the inner link's twist, by
    /// coordinate.
    pub(crate) turned: Vec<Vec6>,
    /// −∂w/∂ξ of the loads on each link; `None` where it is zero.
    pub(crate) links: Vec<Option<Mat6>>,
    /// Closing joints: form in the columns of [`Geometry::closure_columns`].
    pub(crate) closures: Vec<Vec<f64>>,
    /// Bushings: form in the twists of both links.
    pub(crate) bushings: Vec<Vec<f64>>,
    /// Cables: form in the twists of all their links.
    pub(crate) cables: Vec<Vec<f64>>,
    /// Combination springs and couplings: k, and a by coordinate.
    pub(crate) springs: Vec<Combined>,
    /// Couplings: curvature of each term and its combination.
    pub(crate) couplings: Vec<Vec<Combined>>,
    /// Unit of stiffness: the largest stiffness of a coordinate and of an element.
    pub(crate) size: f64,
    pub(crate) symmetric: bool,
}

impl Stiffness {
    pub(crate) fn new(
        stage: &Stage<'_>,
        q: &[f64],
        branches: &Branches,
        geometry: &Geometry,
        multipliers: &[f64],
        scaling: &Scaling,
    ) -> Self {
        let (m, r, poses) = (stage.m, scaling.link_length, &branches.world_from_link);
        let relations = relations(stage, branches, multipliers);
        let mut wrench = vec![Wrench::ZERO; poses.len()];
        let mut slope = vec![Mat6::ZERO; poses.len()];
        stage.for_each_load(poses, |link, load| {
            wrench[link] += load.wrench;
            slope[link] += load.slope;
        });
        let cables = stage.cable_forms(poses, |link, load| {
            wrench[link] += load.wrench;
            slope[link] += load.slope;
        });
        let cables: Vec<Vec<f64>> = cables.iter().map(|(_, form)| scaled_blocks(form, r)).collect();
        for r in &relations {
            let on_b = r.b_from_frame.adjoint().apply_to_wrench(-r.term.gradient);
            wrench[r.b] += on_b;
            wrench[r.a] -= r.a_from_b.adjoint().apply_to_wrench(on_b);
        }
        let links: Vec<Option<Mat6>> = slope
            .iter()
            .map(|s| (*s != Mat6::ZERO).then(|| scaled_form(&s.scale(-1.0), r)))
            .collect();
        let mut turned = vec![[0.0; 6]; m.velocity_count()];
        let mut joints = vec![Vec::new(); branches.list.len()];
        let mut size = 0.0f64;
        let mut composite = links.clone();
        for (i, b) in branches.list.iter().enumerate().rev() {
            let w = wrench[b.outer];
            let inwards = b.inner_from_outer.adjoint();
            let (columns, d) = (b.columns.as_slice(), b.columns.as_slice().len());
            let mut own = vec![0.0; d * d];
            let j = m.joint(b.joint);
            if w != Wrench::ZERO {
                let on_child = Branches::wrench_on_child(b, w);
                let curvature = j.curvature(&q[m.position_range(b.joint)], on_child);
                for (y, k) in b.velocities.clone().enumerate() {
                    for (z, l) in b.velocities.clone().enumerate() {
                        let unit = scaling.coordinates[k] * scaling.coordinates[l];
                        own[y * d + z] -= unit
                            * (0.5 * columns[y].ad(columns[z]).dot(w)
                                + curvature.as_ref().map_or(0.0, |c| c.get(y, z)));
                    }
                    let on_inner = inwards.apply_to_wrench(columns[y].ad_transpose(w));
                    turned[k] = (scaled_wrench(on_inner, r) * scaling.coordinates[k]).to_array();
                    size = turned[k].iter().fold(size, |m, x| m.max(x.abs()));
                }
            }
            if let Some(h) = stage.joint_hessian(b.joint, q) {
                for (y, k) in b.velocities.clone().enumerate() {
                    for (z, l) in b.velocities.clone().enumerate() {
                        own[y * d + z] +=
                            h.get(y, z) * scaling.coordinates[k] * scaling.coordinates[l];
                    }
                }
            }
            for k in b.velocities.clone() {
                if let Some(c) = &composite[b.outer] {
                    let x = &geometry.columns[k];
                    let on: f64 = c.mul_vec(x).iter().zip(x).map(|(a, b)| a * b).sum();
                    size = size.max(on.abs());
                }
            }
            size = own.iter().fold(size, |m, x| m.max(x.abs()));
            joints[i] = own;
            wrench[b.inner] += inwards.apply_to_wrench(w);
            if let Some(c) = composite[b.outer] {
                let a = &geometry.carry[i];
                let carried = a.transpose() * c * *a;
                *composite[b.inner].get_or_insert(Mat6::ZERO) += carried;
            }
        }
        let bushing_count = m.bushings().len();
        let (mut bushings, mut closures) = (vec![], vec![]);
        for (i, relation) in relations.iter().enumerate() {
            let p = scaled_wrench(relation.term.gradient, r);
            let hessian = scaled_form(&relation.term.hessian, r);
            let columns: Vec<(Twist, Twist)> = if i < bushing_count {
                let frame_from_world = (poses[relation.b] * relation.b_from_frame).inverse();
                let [a, b] =
                    [relation.a, relation.b].map(|l| scaled_map(&(frame_from_world * poses[l]), r));
                let column =
                    |m: &Mat6, j: usize| Twist::from_array(core::array::from_fn(|i| m.rows[i][j]));
                let first = (0..6).map(|j| (-column(&a, j), column(&a, j)));
                first.chain((0..6).map(|j| (column(&b, j), Twist::ZERO))).collect()
            } else {
                let k = i - bushing_count;
                let edges = m.forest().edges().len();
                let own = branches.list[edges + k].velocities.clone();
                geometry.closure_columns(edges + k, k, own)
            };
            let form = relation_form(&columns, p, &hessian);
            let n = columns.len();
            let diagonal = (0..n).map(|j| form[j * n + j].abs());
            size = diagonal.fold(size, f64::max);
            if i < bushing_count { bushings.push(form) } else { closures.push(form) }
        }
        for form in &cables {
            size = form.iter().fold(size, |m, x| m.max(x.abs()));
        }
        let (springs, couplings) = combinations(m, q, multipliers, scaling);
        for (k, terms) in springs.iter().chain(couplings.iter().flatten()) {
            size = terms.iter().fold(size, |m, (_, a)| m.max((k * a * a).abs()));
        }
        let symmetric = stage.has_potential();
        Self {
            joints,
            turned,
            links,
            closures,
            bushings,
            cables,
            springs,
            couplings,
            size,
            symmetric,
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let mut all = self
            .joints
            .iter()
            .chain(&self.closures)
            .chain(&self.bushings)
            .chain(&self.cables)
            .flatten()
            .chain(self.turned.iter().flatten());
        self.size.is_finite()
            && all.all(|x| x.is_finite())
            && self.links.iter().flatten().all(|l| l.is_finite())
    }
}

/// K_ij = x_j·(H x_i − ½ ad(x_i)ᵀ p − ad(a_i)ᵀ p), by rows, for relative twists x and first twists
/// a, scaled.
fn relation_form(columns: &[(Twist, Twist)], p: Wrench, hessian: &Mat6) -> Vec<f64> {
    let n = columns.len();
    let mut out = vec![0.0; n * n];
    for (i, (x, a)) in columns.iter().enumerate() {
        let h = Wrench::from_array(hessian.mul_vec(&x.to_array()));
        let v = h - x.ad_transpose(p) * 0.5 - a.ad_transpose(p);
        for (j, (y, _)) in columns.iter().enumerate() {
            out[i * n + j] = y.dot(v);
        }
    }
    out
}

type Combinations = (Vec<Combined>, Vec<Vec<Combined>>);

fn combinations(m: &Mechanism, q: &[f64], multipliers: &[f64], scaling: &Scaling) -> Combinations {
    let scaled = |c: &forks_mechanism::Combination| -> Vec<(usize, f64)> {
        let terms = c.terms.iter().map(|(c, a)| (m.velocity_index(*c), *a));
        terms.map(|(k, a)| (k, a * scaling.coordinates[k])).collect()
    };
    let springs = m.combination_springs().iter();
    let springs = springs.map(|s| (s.stiffness, scaled(&s.combination))).collect();
    let lambda = &multipliers[6 * m.forest().closures().len()..];
    let couplings = m.couplings().iter().zip(lambda).map(|(c, lambda)| {
        let terms = c.terms.iter().map(|t| {
            let value = loops::combination_value(m, &t.combination, q);
            (-lambda * t.evaluate(value).2, scaled(&t.combination))
        });
        terms.collect()
    });
    (springs, couplings.collect())
}
