//! Recordings show what the model says.

use forks_rom::{State, lie::glam::DVec3};
use forks_soft::{
    Film, LoadedModel, Moment, Skins,
    condense::{SkinKind, reduce::ReduceOptions, skins::SkinBuffer},
};

use crate::{Result, built, coarse};

#[test]
fn frames_hold_the_vertices_of_the_skin_and_the_loads() -> Result {
    let soft = built(coarse()?, &["pad"])?;
    let reduction = soft.reduce(&ReduceOptions::default())?;
    let skinned = soft.skinned(&reduction, SkinKind::Twist)?;
    let model = &skinned.model;
    let data = model.data();
    let shown: Vec<usize> = (1..data.links.len()).filter(|l| !data.links[*l].auxiliary).collect();
    let mut film = Film::new("finger", data, &shown).with_skins(model, skinned.skins.clone())?;
    let eta = [0.02, -0.01, 0.3, 0.1, 0.2, -0.3].map(|x| x * 0.1);
    let poses: Vec<_> = shown.iter().map(|l| model.link_pose(*l, &eta, &[])).collect();
    let at = model.effector_pose(0, &eta).translation;
    film.push(&Moment {
        time: 0.0,
        poses: &poses,
        coordinates: &eta,
        targets: &[],
        energies: [1.0, 2.0, 3.0],
        forces: &[(at, DVec3::Z)],
    })?;
    let frame = &film.animation().frames[0];
    assert_eq!(frame.values, [1.0, 2.0, 3.0, 6.0]);
    assert_eq!(frame.contacts[0].position, at);
    let mut state = State::new(model);
    state.set(&eta, &[0.0; 6])?;
    let mut room = SkinBuffer::new(&skinned.skins[0], model);
    skinned.skins[0].place(model, &state, &mut room);
    assert_eq!(frame.skins[0], room.iter().collect::<Vec<_>>());
    // Bones are drawn from joint to joint, the pad by its axes.
    assert_eq!(film.animation().segments.len(), 2);
    assert!(forks_io::html::to_string(film.animation())?.starts_with("<!doctype html>"));
    let wrong = film.push(&Moment {
        time: 1.0,
        poses: &poses,
        coordinates: &eta[..5],
        targets: &[],
        energies: [0.0; 3],
        forces: &[],
    });
    assert!(wrong.is_err());
    Ok(())
}

#[test]
fn files_with_and_without_skins_are_told_apart() -> Result {
    let soft = built(coarse()?, &["pad"])?;
    let reduction = soft.reduce(&ReduceOptions::default())?;
    let skinned = soft.skinned(&reduction, SkinKind::Twist)?;
    let folder = std::env::temp_dir().join(format!("forks-soft-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (with, without) = (folder.join("with.forks"), folder.join("without.forks"));
    skinned.save(&with)?;
    skinned.model.save(&without)?;
    let Skins::One(skins) = LoadedModel::load(&with)?.skins else { panic!("skins of one model") };
    assert_eq!(skins, skinned.skins);
    assert!(matches!(LoadedModel::load(&without)?.skins, Skins::None));
    std::fs::write(&with, b"\x89FORKSS\rnothing")?;
    assert!(LoadedModel::load(&with).is_err());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
