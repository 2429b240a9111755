//! The recording of a scene: poses, numbers and contacts, as many times per second as the scene
//! says.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod compare;
mod drawn;
mod joints;
mod looks;
mod picture;
#[cfg(test)]
mod tests;

use forks_geometry::Geometry;
use forks_io::animation::{
    Animation, AnimationFrame, Body, Colour, ContactMarker, Series, VisualShape,
};
use forks_lie::{Pose, glam::DVec3};

use forks_sim::{MechanismHandle, Owner, StepReport, scene::Scene};

use drawn::{Drawn, Source};
pub use picture::Picture;

/// A number over time: its field in JSON, its name and unit for people.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Field in JSON.
    pub field: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Unit for people.
    pub unit: &'static str,
}

const fn number(field: &'static str, name: &'static str, unit: &'static str) -> Number {
    Number { field, name, unit }
}

/// The numbers of a frame; energies first, the rest about contact.
pub const NUMBERS: [Number; 7] = [
    number("kinetic", "kinetic", "J"),
    number("gravitational", "gravitational", "J"),
    number("elastic", "elastic", "J"),
    number("total", "total", "J"),
    number("contacts", "touching", "points"),
    number("largest_contact_force", "largest contact force", "N"),
    number("sweeps", "sweeps of the contact solver", "per step"),
];

/// A recording while it grows.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What there is so far.
    pub animation: Animation,
    sources: Vec<Source>,
    since: Window,
    beside: Beside,
}

/// What is shown beside the scene itself.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Names and units of numbers.
    pub series: Vec<Series>,
    /// Their values now.
    pub values: Vec<f64>,
    /// Places that move, as knobs: of what.
    pub names: Vec<String>,
    /// Where they are now, world.
    pub places: Vec<DVec3>,
    /// Places that stay, as small knobs.
    pub dots: Vec<DVec3>,
}

/// Radius of knobs and of dots over the scene's extent.
const MARKS: [f64; 2] = [0.012, 0.004];

/// Places to be at stand out.
const TARGET: Colour = Colour::rgb(0xd5, 0x5e, 0x00);

/// What happened since the last frame.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    steps: usize,
    sweeps: usize,
    force: f64,
}

impl Recording {
    /// Of a scene at its start.
    pub fn new(scene: &Scene) -> Self {
        Self::with(scene, Beside::default())
    }

    /// Of a scene at its start, with more than it has itself.
    pub fn with(scene: &Scene, beside: Beside) -> Self {
        let Drawn { mut animation, sources, .. } = Drawn::new(scene);
        animation.series = NUMBERS.iter().map(|n| Series::new(n.name, n.unit)).collect();
        animation.series.extend(beside.series.iter().cloned());
        let mut recording = Self { animation, sources, since: Window::default(), beside };
        recording.mark(scene);
        recording.push(scene);
        recording
    }

    /// The owner that a body of the animation stands for; `None` for links that are none.
    pub fn owner(&self, body: usize) -> Option<Owner> {
        match *self.sources.get(body)? {
            Source::Owner(owner) => Some(owner),
            Source::Link(..) => None,
        }
    }

    /// Values and places from now on, as many as there were at the start.
    pub fn show(&mut self, values: impl IntoIterator<Item = f64>, places: Vec<DVec3>) {
        self.beside.values.clear();
        self.beside.values.extend(values);
        self.beside.places = places;
    }

    /// Knobs at places.
    fn mark(&mut self, scene: &Scene) {
        let at = poses(scene, &self.sources);
        let all = at.iter().map(|p| p.translation).chain(self.beside.dots.iter().copied());
        let low = all.clone().fold(DVec3::INFINITY, DVec3::min);
        let high = all.fold(DVec3::NEG_INFINITY, DVec3::max);
        let extent = (high - low).length();
        if !extent.is_finite() || extent == 0.0 {
            return;
        }
        let knob = |size: f64| {
            VisualShape::new(Geometry::Sphere { radius: size * extent }).coloured(TARGET)
        };
        for name in &self.beside.names {
            self.animation.bodies.push(Body::new(name.clone(), [knob(MARKS[0])]));
        }
        let dots = self.beside.dots.iter();
        let dots = dots.map(|p| knob(MARKS[1]).at(Pose::from_translation(*p)));
        self.animation.scenery.extend(dots);
    }

    /// After a step that was made; keeps a frame if one is due or the step was the last.
    pub fn after(&mut self, scene: &Scene, report: &StepReport, last: bool) {
        self.since.steps += 1;
        self.since.sweeps += report.sweeps;
        let forces = forces(scene).map(|c| c.force.length());
        self.since.force = forces.fold(self.since.force, f64::max);
        if last || due(scene) {
            self.push(scene);
        }
    }

    fn push(&mut self, scene: &Scene) {
        let e = scene.world.energy();
        let contacts: Vec<ContactMarker> = forces(scene).collect();
        let Window { steps, sweeps, force } = std::mem::take(&mut self.since);
        let values = [
            e.kinetic,
            e.gravitational,
            e.elastic,
            e.total(),
            contacts.len() as f64,
            force,
            sweeps as f64 / steps.max(1) as f64,
        ];
        let marks = self.beside.places.iter().take(self.beside.names.len());
        let mut poses = poses(scene, &self.sources);
        if self.animation.bodies.len() > poses.len() {
            poses.extend(marks.map(|p| Pose::from_translation(*p)));
        }
        let values = values.into_iter().chain(self.beside.values.iter().copied());
        let frame = AnimationFrame::new(scene.world.time(), poses);
        self.animation.frames.push(frame.values(values).contacts(contacts));
    }
}

/// True if a tick of the recording's clock lies between the last two steps.
fn due(scene: &Scene) -> bool {
    let world = &scene.spec.world;
    // Times of exact multiples of the period fall on either side of a tick by rounding.
    let ticks = |steps: u64| {
        (steps as f64 * world.step * world.frames * (1.0 + 4.0 * f64::EPSILON)).floor()
    };
    let steps = scene.world.step_count();
    ticks(steps) > ticks(steps.saturating_sub(1))
}

/// Forces in the last substep, each on the side that moves.
fn forces(scene: &Scene) -> impl Iterator<Item = ContactMarker> {
    let settings = scene.world.settings();
    let rate = settings.substeps as f64 / settings.step;
    scene.world.contacts().iter().filter(|c| c.is_touching()).map(move |c| {
        let sign = if c.owners[1] == Owner::World { -1.0 } else { 1.0 };
        let force: DVec3 = c.impulse * (sign * rate);
        ContactMarker { position: c.position, force }
    })
}

fn poses(scene: &Scene, sources: &[Source]) -> Vec<Pose> {
    let mut links: (Option<MechanismHandle>, Vec<Pose>) = (None, Vec::new());
    let mut pose = |source: &Source| match *source {
        Source::Owner(owner) => scene.owner_pose(owner),
        Source::Link(m, k) => {
            if links.0 != Some(m) {
                links.0 = Some(m);
                scene.world.link_poses(m, &mut links.1).expect("a mechanism of this scene");
            }
            links.1[k]
        }
    };
    sources.iter().map(&mut pose).collect()
}
