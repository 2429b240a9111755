//! The recording of a scene: bones, skins, numbers and contacts over time.

use forks_io::{
    animation::{
        Animation, AnimationFrame, Body, Colour, ContactMarker, Series, Skin as DrawnSkin,
    },
    lie::{Pose, glam::DVec3},
};
use forks_record::Picture;

use crate::{error::TissueError, scene::TissueScene};

/// Opacity of skins: bones show through.
const SHEER: u8 = 150;

/// A recording while it grows.
#[derive(Clone, Debug)]
pub struct Recording {
    picture: Picture,
    /// Vertices of every tissue's skin.
    ranges: Vec<std::ops::Range<usize>>,
}

impl Recording {
    /// Of a scene as it is.
    pub fn new(scene: &mut TissueScene) -> Self {
        let poses = scene.simulation.link_poses().to_vec();
        let title = scene.spec.title.clone();
        let mut picture = Picture::new(title, scene.simulation.mechanism(), &poses);
        let animation = &mut picture.animation;
        let paragraphs = scene.spec.about.split("\n\n").map(|p| p.replace('\n', " "));
        animation.notes.extend(paragraphs.filter(|p| !p.trim().is_empty()));
        let skin = scene.skin();
        let mut ranges = Vec::new();
        for (k, (name, _)) in scene.parts.iter().enumerate() {
            let first = skin.part.iter().position(|p| *p == k).unwrap_or(0);
            let count = skin.part.iter().filter(|p| **p == k).count();
            let range = first..first + count;
            let own = skin.triangles.iter().filter(|t| range.contains(&(t[0] as usize)));
            animation.skins.push(DrawnSkin {
                body: animation.bodies.len(),
                corners: count,
                triangles: own.map(|t| t.map(|v| v - first as u32)).collect(),
                colour: Some(Colour::palette(1 + k).with_alpha(SHEER)),
            });
            animation.bodies.push(Body { name: format!("{name} (tissue)"), shapes: vec![] });
            ranges.push(range);
        }
        animation.series = [
            ("kinetic", "J"),
            ("of tissue", "J"),
            ("of weights and springs", "J"),
            ("total", "J"),
            ("touching", "points"),
            ("largest contact force", "N"),
        ]
        .map(|(name, unit)| Series::new(name, unit))
        .to_vec();
        let mut out = Self { picture, ranges };
        out.push(scene);
        out
    }

    /// What there is so far.
    pub fn animation(&self) -> &Animation {
        &self.picture.animation
    }

    /// Takes the last frame out, where only the present is of use.
    pub fn take_frame(&mut self) -> Option<AnimationFrame> {
        self.picture.animation.frames.pop()
    }

    /// More notes for the page.
    pub fn add_notes(&mut self, notes: &[String]) {
        self.picture.animation.notes.extend_from_slice(notes);
    }

    /// Where a body of the animation is now: a bone, or the middle of a tissue.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn pose(&self, scene: &TissueScene, body: usize) -> Pose {
        let bones = self.picture.links().len();
        match body.checked_sub(bones) {
            None => scene.simulation.link_poses()[self.picture.links()[body].index()],
            Some(tissue) => {
                let range = self.ranges[tissue].clone();
                let count = range.len().max(1) as f64;
                let sum = range.map(|v| scene.vertex(v)).sum::<DVec3>();
                Pose::from_translation(sum / count)
            }
        }
    }

    /// After a step that was made; keeps a frame if one is due or the step was the last.
    pub fn after(&mut self, scene: &mut TissueScene, last: bool) {
        let (h, frames) = (scene.spec.world.step(), scene.spec.world.frames);
        // Times of exact multiples of the period fall on either side of a tick by rounding.
        let tick = |t: f64| (t * frames * (1.0 + 4.0 * f64::EPSILON)).floor();
        if last || tick(scene.time()) > tick(scene.time() - h) {
            self.push(scene);
        }
    }

    fn push(&mut self, scene: &mut TissueScene) {
        let e = scene.energy();
        let poses = scene.simulation.link_poses().to_vec();
        let mut bodies = self.picture.poses(&poses);
        let places = scene.skin().positions(&scene.simulation.state().x);
        let mut skins = Vec::with_capacity(self.ranges.len());
        for range in &self.ranges {
            let own = places[range.clone()].to_vec();
            // Where the list says that tissue is: in the middle of its skin.
            let middle = own.iter().sum::<DVec3>() / own.len().max(1) as f64;
            bodies.push(Pose::from_translation(middle));
            skins.push(own);
        }
        let touching = scene.touching();
        let force = touching.iter().fold(0.0f64, |m, c| m.max(c.force.length()));
        let values = [e.kinetic, e.tissue, e.potential, e.total(), touching.len() as f64, force];
        let contacts =
            touching.iter().map(|c| ContactMarker { position: c.position, force: c.force });
        let frame = AnimationFrame::new(scene.time(), bodies).values(values).contacts(contacts);
        self.picture.animation.frames.push(frame.skins(skins));
    }

    /// Runs a scene to its end and records it.
    ///
    /// # Errors
    /// A step that fails; what was recorded is lost.
    pub fn of(scene: &mut TissueScene) -> Result<Self, TissueError> {
        let mut out = Self::new(scene);
        let steps = scene.step_count();
        for k in 0..steps {
            scene.step()?;
            out.after(scene, k + 1 == steps);
        }
        Ok(out)
    }
}
