//! Problems of files against the same made by hand, and against full equilibria.

use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_rom::{EffectorLoad, LoadFrame};
use forks_soft::{
    SoftProblem, SoftProblemOptions,
    condense::{
        SkinKind, TissuePose, condense,
        deform::{Commands, StaticsOptions},
        finger::SoftFinger,
        reduce::{MassModel, Problem, ProblemOptions, ReduceOptions},
    },
    tissue::TissueScene,
};

use crate::{Result, built, coarse, finger, folder, options};

#[test]
fn the_finger_of_the_file_is_the_one_that_is_built() -> Result {
    let soft = built(finger()?, &["pad"])?;
    assert_eq!(soft.sizes().collect::<Vec<_>>(), [("finger", 304, 972)]);
    let mass = MassModel::CraigBampton { modes: 4 };
    let of_file = SoftProblem::build(
        finger()?,
        &folder(),
        &SoftProblemOptions { mass, ..options(&["pad"]) },
    )?;
    let f = SoftFinger::default().build()?;
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let c = condense("finger", &f.body, &f.mechanism, &at, std::slice::from_ref(&f.pad), 8)?;
    let elements = vec![c.element];
    let by_hand =
        Problem::with_superelements(&f.mechanism, elements, &["pad"], &ProblemOptions::default())?;
    let by_hand =
        by_hand.reduce(by_hand.at_rest(), &ReduceOptions { mass, ..Default::default() })?;
    let reduction = of_file.reduce(&ReduceOptions { mass, ..Default::default() })?;
    let off = reduction.linear.compliance.sub(&by_hand.linear.compliance).max_abs();
    assert!(off < 1e-10 * by_hand.linear.compliance.max_abs(), "{off:e}");
    let (a, b) = (reduction.frequencies(), by_hand.frequencies());
    assert_eq!(a.len(), 10);
    // Squares of frequencies within κ ε of 𝓗.
    assert!(a.iter().zip(&b).all(|(a, b)| (a / b - 1.0).abs() < 1e-7), "{a:?} {b:?}");
    // The skin begins where the nodes of the surface are.
    let skinned = of_file.skinned(&reduction, SkinKind::Bone)?;
    assert_eq!(skinned.skins[0].len(), 304 - 17 * 4);
    Ok(())
}

#[test]
fn two_fingers_of_one_file_are_each_as_one() -> Result {
    let one = built(coarse()?, &["pad"])?;
    let one = one.reduce(&ReduceOptions::default())?.linear.compliance;
    let mut spec = coarse()?;
    let mut skeleton = spec.mechanisms[0].clone();
    skeleton.name = "other".into();
    skeleton.place.position = [0.0, 0.1, 0.0];
    skeleton.place.rpy_deg = Some([0.0, 0.0, 30.0]);
    spec.mechanisms.push(skeleton);
    let mut tissue = spec.tissues[0].clone();
    tissue.mechanism = Some("other".into());
    spec.tissues[0].mechanism = Some("finger".into());
    spec.tissues.push(tissue);
    let mut pad = spec.pads[0].clone();
    (pad.name, pad.tissue) = ("tip".into(), Some(2));
    spec.pads[0].tissue = Some(1);
    spec.pads.push(pad);
    let two = built(spec, &["pad", "tip"])?;
    let both = two.reduce(&ReduceOptions::default())?;
    let c = &both.linear.compliance;
    let scale = one.max_abs();
    assert!(c.block(0, 0, 6, 6).sub(&one).max_abs() < 1e-10 * scale);
    // Patches have the axes of the world at rest: the other's are turned by 30° about z.
    let (cos, sin) = (30f64.to_radians().cos(), 30f64.to_radians().sin());
    let turn = forks_mechanism::linalg::Matrix::from_fn(6, 6, |i, j| {
        let own = [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]];
        if i / 3 == j / 3 { own[i % 3][j % 3] } else { 0.0 }
    });
    let turned = turn.mul(&one).mul(&turn.transpose());
    assert!(c.block(6, 6, 6, 6).sub(&turned).max_abs() < 1e-10 * scale);
    assert!(c.block(0, 6, 6, 6).max_abs() < 1e-12 * scale);
    assert_eq!(two.skinned(&both, SkinKind::Twist)?.skins.len(), 2);
    Ok(())
}

#[test]
fn small_loads_on_an_equilibrium_under_weights_move_the_pad_as_the_whole_does() -> Result {
    let mut spec = coarse()?;
    spec.world.gravity = [0.0, 0.0, -9.81];
    let options = SoftProblemOptions { equilibrium: true, ..options(&["pad"]) };
    let soft = SoftProblem::build(spec.clone(), &folder(), &options)?;
    let model = soft.reduce(&ReduceOptions::default())?.model;
    // The whole, first under its weights.
    let mut scene = TissueScene::build(spec, &folder())?;
    let nodes = scene.pads[0].nodes.clone();
    let statics = StaticsOptions { tolerance: 1e-12, ..StaticsOptions::default() };
    let mean = |x: &[DVec3]| nodes.iter().map(|n| x[*n]).sum::<DVec3>() / nodes.len() as f64;
    scene.simulation.rest(&Commands::default(), &statics)?;
    let sagged = mean(&scene.simulation.state().x);
    let start = mean(scene.simulation.body().mesh().nodes());
    let pad = model.data().effectors[0].rest.translation;
    assert!(pad.distance(sagged) < 1e-8, "{pad} {sagged}");
    assert!(start.z - sagged.z > 1e-3, "it sags by {}", start.z - sagged.z);
    // Forces on the nodes of the pad alone: the patch spreads a force at its origin alike.
    let mut last = f64::INFINITY;
    for force in [1e-3, 1e-4] {
        let force = DVec3::new(0.3, -0.5, 0.8) * force;
        let mut forces = vec![DVec3::ZERO; scene.simulation.state().x.len()];
        nodes.iter().for_each(|n| forces[*n] = force / nodes.len() as f64);
        scene
            .simulation
            .rest(&Commands { node_forces: &forces, ..Commands::default() }, &statics)?;
        let moved = mean(&scene.simulation.state().x) - sagged;
        let load = EffectorLoad {
            effector: 0,
            wrench: Wrench::new(force, DVec3::ZERO),
            frame: LoadFrame::World,
        };
        let eta = model.solve_static(&[load], &[])?.coordinates;
        let found = model.effector_pose(0, &eta).translation - pad;
        let off = found.distance(moved) / moved.length();
        // First order: a tenth of the load leaves a tenth of the error, down to the solver's.
        assert!(off < 2e-3 && off < 0.3 * last, "{off:e} after {last:e}");
        last = off;
    }
    Ok(())
}
