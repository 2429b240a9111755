//! Integration tests of forks-sim, one binary: a file per subject.

mod bits;
mod blended;
#[cfg(feature = "scene")]
mod ends;
#[cfg(feature = "scene")]
mod export;
mod floating;
#[cfg(feature = "scene")]
mod grip;
#[cfg(feature = "twin")]
mod joint_friction;
mod limits;
mod mechanism;
#[cfg(feature = "twin")]
mod restore;
mod rigid;
mod rolling;
#[cfg(feature = "scene")]
mod scene;
mod shapes;
mod support;
#[cfg(feature = "scene")]
mod touching;
#[cfg(feature = "twin")]
mod twin;
#[cfg(all(feature = "scene", feature = "twin"))]
mod twin_scenes;
#[cfg(feature = "twin")]
mod winch;
