//! Integration tests of forks-blend, one binary: a file per subject.

mod blend;
mod blend_bent;
mod blend_chart;
mod blend_files;
mod blend_links;
mod blend_policies;
mod blend_support;
mod contact;
mod crossfade;
mod floating;
mod fuzz_corpus;
mod instances;
