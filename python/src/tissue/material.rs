//! Laws of tissue and their constants.

use forks_deform::{Material as Data, Model, Range, Window};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::error::refused;

/// A law of tissue: Young's modulus (Pa), Poisson's ratio, density (kg/m³).
///
/// law: 'stvk' (St. Venant–Kirchhoff), 'neo-hookean' (stable) or 'corotated' (fixed). window: of
/// 'stvk', how it is continued where squares of stretches leave `range`: 'stress' (linear uniaxial
/// stress as the gradient of an energy, the default), 'strain' or 'none'.
#[pyclass(frozen, module = "forks.tissue")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Material {
    pub(super) data: Data,
    law: &'static str,
}

#[pymethods]
impl Material {
    #[new]
    #[pyo3(signature = (young, poisson, density, *, law="stvk", window="stress",
        range=(2.0 / 3.0, 5.0 / 3.0)))]
    fn new(
        young: f64,
        poisson: f64,
        density: f64,
        law: &str,
        window: &str,
        range: (f64, f64),
    ) -> PyResult<Self> {
        let range = Range { lower: range.0, upper: range.1 };
        let window = match window {
            "stress" => Window::LinearStress(range),
            "strain" => Window::LinearStrain(range),
            "none" => Window::None,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "window is '{window}', expected 'stress', 'strain' or 'none'"
                )));
            }
        };
        let (law, model) = match law {
            "stvk" => ("stvk", Model::StVenantKirchhoff(window)),
            "neo-hookean" => ("neo-hookean", Model::StableNeoHookean),
            "corotated" => ("corotated", Model::FixedCorotated),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "law is '{law}', expected 'stvk', 'neo-hookean' or 'corotated'"
                )));
            }
        };
        let data = Data::new(model, young, poisson, density).map_err(refused)?;
        Ok(Self { data, law })
    }

    /// Young's modulus, Pa.
    #[getter]
    fn young(&self) -> f64 {
        self.data.young()
    }

    /// Poisson's ratio.
    #[getter]
    fn poisson(&self) -> f64 {
        self.data.poisson()
    }

    /// Density, kg/m³.
    #[getter]
    fn density(&self) -> f64 {
        self.data.density()
    }

    /// 'stvk', 'neo-hookean' or 'corotated'.
    #[getter]
    fn law(&self) -> &'static str {
        self.law
    }

    fn __repr__(&self) -> String {
        format!(
            "<forks.tissue.Material {}: {} Pa, {}, {} kg/m³>",
            self.law,
            self.data.young(),
            self.data.poisson(),
            self.data.density()
        )
    }
}
