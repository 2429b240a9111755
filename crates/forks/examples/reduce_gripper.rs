//! A gripper becomes a small model of its two pads: read, reduce, squeeze, look at every link.
//!
//! `cargo run -p forks --example reduce_gripper`

use std::{error::Error, path::Path};

use forks::{
    glam::DVec3,
    prelude::*,
    rom::{Reconstruction, StaticStatus},
};

fn main() -> Result<(), Box<dyn Error>> {
    // Robotiq 2F-85: two fingers of four bars each, coupled by a tendon. Notes say what of the file
    // is not exact here.
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    let import =
        load_model(&models.join("robotiq_2f85/2f85.nomesh.xml"), &ImportOptions::default())?;
    let gripper = &import.mechanism;
    println!("{} links, {} joints", gripper.links().len() - 1, gripper.joints().len());

    // Offline: what touches the world are the two pads. Joints without a spring get 1 N·m/rad, so
    // that everything the pads do is compliant.
    let options = ProblemOptions { default_stiffness: Some(1.0), ..ProblemOptions::default() };
    let problem = Problem::new(gripper, &["left_pad", "right_pad"], &options)?;
    let model = problem.reduce(problem.at_rest(), &ReduceOptions::default())?.model;
    println!("reduced to {} coordinates", model.dof());

    // Online: 5 N press the pads apart, along the line between them.
    let at_rest = model.solve_static(&[], &[])?;
    let pad = |e: usize, eta: &[f64]| model.effector_pose(e, eta).translation;
    let gap = pad(1, &at_rest.coordinates) - pad(0, &at_rest.coordinates);
    let push = |effector: usize, force: DVec3| EffectorLoad {
        effector,
        wrench: Wrench::new(force, DVec3::ZERO),
        frame: LoadFrame::World,
    };
    let outward = 5.0 * gap.normalize();
    let held = model.solve_static(&[push(0, -outward), push(1, outward)], &[])?;
    assert_eq!(held.status, StaticStatus::Converged);
    let opened = (pad(1, &held.coordinates) - pad(0, &held.coordinates)).length() - gap.length();
    println!("the pads are {:.1} mm apart at rest", 1e3 * gap.length());
    println!("5 N open them by {:.2} mm: {:.0} N/m", 1e3 * opened, 5.0 / opened);

    // The pose of every other link follows from the pads'.
    let rest = model.link_poses(&at_rest.coordinates, &[], Reconstruction::JointSpace);
    let poses = model.link_poses(&held.coordinates, &[], Reconstruction::JointSpace);
    let moved = |l: usize| 1e3 * poses[l].translation.distance(rest[l].translation);
    let most = (0..poses.len()).max_by(|a, b| moved(*a).total_cmp(&moved(*b))).unwrap_or(0);
    println!("'{}' moves most: {:.2} mm", model.data().links[most].name, moved(most));

    // A reduced model is a small file, loaded without mechanism and solver.
    let bytes = model.to_bytes();
    assert_eq!(ReducedModel::from_bytes(&bytes)?, model);
    println!("as a file: {:.1} kB", 1e-3 * bytes.len() as f64);
    Ok(())
}
