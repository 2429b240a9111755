//! Parametric mechanisms: what examples, tests, benchmarks and scenes are made of, as functions.
//!
//! All of them are at rest and unstressed in the start pose, without limits and, but for those of
//! scenes with contact (firefighters, hexapod, peg arm), without gravity. Link frames are parallel
//! to the world's axes in the start pose unless a page says otherwise. Sizes of zero count as one,
//! so that every mechanism has an effector.

mod accuracy;
mod arm;
mod bicycle_chain;
mod driven;
mod firefighters;
mod four_bar;
mod four_bar_chain;
mod helix;
mod hexapod;
mod ladder;
mod millipede;
pub mod molecules;
mod octahedral_truss;
mod parallelogram;
mod peg_arm;
mod scott_russell;
mod sketch;
mod two_joint;
mod y_mechanism;

use forks_mechanism::{LinkId, Mechanism};

pub use forks_mechanism as mechanism;

pub use accuracy::{coil, dill};
pub use arm::arm20;
pub use bicycle_chain::bicycle_chain;
pub use firefighters::firefighters;
pub use four_bar::four_bar;
pub use four_bar_chain::four_bar_chain;
pub use helix::{HelixJoints, helix};
pub use hexapod::hexapod;
pub use ladder::{irregular_ladder, irregular_ladder_of_links, ladder, ladder_of_links};
pub use millipede::millipede;
pub use octahedral_truss::octahedral_truss;
pub use parallelogram::parallelogram;
pub use peg_arm::{peg_arm, peg_arm_targets};
pub use scott_russell::scott_russell;
pub use two_joint::two_joint_example;
pub use y_mechanism::y_mechanism;

/// A mechanism together with the links that touch the world.
#[derive(Clone, Debug)]
pub struct Parametric {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Its end effectors.
    pub effectors: Vec<LinkId>,
}

/// Names of mechanisms that [`named`] makes.
pub const NAMES: &[&str] = &["firefighters", "hexapod", "peg_arm", "helix20", "arm20", "y"];

/// A mechanism by its name.
pub fn named(name: &str) -> Option<Parametric> {
    Some(match name {
        "firefighters" => firefighters(),
        "hexapod" => hexapod(),
        "peg_arm" => peg_arm(),
        "helix20" => helix(20, HelixJoints::Hinge3),
        "arm20" => arm20(),
        "y" => y_mechanism(),
        _ => return None,
    })
}

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
