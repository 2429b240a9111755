//! Energy: what implicit steps let it rise, what explicit ones make of it.

use forks_deform::{
    Commands, Coordinates, Material, Momentum, SoftOptions, SoftSimulation, Stepper,
    creatures::{self, Base},
};
use forks_mechanism::JointKind;

use super::samples::{bar_on_bones, set_going};
use crate::{
    validate::record::{Recorder, larger},
    words::said,
};

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    implicit(out)?;
    explicit(out)
}

fn settings(stepper: Stepper, gravity: bool, damping: f64) -> SoftOptions {
    SoftOptions { stepper, momentum: Momentum::Free, gravity, damping }
}

fn start(case: usize, stepper: Stepper) -> Result<SoftSimulation, String> {
    let soft = |e| Material::stvk(e, 0.3, 1000.0).map_err(said);
    let bar = |base, gravity, damping, young| {
        bar_on_bones(base, [8, 2, 2], soft(young)?, settings(stepper, gravity, damping))
    };
    let mut s = match case {
        0 => bar(JointKind::Free, false, 0.0, 2e4)?,
        1 => bar(JointKind::Free, false, 5.0, 2e4)?,
        2 => bar(JointKind::Fixed, true, 0.0, 2e4)?,
        3 => bar(JointKind::Spherical, true, 0.0, 1e5)?,
        4 => bar(JointKind::Fixed, true, 5.0, 5e3)?,
        _ => {
            let worm = creatures::worm(Base::Planar, soft(5e4)?).map_err(said)?;
            let options = settings(stepper, false, 0.0);
            SoftSimulation::new(&worm.mechanism, worm.body, options).map_err(said)?
        }
    };
    set_going(&mut s, 0.2)?;
    Ok(s)
}

/// The largest rise over a start that is counted from rest.
fn implicit(out: &mut Recorder) -> Result<(), String> {
    for (name, stepper) in [
        ("linearly implicit", Stepper::LinearlyImplicit),
        ("backward Euler", Stepper::BackwardEuler { tolerance: 1e-9 }),
    ] {
        let (mut rise, mut failed) = (0.0f64, 0);
        for case in 0..6 {
            for h in [1e-3, 1.0 / 60.0] {
                let mut s = start(case, stepper)?;
                let mut last = s.energy().total();
                // Kinetic energy at the start: energies of weights have no zero of their own.
                let size = s.energy().kinetic;
                for _ in 0..60 {
                    let report = s.step(h, &Commands::default()).map_err(said)?;
                    failed += usize::from(report.status != forks_deform::StepStatus::Completed);
                    let now = s.energy().total();
                    rise = larger(rise, (now - last) / size);
                    last = now;
                }
            }
        }
        let check = format!("largest rise of energy in a step, 6 scenarios, {name}");
        out.at_most(&check, rise.max(0.0), 1e-6);
        out.info(&format!("steps above their tolerance, {name}"), failed as f64);
    }
    Ok(())
}

fn explicit(out: &mut Recorder) -> Result<(), String> {
    let mut deviations = Vec::new();
    for h in [1e-3, 5e-4, 2.5e-4] {
        let stepper = Stepper::MixedEuler(Coordinates::Absolute);
        let soft = Material::stvk(2e4, 0.3, 1000.0).map_err(said)?;
        let options =
            SoftOptions { momentum: Momentum::Projected, ..settings(stepper, false, 0.0) };
        let mut s = bar_on_bones(JointKind::Free, [8, 2, 2], soft, options)?;
        set_going(&mut s, 0.2)?;
        let before = s.energy().total();
        let mut worst = 0.0f64;
        for _ in 0..(10.0 / h) as usize {
            s.step(h, &Commands::default()).map_err(said)?;
            worst = larger(worst, (s.energy().total() / before - 1.0).abs());
        }
        // At 1 ms this start is beyond the five percent that steps of half as much keep to.
        let bound = (h < 1e-3).then_some(0.05);
        out.judge(&format!("explicit energy within, 10 s at {} ms", h * 1e3), worst, bound);
        deviations.push(worst);
    }
    let order = (deviations[1] / deviations[2]).log2();
    out.at_most(&format!("its order in h: {order:.3}"), (order - 1.0).abs(), 0.1);
    Ok(())
}
