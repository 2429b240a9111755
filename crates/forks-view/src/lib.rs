//! A mechanism in motion in the browser.
//!
//! ```text
//! Source ──► session   a thread that steps the mechanism at its own rate, and answers commands
//!               │
//!              hub      the newest frame and what was said, for any number of pages
//!               │
//!            server     HTTP and WebSocket on the loopback interface: token, origin, sizes checked
//!               │
//!             page      the viewer of recordings (`forks_io::html`) with hands
//! ```
//!
//! The session never waits for a page: it leaves its newest frame in the hub, and a page that is
//! slow gets the newest when it asks for the next. Forces on bodies are springs from a point of a
//! body to a place in the world, implicit in the point's own motion, so that stiff ones hold too.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod command;
mod error;
mod frame;
mod http;
mod hub;
mod options;
mod page;
mod server;
mod session;
mod socket;
mod source;
mod subject;

pub use error::ViewError;
pub use options::ViewOptions;
pub use server::Server;
pub use source::{Again, Awaited, MechanismSource, Source};
