//! What a mechanism by itself looks like: the looks of its links; of those without, the shapes, and
//! bars from links to their joints.

use std::collections::BTreeMap;

use forks_io::animation::{Animation, Body, Colour, End, Segment, VisualShape};
use forks_lie::{Pose, glam::DVec3};
use forks_mechanism::{Geometry, LinkId, Mechanism};

use crate::{
    drawn::{KNOB, PALE, bar_radius, joint_bars},
    joints::joints,
    looks::Looks,
};

/// An animation with a mechanism's links as bodies, to which frames are added.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Bodies, bars and scenery; no frame yet.
    pub animation: Animation,
    links: Vec<LinkId>,
    radius: f64,
}

impl Picture {
    /// Of a mechanism; poses of all links, the ground first, say how thick bars are.
    ///
    /// # Panics
    /// If there are fewer poses than links.
    pub fn new(title: impl Into<String>, m: &Mechanism, world_from_link: &[Pose]) -> Self {
        let mut animation = Animation::new(title);
        let links: Vec<LinkId> =
            m.moving_links().filter(|(_, l)| !l.auxiliary).map(|(id, _)| id).collect();
        let known: BTreeMap<LinkId, usize> =
            links.iter().enumerate().map(|(body, link)| (*link, body)).collect();
        let body = |link: &LinkId| Body { name: m.link(*link).name.clone(), shapes: Vec::new() };
        animation.bodies = links.iter().map(body).collect();
        let mut looks = Looks::new(m, Colour::palette(0));
        animation.notes.extend(looks.note.take());
        for s in m.shapes().iter().filter(|s| !looks.of.contains_key(&s.link)) {
            let shape = VisualShape::new(s.geometry.clone()).at(s.link_from_shape);
            match known.get(&s.link) {
                Some(&body) if s.geometry != Geometry::Plane => {
                    let colour = Colour::palette(0).with_alpha(PALE);
                    animation.bodies[body].shapes.push(shape.coloured(colour));
                }
                None if s.link == LinkId::WORLD => animation.scenery.push(shape),
                _ => {}
            }
        }
        let mut dressed = vec![false; animation.bodies.len()];
        for (link, shapes) in looks.of {
            match known.get(&link) {
                Some(&body) => {
                    dressed[body] = true;
                    animation.bodies[body].shapes = shapes;
                }
                None if link == LinkId::WORLD => animation.scenery = shapes,
                None => {}
            }
        }
        let bars = joint_bars(m, &known);
        let poses: Vec<Pose> = links.iter().map(|l| world_from_link[l.index()]).collect();
        let radius = bar_radius(&poses, &bars);
        for (body, point) in bars.into_iter().filter(|(body, _)| !dressed[*body]) {
            let bar = Segment::new(End::origin(body), End::of(body, point));
            animation.segments.push(bar.thick(radius));
        }
        for body in animation.bodies.iter_mut().filter(|b| b.shapes.is_empty()) {
            body.shapes.push(VisualShape::new(Geometry::Sphere { radius: KNOB * radius }));
        }
        animation.joints = joints(m, &known);
        Self { animation, links, radius }
    }

    /// The links that are bodies, in their order.
    pub fn links(&self) -> &[LinkId] {
        &self.links
    }

    /// Poses of the bodies among those of all links, the ground first.
    ///
    /// # Panics
    /// If there are fewer poses than links.
    pub fn poses(&self, world_from_link: &[Pose]) -> Vec<Pose> {
        self.links.iter().map(|l| world_from_link[l.index()]).collect()
    }

    /// A knob in the world that stands out: a place to reach.
    pub fn mark(&mut self, at: DVec3, colour: Colour) {
        let knob = VisualShape::new(Geometry::Sphere { radius: 1.5 * KNOB * self.radius });
        self.animation.scenery.push(knob.at(Pose::from_translation(at)).coloured(colour));
    }
}
