//! The recording of a reduced model: links with bars to their joints, end effectors, skins, loads.

use std::collections::BTreeMap;

use forks_deform::dynamics::mechanism::Geometry;
use forks_io::animation::{
    Animation, AnimationFrame, Body, Colour, ContactMarker, End, Form, Segment, Series,
    Skin as DrawnSkin, VisualShape,
};
use forks_rom::{
    ReducedModel, State,
    data::{JointPath, JointRest, ModelData},
    lie::{Pose, glam::DVec3},
};
use forks_skin::{Skin, SkinBuffer, SkinnedModel};

use crate::{BlendedPlaces, SkinnedBlend, SoftModelError};

/// Opacity of skins: bones show through.
const SHEER: u8 = 150;
/// Radius of bars over the extent of links and skins, and of knobs at links over that of bars.
const BAR: f64 = 0.008;
const KNOB: f64 = 1.6;
/// Length of an effector's axes over the radius of bars.
const AXES: f64 = 8.0;

/// What there is at one time.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Time, s.
    pub time: f64,
    /// World poses of the links that are shown, then of bodies.
    pub poses: &'a [Pose],
    /// Reduced coordinates.
    pub coordinates: &'a [f64],
    /// Targets of the servos.
    pub targets: &'a [f64],
    /// Kinetic, gravitational, elastic energy, J.
    pub energies: [f64; 3],
    /// Where forces act and what they are, world, m and N.
    pub forces: &'a [(DVec3, DVec3)],
}

/// A recording while it grows.
#[derive(Clone, Debug)]
pub struct Film {
    animation: Animation,
    surfaces: Option<Surfaces>,
}

/// Skins of a model, with room for them.
#[derive(Clone, Debug)]
enum Surfaces {
    One { model: Box<ReducedModel>, state: Box<State>, skins: Vec<(Skin, SkinBuffer)> },
    Blend { model: Box<SkinnedBlend>, room: BlendedPlaces },
}

impl Film {
    /// Of a model whose links `shown` (indices into [`ModelData::links`]) are drawn.
    pub fn new(title: impl Into<String>, data: &ModelData, shown: &[usize]) -> Self {
        let mut animation = Animation::new(title);
        let known: BTreeMap<usize, usize> =
            shown.iter().enumerate().map(|(body, link)| (*link, body)).collect();
        let ground = |l: &usize| *l == 0;
        let places: Vec<DVec3> = shown
            .iter()
            .filter(|l| !ground(l))
            .map(|l| data.links[*l].rest.translation)
            .chain(data.joints.iter().map(|j| pivot(data, j)))
            .collect();
        let radius = BAR * extent(&places).max(f64::from(f32::MIN_POSITIVE));
        for link in shown {
            let mut body = Body { name: data.links[*link].name.clone(), shapes: vec![] };
            for e in data.effectors.iter().filter(|e| e.link == *link) {
                let axes = VisualShape::new(Form::Axes { length: AXES * radius });
                body.shapes.push(axes.at(e.link_from_effector));
            }
            if body.shapes.is_empty() && !ground(link) {
                body.shapes.push(Geometry::Sphere { radius: KNOB * radius }.into());
            }
            animation.bodies.push(body);
        }
        for j in data.joints.iter().filter(|j| !is_patch(data, j)) {
            let at = pivot(data, j);
            for link in [j.inner, j.outer].into_iter().filter(|l| !ground(l)) {
                let Some(&body) = known.get(&link) else { continue };
                let point = data.links[link].rest.inverse().transform_point(at);
                if point.length() > radius {
                    let bar = Segment::new(End::origin(body), End::of(body, point));
                    animation.segments.push(bar.thick(radius));
                }
            }
        }
        animation.series =
            ["kinetic", "gravitational", "elastic", "total"].map(|n| Series::new(n, "J")).to_vec();
        Self { animation, surfaces: None }
    }

    /// The same with what stands still.
    #[must_use]
    pub fn with_scenery(mut self, scenery: impl IntoIterator<Item = VisualShape>) -> Self {
        self.animation.scenery.extend(scenery);
        self
    }

    /// The same with bodies, whose poses follow those of the links; before skins.
    #[must_use]
    pub fn with_bodies(mut self, bodies: impl IntoIterator<Item = Body>) -> Self {
        self.animation.bodies.extend(bodies);
        self
    }

    /// The same with skins of one linearisation.
    ///
    /// # Errors
    /// Skins of another model.
    pub fn with_skins(
        mut self,
        model: &ReducedModel,
        skins: Vec<Skin>,
    ) -> Result<Self, SoftModelError> {
        let skins = SkinnedModel::new(model.clone(), skins)?.skins;
        self.draw(&skins);
        let rooms = skins.into_iter().map(|s| {
            let room = SkinBuffer::new(&s, model);
            (s, room)
        });
        self.surfaces = Some(Surfaces::One {
            state: Box::new(State::new(model)),
            skins: rooms.collect(),
            model: Box::new(model.clone()),
        });
        Ok(self)
    }

    /// The same with the skins of a blend.
    #[must_use]
    pub fn with_blend(mut self, model: SkinnedBlend) -> Self {
        self.draw(model.skins());
        self.surfaces = Some(Surfaces::Blend { room: model.room(), model: Box::new(model) });
        self
    }

    fn draw(&mut self, skins: &[Skin]) {
        for (k, s) in skins.iter().enumerate() {
            self.animation.skins.push(DrawnSkin {
                body: self.animation.bodies.len(),
                corners: s.len(),
                triangles: s.faces().to_vec(),
                colour: Some(Colour::palette(1 + k).with_alpha(SHEER)),
            });
            let name = format!("{} (skin)", s.name());
            self.animation.bodies.push(Body { name, shapes: vec![] });
        }
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// Coordinates or targets that are not the model's.
    pub fn push(&mut self, now: &Moment<'_>) -> Result<(), SoftModelError> {
        let places = match &mut self.surfaces {
            None => vec![],
            Some(Surfaces::One { model, state, skins }) => {
                let rates = vec![0.0; now.coordinates.len()];
                state.set(now.coordinates, &rates)?;
                state.set_servo_targets(model, now.targets)?;
                let placed = skins.iter_mut().map(|(skin, room)| {
                    skin.place(model, state, room);
                    room.iter().collect()
                });
                placed.collect()
            }
            Some(Surfaces::Blend { model, room }) => model.place(now.coordinates, room)?.to_vec(),
        };
        let mut poses = now.poses.to_vec();
        for own in &places {
            // Where the list says that the skin is: in its middle.
            let middle = own.iter().sum::<DVec3>() / own.len().max(1) as f64;
            poses.push(Pose::from_translation(middle));
        }
        let [kinetic, gravitational, elastic] = now.energies;
        let total = kinetic + gravitational + elastic;
        let markers = now.forces.iter().map(|&(position, force)| ContactMarker { position, force });
        let frame = AnimationFrame::new(now.time, poses)
            .values([kinetic, gravitational, elastic, total])
            .contacts(markers);
        self.animation.frames.push(frame.skins(places));
        Ok(())
    }

    /// Takes the last frame out, where only the present is of use.
    pub fn take_frame(&mut self) -> Option<AnimationFrame> {
        self.animation.frames.pop()
    }

    /// What there is so far.
    pub fn animation(&self) -> &Animation {
        &self.animation
    }
}

/// Where a joint is in the world at the linearisation pose.
fn pivot(data: &ModelData, j: &JointRest) -> DVec3 {
    let parent = if j.reversed { j.outer } else { j.inner };
    (data.links[parent].rest * j.parent_from_joint).translation
}

/// True for what carries an effector that is a patch of tissue: six free coordinates.
fn is_patch(data: &ModelData, j: &JointRest) -> bool {
    let six = matches!(&j.path, JointPath::Subspace { subspace, .. } if subspace.len() == 6);
    six && data.effectors.iter().any(|e| e.link == j.outer)
}

/// Diagonal of the box around places, m.
fn extent(places: &[DVec3]) -> f64 {
    let low = places.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = places.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    if places.is_empty() { 0.0 } else { (high - low).length() }
}
