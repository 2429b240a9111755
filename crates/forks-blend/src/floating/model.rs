//! A blend with a base that floats: what its samples know of the base's inertia.

use alloc::{sync::Arc, vec::Vec};

use forks_lie::{Pose, glam::DVec3};
use forks_rom::{
    BaseCoupling, ModelError,
    data::{BaseRest, ModelData},
    internal::floating::BaseInertia,
};

use crate::{
    matrices::Blend,
    model::{BlendedModel, Prepared},
    weights::Weights,
};

/// Samples' bases are the same up to this part of their mass and size.
const SAME: f64 = 1e-9;

/// A blended model whose base floats, ready to be stepped.
#[derive(Clone, Debug)]
pub struct FloatingBlend {
    pub(super) model: Arc<BlendedModel>,
    /// In chart coordinates from the samples' places on.
    pub(super) samples: Vec<BaseInertia>,
    pub(super) gravity: DVec3,
    /// Pose of the samples' world in the base link.
    pub(super) base_from_rest: Pose,
}

impl FloatingBlend {
    /// Prepares a blend; the samples' gravity acts.
    ///
    /// # Errors
    /// [`ModelError::NoBase`] if a sample's base does not float; samples with different bases,
    /// weights of neighbours or as printed, blended matrices; a base without mass or rotational
    /// inertia, masses that do not belong together.
    pub fn new(model: Arc<BlendedModel>) -> Result<Self, ModelError> {
        let refused = |what| Err(ModelError::BlendCannotFloat { what });
        match model.data().weights {
            Weights::Shepard { .. } | Weights::Metric { .. } => {}
            Weights::Neighbours { .. } => return refused("weights of neighbours"),
            Weights::Printed => return refused("weights as printed"),
        }
        if model.blend() != Blend::Energy {
            return refused("blended matrices");
        }
        let of = |i: usize| model.data().samples[i].model.data();
        let (first, base) = (of(0), base(of(0))?);
        let sample = |(i, s): (usize, &Prepared)| {
            let own = self::base(of(i))?;
            if !alike(first, base, of(i), own) {
                return Err(ModelError::UnlikeSamples { quantity: "bases" });
            }
            BaseInertia::new(&own.in_coordinates(&s.rate), &s.mass, BaseCoupling::Full)
        };
        Ok(Self {
            samples: model.samples.iter().enumerate().map(sample).collect::<Result<_, _>>()?,
            gravity: base.gravity,
            base_from_rest: first.links[base.link].rest.inverse(),
            model,
        })
    }

    /// The same with another acceleration of free fall, world axes, m/s².
    #[must_use]
    pub fn with_gravity(mut self, gravity: DVec3) -> Self {
        self.gravity = gravity;
        self
    }

    /// The blend of what moves relative to the base.
    pub fn blend(&self) -> &Arc<BlendedModel> {
        &self.model
    }

    /// Acceleration of free fall, world axes, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Pose of the base link in the samples' world.
    pub fn base_at_rest(&self) -> Pose {
        self.base_from_rest.inverse()
    }

    /// Mass of base and mechanism, kg.
    pub fn mass(&self) -> f64 {
        self.samples[0].mass
    }
}

fn base(m: &ModelData) -> Result<&BaseRest, ModelError> {
    m.base.as_ref().ok_or(ModelError::NoBase)
}

/// One base at one place.
fn alike(a: &ModelData, base_a: &BaseRest, b: &ModelData, base_b: &BaseRest) -> bool {
    let moved = a.links[base_a.link].rest.twist_to(&b.links[base_b.link].rest);
    let near = moved.linear.length() <= SAME * a.radius && moved.angular.length() <= SAME;
    let differs = base_a.own_inertia.sub(&base_b.own_inertia).max_abs();
    let mass = (base_a.inertia[(0, 0)] - base_b.inertia[(0, 0)]).abs();
    base_a.link == base_b.link
        && near
        && differs <= SAME * base_a.own_inertia.max_abs()
        && mass <= SAME * base_a.inertia[(0, 0)]
        && base_a.gravity == base_b.gravity
}
