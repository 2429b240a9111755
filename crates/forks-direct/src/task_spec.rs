//! Tasks with names that are not looked up yet.

/// What a task is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A link, or `site:NAME`, and what of it.
    Link(String, Aspect),
    /// A joint with one coordinate.
    Joint(String),
    /// The centre of mass.
    CentreOfMass,
    /// All joints with one coordinate.
    Posture,
}

/// What of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// Its origin.
    #[default]
    Position,
    /// Its axes.
    Orientation,
    /// Both.
    Pose,
    /// Where one of its axes points.
    Direction,
    /// That it does not move.
    Still,
}

/// A task that is read, its names not looked up yet.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub subject: Subject,
    /// The target; empty for what is at the start.
    pub target: Vec<f64>,
    /// Level, 0 first.
    pub level: usize,
    /// Weight within the level.
    pub weight: f64,
    /// k, 1/s².
    pub stiffness: f64,
    /// d, 1/s.
    pub damping: f64,
    /// Names of rows that count; empty for all.
    pub rows: Vec<String>,
    /// Rows along the world's axes.
    pub world_axes: bool,
    /// The axis of a direction, in the link.
    pub axis: [f64; 3],
    /// The link in which a pose is meant.
    pub within: Option<String>,
}

impl Subject {
    /// How many numbers a target has.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Link(_, Aspect::Position | Aspect::Direction) | Self::CentreOfMass => 3,
            Self::Link(_, Aspect::Orientation) => 4,
            Self::Link(_, Aspect::Pose) => 7,
            Self::Joint(_) => 1,
            Self::Link(_, Aspect::Still) | Self::Posture => 0,
        }
    }

    /// What its rows are called; of a posture the joints' names.
    pub fn rows(&self) -> &'static [&'static str] {
        match self {
            Self::Link(_, Aspect::Position) | Self::CentreOfMass => &["x", "y", "z"],
            Self::Link(_, Aspect::Orientation) => &["rx", "ry", "rz"],
            Self::Link(_, Aspect::Pose | Aspect::Still) => &["x", "y", "z", "rx", "ry", "rz"],
            Self::Link(_, Aspect::Direction) => &["first", "second"],
            Self::Joint(_) => &["angle"],
            Self::Posture => &[],
        }
    }
}

impl TaskSpec {
    /// What contradicts itself.
    ///
    /// # Errors
    /// Rows that the subject does not have, axes or another link where that means nothing.
    pub fn check(&self) -> Result<(), String> {
        let known = self.subject.rows();
        if let Some(row) = self.rows.iter().find(|r| !known.contains(&r.as_str())) {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("rows={row}: {} has rows {known}", self.name));
        }
        let is_link = matches!(self.subject, Subject::Link(..));
        if self.world_axes && !is_link {
            return Err(format!("axes: {} has none", self.name));
        }
        let can_be_within = matches!(
            self.subject,
            Subject::Link(_, Aspect::Position | Aspect::Orientation | Aspect::Pose)
        );
        if self.within.is_some() && !can_be_within {
            return Err(format!(
                "in: only positions, orientations and poses of links are meant in \
                another link, not {}",
                self.name
            ));
        }
        Ok(())
    }

    /// Which rows count.
    pub fn mask(&self) -> [bool; 6] {
        let known = self.subject.rows();
        core::array::from_fn(|i| {
            self.rows.is_empty() || known.get(i).is_some_and(|r| self.rows.iter().any(|w| w == r))
        })
    }
}
