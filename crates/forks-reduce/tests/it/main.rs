//! Integration tests of forks-reduce, one binary: a file per subject.

mod beside;
mod cables;
mod cancel;
mod dead_centres;
mod drives;
mod floating_base;
mod floating_support;
mod graphs;
mod grasped;
mod joint_loads;
mod limits;
mod loaded;
mod long_ladders;
mod mass_loaded;
mod mass_models;
mod rounded_loops;
mod scene_mechanisms;
mod superelements;
mod unloaded;
