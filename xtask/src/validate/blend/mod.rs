//! Blends placed automatically for a region of loads, measured at loads the placement did not see.

mod accuracy;
mod cycles;
mod figures;
mod path;
mod rivals;
pub(super) mod ruler;
mod settings;

use std::ops::ControlFlow;

use forks_mechanism::lie::glam::DVec3;
use forks_place::{Chart, LoadRegion, Placed, Placement, Truth, place, unseen_loads};

use super::{case::Case, record::Recorder};
use ruler::Ruler;
pub(crate) use settings::Blend;
use settings::{ChartName, Mode, Region};

/// A placed blend with what it is measured against.
struct Study<'a> {
    settings: &'a Blend,
    case: &'a Case,
    placed: Placed,
    unseen: Vec<Truth>,
    ruler: Ruler<'a>,
}

pub(crate) fn check(b: &Blend, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let said = |e: forks_place::BlendError| e.to_string();
    let placement = placement(b);
    let placed = place(&case.problem, &placement, &mut |_| ControlFlow::Continue(()));
    let placed = placed.map_err(said)?;
    let unseen = unseen_loads(&case.problem, &placement, b.unseen_seed, b.unseen_loads);
    let unseen = unseen.map_err(said)?;
    let data = placed.model.data();
    let ruler = Ruler::new(&case.problem, data.reference.clone(), data.radius);
    let study = Study { settings: b, case, unseen, ruler, placed };
    out.info("samples placed", study.placed.loads.len() as f64);
    out.equal("unseen loads with an equilibrium", study.unseen.len(), b.unseen_loads);
    let rivals = rivals::all(&study)?;
    accuracy::at_samples(&study, out);
    accuracy::at_unseen_loads(&study, &rivals, out)?;
    accuracy::beside_nearest(&study, out);
    cycles::check(&study, &rivals, out)?;
    path::check(&study, out);
    figures::report(&study, &rivals, out)
}

fn placement(b: &Blend) -> Placement {
    let region = |r: &Region| LoadRegion {
        normal: r.normal.map(DVec3::from_array),
        displacement: r.until,
        ..LoadRegion::cone(r.effector, DVec3::from_array(r.axis), r.half_angle_deg.to_radians())
    };
    Placement {
        regions: b.regions.iter().map(region).collect(),
        together: false,
        constraint_tolerance: b.constraint_tolerance,
        static_tolerance: b.static_tolerance,
        joint_space_tolerance: b.joint_space_tolerance.unwrap_or(f64::INFINITY),
        max_samples: b.samples,
        seed: b.seed,
        training_loads: b.training_loads,
        chart: match b.chart {
            ChartName::Poses => Chart::Poses,
            ChartName::Joints => Chart::Joints,
        },
        // A clock must not decide what is found: a slow machine would judge half a search.
        time_limit: None,
        ..Placement::default()
    }
}
