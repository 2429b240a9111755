//! What numbers must be to make a blend.

use forks_lie::Pose;
use forks_linalg::Matrix;
use forks_rom::ModelError;

use crate::{
    chart::{self, Kinematics},
    curvature::pairs,
    data::{BlendData, dual},
    weights::Weights,
};

/// What [`super::BlendedModel::new`] asks of its numbers.
pub(crate) fn check(d: &BlendData) -> Result<(), ModelError> {
    let size = |quantity, found, expected| match found == expected {
        true => Ok(()),
        false => Err(ModelError::WrongSize { quantity, found, expected }),
    };
    let finite = |quantity, ok| if ok { Ok(()) } else { Err(ModelError::NotFinite { quantity }) };
    let first = d.samples.first().ok_or(ModelError::NoSample)?.model.data();
    finite("radius", d.radius.is_finite() && d.radius > 0.0)?;
    finite("range", d.range > 0.0)?;
    finite("basis", d.basis.is_finite())?;
    finite("reference pose", d.reference.iter().all(Pose::is_finite))?;
    size("basis rows", d.basis.rows(), 6 * d.reference.len())?;
    let exponent = match d.weights {
        Weights::Shepard { exponent }
        | Weights::Neighbours { exponent, .. }
        | Weights::Metric { exponent, .. } => Some(exponent),
        Weights::Printed => None,
    };
    if let Weights::Metric { energy, .. } = d.weights {
        finite("energy of the weights' metric", energy.is_finite() && energy > 0.0)?;
    }
    if let Weights::Neighbours { count: 0, .. } = d.weights {
        return Err(ModelError::NoSample);
    }
    if let Some(exponent) = exponent.filter(|p| !(4..=64).contains(p) || p % 2 == 1) {
        return Err(ModelError::WeightExponent { exponent });
    }
    // Poses in charts of joint displacements do not ask for the basis.
    let by_basis = d.chart.is_empty();
    if by_basis {
        orthonormal("basis", &d.basis, d.radius)?;
    }
    for s in &d.samples {
        let m = s.model.data();
        finite("potential", s.potential.is_finite())?;
        size("effectors of a sample", m.effectors.len(), d.reference.len())?;
        let n = d.basis.columns();
        if s.curvature.rows() > 0 || s.curvature.columns() > 0 {
            size("curvature rows", s.curvature.rows(), n)?;
            size("curvature columns", s.curvature.columns(), pairs(n))?;
        }
        finite("curvature", s.curvature.is_finite())?;
        size("coordinates of a sample", m.basis.columns(), d.basis.columns())?;
        size("links of a sample", m.links.len(), first.links.len())?;
        let servos = m.servos.len();
        size("servos of a sample", servos, first.servos.len())?;
        size("servo forces of a sample", s.servos.force.len(), servos)?;
        size("servo stiffness rows", s.servos.stiffness.rows(), servos)?;
        size("servo stiffness columns", s.servos.stiffness.columns(), servos)?;
        let forces = s.servos.force.iter().all(|f| f.is_finite());
        finite("servo terms", forces && s.servos.stiffness.is_finite())?;
        if by_basis {
            orthonormal("basis of a sample", &m.basis, m.radius)?;
        }
    }
    if d.kinematics == Kinematics::Joints {
        size("samples whose links follow the joints", d.chart.len(), 1)?;
        size("samples whose links follow the joints", d.samples.len(), 1)?;
    } else {
        size("forces on links that do not follow the joints", d.link_forces.len(), 0)?;
    }
    let forces = d.link_forces.iter();
    finite("force on a link", forces.clone().all(|f| (f.force + f.point).is_finite()))?;
    if let Some(f) = forces.clone().find(|f| f.link >= first.links.len()) {
        return Err(ModelError::WrongSize {
            quantity: "links up to that of a force",
            found: first.links.len(),
            expected: f.link.saturating_add(1),
        });
    }
    if d.chart.is_empty() {
        return Ok(());
    }
    size("samples of the chart", d.chart.len(), d.samples.len())?;
    if !matches!(d.weights, Weights::Shepard { .. }) {
        return Err(ModelError::WeightsOfChart);
    }
    if let Some(g) = &d.guard {
        let n = d.basis.columns();
        size("rows of the guard's metric", g.metric.rows(), n)?;
        size("columns of the guard's metric", g.metric.columns(), n)?;
        let symmetric = g.metric.sub(&g.metric.transpose()).max_abs() == 0.0;
        let metric = g.metric.is_finite() && symmetric && g.metric.is_positive_definite();
        finite("metric of the guard", metric)?;
        finite("stiffness of the guard", g.stiffness.is_finite() && g.stiffness > 0.0)?;
    }
    for (c, s) in d.chart.iter().zip(&d.samples) {
        chart::check(c, s.model.data())?;
    }
    Ok(())
}

/// BᵀS²B = 1 to rounding.
fn orthonormal(quantity: &'static str, b: &Matrix, radius: f64) -> Result<(), ModelError> {
    let gram = dual(b, radius).transpose_mul(b);
    if gram.sub(&Matrix::identity(b.columns())).max_abs() < 1e-9 {
        return Ok(());
    }
    Err(ModelError::NotOrthonormal { quantity })
}
