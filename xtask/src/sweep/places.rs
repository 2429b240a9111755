//! Where named frames and shapes of two programs differ.
//!
//! Positions: 1e-9 of the number or of a metre; matrices: 1e-9; with meshes, whose vertices are
//! single precision in MuJoCo, 1e-5. The axes of a primitive fitted to a mesh are principal axes,
//! whose signs are free: with meshes the rotations of shapes are not compared.

use super::{
    facts::{FrameFact, ShapeFact},
    near::{EXACT, near},
};

const MESHES: f64 = 1e-5;

/// What differs in named frames.
pub(super) fn frames(
    meshes: bool,
    ours: &[FrameFact],
    theirs: &[FrameFact],
    out: &mut Vec<String>,
) {
    if ours.len() != theirs.len() {
        out.push(format!("{} named frames, theirs {}", ours.len(), theirs.len()));
        return;
    }
    for (our, their) in ours.iter().zip(theirs) {
        frame("frame", if meshes { MESHES } else { EXACT }, true, our, their, out);
    }
}

/// What differs in shapes.
pub(super) fn shapes(
    meshes: bool,
    ours: &[ShapeFact],
    theirs: &[ShapeFact],
    out: &mut Vec<String>,
) {
    if ours.len() != theirs.len() {
        out.push(format!("{} shapes, theirs {}", ours.len(), theirs.len()));
        return;
    }
    let tolerance = if meshes { MESHES } else { EXACT };
    for (our, their) in ours.iter().zip(theirs) {
        frame("shape", tolerance, !meshes, &our.frame, &their.frame, out);
        let what = |s: &ShapeFact| format!("{} of size {:?}", s.kind, s.size);
        let sizes = our.size.iter().zip(&their.size);
        let same = our.kind == their.kind && our.size.len() == their.size.len();
        if !(same && sizes.into_iter().all(|(a, b)| near(*a, *b, tolerance, 0.0))) {
            let (name, ours, theirs) = (&our.frame.name, what(our), what(their));
            out.push(format!("shape '{name}' is a {ours}, theirs a {theirs}"));
        }
        if !near(our.friction, their.friction, EXACT, 0.0) {
            let (name, ours, theirs) = (&our.frame.name, our.friction, their.friction);
            out.push(format!("friction of shape '{name}' {ours}, theirs {theirs}"));
        }
    }
}

fn frame(
    what: &str,
    tolerance: f64,
    turned: bool,
    our: &FrameFact,
    their: &FrameFact,
    out: &mut Vec<String>,
) {
    let name = &our.name;
    if (&our.name, &our.link) != (&their.name, &their.link) {
        let (link, theirs, on) = (&our.link, &their.name, &their.link);
        out.push(format!("{what} '{name}' on '{link}', theirs '{theirs}' on '{on}'"));
        return;
    }
    let pairs = our.position.iter().zip(&their.position);
    if !pairs.into_iter().all(|(a, b)| near(*a, *b, tolerance, 1.0)) {
        let (ours, theirs) = (our.position, their.position);
        out.push(format!("{what} '{name}' at {ours:?}, theirs at {theirs:?}"));
    }
    let mut pairs = our.rotation.iter().zip(&their.rotation);
    if turned && !pairs.all(|(a, b)| near(*a, *b, tolerance, 1.0)) {
        let (ours, theirs) = (our.rotation, their.rotation);
        out.push(format!("{what} '{name}' is turned by {ours:.4?}, theirs by {theirs:.4?}"));
    }
}
