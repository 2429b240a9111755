//! What is known of a blend at one place.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Wrench};

use crate::{
    curvature::Bending, cutoff::Cutoff, lanes::padded, model::BlendedModel, places::Places,
    relative::Logarithm, tree::TreePlace,
};

/// Energy, force and weights at one place; its memory is used again at the next.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    dof: usize,
    /// U, J.
    pub(crate) energy: f64,
    /// Σ α_i times the sizes of what U_i is a sum of, J, and of the forces times how far from the
    /// origin they act: very stiff samples' terms cancel, and at rest the rounding of all these is
    /// what differences of energies are.
    pub(crate) size_of_terms: f64,
    /// ∂U/∂x, padded to whole lane groups.
    pub(crate) gradient: Vec<f64>,
    /// α.
    pub(crate) weights: Vec<f64>,
    /// ξ_i of all effectors, sample after sample: 6E each.
    pub(crate) twists: Vec<f64>,
    /// η_i, sample after sample, each padded; see [`Evaluation::reduced_coordinates`].
    pub(crate) etas: Vec<f64>,
    /// The first effector that is out of range.
    pub(crate) outside: Option<usize>,
    /// Samples of weight above 0.
    pub(crate) active: Vec<usize>,
    /// Body wrenches on the effectors that hold them here, in charts of poses.
    pub(crate) held: Vec<Wrench>,
    /// Samples whose distances are known, and whether a sample is one.
    pub(crate) seen: Vec<usize>,
    pub(crate) is_seen: Vec<bool>,
    /// Effector poses.
    pub(crate) poses: Vec<Pose>,
    pub(crate) logarithms: Vec<Logarithm>,
    /// b_i + K_i ξ_i, each sample padded.
    pub(crate) wrenches: Vec<f64>,
    pub(crate) energies: Vec<f64>,
    /// Static wrenches b_i − K_i ξ_s for servo targets that are not 0, 6E each; empty where they
    /// are.
    pub(crate) driven_wrenches: Vec<f64>,
    /// What the targets add to the samples' energies.
    pub(crate) driven_energies: Vec<f64>,
    /// In charts of joint displacements how that changes with the place, sample after sample: of y
    /// and products of two.
    pub(crate) driven_slopes: Vec<f64>,
    /// d_i².
    pub(crate) distances: Vec<f64>,
    /// ½ ∂d_i²/∂ξ_i for weights in the samples' metrics, each padded.
    pub(crate) pulls: Vec<f64>,
    pub(crate) cutoff: Cutoff,
    /// ξ̂_i, sample after sample, where samples are bent; see [`crate::curvature`].
    pub(crate) bent: Vec<f64>,
    pub(crate) bending: Bending,
    /// In charts of joint displacements.
    pub(crate) places: Places,
    /// On a manifold.
    pub(crate) tree: TreePlace,
    /// For blended matrices.
    pub(crate) stiffness: Vec<f64>,
    pub(crate) scratch: Vec<f64>,
}

impl Evaluation {
    pub(crate) fn new(model: &BlendedModel) -> Self {
        let (samples, effectors) = (model.samples.len(), model.effector_count());
        let stride = padded(6 * effectors);
        let blended = model.matrices.as_ref();
        Self {
            dof: model.dof(),
            gradient: vec![0.0; padded(model.dof())],
            weights: vec![0.0; samples],
            twists: vec![0.0; samples * 6 * effectors],
            etas: vec![0.0; samples * padded(model.dof())],
            active: Vec::with_capacity(samples),
            held: vec![Wrench::ZERO; effectors],
            seen: Vec::with_capacity(samples),
            is_seen: vec![false; samples],
            poses: vec![Pose::IDENTITY; effectors],
            logarithms: vec![Logarithm::default(); samples * effectors],
            wrenches: vec![0.0; samples * stride],
            energies: vec![0.0; samples],
            distances: vec![f64::INFINITY; samples],
            pulls: vec![0.0; if model.has_metrics() { samples * stride } else { 0 }],
            bent: vec![0.0; if model.is_bent() { samples * 6 * effectors } else { 0 }],
            bending: Bending::new(model.dof(), effectors),
            places: Places::new(model),
            tree: model.tree.as_deref().map(TreePlace::new).unwrap_or_default(),
            stiffness: vec![0.0; blended.map_or(0, |_| 36 * effectors * effectors)],
            scratch: vec![0.0; blended.map_or(0, |m| m.scratch())],
            ..Self::default()
        }
    }

    /// Sets the servos' targets for what is evaluated from now on.
    pub(crate) fn drive(&mut self, model: &BlendedModel, targets: &[f64]) {
        self.driven_wrenches.clear();
        self.driven_energies.clear();
        self.driven_slopes.clear();
        if let Some(tree) = &model.tree {
            tree.drive(targets, &mut self.tree);
        }
        if targets.iter().all(|s| *s == 0.0) {
            return;
        }
        for s in &model.samples {
            let held = s.servo_wrench.mul_vec(targets);
            self.driven_wrenches.extend(s.static_wrench.iter().zip(held).map(|(b, w)| b - w));
            let change = s.servos.stiffness.mul_vec(targets);
            let terms = targets.iter().zip(s.servos.force.iter().zip(change));
            self.driven_energies.push(terms.map(|(s, (p, e))| s * (p + 0.5 * e)).sum());
            if let Some(c) = &s.curved {
                self.driven_slopes.extend(c.servos.transpose_mul_vec(targets));
            }
        }
    }

    /// Static wrenches of a sample, with what the servos' targets change.
    #[inline(always)]
    pub(crate) fn static_wrench<'a>(&'a self, model: &'a BlendedModel, i: usize) -> &'a [f64] {
        let width = 6 * model.effector_count();
        match self.driven_wrenches.is_empty() {
            true => &model.samples[i].static_wrench,
            false => &self.driven_wrenches[i * width..(i + 1) * width],
        }
    }

    /// η_i, as the last call of [`Evaluation::reduced_coordinates`] left it.
    #[inline(always)]
    pub(crate) fn eta(&self, model: &BlendedModel, i: usize) -> &[f64] {
        let n = model.dof();
        if model.is_curved() { self.places.reduced(n, i) } else { &self.etas[i * padded(n)..][..n] }
    }

    /// Potential energy, J.
    pub fn potential_energy(&self) -> f64 {
        self.energy
    }

    /// ∂U/∂x, the generalised force that holds the effectors here.
    pub fn elastic_force(&self) -> &[f64] {
        &self.gradient[..self.dof]
    }

    /// Wrenches that hold the effectors here, each in its effector's displaced frame; where several
    /// do, as in charts of joint displacements, the smallest ones (lengths over r).
    ///
    /// # Panics
    /// If the evaluation is that of a blend of another size.
    pub fn effector_wrenches(&self, model: &BlendedModel) -> Vec<Wrench> {
        if model.is_curved() { model.holding_wrenches(self) } else { self.held.clone() }
    }

    /// Weights of the samples.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// True if an effector is out of the blend's range.
    pub fn is_out_of_range(&self) -> bool {
        self.outside.is_some()
    }
}
