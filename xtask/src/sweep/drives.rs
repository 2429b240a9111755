//! Where springs, drives and keyframes of two programs differ; `exact` is the relative tolerance of
//! what goes through the mass matrix.

use super::{
    facts::{DriveFact, JointFact, KeyframeFact},
    near::{EXACT, near},
};

/// What differs in what a joint has of its own.
pub(super) fn springs(exact: f64, our: &JointFact, their: &JointFact, out: &mut Vec<String>) {
    let mut check = |what: &str, ours: f64, theirs: f64, floor: f64| {
        if !near(ours, theirs, exact, floor) {
            out.push(format!("{what} of joint '{}' {ours}, theirs {theirs}", our.name));
        }
    };
    check("stiffness", our.stiffness, their.stiffness, 0.0);
    check("damping", our.damping, their.damping, 0.0);
    check("armature", our.armature, their.armature, 0.0);
    if let (Some(ours), Some(theirs)) = (our.range, their.range) {
        check("lower limit", ours[0], theirs[0], 1e-6);
        check("upper limit", ours[1], theirs[1], 1e-6);
    }
    if let (Some(ours), Some(theirs), true) = (our.rest, their.rest, their.stiffness != 0.0) {
        check("spring's rest", ours, theirs, 1e-6);
    }
    // URDF's limits are 0 and 0 where a file says nothing, and so they are here and in Pinocchio;
    // MuJoCo takes a range without extent for none.
    let limited = |range: Option<[f64; 2]>| match range {
        Some([low, high]) if low != high => "limits",
        _ => "none",
    };
    let (ours, theirs) = (limited(our.range), limited(their.range));
    if their.keeps_range && ours != theirs {
        out.push(format!("limits of joint '{}': {ours}, theirs {theirs}", our.name));
    }
}

/// What differs in servos, or in springs along tendons.
pub(super) fn drives(
    what: &str,
    exact: f64,
    ours: &[DriveFact],
    theirs: &[DriveFact],
    out: &mut Vec<String>,
) {
    if ours.len() != theirs.len() {
        out.push(format!("{} {what}s, theirs {}", ours.len(), theirs.len()));
        return;
    }
    for (our, their) in ours.iter().zip(theirs) {
        let name = &our.name;
        let on = |d: &DriveFact| {
            let joints = d.joints.iter().map(|(j, _)| format!("'{j}'"));
            joints.collect::<Vec<_>>().join(", ")
        };
        let coefficients = our.joints.iter().zip(&their.joints);
        if name != &their.name {
            out.push(format!("{what} '{name}', theirs '{}'", their.name));
        } else if on(our) != on(their) {
            out.push(format!("{what} '{name}' acts on {}, theirs on {}", on(our), on(their)));
        } else if !coefficients.clone().all(|(a, b)| near(a.1, b.1, exact, 0.0)) {
            out.push(format!(
                "{what} '{name}': coefficients {:?}, theirs {:?}",
                our.joints, their.joints
            ));
        }
        let mut check = |quantity: &str, ours: f64, theirs: f64, floor: f64| {
            if !near(ours, theirs, exact, floor) {
                out.push(format!("{quantity} of {what} '{name}' {ours}, theirs {theirs}"));
            }
        };
        check("stiffness", our.stiffness, their.stiffness, 0.0);
        check("damping", our.damping, their.damping, 0.0);
        if their.stiffness != 0.0 {
            check("rest length", our.rest, their.rest, 1e-6);
        }
    }
}

/// What differs in keyframes.
pub(super) fn keyframes(ours: &[KeyframeFact], theirs: &[KeyframeFact], out: &mut Vec<String>) {
    if ours.len() != theirs.len() {
        out.push(format!("{} keyframes, theirs {}", ours.len(), theirs.len()));
        return;
    }
    for (i, (our, their)) in ours.iter().zip(theirs).enumerate() {
        if our.name != their.name {
            out.push(format!("keyframe {i} is '{}', theirs '{}'", our.name, their.name));
        }
        let pairs = our.positions.iter().zip(&their.positions);
        let same = our.positions.len() == their.positions.len();
        if !(same && pairs.clone().all(|(a, b)| near(*a, *b, EXACT, 1e-3))) {
            let worst = pairs.enumerate().find(|(_, (a, b))| !near(**a, **b, EXACT, 1e-3));
            out.push(format!("keyframe '{}' (number {i}): qpos {worst:?}", our.name));
        }
    }
}
