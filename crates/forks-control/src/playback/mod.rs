//! Playback: some joints follow curves, springs or forces, physics moves the rest.
//!
//! A curve is hit at every step: what the step is asked for is v⁺ = (q(t + h) ⊟ q)/h, not the
//! curve's velocity, and the force is the one of the discrete step that does it. A switch of modes
//! leaves positions and velocities as they are, so that it keeps momentum; a curve that begins
//! elsewhere or faster is caught up with by an impulse on its joints, which the others feel.

mod machine;
mod mode;
mod player;
mod scheme;
mod timeline;

pub use mode::{Group, Mode, PlaybackError};
pub use player::{Player, Step};
pub use scheme::Scheme;
pub use timeline::{At, Timeline, TimelineError};
