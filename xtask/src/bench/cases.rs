//! All cases by name.

use super::{
    adaptive, blended,
    case::{Case, Context},
    contact, divide, forward, kernel, matched, million, pgs, reduced, reduction, scaling,
};

/// Measures the case of a name; one result per number of threads.
type Measure = fn(&str, &Context<'_>) -> Result<Vec<Case>, String>;

/// All cases in the order in which they run.
pub(super) const ALL: &[(&str, Measure)] = &[
    ("aba/helix-400", forward::helix),
    ("aba/humanoid", forward::humanoid),
    ("dca/chain-4000", divide::chain),
    ("adaptive/chain-50000", adaptive::chain),
    ("adaptive/polymer-50000", adaptive::polymer),
    ("adaptive/bushy-50000", adaptive::bushy),
    ("adaptive/millipede-13000", adaptive::millipede),
    ("reduced/helix-50", reduced::helix_50),
    ("reduced/helix-100", reduced::helix_100),
    ("reduced/helix-400", reduced::helix_400),
    ("reduced/ladder-48", reduced::ladder_48),
    ("reduced/arm-20", reduced::arm_20),
    ("reduced/scaling", scaling::scaling),
    ("reduced/chain-1000000", million::chain),
    ("blended/helix-200x1", blended::helix_200::<1>),
    ("blended/helix-200x2", blended::helix_200::<2>),
    ("blended/helix-200x4", blended::helix_200::<4>),
    ("blended/helix-200x8", blended::helix_200::<8>),
    ("blended/ladder-36x4", blended::ladder_36::<4>),
    ("blended/arm-20x4", blended::arm_20::<4>),
    ("blended/y-joints-x6", blended::y_joints::<6>),
    ("blended/finger", blended::finger),
    ("blended/links-helix-200", blended::links_200),
    ("blended/links-helix-400", blended::links_400),
    ("matched/arm-20", matched::arm_20),
    ("matched/helix-20", matched::helix_20),
    ("matched/helix-100", matched::helix_100),
    ("matched/ladder-36", matched::ladder_36),
    ("matched/y", matched::y),
    ("contact/grasp", contact::grasp),
    ("contact/grasp-box", contact::grasp_box),
    ("contact/grasp-object", contact::grasp_object),
    ("contact/firefighters", contact::firefighters),
    ("contact/hexapod", contact::hexapod),
    ("contact/solo12", contact::solo12),
    ("contact/peg", contact::peg),
    ("contact/pgs", pgs::scaling),
    ("kernel/poses-6", kernel::poses_6),
    ("kernel/poses-12", kernel::poses_12),
    ("kernel/poses-18", kernel::poses_18),
    ("reduce/chain-10000", reduction::chain),
    ("reduce/bushy-10000", reduction::bushy),
];
