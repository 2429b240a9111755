//! Errors at the samples, at unseen loads, and beside the nearest sample alone.

use forks_blend::{BlendedModel, LinkBlend};
use forks_io::{Cell, CsvTable};
use forks_place::Truth;
use forks_rom::Reconstruction;
use rayon::prelude::*;

use super::{
    Mode, Study,
    rivals::Rival,
    ruler::{Errors, rest_under},
};
use crate::validate::record::{Recorder, larger};

/// Gaps at a sample over r: those of some hundred joints, each a sum of some rounding errors, and
/// of loops that the full solver has closed to 1e-10.
const GAP_AT_SAMPLE: f64 = 1e-9;
/// Static error at a sample: what is left where both solvers stop, forces balanced to 1e-11 of
/// their size, in directions that may be 1e3 times as soft as those which set the size.
const STATIC_AT_SAMPLE: f64 = 1e-7;

/// What a blend reproduces: the samples.
pub(super) fn at_samples(study: &Study<'_>, out: &mut Recorder) {
    let model = &study.placed.model;
    let samples = 0..study.placed.loads.len();
    for (mode, name) in
        [(Reconstruction::Twist, "twists"), (Reconstruction::JointSpace, "joint space")]
    {
        let gap = |i| study.ruler.gaps(model, model.place(i), mode, LinkBlend::Average).0;
        let gap = samples.clone().map(gap).fold(0.0, larger);
        let bound = study.settings.bound(GAP_AT_SAMPLE);
        out.judge(&format!("constraint error at samples, {name}"), gap, bound);
    }
    let off = |i: usize| {
        let Some(x) = rest_under(model, &study.placed.loads[i]) else { return f64::INFINITY };
        let there = &model.data().samples[i].model.data().effectors;
        let each = there.iter().enumerate().map(|(e, f)| {
            let moved = f.rest.translation.distance(study.ruler.rest[e].translation);
            let off = model.effector_pose(e, &x).translation.distance(f.rest.translation);
            off / moved.max(0.1 * study.ruler.r)
        });
        each.fold(0.0, larger)
    };
    let off = samples.into_par_iter().map(off).reduce(|| 0.0, larger);
    let bound = study.settings.bound(STATIC_AT_SAMPLE);
    out.judge("static error under the samples' loads", off, bound);
}

type Quantity = (&'static str, fn(&Errors) -> f64);

/// Largest and mean errors, the blend's with bounds, others beside it.
pub(super) fn at_unseen_loads(
    study: &Study<'_>,
    rivals: &[Rival],
    out: &mut Recorder,
) -> Result<(), String> {
    let bounds = study.settings.bounds;
    let own = measured(study, &study.placed.model, LinkBlend::Average);
    let far = study.unseen.iter().map(|t| t.displacement).fold(0.0, larger);
    out.info("largest displacement of the unseen loads", far);
    let missing = own.iter().filter(|e| !e.found()).count() as f64;
    let all = study.settings.bound(0.0);
    out.judge("unseen loads without a rest of the blend", missing, all);
    // Where there is a bound, a load without a rest exceeds it.
    let counts = |e: &Errors| e.found() || bounds.is_some();
    let counted: Vec<Errors> = own.iter().copied().filter(counts).collect();
    let better = largest(&own, |e| e.twists).min(largest(&own, |e| e.joint_space));
    let quantities: [(Quantity, Option<f64>); 5] = [
        (("constraint error, twists", |e| e.twists), bounds.map(|b| b.twists)),
        (("constraint error, joint space", |e| e.joint_space), None),
        (("angles, twists (rad)", |e| e.twist_angles), None),
        (("angles, joint space (rad)", |e| e.joint_space_angles), None),
        (("static error", |e| e.statics), bounds.and_then(|b| b.statics)),
    ];
    for ((name, of), bound) in quantities {
        out.judge(&format!("{name}, max"), largest(&counted, of), bound);
        out.info(&format!("{name}, mean"), mean(&counted, of));
    }
    if let Some(bound) = bounds.and_then(|b| b.better_mode) {
        out.at_most("constraint error, better mode, max", better, bound);
    }
    let mut table = CsvTable::new([
        "form",
        "load",
        "relative displacement",
        "constraint error, twists",
        "constraint error, joint space",
        "angles, twists (rad)",
        "angles, joint space (rad)",
        "static error",
    ]);
    rows("blend", &own, study, &mut table)?;
    for rival in rivals {
        let errors = measured(study, &rival.model, rival.links);
        let missing = errors.iter().filter(|e| !e.found()).count() as f64;
        let label = |what: &str| format!("{what}, {}", rival.name);
        out.info(&label("loads without a rest"), missing);
        let found: Vec<Errors> = errors.iter().copied().filter(Errors::found).collect();
        // Angles are in the table.
        for (name, of) in quantities.map(|q| q.0).into_iter().filter(|q| q.0.contains("error")) {
            out.info(&label(&format!("{name}, max")), largest(&found, of));
            out.info(&label(&format!("{name}, mean")), mean(&found, of));
        }
        rows(rival.name, &errors, study, &mut table)?;
    }
    match out.report_path("unseen.csv") {
        Some(path) => table.save(path).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

fn measured(study: &Study<'_>, model: &BlendedModel, links: LinkBlend) -> Vec<Errors> {
    study.unseen.par_iter().map(|t| study.ruler.errors(model, links, t)).collect()
}

fn largest(errors: &[Errors], of: fn(&Errors) -> f64) -> f64 {
    errors.iter().map(of).fold(0.0, larger)
}

fn mean(errors: &[Errors], of: fn(&Errors) -> f64) -> f64 {
    errors.iter().map(of).sum::<f64>() / errors.len().max(1) as f64
}

fn rows(
    name: &str,
    errors: &[Errors],
    study: &Study<'_>,
    table: &mut CsvTable,
) -> Result<(), String> {
    for (k, (e, t)) in errors.iter().zip(&study.unseen).enumerate() {
        if !e.found() {
            continue;
        }
        let row: [Cell; 8] = [
            name.into(),
            (k as f64).into(),
            t.displacement.into(),
            e.twists.into(),
            e.joint_space.into(),
            e.twist_angles.into(),
            e.joint_space_angles.into(),
            e.statics.into(),
        ];
        table.push(row).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The blend beside the sample whose effectors are nearest to the full equilibrium's, that sample
/// alone; distances are those of plain weights, lengths over r.
///
/// An error below the placement's tolerance is as good as none: the ratio is that of the blend's
/// error to the larger of the sample's error and the tolerance, bounded for the static error and
/// for the link poses that the placement was about. Where the error's own bound keeps the ratio
/// below 1.1 already it is information, as are the ratio without that floor, how large the errors
/// are where it is above 1.1, and the sum of all errors over that of the nearest samples'.
pub(super) fn beside_nearest(study: &Study<'_>, out: &mut Recorder) {
    let Some(pairs) = pairs(study) else {
        out.fail("error over the nearest sample's", 1.1, "a sample alone makes no model");
        return;
    };
    let s = study.settings;
    let joint_space = s.joint_space_tolerance.unwrap_or(s.constraint_tolerance);
    let by_twists = matches!(s.mode, Mode::Twists);
    let bounds = s.bounds;
    let (twists, statics) = (bounds.map(|b| b.twists), bounds.and_then(|b| b.statics));
    let better = bounds.and_then(|b| b.better_mode);
    let quantities: [(Quantity, f64, f64, Option<f64>); 3] = [
        (
            ("twists", |e| e.twists),
            s.constraint_tolerance,
            GAP_AT_SAMPLE,
            twists.filter(|_| by_twists),
        ),
        (
            ("joint space", |e| e.joint_space),
            joint_space,
            GAP_AT_SAMPLE,
            better.filter(|_| !by_twists),
        ),
        (("static", |e| e.statics), s.static_tolerance, STATIC_AT_SAMPLE, statics),
    ];
    for ((name, of), tolerance, rounding, own) in quantities {
        let nearest = bounds.and_then(|b| b.nearest);
        let bound = nearest.filter(|n| own.is_some_and(|own| own > n * tolerance));
        // A load at which the blend finds no rest misses, whatever the sample does.
        let ratio = |(blend, single): &(Errors, Errors), floor: f64| match of(single).is_finite() {
            true => of(blend) / of(single).max(floor),
            false if of(blend).is_finite() => 0.0,
            false => f64::INFINITY,
        };
        let worst = |floor: f64| pairs.iter().map(|p| ratio(p, floor)).fold(0.0, larger);
        let label = |what: &str| format!("{name} error over the nearest sample's, {what}");
        let value = worst(tolerance);
        out.judge(&label("above tolerance"), value, bound);
        let sum = |which: fn(&(Errors, Errors)) -> &Errors| -> f64 {
            pairs.iter().filter(|p| of(&p.1).is_finite()).map(|p| of(which(p))).sum()
        };
        let sums = sum(|p| &p.0) / sum(|p| &p.1).max(rounding);
        out.info(&label("sums of all"), sums);
        out.info(&label("all"), worst(rounding));
        let worse = || pairs.iter().filter(|p| ratio(p, rounding) > 1.1);
        out.info(&label("loads above 1.1"), worse().count() as f64);
        let there = worse().map(|p| of(&p.0)).fold(0.0, larger);
        out.info(&format!("largest {name} error at those loads"), there);
    }
}

/// Errors of the blend and of the nearest sample alone.
fn pairs(study: &Study<'_>) -> Option<Vec<(Errors, Errors)>> {
    let model = &study.placed.model;
    let data = model.data();
    let single = |i: usize| BlendedModel::new(data.alone(i)).ok();
    let alone: Vec<BlendedModel> = (0..data.samples.len()).map(single).collect::<Option<_>>()?;
    let pair = |t: &Truth| -> (Errors, Errors) {
        let poses = study.ruler.effectors(&t.equilibrium.world_from_link);
        let far = |i: usize| {
            let there = data.samples[i].model.data().effectors.iter().map(|e| e.rest);
            let twists = there.zip(&poses).map(|(a, b)| a.twist_to(b));
            twists.map(|t| t.scale_linear(1.0 / study.ruler.r).norm().powi(2)).sum::<f64>()
        };
        let nearest = (0..alone.len()).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0);
        let errors = |m| study.ruler.errors(m, LinkBlend::Average, t);
        (errors(model), errors(&alone[nearest]))
    };
    Some(study.unseen.par_iter().map(pair).collect())
}
