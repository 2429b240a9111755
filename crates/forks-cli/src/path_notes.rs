//! Sentences about the path on which an equilibrium was found.

use forks_dynamics::statics::{Equilibrium, EquilibriumStatus, PathEventKind};
use forks_mechanism::Mechanism;

use crate::output::short;

/// Where the continuous path branched or broke, and that its end is unstable.
pub(crate) fn path_notes(m: &Mechanism, e: &Equilibrium) -> Vec<String> {
    let mut out: Vec<String> = e
        .events
        .iter()
        .map(|event| {
            let (at, joint) = (short(event.load_scale), m.joint_label(event.joint));
            match event.kind {
                PathEventKind::Branching => format!(
                    "at {at} of the loads the equilibrium turned unstable; the stable branch that \
                     leaves it \
                     through joint {joint} was followed, of which there may be a mirror image"
                ),
                PathEventKind::SnapThrough => format!(
                    "at {at} of the loads no stable equilibrium was near: snapped through to \
                     another one, most at joint {joint} (a very soft mechanism looks the same)"
                ),
            }
        })
        .collect();
    if e.status == EquilibriumStatus::Unstable && !e.events.is_empty() {
        out.push("the end is unstable, and no stable equilibrium was found downhill of it".into());
    }
    out
}
