//! What `forks-blend` shares with this crate: kernels, packed matrices, parts of files.
//!
//! It is no part of the interface and may change in any release.

pub use crate::{
    base::carry,
    effectors::{EffectorBlocks, WorldTwist, WorldWrench, load_in_world},
    joints::{coordinate::start, displacement::displacement, is_group},
    kernel::{LinkBlocks, POSE, displaced, half_angle_coefficients, pose_entries, pose_of},
    load::{assert_effectors, check_loads},
    load_steps::{LoadSteps, NewtonEnd},
    reconstruction::displaced_joint,
    state::check as check_numbers,
    transition::Packed,
};

/// Steps of a base that floats.
pub mod floating {
    pub use crate::base::{
        BaseInertia, Equations, FIRST_RATE, FloatingWork, Response, Start, angular, contract,
        solve, vectors, zero_padded,
    };
}

/// Work on several threads.
pub mod parallel {
    pub use crate::parallel::{for_each, for_each_chunk};
}

/// Parts of files.
pub mod files {
    #[cfg(feature = "std")]
    pub use crate::file::disk::{load, save};
    pub use crate::file::{
        SCALAR,
        json::text,
        read::{content, header, read},
        reader::Reader,
        write::Writer,
    };
}
