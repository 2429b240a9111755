//! `forks control`: commands that bring tasks about.
//!
//! ```text
//! words      tasks as the command line has them
//! state      the mechanism that is driven, step after step
//! command    all of it
//! report     the answer
//! reduced    all of it for reduced models, step by step or over a horizon
//! recording  the motion as CSV, JSON, 3D page, glTF
//! ```

mod args;
mod command;
mod recording;
mod reduced;
mod report;
mod state;
mod words;

pub(crate) use args::ControlArgs;
pub(crate) use command::run;
