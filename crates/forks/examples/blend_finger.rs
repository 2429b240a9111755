//! A finger bends too far for one linear model: several are placed and blended.
//!
//! `cargo run -p forks --example blend_finger`

use std::{error::Error, ops::ControlFlow, path::Path};

use forks::{
    glam::DVec3,
    place::{Chart, LoadRegion, Placement, place},
    prelude::*,
};

fn main() -> Result<(), Box<dyn Error>> {
    // The forefinger of the Shadow hand; the servos of its joints act as springs.
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    let file = models.join("shadow_hand_right/right_hand.nomesh.xml");
    let hand = load_model(&file, &ImportOptions::default())?.mechanism;
    let problem = Problem::new(&hand, &["rh_ffdistal"], &ProblemOptions::default())?;

    // Forces on the fingertip within 30° of the palm's normal, up to a relative displacement of 1.
    // Stretched, a finger cannot give way along itself: such are blended in joint displacements.
    let region = LoadRegion::cone(0, -DVec3::Y, 30f64.to_radians());
    let placement = Placement {
        regions: vec![LoadRegion { displacement: 1.0, ..region }],
        chart: Chart::Joints,
        constraint_tolerance: 2e-3,
        static_tolerance: 2e-3,
        max_samples: 3,
        training_loads: 8,
        ..Placement::default()
    };
    let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(()))?;
    for round in &placed.rounds {
        println!(
            "{} model(s): gaps of {:.2} % of the finger's size, tip off by {:.1} %",
            round.samples,
            100.0 * round.constraint,
            100.0 * round.statics
        );
    }

    // The blend answers like a reduced model: here a push of 2 N against the full solver.
    let model = placed.model;
    let tip = problem.effectors[0].link;
    let push = Wrench::new(DVec3::new(0.0, -2.0, 0.0), DVec3::ZERO);
    let load = EffectorLoad { effector: 0, wrench: push, frame: LoadFrame::World };
    let found = model.solve_static(&[load], &[])?;
    let ours = model.effector_pose(0, &found.coordinates).translation;
    let loads = Loads::none().with_world_wrench(tip, push);
    let full = problem.equilibrium(&loads, &EquilibriumOptions::default());
    let theirs = full.world_from_link[tip.index()].translation;
    let rest = hand.link_poses(&problem.start)[tip.index()].translation;
    println!(
        "2 N move the tip by {:.1} mm; the blend is off by {:.2} mm",
        1e3 * theirs.distance(rest),
        1e3 * ours.distance(theirs)
    );
    Ok(())
}
