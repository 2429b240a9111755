//! A reduced world beside its full-solver twin, step by step: how far bodies and effectors of one
//! are from those of the other.

use forks_lie::Pose;

use forks_sim::{Owner, SimError, World, WorldStatus};

/// Something that both worlds have, under the same handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subject {
    /// A body or an effector.
    pub owner: Owner,
    /// Length that distances are measured in, m.
    pub size: f64,
}

/// How far a subject was from its twin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// What.
    pub owner: Owner,
    /// Largest distance over the subject's size.
    pub position: f64,
    /// When, s since the start of the comparison.
    pub position_time: f64,
    /// Largest angle of the rotation between the two, rad.
    pub rotation: f64,
    /// When, s since the start of the comparison.
    pub rotation_time: f64,
    /// Distance at the end, over the size.
    pub last_position: f64,
    /// Angle at the end, rad.
    pub last_rotation: f64,
    /// Largest displacement of the full solver's, over the size.
    pub moved: f64,
    /// Largest rotation of the full solver's, rad.
    pub turned: f64,
}

/// Two worlds over some time.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// One per subject, in their order.
    pub deviations: Vec<Deviation>,
    /// Steps that both worlds made: fewer than asked for where one could not go on.
    pub steps: usize,
    /// How the reduced world's last step ended.
    pub reduced: WorldStatus,
    /// How the full world's last step ended.
    pub full: WorldStatus,
    /// Steps in which the reduced world was out of its model's range.
    pub out_of_range: usize,
}

impl Comparison {
    /// Largest position of all subjects.
    pub fn position(&self) -> f64 {
        self.deviations.iter().fold(0.0, |m, d| m.max(d.position))
    }

    /// Largest rotation of all subjects, rad.
    pub fn rotation(&self) -> f64 {
        self.deviations.iter().fold(0.0, |m, d| m.max(d.rotation))
    }
}

/// Steps two worlds and compares what they have in common: after every step positions over sizes,
/// and rotations.
///
/// # Errors
/// A subject that one of the worlds does not have or that does not move, a size that is not
/// positive.
pub fn compare(
    reduced: &mut World,
    full: &mut World,
    steps: usize,
    subjects: &[Subject],
) -> Result<Comparison, SimError> {
    compare_driven(reduced, full, steps, subjects, |_, _| Ok(()))
}

/// The same with a script that is called on each world before every step, with the number of the
/// step: servo targets, loads.
///
/// # Errors
/// As [`compare`], and what the script returns.
pub fn compare_driven(
    reduced: &mut World,
    full: &mut World,
    steps: usize,
    subjects: &[Subject],
    mut script: impl FnMut(&mut World, usize) -> Result<(), SimError>,
) -> Result<Comparison, SimError> {
    let mut side_by_side = SideBySide::new(reduced, full, subjects)?;
    for made in 0..steps {
        script(reduced, made)?;
        script(full, made)?;
        let ended = [reduced.step().status, full.step().status];
        if !side_by_side.record(reduced, full, ended)? {
            break;
        }
    }
    Ok(side_by_side.comparison())
}

/// A comparison of worlds that something else steps.
#[derive(Clone, Debug)]
pub struct SideBySide {
    pairs: Vec<Pair>,
    start: f64,
    steps: usize,
    last: [WorldStatus; 2],
    out_of_range: usize,
}

impl SideBySide {
    /// Begins with the worlds as they are.
    ///
    /// # Errors
    /// As [`compare`].
    pub fn new(reduced: &World, full: &World, subjects: &[Subject]) -> Result<Self, SimError> {
        let pairs = subjects.iter().map(|s| Pair::new(s, reduced, full));
        Ok(Self {
            pairs: pairs.collect::<Result<_, SimError>>()?,
            start: full.time(),
            steps: 0,
            last: [WorldStatus::Completed; 2],
            out_of_range: 0,
        })
    }

    /// Compares after a step of both, which ended like this (reduced, full); false where one was
    /// not made.
    ///
    /// # Errors
    /// Worlds without one of the subjects.
    pub fn record(
        &mut self,
        reduced: &World,
        full: &World,
        ended: [WorldStatus; 2],
    ) -> Result<bool, SimError> {
        self.last = ended;
        if ended.iter().any(|s| matches!(s, WorldStatus::NotFinite { .. })) {
            return Ok(false);
        }
        self.steps += 1;
        self.out_of_range += usize::from(matches!(ended[0], WorldStatus::OutOfRange { .. }));
        let time = full.time() - self.start;
        self.pairs.iter_mut().try_for_each(|p| p.record(reduced, full, time))?;
        Ok(true)
    }

    /// What was found so far.
    pub fn comparison(&self) -> Comparison {
        Comparison {
            deviations: self.pairs.iter().map(|p| p.deviation).collect(),
            steps: self.steps,
            reduced: self.last[0],
            full: self.last[1],
            out_of_range: self.out_of_range,
        }
    }
}

#[derive(Clone, Debug)]
struct Pair {
    size: f64,
    start: Pose,
    deviation: Deviation,
}

impl Pair {
    fn new(subject: &Subject, reduced: &World, full: &World) -> Result<Self, SimError> {
        let Subject { owner, size } = *subject;
        if !(size > 0.0 && size.is_finite()) {
            let (element, quantity, range) = ("a subject".into(), "the size", "above 0");
            return Err(SimError::OutOfRange { element, quantity, value: size, range });
        }
        let start = pose(full, owner)?;
        let deviation = Deviation {
            owner,
            position: 0.0,
            position_time: 0.0,
            rotation: 0.0,
            rotation_time: 0.0,
            last_position: 0.0,
            last_rotation: 0.0,
            moved: 0.0,
            turned: 0.0,
        };
        let mut out = Self { size, start, deviation };
        out.record(reduced, full, 0.0)?;
        Ok(out)
    }

    fn record(&mut self, reduced: &World, full: &World, time: f64) -> Result<(), SimError> {
        let (ours, twin) =
            (pose(reduced, self.deviation.owner)?, pose(full, self.deviation.owner)?);
        let distance = |a: &Pose| a.translation.distance(twin.translation) / self.size;
        let angle = |a: &Pose| a.rotation.angle_between(twin.rotation);
        let d = &mut self.deviation;
        (d.last_position, d.last_rotation) = (distance(&ours), angle(&ours));
        d.moved = d.moved.max(distance(&self.start));
        d.turned = d.turned.max(angle(&self.start));
        if d.last_position > d.position {
            (d.position, d.position_time) = (d.last_position, time);
        }
        if d.last_rotation > d.rotation {
            (d.rotation, d.rotation_time) = (d.last_rotation, time);
        }
        Ok(())
    }
}

fn pose(world: &World, owner: Owner) -> Result<Pose, SimError> {
    match owner {
        Owner::World => Err(SimError::Missing { kind: "pose of the world", index: 0, count: 0 }),
        Owner::Body(body) => world.body_pose(body),
        Owner::Effector { mechanism, effector } => world.effector_pose(mechanism, effector),
    }
}
