//! Blends over equilibria, and their files.

use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_rom::{EffectorLoad, LoadFrame};
use forks_soft::{ForceCone, LoadedModel, PadForce, PlaceOptions, SkinnedBlend, Skins};

use crate::{Result, built, coarse};

fn up(force: f64) -> ForceCone {
    ForceCone { axis: DVec3::Z, half_angle: 0.0, force }
}

fn load(force: DVec3) -> EffectorLoad {
    let wrench = Wrench::new(force, DVec3::ZERO);
    EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }
}

fn far(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn more_samples_come_closer_and_each_is_an_equilibrium_of_the_whole() -> Result {
    let soft = built(coarse()?, &["pad"])?;
    let cone = up(0.3);
    let mut last = f64::INFINITY;
    for samples in [1, 2, 3] {
        let options = PlaceOptions { samples, tolerance: 0.0, ..PlaceOptions::default() };
        let placed = soft.blend(&cone, &options)?;
        assert_eq!(placed.samples.len(), samples);
        assert!(placed.worst() < 0.8 * last, "{samples}: {} after {last}", placed.worst());
        last = placed.worst();
        let mut room = placed.model.room();
        for force in &placed.samples {
            let truth =
                soft.vertices(&soft.at_rest_under(&[PadForce { effector: 0, force: *force }])?);
            let x = placed.model.blend().solve_static(&[load(*force)], &[])?.coordinates;
            let found = placed.model.place(&x, &mut room)?.concat();
            // What the search for rest leaves.
            assert!(far(&found, &truth) < 1e-7, "{force}: {:e}", far(&found, &truth));
        }
    }
    Ok(())
}

#[test]
fn a_loaded_sample_yields_as_the_whole_does() -> Result {
    let soft = built(coarse()?, &["pad"])?;
    let force = DVec3::new(-0.02, 0.1, 0.2);
    let there = soft.loaded(&[PadForce { effector: 0, force }])?;
    let model = there.reduce(&Default::default())?.model;
    let rest = model.data().effectors[0].rest.translation;
    let pad = |more: DVec3| -> Result<DVec3> {
        let eta = model.solve_static(&[load(force + more)], &[])?.coordinates;
        Ok(model.effector_pose(0, &eta).translation - rest)
    };
    let whole = |more: DVec3| -> Result<DVec3> {
        let forces = [PadForce { effector: 0, force: force + more }];
        Ok(there.loaded(&forces)?.reduce(&Default::default())?.model.data().effectors[0]
            .rest
            .translation
            - rest)
    };
    assert!(pad(DVec3::ZERO)?.length() < 1e-9, "{:e}", pad(DVec3::ZERO)?.length());
    // Central differences: errors of second order, a hundredth for a tenth of the step.
    let slope = |f: &dyn Fn(DVec3) -> Result<DVec3>, h: f64, axis: DVec3| -> Result<DVec3> {
        Ok((f(axis * h)? - f(axis * -h)?) / (2.0 * h))
    };
    for axis in DVec3::AXES {
        let (a, b) = (slope(&pad, 1e-3, axis)?, slope(&whole, 1e-3, axis)?);
        assert!(a.distance(b) < 1e-3 * b.length(), "{axis}: {a} {b}");
    }
    Ok(())
}

#[test]
fn files_of_blends_keep_every_bit() -> Result {
    let soft = built(coarse()?, &["pad"])?;
    let options = PlaceOptions { samples: 2, tolerance: 0.0, ..PlaceOptions::default() };
    let model = soft.blend(&up(0.1), &options)?.model;
    let bytes = model.to_bytes();
    let read = SkinnedBlend::from_bytes(&bytes)?;
    assert_eq!(read.to_bytes(), bytes);
    let folder = std::env::temp_dir().join(format!("forks-soft-blend-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("blend.forks");
    model.save(&file)?;
    assert!(matches!(LoadedModel::load(&file)?.skins, Skins::Blend(b) if b.skins().len() == 1));
    // A byte less, and one that is wrong.
    assert!(SkinnedBlend::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    let mut wrong = bytes.clone();
    wrong[bytes.len() / 2] ^= 4;
    assert!(SkinnedBlend::from_bytes(&wrong).is_err());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

#[test]
fn forces_on_what_is_no_pad_are_refused() -> Result {
    let soft = built(coarse()?, &["pad", "finger/bone2"])?;
    let found = soft.loaded(&[PadForce { effector: 1, force: DVec3::Z }]);
    assert_eq!(
        found.err().map(|e| e.to_string()).as_deref(),
        Some("effector 1 is no pad: forces are spread over pads alone")
    );
    Ok(())
}
