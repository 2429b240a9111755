//! Hyperelastic materials as functions of the three stretches: energy, stress, and what is needed
//! of the second derivatives.
//!
//! All are isotropic: Ψ(F) = Ψ(σ₁, σ₂, σ₃), symmetric in the stretches, with the sign of det F in
//! the smallest. Near rest each is Hooke's law with Lamé's λ and µ.

mod corotated;
mod error;
mod neo_hookean;
mod stvk;

use forks_dynamics::mechanism::lie::glam::DMat3;

use crate::{
    curvature::Curvature,
    svd::Stretched,
    window::{Range, Selection},
};
pub use error::MaterialError;
pub(crate) use stvk::PlainStiffness;

/// How St. Venant–Kirchhoff is continued where a stretch leaves the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// It is not: below σ = 1/√3 elements weaken, below 0 they stay inside out.
    None,
    /// Linear uniaxial stress, as \[K08\] draws it, as the gradient of an energy: Ψ is twice
    /// differentiable everywhere.
    LinearStress(Range),
    /// Linear strain measure: no negative curvature is added, stiffness jumps at the limits.
    LinearStrain(Range),
    /// \[K08\]'s P̂ linearised at the stretches on the limit. Not the gradient of any energy: work
    /// round a closed path is not zero. For comparisons.
    PerStretch(Range),
}

impl Window {
    /// The limits, if there are any.
    pub fn range(self) -> Option<Range> {
        match self {
            Self::None => None,
            Self::LinearStress(r) | Self::LinearStrain(r) | Self::PerStretch(r) => Some(r),
        }
    }
}

/// The law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// Ψ = µ Σ eᵢ² + ½ λ (Σ eᵢ)², e = ½(σ² − 1) within the window.
    StVenantKirchhoff(Window),
    /// \[SGK18\]: Ψ = ½ µ (I_C − 3) + ½ λ′ (J − α)², λ′ = λ + µ, α = 1 + µ/λ′.
    StableNeoHookean,
    /// \[SHST12\]: Ψ = µ Σ (σᵢ − 1)² + ½ λ (J − 1)².
    FixedCorotated,
}

/// A law with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    model: Model,
    young: f64,
    poisson: f64,
    density: f64,
    pub(crate) mu: f64,
    pub(crate) lambda: f64,
}

/// Energy density at three stretches, with derivatives: J/m³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principal {
    /// Ψ.
    pub energy: f64,
    /// pᵢ = ∂Ψ/∂σᵢ.
    pub stress: [f64; 3],
    /// ∂pᵢ/∂σⱼ.
    pub slope: [[f64; 3]; 3],
}

impl Material {
    /// A law with Young's modulus (Pa), Poisson's ratio and density (kg/m³).
    ///
    /// # Errors
    /// A number out of its range, by name.
    pub fn new(
        model: Model,
        young: f64,
        poisson: f64,
        density: f64,
    ) -> Result<Self, MaterialError> {
        if !(young > 0.0 && young.is_finite()) {
            return Err(MaterialError::Young(young));
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(MaterialError::Poisson(poisson));
        }
        if !(density > 0.0 && density.is_finite()) {
            return Err(MaterialError::Density(density));
        }
        if let Model::StVenantKirchhoff(w) = model
            && let Some(r) = w.range()
            && !r.is_valid()
        {
            return Err(MaterialError::Window { lower: r.lower, upper: r.upper });
        }
        let mu = 0.5 * young / (1.0 + poisson);
        let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        if model == Model::StableNeoHookean && lambda + mu <= 0.0 {
            return Err(MaterialError::Poisson(poisson));
        }
        Ok(Self { model, young, poisson, density, mu, lambda })
    }

    /// StVK with the window of \[K08\], continued as an energy.
    ///
    /// # Errors
    /// A number out of its range, by name.
    pub fn stvk(young: f64, poisson: f64, density: f64) -> Result<Self, MaterialError> {
        let window = Window::LinearStress(Range::PAPER);
        Self::new(Model::StVenantKirchhoff(window), young, poisson, density)
    }

    /// The law.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Young's modulus, Pa.
    pub fn young(&self) -> f64 {
        self.young
    }

    /// Poisson's ratio.
    pub fn poisson(&self) -> f64 {
        self.poisson
    }

    /// Density without stress, kg/m³.
    pub fn density(&self) -> f64 {
        self.density
    }

    /// Lamé's µ and λ, Pa.
    pub fn lame(&self) -> [f64; 2] {
        [self.mu, self.lambda]
    }

    /// False for the law that no energy belongs to.
    pub fn is_conservative(&self) -> bool {
        !matches!(self.model, Model::StVenantKirchhoff(Window::PerStretch(_)))
    }

    /// Energy and its derivatives at given stretches.
    pub fn principal(&self, sigma: [f64; 3]) -> Principal {
        match self.model {
            Model::StVenantKirchhoff(Window::PerStretch(r)) => self.per_stretch(r, sigma),
            Model::StVenantKirchhoff(w) => self.strains(w, sigma),
            Model::StableNeoHookean => self.neo_hookean(sigma),
            Model::FixedCorotated => self.corotated(sigma),
        }
    }

    /// Ψ(F), J/m³. The law without energy gives that of its stress along straight lines of the
    /// stretches from the limits.
    pub fn energy(&self, f: &DMat3) -> f64 {
        match self.model {
            Model::StVenantKirchhoff(w) if self.plain(w, Selection::Pivots, f) => {
                self.stvk_energy(f)
            }
            _ => self.principal(Stretched::new(*f).sigma.to_array()).energy,
        }
    }

    /// First Piola–Kirchhoff stress P = ∂Ψ/∂F, Pa; and true if F had to be decomposed for it.
    pub fn stress(&self, selection: Selection, f: &DMat3) -> (DMat3, bool) {
        match self.model {
            Model::StVenantKirchhoff(w) if self.plain(w, selection, f) => {
                (self.stvk_stress(f), false)
            }
            Model::StableNeoHookean => (self.neo_hookean_stress(f), false),
            _ => {
                let d = Stretched::new(*f);
                (d.compose(self.principal(d.sigma.to_array()).stress), true)
            }
        }
    }

    /// ∂P/∂F where the plain formula of St. Venant–Kirchhoff holds, without a decomposition of F.
    pub(crate) fn plain_stiffness(
        &self,
        selection: Selection,
        curvature: Curvature,
        f: &DMat3,
    ) -> Option<PlainStiffness> {
        match self.model {
            Model::StVenantKirchhoff(w) if self.plain(w, selection, f) => {
                Some(self.stvk_stiffness(curvature, f))
            }
            _ => None,
        }
    }

    /// True where the plain formula holds.
    fn plain(&self, window: Window, selection: Selection, f: &DMat3) -> bool {
        window.range().is_none_or(|r| selection.accepts(r, f))
    }
}
