//! Scenes of pads against the same with all nodes.

use forks_rom::lie::glam::DVec3;
use forks_soft::{
    SoftScene, run,
    tissue::{TissueScene, spec::TissueSpec},
};

use crate::{Result, folder};

fn gripper(duration: f64) -> Result<TissueSpec> {
    let mut spec = TissueSpec::read(&folder().join("gripper.toml"))?;
    spec.world.duration = duration;
    Ok(spec)
}

#[test]
fn pads_hold_a_ball_as_all_nodes_do() -> Result {
    let mut scene = SoftScene::build(gripper(1.5)?, &folder())?;
    let weight = 0.02 * 9.81;
    let (report, _) = run(&mut scene, None, false, |_| ())?;
    assert!(report.is_complete() && report.problem().is_none(), "{}", report.text());
    // Pads and ground carry the ball together, and it stays where it is.
    assert!(
        (scene.force_on("ball").z - weight).abs() < 1e-3 * weight,
        "{}",
        scene.force_on("ball")
    );
    let (_, pose, twist) = scene.bodies()?[0];
    assert!(twist.linear.length() < 1e-4 && pose.translation.x.abs() < 1e-4, "{pose:?} {twist:?}");
    assert!(scene.totals().touching >= 3 && scene.totals().overlap < 1e-5);
    // Fingers pass the way that the whole's do before they touch: 2 % of 10 mm.
    let mut whole = TissueScene::build(gripper(0.5)?, &folder())?;
    let mut reduced = SoftScene::build(gripper(0.5)?, &folder())?;
    for _ in 0..whole.step_count() {
        whole.step()?;
        assert!(reduced.step()?);
    }
    let pad = &whole.pads[0];
    let x = &whole.simulation.state().x;
    let mean =
        |x: &[DVec3]| pad.nodes.iter().map(|n| x[*n]).sum::<DVec3>() / pad.nodes.len() as f64;
    let (start, now) = (mean(whole.simulation.body().mesh().nodes()), mean(x));
    let found = reduced.pad_poses()?[0].1.translation;
    assert!(now.distance(start) > 3e-3, "it moves by {}", now.distance(start));
    assert!(found.distance(now) < 3e-4, "{found} {now}");
    Ok(())
}

#[test]
fn both_are_in_one_picture() -> Result {
    let spec = gripper(0.1)?;
    let mut whole = TissueScene::build(spec.clone(), &folder())?;
    let mut scene = SoftScene::build(spec, &folder())?;
    let (report, picture) = run(&mut scene, Some(&mut whole), true, |_| ())?;
    let picture = picture.ok_or("no picture")?;
    assert!(report.text().contains("all nodes"));
    // The ground pushes the ball up in both.
    let last = picture.frames.last().ok_or("no frame")?;
    assert!(last.contacts.len() == 2 && last.contacts.iter().all(|c| c.force.z > 0.1), "{last:?}");
    assert_eq!(picture.skins.len(), 4);
    assert_eq!(picture.frames.len(), 7);
    let names = |of: &str| picture.bodies.iter().filter(|b| b.name.starts_with(of)).count();
    assert!(names("reduced: ") >= 11 && names("all nodes: ") >= 11);
    assert!(forks_io::html::to_string(&picture).is_ok());
    // The second is beside the first: both balls are at the same place of their own world.
    let at = |name: &str| {
        let body = picture.bodies.iter().position(|b| b.name == name);
        body.map(|k| picture.frames[0].world_from_body[k].translation)
    };
    let (a, b) = (at("reduced: ball").ok_or("no ball")?, at("all nodes: ball").ok_or("no ball")?);
    assert!((b - a).x.abs() < 1e-12 && (b - a).y > 0.03 && (b - a).z.abs() < 1e-12, "{a} {b}");
    Ok(())
}

#[test]
fn scenes_without_pads_are_refused() -> Result {
    let mut spec = gripper(0.1)?;
    spec.pads.clear();
    let found = SoftScene::build(spec, &folder());
    let sentence = "the scene has no [[pad]]: there is nothing to reduce its tissue to";
    assert_eq!(found.err().map(|e| e.to_string()).as_deref(), Some(sentence));
    let mut spec = gripper(0.1)?;
    spec.pads[1].on = forks_soft::tissue::spec::PadNodes::Nodes(vec![0, 5, 20]);
    let found = SoftScene::build(spec, &folder());
    let sentence =
        "pad 'right pad' has no whole face of the tissue's surface: it cannot touch anything";
    assert_eq!(found.err().map(|e| e.to_string()).as_deref(), Some(sentence));
    Ok(())
}
