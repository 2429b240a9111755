//! Blends of mechanisms that nobody tuned on, placed with default settings and judged by loads and
//! solvers of their own: forces that grow from nothing, forces applied at once, forces let go.
//!
//! Truth is the full solver's equilibrium on the path from rest. Static error: distance of an
//! effector from there over its displacement (0.1 r at least). The blend's answer is where the
//! valley of its energy leads in small steps of the load, not where a solver may jump.

mod full;
mod generate;
mod growth;
mod release;
mod report;
mod settings;
mod subject;
mod sudden;
mod variants;

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::Instant,
};

use forks_blend::{BlendedModel, LinkBlend};
use forks_mechanism::linalg::{Matrix, dense::generalized_symmetric_eigen};
use forks_place::{Chart, Forces, LoadRegion, Placed, Placement, PlacementStatus, Truth, place};
use forks_rom::{Reconstruction, StaticStatus};
use rayon::prelude::*;

use super::{
    blend::ruler::Ruler,
    record::{Recorder, larger},
};
use full::{Drawn, Full};
pub(crate) use settings::Families;
use subject::{Named, Subject};

/// What a load showed.
struct Load {
    forces: Forces,
    displacement: f64,
    statics: f64,
    constraint: f64,
    sudden: Option<sudden::End>,
}

/// A mechanism with its loads; none where there is no blend.
struct Judged {
    name: String,
    text: Option<String>,
    loads: Vec<Load>,
}

/// An error below this part of the tolerance is as good as none.
const NONE: f64 = 0.05;
/// Rests of two solvers are the same up to this part of the displacement.
const SAME: f64 = 1e-3;

/// Judges all chosen mechanisms; what goes wrong with one does not stop the others.
pub(crate) fn check(f: &Families, fixtures: &Path, out: &mut Recorder) -> Result<(), String> {
    let mut all = Vec::new();
    for Named { name, subject, text } in subject::chosen(f, fixtures)? {
        out.begin(&format!("families/{name}"));
        let (count, sudden) = match text {
            Some(_) => (f.random.loads, f.random.sudden),
            None => (f.loads, f.sudden),
        };
        let mut loads = Vec::new();
        let judged = subject.and_then(|s| {
            let judge = Judge { f, count, sudden };
            let work = AssertUnwindSafe(|| judge.check(&s, &mut loads, out));
            catch_unwind(work).unwrap_or_else(|_| Err("a panic".to_owned()))
        });
        if let Err(problem) = judged {
            out.fail("judged", None, problem);
        }
        all.push(Judged { name, text, loads });
    }
    out.begin("families");
    report::write(&all, out)
}

/// How one mechanism is judged.
struct Judge<'a> {
    f: &'a Families,
    /// Loads, and those of them that are applied at once.
    count: usize,
    sudden: usize,
}

impl Judge<'_> {
    fn check(&self, s: &Subject, loads: &mut Vec<Load>, out: &mut Recorder) -> Result<(), String> {
        let placement = self.placement(s);
        let begin = Instant::now();
        let patience = |_: &_| match begin.elapsed().as_secs_f64() > self.f.patience_s {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let placed = place(&s.problem, &placement, &mut { patience });
        out.info("seconds of placement", begin.elapsed().as_secs_f64());
        let placed = match placed {
            Ok(placed) => placed,
            Err(e) => {
                out.note("no blend", e.to_string());
                return Ok(());
            }
        };
        let reported = self.certificate(&placed, &placement, out);
        let full = Full::new(s)?;
        let half_angle = self.f.half_angle_deg.to_radians();
        let drawn = full.draw(s.axis, half_angle, self.f.until, self.f.seed, self.count)?;
        out.equal("loads with a stable equilibrium", drawn.loads.len(), self.count);
        out.info("directions that lock before the displacement", drawn.locked as f64);
        out.info("directions without equilibria before it", drawn.broken as f64);
        let model = &placed.model;
        let rest = growth::rest(model).ok_or("the blend has no rest without forces")?;
        let found = self.statics(model, &rest, &full, &drawn, loads, out);
        self.judge_statics(loads, reported, out);
        for &seed in &self.f.further_seeds {
            let drawn = full.draw(s.axis, half_angle, self.f.until, seed, self.count)?;
            self.judge_further(model, &rest, &full, &drawn, (seed, reported), out);
        }
        let h = period(model, &rest).ok_or("the blend has no lowest frequency")?
            / sudden::STEPS_PER_PERIOD as f64;
        self.apply_at_once(model, &rest, h, &full, &found, loads, out)?;
        let start = release::start(&full, s.axis, self.f.released_at)?;
        release::check(model, &rest, h, &full, &start, self.f.bounds.release, out);
        Ok(())
    }

    /// What `forks blend` asks for by default.
    fn placement(&self, s: &Subject) -> Placement {
        let half_angle = self.f.half_angle_deg.to_radians();
        let region = |e: usize| LoadRegion {
            displacement: self.f.until,
            ..LoadRegion::cone(e, s.axis, half_angle)
        };
        Placement {
            regions: (0..s.problem.effectors.len()).map(region).collect(),
            gravity: s.gravity,
            // What is judged does not depend on how fast the machine is.
            time_limit: None,
            ..Placement::default()
        }
    }

    /// What the placement says of its blend; the largest static error that it reports.
    fn certificate(&self, placed: &Placed, p: &Placement, out: &mut Recorder) -> f64 {
        let model = &placed.model;
        let chart = match placed.chart {
            Chart::Joints => "joints",
            Chart::Manifold => "manifold",
            _ => "poses",
        };
        out.info(&format!("coordinates, chart of {chart}"), model.dof() as f64);
        out.info("training loads without an equilibrium", placed.skipped.len() as f64);
        let samples = model.data().samples.len();
        let (check, bound) = ("samples that reach the tolerances", self.f.bounds.samples as f64);
        match placed.status {
            PlacementStatus::Reached => out.at_most(check, samples as f64, bound),
            status => out.fail(check, bound, format!("{status:?} with {samples} samples")),
        }
        let c = &placed.certificate;
        out.info("part of the region that is covered", c.covered);
        // A blend that says that it has no rest somewhere is no success, but honest.
        for (name, error) in [("static", c.statics), ("constraint", c.constraint)] {
            let check = format!("reported {name} error");
            match error.is_finite() {
                true => out.info(&check, error),
                false => out.note(&check, "there is no rest at some load"),
            }
        }
        c.statics.max(NONE * p.static_tolerance)
    }

    /// Errors at all loads; where the blend rests under each.
    fn statics(
        &self,
        model: &BlendedModel,
        rest: &[f64],
        full: &Full<'_>,
        drawn: &Drawn,
        loads: &mut Vec<Load>,
        out: &mut Recorder,
    ) -> Vec<Option<Vec<f64>>> {
        let poses = full.tips.clone();
        let ruler = Ruler::new(full.problem, poses, full.r);
        let grow = |t: &Truth| growth::grown(model, rest, &t.forces);
        let found: Vec<Option<Vec<f64>>> = drawn.loads.par_iter().map(grow).collect();
        let pairs = drawn.loads.par_iter().zip(&found);
        let gap = |x: &[f64], mode| ruler.gaps(model, x, mode, LinkBlend::default()).0;
        let measure = |(t, x): (&Truth, &Option<Vec<f64>>)| -> (Load, f64, bool) {
            let x = x.as_deref();
            let load = Load {
                forces: t.forces.clone(),
                displacement: t.displacement,
                statics: x.map_or(f64::INFINITY, |x| static_error(model, x, full, t)),
                constraint: x.map_or(f64::INFINITY, |x| gap(x, Reconstruction::Twist)),
                sudden: None,
            };
            let joint_space = x.map_or(f64::INFINITY, |x| gap(x, Reconstruction::JointSpace));
            (load, joint_space, x.is_some_and(|x| jumps(model, x, full, t)))
        };
        let all: Vec<_> = pairs.map(measure).collect();
        let lost = found.iter().filter(|x| x.is_none()).count();
        out.at_most("loads that the blend loses on its way", lost as f64, 0.0);
        let joint_space = all.iter().map(|a| a.1).filter(|e| e.is_finite()).fold(0.0, larger);
        out.info("constraint error, joint space, max", joint_space);
        let jumped = all.iter().filter(|a| a.2).count();
        out.info("loads where solve_static ends elsewhere", jumped as f64);
        loads.extend(all.into_iter().map(|a| a.0));
        found
    }

    /// Static errors at loads of another seed, over what the placement reports.
    fn judge_further(
        &self,
        model: &BlendedModel,
        rest: &[f64],
        full: &Full<'_>,
        drawn: &Drawn,
        (seed, reported): (u64, f64),
        out: &mut Recorder,
    ) {
        let error = |t: &Truth| {
            let x = growth::grown(model, rest, &t.forces);
            x.map_or(f64::INFINITY, |x| static_error(model, &x, full, t))
        };
        let errors: Vec<f64> = drawn.loads.par_iter().map(error).collect();
        let largest = errors.into_iter().fold(0.0, larger);
        let check = format!("static error over the reported one, seed {seed}");
        match reported.is_finite() {
            true => out.at_most(&check, largest / reported, self.f.bounds.over_reported),
            false => out.info(&check, largest / reported),
        }
    }

    fn judge_statics(&self, loads: &[Load], reported: f64, out: &mut Recorder) {
        let b = &self.f.bounds;
        let largest = loads.iter().map(|l| l.statics).fold(0.0, larger);
        out.at_most("static error, max", largest, b.largest);
        let above = loads.iter().filter(|l| l.statics.is_nan() || l.statics > b.tolerated);
        let share = above.count() as f64 / loads.len().max(1) as f64;
        out.at_most(&format!("part of the loads above {}", b.tolerated), share, b.share);
        if reported.is_finite() {
            out.at_most("static error over the reported one", largest / reported, b.over_reported);
        }
        let constraint = loads.iter().map(|l| l.constraint).fold(0.0, larger);
        out.at_most("constraint error, twists, max", constraint, b.constraint);
    }

    #[allow(clippy::too_many_arguments)]
    fn apply_at_once(
        &self,
        model: &BlendedModel,
        rest: &[f64],
        h: f64,
        full: &Full<'_>,
        found: &[Option<Vec<f64>>],
        loads: &mut [Load],
        out: &mut Recorder,
    ) -> Result<(), String> {
        let every = (loads.len() / self.sudden.max(1)).max(1);
        let some: Vec<usize> = (0..loads.len()).step_by(every).take(self.sudden).collect();
        let case =
            |&k: &usize| sudden::Case { forces: &loads[k].forces, rest: found[k].as_deref() };
        let cases: Vec<_> = some.iter().map(case).collect();
        let motions = sudden::motions(model, rest, h, full, &cases)?;
        let count = |which: &dyn Fn(&sudden::Motion) -> bool| {
            motions.iter().filter(|m| which(m)).count() as f64
        };
        out.at_most("sudden loads with a wrong end", count(&|m| !m.end.is_right()), 0.0);
        for end in [sudden::End::OutOfRange, sudden::End::AsFull, sudden::End::NotFinite] {
            let n = count(&|m| m.end == end);
            if n > 0.0 {
                out.info(&format!("sudden loads: {}", end.name()), n);
            }
        }
        out.info("sudden loads that leave the range", count(&|m| m.outside > 0));
        out.info("sudden loads that settle late", count(&|m| m.longer));
        for (k, m) in some.into_iter().zip(&motions) {
            loads[k].sudden = Some(m.end);
        }
        Ok(())
    }
}

/// Largest distance of an effector from the full mechanism's over its displacement.
fn static_error(model: &BlendedModel, x: &[f64], full: &Full<'_>, t: &Truth) -> f64 {
    let exact = full.effectors(&t.equilibrium);
    let each = exact.iter().zip(&full.tips).enumerate().map(|(e, (exact, rest))| {
        let moved = exact.translation.distance(rest.translation);
        let off = model.effector_pose(e, x).translation.distance(exact.translation);
        off / moved.max(0.1 * full.r)
    });
    each.fold(0.0, larger)
}

/// True if the blend's own solver of statics does not end where growing forces lead.
fn jumps(model: &BlendedModel, x: &[f64], full: &Full<'_>, t: &Truth) -> bool {
    let Ok(found) = model.solve_static(&growth::loads(&t.forces, 1.0), &[]) else { return true };
    let off = (0..model.effector_count()).map(|e| {
        let tip = |x: &[f64]| model.effector_pose(e, x).translation;
        tip(x).distance(tip(&found.coordinates)) / full.r
    });
    found.status != StaticStatus::Converged
        || off.fold(0.0, larger) > SAME * t.displacement.max(0.1)
}

/// 2π/ω of the lowest frequency without forces.
fn period(model: &BlendedModel, rest: &[f64]) -> Option<f64> {
    let mass: Matrix = model.mass(&model.weights(rest)).symmetric_part();
    let (squares, _) = generalized_symmetric_eigen(&growth::stiffness(model, rest), &mass)?;
    let lowest = squares.into_iter().fold(f64::INFINITY, f64::min);
    let period = core::f64::consts::TAU / lowest.sqrt();
    (period.is_finite() && period > 0.0).then_some(period)
}
