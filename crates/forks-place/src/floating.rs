//! Samples of a blend with a base that floats.

use std::sync::Arc;

use forks_blend::{BlendData, BlendedModel, SampleData};
use forks_mechanism::linalg::{Matrix, dense};
use forks_reduce::Problem;
use forks_rom::ReducedModel;

use crate::{error::BlendError, lift::in_other_coordinates};

/// The same blend on a base that floats: the root that its problem holds. Samples are made with
/// that root held, where it is at the start, as statics and blends know only what moves relative to
/// it; mass and momentum follow from their maps to links and joints once these are final. In a
/// chart of joint displacements with the links' second order.
///
/// # Errors
/// Nothing is held, or something else ties the mechanism to the ground.
pub fn with_base(problem: &Problem, model: &BlendedModel) -> Result<BlendedModel, BlendError> {
    let own = model.data();
    let sample = |(i, s): (usize, &SampleData)| -> Result<SampleData, BlendError> {
        let bends = match own.chart.get(i) {
            // η = R y.
            Some(c) => {
                let back = dense::lu_solve(&c.rate, &Matrix::identity(c.rate.rows()));
                c.links.iter().map(|bend| in_other_coordinates(bend, &back)).collect()
            }
            None => vec![],
        };
        let data = problem.with_base(s.model.data().clone(), &bends)?;
        Ok(SampleData { model: Arc::new(ReducedModel::held_by_loads(data)?), ..s.clone() })
    };
    let samples = own.samples.iter().enumerate().map(sample).collect::<Result<_, _>>()?;
    let data = BlendData { samples, ..own.clone() };
    Ok(BlendedModel::new(data)?.with_blend(model.blend()).with_isa(model.isa()))
}
