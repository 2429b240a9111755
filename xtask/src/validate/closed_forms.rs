//! Closed forms.

use forks_io::CsvTable;
use forks_reduce::{Problem, ProblemOptions};

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::ClosedForm,
};
use crate::svg::{Axis, LinePlot, Series};

pub(crate) fn check(form: ClosedForm, case: &Case, out: &mut Recorder) -> Result<(), String> {
    match form {
        ClosedForm::Parallelogram => {
            let c = &case.reduction.compliance;
            let worst = (0..36).fold(0.0f64, |m, k| {
                let expected = if k == 0 { 2.5e-4 } else { 0.0 };
                m.max((c[(k / 6, k % 6)] - expected).abs())
            });
            // Absolute, beside 2.5e-4 m/N: rounding alone.
            out.at_most("C_xx = 2.5e-4 m/N, all else 0", worst, 1e-15);
            Ok(())
        }
        ClosedForm::TwoJoint => stretched_arm(out),
    }
}

/// \[A16\] Fig. 4: the compliance along the line to the tip vanishes as the arm of two joints is
/// stretched.
fn stretched_arm(out: &mut Recorder) -> Result<(), String> {
    let mut points = Vec::new();
    let mut table = CsvTable::new(["bend_rad", "compliance_along_m_per_n", "rank"]);
    let mut last_rank = 0;
    let mut worst: f64 = 0.0;
    for k in 0..=40 {
        // From a right angle to stretched, finer towards the end.
        let bend = 1.5 * (1.0 - f64::from(k) / 40.0).powi(2);
        let p = forks_models::two_joint_example(bend).map_err(|e| e.to_string())?;
        let name = p.mechanism.link(p.effectors[0]).name.clone();
        let problem = Problem::new(&p.mechanism, &[&name], &ProblemOptions::default())
            .map_err(|e| e.to_string())?;
        let linear = problem.linearise(problem.at_rest()).map_err(|e| e.to_string())?;
        let poses = &linear.response.world_from_link;
        let tip = poses[p.effectors[0].index()];
        let root = p.mechanism.joints()[0].parent_from_joint.translation;
        let along = tip.rotation.conjugate() * (tip.translation - root).normalize();
        let c = linear.compliance.block(0, 0, 3, 3);
        let value: f64 = (0..3)
            .flat_map(|i| (0..3).map(move |j| (i, j)))
            .map(|(i, j)| along[i] * c[(i, j)] * along[j])
            .sum();
        // The tip lies on the x axis: only the elbow moves it along, by L sin(bend/2) per radian.
        let lever = 0.5 * (0.5 * bend).sin();
        worst = larger(worst, (value - lever * lever / 1000.0).abs() / (0.25 / 1000.0));
        last_rank = linear.basis.rank;
        points.push([bend, value]);
        let row: [forks_io::Cell; 3] = [bend.into(), value.into(), (last_rank as f64).into()];
        table.push(row).map_err(|e| e.to_string())?;
    }
    out.at_most("Fig. 4: compliance = (L sin(bend/2))²/K", worst, 1e-14);
    let rises = points.windows(2).filter(|w| w[1][1] > w[0][1]).count();
    out.equal("Fig. 4: rises of the compliance on the way", rises, 0);
    let ratio = points[points.len() - 1][1] / points[0][1];
    out.at_most("Fig. 4: compliance at the stretched pose over bent", ratio.abs(), 1e-12);
    // Near the stretched pose it vanishes with the square of the bend.
    let (a, b) = (points[36], points[38]);
    let order = (a[1] / b[1]).ln() / (a[0] / b[0]).ln();
    out.at_most("Fig. 4: order of vanishing is 2, difference", (order - 2.0).abs(), 0.02);
    out.equal("Fig. 4: rank at the stretched pose", last_rank, 2);
    if let Some(path) = out.report_path("fig4.csv") {
        table.save(path).map_err(|e| e.to_string())?;
    }
    if let Some(path) = out.report_path("fig4.svg") {
        let x = Axis::linear("bend of the second joint", "rad");
        let y = Axis::linear("compliance along the arm", "m/N");
        LinePlot::new("Compliance vanishes towards the stretched pose", x, y)
            .series(Series::new("two joints", points))
            .save(path)
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}
