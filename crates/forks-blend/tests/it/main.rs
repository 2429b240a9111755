//! Integration tests of forks-blend, one binary: a file per subject.

mod bent_blends;
mod blend;
mod blend_bent;
mod blend_chart;
mod blend_files;
mod blend_links;
mod blend_policies;
mod blend_support;
mod contact;
mod crossfade;
mod full;
mod fuzz_corpus;
mod invariance;
mod joint_chart;
mod live;
mod placement;
mod servos;
mod sharper;
mod third_order;
