//! Integration tests of forks-blend, one binary: a file per subject.

mod bent_blends;
mod full;
mod joint_chart;
mod live;
mod placement;
mod servos;
mod sharper;
mod third_order;
