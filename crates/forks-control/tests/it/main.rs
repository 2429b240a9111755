//! Integration tests of forks-control, one binary: a file per subject.

mod allocation;
mod controller;
mod filter;
mod ik;
mod keyframe;
mod lexicographic;
mod limits;
mod objective;
mod plant;
mod playback;
mod priorities;
mod reduced;
mod touching;
mod units;
