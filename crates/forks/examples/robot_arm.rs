//! Hybrid dynamics of a robot arm: some joints follow a motion, the others swing freely.
//!
//! `cargo run -p forks --example robot_arm`

use std::{error::Error, path::Path};

use forks::{
    dynamics::tree::{AbaWorkspace, LinkLoads, RneaWorkspace, Tree, hybrid, rnea},
    prelude::*,
};

fn main() -> Result<(), Box<dyn Error>> {
    // A Kinova arm of seven joints with a gripper.
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    let file = models.join("kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf");
    let arm = load_model(&file, &ImportOptions::default())?.mechanism;
    let tree = Tree::new(&arm);
    let n = tree.velocity_count();
    println!("{} links, {n} coordinates, {:.2} kg", arm.links().len() - 1, arm.moving_mass());

    // Where it is: bent a little, at rest.
    let mut q = arm.start_positions()[..tree.position_count()].to_vec();
    q.iter_mut().zip([0.3, 0.6, -0.4, 0.9, 0.2, -0.5]).for_each(|(q, x)| *q += x);
    let v = vec![0.0; n];

    // The first three joints shall accelerate by 1, -2 and 0.5 rad/s²; no motor drives the others.
    let mut prescribed = vec![false; n];
    let mut given = vec![0.0; n];
    for (k, acceleration) in [1.0, -2.0, 0.5].into_iter().enumerate() {
        prescribed[k] = true;
        given[k] = acceleration;
    }
    let (mut acceleration, mut torque) = (vec![0.0; n], vec![0.0; n]);
    hybrid(
        &tree,
        &mut AbaWorkspace::new(&tree),
        &q,
        &v,
        &prescribed,
        &given,
        &LinkLoads::GRAVITY,
        &mut acceleration,
        &mut torque,
    )?;
    println!("joint    prescribed  acceleration (rad/s²)  torque (N·m)");
    for name in ["joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6", "joint_7"] {
        let joint = arm.find_joint(name).ok_or("the arm has seven joints")?;
        let k = arm.velocity_range(joint).start;
        let how = if prescribed[k] { "yes" } else { "no" };
        println!("{name}  {how:>10}  {:21.3}  {:12.3}", acceleration[k], torque[k]);
    }

    // The other way round: the torques that these accelerations need, by inverse dynamics.
    let mut again = vec![0.0; n];
    let mut work = RneaWorkspace::new(&tree);
    rnea(&tree, &mut work, &q, &v, &acceleration, &LinkLoads::GRAVITY, &mut again);
    let error = again.iter().zip(&torque).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("inverse dynamics agrees within {error:.1e} N·m");
    assert!(error < 1e-9);
    Ok(())
}
