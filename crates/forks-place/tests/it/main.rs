//! Integration tests of forks-place, one binary: a file per subject.

mod bent_blends;
mod cables;
mod floating;
mod full;
mod invariance;
mod joint_chart;
mod live;
mod manifold;
mod placement;
mod ruler;
mod servos;
mod sharper;
mod third_order;
