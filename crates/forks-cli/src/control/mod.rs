//! `forks control`: commands that bring tasks about.
//!
//! ```text
//! words      tasks as the command line has them
//! resolve    their names looked up in a mechanism
//! state      the mechanism that is driven, step after step
//! command    all of it
//! report     the answer
//! recording  the motion as CSV, JSON, 3D page, glTF
//! ```

mod args;
mod command;
mod recording;
mod report;
mod resolve;
mod state;
mod words;

pub(crate) use args::ControlArgs;
pub(crate) use command::run;
