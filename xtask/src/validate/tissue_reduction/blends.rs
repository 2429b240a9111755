//! Blends over equilibria of skeleton and tissue: the worst vertex within a cone of forces, and
//! what a loaded sample is.

use std::path::Path;

use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_rom::{EffectorLoad, LoadFrame};
use forks_soft::{
    ForceCone, PadForce, PlaceOptions, SoftProblem, SoftProblemOptions,
    condense::{SkinKind, reduce::ReduceOptions, skins::SkinBuffer, skins::rom::State},
};

use crate::{validate::record::Recorder, words::said};

/// Largest force, N: the finger bends by 36°.
const FORCE: f64 = 0.4;
/// Half angle of the cone, degrees.
const ANGLE: f64 = 20.0;
/// Part of the largest displacement that is asked for.
const BOUND: f64 = 0.02;

pub(super) fn check(fixtures: &Path, out: &mut Recorder) -> Result<(), String> {
    let options =
        SoftProblemOptions { effectors: vec!["pad".into()], ..SoftProblemOptions::default() };
    let finger = SoftProblem::load(&fixtures.join("soft/finger.toml"), &options).map_err(said)?;
    sample(&finger, out)?;
    let cone = ForceCone { axis: DVec3::Z, half_angle: ANGLE.to_radians(), force: FORCE };
    let options = PlaceOptions { tolerance: 0.0, ..PlaceOptions::default() };
    for samples in [1, 4] {
        let options = PlaceOptions { samples, ..options.clone() };
        let placed = finger.blend(&cone, &options).map_err(said)?;
        let worst = |e: &[(DVec3, f64)]| e.iter().fold(0.0, |m: f64, e| m.max(e.1));
        let lines = [("trained", worst(&placed.errors)), ("unseen", worst(&placed.unseen))];
        for (name, found) in lines {
            let line = format!("up-cone, {samples} sample(s): worst vertex, {name} loads");
            match samples {
                4 => out.at_most(&line, found, BOUND),
                _ => out.info(&line, found),
            }
        }
    }
    Ok(())
}

/// At a sample the model stands where the whole does, and yields to more of the load as that does.
fn sample(finger: &SoftProblem, out: &mut Recorder) -> Result<(), String> {
    let force = DVec3::new(0.05, 0.1, 0.25);
    let there = finger.loaded(&[PadForce { effector: 0, force }]).map_err(said)?;
    let reduction = there.reduce(&ReduceOptions::default()).map_err(said)?;
    let skinned = there.skinned(&reduction, SkinKind::Twist).map_err(said)?;
    let (model, skin) = (&skinned.model, &skinned.skins[0]);
    let mut room = SkinBuffer::new(skin, model);
    let mut places = |force: DVec3| -> Result<Vec<DVec3>, String> {
        let wrench = Wrench::new(force, DVec3::ZERO);
        let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
        let eta = model.solve_static(&[load], &[]).map_err(said)?.coordinates;
        let mut state = State::new(model);
        state.set(&eta, &[0.0; 6]).map_err(said)?;
        skin.place(model, &state, &mut room);
        Ok(room.iter().collect())
    };
    let truth = |force: DVec3| {
        let whole = there.at_rest_under(&[PadForce { effector: 0, force }]).map_err(said)?;
        Ok::<_, String>(there.vertices(&whole))
    };
    let start = there.vertices(there.whole());
    let far =
        |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let size = far(&start, &finger.vertices(finger.whole()));
    out.at_most(
        "loaded sample: its vertices at its load",
        far(&places(force)?, &start) / size,
        1e-8,
    );
    let more = force + DVec3::new(0.3, -0.5, 0.8) * 1e-3;
    let (found, full) = (places(more)?, truth(more)?);
    out.at_most("loaded sample: a little more load", far(&found, &full) / far(&full, &start), 1e-2);
    Ok(())
}
