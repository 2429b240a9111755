#![doc = include_str!("../README.md")]

pub mod filter;
pub mod lexicographic;
pub mod plant;
