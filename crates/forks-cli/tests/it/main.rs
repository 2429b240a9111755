//! Integration tests of forks-cli, one binary: a file per subject.

mod at_rest;
mod blended;
mod cli;
mod control;
mod driven;
mod dynamics_golden;
mod floating;
mod forces;
mod free_bodies;
mod golden;
mod inspect_scene;
mod joint_forces;
mod limits;
mod motion;
mod paths;
mod pinocchio_golden;
mod play;
mod pose;
mod quasistatic;
mod reduced;
mod rounded_loops;
mod scene;
mod side;
mod solve;
mod support;
mod urdf;
