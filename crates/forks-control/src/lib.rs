#![doc = include_str!("../README.md")]

pub mod controller;
pub mod filter;
pub mod lexicographic;
pub mod plant;
pub mod task;
