//! A task with where it is going.

use forks_control::{
    plant::Kinematics as _,
    task::{Goal, Task},
};
use forks_mechanism::{lie::Pose, linalg::Matrix};

use crate::{
    curve::{At, Curve},
    error::{DirectError, invalid},
    plant::WorldPlant,
    resolve::{Names, resolve, row_names, unit},
    spec::{TaskTable, Way},
    task_spec::{Aspect, Subject, TaskSpec},
    watch::Watched,
};

/// A task with where it is going.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) task: Task,
    pub(crate) curve: Curve,
    /// Of a joint at the start.
    pub(crate) value: f64,
    pub(crate) from: f64,
    pub(crate) until: f64,
    pub(crate) rows: Vec<String>,
    /// Units of its rows, each once, with what is watched of them.
    pub(crate) watched: Vec<Watched>,
}

impl Aim {
    pub(crate) fn new(
        table: &TaskTable,
        number: usize,
        names: &dyn Names,
        plant: &WorldPlant,
    ) -> Result<Self, DirectError> {
        let element = format!("task {}", number + 1);
        let said = |e: String| invalid(&element, format!("is refused: {e}"));
        let (spec, way) = spec_of(table, &element)?;
        spec.check().map_err(said)?;
        let task = resolve(&spec, names, plant).map_err(said)?;
        let (start, value) = match &task.goal {
            Goal::Position(f, _) | Goal::Orientation(f, _) | Goal::Pose(f, _) => {
                let mut rows = Matrix::zeros(6, plant.rates().len());
                (plant.frame(f, &mut rows), 0.0)
            }
            Goal::CentreOfMass(p) => (Pose::from_translation(*p), 0.0),
            Goal::Joint(_, q) => (Pose::IDENTITY, *q),
            _ => (Pose::IDENTITY, 0.0),
        };
        let moves = !way.keys.is_empty() || way.circle.is_some();
        let stays = matches!(
            task.goal,
            Goal::Direction(..) | Goal::Relative(..) | Goal::Still(_) | Goal::Posture(_)
        );
        if moves && stays {
            let problem = format!("has keys or a circle, but what {:?} asks for stays", task.name);
            return Err(invalid(element, problem));
        }
        // A pose may keep the orientation that it has.
        let numbers = match spec.subject.numbers() {
            7 => vec![7, 3],
            n => vec![n],
        };
        let curve = Curve::new(way, &numbers, start, &[], &element)?;
        let until = table.until.unwrap_or(f64::INFINITY);
        if !(table.from.is_finite() && until > table.from) {
            let problem = format!("lasts from {} to {until} s", table.from);
            return Err(invalid(element, problem));
        }
        let m = names.mechanism();
        let rows = row_names(&spec, &task, m);
        let counted = (0..task.goal.row_count())
            .filter(|i| matches!(task.goal, Goal::Posture(_)) || task.mask[*i]);
        let units: Vec<&str> = counted.map(|i| unit(m, &task, i)).collect();
        let watched = ["m", "rad"]
            .into_iter()
            .filter(|u| units.contains(u))
            .map(|u| Watched::new(format!("{} error", task.name), u))
            .collect();
        Ok(Self { task, curve, value, from: table.from, until, rows, watched })
    }

    pub(crate) fn at(&self, t: f64) -> At {
        self.curve.at(t, self.value)
    }
}

/// A task of the file with its way; places that stand in the way's own words are resolved as those
/// at the start.
fn spec_of<'a>(table: &'a TaskTable, element: &str) -> Result<(TaskSpec, &'a Way), DirectError> {
    let subjects = [
        table.link.clone().map(|l| Subject::Link(l, table.what)),
        table.joint.clone().map(Subject::Joint),
        table.centre_of_mass.then_some(Subject::CentreOfMass),
        table.posture.then_some(Subject::Posture),
    ];
    let mut given = subjects.into_iter().flatten();
    let (Some(subject), None) = (given.next(), given.next()) else {
        return Err(invalid(element, "needs one of link, joint, centre_of_mass and posture"));
    };
    let stiffness = table.stiffness.unwrap_or(100.0);
    let called = match &subject {
        Subject::Link(l, what) => format!("{l} {what:?}").to_lowercase(),
        Subject::Joint(j) => format!("joint {j}"),
        Subject::CentreOfMass => "centre of mass".into(),
        Subject::Posture => "posture".into(),
    };
    // A direction, and places in another link, stay what they are.
    let target = match (&subject, &table.within, &table.way.target) {
        (Subject::Link(_, Aspect::Direction), _, Some(t)) => t.clone(),
        (_, Some(_), Some(t)) => t.clone(),
        _ => Vec::new(),
    };
    if !target.is_empty() && target.len() != subject.numbers() {
        let (found, expected) = (target.len(), subject.numbers());
        return Err(invalid(
            element,
            format!("has a target of {found} numbers, expected {expected}"),
        ));
    }
    let spec = TaskSpec {
        name: table.name.clone().unwrap_or(called),
        subject,
        target,
        level: table.level,
        weight: table.weight,
        stiffness,
        damping: table.damping.unwrap_or(2.0 * stiffness.max(0.0).sqrt()),
        rows: table.rows.clone(),
        world_axes: table.world_axes,
        axis: table.axis.unwrap_or([0.0, 0.0, 1.0]),
        within: table.within.clone(),
    };
    Ok((spec, &table.way))
}
