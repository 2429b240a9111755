//! From the linear behaviour at a pose to a reduced model.

use forks_dynamics::Cancel;
use forks_mechanism::linalg::{Matrix, dense};
use forks_rom::{
    ReducedModel,
    data::{DEFAULT_RANGE, ModelData},
};

use crate::{
    attached::Attached,
    base::base_rest,
    damping::Damping,
    drive::Drive,
    error::ReduceError,
    linearisation::Linearisation,
    linearised::Linearised,
    mass::{MassModel, add_mass},
    problem::Problem,
    static_model::static_model,
};

/// Motions whose compliance-weighted mass is below this part of the largest have no finite
/// frequency.
const MASSLESS: f64 = 1e-13;

/// What kind of model a reduction makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReduceOptions {
    /// The mass. Default: of the static shapes.
    pub mass: MassModel,
    /// The damping. Default: what the joints dissipate along the shapes.
    pub damping: Damping,
    /// Dimensionless twist of an effector up to which the model is to be used.
    pub range: f64,
    /// The root that the problem holds is the base of a model that floats. With
    /// [`MassModel::Accelerability`] the base's momentum is that of the motions that belong to this
    /// mass, M⁻¹Jᵀ(JM⁻¹Jᵀ)⁻¹B; otherwise that of the links' maps. Default `false`.
    pub floating: bool,
    /// The pose may be held by nothing but the loads on the effectors, as a linearisation point of
    /// a blend: 𝓗 need not be positive definite. Default `false`.
    pub held_by_loads: bool,
    /// Drives after the servos.
    pub drives: Vec<Drive>,
    /// Stops the reduction; asked before every joint of the sweep and between all other parts, of
    /// which dense algebra takes longest. Default: never.
    pub cancel: Cancel,
}

impl Default for ReduceOptions {
    fn default() -> Self {
        Self {
            mass: MassModel::default(),
            damping: Damping::default(),
            range: DEFAULT_RANGE,
            floating: false,
            held_by_loads: false,
            drives: vec![],
            cancel: Cancel::default(),
        }
    }
}

/// A reduced model with what was found on the way.
#[derive(Clone, Debug)]
pub struct Reduction<'a> {
    /// The run-time model. With [`MassModel::CraigBampton`] it has further coordinates after those
    /// of the basis, [`Reduction::modes`] of them.
    pub model: ReducedModel,
    /// The linear behaviour from which it was made.
    pub linear: Linearised<'a>,
    /// Amplitudes of the superelements' internal modes per reduced coordinate, those of one after
    /// those of the other, modes × n_η; zero but in fixed-effector modes.
    pub internal: Matrix,
}

impl Problem {
    /// The reduced model about a pose.
    ///
    /// # Errors
    /// See [`ReduceError`]: motions that nothing resists, effectors that cannot move; damping
    /// coefficients that are negative or not finite, undamped joints with
    /// [`crate::JointDamping::Inverse`], motions without mass with [`MassModel::Accelerability`],
    /// poses that are not stable with the effectors held and mechanisms above
    /// [`crate::DENSE_LIMIT`] where dense algebra is needed; a base that is not free; being asked
    /// to stop.
    pub fn reduce<'a>(
        &'a self,
        at: Linearisation<'a>,
        options: &ReduceOptions,
    ) -> Result<Reduction<'a>, ReduceError> {
        options.damping.check()?;
        let go_on = || match options.cancel.is_asked() {
            true => Err(ReduceError::Cancelled),
            false => Ok(()),
        };
        let linear = Linearised::new(self, at, &options.drives, &options.cancel)?;
        go_on()?;
        let (mut data, mut shapes) = static_model(&linear)?;
        go_on()?;
        add_mass(&linear, options.mass, &mut data, &mut shapes)?;
        go_on()?;
        data.damping = options.damping.matrix(&linear, &shapes, &data.mass, &data.hessian)?;
        data.range = options.range;
        if options.floating {
            data.base = Some(base_rest(&linear, options.mass, &data)?);
        }
        let model = match options.held_by_loads {
            true => ReducedModel::held_by_loads(data)?,
            false => ReducedModel::new(data)?,
        };
        Ok(Reduction { model, linear, internal: shapes.internal })
    }
}

impl Reduction<'_> {
    /// How many fixed-effector modes the model has: as many as were asked for, or as there are.
    pub fn modes(&self) -> usize {
        self.model.dof() - self.linear.basis.rank
    }

    /// The superelements that were reduced with the mechanism.
    pub fn attached(&self) -> &[Attached] {
        self.linear.attached()
    }

    /// Frequencies of the reduced model, rad/s, ascending, from M x = ω⁻² 𝓗 x; none for motions
    /// without mass. Beside them [`Linearised::full_frequencies`].
    pub fn frequencies(&self) -> Vec<f64> {
        natural_frequencies(self.model.data())
    }
}

/// Frequencies of a reduced model, rad/s, ascending, from M x = ω⁻² 𝓗 x; none for motions without
/// mass, none at all where 𝓗 is not positive definite.
pub fn natural_frequencies(data: &ModelData) -> Vec<f64> {
    let modes = dense::generalized_symmetric_eigen(&data.mass, &data.hessian);
    let Some((nu, _)) = modes else { return vec![] };
    let least = MASSLESS * nu.last().copied().unwrap_or(0.0);
    nu.iter().rev().filter(|&&x| x > least).map(|x| (1.0 / x).sqrt()).collect()
}
