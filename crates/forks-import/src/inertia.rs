//! What becomes of an inertia that no body can have.

use forks_mechanism::{ImpossibleInertia, InertiaVerdict, MechanismBuilder, lie::Digits};

use crate::Effect;

/// What to note about it; balanced where that was asked for, whatever it moves.
///
/// # Errors
/// Where it moves a body, the sentence that refuses it.
pub(crate) fn judge(
    found: &ImpossibleInertia,
    builder: &mut MechanismBuilder,
    balance: bool,
) -> Result<(Effect, String), String> {
    let what = &found.problem;
    if balance {
        builder.make_isotropic(found.link);
        let mean = builder.links()[found.link.index()].inertia.inertia.x_axis.x;
        let reason = format!("{what}; replaced by their mean, {}", Digits(mean));
        return Ok((Effect::Approximated, reason));
    }
    match found.verdict {
        InertiaVerdict::Still => Ok((
            Effect::Ignored,
            format!("{what}; the link is fixed to the world, its inertia does not count"),
        )),
        InertiaVerdict::Carried => Ok((
            Effect::Approximated,
            format!("{what}; used as it is, a small part of the body that the link is fixed to"),
        )),
        InertiaVerdict::Moving => Err(format!(
            "{what}; no body has such an inertia (the option balance_inertia, --balance-inertia of \
            the program, replaces the moments by their mean)"
        )),
    }
}
